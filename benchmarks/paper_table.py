"""The paper's table 1 with our numbers: nested tuning on its nine data sets with its folds.

Run:  python benchmarks/paper_table.py DATA --out results/paper [--datasets flags,emotions]
      [--only-folds 1,2] [--baselines] [--jobs 2]

DATA is a folder with one folder a data set, each with <name>.arff, <name>.xml and folds.csv. The run
is a study like any other: killed, it goes on; its results folder has the maps as well.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from steelyard.report.build import write_report
from steelyard.study import StudyConfig, StudyResults, run_study
from steelyard.study.analysis.published import PUBLISHED, PUBLISHED_METHODS

PAPER_DATA_SETS = tuple(PUBLISHED["f1_micro"])
TUNED_FOR = ("f1_micro", "hamming", "subset")


def show_table(study: StudyResults, measure: str) -> None:
    comparison = study.comparisons[measure]
    print(f"\n{measure}, percent\n")
    published = [f"{name} published" for name in PUBLISHED_METHODS]
    print("| data set | " + " | ".join([*comparison.methods, *published, "M - published"]) + " |")
    print("|---" + "|---:" * (len(comparison.methods) + len(published) + 1) + "|")
    for dataset, values in zip(comparison.datasets, comparison.values, strict=True):
        theirs = PUBLISHED[measure][dataset]
        cells = [*(100 * values), *theirs, 100 * values[-1] - theirs[-1]]
        shown = [f"{cell:.2f}" for cell in cells[:-1]] + [f"{cells[-1]:+.2f}"]
        print(f"| {dataset} | " + " | ".join(shown) + " |")


def show_choices(study: StudyResults) -> None:
    print("\nchosen in the folds: median m, median φ, mean number of rules\n")
    print("| data set | " + " | ".join(TUNED_FOR) + " |")
    print("|---" * (1 + len(TUNED_FOR)) + "|")
    for dataset in dict.fromkeys(study.tuned["dataset"]):
        cells = []
        for measure in TUNED_FOR:
            rows = study.tuned
            rows = rows[(rows["dataset"] == dataset) & (rows["tuned_for"] == measure)]
            sizes = rows[rows["measure"] == "n_rules"]
            m, phi = sizes["parameter"].median(), sizes["phi"].median()
            cells.append(f"{m:g}, {phi:.2g}, {sizes['value'].mean():.0f}")
        print(f"| {dataset} | " + " | ".join(cells) + " |")


def show_seconds(study: StudyResults) -> None:
    print("\nseconds of computation, summed over units\n")
    for dataset, about in study.run["data"].items():
        parts = ", ".join(f"{kind} {seconds:.1f}" for kind, seconds in about["seconds"].items())
        print(f"- {dataset}: {parts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with the data sets' folders")
    parser.add_argument("--out", type=Path, required=True, help="results folder")
    parser.add_argument("--datasets", default=",".join(PAPER_DATA_SETS))
    parser.add_argument("--only-folds", default="", help="such as 1,2; all by default")
    parser.add_argument("--candidates", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--baselines", action="store_true", help="learn R1, R2 and R3 too")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--no-report", action="store_true", help="leave figures and page out")
    arguments = parser.parse_args()
    unknown = set(arguments.datasets.split(",")) - set(PAPER_DATA_SETS)
    if unknown:
        parser.error(f"not a data set of the paper: {', '.join(sorted(unknown))}")
    config = StudyConfig(
        data=tuple(str(arguments.data / name) for name in arguments.datasets.split(",")),
        only_folds=tuple(int(fold) for fold in arguments.only_folds.split(",") if fold),
        n_candidates=arguments.candidates,
        seed=arguments.seed,
        tune=TUNED_FOR,
        baselines=("ripper",) if arguments.baselines else (),
    )

    def progress(n_done: int, n_units: int, _: object) -> None:
        print(f"\r{n_done} of {n_units} units", end="", file=sys.stderr, flush=True)

    study = run_study(config, arguments.out, n_jobs=arguments.jobs, progress=progress)
    print(file=sys.stderr)
    if not arguments.no_report:
        write_report(study)
    for measure in TUNED_FOR:
        show_table(study, measure)
    show_choices(study)
    show_seconds(study)


if __name__ == "__main__":
    main()
