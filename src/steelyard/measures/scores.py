r"""Measures of scores: (Y, S) → float, how well scores rank labels and how calibrated they are.

Owns the formulas and their names; knows arrays only. Every formula takes the true labels, shape
(n_examples, n_labels), and the scores of one or of many predictions, shape (..., n_examples, n_labels).

The rank of a label,

.. math:: r_{ij} = |\{k : s_{ik} \ge s_{ij}\}|,

counts the labels k of example i that are scored at least as high as label j: a tie counts against it.
Only DCG, nDCG and the areas under curves give all labels of a tie their mean position, so a tie between
a true and a false label counts one half.

**Rows that say nothing.** An example without labels, or with all of them, cannot be ranked wrongly: its
ranking loss is 0 and its average precision 1, as in scikit-learn, and without labels its coverage error
is 0. DCG and nDCG leave out examples without labels, for which scikit-learn counts 0. The macro AUC
leaves out labels that are constant, for which scikit-learn has no value. A mean over nothing is the
value of scores that know nothing: 0 for DCG and nDCG, ½ for AUC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import divide
from steelyard._text import did_you_mean

from .counting import MEASURES, find_measure

Scores = NDArray[np.float64]
Labels = NDArray[np.bool_]

# DCG looks at as many labels: nobody reads more, and many data sets have no more than a few.
TOP = 5
# As most papers about calibration have it.
N_BINS = 10


def _count_at_least(scores: Scores) -> Scores:
    """The number of scores along the last axis that are at least as large as each."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-scores, method="max", axis=-1), dtype=np.float64)


def _count_true_at_least(is_true: Labels, scores: Scores) -> Scores:
    """The number of true labels that are scored at least as high as each; for true labels only."""
    return _count_at_least(np.where(is_true, scores, -np.inf))


def _ranking_loss(is_true: Labels, scores: Scores) -> Scores:
    """Share of the pairs of a true and a false label that are in the wrong order or tied."""
    n_above = _count_at_least(scores) - _count_true_at_least(is_true, scores)
    n_wrong = np.where(is_true, n_above, 0).sum(axis=-1)
    n_true = is_true.sum(axis=-1)
    return np.asarray(divide(n_wrong, n_true * (is_true.shape[-1] - n_true)).mean(axis=-1))


def _coverage_error(is_true: Labels, scores: Scores) -> Scores:
    """How far down the ranking one has to go to find all true labels."""
    depth = np.where(is_true, _count_at_least(scores), 0).max(axis=-1)
    return np.asarray(depth.mean(axis=-1))


def _label_ranking_precision(is_true: Labels, scores: Scores) -> Scores:
    """For each true label, the share of true labels among those scored at least as high."""
    shares = _count_true_at_least(is_true, scores) / _count_at_least(scores)
    n_true = is_true.sum(axis=-1)
    of_example = divide(np.where(is_true, shares, 0).sum(axis=-1), n_true)
    says_nothing = (n_true == 0) | (n_true == is_true.shape[-1])
    return np.asarray(np.where(says_nothing, 1.0, of_example).mean(axis=-1))


def _sum_gains(is_true: Labels, scores: Scores) -> Scores:
    """DCG of each example: a true label at position r ≤ 5 counts 1/log₂(1 + r); ties share theirs."""
    from scipy.stats import rankdata

    last = _count_at_least(scores).astype(np.int64)
    first = np.asarray(rankdata(-scores, method="min", axis=-1), dtype=np.int64)
    total = np.concatenate([[0.0], np.cumsum(_discounts(scores.shape[-1]))])
    gains = (total[last] - total[first - 1]) / (last - first + 1)
    return np.asarray(np.where(is_true, gains, 0).sum(axis=-1))


def _discounts(n_labels: int) -> Scores:
    position = np.arange(1, n_labels + 1)
    return np.where(position <= TOP, 1 / np.log2(1 + position), 0.0)


def _mean_over_labelled(is_true: Labels, of_example: Scores) -> Scores:
    has_labels = is_true.any(axis=-1)
    return divide(np.where(has_labels, of_example, 0).sum(axis=-1), has_labels.sum())


def _dcg(is_true: Labels, scores: Scores) -> Scores:
    """Mean discounted cumulative gain of the five highest scores."""
    return _mean_over_labelled(is_true, _sum_gains(is_true, scores))


def _ndcg(is_true: Labels, scores: Scores) -> Scores:
    """DCG divided by that of the best ranking of the example."""
    best = np.concatenate([[0.0], np.cumsum(_discounts(is_true.shape[-1]))])
    shares = divide(_sum_gains(is_true, scores), best[is_true.sum(axis=-1)])
    return _mean_over_labelled(is_true, shares)


def _area(is_true: Labels, scores: Scores) -> tuple[Scores, Labels]:
    """AUC along the last axis, and where it is defined: where there are true and false cells."""
    from scipy.stats import rankdata

    ranks = rankdata(scores, method="average", axis=-1)
    n_true = is_true.sum(axis=-1, dtype=np.float64)
    n_pairs = n_true * (is_true.shape[-1] - n_true)
    n_right = np.where(is_true, ranks, 0).sum(axis=-1) - n_true * (n_true + 1) / 2
    return divide(n_right, n_pairs), n_pairs > 0


def _auc_macro(is_true: Labels, scores: Scores) -> Scores:
    """Area under the ROC curve of each label, mean over the labels that are not constant."""
    area, is_defined = _area(is_true.T, np.swapaxes(scores, -1, -2))
    if not is_defined.any():
        return np.full(scores.shape[:-2], 0.5)
    return np.asarray(area[..., is_defined].mean(axis=-1))


def _auc_micro(is_true: Labels, scores: Scores) -> Scores:
    """Area under the ROC curve of all cells together."""
    area, is_defined = _area(is_true.ravel(), scores.reshape(*scores.shape[:-2], -1))
    return np.where(is_defined, area, 0.5)


def _brier(is_true: Labels, scores: Scores) -> Scores:
    """Mean squared difference between probability and truth, over all cells."""
    squares = (scores - is_true) ** 2
    # Along one axis, so that one prediction and many of them are summed in the same order.
    return np.asarray(squares.reshape(*scores.shape[:-2], -1).mean(axis=-1))


def _calibration_error(is_true: Labels, scores: Scores) -> Scores:
    """Expected calibration error over all cells, with ten bins of equal width.

    The mean difference between the mean probability of a bin and the share of true cells in it.
    """
    shape = scores.shape[:-2]
    flat = scores.reshape(-1, is_true.size)
    errors = np.empty(len(flat))
    for i, probability in enumerate(flat):
        bin_of = np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)
        difference = np.bincount(bin_of, probability - is_true.ravel(), minlength=N_BINS)
        errors[i] = np.abs(difference).sum() / is_true.size
    return errors.reshape(shape)


@dataclass(frozen=True)
class ScoreMeasure:
    """A named measure of scores.

    Parameters
    ----------
    name : str
        Key in :data:`SCORE_MEASURES`.
    title : str
        Name for tables and figures.
    formula : callable
        (true labels, scores) → value, vectorised over leading axes of the scores.
    is_loss : bool, default=False
        Whether smaller is better.
    needs_probability : bool, default=False
        Whether scores have to be probabilities.

    Examples
    --------
    >>> SCORE_MEASURES["ranking_loss"]([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.5, 0.6, 0.4]])
    0.25
    >>> SCORE_MEASURES["brier"]([[1, 0]], [[0.5, 0.5]])
    0.25
    """

    name: str
    title: str
    formula: Callable[[Labels, Scores], Scores]
    is_loss: bool = False
    needs_probability: bool = False

    def __call__(self, Y_true: Any, scores: Any) -> float:
        """The measure of one prediction.

        Parameters
        ----------
        Y_true, scores : array-like of shape (n_examples, n_labels)
        """
        return float(self.of_many(Y_true, np.asarray(scores, dtype=np.float64)))

    def of_many(self, Y_true: Any, scores: Scores) -> Scores:
        """The measure of many predictions at once.

        Parameters
        ----------
        Y_true : array-like of shape (n_examples, n_labels)
        scores : ndarray of shape (..., n_examples, n_labels)

        Returns
        -------
        ndarray of shape (...)
        """
        is_true = np.asarray(Y_true).astype(np.bool_)
        if is_true.shape != scores.shape[-2:] or is_true.ndim != 2 or not is_true.size:
            raise ValueError(f"Y_true has shape {is_true.shape}, but scores have {scores.shape}")
        if not np.isfinite(scores).all():
            raise ValueError("scores must be finite numbers")
        if self.needs_probability and not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError(f"{self.name} needs probabilities between 0 and 1")
        return np.asarray(self.formula(is_true, scores), dtype=np.float64)


_RANKING = (
    ScoreMeasure("ranking_loss", "Ranking loss", _ranking_loss, is_loss=True),
    ScoreMeasure("coverage_error", "Coverage error", _coverage_error, is_loss=True),
    ScoreMeasure("lrap", "Label ranking average precision", _label_ranking_precision),
    ScoreMeasure("dcg_5", "DCG of 5 labels", _dcg),
    ScoreMeasure("ndcg_5", "nDCG of 5 labels", _ndcg),
    ScoreMeasure("auc_macro", "Macro AUC", _auc_macro),
    ScoreMeasure("auc_micro", "Micro AUC", _auc_micro),
)
_CALIBRATION = (
    ScoreMeasure("brier", "Brier score", _brier, is_loss=True, needs_probability=True),
    ScoreMeasure(
        "ece", "Calibration error", _calibration_error, is_loss=True, needs_probability=True
    ),
)
#: Measures of scores by name.
SCORE_MEASURES: dict[str, ScoreMeasure] = {m.name: m for m in (*_RANKING, *_CALIBRATION)}
#: Names for measures that go together.
MEASURE_GROUPS: dict[str, tuple[str, ...]] = {
    "ranking": tuple(measure.name for measure in _RANKING),
    "calibration": tuple(measure.name for measure in _CALIBRATION),
}


def find_score_measures(names: Iterable[str]) -> list[ScoreMeasure]:
    """Those of some measures that are measures of scores."""
    return [SCORE_MEASURES[name] for name in names if name in SCORE_MEASURES]


def expand_measures(names: Iterable[str]) -> tuple[str, ...]:
    """The names of measures, of labels or of scores, that names and groups stand for, each once.

    Examples
    --------
    >>> expand_measures(["calibration", "accuracy"])
    ('brier', 'ece', 'subset')
    >>> expand_measures(["rankng"])
    Traceback (most recent call last):
    ...
    ValueError: unknown measure 'rankng' (did you mean 'ranking' or 'ranking_loss'?); known are ...
    """
    found: dict[str, None] = {}
    for name in names:
        known = find_measure(name)
        if known is not None:
            found[known.name] = None
        elif name in MEASURE_GROUPS or name in SCORE_MEASURES:
            found |= dict.fromkeys(MEASURE_GROUPS.get(name, (name,)))
        else:
            every = [*MEASURE_GROUPS, *SCORE_MEASURES, *MEASURES]
            hint = did_you_mean(str(name), every)
            raise ValueError(f"unknown measure {name!r}{hint}; known are {', '.join(every)}")
    return tuple(found)
