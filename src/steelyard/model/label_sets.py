"""Label sets of the training examples: which combinations of labels occur, and how often.

Knows positions of labels and counts; the decoders decide what they mean for a prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import is_integer

from .log_odds import LEAST_PROBABILITY


@dataclass(frozen=True)
class KnownLabelSets:
    """The label sets of the training examples, the most frequent one first.

    Parameters
    ----------
    sets : tuple of tuple of int
        Positions of the labels that are present.
    counts : tuple of int
        How many training examples have exactly that set.

    Examples
    --------
    >>> import numpy as np
    >>> from steelyard import KnownLabelSets
    >>> known = KnownLabelSets.from_labels(np.array([[1, 0], [1, 0], [1, 1], [0, 1]], dtype=bool))
    >>> known.sets, known.counts
    (((0,), (0, 1), (1,)), (2, 1, 1))
    """

    sets: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.sets:
            raise ValueError("there must be at least one label set")
        if len(self.sets) != len(self.counts):
            raise ValueError(f"{len(self.sets)} label sets have {len(self.counts)} counts")
        for labels, count in zip(self.sets, self.counts, strict=True):
            if not all(is_integer(label, least=0) for label in labels):
                raise ValueError(f"a label set must consist of positions of labels, got {labels!r}")
            if len(set(labels)) < len(labels):
                raise ValueError(f"a label set must contain each label once, got {labels!r}")
            if not is_integer(count):
                raise ValueError(
                    f"the count of a label set must be a positive integer, got {count!r}"
                )
        # A tuple takes a tenth of the memory of a set.
        if len({tuple(sorted(labels)) for labels in self.sets}) < len(self.sets):
            raise ValueError("two label sets are equal")

    @classmethod
    def from_labels(cls, is_present: NDArray[np.bool_]) -> KnownLabelSets:
        """The label sets of (n_examples, n_labels) and how often each occurs."""
        sets, counts = np.unique(is_present, axis=0, return_counts=True)
        # np.unique sorts absent before present; reversed, sets with the first label come first.
        order = np.lexsort((-np.arange(len(sets)), -counts))
        return cls(
            tuple(tuple(np.flatnonzero(sets[i]).tolist()) for i in order),
            tuple(int(counts[i]) for i in order),
        )

    @property
    def n_labels(self) -> int:
        """Number of labels up to the last one that occurs in a set."""
        return 1 + max((max(labels) for labels in self.sets if labels), default=-1)

    def check_labels(self, n_labels: int) -> None:
        """Reject sets with labels beyond the last one."""
        if self.n_labels > n_labels:
            raise ValueError(
                f"a label set has label {self.n_labels - 1}, but the last of the {n_labels} labels "
                f"is {n_labels - 1}"
            )

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return sum(self.counts)

    @cached_property
    def _matrices(self) -> dict[int, NDArray[np.bool_]]:
        return {}

    def matrix(self, n_labels: int) -> NDArray[np.bool_]:
        """The sets as rows of booleans; cached, since tuning decodes thousands of times."""
        if n_labels not in self._matrices:
            matrix = np.zeros((len(self.sets), n_labels), dtype=np.bool_)
            for row, labels in zip(matrix, self.sets, strict=True):
                row[list(labels)] = True
            self._matrices[n_labels] = matrix
        return self._matrices[n_labels]

    @cached_property
    def log_lift(self) -> NDArray[np.float64]:
        """Log of the frequency of each set relative to that under independent labels."""
        is_present = self.matrix(self.n_labels)
        counts = np.array(self.counts, dtype=np.float64)
        share = np.clip(
            counts @ is_present / self.n_examples, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY
        )
        independent = is_present @ np.log(share) + ~is_present @ np.log(1 - share)
        return np.asarray(np.log(counts / self.n_examples) - independent)

    @cached_property
    def log_unseen(self) -> float | None:
        """Log of the estimated share of examples with new sets; None if new sets seem impossible.

        The share is estimated by that of the sets seen just once (Good and Turing). Labels of new
        sets are taken to be independent, so this is the log lift of a new set.
        """
        n_singletons = self.counts.count(1)
        return float(np.log(n_singletons / self.n_examples)) if n_singletons else None
