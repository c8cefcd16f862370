"""How long a study takes, with one job and with two, and how long its rows take.

Run:  python benchmarks/study_speed.py DATA [--datasets flags,emotions] [--candidates 300000]
      python benchmarks/study_speed.py DATA --nested --only-folds 1

DATA is a folder with one folder a data set, as for paper_table.py. The workers are started
before the clock; every study starts in a fresh folder. With --nested, theories are tuned for the
paper's three measures, Ripper is the baseline, and CPU seconds of the units are printed by their kind.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from steelyard.heuristics import M_GRID
from steelyard.model.thresholding import PHI_GRID
from steelyard.study import StudyConfig, run_shard, run_study
from steelyard.study.analysis.published import PUBLISHED
from steelyard.study.analysis.ranks import map_cells
from steelyard.study.config import SIZE_MEASURES, STUDY_MEASURES
from steelyard.study.runner import plan_study


def time_study(config: StudyConfig, n_jobs: int) -> tuple[float, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        study = run_study(config, Path(folder, "study"), n_jobs=n_jobs)
        seconds = time.perf_counter() - start
    by_data_set = {
        name: sum(about["seconds"].values()) for name, about in study.run["data"].items()
    }
    return seconds, by_data_set


def time_units(config: StudyConfig) -> pd.DataFrame:
    """CPU seconds of all units by data set and kind; one process computes them."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        run_shard(config, folder, 1, 1, n_jobs=1)
        plan = plan_study(config, folder)
        for unit in plan.work:
            arrays = plan.store.read_unit(unit.name)
            assert arrays is not None
            rows.append((unit.dataset, unit.kind, float(arrays["cpu_seconds"])))
    table = pd.DataFrame(rows, columns=["dataset", "kind", "seconds"])
    return table.pivot_table(
        "seconds", "dataset", "kind", aggfunc="sum", sort=False, margins=True, margins_name="sum"
    )


def time_rows() -> tuple[float, float, int]:
    """Writing and ranking the rows of nine data sets × ten folds × 400 cells."""
    measures = [*STUDY_MEASURES, *SIZE_MEASURES]
    index = pd.MultiIndex.from_product(
        [list(PUBLISHED["f1_micro"]), range(1, 11), ["m-estimate"], M_GRID, PHI_GRID, measures],
        names=["dataset", "fold", "heuristic", "parameter", "phi", "measure"],
    )
    rows = index.to_frame(index=False)
    rows["value"] = np.random.default_rng(0).random(len(rows))
    start = time.perf_counter()
    rows.to_csv(index=False)
    written = time.perf_counter()
    for measure in measures:
        assert map_cells(rows, measure).mean_rank.shape == (20, 20)
    return written - start, time.perf_counter() - written, len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--datasets", default=",".join(PUBLISHED["f1_micro"]))
    parser.add_argument("--candidates", type=int, default=300_000)
    parser.add_argument("--only-folds", default="")
    parser.add_argument("--nested", action="store_true")
    arguments = parser.parse_args()
    names = arguments.datasets.split(",")
    config = StudyConfig(
        data=tuple(str(arguments.data / name) for name in names),
        n_candidates=arguments.candidates,
        only_folds=tuple(int(fold) for fold in arguments.only_folds.split(",") if fold),
    )
    if arguments.nested:
        tuned = {"tune": ("f1_micro", "hamming", "subset"), "baselines": ("ripper",)}
        print(time_units(dataclasses.replace(config, **tuned)).round(1).to_string())
        return
    time_study(StudyConfig(("planted",), folds=2, n_candidates=1000), 2)  # starts the workers
    seconds = {}
    for n_jobs in (1, 2):
        seconds[n_jobs], by_data_set = time_study(config, n_jobs)
        print(f"{n_jobs} job(s): {seconds[n_jobs]:.1f} s")
        for name, value in by_data_set.items():
            print(f"    {name:10} {value:7.1f} s of computation")
    print(f"two jobs are {seconds[1] / seconds[2]:.2f} × as fast as one")
    writing, ranking, n_rows = time_rows()
    print(
        f"{n_rows:,} rows: written in {writing:.1f} s, ranked for every measure in {ranking:.1f} s"
    )


if __name__ == "__main__":
    main()
