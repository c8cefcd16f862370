"""Thresholding: heuristic values + φ → kept rules. Knows values only."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# The paper's grid: 100 %, 95 %, ..., 5 %.
PHI_GRID: tuple[float, ...] = tuple(k / 20 for k in range(20, 0, -1))


def count_quota(n_rules: int, phi: float) -> int:
    """ceil(φ·n), immune to the noise of binary fractions (0.55 · 20 is 11, not 11.000000000000002).

    Examples
    --------
    >>> count_quota(20, 0.55), count_quota(7, 0.5), count_quota(3, 1.0)
    (11, 4, 3)
    """
    return min(n_rules, math.ceil(round(phi * n_rules, 9)))


def min_heuristic_value(descending: NDArray[np.float64], phi: float) -> float:
    """The cut that the share φ implies: the value of the rule at position ceil(φ·n), best first.

    Examples
    --------
    >>> min_heuristic_value(np.array([0.9, 0.8, 0.8, 0.1]), 0.5)
    0.8
    """
    if not len(descending):
        return math.nan
    return float(descending[max(count_quota(len(descending), phi), 1) - 1])


def count_kept(values: NDArray[np.float64], phi: float, n_protected: int = 0) -> int:
    """How many of the rules, sorted best first, are not worse than the cut that φ implies.

    The first `n_protected` rules are kept whatever their values; only the others are sorted.

    Examples
    --------
    >>> count_kept(np.array([0.9, 0.8, 0.8, 0.1]), 0.5)
    3
    >>> count_kept(np.array([0.9, 0.1, 0.8, 0.8]), 0.5, n_protected=2)
    4
    """
    if not len(values) or phi <= 0:
        return n_protected
    cut = min_heuristic_value(np.sort(values)[::-1] if n_protected else values, phi)
    return n_protected + count_above(values[n_protected:], cut)


def count_within(
    n_conditions: NDArray[np.int64], max_rules: int | None, max_total_conditions: int | None
) -> int:
    """How many of the rules, best first, fit into the bounds together; None is no bound.

    The first rule that does not fit ends the theory, so a larger bound never drops a rule.

    Examples
    --------
    >>> count_within(np.array([2, 3, 1, 2]), 3, None), count_within(np.array([2, 3, 1, 2]), 3, 5)
    (3, 2)
    """
    n_rules = len(n_conditions) if max_rules is None else min(len(n_conditions), max_rules)
    if max_total_conditions is None:
        return n_rules
    total = np.cumsum(n_conditions[:n_rules])
    return int(np.searchsorted(total, max_total_conditions, side="right"))


def count_above(descending: NDArray[np.float64], cut: float) -> int:
    """How many of the values, sorted best first, are at least `cut`."""
    return int(np.searchsorted(-descending, -cut, side="right"))
