"""Methods side by side: means over the folds, average ranks, Friedman test, critical difference.

Knows rows of tuned theories and baselines only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from .ranks import rank_best_first

# The names that the paper gives to its method when it is tuned for a measure.
TUNED_NAMES = {"f1_micro": "M_F", "hamming": "M_H", "subset": "M_S"}


@dataclass(frozen=True)
class MethodMeans:
    """The means of a method on a data set.

    Parameters
    ----------
    dataset : str
    method : str
        The baseline, or the family of the heuristic that was tuned.
    means : dict of str to float
        Mean over the folds of each measure.
    tuned_for : str, default=""
        The measure that parameter and φ were chosen for; empty for a baseline.
    choices : tuple of (fold, parameter, φ), default=()
        The cells that were chosen.
    """

    dataset: str
    method: str
    means: dict[str, float]
    tuned_for: str = ""
    choices: tuple[tuple[int, float, float], ...] = ()


def average_methods(baselines: pd.DataFrame, tuned: pd.DataFrame) -> list[MethodMeans]:
    """The means of all baselines, then of all tuned theories, from the rows of a study."""
    found = []
    for rows, name in [(baselines.assign(tuned_for=""), "baseline"), (tuned, "heuristic")]:
        for key, group in rows.groupby(["dataset", name, "tuned_for"], sort=False):
            dataset, method, tuned_for = map(str, key)
            means: Any = group.groupby("measure", sort=False)["value"].mean().to_dict()
            cells = group.drop_duplicates("fold").reindex(columns=["fold", "parameter", "phi"])
            choices = tuple(cells.itertuples(index=False, name=None)) if tuned_for else ()
            found.append(MethodMeans(dataset, method, means, tuned_for, choices))
    return found


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

    def friedman(self) -> tuple[float, float] | None:
        """Friedman's χ² and its p-value, or None for fewer than 3 methods or 2 data sets."""
        if len(self.methods) < 3 or len(self.datasets) < 2:
            return None
        if np.all(self.values == self.values[:, :1]):
            return 0.0, 1.0  # all methods are equal on every data set
        statistic, p_value = stats.friedmanchisquare(*self.values.T)
        return float(statistic), float(p_value)

    def critical_difference(self, alpha: float = 0.05) -> float:
        """Nemenyi's critical difference: larger differences of average ranks are significant."""
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


def compare_methods(
    methods: Iterable[MethodMeans], measure: str, datasets: Sequence[str]
) -> Comparison | None:
    """Compare baselines with the theories tuned for a measure; None if the study has neither.

    Parameters
    ----------
    methods : iterable of MethodMeans
    measure : str
    datasets : sequence of str
        The rows of the comparison.
    """
    compared = [m for m in methods if m.tuned_for in ("", measure) and measure in m.means]
    n_families = len({m.method for m in compared if m.tuned_for})
    columns: dict[str, dict[str, float]] = {}
    for method in compared:
        name = TUNED_NAMES.get(measure, "M") if method.tuned_for else method.method
        if method.tuned_for and n_families > 1:
            name = f"{name} ({method.method})"
        columns.setdefault(name, {})[method.dataset] = method.means[measure]
    if not columns:
        return None
    table = pd.DataFrame(columns).reindex(list(datasets)).to_numpy(dtype=np.float64)
    return Comparison(measure, tuple(datasets), tuple(columns), table)
