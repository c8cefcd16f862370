"""run_study: data sets × folds → units in parallel, longest first → rows and files; resumable.

Knows units and the store; it computes nothing itself.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from steelyard._files import write_atomically
from steelyard.data.sources import find_source

from .config import StudyConfig, StudyError, config_to_toml
from .data import StudyData, load_study_data
from .results import StudyResults
from .rows import collect_rows, empty_rows
from .store import StudyStore
from .units import Unit, estimate_cost, list_units, prepare_task, run_task

# Enough to find an interesting example, few enough for a page that is sent by mail.
N_EXAMPLES = 50

# Called with the number of finished units, the number of all units, and the unit that just finished.
Progress = Callable[[int, int, Unit | None], None]
Work = Sequence[tuple[Unit, StudyData]]

_VERSIONS_OF = ("steelyard", "numpy", "scikit-learn", "scipy", "pandas", "joblib")


def run_study(
    config: StudyConfig,
    out: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
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

    Returns
    -------
    StudyResults

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> config = StudyConfig(("planted",), folds=2, n_candidates=200, parameters=(2.0, 64.0))
    >>> with TemporaryDirectory() as folder:
    ...     study = run_study(config, folder)
    >>> int((study.results["measure"] == "hamming").sum())  # 2 folds × 2 m × 20 φ
    80
    """
    data_sets = load_study_data(config)
    for data in data_sets:
        unknown = [k for k in config.only_folds if k > data.n_folds]
        if unknown:
            raise StudyError(f"{data.name} has {data.n_folds} folds, but no fold {unknown[0]}")
    store = StudyStore(out)
    with store.locked():
        store.claim(_identify(config, data_sets))
        shown = dataclasses.replace(config, data=tuple(_relocate(s, out) for s in config.data))
        write_atomically(store.folder / "study.toml", config_to_toml(shown).encode())
        work = [(unit, data) for data in data_sets for unit in list_units(data, config)]
        _run_units(store, config, work, n_jobs, progress)
        rows = collect_rows(store, config, [unit for unit, _ in work])
        run = _describe_run(store, shown, data_sets)
        study = StudyResults(store.folder, shown, **empty_rows() | rows, run=run)
        _write_rows(store.folder, rows)
        for data in data_sets:
            _write_examples(study, data)
        write_atomically(store.folder / "run.json", _to_json(run, indent=1))
        return study


def _relocate(source: str, out: str | os.PathLike[str]) -> str:
    """A path relative to the results folder, so that folder and data can be moved together."""
    path = find_source(source)
    return source if path is None else os.path.relpath(path, out).replace(os.sep, "/")


def _identify(config: StudyConfig, data_sets: Sequence[StudyData]) -> dict[str, Any]:
    """What two runs of the same study have in common; the location of the data does not matter."""
    settings = json.loads(json.dumps(dataclasses.asdict(config)))
    del settings["data"], settings["labels"]
    hashes = {data.name: data.sha256 for data in data_sets}
    return {"steelyard": version("steelyard"), **settings, "data": hashes}


def _run_units(
    store: StudyStore,
    config: StudyConfig,
    work: Work,
    n_jobs: int | None,
    progress: Progress | None,
) -> None:
    report = progress or (lambda *_: None)
    missing = [(unit, data) for unit, data in work if store.read_unit(unit.name) is None]
    # Long units first, so that no worker waits long for another at the end.
    missing.sort(key=lambda pair: -estimate_cost(*pair))
    # If the kernels are not compiled yet, the second worker compiles those of the baseline while the
    # first worker compiles the others.
    baseline = next((pair for pair in missing if pair[0].kind == "ripper"), None)
    if baseline is not None:
        missing.remove(baseline)
        missing.insert(1, baseline)
    n_before = len(work) - len(missing)
    report(n_before, len(work), None)
    # The generator prepares a task when a worker needs it, so only a few are in memory at a time.
    tasks = (prepare_task(unit, data, config, store) for unit, data in missing)
    workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    shown: set[str] = set()
    finished = workers(delayed(run_task)(task) for task in tasks)
    for n_done, (unit, seconds, texts) in enumerate(finished, n_before + 1):
        store.record_seconds(unit.name, seconds)
        for message in (f"{unit.dataset}: {text}" for text in texts):
            if message not in shown:
                shown.add(message)
                warnings.warn(message, UserWarning, stacklevel=3)
        report(n_done, len(work), unit)


def _write_rows(folder: Path, rows: dict[str, pd.DataFrame]) -> None:
    for name, table in rows.items():
        text = table.to_csv(index=False, lineterminator="\n")
        write_atomically(folder / f"{name}.csv", text.encode())
        if find_spec("pyarrow") is not None:
            write_atomically(folder / f"{name}.parquet", table.to_parquet(index=False))


def _to_json(content: Any, indent: int | None = None) -> bytes:
    """JSON in UTF-8; numpy's scalars become numbers."""
    text = json.dumps(content, indent=indent, ensure_ascii=False, default=lambda x: x.item())
    return text.encode()


def _write_examples(study: StudyResults, data: StudyData) -> None:
    """Write ``examples/<dataset>.json`` for the shown fold of a data set."""
    path = study.path(data.name)
    if path is None:
        return
    names = [feature.name for feature in path.coded.used_features]
    _, is_test = data.locate(study.shown_fold)
    rows = np.flatnonzero(is_test)[:N_EXAMPLES]
    X = data.X.iloc[rows].set_axis([str(name) for name in data.X.columns], axis=1)[names]
    Y = data.Y.iloc[rows]
    content = {
        "fold": study.shown_fold,
        "features": names,
        "rows": X.astype(object).where(X.notna(), None).to_numpy().tolist(),
        "labels": [str(name) for name in Y.columns],
        "truth": Y.to_numpy().astype(int).tolist(),
    }
    write_atomically(study.folder / "examples" / f"{data.name}.json", _to_json(content))


def _describe_run(
    store: StudyStore, config: StudyConfig, data_sets: Sequence[StudyData]
) -> dict[str, Any]:
    recorded, about = store.read_seconds(), {}
    for data in data_sets:
        seconds: defaultdict[str, float] = defaultdict(float)
        for unit in list_units(data, config):
            seconds[unit.kind] += recorded.get(unit.name, 0.0)
        about[data.name] = {
            "sha256": data.sha256,
            "n_examples": len(data.X),
            "n_features": data.X.shape[1],
            "n_labels": data.Y.shape[1],
            "n_folds": data.n_folds,
            "has_own_folds": data.has_own_folds,
            "seconds": {kind: round(total, 2) for kind, total in seconds.items()},
        }
    versions = {name: version(name) for name in _VERSIONS_OF}
    return {
        "versions": {"python": platform.python_version(), **versions},
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seed": config.seed,
        "config": dataclasses.asdict(config),
        "data": about,
    }
