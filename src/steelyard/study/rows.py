"""Finished units → tidy rows: results, tuned choices, baselines. Learns nothing anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .baselines import RIPPER_VARIANTS
from .config import StudyConfig, StudyError
from .store import Arrays, StudyStore
from .tuning import choose_cell
from .units import Unit

RESULT_COLUMNS = ("dataset", "fold", "heuristic", "parameter", "phi", "measure", "value")
TUNED_COLUMNS = (*RESULT_COLUMNS[:2], "tuned_for", *RESULT_COLUMNS[2:])
BASELINE_COLUMNS = ("dataset", "fold", "baseline", "measure", "value")


def _read(store: StudyStore, unit: Unit) -> Arrays:
    arrays = store.read_unit(unit.name)
    if arrays is None:
        raise StudyError(
            f"the unit {unit.name!r} is missing in {str(store.folder)!r}: run it again"
        )
    return arrays


def grid_to_rows(store: StudyStore, config: StudyConfig, units: Sequence[Unit]) -> pd.DataFrame:
    """One row a data set, fold, heuristic, parameter, φ and measure."""
    grid, phis = config.grid, config.phis
    frames = []
    for unit in units:
        arrays = _read(store, unit)
        measures = arrays["measures"]
        # (n_measures, n_heuristics, n_phis) → cells outside, measures inside.
        values = np.moveaxis(arrays["values"], 0, -1)
        n_cells, n_measures = len(grid) * len(phis), len(measures)
        per_heuristic = len(phis) * n_measures
        frames.append(
            {
                "dataset": np.repeat(unit.dataset, n_cells * n_measures),
                "fold": np.repeat(unit.fold, n_cells * n_measures),
                "heuristic": np.repeat([h.name for h in grid], per_heuristic),
                "parameter": np.repeat([h.parameter for h in grid], per_heuristic),
                "phi": np.tile(np.repeat(phis, n_measures), len(grid)),
                "measure": np.tile(measures, n_cells),
                "value": values.ravel(),
            }
        )
    return _concatenate(frames, RESULT_COLUMNS)


def tuning_to_rows(store: StudyStore, config: StudyConfig, units: Sequence[Unit]) -> pd.DataFrame:
    """One row a data set, fold, measure tuned for, family and measure, with the chosen cell."""
    grid, phis = config.grid, config.phis
    frames: list[dict[str, Any]] = []
    for unit in units:
        outer = _read(store, unit)
        inner = [
            _read(store, Unit("inner", unit.dataset, unit.fold, k + 1))
            for k in range(config.inner_folds)
        ]
        n_conditions = np.mean([arrays["n_conditions"] for arrays in inner], axis=0)
        for i, tuned_for in enumerate(config.tune):
            scores = np.mean([arrays["values"][i] for arrays in inner], axis=0)
            for family in config.heuristics:
                in_family = [h for h, t in enumerate(config.tuning_grid) if t.name == family]
                if not in_family:
                    continue
                h, j = choose_cell(scores[in_family], n_conditions[in_family])
                chosen = config.tuning_grid[in_family[h]]
                n_measures = len(outer["measures"])
                frames.append(
                    {
                        "dataset": np.repeat(unit.dataset, n_measures),
                        "fold": np.repeat(unit.fold, n_measures),
                        "tuned_for": np.repeat(tuned_for, n_measures),
                        "heuristic": np.repeat(family, n_measures),
                        "parameter": np.repeat(chosen.parameter, n_measures),
                        "phi": np.repeat(phis[j], n_measures),
                        "measure": outer["measures"],
                        "value": outer["values"][:, grid.index(chosen), j],
                    }
                )
    return _concatenate(frames, TUNED_COLUMNS)


def baselines_to_rows(store: StudyStore, units: Sequence[Unit]) -> pd.DataFrame:
    """One row a data set, fold, baseline and measure."""
    frames = []
    for unit in units:
        arrays = _read(store, unit)
        n_measures, n_variants = arrays["values"].shape
        frames.append(
            {
                "dataset": np.repeat(unit.dataset, n_measures * n_variants),
                "fold": np.repeat(unit.fold, n_measures * n_variants),
                "baseline": np.repeat(list(RIPPER_VARIANTS), n_measures),
                "measure": np.tile(arrays["measures"], n_variants),
                "value": arrays["values"].T.ravel(),
            }
        )
    return _concatenate(frames, BASELINE_COLUMNS)


def _concatenate(frames: list[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    if not frames:
        return pd.DataFrame({name: [] for name in columns})
    return pd.DataFrame({name: np.concatenate([f[name] for f in frames]) for name in columns})
