"""Finished units → tidy rows of results, tuned choices and baselines. Learns nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from steelyard.learning.tuning import choose_cell

from .config import StudyConfig
from .methods import find_method
from .store import Arrays
from .units import RIPPER_VARIANTS, Unit

CELL = ("heuristic", "parameter", "phi")
# Name of a file of rows → its columns.
COLUMNS: dict[str, tuple[str, ...]] = {
    "results": ("dataset", "fold", *CELL, "measure", "value"),
    "tuned": ("dataset", "fold", "tuned_for", *CELL, "measure", "value"),
    "baselines": ("dataset", "fold", "baseline", "measure", "value"),
}


def empty_rows(name: str) -> pd.DataFrame:
    """No rows: what a study has of everything that it did not ask for."""
    return pd.DataFrame(columns=list(COLUMNS[name]))


def collect_rows(config: StudyConfig, units: Mapping[Unit, Arrays]) -> dict[str, pd.DataFrame]:
    """Name of a file → its rows: one per data set, fold, cell or baseline, and measure.

    The tuned rows have one cell per measure tuned for and family: the one that tuning chose.
    """
    grid, variants = _list_grid(config), pd.DataFrame({"baseline": list(RIPPER_VARIANTS)})
    units = {unit: arrays for unit, arrays in units.items() if "error" not in arrays}
    found: dict[str, list[pd.DataFrame]] = {name: [] for name in COLUMNS}
    for unit, arrays in units.items():
        if unit.kind == "grid":
            found["results"].append(_to_rows(unit, arrays, grid))
            if config.tune:
                chosen = _choose_cells(config, unit, units)
                found["tuned"].append(_to_rows(unit, arrays, chosen))
        elif unit.kind == "ripper":
            found["baselines"].append(_to_rows(unit, arrays, variants))
        elif unit.kind == "method":
            name = pd.DataFrame({"baseline": [find_method(unit.method).name]})
            found["baselines"].append(_to_rows(unit, arrays, name))
    return {
        name: pd.concat(frames, ignore_index=True) if frames else empty_rows(name)
        for name, frames in found.items()
    }


def _list_grid(config: StudyConfig) -> pd.DataFrame:
    """All cells of the grid, in the order of the values of a unit."""
    cells = [(*column, phi) for column in config.columns for phi in config.phis]
    return pd.DataFrame(cells, columns=list(CELL))


def _choose_cells(config: StudyConfig, fold: Unit, units: Mapping[Unit, Arrays]) -> pd.DataFrame:
    """The cells of the grid that are chosen on a fold, per measure tuned for and family.

    The rule is that of `RuleSetClassifierCV`, so a tuned row is what this estimator would have learned
    on the training set of the fold.
    """
    numbers = range(1, config.inner_folds + 1)
    inner = [units[Unit("inner", fold.dataset, fold.fold, k)] for k in numbers]
    n_conditions = np.mean([arrays["n_conditions"] for arrays in inner], axis=0).ravel()
    grid = _list_grid(config)
    tuning = grid[[h in config.tuning_grid for h in config.grid for _ in config.phis]]
    tuned_for, chosen = [], []
    for i, measure in enumerate(config.tune):
        scores = np.array([arrays["values"][i].ravel() for arrays in inner])
        for family in tuning["heuristic"].unique():
            own = np.flatnonzero(tuning["heuristic"] == family)
            tuned_for.append(measure)
            chosen.append(tuning.index[own[choose_cell(scores[:, own], n_conditions[own])]])
    cells = grid.loc[chosen]
    cells.insert(0, "tuned_for", tuned_for)
    return cells


def _to_rows(unit: Unit, arrays: Arrays, cells: pd.DataFrame) -> pd.DataFrame:
    """The measures of some cells of a unit; the index of `cells` is their position in the unit."""
    measures = arrays["measures"]
    values = arrays["values"].reshape(len(measures), -1)[:, cells.index]
    rows = cells.iloc[np.repeat(np.arange(len(cells)), len(measures))]
    rows = rows.assign(measure=np.tile(measures, len(cells)), value=values.T.ravel())
    rows.insert(0, "dataset", unit.dataset)
    rows.insert(1, "fold", unit.fold)
    return rows
