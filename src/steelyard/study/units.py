"""Units of work: one fold, inner fold or baseline → arrays, written when finished.

Each unit depends on its training and test rows, the configuration and the seed, and on nothing else,
so it does not matter which process computes it, and when.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from steelyard.estimators.rule_set import theory_path
from steelyard.measures import get_measure

from .baselines import evaluate_ripper
from .candidate_counts import N_SHOWN_CANDIDATES, count_candidates
from .config import SIZE_MEASURES, StudyConfig
from .data import StudyData, fold_seed
from .store import Arrays, StudyStore

Kind = Literal["grid", "inner", "ripper", "candidates"]


@dataclass(frozen=True)
class Unit:
    """One piece of work.

    Parameters
    ----------
    kind : {"grid", "inner", "ripper", "candidates"}
        All theories of a fold; those of an inner fold, for tuning; the baseline of a fold; what the
        candidates of a fold cover.
    dataset : str
    fold : int
        From 1.
    inner : int, default=0
        The inner fold, from 1.

    Examples
    --------
    >>> Unit("inner", "flags", 3, 2).name
    'flags/fold-3-inner-2'
    """

    kind: Kind
    dataset: str
    fold: int
    inner: int = 0

    @property
    def name(self) -> str:
        """Its name in the store."""
        suffix = {"grid": "", "inner": f"-inner-{self.inner}"}.get(self.kind, f"-{self.kind}")
        return f"{self.dataset}/fold-{self.fold}{suffix}"


@dataclass(frozen=True, eq=False)
class Task:
    """A unit with all that its computation needs."""

    unit: Unit
    config: StudyConfig
    seed: int
    X_train: pd.DataFrame
    Y_train: pd.DataFrame
    X_test: pd.DataFrame
    Y_test: pd.DataFrame


@dataclass(frozen=True)
class Receipt:
    """What a worker tells of a finished unit."""

    unit: Unit
    seconds: float
    warnings: tuple[str, ...]


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
    """Relative time of a unit, to start the longest first.

    Trees are grown until γ rules exist, and the time of a tree grows with the rows and, through the
    number of attributes drawn at a node, with the logarithm of the columns.
    """
    n_rows, n_columns = data.X.shape
    share = {"grid": 1.0, "inner": 0.8, "ripper": 0.5, "candidates": 0.1}[unit.kind]
    return share * n_rows * float(np.log2(n_columns + 1))


def prepare_task(unit: Unit, data: StudyData, config: StudyConfig) -> Task:
    """Cut the rows of a unit out of its data set."""
    repeat, is_test = data.locate(unit.fold)
    seed = config.seed + repeat
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    if unit.kind == "inner":
        from steelyard.splitting import IterativeStratifiedKFold

        splitter = IterativeStratifiedKFold(config.inner_folds, random_state=fold_seed(seed))
        splits = list(splitter.split(np.zeros((len(train), 1)), data.Y.iloc[train]))
        inner_train, inner_test = splits[unit.inner - 1]
        train, test = train[inner_train], train[inner_test]
    X, Y = data.X, data.Y
    return Task(unit, config, seed, X.iloc[train], Y.iloc[train], X.iloc[test], Y.iloc[test])


def run_task(task: Task, store: StudyStore) -> Receipt:
    """Compute a unit and record it; in the process of a worker."""
    start = time.perf_counter()
    compute = {
        "grid": _compute_grid,
        "inner": _compute_inner,
        "ripper": _compute_ripper,
        "candidates": _compute_candidates,
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arrays = compute[task.unit.kind](task, store)
    store.write_unit(task.unit.name, arrays)
    # What a user can act on; a library's notes on its own future are not for them.
    kinds = (UserWarning, RuntimeWarning)
    said = tuple(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, kinds)))
    return Receipt(task.unit, time.perf_counter() - start, said)


def _learn(task: Task, heuristics: Any) -> Any:
    return theory_path(
        task.X_train,
        task.Y_train,
        heuristics,
        task.config.phis,
        n_candidates=task.config.n_candidates,
        random_state=task.seed,
        n_jobs=1,
    )


def _compute_grid(task: Task, store: StudyStore) -> Arrays:
    """Values of all theories of a fold, shape (n_measures, n_heuristics, n_phis)."""
    path = _learn(task, task.config.grid)
    measures = [get_measure(name) for name in task.config.measures]
    found = path.evaluate(task.X_test, task.Y_test, measures)
    sizes = [path.n_kept, path.total_conditions / np.maximum(path.n_kept, 1)]
    # The theories go first: a unit is finished when its own file is there.
    store.write_theories(task.unit.dataset, task.unit.fold, path.to_json())
    names = [*(m.name for m in measures), *SIZE_MEASURES]
    values = np.array([*(found[m.name] for m in measures), *sizes], dtype=np.float64)
    return {"measures": np.array(names), "values": values}


def _compute_inner(task: Task, store: StudyStore) -> Arrays:  # noqa: ARG001
    """Scores of the tuning grid on an inner fold: all measures to tune for from the same theories."""
    path = _learn(task, task.config.tuning_grid)
    measures = [get_measure(name) for name in task.config.tune]
    found = path.evaluate(task.X_test, task.Y_test, measures)
    return {
        "measures": np.array(task.config.tune),
        "values": np.array([found[name] for name in task.config.tune]),
        "n_conditions": path.total_conditions,
    }


def _compute_ripper(task: Task, store: StudyStore) -> Arrays:  # noqa: ARG001
    names = task.config.measures
    values = evaluate_ripper(task.X_train, task.Y_train, task.X_test, task.Y_test, names, task.seed)
    return {"measures": np.array([*names, *SIZE_MEASURES]), "values": values}


def _compute_candidates(task: Task, store: StudyStore) -> Arrays:  # noqa: ARG001
    n_candidates = min(task.config.n_candidates, N_SHOWN_CANDIDATES)
    return count_candidates(task.X_train, task.Y_train, n_candidates, task.seed)._asdict()
