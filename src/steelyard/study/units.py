"""Units of work: one fold, inner fold or baseline → arrays and theories.

A unit depends on its training and test rows, the configuration and the seed only, so any process on any
machine can compute it at any time. It touches no files; who takes its result saves it.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._files import compress
from steelyard.estimators.ripper import RipperClassifier
from steelyard.estimators.rule_set import theory_path
from steelyard.estimators.validation import take_rows
from steelyard.heuristics import Heuristic
from steelyard.learning.candidates import grow_candidates
from steelyard.learning.constraints import Constraints
from steelyard.learning.covering import prepare_candidates
from steelyard.learning.limits import read_demands
from steelyard.learning.settings import ForestSettings
from steelyard.learning.targets import TargetChoice, encode_targets
from steelyard.learning.training_table import code_training_table
from steelyard.measures import LabelScores, find_score_measures
from steelyard.model.coverage import index_rows
from steelyard.model.path import TheoryPath
from steelyard.splitting import assign_folds

from .config import SIZE_MEASURES, StudyConfig, StudyError
from .data import StudyData, fold_seed
from .evaluating import count_labels, count_path, evaluate_path, evaluate_prediction
from .methods import find_method, judge_method
from .store import Arrays

# The first candidates of a study: enough for the figure, counted in a second or two.
N_SHOWN_CANDIDATES = 20_000

# The paper's baselines: R1 neither prunes nor optimizes, R2 only prunes, R3 does both.
RIPPER_VARIANTS: dict[str, dict[str, Any]] = {
    "R1": {"prune": False, "optimizations": 0},
    "R2": {"optimizations": 0},
    "R3": {},
}


@cache
def hash_code() -> str:
    """A hash of the code of the package, so that a unit says which code made it."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".pyx", ".pxd", ".so")):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class Unit(NamedTuple):
    """One piece of work.

    Parameters
    ----------
    kind : {"grid", "inner", "ripper", "method", "candidates"}
        A key of `KINDS`.
    dataset : str
    fold : int
        From 1.
    inner : int, default=0
        The inner fold, from 1; 0 for the other kinds.
    method : str, default=""
        The method of a unit of this kind.

    Examples
    --------
    >>> Unit("grid", "flags", 3).name, Unit("inner", "flags", 3, 2).name
    ('flags/fold-3', 'flags/fold-3-inner-2')
    """

    kind: str
    dataset: str
    fold: int
    inner: int = 0
    method: str = ""

    @property
    def name(self) -> str:
        """Its name in the store."""
        kind = "" if self.kind == "grid" else f"-{self.kind}"
        # A method may have any parameters, and a file only some names.
        number = f"-{self.inner}" if self.inner else ""
        method = f"-{hashlib.sha256(self.method.encode()).hexdigest()[:16]}" if self.method else ""
        return f"{self.dataset}/fold-{self.fold}{kind}{number}{method}"


class Task(NamedTuple):
    """A unit with everything that is needed to compute it; the rows are (X, Y)."""

    unit: Unit
    config: StudyConfig
    seed: int
    train: tuple[pd.DataFrame, pd.DataFrame]
    test: tuple[pd.DataFrame, pd.DataFrame]


class Finished(NamedTuple):
    """A unit that was computed.

    Parameters
    ----------
    unit : Unit
    arrays : dict of arrays
    theories : bytes or None
        All theories of a fold, compressed; their checksum is in the arrays.
    warnings : list of str
    """

    unit: Unit
    arrays: Arrays
    theories: bytes | None
    warnings: list[str]


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
        units += [Unit("method", data.name, fold, method=method) for method in config.methods]
    return units


def list_cells(unit: Unit, config: StudyConfig) -> list[str]:
    """The heuristics that a unit has values of: family, parameter and the code of a user's own."""
    if unit.kind not in ("grid", "inner"):
        return []
    sources = {family.name: family.source for family in config.families}
    wanted = config.grid if unit.kind == "grid" else config.tuning_grid
    return [
        json.dumps([name, parameter, sources[name]], ensure_ascii=False)
        for (name, parameter), heuristic in zip(config.columns, config.grid, strict=True)
        if heuristic in wanted
    ]


def describe_purpose(unit: Unit, config: StudyConfig) -> str:
    """The other settings that a unit depends on and that may grow, as text."""
    method = find_method(unit.method).source if unit.method else ""
    settings: dict[str, Any] = {
        "grid": (config.phis, config.measures),
        "inner": (config.phis, config.tune, config.inner_folds),
        "ripper": config.measures,
        "method": (unit.method, method, config.measures),
        "candidates": (),
    }
    purpose = json.dumps(settings[unit.kind], ensure_ascii=False)
    is_counted = config.per_label and unit.kind in ("grid", "ripper", "method")
    return f"{purpose} per label" if is_counted else purpose


def estimate_cost(unit: Unit, data: StudyData) -> float:
    """Relative time of a unit, to start the longest units first.

    The time per tree grows with the number of rows and with the logarithm of the number of columns,
    which determines how many attributes are drawn at a node.
    """
    n_rows, n_columns = data.X.shape
    return KINDS[unit.kind][1] * n_rows * float(np.log2(n_columns + 1))


@lru_cache(maxsize=4)
def _assign_inner(labels: bytes, n_rows: int, n_folds: int, seed: int) -> NDArray[np.int64]:
    """The inner fold of each row, from 0; all inner folds of a fold ask for the same."""
    Y = np.frombuffer(labels, dtype=np.int8).reshape(n_rows, -1)
    return np.asarray(assign_folds(Y, n_folds, random_state=seed), dtype=np.int64)


def _prepare_task(unit: Unit, data: StudyData, config: StudyConfig) -> Task:
    """Select the training and test rows of a unit."""
    repeat, is_test = data.locate(unit.fold)
    seed = config.seed + repeat
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    if unit.inner:
        labels = data.Y.iloc[train].to_numpy().astype(np.int8)
        folds = _assign_inner(labels.tobytes(), len(train), config.inner_folds, fold_seed(seed))
        is_test = folds == unit.inner - 1
        train, test = train[~is_test], train[is_test]
    rows = [(take_rows(data.X, idx), data.Y.iloc[idx]) for idx in (train, test)]
    return Task(unit, config, seed, *rows)


def compute_unit(release: str, config: StudyConfig, unit: Unit, *data: Any) -> Finished:
    """Compute a unit, in this process or on a worker.

    `release` is the version of Steelyard that asks. `data` are the fields of a StudyData: the same
    objects in all units of a data set, so that workers need to receive them only once.
    """
    if version("steelyard") != release:
        own = version("steelyard")
        raise StudyError(f"a worker has steelyard {own}, but the study runs with {release}")
    task = _prepare_task(unit, StudyData(*data), config)
    start, cpu_start = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # A study compares methods as they are; that of a baseline is no advice for its user.
        warnings.filterwarnings("ignore", "no rule for")
        arrays, theories = KINDS[unit.kind][0](task)
    arrays["seconds"] = np.array(time.perf_counter() - start)
    arrays["cpu_seconds"] = np.array(time.process_time() - cpu_start)
    cells = list_cells(unit, config)
    if cells:
        arrays["cells"] = np.array(cells)
    arrays["made_for"] = np.array(describe_purpose(unit, config))
    arrays["made_by"] = np.array(f"steelyard {release}, code {hash_code()}")
    # Only warnings that users can act on; deprecations inside libraries are not for them.
    kinds = (UserWarning, RuntimeWarning)
    shown = [str(w.message) for w in caught if issubclass(w.category, kinds)]
    return Finished(unit, arrays, theories, shown)


def _learn(
    task: Task, heuristics: Sequence[Heuristic], measures: Sequence[str]
) -> tuple[TheoryPath, Arrays]:
    """Learn all theories of a grid, and evaluate each measure on the test rows."""
    config = task.config
    settings: Any = config.forest | {"random_state": task.seed}
    settings |= {"constraints": config.constraints, "target": config.target}
    path = theory_path(*task.train, heuristics, config.phis, preset="paper", n_jobs=1, **settings)
    return path, evaluate_path(path, *task.test, measures)


def _compute_grid(task: Task) -> tuple[Arrays, bytes | None]:
    """Values of all theories of a fold, shape (n_measures, n_heuristics, n_phis), and the theories."""
    path, found = _learn(task, task.config.grid, task.config.measures)
    sizes = [path.n_kept, path.total_conditions / np.maximum(path.n_kept, 1)]
    theories = compress(path.to_json())
    values = np.array([*found.values(), *sizes], dtype=np.float64)
    names = np.array([*found, *SIZE_MEASURES])
    checksum = np.array(hashlib.sha256(theories).hexdigest())
    arrays = {"measures": names, "values": values, "theories": checksum}
    arrays["candidates"] = np.asarray(path.candidate_idx)
    if task.config.per_label:
        arrays |= _label_arrays(task, count_path(path, *task.test))
    return arrays, theories


def _label_arrays(task: Task, counts: NDArray[np.int32]) -> Arrays:
    """TP, FP, FN and TN of each label, shape (4, ..., n_labels), and the names of the labels."""
    return {"counts": counts, "labels": np.array([str(name) for name in task.test[1].columns])}


def _compute_inner(task: Task) -> tuple[Arrays, bytes | None]:
    """Scores of the tuning grid on an inner fold, for all measures to tune for."""
    path, found = _learn(task, task.config.tuning_grid, task.config.tune)
    arrays = {"measures": np.array([*found]), "values": np.array([*found.values()])}
    return arrays | {"n_conditions": path.total_conditions}, None


def _compute_ripper(task: Task) -> tuple[Arrays, bytes | None]:
    """Values of the variants of Ripper, shape (n_measures, n_variants)."""
    names, columns, counts = task.config.measures, [], []
    X, Y = task.test
    has_scores = bool(find_score_measures(names))
    for parameters in RIPPER_VARIANTS.values():
        options: Any = parameters | {"constraints": task.config.constraints}
        ripper = RipperClassifier(**options, random_state=task.seed, n_jobs=1)
        theory = ripper.fit(*task.train).theory_
        predicted = theory.predict(X)
        scores = LabelScores(theory.predict_proba(X) if has_scores else None, True)
        values = evaluate_prediction(names, Y, predicted, scores).values()
        columns.append([*values, len(theory), theory.n_conditions / max(len(theory), 1)])
        counts.append(count_labels(Y, predicted))
    arrays = {"measures": np.array([*names, *SIZE_MEASURES]), "values": np.array(columns).T}
    if task.config.per_label:
        arrays |= _label_arrays(task, np.array(counts).swapaxes(0, 1))
    return arrays, None


def _compute_method(task: Task) -> tuple[Arrays, bytes | None]:
    """Values of a method, shape (n_measures, 1); a method that fails has a reason instead."""
    method = task.unit.method
    try:
        judged = judge_method(
            method,
            task.train,
            task.test,
            task.config.measures,
            task.seed,
            task.config.constraints,
        )
    except Exception as error:  # whatever a learner of somebody else raises
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        warnings.warn(
            f"{find_method(method).name} failed on fold {task.unit.fold}: {reason}",
            UserWarning,
            stacklevel=2,
        )
        return {"error": np.array(reason)}, None
    names, values = np.array([*judged.values]), np.array([[*judged.values.values()]]).T
    arrays = {
        "measures": names,
        "values": values,
        "fit_seconds": np.array(judged.fit_seconds),
        "predict_seconds": np.array(judged.predict_seconds),
    }
    if judged.lack:
        arrays["lack"] = np.array(judged.lack)
    if task.config.per_label:
        arrays |= _label_arrays(task, judged.counts[:, None])
    return arrays, None


def _compute_candidates(task: Task) -> tuple[Arrays, bytes | None]:
    """What the candidates of a fold cover."""
    config = task.config
    n_candidates = min(config.n_candidates, N_SHOWN_CANDIDATES)
    options: Any = {"constraints": config.constraints, "target": config.target}
    options["settings"] = ForestSettings(**config.forest)
    return count_candidates(*task.train, n_candidates, task.seed, **options), None


def count_candidates(
    X: Any,
    Y: Any,
    n_candidates: int = N_SHOWN_CANDIDATES,
    seed: int = 0,
    constraints: Constraints | None = None,
    target: TargetChoice = "minority",
    settings: ForestSettings | None = None,
) -> Arrays:
    """Grow candidates and count what they cover; candidates with equal coverage count once.

    Parameters
    ----------
    X : DataFrame
    Y : DataFrame of 0 and 1
    n_candidates : int
    seed : int
        The seed of a classifier gives the first candidates of this classifier.
    constraints : Constraints, optional
    target : {"minority", "present"}, default="minority"
    settings : ForestSettings, optional
        How they are grown, except for their number; by default as in the paper.

    Returns
    -------
    dict of (n_candidates,) int
        "label" is the index of each candidate's label; "tp" and "fp" are its counts.

    Examples
    --------
    >>> from steelyard import make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> counts = count_candidates(data.X, data.Y, 500)
    >>> bool((counts["tp"] <= data.Y.sum().to_numpy()[counts["label"]]).all())
    True
    """
    training = code_training_table(X, [str(name) for name in X.columns])
    demands = read_demands(constraints, training.coder, encode_targets(Y, target), X)
    targets, limits, _ = demands
    grown = grow_candidates(
        training,
        targets.is_target,
        replace(settings or ForestSettings(), n_candidates=n_candidates),
        seed,
        limits=limits,
        target_class=targets.target_class.tolist(),
    )
    index = index_rows(training.coded)
    arguments = zip(grown, targets.is_target, demands.by_label()[0], strict=True)
    counts = []
    for found, is_target, limits_of_label in arguments:
        prepared = prepare_candidates(
            found.table, index, is_target, limits_of_label, tree_of_rule=found.tree_of_rule
        )
        counts.append(np.array([prepared.tp, prepared.fp], dtype=np.int64))
    label = np.repeat(np.arange(len(counts)), [pair.shape[1] for pair in counts])
    tp, fp = np.concatenate(counts, axis=1)
    return {"label": label, "tp": tp, "fp": fp}


# How to compute a kind of unit, and its time relative to a whole grid.
KINDS: dict[str, tuple[Callable[[Task], tuple[Arrays, bytes | None]], float]] = {
    "grid": (_compute_grid, 1.0),
    "inner": (_compute_inner, 0.8),
    "ripper": (_compute_ripper, 0.5),
    "method": (_compute_method, 0.5),
    "candidates": (_compute_candidates, 0.1),
}
