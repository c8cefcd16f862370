"""Cell maps: a measure over the grid, its ranks and its best cells. Knows rows only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from steelyard.study.config import StudyError

from .statistics import DIGITS

Values = NDArray[np.float64]


def rank_best_first(values: Values) -> Values:
    """Ranks along the last axis: 1 for the largest value; equal values share their average rank.

    For the sizes of theories, a smaller rank therefore means more rules, as in the paper. Values are
    equal up to rounding: means of the same numbers may differ in their last bit.

    Examples
    --------
    >>> rank_best_first(np.array([0.3, 0.9, 0.3, 0.1]))
    array([2.5, 1. , 2.5, 4. ])
    """
    return np.asarray(rankdata(-np.round(values, DIGITS), method="average", axis=-1))


@dataclass(frozen=True)
class CellMap:
    """A measure over the cells of a grid, for every data set.

    Parameters
    ----------
    datasets : tuple of str
    parameters, phis : (n_parameters,), (n_phis,)
        The axes: parameters ascending, φ descending.
    values, sd : (n_datasets, n_phis, n_parameters)
        Means and standard deviations over the folds; the deviation of a single fold is NaN.
    """

    datasets: tuple[str, ...]
    parameters: Values
    phis: Values
    values: Values
    sd: Values

    @cached_property
    def ranks(self) -> Values:
        """Rank of each cell within its data set, of the shape of `values`."""
        flat = self.values.reshape(len(self.datasets), -1)
        return rank_best_first(flat).reshape(self.values.shape)

    @cached_property
    def mean_rank(self) -> Values:
        """Ranks averaged over the data sets, shape (n_phis, n_parameters)."""
        return np.asarray(self.ranks.mean(axis=0))

    @cached_property
    def sd_rank(self) -> Values:
        """Standard deviation of the ranks over the data sets, shape (n_phis, n_parameters)."""
        return np.asarray(self.ranks.std(axis=0))

    @cached_property
    def best_cells(self) -> dict[str, tuple[int, int]]:
        """φ index and parameter index of the best cell per data set; the first one of equal cells.

        Data sets on which all cells are equal are omitted.
        """
        best = {}
        for dataset, values in zip(self.datasets, self.values, strict=True):
            rounded = values.round(DIGITS)
            if rounded.min() < rounded.max():
                # In the order of the rows: first by parameter, then by descending φ.
                i, j = divmod(int(np.argmax(rounded.T)), len(self.phis))
                best[dataset] = (j, i)
        return best

    def best_cell(self, dataset: str) -> tuple[float, float]:
        """Parameter and φ of the best cell of a data set; the first cell if all are equal."""
        j, i = self.best_cells.get(dataset, (0, 0))
        return float(self.parameters[i]), float(self.phis[j])

    def of(self, dataset: str) -> CellMap:
        """The map of one data set."""
        d = self.datasets.index(dataset)
        return replace(self, datasets=(dataset,), values=self.values[[d]], sd=self.sd[[d]])

    def value_at(self, dataset: str, parameter: float, phi: float) -> float:
        """The value of one cell."""
        (i,), (j,) = np.nonzero(self.parameters == parameter), np.nonzero(self.phis == phi)
        if not (i.size and j.size):
            raise StudyError(f"the study has no cell {parameter:g}:{phi:g}")
        return float(self.values[self.datasets.index(dataset), j[0], i[0]])


def map_cells(results: pd.DataFrame, measure: str, heuristic: str | None = None) -> CellMap:
    """The map of a measure from the rows of a study.

    Parameters
    ----------
    results : DataFrame
        Rows with dataset, fold, heuristic, parameter, phi, measure, value.
    measure : str
    heuristic : str, optional
        The family; required if the rows have several.

    Returns
    -------
    CellMap

    Examples
    --------
    >>> rows = pd.DataFrame({
    ...     "dataset": "a", "fold": [1, 2] * 2, "heuristic": "m-estimate", "parameter": [0, 0, 2, 2],
    ...     "phi": 1.0, "measure": "hamming", "value": [0.5, 0.7, 0.8, 1.0]})
    >>> cells = map_cells(rows, "hamming")
    >>> cells.values.round(2).tolist(), cells.mean_rank.tolist()
    ([[[0.6, 0.9]]], [[2.0, 1.0]])
    """
    families = list(dict.fromkeys(results["heuristic"]))
    if heuristic is None:
        if len(families) != 1:
            raise StudyError(f"choose a heuristic: the rows have {', '.join(families)}")
        heuristic = families[0]
    rows = results[(results["measure"] == measure) & (results["heuristic"] == heuristic)]
    if rows.empty:
        known = ", ".join(dict.fromkeys(results["measure"]))
        raise StudyError(f"there are no rows of {measure!r} with {heuristic}; measures: {known}")
    datasets = tuple(dict.fromkeys(rows["dataset"]))
    parameters = np.sort(rows["parameter"].unique().astype(np.float64))
    phis = np.sort(rows["phi"].unique().astype(np.float64))[::-1]
    folds = rows.groupby(["dataset", "parameter", "phi"])["value"].agg(["mean", "std"])
    table = folds.reindex(pd.MultiIndex.from_product([datasets, parameters, phis]))
    if table["mean"].isna().any():
        raise StudyError(f"the rows of {measure!r} do not fill the grid of every data set")
    shape = len(datasets), len(parameters), len(phis)
    mean, sd = (table[name].to_numpy(np.float64).reshape(shape) for name in ("mean", "std"))
    return CellMap(datasets, parameters, phis, mean.transpose(0, 2, 1), sd.transpose(0, 2, 1))
