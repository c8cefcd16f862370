"""Methods beside Ripper, the paper and BOOMER: nested tuning on the paper's data sets and folds.

Run:  python benchmarks/beyond_table.py DATA --out rows.csv [--methods short,boosted] [--seeds 0,1,2]
      [--datasets flags,emotions] [--only-folds 1,2] [--boomer boomer.csv] [--jobs 2]
      [--max-rules 999] [--max-conditions 4] [--max-labels-per-rule 1,all]

DATA is a folder with one folder per data set, as for paper_table.py; boomer.csv comes from
boomer_table.py. Other data sets than the paper's are compared with our R3 by --methods short,ripper.
Rows that exist already are not computed again, so a killed run can be resumed. The last three options
are parameters of boosted rules; each value needs a file of its own.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata

from memory import forget_peak, peak_memory
from nested import NestedTuning
from steelyard import load_mulan
from steelyard.estimators.methods import METHODS, make_estimator
from steelyard.measures import get_measure
from steelyard.study.analysis.published import PUBLISHED, PUBLISHED_METHODS

MEASURES = ("f1_micro", "hamming", "subset")
BOOMER_PREDICTOR = {"f1_micro": "gfm", "hamming": "default", "subset": "example-wise"}
KEYS = ["dataset", "seed", "fold", "method"]


def tune_and_test(
    folder: Path, fold: int, seed: int, method: str, **parameters: Any
) -> list[dict[str, Any]]:
    """One row per measure to tune for: its value on the held-out fold and the size of the theory."""
    warnings.simplefilter("ignore")
    name = folder.name
    data = load_mulan(folder / f"{name}.arff", folder / f"{name}.xml")
    is_test = pd.read_csv(folder / "folds.csv").iloc[:, -1].to_numpy() == fold
    X, Y = data.X[~is_test], data.Y[~is_test]
    X_test, Y_test = data.X[is_test], data.Y[is_test].to_numpy()
    forget_peak()
    start = time.perf_counter()
    choose = fit_untuned if METHODS[method].tuned is None else tune
    rows = []
    for measure, theory, choice in choose(method, X, Y, seed, parameters):
        predicted = theory.predict(X_test).to_numpy()
        rows.append(
            {
                "dataset": name,
                "seed": seed,
                "fold": fold,
                "method": method,
                "tuned_for": measure,
                "value": get_measure(measure)(Y_test, predicted),
                "n_rules": len(theory),
                "n_bodies": theory.n_bodies,
                "n_conditions": theory.n_conditions / max(len(theory), 1),
                "seconds": time.perf_counter() - start,
                "gigabytes": peak_memory(),
                "choice": choice,
            }
        )
    return rows


def fit_untuned(
    method: str, X: Any, Y: Any, seed: int, parameters: dict[str, Any]
) -> Iterator[tuple[str, Any, str]]:
    """The same theory for every measure."""
    theory = make_estimator(method, random_state=seed, **parameters).fit(X, Y).theory_
    for measure in MEASURES:
        yield measure, theory, ""


def tune(
    method: str, X: Any, Y: Any, seed: int, parameters: dict[str, Any]
) -> Iterator[tuple[str, Any, str]]:
    """What the tuned estimator chooses for each measure."""
    estimator = make_estimator(method, tune=MEASURES[0], random_state=seed, **parameters)
    tuning = NestedTuning(estimator, X, Y, seed, MEASURES)
    for measure in MEASURES:
        theory, chosen = tuning.learn(tuning.choose(measure))
        yield measure, theory, str(chosen)


def show_table(rows: pd.DataFrame, boomer: pd.DataFrame | None, measure: str) -> None:
    rows = rows[rows["tuned_for"] == measure]
    ours = 100 * rows.pivot_table(index="dataset", columns="method", values="value")
    known = {name: PUBLISHED[measure][name] for name in ours.index if name in PUBLISHED[measure]}
    table = pd.DataFrame(known, index=PUBLISHED_METHODS).T
    if boomer is not None:
        predicted = boomer[boomer["predictor"] == BOOMER_PREDICTOR[measure]]
        means = predicted[predicted["measure"] == measure].groupby("dataset")["value"].mean()
        table["BOOMER"] = 100 * means
    table = table.join(ours) if known else ours
    print(f"\n{measure}, percent\n\n| data set | " + " | ".join(table.columns) + " |")
    print("|---" + "|---:" * len(table.columns) + "|")
    for name, values in table.iterrows():
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |")
    ranks = rankdata(-table.to_numpy().round(2), axis=1).mean(axis=0)
    print("| average rank | " + " | ".join(f"{rank:.2f}" for rank in ranks) + " |")
    groups = {"short": [*PUBLISHED_METHODS, "short"], "boosted": ["BOOMER", "boosted"]}
    for method, group in groups.items():
        if set(group) <= set(table.columns):
            ranks = rankdata(-table[group].to_numpy().round(2), axis=1).mean(axis=0)
            among = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(group, ranks, strict=True))
            print(f"\naverage ranks with {method} alone: {among}")


def show_sizes(rows: pd.DataFrame) -> None:
    # The clock runs on from measure to measure: the last one has the seconds of all.
    costs = rows.groupby(KEYS)[["seconds", "gigabytes"]].transform("max")
    rows = rows.assign(seconds=costs["seconds"], gigabytes=costs["gigabytes"])
    columns = ["n_rules", "n_conditions", "seconds", "gigabytes"]
    sizes = rows.groupby(["method", "dataset"])[columns].mean()
    print("\nmean over measures, folds and seeds; seconds of one core for all three measures\n")
    print("| method | data set | rules | conditions per rule | seconds | GB |")
    print("|---|---|---:|---:|---:|---:|")
    digits = {"n_rules": 0, "n_conditions": 1, "seconds": 1, "gigabytes": 2}
    for (method, dataset), size in sizes.round(digits).iterrows():
        print(f"| {method} | {dataset} | " + " | ".join(f"{value:g}" for value in size) + " |")


def read_numbers(text: str) -> list[int | None]:
    """Numbers separated by commas; `all` is None."""
    return [None if part == "all" else int(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--methods", default="short,boosted")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--datasets", default=",".join(PUBLISHED["f1_micro"]))
    parser.add_argument("--only-folds", default="1,2,3,4,5,6,7,8,9,10")
    parser.add_argument("--boomer", type=Path)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--max-rules", type=int)
    parser.add_argument("--max-conditions", type=int)
    parser.add_argument("--max-labels-per-rule", type=read_numbers, help="such as 3, all or 1,all")
    arguments = parser.parse_args()
    names = ("max_rules", "max_conditions", "max_labels_per_rule")
    given = {name: getattr(arguments, name) for name in names}
    parameters = {name: value for name, value in given.items() if value is not None}
    known = pd.read_csv(arguments.out) if arguments.out.exists() else pd.DataFrame(columns=KEYS)
    if len(known) and "n_bodies" not in known:
        parser.error(f"{arguments.out} is from another version: choose another --out")
    done = set(known[KEYS].itertuples(index=False, name=None))
    tasks = [
        (name, int(seed), int(fold), method)
        for seed in arguments.seeds.split(",")
        for method in arguments.methods.split(",")
        for name in arguments.datasets.split(",")
        for fold in arguments.only_folds.split(",")
    ]
    results = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")(
        delayed(tune_and_test)(arguments.data / name, fold, seed, method, **parameters)
        for name, seed, fold, method in tasks
        if (name, seed, fold, method) not in done
    )
    for rows in results:
        frame = pd.DataFrame(rows)
        frame.to_csv(arguments.out, mode="a", header=not arguments.out.exists(), index=False)
    rows = pd.read_csv(arguments.out)
    boomer = pd.read_csv(arguments.boomer) if arguments.boomer else None
    for measure in MEASURES:
        show_table(rows, boomer, measure)
    show_sizes(rows)


if __name__ == "__main__":
    main()
