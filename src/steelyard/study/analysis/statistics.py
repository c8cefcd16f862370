"""Tests between methods: rows of values → p-values, effect sizes, posterior shares. Knows numbers only.

The tests are those that referees of the field ask for: Demšar (2006) and Benavoli et al. (2017).
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Values = NDArray[np.float64]

# Differences below this are rounding: means of the same numbers in another order.
DIGITS = 12
# Draws of the Bayesian test; shares are then right to about half a percent.
_N_DRAWS = 20_000


class Friedman(NamedTuple):
    """Friedman's χ² and the F of Iman and Davenport, which is less conservative, with p-values."""

    chi2: float
    chi2_p: float
    f: float
    p: float


def friedman_test(values: Values) -> Friedman | None:
    """Whether the methods differ at all; None for fewer than 3 methods or 2 data sets.

    Parameters
    ----------
    values : (n_datasets, n_methods)

    Examples
    --------
    >>> found = friedman_test(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]))
    >>> round(found.chi2, 2)
    4.67
    """
    n, k = values.shape
    if k < 3 or n < 2:
        return None
    values = values.round(DIGITS)
    if np.all(values == values[:, :1]):
        return Friedman(0.0, 1.0, 0.0, 1.0)  # all methods are equal on every data set
    chi2, chi2_p = stats.friedmanchisquare(*values.T)
    # If every data set ranks the methods alike, F is infinite.
    spare = n * (k - 1) - chi2
    f = (n - 1) * chi2 / spare if spare > 0 else np.inf
    return Friedman(
        float(chi2), float(chi2_p), float(f), float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    )


class Pair(NamedTuple):
    """Two methods compared on the same data sets.

    Parameters
    ----------
    first, second : str
    wins, ties, losses : int
        Data sets on which the first method is better, equal or worse.
    p : float
        p-value of Wilcoxon's signed-rank test, two-sided.
    holm : float
        The same, adjusted for all pairs of methods by Holm's procedure.
    effect : float
        Matched-pairs rank-biserial correlation: 1 if the first method is always better, -1 if never.
    better, equal, worse : float
        Posterior probabilities that the first method is better, practically equal or worse.
    """

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    p: float
    holm: float
    effect: float
    better: float
    equal: float
    worse: float


def compare_pairs(methods: tuple[str, ...], values: Values, rope: float = 0.01) -> list[Pair]:
    """All pairs of methods.

    Parameters
    ----------
    methods : tuple of str
    values : (n_datasets, n_methods)
        Shares: 0.01 is one percent.
    rope : float, default=0.01
        Differences up to this are practically equal: the region of practical equivalence.
    """
    found = []
    for i, j in itertools.combinations(range(len(methods)), 2):
        difference = (values[:, i] - values[:, j]).round(DIGITS)
        signs = (int((difference > 0).sum()), int((difference == 0).sum()))
        counts = (*signs, len(difference) - sum(signs))
        numbers = (signed_rank_p(difference), np.nan, rank_biserial(difference))
        shares = bayesian_signed_rank(difference, rope)
        found.append(Pair(methods[i], methods[j], *counts, *numbers, *shares))
    adjusted = holm([pair.p for pair in found])
    return [pair._replace(holm=p) for pair, p in zip(found, adjusted, strict=True)]


def signed_rank_p(difference: Values) -> float:
    """p-value of Wilcoxon's signed-rank test, exact where there are no ties; 1 if all are equal.

    Zero differences are dropped.

    Examples
    --------
    >>> signed_rank_p(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
    0.03125
    """
    kept = difference[difference != 0]
    if kept.size == 0:
        return 1.0
    is_exact = len(np.unique(np.abs(kept))) == len(kept) <= 50
    result = stats.wilcoxon(kept, method="exact" if is_exact else "approx")
    return float(result.pvalue)


def rank_biserial(difference: Values) -> float:
    """Share of the rank sum in favour of the first method minus the share against it.

    Examples
    --------
    >>> round(rank_biserial(np.array([3.0, 2.0, -1.0])), 3)
    0.667
    """
    kept = difference[difference != 0]
    if kept.size == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(kept))
    return float(np.dot(np.sign(kept), ranks) / ranks.sum())


def holm(p_values: list[float]) -> list[float]:
    """p-values adjusted by Holm's procedure.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.maximum.accumulate(np.minimum(1, np.asarray(p_values)[order] * factors))
    result = np.empty(len(p_values))
    result[order] = adjusted
    return [float(p) for p in result]


def bayesian_signed_rank(
    difference: Values, rope: float, *, seed: int = 0
) -> tuple[float, float, float]:
    """Probabilities that the first method is better, practically equal or worse.

    The Bayesian signed-rank test of Benavoli et al. (2014): a Dirichlet process whose prior is one half
    of an observation at 0. The draws have a fixed seed, so that equal values give equal shares.

    Examples
    --------
    >>> better, equal, worse = bayesian_signed_rank(np.full(12, 0.05), rope=0.01)
    >>> better > 0.99
    True
    """
    observed = np.concatenate([[0.0], difference])
    sums = observed[:, None] + observed
    regions = [sums > 2 * rope, np.abs(sums) <= 2 * rope, sums < -2 * rope]
    weights = np.random.default_rng(seed).dirichlet([0.5, *np.ones(len(difference))], _N_DRAWS)
    # Each draw votes for the region with the largest weight of pairs; ties share the vote.
    shares = np.stack(
        [np.einsum("di,ij,dj->d", weights, r, weights, optimize=True) for r in regions]
    )
    is_best = shares >= shares.max(axis=0) - 1e-12
    votes = (is_best / is_best.sum(axis=0)).mean(axis=1)
    return float(votes[0]), float(votes[1]), float(votes[2])


def fewest_data_sets(n_methods: int, alpha: float = 0.05) -> int:
    """Number of data sets below which no pair of methods can differ significantly after Holm.

    The smallest p-value of Wilcoxon's test on n data sets is 2/2ⁿ; with several pairs the smallest one
    is multiplied by their number.

    Examples
    --------
    >>> fewest_data_sets(2), fewest_data_sets(4)
    (6, 8)
    """
    n_pairs = n_methods * (n_methods - 1) // 2
    return int(np.ceil(np.log2(2 * max(n_pairs, 1) / alpha)))


def differing_pairs(methods: tuple[str, ...], pairs: list[Pair], alpha: float = 0.05) -> Any:
    """Which methods differ significantly after Holm's procedure, shape (n_methods, n_methods)."""
    differs = np.zeros((len(methods),) * 2, dtype=np.bool_)
    position = {name: i for i, name in enumerate(methods)}
    for pair in pairs:
        i, j = position[pair.first], position[pair.second]
        differs[i, j] = differs[j, i] = pair.holm <= alpha
    return differs
