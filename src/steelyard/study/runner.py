"""A study is a list of units: run_study computes all, run_shard a part of them, collect_study none.

Each unit is saved when it is finished, so all three continue what others began, and end with the same
bytes. Where the units of a process run is the choice of the active joblib backend.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from steelyard._text import frame_to_csv, list_names
from steelyard.data.sources import find_source
from steelyard.learning.parallel import run_in_processes

from .claims import Claims
from .config import StudyConfig, StudyError, config_to_plain, config_to_toml
from .data import StudyData, load_study_data
from .examples import write_page_examples
from .methods import find_method
from .parts import read_finished, save_finished, select_missing
from .results import StudyResults
from .rows import collect_label_rows, collect_rows
from .store import Arrays, StudyStore
from .to_use import write_theories_to_use
from .units import Finished, Unit, compute_unit, estimate_cost, list_units

# Called with the number of finished units, the number of all units, and the unit that just finished.
Progress = Callable[[int, int, Unit | None], None]
# Called with the number of theories to use that are learned, and the number of all of them.
TheoryProgress = Callable[[int, int], None]

_VERSIONS_OF = ("steelyard", "numpy", "scikit-learn", "scipy", "pandas", "joblib")


def run_study(
    config: StudyConfig,
    out: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    theory_progress: TheoryProgress | None = None,
) -> StudyResults:
    """Run a study, or resume it, and write its results.

    Every unit (a fold, an inner fold or a baseline of a fold) is saved as soon as it is finished. If
    the process is killed, the same call computes the missing units and ends with the same rows.

    Parameters
    ----------
    config : StudyConfig
    out : path-like
        The results folder; a folder of another study is rejected.
    n_jobs : int or None, default=None
        Number of units to compute in parallel, as in joblib; the rows do not depend on it.
    progress : callable(n_done, n_units, unit), optional
    theory_progress : callable(n_done, n_theories), optional
        After all units, the theories to use are learned.

    Returns
    -------
    StudyResults

    Examples
    --------
    >>> from steelyard.study import StudyConfig, run_study
    >>> from tempfile import TemporaryDirectory
    >>> config = StudyConfig(("planted",), folds=2, n_candidates=200, parameters=(2.0, 64.0))
    >>> with TemporaryDirectory() as folder:
    ...     study = run_study(config, folder)
    >>> int((study.results["measure"] == "hamming").sum())  # 2 folds × 2 m × 20 φ
    80
    """
    plan = plan_study(config, out)
    with plan.claimed():
        found = {unit: read_finished(unit, plan.store, plan.config) for unit in plan.work}
        missing = [unit for unit in plan.by_cost() if found[unit] is None]
        n_before, n_units = len(found) - len(missing), len(found)
        report = progress or (lambda *_: None)
        report(n_before, n_units, None)
        for n_done, done in enumerate(_compute(plan, missing, n_jobs), n_before + 1):
            found[done.unit] = save_finished(done, plan.store, plan.config).arrays
            report(n_done, n_units, done.unit)
        finished = {u: arrays for u, arrays in found.items() if arrays is not None}
        return write_results(plan, finished, n_jobs, theory_progress)


class ShardReport(NamedTuple):
    """What a shard did.

    Parameters
    ----------
    n_computed : int
        Units that this process computed.
    n_found : int
        Units of the shard that were finished before.
    n_elsewhere : int
        Units of the shard that other processes are computing.

    Examples
    --------
    >>> from steelyard.study import ShardReport
    >>> ShardReport(n_computed=3, n_found=1, n_elsewhere=0).n_computed
    3
    """

    n_computed: int
    n_found: int
    n_elsewhere: int


def run_shard(
    config: StudyConfig,
    out: str | os.PathLike[str],
    shard: int,
    n_shards: int,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ShardReport:
    """Compute a part of the units of a study, beside other processes on the same folder.

    The processes may run on several machines that share the folder. Each claims a unit before it
    computes it. After its own part a process also takes over units of processes that died.

    Parameters
    ----------
    config : StudyConfig
    out : path-like
        The results folder.
    shard, n_shards : int
        Which part, from 1, of how many.
    n_jobs : int or None, default=None
        Number of units to compute in parallel, as in joblib.
    progress : callable(n_done, n_units, unit), optional

    Returns
    -------
    ShardReport

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.study import StudyConfig, run_shard
    >>> grid = {"parameters": (8.0,), "phis": (1.0, 0.5)}
    >>> config = StudyConfig(("patients",), folds=2, n_candidates=200, **grid)
    >>> with TemporaryDirectory() as folder:
    ...     reports = [run_shard(config, folder, shard, 2) for shard in (1, 2)]
    >>> all(report.n_computed > 0 for report in reports)
    True
    """
    if not 1 <= shard <= n_shards:
        raise StudyError(f"there is no shard {shard} of {n_shards}: shards are numbered from 1")
    plan = plan_study(config, out)
    # The longest units are dealt first, so that all shards take about as long.
    own = plan.by_cost()[shard - 1 :: n_shards]
    report = progress or (lambda *_: None)
    with plan.claimed(shared=True):
        claims = plan.store.claims
        queue = _Queue(plan, claims, own)
        report(0, len(own), None)
        with claims.kept_alive():
            for done in _compute(plan, queue, n_jobs):
                save_finished(done, plan.store, plan.config)
                claims.release(done.unit.name)
                queue.n_computed += 1
                n_done = queue.n_computed + queue.n_found
                report(n_done, max(n_done, len(own)), done.unit)
        if queue.error is not None:
            raise queue.error
        plan.store.require_folder()
        return ShardReport(queue.n_computed, queue.n_found, queue.n_elsewhere)


def collect_study(
    config: StudyConfig,
    out: str | os.PathLike[str],
    *,
    theory_progress: TheoryProgress | None = None,
) -> StudyResults:
    """Put the results of finished units together; raise an error that names those that are missing.

    Parameters
    ----------
    config : StudyConfig
    out : path-like
        The results folder.
    theory_progress : callable(n_done, n_theories), optional

    Returns
    -------
    StudyResults

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.study import StudyConfig, collect_study, run_shard
    >>> grid = {"parameters": (8.0,), "phis": (1.0, 0.5)}
    >>> config = StudyConfig(("patients",), folds=2, n_candidates=200, **grid)
    >>> with TemporaryDirectory() as folder:
    ...     report = run_shard(config, folder, 1, 1)
    ...     study = collect_study(config, folder)
    >>> sorted(study.results["fold"].unique().tolist())
    [1, 2]
    """
    plan = plan_study(config, out)
    with plan.claimed(shared=True):
        found = {
            unit: read_finished(unit, plan.store, plan.config, retry=False) for unit in plan.work
        }
        missing = [unit.name for unit, arrays in found.items() if arrays is None]
        claims = plan.store.claims
        if missing:
            n_running = len(set(missing) & set(claims.list_names(dead=False)))
            running = f" ({n_running} of them are being computed)" if n_running else ""
            raise StudyError(
                f"{len(missing)} of {len(found)} units are missing{running}: "
                f"{list_names(missing, most=5)}; compute them with --shard, or run the study without "
                "--collect"
            )
        if not claims.take("collect"):
            raise StudyError(f"another process is collecting {str(plan.store.folder)!r}")
        with claims.kept_alive():
            finished = {u: arrays for u, arrays in found.items() if arrays is not None}
            return write_results(plan, finished, theory_progress=theory_progress)


class Plan(NamedTuple):
    """A study that is about to run: its units and the data set of each."""

    config: StudyConfig
    shown: StudyConfig
    data_sets: list[StudyData]
    work: dict[Unit, StudyData]
    store: StudyStore

    def by_cost(self) -> list[Unit]:
        """The units, longest first, so that no worker waits long for another at the end."""
        return sorted(self.work, key=lambda unit: -estimate_cost(unit, self.work[unit]))

    @contextmanager
    def claimed(self, shared: bool = False) -> Iterator[None]:
        """Lock the folder, alone or beside other processes, and write the configuration.

        A study that grows stays what it was until all units are there.
        """
        with self.store.claimed(self.identity, shared=shared):
            name = "planned.toml" if self.store.grows(self.identity) else "study.toml"
            self.store.write(name, config_to_toml(self.shown).encode())
            yield

    @property
    def identity(self) -> dict[str, Any]:
        """What two runs of the same study have in common."""
        return _identify(self.config, self.data_sets)


def plan_study(config: StudyConfig, out: str | os.PathLike[str]) -> Plan:
    """Load the data of a study and list its units; nothing is written yet."""
    data_sets = load_study_data(config)
    for data in data_sets:
        unknown = [k for k in config.only_folds if k > data.n_folds]
        if unknown:
            raise StudyError(f"{data.name} has {data.n_folds} folds, but no fold {unknown[0]}")
    shown = dataclasses.replace(config, data=tuple(_relocate(s, out) for s in config.data))
    work = {unit: data for data in data_sets for unit in list_units(data, config)}
    return Plan(config, shown, data_sets, work, StudyStore(out))


class _Queue:
    """The units that a shard computes, claimed one after the other as workers ask for them."""

    def __init__(self, plan: Plan, claims: Claims, own: Sequence[Unit]) -> None:
        self.store, self.config, self.claims, self.own = plan.store, plan.config, claims, own
        self.known = {unit.name: unit for unit in plan.work}
        self.n_computed = self.n_found = self.n_elsewhere = 0
        # joblib asks for units in threads of its own, where an error would be lost.
        self.error: OSError | None = None

    def __iter__(self) -> Iterator[Unit]:
        try:
            for unit in self.own:
                if read_finished(unit, self.store, self.config) is not None:
                    self.n_found += 1
                elif self._take(unit):
                    yield unit
                else:
                    self.n_elsewhere += 1
            for name in self.claims.list_names(dead=True):
                if name in self.known and self._take(self.known[name]):
                    yield self.known[name]
        except OSError as error:
            self.error = error

    def _take(self, unit: Unit) -> bool:
        """Claim a unit; another process may finish it just before."""
        if not self.claims.take(unit.name):
            return False
        if read_finished(unit, self.store, self.config) is None:
            return True
        self.claims.release(unit.name)
        return False


def _compute(plan: Plan, units: Iterable[Unit], n_jobs: int | None) -> Iterator[Finished]:
    """Compute units as workers ask for them; yield them in the order in which they are finished."""
    compute = partial(compute_unit, version("steelyard"))
    # Of a study that grows, a unit may have some heuristics already.
    calls = (
        (select_missing(unit, plan.store, plan.config), unit, *plan.work[unit]) for unit in units
    )
    for done in run_in_processes(compute, calls, n_jobs):
        for text in done.warnings:
            warnings.warn(f"{done.unit.dataset}: {text}", UserWarning, stacklevel=3)
        yield done


def write_results(
    plan: Plan,
    units: dict[Unit, Arrays],
    n_jobs: int | None = None,
    theory_progress: TheoryProgress | None = None,
) -> StudyResults:
    """Write everything that is derived from the finished units."""
    store = plan.store
    rows = collect_rows(plan.config, units)
    run = _describe_run(plan.shown, plan.data_sets, units)
    study = StudyResults(store.folder, plan.shown, **rows, run=run)
    _write_rows(store, rows | {"per_label": collect_label_rows(plan.config, units)})
    report = theory_progress or (lambda *_: None)
    write_theories_to_use(store, plan.shown, rows["results"], plan.data_sets, n_jobs, report)
    write_page_examples(store, study, plan.data_sets)
    store.write("study.toml", config_to_toml(plan.shown).encode())
    store.write("run.json", json.dumps(run, indent=1, ensure_ascii=False).encode())
    store.grow(plan.identity)
    return study


def _relocate(source: str, out: str | os.PathLike[str]) -> str:
    """A path relative to the results folder, so that folder and data can be moved together."""
    path = find_source(source)
    return source if path is None else os.path.relpath(path, out).replace(os.sep, "/")


def _identify(config: StudyConfig, data_sets: Sequence[StudyData]) -> dict[str, Any]:
    """What two runs of the same study have in common; the location of the data does not matter.

    Settings that decide about numbers stay as they are. What a study covers may grow: what is there
    keeps its numbers.
    """
    constraints = None if config.constraints is None else config.constraints.to_plain()
    names = ("seed", "n_candidates", "folds", "inner_folds", "invert_majority_labels")
    fixed = {name: getattr(config, name) for name in names}
    covered = {
        "cells": [f"{family} {parameter!r}" for family, parameter in config.columns],
        "phis": list(config.phis),
        "folds to run": [*map(str, config.only_folds)] or ["all"],
        "repeats": list(range(1, config.repeats + 1)),
        "tune": list(config.tune),
        "baselines": list(config.baselines),
        "methods": list(config.methods),
        "data sets": {data.name: data.sha256 for data in data_sets},
    }
    # Settings that came later are there if they are used, so that older folders stay what they are.
    if config.changed_forest:
        fixed["forest"] = config.changed_forest
    if config.more_measures:
        covered["measures"] = list(config.more_measures)
    if config.per_label:
        covered["per label"] = ["counts"]
    version_of = {"steelyard": version("steelyard")}
    return {**version_of, **fixed, "constraints": constraints, "covers": covered}


def _write_rows(store: StudyStore, rows: dict[str, pd.DataFrame]) -> None:
    for name, table in rows.items():
        if table.empty:
            continue
        store.write(f"{name}.csv", frame_to_csv(table).encode())
        if find_spec("pyarrow") is not None:
            store.write(f"{name}.parquet", table.to_parquet(index=False))


def _describe_method(unit: Unit, units: Mapping[Unit, Arrays]) -> dict[str, Any]:
    """Mean seconds of a method on a data set, and the reasons of the folds on which it failed."""
    key = unit.dataset, unit.method
    own = {u: arrays for u, arrays in units.items() if (u.dataset, u.method) == key}
    failed = {f"fold {u.fold}": str(a["error"]) for u, a in own.items() if "error" in a}
    whole = [arrays for arrays in own.values() if "error" not in arrays]
    means = {
        name: round(float(np.mean([arrays[name] for arrays in whole])), 4)
        for name in ("fit_seconds", "predict_seconds")
        if whole
    }
    found: dict[str, Any] = dict(means)
    lacks = dict.fromkeys(str(arrays["lack"]) for arrays in whole if "lack" in arrays)
    if lacks:
        found["lacks"] = "; ".join(lacks)
    return {**found, **({"failed": failed} if failed else {})}


def _sum_kinds(data: StudyData, units: Mapping[Unit, Arrays], name: str) -> dict[str, float]:
    """The time of all units of a data set, by their kind."""
    totals: defaultdict[str, float] = defaultdict(float)
    for unit, arrays in units.items():
        if unit.dataset == data.name and name in arrays:  # older units have no CPU time
            totals[unit.kind] += float(arrays[name])
    return {kind: round(total, 2) for kind, total in totals.items()}


def _describe_run(
    config: StudyConfig, data_sets: Sequence[StudyData], units: Mapping[Unit, Arrays]
) -> dict[str, Any]:
    about = {}
    for data in data_sets:
        methods = {
            find_method(unit.method).name: _describe_method(unit, units)
            for unit in units
            if unit.kind == "method" and unit.dataset == data.name
        }
        about[data.name] = {
            "sha256": data.sha256,
            "n_examples": len(data.X),
            "n_features": data.X.shape[1],
            "n_labels": data.Y.shape[1],
            "n_folds": data.n_folds,
            "has_own_folds": data.has_own_folds,
            "seconds": _sum_kinds(data, units, "seconds"),
            "cpu_seconds": _sum_kinds(data, units, "cpu_seconds"),
            **({"methods": methods} if methods else {}),
        }
    versions = {name: version(name) for name in _VERSIONS_OF}
    return {
        "versions": {"python": platform.python_version(), **versions},
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seed": config.seed,
        "config": config_to_plain(config),
        "data": about,
    }
