"""Defaults for a user who tunes nothing: each method on two held-out folds of several data sets.

    python benchmarks/defaults.py --data DATA [chd49 langlog ...] [--folds 1,2] [--seed 0]

DATA has one folder per data set: <name>.arff, <name>.xml and folds.csv. Prints one line of JSON per data
set, fold and method, then means over the sparse and over the dense tables as preset "auto" divides them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from steelyard import (
    BoostedRulesClassifier,
    EachLabel,
    LabelSetVotes,
    RuleSetClassifier,
    load_mulan,
)
from steelyard.data import read_folds
from steelyard.estimators.presets import choose_preset
from steelyard.measures import MEASURES

METHODS: dict[str, Any] = {
    "paper": RuleSetClassifier(preset="paper"),
    "short, each label": RuleSetClassifier(preset="short", decode="each-label"),
    "short": RuleSetClassifier(preset="short"),
    "short, φ = 0.3": RuleSetClassifier(preset="short", phi=0.3),
    "short, φ = 0.3, each label": RuleSetClassifier(preset="short", phi=0.3, decode="each-label"),
    "boosted, each label": BoostedRulesClassifier(decode="each-label"),
    "boosted, each label above 0.35": BoostedRulesClassifier(decode=EachLabel(0.35)),
    "boosted": BoostedRulesClassifier(),
    "boosted, label set votes above 0.4": BoostedRulesClassifier(decode=LabelSetVotes(0.4)),
}
MEASURED = ("f1_micro", "hamming", "subset")


def measure_methods(folder: Path, folds: list[int], seed: int) -> Iterator[dict[str, Any]]:
    """One row per fold and method: percent on the held-out fold, size of the theory, CPU seconds."""
    data = load_mulan(folder / f"{folder.name}.arff", constant_labels="drop")
    fold_of_row = read_folds(folder / "folds.csv", len(data.X))
    is_sparse = choose_preset("auto", data.X) == "short"
    for fold in folds:
        X, Y = data.X[fold_of_row != fold], data.Y[fold_of_row != fold]
        X_test, Y_test = data.X[fold_of_row == fold], data.Y[fold_of_row == fold].to_numpy()
        for method, estimator in METHODS.items():
            start = time.process_time()
            theory = estimator.set_params(random_state=seed).fit(X, Y).theory_
            seconds = time.process_time() - start
            predicted = estimator.predict(X_test)
            yield {
                "dataset": folder.name,
                "table": "sparse" if is_sparse else "dense",
                "fold": fold,
                "method": method,
                **{name: round(100 * MEASURES[name](Y_test, predicted), 2) for name in MEASURED},
                "rules": len(theory),
                "conditions": round(theory.n_conditions / max(len(theory), 1), 1),
                "seconds": round(seconds, 1),
            }


def show_means(rows: pd.DataFrame) -> None:
    columns = [*MEASURED, "rules", "conditions", "seconds"]
    for table, group in rows.groupby("table", sort=False):
        means = group.groupby("method", sort=False)[columns].mean().round(2)
        print(f"\nmeans over {table} tables: {', '.join(group['dataset'].unique())}\n")
        print(means.to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with the data sets' folders"
    )
    parser.add_argument("--folds", default="1,2", help="folds to hold out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="*", help="data sets; all of DATA by default")
    arguments = parser.parse_args()
    # Small tables have fewer than 300,000 candidates, which the estimator warns of.
    warnings.simplefilter("ignore")
    folds = [int(fold) for fold in arguments.folds.split(",")]
    names = arguments.names or sorted(
        path.parent.name for path in arguments.data.glob("*/folds.csv")
    )
    rows = []
    for name in names:
        for row in measure_methods(arguments.data / name, folds, arguments.seed):
            print(json.dumps(row, ensure_ascii=False), flush=True)
            rows.append(row)
    show_means(pd.DataFrame(rows))


if __name__ == "__main__":
    main()
