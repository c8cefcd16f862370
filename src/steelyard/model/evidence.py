"""Evidence: what examples say about a rule or a label. Knows counts only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard._numbers import is_integer
from steelyard._text import as_text


def smoothed_precision(tp: Any, fp: Any) -> Any:
    """(TP + 1)/(TP + FP + 2): precision that trusts small counts less.

    Examples
    --------
    >>> smoothed_precision(9, 1), smoothed_precision(0, 0)
    (0.8333333333333334, 0.5)
    """
    return (tp + 1) / (tp + fp + 2)


# Tables have fewer rows, which kernels number with 32 bits.
_MOST = 2**31 - 1


def _check_counts(what: str, **counts: Any) -> None:
    for name, value in counts.items():
        if not is_integer(value, least=0, most=_MOST):
            raise ValueError(f"{name} of {what} must be a non-negative integer, got {value!r}")


def check_class(target_class: Any, what: str) -> None:
    """Reject a target class that is neither presence (1) nor absence (0)."""
    if not is_integer(target_class, 0, 1):
        raise ValueError(f"target_class of {what} must be 0 or 1, got {target_class!r}")


@dataclass(frozen=True)
class Evidence:
    """How many examples a rule covers: rightly (TP) and wrongly (FP).

    Examples
    --------
    >>> Evidence(tp=9, fp=1).precision
    0.9
    """

    tp: int
    fp: int

    def __post_init__(self) -> None:
        _check_counts("the evidence", tp=self.tp, fp=self.fp)

    @property
    def precision(self) -> float:
        """TP/(TP + FP), 0 if the rule covers nothing."""
        return self.tp / max(self.tp + self.fp, 1)

    @property
    def smoothed_precision(self) -> float:
        """(TP + 1)/(TP + FP + 2)."""
        return float(smoothed_precision(self.tp, self.fp))


@dataclass(frozen=True)
class Label:
    """A label with its target class and its counts in the training set.

    Parameters
    ----------
    name : str
    target_class : {0, 1}, default=1
        What the rules of the label predict. Without a firing rule it gets its `default`.
    n_positives, n_negatives : int, default=0
        Training examples with and without the target class.
    uncovered_positives, uncovered_negatives : int, default=0
        Those of them that no rule of the theory covers.

    Examples
    --------
    >>> Label("flu", 1, n_positives=10, n_negatives=30).default
    0
    """

    name: str
    target_class: int = 1
    n_positives: int = 0
    n_negatives: int = 0
    uncovered_positives: int = 0
    uncovered_negatives: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", as_text(self.name, "the name of a label"))
        check_class(self.target_class, f"the label {self.name!r}")
        counts = {k: v for k, v in vars(self).items() if k not in ("name", "target_class")}
        _check_counts(f"the label {self.name!r}", **counts)

    @property
    def default(self) -> int:
        """The class that the label gets where no rule fires: the one that is not the target class."""
        return 1 - self.target_class

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return self.n_positives + self.n_negatives

    @property
    def prior(self) -> float:
        """Share of the training examples with the target class."""
        return self.n_positives / max(self.n_examples, 1)

    @property
    def silent_score(self) -> float:
        """Score of the target class where no rule fires: between -1 and 0."""
        return float(smoothed_precision(self.uncovered_positives, self.uncovered_negatives) - 1)

    def __str__(self) -> str:
        return self.name if self.target_class else f"¬{self.name}"
