"""Finished units → tidy rows of results, tuned choices, baselines and labels. Learns nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from steelyard.learning.tuning import choose_cell
from steelyard.measures import MEASURES, Counts

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


COUNTS = Counts._fields
# The measures of a single label, by the name of a macro-averaged one.
LABEL_MEASURES = {"precision": "precision_macro", "recall": "recall_macro", "f1": "f1_macro"}
LABEL_COLUMNS = ("dataset", "fold", "method", "parameter", "phi", "label", *COUNTS, *LABEL_MEASURES)


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


def collect_label_rows(config: StudyConfig, units: Mapping[Unit, Arrays]) -> pd.DataFrame:
    """One row per data set, fold, method and label: its counts, precision, recall and F1.

    A method is a cell of the grid, a baseline or another learner; only a cell has a parameter and φ.
    """
    grid = _list_grid(config).rename(columns={"heuristic": "method"})
    variants = pd.DataFrame({"method": list(RIPPER_VARIANTS)})
    frames = []
    for unit, arrays in units.items():
        if "counts" not in arrays:
            continue
        methods = {"grid": grid, "ripper": variants}.get(unit.kind)
        if methods is None:
            methods = pd.DataFrame({"method": [find_method(unit.method).name]})
        frames.append(_to_label_rows(unit, arrays, methods))
    if not frames:
        return pd.DataFrame(columns=list(LABEL_COLUMNS))
    return pd.concat(frames, ignore_index=True)[list(LABEL_COLUMNS)]


def _to_label_rows(unit: Unit, arrays: Arrays, methods: pd.DataFrame) -> pd.DataFrame:
    labels = arrays["labels"]
    counts = Counts(*arrays["counts"].reshape(4, -1).astype(np.int64))
    rows = methods.iloc[np.repeat(np.arange(len(methods)), len(labels))].reset_index(drop=True)
    rows = rows.assign(dataset=unit.dataset, fold=unit.fold, label=np.tile(labels, len(methods)))
    rows = rows.assign(**counts._asdict())
    # A mean over one label is the value of this label.
    columns = [count[:, None] for count in counts]
    values = {n: MEASURES[macro].from_counts(*columns) for n, macro in LABEL_MEASURES.items()}
    return rows.assign(**values).reindex(columns=list(LABEL_COLUMNS))
