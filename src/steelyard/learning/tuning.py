"""Tuning: scores of every cell on every fold → the chosen cell. Knows arrays only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
