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
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from steelyard.data.sources import find_source
from steelyard.learning.parallel import run_in_processes

from .config import StudyConfig, StudyError, config_to_plain, config_to_toml
from .data import StudyData, load_study_data
from .results import StudyResults
from .rows import collect_rows
from .store import Arrays, StudyStore
from .units import Unit, estimate_cost, list_units, read_finished, run_unit

# Enough to find an interesting example, few enough for a page that is sent by mail.
N_EXAMPLES = 50

# Called with the number of finished units, the number of all units, and the unit that just finished.
Progress = Callable[[int, int, Unit | None], None]

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
    with store.claimed(_identify(config, data_sets)):
        shown = dataclasses.replace(config, data=tuple(_relocate(s, out) for s in config.data))
        store.write("study.toml", config_to_toml(shown).encode())
        work = {unit: data for data in data_sets for unit in list_units(data, config)}
        units = _run_units(store, config, work, n_jobs, progress)
        rows = collect_rows(config, units)
        run = _describe_run(shown, data_sets, units)
        study = StudyResults(store.folder, shown, **rows, run=run)
        _write_rows(store, rows)
        for data in data_sets:
            _write_examples(store, study, data)
        store.write("run.json", json.dumps(run, indent=1, ensure_ascii=False).encode())
        return study


def _relocate(source: str, out: str | os.PathLike[str]) -> str:
    """A path relative to the results folder, so that folder and data can be moved together."""
    path = find_source(source)
    return source if path is None else os.path.relpath(path, out).replace(os.sep, "/")


def _identify(config: StudyConfig, data_sets: Sequence[StudyData]) -> dict[str, Any]:
    """What two runs of the same study have in common; the location of the data does not matter."""
    settings = config_to_plain(config)
    del settings["data"], settings["labels"]
    hashes = {f"data {data.name}": data.sha256 for data in data_sets}
    return {"steelyard": version("steelyard"), **settings, **hashes}


def _run_units(
    store: StudyStore,
    config: StudyConfig,
    work: dict[Unit, StudyData],
    n_jobs: int | None,
    progress: Progress | None,
) -> dict[Unit, Arrays]:
    """Compute the units that are not finished; return the arrays of all units."""
    report = progress or (lambda *_: None)
    found = {unit: read_finished(unit, store) for unit in work}
    missing = [unit for unit, arrays in found.items() if arrays is None]
    # Long units first, so that no worker waits long for another at the end.
    missing.sort(key=lambda unit: -estimate_cost(unit, work[unit]))
    # If the kernels are not compiled yet, the second worker compiles those of the baseline while the
    # first worker compiles the others.
    baseline = next((unit for unit in missing if unit.kind == "ripper"), None)
    if baseline is not None:
        missing.remove(baseline)
        missing.insert(1, baseline)
    n_before = len(work) - len(missing)
    report(n_before, len(work), None)
    calls = ((unit, config, store, *work[unit]) for unit in missing)
    finished = run_in_processes(run_unit, calls, n_jobs)
    for n_done, (unit, arrays, texts) in enumerate(finished, n_before + 1):
        found[unit] = arrays
        for text in texts:
            warnings.warn(f"{unit.dataset}: {text}", UserWarning, stacklevel=3)
        report(n_done, len(work), unit)
    return {unit: arrays for unit, arrays in found.items() if arrays is not None}


def _write_rows(store: StudyStore, rows: dict[str, pd.DataFrame]) -> None:
    for name, table in rows.items():
        if table.empty:
            continue
        text = table.to_csv(index=False, lineterminator="\n")
        store.write(f"{name}.csv", text.encode())
        if find_spec("pyarrow") is not None:
            store.write(f"{name}.parquet", table.to_parquet(index=False))


def _write_examples(store: StudyStore, study: StudyResults, data: StudyData) -> None:
    """Write ``examples/<dataset>.json`` for the shown fold of a data set."""
    names = [feature.name for feature in study.paths[data.name].coded.used_features]
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
    store.write(f"examples/{data.name}.json", json.dumps(content, ensure_ascii=False).encode())


def _describe_run(
    config: StudyConfig, data_sets: Sequence[StudyData], units: Mapping[Unit, Arrays]
) -> dict[str, Any]:
    about = {}
    for data in data_sets:
        seconds: defaultdict[str, float] = defaultdict(float)
        for unit, arrays in units.items():
            if unit.dataset == data.name:
                seconds[unit.kind] += float(arrays["seconds"])
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
        "config": config_to_plain(config),
        "data": about,
    }
