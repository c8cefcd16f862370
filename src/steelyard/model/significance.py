"""Counts → intervals and p-values. Knows neither rules nor labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The normal quantile of a two-sided 95 % interval.
_Z = 1.959963984540054


def wilson_interval(n_right: Any, n_all: Any) -> tuple[Floats, Floats]:
    """The 95 % Wilson score interval of a share; from 0 to 1 if there are no examples.

    Examples
    --------
    >>> low, high = wilson_interval(9, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.596, 0.982)
    """
    n = np.asarray(n_all, dtype=np.float64)
    share, scale = n_right / np.maximum(n, 1), n + _Z**2
    centre = (n * share + _Z**2 / 2) / scale
    half = _Z * np.sqrt(n * share * (1 - share) + _Z**2 / 4) / scale
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def chance_p_value(tp: Any, n_covered: Any, n_positives: Any, n_rows: Any) -> Floats:
    """Probability that as many randomly drawn rows contain at least so many positives.

    The hypergeometric test, which is Fisher's exact test against a rule that covers rows at random. The
    prior is that of the same rows.

    Examples
    --------
    >>> round(float(chance_p_value(tp=9, n_covered=11, n_positives=10, n_rows=40)), 7)
    1.9e-06
    """
    from scipy.stats import hypergeom  # takes half a second

    tp, n_covered = np.asarray(tp), np.asarray(n_covered)
    return np.asarray(hypergeom.sf(tp - 1, n_rows, n_positives, n_covered), dtype=np.float64)


def compare_shares(
    n_right: int, n_all: int, other_right: int, other_all: int, alternative: str = "two-sided"
) -> float:
    """p-value of Fisher's exact test that two shares are equal; NaN if one has no examples.

    With ``alternative="less"`` the first share is smaller.

    Examples
    --------
    >>> round(compare_shares(5, 50, 20, 50), 4)
    0.001
    """
    from scipy.stats import fisher_exact

    if not n_all or not other_all:
        return math.nan
    table = [[n_right, n_all - n_right], [other_right, other_all - other_right]]
    return float(fisher_exact(table, alternative=alternative).pvalue)


def adjust_holm(p_values: Any) -> Floats:
    """p-values for several tests together, after Holm; NaN is no test.

    Examples
    --------
    >>> adjust_holm([0.01, 0.04, np.nan, 0.03]).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p)[: np.isfinite(p).sum()]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted
