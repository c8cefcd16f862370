"""Finished units → tidy rows of results, tuned choices and baselines. Learns nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from steelyard.learning.tuning import choose_cell

from .config import StudyConfig, StudyError
from .store import Arrays, StudyStore
from .units import RIPPER_VARIANTS, Unit

_CELL = ("heuristic", "parameter", "phi")
# Name of a file of rows → its columns.
COLUMNS: dict[str, tuple[str, ...]] = {
    "results": ("dataset", "fold", *_CELL, "measure", "value"),
    "tuned": ("dataset", "fold", "tuned_for", *_CELL, "measure", "value"),
    "baselines": ("dataset", "fold", "baseline", "measure", "value"),
}


def empty_rows() -> dict[str, pd.DataFrame]:
    """No rows: what a study has of everything that it did not ask for."""
    return {name: pd.DataFrame(columns=list(columns)) for name, columns in COLUMNS.items()}


def collect_rows(
    store: StudyStore, config: StudyConfig, units: Sequence[Unit]
) -> dict[str, pd.DataFrame]:
    """Name of a file → its rows: one per data set, fold, cell or baseline, and measure.

    The tuned rows have one cell per measure tuned for and family: the one that tuning chose.
    """
    folds = [unit for unit in units if unit.kind == "grid"]
    grid, variants = _list_grid(config), pd.DataFrame({"baseline": list(RIPPER_VARIANTS)})
    found = {"results": [_to_rows(store, unit, grid) for unit in folds]}
    if config.tune:
        found["tuned"] = [_to_rows(store, u, _choose_cells(store, config, u)) for u in folds]
    if config.baselines:
        ripper = [unit for unit in units if unit.kind == "ripper"]
        found["baselines"] = [_to_rows(store, unit, variants) for unit in ripper]
    return {name: pd.concat(frames, ignore_index=True) for name, frames in found.items()}


def _list_grid(config: StudyConfig) -> pd.DataFrame:
    """All cells of the grid, in the order of the values of a unit."""
    cells = [(h.name, h.parameter, phi) for h in config.grid for phi in config.phis]
    return pd.DataFrame(cells, columns=list(_CELL))


def _choose_cells(store: StudyStore, config: StudyConfig, unit: Unit) -> pd.DataFrame:
    """The cells of the grid that are chosen on a fold, per measure tuned for and family.

    The rule is that of `RuleSetClassifierCV`, so a tuned row is what this estimator would have learned
    on the training set of the fold.
    """
    folds = range(1, config.inner_folds + 1)
    inner = [_read(store, Unit("inner", unit.dataset, unit.fold, k)) for k in folds]
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


def _read(store: StudyStore, unit: Unit) -> Arrays:
    arrays = store.read_unit(unit.name)
    if arrays is None:
        raise StudyError(f"unit {unit.name!r} is missing in {str(store.folder)!r}: run it again")
    return arrays


def _to_rows(store: StudyStore, unit: Unit, cells: pd.DataFrame) -> pd.DataFrame:
    """The measures of some cells of a unit; the index of `cells` is their position in the unit."""
    arrays = _read(store, unit)
    measures = arrays["measures"]
    values = arrays["values"].reshape(len(measures), -1)[:, cells.index]
    rows = cells.iloc[np.repeat(np.arange(len(cells)), len(measures))]
    rows = rows.assign(measure=np.tile(measures, len(cells)), value=values.T.ravel())
    rows.insert(0, "dataset", unit.dataset)
    rows.insert(1, "fold", unit.fold)
    return rows
