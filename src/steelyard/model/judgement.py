"""Judgement: what the predictions of a theory are worth on some examples. Knows labels and measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._numbers import is_integer, is_number
from steelyard._text import did_you_mean, format_count, shorten_repr
from steelyard.measures import MEASURES, Counts, count_cells

#: Measures of one label, by the measure with the same formula.
_OF_LABEL = {
    "precision": "precision_macro",
    "recall": "recall_macro",
    "f1": "f1_macro",
    "jaccard": "jaccard_macro",
    "accuracy": "hamming",
}


@dataclass(frozen=True)
class Judgement:
    """All measures of a prediction, overall and per label.

    Parameters
    ----------
    n_rows : int
        Number of examples.
    values : tuple of (str, float)
        Overall measures with their names.
    labels : tuple of str
    confusion : tuple of (int, int, int, int)
        TP, FP, FN and TN of each label.

    Examples
    --------
    >>> import numpy as np
    >>> from steelyard.model.judgement import judge
    >>> judgement = judge(np.array([[1, 0], [1, 1]]), np.array([[1, 1], [1, 1]]), ["a", "b"])
    >>> judgement["hamming"]
    0.75
    >>> judgement.to_frame()[["label", "tp", "fp", "precision", "recall"]]
      label  tp  fp  precision  recall
    0     a   2   0        1.0     1.0
    1     b   1   1        0.5     1.0
    """

    n_rows: int
    values: tuple[tuple[str, float], ...]
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, int, int, int], ...]

    def __post_init__(self) -> None:
        if not is_integer(self.n_rows, least=0):
            raise ValueError(f"n_rows must be a non-negative integer, got {self.n_rows!r}")
        for item in self.values:
            if len(item) != 2 or not isinstance(item[0], str) or not is_number(item[1]):
                raise ValueError(f"values must be names with numbers, got {shorten_repr(item)}")
        for counts in self.confusion:
            if len(counts) != 4 or not all(is_integer(count, least=0) for count in counts):
                raise ValueError(
                    f"confusion must have four counts per label, got {shorten_repr(counts)}"
                )
        if len(self.labels) != len(self.confusion):
            raise ValueError(f"{len(self.confusion)} counts for {len(self.labels)} labels")

    @property
    def measures(self) -> dict[str, float]:
        """Every measure of all labels together, by name."""
        return dict(self.values)

    def __getitem__(self, name: str) -> float:
        if name not in self.measures:
            raise KeyError(f"there is no measure {name!r}{did_you_mean(name, self.measures)}")
        return self.measures[name]

    def to_frame(self) -> pd.DataFrame:
        """One row per label: label, tp, fp, fn, tn, precision, recall, f1, jaccard, accuracy."""
        counts = np.array(self.confusion, dtype=np.float64).reshape(-1, 4).T
        frame = pd.DataFrame({"label": list(self.labels)})
        for name, values in zip(Counts._fields, counts, strict=True):
            frame[name] = values.astype(np.int64)
        for name, measure in _OF_LABEL.items():
            frame[name] = MEASURES[measure].formula(Counts(*counts))
        return frame

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{format_count(self.n_rows, 'example')}"
        titles = {
            name: MEASURES[name].title if name in MEASURES else name for name, _ in self.values
        }
        width = max(map(len, titles.values()), default=0)
        for name, value in self.values:
            yield f"  {titles[name]:{width}}  {100 * value:6.2f} %"
        width = max(map(len, self.labels), default=0)
        for row in self.to_frame().itertuples():
            yield (
                f"  {row.label:{width}}  TP {row.tp}, FP {row.fp}, FN {row.fn}, TN {row.tn}, "
                f"precision {row.precision:.2f}, recall {row.recall:.2f}, F1 {row.f1:.2f}"
            )


def judge(truth: Any, predicted: Any, labels: Sequence[str], classes: Any = None) -> Judgement:
    """Every measure of a prediction.

    Parameters
    ----------
    truth, predicted : (n_rows, n_labels) of 0 and 1
    labels : sequence of str
    classes : pair of (n_rows,) arrays, optional
        True and predicted classes, on which the measures of a one-dimensional target are computed.
    """
    is_true, is_predicted = (np.asarray(Y).astype(np.bool_) for Y in (truth, predicted))
    pair = (is_true, is_predicted) if classes is None else classes
    values = tuple((name, measure(*pair)) for name, measure in MEASURES.items())
    counts: NDArray[np.int64] = np.array(count_cells(is_true, is_predicted, "label")).T
    confusion = tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in counts)
    return Judgement(len(is_true), values, tuple(labels), confusion)
