"""run_study: data sets × folds → units in parallel, longest first → rows and files. Resumable."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from steelyard._files import write_atomically
from steelyard.data.sources import find_source

from .baselines import check_baselines
from .config import StudyConfig, StudyError, config_from_toml, config_to_toml
from .data import StudyData, load_study_data
from .examples import collect_examples
from .rows import baselines_to_rows, grid_to_rows, tuning_to_rows
from .store import StudyStore
from .units import Receipt, Task, Unit, estimate_cost, list_units, prepare_task, run_task

# Called with the number of finished units, of all units, and the unit that was finished last.
Progress = Callable[[int, int, Unit | None], None]

_VERSIONS_OF = ("steelyard", "numpy", "numba", "scikit-learn", "scipy", "pandas", "joblib")


@dataclass(frozen=True)
class StudyResults:
    """The rows of a study and where they are.

    Parameters
    ----------
    folder : Path
    config : StudyConfig
    results, tuned, baselines : DataFrame
        Tidy rows; the last two are empty if they were not asked for.
    run : dict
        Versions, hashes and seconds: the content of run.json.
    """

    folder: Path
    config: StudyConfig
    results: pd.DataFrame
    tuned: pd.DataFrame
    baselines: pd.DataFrame
    run: dict[str, Any]


def run_study(
    config: StudyConfig,
    out: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> StudyResults:
    """Run a study, or what is missing of it, and write its rows.

    Every finished unit (a fold, an inner fold, a baseline of a fold) is kept at once and whole: killed
    at any moment, the same call goes on where it was and ends with the same rows.

    Parameters
    ----------
    config : StudyConfig
    out : path-like
        The results folder; one that holds another study is refused.
    n_jobs : int or None, default=None
        Units computed at a time, by joblib's rules; the rows do not depend on it.
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
    check_baselines(config.baselines)
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
        units = [unit for data in data_sets for unit in list_units(data, config)]
        _run_units(store, config, data_sets, units, n_jobs, progress)
        return _write_results(store, shown, data_sets, units)


def load_study(folder: str | os.PathLike[str]) -> StudyResults:
    """The rows of a finished study, read from its results folder.

    Parameters
    ----------
    folder : path-like

    Returns
    -------
    StudyResults
    """
    path = Path(folder)
    if not (path / "results.csv").exists():
        unfinished = (path / "units" / "identity.json").exists()
        what = "an unfinished study: run it to its end first" if unfinished else "no study"
        raise StudyError(f"{str(folder)!r} holds {what}")
    config = config_from_toml((path / "study.toml").read_text(encoding="utf-8"), "study.toml")
    run = json.loads((path / "run.json").read_text(encoding="utf-8"))
    results, tuned, baselines = (
        _read_rows(path / f"{name}.csv") for name in ("results", "tuned", "baselines")
    )
    return StudyResults(path, config, results, tuned, baselines, run)


def _relocate(source: str, out: str | os.PathLike[str]) -> str:
    """A path as seen from the results folder, so that folder and data may move together."""
    path = find_source(source)
    return source if path is None else os.path.relpath(path, out).replace(os.sep, "/")


def _identify(config: StudyConfig, data_sets: Sequence[StudyData]) -> dict[str, Any]:
    """What must be equal for two runs to be parts of one study; where the data lies is not part."""
    settings = json.loads(json.dumps(dataclasses.asdict(config)))
    del settings["data"], settings["labels"]
    hashes = {data.name: data.sha256 for data in data_sets}
    return {"steelyard": version("steelyard"), **settings, "data": hashes}


def _run_units(
    store: StudyStore,
    config: StudyConfig,
    data_sets: Sequence[StudyData],
    units: Sequence[Unit],
    n_jobs: int | None,
    progress: Progress | None,
) -> None:
    by_name = {data.name: data for data in data_sets}
    missing = [unit for unit in units if store.read_unit(unit.name) is None]
    # Long units first: the last ones to run are short, so no worker idles for long at the end.
    missing.sort(key=lambda unit: -estimate_cost(unit, by_name[unit.dataset]))
    # Where kernels are not compiled yet, the second worker compiles the baseline's while the first
    # compiles the others, instead of both compiling both.
    baseline = next((unit for unit in missing if unit.kind == "ripper"), None)
    if baseline is not None:
        missing.remove(baseline)
        missing.insert(1, baseline)
    n_done = len(units) - len(missing)
    if progress is not None:
        progress(n_done, len(units), None)

    def tasks() -> Iterator[Task]:
        for unit in missing:
            yield prepare_task(unit, by_name[unit.dataset], config)

    said: set[tuple[str, str]] = set()
    # Tasks are cut out when a worker is about to need them, so only a few are in memory at a time.
    receipts: Iterator[Receipt] = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", batch_size=1
    )(delayed(run_task)(task, store) for task in tasks())
    for receipt in receipts:
        n_done += 1
        store.record_seconds(receipt.unit.name, receipt.seconds)
        for message in receipt.warnings:
            if (receipt.unit.dataset, message) not in said:
                said.add((receipt.unit.dataset, message))
                warnings.warn(f"{receipt.unit.dataset}: {message}", UserWarning, stacklevel=3)
        if progress is not None:
            progress(n_done, len(units), receipt.unit)


def _write_results(
    store: StudyStore, config: StudyConfig, data_sets: Sequence[StudyData], units: Sequence[Unit]
) -> StudyResults:
    grid = [unit for unit in units if unit.kind == "grid"]
    results = grid_to_rows(store, config, grid)
    tuned = tuning_to_rows(store, config, grid if config.tune else [])
    baselines = baselines_to_rows(store, [unit for unit in units if unit.kind == "ripper"])
    _write_rows(store.folder / "results.csv", results)
    for name, rows, wanted in [
        ("tuned.csv", tuned, bool(config.tune)),
        ("baselines.csv", baselines, bool(config.baselines)),
    ]:
        if wanted:
            _write_rows(store.folder / name, rows)
    for data in data_sets:
        collect_examples(store, data, config)
    run = _describe_run(store, config, data_sets, units)
    text = json.dumps(run, indent=1, ensure_ascii=False, default=str)
    write_atomically(store.folder / "run.json", text.encode())
    return StudyResults(store.folder, config, results, tuned, baselines, run)


def _read_rows(path: Path) -> pd.DataFrame:
    if not path.exists():
        return pd.DataFrame()
    # Not every pandas reads a float to the last bit by itself; numpy does.
    rows = pd.read_csv(path, dtype={"value": str})
    return rows.assign(value=rows["value"].to_numpy(dtype=object).astype(np.float64))


def _write_rows(path: Path, rows: pd.DataFrame) -> None:
    write_atomically(path, rows.to_csv(index=False, lineterminator="\n").encode())
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return
    write_atomically(path.with_suffix(".parquet"), rows.to_parquet(index=False))


def _describe_run(
    store: StudyStore, config: StudyConfig, data_sets: Sequence[StudyData], units: Sequence[Unit]
) -> dict[str, Any]:
    seconds = store.read_seconds()
    return {
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in _VERSIONS_OF},
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seed": config.seed,
        "config": dataclasses.asdict(config),
        "data": {
            data.name: {
                "sha256": data.sha256,
                "n_examples": len(data.X),
                "n_features": data.X.shape[1],
                "n_labels": data.Y.shape[1],
                "n_folds": data.n_folds,
                "has_own_folds": data.has_own_folds,
                "seconds": {
                    kind: round(
                        sum(
                            seconds.get(unit.name, 0.0)
                            for unit in units
                            if unit.dataset == data.name and unit.kind == kind
                        ),
                        2,
                    )
                    for kind in dict.fromkeys(unit.kind for unit in units)
                },
            }
            for data in data_sets
        },
    }
