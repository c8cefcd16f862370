"""Tuning: scores on held-out folds → the chosen cell, the thresholds of labels. Knows arrays only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.measures import Counts
from steelyard.model.log_odds import points_to_probability

# The threshold that is best for a label counts as much as that of all labels if the label has this many
# positives. Of 5, 20 and 50 this had the best macro F1, 30.8 % in the mean of four data sets that are
# not the paper's (5: 30.4, 50: 30.1, one threshold for all: 29.6).
_ENOUGH_POSITIVES = 20
# What a threshold for all labels is chosen from: probabilities from 5 % to 62 %.
_SHARED_CUTS = np.arange(-300, 60, 10)


def choose_thresholds(
    points: NDArray[np.float64],
    is_present: NDArray[np.bool_],
    formula: Callable[[Counts], NDArray[np.float64]],
    weights: NDArray[np.float64] | None = None,
) -> tuple[float, ...]:
    """One threshold per label for the mean over labels of a formula on the counts of each label.

    The log-odds of the best threshold of a label and of the best one for all labels are averaged, with a
    weight for the label that grows with its positives.

    Parameters
    ----------
    points : (n_rows, n_labels)
        Log-odds on held-out examples, in hundredths.
    is_present : (n_rows, n_labels) bool
    formula : callable(Counts) -> values
        As `Measure.formula`.
    weights : (n_rows,), optional
        What each example counts.

    Returns
    -------
    tuple of float
        Probabilities, to three digits.

    Examples
    --------
    >>> from steelyard.measures import MEASURES
    >>> points = np.array([[-100.0], [-150.0], [-200.0]] * 40)
    >>> is_present = np.array([[True], [False], [False]] * 40)
    >>> choose_thresholds(points, is_present, MEASURES["f1_macro"].formula)
    (0.231,)
    """
    w = np.ones(len(points)) if weights is None else weights
    n_rows, n_positives = w.sum(), w @ is_present
    own = np.empty(points.shape[1])
    for j, (scores, truth) in enumerate(zip(points.T, is_present.T, strict=True)):
        order = np.argsort(-scores, kind="stable")
        ranked, tp = scores[order], np.cumsum((w * truth)[order])
        lower = np.append(ranked[1:], ranked[-1:] - 2)
        is_cut = lower < ranked  # equal scores are on one side
        values = _rate(tp, np.cumsum(w[order]), n_positives[j], n_rows, formula)
        best = int(np.argmax(np.where(is_cut, values, -np.inf)))
        own[j] = (ranked[best] + lower[best]) / 2
    above = [points > cut for cut in _SHARED_CUTS]
    means = [
        _rate(w @ (mask & is_present), w @ mask, n_positives, n_rows, formula).mean()
        for mask in above
    ]
    shared = _SHARED_CUTS[::-1][int(np.argmax(means[::-1]))]
    weight = n_positives / (n_positives + _ENOUGH_POSITIVES)
    thresholds = points_to_probability(weight * own + (1 - weight) * shared)
    return tuple(np.clip(thresholds.round(3), 0.001, 0.999).tolist())


def _rate(
    tp: NDArray[np.float64],
    n_predicted: NDArray[np.float64],
    n_positives: NDArray[np.float64],
    n_rows: float,
    formula: Callable[[Counts], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """The formula on the counts of predictions with so many true positives among those predicted."""
    fp, fn = n_predicted - tp, n_positives - tp
    counts = (tp, fp, fn, n_rows - tp - fp - fn)
    return formula(Counts(*counts))


def smooth_scores(scores: NDArray[np.float64], shape: Sequence[int]) -> NDArray[np.float64]:
    """The mean score of each cell and its neighbours on the grid, for every fold.

    Neighbouring cells have similar theories, so their mean says more about a cell than its own score on
    a few examples. Cells at the edge have copies of themselves for neighbours.

    Parameters
    ----------
    scores : (n_folds, n_cells)
        One grid after the other.
    shape : sequence of int
        The shape of a grid.

    Examples
    --------
    >>> smooth_scores(np.array([[0.0, 0.0, 0.9, 0.6, 0.6]]), (1, 5)).round(6).tolist()
    [[0.0, 0.3, 0.5, 0.7, 0.6]]
    """
    grids = scores.reshape(-1, *shape)
    padded = np.pad(grids, [(0, 0), *[(1, 1) for _ in shape]], mode="edge")
    axes = tuple(range(1, grids.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(padded, [3] * len(shape), axis=axes)
    with np.errstate(invalid="ignore"):  # a scorer may return infinity
        means = windows.mean(axis=tuple(-axis for axis in axes)).reshape(scores.shape)
    return np.where(np.isnan(means), scores, means)


def choose_cell(
    scores: NDArray[np.float64], n_conditions: NDArray[np.float64], tolerance: float = 0.0
) -> int:
    """The cell with the best mean score over the folds; ties: fewer conditions, then the first.

    With a `tolerance`, every cell counts as equal whose mean is below the best by at most that many
    standard errors of the difference between the two over the folds.

    Parameters
    ----------
    scores : (n_folds, n_cells)
    n_conditions : (n_cells,)
        Of the cells' theories, mean over the folds.
    tolerance : float

    Examples
    --------
    >>> choose_cell(np.array([[0.5, 0.7, 0.7], [0.7, 0.5, 0.5]]), np.array([9.0, 8.0, 3.0]))
    2
    """
    mean = scores.mean(axis=0)
    mean[np.isnan(mean)] = -np.inf
    best = int(np.lexsort((n_conditions, -mean))[0])
    if not tolerance or len(scores) < 2 or not np.isfinite(mean[best]):
        return best
    with np.errstate(invalid="ignore"):  # a scorer may return -inf
        difference = scores[:, best, None] - scores
        error = difference.std(axis=0, ddof=1) / np.sqrt(len(scores))
    is_close = difference.mean(axis=0) <= tolerance * np.nan_to_num(error)
    close = np.flatnonzero(is_close & np.isfinite(mean))
    return int(close[np.lexsort((-mean[close], n_conditions[close]))[0]])
