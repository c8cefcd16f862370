"""Methods side by side: means over the folds, average ranks, Friedman test, critical difference.

Knows rows of tuned theories and baselines only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from .ranks import rank_best_first
from .statistics import Friedman, Pair, compare_pairs, differing_pairs, friedman_test

# The names that the paper gives to its method when it is tuned for a measure.
TUNED_NAMES = {"f1_micro": "M_F", "hamming": "M_H", "subset": "M_S"}


def average_methods(baselines: pd.DataFrame, tuned: pd.DataFrame) -> pd.DataFrame:
    """The means over the folds of all baselines, then of all tuned theories.

    Parameters
    ----------
    baselines, tuned : DataFrame
        The rows of a study.

    Returns
    -------
    DataFrame
        The columns are dataset, method (a baseline, or the family of the heuristic that was tuned),
        tuned_for (empty for a baseline) and the measures.
    """
    baselines = baselines.rename(columns={"baseline": "method"}).assign(tuned_for="")
    tuned = tuned.rename(columns={"heuristic": "method"})
    keys = ["dataset", "method", "tuned_for", "measure"]
    rows = pd.concat([f[[*keys, "value"]].astype({"value": float}) for f in (baselines, tuned)])
    means = rows.pivot_table("value", keys[:3], "measure", sort=False)
    return means.rename_axis(columns=None).reset_index()


@dataclass(frozen=True)
class Comparison:
    """Values of methods on data sets, for one measure.

    Parameters
    ----------
    measure : str
    datasets, methods : tuple of str
    values : (n_datasets, n_methods)
        Means over the folds.

    Examples
    --------
    >>> comparison = Comparison("hamming", ("a", "b"), ("R1", "R3", "M_H"),
    ...                         np.array([[0.5, 0.7, 0.9], [0.4, 0.8, 0.8]]))
    >>> comparison.average_ranks
    array([3.  , 1.75, 1.25])
    """

    measure: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def average_ranks(self) -> NDArray[np.float64]:
        """Rank of each method averaged over the data sets; equal values share their average rank."""
        return np.asarray(rank_best_first(self.values).mean(axis=0))

    def friedman(self) -> Friedman | None:
        """Whether the methods differ at all, or None for fewer than 3 methods or 2 data sets."""
        return friedman_test(self.values)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every two methods: wins, Wilcoxon's test with Holm's procedure, effect, Bayesian shares."""
        return compare_pairs(self.methods, self.values)

    def differing(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Which pairs of methods differ by Wilcoxon's test and Holm's procedure, a square matrix."""
        differs: NDArray[np.bool_] = differing_pairs(self.methods, self.pairs, alpha)
        return differs

    def critical_difference(self, alpha: float = 0.05) -> float:
        r"""Nemenyi's critical difference: larger differences of average ranks are significant.

        .. math:: CD = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

        with k methods, N data sets and q from the studentized range distribution, divided by √2
        (Demšar 2006).

        Examples
        --------
        Demšar's example, four methods on 14 data sets:

        >>> comparison = Comparison("f1_micro", ("d",) * 14, ("m",) * 4, np.zeros((14, 4)))
        >>> round(comparison.critical_difference(), 2)
        1.25
        """
        k, n = len(self.methods), len(self.datasets)
        q = stats.studentized_range.ppf(1 - alpha, k, math.inf) / math.sqrt(2)
        return float(q * math.sqrt(k * (k + 1) / (6 * n)))


def compare_methods(means: pd.DataFrame, measure: str, datasets: Sequence[str]) -> Comparison:
    """Compare baselines with the theories tuned for a measure.

    Parameters
    ----------
    means : DataFrame
        The result of `average_methods`.
    measure : str
    datasets : sequence of str
        The rows of the comparison.
    """
    compared = means[means["tuned_for"].isin(["", measure])]
    families = compared.loc[compared["tuned_for"] == measure, "method"].unique()
    name = TUNED_NAMES.get(measure, "M")
    names = {f: name if len(families) == 1 else f"{name} ({f})" for f in families}
    compared = compared.assign(method=compared["method"].replace(names))
    table = compared.pivot_table(measure, "dataset", "method").reindex(
        list(datasets), columns=compared["method"].unique()
    )
    table = table.dropna(axis=1)  # methods that failed on a data set
    methods = tuple(table.columns)
    return Comparison(measure, tuple(datasets), methods, table.to_numpy(dtype=np.float64))
