"""Ranks: values of cells per data set → ranks, averaged over data sets. Knows rows only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from steelyard.study.config import StudyError


def rank_best_first(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks along the last axis: 1 for the greatest value; equals share the average of their places.

    For the sizes of theories this means that a smaller rank is more rules, as in the paper.

    Examples
    --------
    >>> rank_best_first(np.array([0.3, 0.9, 0.3, 0.1]))
    array([2.5, 1. , 2.5, 4. ])
    """
    ranks: NDArray[np.float64] = rankdata(-np.asarray(values), method="average", axis=-1)
    return ranks


@dataclass(frozen=True)
class CellMap:
    """A measure over the cells of a grid, for every data set.

    Parameters
    ----------
    datasets : tuple of str
    parameters, phis : (n_parameters,), (n_phis,)
        The axes: parameters ascending, φ descending.
    values : (n_datasets, n_phis, n_parameters)
        Means over the folds.
    """

    datasets: tuple[str, ...]
    parameters: NDArray[np.float64]
    phis: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def ranks(self) -> NDArray[np.float64]:
        """Rank of each cell within its data set, of the shape of `values`."""
        flat = self.values.reshape(len(self.datasets), -1)
        return rank_best_first(flat).reshape(self.values.shape)

    @property
    def mean_rank(self) -> NDArray[np.float64]:
        """Ranks averaged over the data sets, shape (n_phis, n_parameters)."""
        mean: NDArray[np.float64] = self.ranks.mean(axis=0)
        return mean

    @property
    def sd_rank(self) -> NDArray[np.float64]:
        """Standard deviation of the ranks over the data sets, shape (n_phis, n_parameters)."""
        sd: NDArray[np.float64] = self.ranks.std(axis=0)
        return sd

    def best_cells(self) -> dict[str, tuple[int, int]]:
        """φ index and parameter index of each data set's best cell; of equals the first.

        A data set on which all cells are equal has none.
        """
        best = {}
        for dataset, values in zip(self.datasets, self.values, strict=True):
            if values.min() < values.max():
                # First by parameter, then from lax to strict φ: the order of the rows.
                i, j = divmod(int(np.argmax(values.T)), len(self.phis))
                best[dataset] = (j, i)
        return best

    def best_by_rank(self) -> tuple[float, float]:
        """Parameter and φ of the cell with the best average rank."""
        i, j = divmod(int(np.argmin(self.mean_rank.T)), len(self.phis))
        return float(self.parameters[i]), float(self.phis[j])


def map_cells(results: pd.DataFrame, measure: str, heuristic: str | None = None) -> CellMap:
    """The map of a measure from the rows of a study.

    Parameters
    ----------
    results : DataFrame
        Rows with dataset, fold, heuristic, parameter, phi, measure, value.
    measure : str
    heuristic : str, optional
        The family; may be left out if the rows have only one.

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
            raise StudyError(f"say which heuristic: the rows have {', '.join(families)}")
        heuristic = families[0]
    rows = results[(results["measure"] == measure) & (results["heuristic"] == heuristic)]
    if rows.empty:
        known = ", ".join(dict.fromkeys(results["measure"]))
        raise StudyError(f"there are no rows of {measure!r} with {heuristic}; measures: {known}")
    means = rows.groupby(["dataset", "parameter", "phi"], sort=True)["value"].mean()
    datasets = tuple(dict.fromkeys(rows["dataset"]))
    parameters = np.sort(rows["parameter"].unique().astype(np.float64))
    phis = np.sort(rows["phi"].unique().astype(np.float64))[::-1]
    table = means.reindex(pd.MultiIndex.from_product([datasets, parameters, phis]))
    values = table.to_numpy(dtype=np.float64).reshape(len(datasets), len(parameters), len(phis))
    if np.isnan(values).any():
        raise StudyError(f"the rows of {measure!r} do not fill the grid of every data set")
    return CellMap(datasets, parameters, phis, values.transpose(0, 2, 1))
