"""Tuning: scores of every cell on every fold → the chosen cell. Knows arrays only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


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
