"""Presets beside Ripper, the paper and BOOMER: nested tuning on the paper's data sets and folds.

Run:  python benchmarks/beyond_table.py DATA --out rows.csv [--presets short,accurate] [--seeds 0,1,2]
      [--datasets flags,emotions] [--only-folds 1,2] [--boomer boomer.csv] [--jobs 2]

DATA is a folder with one folder a data set, as for paper_table.py; boomer.csv comes from
boomer_table.py. Rows that are there already are not computed again, so a killed run goes on.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata

from memory import forget_peak, peak_memory
from steelyard import RuleSetClassifierCV, load_mulan
from steelyard.estimators.rule_set import fit_path
from steelyard.estimators.rule_set_cv import plan_search
from steelyard.estimators.tuning import choose_cell, score_folds
from steelyard.measures import get_measure
from steelyard.splitting import IterativeStratifiedKFold
from steelyard.study.analysis.published import PUBLISHED, PUBLISHED_METHODS

MEASURES = ("f1_micro", "hamming", "subset")
BOOMER_PREDICTOR = {"f1_micro": "gfm", "hamming": "default", "subset": "example-wise"}
KEYS = ["dataset", "seed", "fold", "preset"]


def tune_and_test(folder: Path, fold: int, seed: int, preset: str) -> list[dict[str, Any]]:
    """One row a measure to tune for: its value on the held-out fold and the size of the theory."""
    warnings.simplefilter("ignore")
    name = folder.name
    data = load_mulan(folder / f"{name}.arff", folder / f"{name}.xml")
    is_test = pd.read_csv(folder / "folds.csv").iloc[:, -1].to_numpy() == fold
    X, Y = data.X[~is_test], data.Y[~is_test]
    X_test, Y_test = data.X[is_test], data.Y[is_test].to_numpy()
    forget_peak()
    start = time.perf_counter()
    estimator = RuleSetClassifierCV(preset=preset, random_state=seed)
    template, grid = plan_search(estimator, seed)
    splitter = IterativeStratifiedKFold(5, random_state=seed)
    splits = list(splitter.split(np.zeros((len(X), 1)), Y))
    folds = score_folds(template, grid, X, Y, splits, MEASURES)
    n_conditions = np.mean([scored.n_conditions for scored in folds], axis=0)
    cells = list(grid.cells())
    paths: dict[int, Any] = {}
    rows = []
    for i, measure in enumerate(MEASURES):
        scores = np.array([scored.scores[i] for scored in folds])
        variant, decoding, heuristic, phi = cells[choose_cell(scores, n_conditions, grid.tolerance)]
        which = grid.variants.index(variant)
        if which not in paths:
            model = template.set_params(**variant)
            paths[which] = fit_path(model, X, Y, grid.heuristics_for(variant), grid.phis)
        theory = paths[which].theory(heuristic, phi, decoding=decoding)
        predicted = theory.predict(X_test).to_numpy()
        rows.append(
            {
                "dataset": name,
                "seed": seed,
                "fold": fold,
                "preset": preset,
                "tuned_for": measure,
                "value": get_measure(measure)(Y_test, predicted),
                "n_rules": len(theory),
                "n_conditions": theory.n_conditions / max(len(theory), 1),
                "seconds": time.perf_counter() - start,
                "gigabytes": peak_memory(),
                "choice": f"{variant} {decoding} {heuristic} {phi:g}",
            }
        )
    return rows


def show_table(rows: pd.DataFrame, boomer: pd.DataFrame | None, measure: str) -> None:
    rows = rows[rows["tuned_for"] == measure]
    ours = 100 * rows.pivot_table(index="dataset", columns="preset", values="value")
    table = pd.DataFrame(
        {name: PUBLISHED[measure][name] for name in ours.index}, index=PUBLISHED_METHODS
    ).T
    if boomer is not None:
        predicted = boomer[boomer["predictor"] == BOOMER_PREDICTOR[measure]]
        means = predicted[predicted["measure"] == measure].groupby("dataset")["value"].mean()
        table["BOOMER"] = 100 * means
    table = table.join(ours)
    print(f"\n{measure}, percent\n\n| data set | " + " | ".join(table.columns) + " |")
    print("|---" + "|---:" * len(table.columns) + "|")
    for name, values in table.iterrows():
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |")
    ranks = rankdata(-table.to_numpy().round(2), axis=1).mean(axis=0)
    print("| average rank | " + " | ".join(f"{rank:.2f}" for rank in ranks) + " |")
    groups = {"short": [*PUBLISHED_METHODS, "short"], "accurate": ["BOOMER", "accurate"]}
    for preset, group in groups.items():
        if set(group) <= set(table.columns):
            ranks = rankdata(-table[group].to_numpy().round(2), axis=1).mean(axis=0)
            among = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(group, ranks, strict=True))
            print(f"\naverage ranks with {preset} alone: {among}")


def show_sizes(rows: pd.DataFrame) -> None:
    # The clock runs on from measure to measure: the last one has the seconds of all.
    costs = rows.groupby(KEYS)[["seconds", "gigabytes"]].transform("max")
    rows = rows.assign(seconds=costs["seconds"], gigabytes=costs["gigabytes"])
    columns = ["n_rules", "n_conditions", "seconds", "gigabytes"]
    sizes = rows.groupby(["preset", "dataset"])[columns].mean()
    print("\nmean over measures, folds and seeds; seconds of one core for all three measures\n")
    print("| preset | data set | rules | conditions a rule | seconds | GB |")
    print("|---|---|---:|---:|---:|---:|")
    digits = {"n_rules": 0, "n_conditions": 1, "seconds": 1, "gigabytes": 2}
    for (preset, dataset), size in sizes.round(digits).iterrows():
        print(f"| {preset} | {dataset} | " + " | ".join(f"{value:g}" for value in size) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--presets", default="short,accurate")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--datasets", default=",".join(PUBLISHED["f1_micro"]))
    parser.add_argument("--only-folds", default="1,2,3,4,5,6,7,8,9,10")
    parser.add_argument("--boomer", type=Path)
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    known = pd.read_csv(arguments.out) if arguments.out.exists() else pd.DataFrame(columns=KEYS)
    if len(known) and "gigabytes" not in known:
        parser.error(f"{arguments.out} is from another version: choose another --out")
    done = set(known[KEYS].itertuples(index=False, name=None))
    tasks = [
        (name, int(seed), int(fold), preset)
        for seed in arguments.seeds.split(",")
        for preset in arguments.presets.split(",")
        for name in arguments.datasets.split(",")
        for fold in arguments.only_folds.split(",")
    ]
    results = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")(
        delayed(tune_and_test)(arguments.data / name, fold, seed, preset)
        for name, seed, fold, preset in tasks
        if (name, seed, fold, preset) not in done
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
