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
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from steelyard._numbers import divide, to_booleans
from steelyard._text import did_you_mean

from .counting import MEASURES, find_measure

Scores = NDArray[np.float64]
Labels = NDArray[np.bool_]

# DCG looks at as many labels: nobody reads more, and many data sets have no more than a few.
TOP = 5
# As most papers about calibration have it.
N_BINS = 10


class RankedScores:
    """True labels and scores, with the ranks that several measures need, computed once.

    Parameters
    ----------
    Y_true : array-like of shape (n_examples, n_labels)
    scores : array-like of shape (..., n_examples, n_labels)
    """

    def __init__(self, Y_true: Any, scores: Any) -> None:
        found = to_booleans(Y_true if sparse.issparse(Y_true) else np.asarray(Y_true), "Y_true")
        self.is_true: Labels = found.toarray() if sparse.issparse(found) else found
        self.scores: Scores = np.asarray(scores, dtype=np.float64)
        shape = self.is_true.shape
        if shape != self.scores.shape[-2:] or len(shape) != 2 or not self.is_true.size:
            raise ValueError(f"Y_true has shape {shape}, but scores have {self.scores.shape}")
        if not np.isfinite(self.scores).all():
            raise ValueError("scores must be finite numbers")

    @cached_property
    def n_true(self) -> NDArray[np.int64]:
        """Number of true labels of each example."""
        return np.asarray(self.is_true.sum(axis=-1))

    @cached_property
    def last(self) -> Scores:
        """The rank of each label: how many labels of the example are scored at least as high."""
        return _rank(-self.scores, "max")

    @cached_property
    def first(self) -> Scores:
        """The best position that a label can have if ties are broken in its favour."""
        return _rank(-self.scores, "min")

    @cached_property
    def n_true_above(self) -> Scores:
        """How many true labels are scored at least as high; for true labels only."""
        return _rank(-np.where(self.is_true, self.scores, -np.inf), "max")

    @cached_property
    def gains(self) -> Scores:
        """DCG of each example: a true label at position r ≤ 5 counts 1/log₂(1 + r); ties share it."""
        last, first = self.last.astype(np.int64), self.first.astype(np.int64)
        total = _sum_discounts(self.is_true.shape[-1])
        gains = (total[last] - total[first - 1]) / (last - first + 1)
        return np.asarray(np.where(self.is_true, gains, 0).sum(axis=-1))


def _rank(values: Scores, method: str) -> Scores:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, method=method, axis=-1), dtype=np.float64)


def _sum_discounts(n_labels: int) -> Scores:
    """The discounts of the first r positions together, for r = 0, 1, ..., n_labels."""
    position = np.arange(1, n_labels + 1)
    discounts = np.where(position <= TOP, 1 / np.log2(1 + position), 0.0)
    return np.concatenate([[0.0], np.cumsum(discounts)])


def _ranking_loss(ranked: RankedScores) -> Scores:
    """Share of the pairs of a true and a false label that are in the wrong order or tied."""
    n_false_above = ranked.last - ranked.n_true_above
    n_wrong = np.where(ranked.is_true, n_false_above, 0).sum(axis=-1)
    n_pairs = ranked.n_true * (ranked.is_true.shape[-1] - ranked.n_true)
    return np.asarray(divide(n_wrong, n_pairs).mean(axis=-1))


def _coverage_error(ranked: RankedScores) -> Scores:
    """How far down the ranking one has to go to find all true labels."""
    depth = np.where(ranked.is_true, ranked.last, 0).max(axis=-1)
    return np.asarray(depth.mean(axis=-1))


def _label_ranking_precision(ranked: RankedScores) -> Scores:
    """For each true label, the share of true labels among those scored at least as high."""
    shares = np.where(ranked.is_true, ranked.n_true_above / ranked.last, 0)
    of_example = divide(shares.sum(axis=-1), ranked.n_true.astype(np.float64))
    says_nothing = (ranked.n_true == 0) | (ranked.n_true == ranked.is_true.shape[-1])
    return np.asarray(np.where(says_nothing, 1.0, of_example).mean(axis=-1))


def _mean_over_labelled(ranked: RankedScores, of_example: Scores) -> Scores:
    has_labels = ranked.n_true > 0
    return divide(np.where(has_labels, of_example, 0).sum(axis=-1), has_labels.sum())


def _dcg(ranked: RankedScores) -> Scores:
    """Mean discounted cumulative gain of the five highest scores."""
    return _mean_over_labelled(ranked, ranked.gains)


def _ndcg(ranked: RankedScores) -> Scores:
    """DCG divided by that of the best ranking of the example."""
    best = _sum_discounts(ranked.is_true.shape[-1])[ranked.n_true]
    return _mean_over_labelled(ranked, divide(ranked.gains, best))


def _area(is_true: Labels, scores: Scores) -> tuple[Scores, Labels]:
    """AUC along the last axis, and where it is defined: where there are true and false cells."""
    n_true = is_true.sum(axis=-1, dtype=np.float64)
    n_pairs = n_true * (is_true.shape[-1] - n_true)
    ranks = np.where(is_true, _rank(scores, "average"), 0).sum(axis=-1)
    return divide(ranks - n_true * (n_true + 1) / 2, n_pairs), n_pairs > 0


def _auc_macro(ranked: RankedScores) -> Scores:
    """Area under the ROC curve of each label, mean over the labels that are not constant."""
    area, is_defined = _area(ranked.is_true.T, np.swapaxes(ranked.scores, -1, -2))
    if not is_defined.any():
        return np.full(ranked.scores.shape[:-2], 0.5)
    return np.asarray(area[..., is_defined].mean(axis=-1))


def _auc_micro(ranked: RankedScores) -> Scores:
    """Area under the ROC curve of all cells together."""
    area, is_defined = _area(ranked.is_true.ravel(), _flatten(ranked.scores))
    return np.where(is_defined, area, 0.5)


def _flatten(scores: Scores) -> Scores:
    """All cells of a prediction along one axis: one prediction and many are summed in the same order."""
    return scores.reshape(*scores.shape[:-2], -1)


def _brier(ranked: RankedScores) -> Scores:
    """Mean squared difference between probability and truth, over all cells."""
    return np.asarray(_flatten((ranked.scores - ranked.is_true) ** 2).mean(axis=-1))


def _calibration_error(ranked: RankedScores) -> Scores:
    """Expected calibration error over all cells, with ten bins of equal width.

    The mean difference between the mean probability of a bin and the share of true cells in it.
    """
    is_true = ranked.is_true.ravel()
    flat = ranked.scores.reshape(-1, is_true.size)
    errors = np.empty(len(flat))
    for i, probability in enumerate(flat):
        bin_of = np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)
        difference = np.bincount(bin_of, probability - is_true, minlength=N_BINS)
        errors[i] = np.abs(difference).sum() / is_true.size
    return errors.reshape(ranked.scores.shape[:-2])


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
        RankedScores → value, vectorised over leading axes of the scores.
    is_loss : bool, default=False
        Whether smaller is better.
    needs_probability : bool, default=False
        Whether scores have to be probabilities.

    Examples
    --------
    >>> from steelyard.measures import SCORE_MEASURES
    >>> SCORE_MEASURES["ranking_loss"]([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.1], [0.5, 0.6, 0.4]])
    0.25
    >>> SCORE_MEASURES["brier"]([[1, 0]], [[0.5, 0.5]])
    0.25
    """

    name: str
    title: str
    formula: Callable[[RankedScores], Scores]
    is_loss: bool = False
    needs_probability: bool = False

    def __call__(self, Y_true: Any, scores: Any) -> float:
        """The measure of one prediction.

        Parameters
        ----------
        Y_true, scores : array-like of shape (n_examples, n_labels)
        """
        return float(self.of_many(RankedScores(Y_true, scores)))

    def of_many(self, ranked: RankedScores) -> Scores:
        """The measure of many predictions at once, of the shape of the leading axes of their scores."""
        scores = ranked.scores
        if self.needs_probability and not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError(f"{self.name} needs probabilities between 0 and 1")
        return np.asarray(self.formula(ranked), dtype=np.float64)


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
