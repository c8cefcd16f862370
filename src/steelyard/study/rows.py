"""Finished units → tidy rows of results, tuned choices and baselines. Learns nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard.estimators.tuning import choose_cell

from .config import StudyConfig, StudyError
from .store import Arrays, StudyStore
from .units import RIPPER_VARIANTS, Unit

RESULT_COLUMNS = ("dataset", "fold", "heuristic", "parameter", "phi", "measure", "value")
TUNED_COLUMNS = (*RESULT_COLUMNS[:2], "tuned_for", *RESULT_COLUMNS[2:])
BASELINE_COLUMNS = ("dataset", "fold", "baseline", "measure", "value")


def grid_to_rows(store: StudyStore, config: StudyConfig, units: Sequence[Unit]) -> pd.DataFrame:
    """One row per data set, fold, heuristic, parameter, φ and measure."""
    n_phis, n_heuristics = len(config.phis), len(config.grid)
    cells = {
        "heuristic": np.repeat([h.name for h in config.grid], n_phis),
        "parameter": np.repeat([h.parameter for h in config.grid], n_phis),
        "phi": np.tile(config.phis, n_heuristics),
    }
    frames = []
    for unit in units:
        arrays = _read(store, unit)
        values = arrays["values"].reshape(-1, n_heuristics * n_phis)
        frames.append(_to_rows(unit, cells, arrays["measures"], values))
    return _concatenate(frames, RESULT_COLUMNS)


def tuning_to_rows(store: StudyStore, config: StudyConfig, units: Sequence[Unit]) -> pd.DataFrame:
    """One row per data set, fold, measure tuned for, family and measure, with the chosen cell."""
    frames = []
    for unit in units:
        outer = _read(store, unit)
        choices = _choose_cells(store, config, unit)
        h_idx, j_idx = [h for _, h, _ in choices], [j for _, _, j in choices]
        cells = {
            "tuned_for": [tuned_for for tuned_for, _, _ in choices],
            "heuristic": [config.grid[h].name for h in h_idx],
            "parameter": [config.grid[h].parameter for h in h_idx],
            "phi": [config.phis[j] for j in j_idx],
        }
        frames.append(_to_rows(unit, cells, outer["measures"], outer["values"][:, h_idx, j_idx]))
    return _concatenate(frames, TUNED_COLUMNS)


def _choose_cells(store: StudyStore, config: StudyConfig, unit: Unit) -> list[tuple[str, int, int]]:
    """The measure tuned for, the heuristic index and the φ index of each choice on a fold.

    The rule is that of `RuleSetClassifierCV`, so a tuned row is what this estimator would have learned
    on the training set of the fold.
    """
    inner = [
        _read(store, Unit("inner", unit.dataset, unit.fold, k + 1))
        for k in range(config.inner_folds)
    ]
    n_conditions = np.mean([arrays["n_conditions"] for arrays in inner], axis=0)
    choices = []
    for i, tuned_for in enumerate(config.tune):
        scores = np.array([arrays["values"][i] for arrays in inner])
        for family in config.heuristics:
            own = [h for h, t in enumerate(config.tuning_grid) if t.name == family]
            if own:
                best = choose_cell(
                    scores[:, own].reshape(len(inner), -1), n_conditions[own].ravel()
                )
                h, j = divmod(best, len(config.phis))
                choices.append((tuned_for, config.grid.index(config.tuning_grid[own[h]]), j))
    return choices


def baselines_to_rows(store: StudyStore, units: Sequence[Unit]) -> pd.DataFrame:
    """One row per data set, fold, baseline and measure."""
    cells = {"baseline": list(RIPPER_VARIANTS)}
    read = ((unit, _read(store, unit)) for unit in units)
    frames = [_to_rows(unit, cells, a["measures"], a["values"]) for unit, a in read]
    return _concatenate(frames, BASELINE_COLUMNS)


def _read(store: StudyStore, unit: Unit) -> Arrays:
    arrays = store.read_unit(unit.name)
    if arrays is None:
        raise StudyError(f"unit {unit.name!r} is missing in {str(store.folder)!r}: run it again")
    return arrays


def _to_rows(
    unit: Unit, cells: Mapping[str, Any], measures: NDArray[Any], values: NDArray[np.float64]
) -> pd.DataFrame:
    """Rows of one unit from values of shape (n_measures, n_cells): the measures of each cell."""
    n_measures, n_cells = values.shape
    return pd.DataFrame(
        {
            "dataset": unit.dataset,
            "fold": unit.fold,
            **{name: np.repeat(column, n_measures) for name, column in cells.items()},
            "measure": np.tile(measures, n_cells),
            "value": values.T.ravel(),
        }
    )


def _concatenate(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    if not frames:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(frames, ignore_index=True)
