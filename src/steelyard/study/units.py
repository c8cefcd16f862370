"""Units of work: one fold, inner fold or baseline → arrays, saved when the unit is finished.

A unit depends on its training and test rows, the configuration and the seed only, so any process can
compute it at any time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from steelyard.estimators.ripper import RipperClassifier
from steelyard.estimators.rule_set import theory_path
from steelyard.heuristics import Heuristic
from steelyard.measures import get_measure
from steelyard.model.path import TheoryPath
from steelyard.splitting import IterativeStratifiedKFold

from .candidate_counts import N_SHOWN_CANDIDATES, count_candidates
from .config import SIZE_MEASURES, StudyConfig
from .data import StudyData, fold_seed
from .store import Arrays, StudyStore

# The paper's baselines: R1 neither prunes nor optimizes, R2 only prunes, R3 does both.
RIPPER_VARIANTS: dict[str, dict[str, Any]] = {
    "R1": {"prune": False, "optimizations": 0},
    "R2": {"optimizations": 0},
    "R3": {},
}


@dataclass(frozen=True)
class Unit:
    """One piece of work.

    Parameters
    ----------
    kind : {"grid", "inner", "ripper", "candidates"}
        A key of `KINDS`.
    dataset : str
    fold : int
        From 1.
    inner : int, default=0
        The inner fold, from 1; 0 for the other kinds.

    Examples
    --------
    >>> Unit("grid", "flags", 3).name, Unit("inner", "flags", 3, 2).name
    ('flags/fold-3', 'flags/fold-3-inner-2')
    """

    kind: str
    dataset: str
    fold: int
    inner: int = 0

    @property
    def name(self) -> str:
        """Its name in the store."""
        kind = "" if self.kind == "grid" else f"-{self.kind}"
        return f"{self.dataset}/fold-{self.fold}{kind}" + (f"-{self.inner}" if self.inner else "")


@dataclass(frozen=True, eq=False)
class Task:
    """A unit with everything that is needed to compute it."""

    unit: Unit
    config: StudyConfig
    store: StudyStore
    seed: int
    X_train: pd.DataFrame
    Y_train: pd.DataFrame
    X_test: pd.DataFrame
    Y_test: pd.DataFrame


def list_units(data: StudyData, config: StudyConfig) -> list[Unit]:
    """All units of a data set, fold by fold."""
    folds = list(config.only_folds or range(1, data.n_folds + 1))
    units = [Unit("candidates", data.name, folds[0])]
    for fold in folds:
        units.append(Unit("grid", data.name, fold))
        if config.tune:
            units += [Unit("inner", data.name, fold, k + 1) for k in range(config.inner_folds)]
        if "ripper" in config.baselines:
            units.append(Unit("ripper", data.name, fold))
    return units


def estimate_cost(unit: Unit, data: StudyData) -> float:
    """Relative time of a unit, to start the longest units first.

    The time per tree grows with the number of rows and with the logarithm of the number of columns,
    which determines how many attributes are drawn at a node.
    """
    n_rows, n_columns = data.X.shape
    return KINDS[unit.kind][1] * n_rows * float(np.log2(n_columns + 1))


def prepare_task(unit: Unit, data: StudyData, config: StudyConfig, store: StudyStore) -> Task:
    """Select the training and test rows of a unit."""
    repeat, is_test = data.locate(unit.fold)
    seed = config.seed + repeat
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    if unit.inner:
        splitter = IterativeStratifiedKFold(config.inner_folds, random_state=fold_seed(seed))
        splits = list(splitter.split(np.zeros((len(train), 1)), data.Y.iloc[train]))
        train, test = (train[rows] for rows in splits[unit.inner - 1])
    X, Y = data.X, data.Y
    return Task(unit, config, store, seed, X.iloc[train], Y.iloc[train], X.iloc[test], Y.iloc[test])


def run_task(task: Task) -> tuple[Unit, float, list[str]]:
    """Compute a unit and save it in a worker process; return its duration and its warnings."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arrays = KINDS[task.unit.kind][0](task)
    task.store.write_unit(task.unit.name, arrays)
    # Only warnings that users can act on; deprecations inside libraries are not for them.
    kinds = (UserWarning, RuntimeWarning)
    shown = [str(w.message) for w in caught if issubclass(w.category, kinds)]
    return task.unit, time.perf_counter() - start, shown


def _learn(
    task: Task, heuristics: Sequence[Heuristic], measures: Sequence[str]
) -> tuple[TheoryPath, Arrays]:
    """Learn all theories of a grid, and evaluate each measure on the test rows."""
    settings: Any = {"n_candidates": task.config.n_candidates, "random_state": task.seed}
    grid = heuristics, task.config.phis
    path = theory_path(task.X_train, task.Y_train, *grid, preset="paper", n_jobs=1, **settings)
    return path, path.evaluate(task.X_test, task.Y_test, [get_measure(m) for m in measures])


def _compute_grid(task: Task) -> Arrays:
    """Values of all theories of a fold, shape (n_measures, n_heuristics, n_phis)."""
    path, found = _learn(task, task.config.grid, task.config.measures)
    sizes = [path.n_kept, path.total_conditions / np.maximum(path.n_kept, 1)]
    # Write the theories first: the unit counts as finished once its own file exists.
    task.store.write_theories(task.unit.dataset, task.unit.fold, path.to_json())
    values = np.array([*found.values(), *sizes], dtype=np.float64)
    return {"measures": np.array([*found, *SIZE_MEASURES]), "values": values}


def _compute_inner(task: Task) -> Arrays:
    """Scores of the tuning grid on an inner fold, for all measures to tune for."""
    path, found = _learn(task, task.config.tuning_grid, task.config.tune)
    arrays = {"measures": np.array([*found]), "values": np.array([*found.values()])}
    return arrays | {"n_conditions": path.total_conditions}


def _compute_ripper(task: Task) -> Arrays:
    """Values of the variants of Ripper, shape (n_measures, n_variants)."""
    names, columns = task.config.measures, []
    for parameters in RIPPER_VARIANTS.values():
        ripper = RipperClassifier(**parameters, random_state=task.seed, n_jobs=1)
        theory = ripper.fit(task.X_train, task.Y_train).theory_
        predicted = theory.predict(task.X_test)
        values = [get_measure(name)(task.Y_test, predicted) for name in names]
        columns.append([*values, len(theory), theory.n_conditions / max(len(theory), 1)])
    return {"measures": np.array([*names, *SIZE_MEASURES]), "values": np.array(columns).T}


def _compute_candidates(task: Task) -> Arrays:
    """What the candidates of a fold cover."""
    n_candidates = min(task.config.n_candidates, N_SHOWN_CANDIDATES)
    return count_candidates(task.X_train, task.Y_train, n_candidates, task.seed)._asdict()


# How to compute a kind of unit, and its time relative to a whole grid.
KINDS: dict[str, tuple[Callable[[Task], Arrays], float]] = {
    "grid": (_compute_grid, 1.0),
    "inner": (_compute_inner, 0.8),
    "ripper": (_compute_ripper, 0.5),
    "candidates": (_compute_candidates, 0.1),
}
