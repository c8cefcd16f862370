"""The overhead of a study of many units: claims, files, collecting and a Dask cluster, without learning.

Every unit is computed by a stub, so that all the time is the study's own. Run it with::

    python benchmarks/units.py --units 100000
"""

from __future__ import annotations

import argparse
import gc
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.learning.cluster import dask_cluster
from steelyard.learning.parallel import run_in_processes
from steelyard.study import StudyConfig, collect_study, run_shard, runner
from steelyard.study.claims import Claims
from steelyard.study.units import Finished, Unit

INNER_FOLDS = 8
UNITS_PER_FOLD = INNER_FOLDS + 2  # grid, inner folds, baseline


def stub(found: dict[str, Finished], *call: Any) -> Finished:
    """The result of the first unit of the same kind, under another name."""
    compute, (release, config, unit, *data) = call[0], call[1:]
    if unit.kind not in found:
        found[unit.kind] = compute(release, config, unit, *data)
    return found[unit.kind]._replace(unit=unit)


@contextmanager
def measure(what: str, n: int) -> Iterator[None]:
    gc.collect()
    start, cpu = time.perf_counter(), time.process_time()
    yield
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rates = f"{1e3 * seconds / n:8.2f} ms each, {1e3 * cpu / n:.2f} ms of them CPU"
    print(f"{what:<44} {n:>7,} in {seconds:7.1f} s: {rates}; peak {peak:,.0f} MiB", flush=True)


def measure_claims(folder: Path, n: int) -> None:
    others = Claims(folder)
    for i in range(300):  # 50 shards with six units each
        others.take(f"other/fold-{i}")
    claims = Claims(folder)
    with measure("claims taken and released, beside 300 others", n):
        for i in range(n):
            claims.take(f"flags/fold-{i}")
            claims.release(f"flags/fold-{i}")
    others.release_all()


def measure_study(folder: Path, n_units: int) -> None:
    n_folds = n_units // UNITS_PER_FOLD
    config = StudyConfig(
        ("planted",),
        parameters=(2.0, 64.0),
        phis=(1.0, 0.5),
        folds=10,
        repeats=max(1, n_folds // 10),
        n_candidates=100,
        tune=("f1_micro",),
        inner_folds=INNER_FOLDS,
        baselines=("ripper",),
    )
    compute: Callable[..., Finished] = runner.compute_unit
    runner.compute_unit = partial(stub, {}, compute)  # type: ignore[assignment]
    with measure("one shard of one: all units claimed and saved", n_units):
        run_shard(config, folder, 1, 1, n_jobs=1)
    with measure("the same shard again: all units read", n_units):
        run_shard(config, folder, 1, 1, n_jobs=1)
    with measure("collected: all units read, rows written", n_units):
        study = collect_study(config, folder)
    files = [file for file in folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 2**20
    print(f"{len(files):,} files, {size:,.0f} MiB; {len(study.results):,} rows of results")


def answer(size: int, unit: Unit) -> tuple[Unit, bytes]:
    return unit, bytes(size)


def count_scheduler_memory(dask_scheduler: Any) -> int:
    """Memory of the process of the scheduler, in bytes."""
    del dask_scheduler
    import psutil

    return int(psutil.Process().memory_info().rss)


def measure_dask(n: int) -> None:
    import joblib

    # The arrays of a fold of the paper's grid: 9 measures of 400 theories.
    result_size = 9 * 400 * 8
    with dask_cluster("local", 2):
        client = joblib.parallel.get_active_backend()[0].client
        list(run_in_processes(partial(answer, 1), ((Unit("grid", "flags", i),) for i in range(20))))
        before = client.run_on_scheduler(count_scheduler_memory)
        with measure("calls on Dask, 29 kB back from each", n):
            units = ((Unit("grid", "flags", i),) for i in range(n))
            for _ in run_in_processes(partial(answer, result_size), units):
                pass
        after = client.run_on_scheduler(count_scheduler_memory)
        print(
            f"memory of the scheduler's process: {before / 2**20:,.0f} → {after / 2**20:,.0f} MiB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="where to write; a shared folder, for example")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        measure_claims(Path(name), min(options.units, 5_000))
        measure_study(Path(name) / "study", options.units)
    measure_dask(min(options.units, 5_000))


if __name__ == "__main__":
    main()
