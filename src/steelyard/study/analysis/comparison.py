"""Methods side by side: values per data set, average ranks, Friedman test, critical difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from steelyard.study.runner import StudyResults

from .ranks import rank_best_first

# The tuned method of a measure as the paper calls it.
TUNED_NAMES = {"f1_micro": "M_F", "hamming": "M_H", "subset": "M_S"}


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
        """Rank of each method averaged over the data sets; equals share the average of their places."""
        mean: NDArray[np.float64] = rank_best_first(self.values).mean(axis=0)
        return mean

    def friedman(self) -> tuple[float, float] | None:
        """Friedman's χ² and its p-value, or None for fewer than 3 methods or 2 data sets."""
        if len(self.methods) < 3 or len(self.datasets) < 2:
            return None
        if np.all(self.values == self.values[:, :1]):
            return 0.0, 1.0  # no data set tells any two methods apart
        statistic, p_value = stats.friedmanchisquare(*self.values.T)
        return float(statistic), float(p_value)

    def critical_difference(self, alpha: float = 0.05) -> float:
        """Nemenyi's: average ranks that differ by more are significantly different."""
        return nemenyi_critical_difference(len(self.methods), len(self.datasets), alpha)


def nemenyi_critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    r"""The critical difference of average ranks in Nemenyi's test.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    with q from the studentized range distribution, divided by √2 (Demšar 2006).

    Examples
    --------
    Demšar's example, four methods on 14 data sets:

    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - alpha, n_methods, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def compare_methods(study: StudyResults, measure: str) -> Comparison | None:
    """Baselines and the method tuned for a measure, on the data sets that have them all.

    None if the study has neither.
    """
    columns: dict[str, pd.Series] = {}
    if len(study.baselines):
        rows = study.baselines[study.baselines["measure"] == measure]
        for baseline in dict.fromkeys(rows["baseline"]):
            values = rows[rows["baseline"] == baseline]
            columns[baseline] = values.groupby("dataset", sort=False)["value"].mean()
    if len(study.tuned):
        rows = study.tuned
        rows = rows[(rows["measure"] == measure) & (rows["tuned_for"] == measure)]
        for heuristic in dict.fromkeys(rows["heuristic"]):
            name = TUNED_NAMES.get(measure, "M")
            if len(study.config.heuristics) > 1:
                name = f"{name} ({heuristic})"
            values = rows[rows["heuristic"] == heuristic]
            columns[name] = values.groupby("dataset", sort=False)["value"].mean()
    if not columns:
        return None
    table = pd.DataFrame(columns)
    table = table.reindex(list(dict.fromkeys(study.results["dataset"])))
    return Comparison(
        measure, tuple(table.index), tuple(table.columns), table.to_numpy(dtype=np.float64)
    )
