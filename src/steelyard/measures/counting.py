r"""Measures of a multi-label prediction: (Y, Ŷ) → float.

Owns the formulas and the names they go by; knows arrays of 0 and 1 and counts only.

Every measure here is a mean over groups of cells of a formula on the group's counts,

.. math:: \delta(Y, \hat Y) = \frac{1}{|G|} \sum_{g \in G}
          \delta\left(TP_g, FP_g, FN_g, TN_g\right),

and what a group is makes the difference: all cells together (*micro*, Hamming), the cells of one
label (*macro*) or the cells of one example (*example-based*, subset accuracy).

**The empty-set convention.** 0/0 counts as 0, as in the paper: nothing predicted has precision 0,
nothing to find has recall 0, and both together have F1 and Jaccard 0, for all cells together as
for a single label. There is one exception. An *example* without any true label for which no label
is predicted is a perfect match, and counts as 1 in every example-based measure; otherwise a
learner would be punished for being right about the many examples without labels that some data
sets have, and example-based F1 would contradict subset accuracy.

In scikit-learn's terms this is ``zero_division=0`` without the warning for micro and macro averages
(the same numbers as ``f1_score(..., average="micro")`` and its kin). Example-based F1 and Jaccard
are ``average="samples", zero_division=1``. Example-based precision and recall have no equivalent
there: ``zero_division=1`` would also reward predicting nothing for an example that has labels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from steelyard._numbers import divide, read_weights, to_booleans
from steelyard._text import did_you_mean

__all__ = ["MEASURES", "Counts", "Measure", "confusion_counts", "get_measure"]

# ndarray, DataFrame, scipy sparse or nested lists, which have no common type.
LabelsLike: TypeAlias = Any
FloatArray: TypeAlias = npt.NDArray[np.float64]
Group: TypeAlias = Literal["all", "label", "example"]


class Counts(NamedTuple):
    """Confusion counts of a prediction, one number or an array of one number per group.

    Examples
    --------
    >>> from steelyard.measures import Counts, MEASURES
    >>> counts = Counts(tp=3, fp=1, fn=1, tn=5)
    >>> MEASURES["hamming"].from_counts(*counts).item()
    0.8
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any


# Formulas: counts → value. The shapes of the counts are broadcast against each other.


def _precision(n: Counts) -> FloatArray:
    """Share of the predicted labels that are true."""
    return divide(n.tp, n.tp + n.fp)


def _recall(n: Counts) -> FloatArray:
    """Share of the true labels that are predicted."""
    return divide(n.tp, n.tp + n.fn)


def _f1(n: Counts) -> FloatArray:
    """Harmonic mean of precision and recall."""
    return divide(2 * n.tp, 2 * n.tp + n.fp + n.fn)


def _jaccard(n: Counts) -> FloatArray:
    """Size of the intersection of true and predicted labels over the size of their union."""
    return divide(n.tp, n.tp + n.fp + n.fn)


def _hamming(n: Counts) -> FloatArray:
    """Share of the cells, one for each example and label, that are predicted correctly."""
    return divide(n.tp + n.tn, n.tp + n.fp + n.fn + n.tn)


def _exact_match(n: Counts) -> FloatArray:
    """Whether no cell is wrong; its mean over the examples is the subset accuracy."""
    return np.asarray(n.fp + n.fn == 0, dtype=np.float64)


# Measures --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    r"""A named measure: the mean of a formula over groups of cells.

    .. math:: \delta(Y, \hat Y) = \frac{1}{|G|} \sum_{g \in G}
              \delta\left(TP_g, FP_g, FN_g, TN_g\right)

    Call it with true and predicted labels, or use :meth:`from_counts` where the counts are known.

    Parameters
    ----------
    name : str
        Key in :data:`MEASURES`.
    title : str
        Name for tables and figures.
    formula : callable
        :class:`Counts` of floats → value, vectorised.
    per : {"all", "label", "example"}
        What a group of cells is: all of them, those of a label, those of an example.

    Examples
    --------
    >>> from steelyard.measures import MEASURES
    >>> f1_macro = MEASURES["f1_macro"]
    >>> f1_macro.title
    'Macro F1'
    >>> f1_macro([[1, 0], [1, 1]], [[1, 1], [1, 0]])
    0.5
    """

    name: str
    title: str
    formula: Callable[..., FloatArray]
    per: Group = "all"

    @property
    def __name__(self) -> str:
        # scikit-learn's scorers print the name of the function they wrap.
        return self.name

    def __call__(
        self, Y_true: LabelsLike, Y_pred: LabelsLike, *, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Compare predicted with true labels.

        Parameters
        ----------
        Y_true, Y_pred : array-like or sparse of shape (n_examples, n_labels) or (n_examples,)
            Labels as 0 and 1: ndarray, DataFrame, scipy sparse or nested lists; columns are
            matched by position. One-dimensional input holds one class per example, and each of
            the classes becomes a label, as it does in scikit-learn.
        sample_weight : array-like of shape (n_examples,), optional
            How much each example counts.

        Returns
        -------
        float

        Examples
        --------
        >>> MEASURES["hamming"]([[1, 0], [1, 1]], [[1, 1], [1, 1]])
        0.75
        >>> MEASURES["subset"](["cat", "dog", "dog"], ["cat", "dog", "cat"])
        0.666...
        """
        Y_true, Y_pred = _check_pair(Y_true, Y_pred)
        weights = None if sample_weight is None else read_weights(sample_weight, Y_true.shape[0])
        counts = count_cells(Y_true, Y_pred, self.per, weights)
        return float(self.from_counts(*counts, sample_weight=weights))

    def from_counts(
        self,
        tp: npt.ArrayLike,
        fp: npt.ArrayLike,
        fn: npt.ArrayLike,
        tn: npt.ArrayLike,
        *,
        sample_weight: FloatArray | None = None,
    ) -> FloatArray:
        """Compute the measure of many predictions at once, from their counts.

        Parameters
        ----------
        tp, fp, fn, tn : array-like of shape (...) or (..., n_groups)
            Counts over all cells of a prediction if ``per="all"``; else one count for each label
            or each example, along the last axis, which is averaged over.
        sample_weight : ndarray of shape (n_examples,), optional
            How much each example counts if ``per="example"``; other counts are weighted already.

        Returns
        -------
        ndarray of shape (...), or a scalar

        Examples
        --------
        Micro F1 of three predictions:

        >>> MEASURES["f1_micro"].from_counts(tp=[0, 3, 4], fp=[0, 1, 2], fn=[4, 1, 0], tn=9)
        array([0.  , 0.75, 0.8 ])

        Macro recall of two predictions of three labels:

        >>> tp, fn = [[1, 0, 4], [2, 2, 2]], [[1, 4, 0], [0, 2, 2]]
        >>> MEASURES["recall_macro"].from_counts(tp=tp, fp=0, fn=fn, tn=9)
        array([0.5       , 0.66666667])
        """
        # Sums of small integers such as uint8 would overflow; a double is exact up to 2⁵³.
        counts = Counts(*(np.asarray(count, dtype=np.float64) for count in (tp, fp, fn, tn)))
        value = self.formula(counts)
        if self.per == "all":
            return value
        if self.per == "example":
            value = np.where(counts.tp + counts.fp + counts.fn == 0, 1.0, value)
        weights = sample_weight if self.per == "example" else None
        mean: FloatArray = np.asarray(np.average(value, axis=-1, weights=weights))
        return mean


_ALL_MEASURES = (
    Measure("f1_micro", "Micro F1", _f1),
    Measure("precision_micro", "Micro precision", _precision),
    Measure("recall_micro", "Micro recall", _recall),
    Measure("hamming", "Hamming accuracy", _hamming),
    Measure("subset", "Subset accuracy", _exact_match, per="example"),
    Measure("f1_macro", "Macro F1", _f1, per="label"),
    Measure("precision_macro", "Macro precision", _precision, per="label"),
    Measure("recall_macro", "Macro recall", _recall, per="label"),
    Measure("f1_examples", "Example-based F1", _f1, per="example"),
    Measure("precision_examples", "Example-based precision", _precision, per="example"),
    Measure("recall_examples", "Example-based recall", _recall, per="example"),
    Measure("jaccard_micro", "Micro Jaccard", _jaccard),
    Measure("jaccard_macro", "Macro Jaccard", _jaccard, per="label"),
    Measure("jaccard_examples", "Example-based Jaccard", _jaccard, per="example"),
)
#: All measures by name; the paper's five come first.
MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL_MEASURES}

# ``f1_samples`` and similar names are not aliases, because scikit-learn's empty-set convention
# differs: these names mean scikit-learn's scorers.
_ALIASES = {"hamming_accuracy": "hamming", "subset_accuracy": "subset", "accuracy": "subset"}


def find_measure(scoring: Any) -> Measure | None:
    """The measure of ours that a name or a measure stands for, if it does."""
    if isinstance(scoring, str):
        return MEASURES.get(_ALIASES.get(scoring, scoring))
    return scoring if isinstance(scoring, Measure) else None


def get_measure(name: str) -> Measure:
    """Find a measure by its name or by one of its other names.

    Parameters
    ----------
    name : str
        A key of :data:`MEASURES`, or ``"hamming_accuracy"``, ``"subset_accuracy"`` or
        ``"accuracy"`` (which for label vectors is subset accuracy).

    Returns
    -------
    Measure

    Raises
    ------
    ValueError
        If there is no such measure; the message lists those there are.

    Examples
    --------
    >>> from steelyard.measures import get_measure
    >>> get_measure("hamming_accuracy").name
    'hamming'
    >>> get_measure("f1_mirco")
    Traceback (most recent call last):
    ...
    ValueError: unknown measure 'f1_mirco' (did you mean 'f1_micro' ...?); known are f1_micro, ...
    """
    measure = find_measure(name)
    if measure is None:
        raise ValueError(f"unknown measure {_hint_and_known(name)}")
    return measure


def _hint_and_known(name: object) -> str:
    hint = did_you_mean(str(name), [*MEASURES, *_ALIASES])
    return f"{name!r}{hint}; known are {', '.join(MEASURES)}"


# Counting --------------------------------------------------------------------------------------


def confusion_counts(Y_true: LabelsLike, Y_pred: LabelsLike, *, per: Group = "all") -> Counts:
    r"""Count true and false positives and negatives.

    .. math:: TP_g = \sum_{(j, i) \in g} [\![ y_i^j = 1 \wedge \hat y_i^j = 1 ]\!],

    and FP, FN, TN accordingly, over the cells (example j, label i) of each group g.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_examples, n_labels) or (n_examples,)
        Labels as 0 and 1, or one class per example; see :class:`Measure`.
    per : {"all", "label", "example"}, default="all"
        What a group is: all cells, those of a label, those of an example.

    Returns
    -------
    Counts
        Of arrays of shape (), (n_labels,) or (n_examples,).

    Examples
    --------
    >>> from steelyard.measures import confusion_counts
    >>> Y_true, Y_pred = [[1, 0, 0], [1, 1, 0]], [[1, 1, 0], [1, 0, 0]]
    >>> counts = confusion_counts(Y_true, Y_pred, per="label")
    >>> counts.tp.tolist(), counts.fp.tolist(), counts.fn.tolist(), counts.tn.tolist()
    ([2, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 2])
    """
    return count_cells(*_check_pair(Y_true, Y_pred), per)


_AXES = {"all": -2, "label": -2, "example": -1}


def count_cells(
    Y_true: Any, Y_pred: Any, per: Group, sample_weight: FloatArray | None = None
) -> Counts:
    """`confusion_counts` of what is known to be a pair of boolean arrays, or of CSR matrices.

    An array of predictions may have further axes before the last two, which the counts keep. With
    weights of the examples, counts over several examples are sums of weights.
    """
    if per not in _AXES:
        raise ValueError(f"per must be 'all', 'label' or 'example', got {per!r}")
    is_both = Y_true.multiply(Y_pred) if sparse.issparse(Y_true) else Y_true & Y_pred
    n_examples, n_labels = Y_true.shape
    if sample_weight is None or per == "example":
        n_true, n_pred, tp = (
            np.asarray(Y.sum(axis=_AXES[per], dtype=np.int64)) for Y in (Y_true, Y_pred, is_both)
        )
    else:
        n_true, n_pred, tp = (np.asarray(sample_weight @ Y) for Y in (Y_true, Y_pred, is_both))
        n_examples = sample_weight.sum()
    if per == "all":  # a sparse matrix cannot sum over two axes at once
        n_true, n_pred, tp = (counts.sum(axis=-1) for counts in (n_true, n_pred, tp))
    n_cells = {"all": n_examples * n_labels, "label": n_examples, "example": n_labels}[per]
    return Counts(tp=tp, fp=n_pred - tp, fn=n_true - tp, tn=n_cells - n_true - n_pred + tp)


def _check_pair(Y_true: LabelsLike, Y_pred: LabelsLike) -> tuple[Any, Any]:
    """Bring both to boolean arrays of one shape, or to CSR if one of them is sparse."""
    names, others = (list(getattr(Y, "columns", ())) for Y in (Y_true, Y_pred))
    if names != others and set(names) == set(others):  # they would be compared crosswise
        raise ValueError("Y_true and Y_pred have the same columns, but in a different order")
    Y_true, Y_pred = (Y if sparse.issparse(Y) else np.asarray(Y) for Y in (Y_true, Y_pred))
    if Y_true.ndim == Y_pred.ndim == 1:
        classes = np.unique(np.concatenate([Y_true, Y_pred]))
        Y_true, Y_pred = Y_true[:, None] == classes, Y_pred[:, None] == classes
    elif 1 in (Y_true.ndim, Y_pred.ndim) and 1 in (*Y_true.shape[1:], *Y_pred.shape[1:]):
        # Some estimators return one label as a vector.
        Y_true, Y_pred = Y_true.reshape(-1, 1), Y_pred.reshape(-1, 1)
    if Y_true.shape != Y_pred.shape:
        raise ValueError(f"Y_true has shape {Y_true.shape}, but Y_pred has {Y_pred.shape}")
    if Y_true.ndim != 2:
        raise ValueError(f"labels must have one or two dimensions, got {Y_true.ndim}")
    if 0 in Y_true.shape:
        raise ValueError(f"there is nothing to compare in labels of shape {Y_true.shape}")
    Y_true, Y_pred = to_booleans(Y_true, "Y_true"), to_booleans(Y_pred, "Y_pred")
    if sparse.issparse(Y_true) or sparse.issparse(Y_pred):
        return sparse.csr_array(Y_true), sparse.csr_array(Y_pred)
    return Y_true, Y_pred
