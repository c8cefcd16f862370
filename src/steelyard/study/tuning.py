"""Tuning: mean scores over inner folds → the chosen cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def choose_cell(scores: NDArray[np.float64], n_conditions: NDArray[np.float64]) -> tuple[int, int]:
    """The cell with the best mean score; ties: fewer conditions, then the first.

    The same rule as `RuleSetClassifierCV` has, so that a tuned row of a study is what that estimator
    would have learned on the fold's training set.

    Parameters
    ----------
    scores, n_conditions : (n_heuristics, n_phis)
        Means over the inner folds.

    Returns
    -------
    heuristic index, φ index

    Examples
    --------
    >>> choose_cell(np.array([[0.5, 0.7], [0.7, 0.1]]), np.array([[9.0, 8.0], [3.0, 2.0]]))
    (1, 0)
    """
    flat = scores.ravel()
    best = np.lexsort((np.arange(len(flat)), n_conditions.ravel(), -flat))[0]
    h, j = divmod(int(best), scores.shape[1])
    return h, j
