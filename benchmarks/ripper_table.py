"""Quality of RipperClassifier beside JRip's published means, as the tables of docs/reproduction.md.

    STEELYARD_DATA=... python benchmarks/ripper_table.py [--seeds 5] [data set ...]

Each seed is one run over the ten folds of each data set, fold k with the random state 1000·seed + k.
A standard error is that of the mean over folds, of one run; means are over runs and folds.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from steelyard import load_mulan
from steelyard.estimators.ripper import RipperClassifier
from steelyard.measures import get_measure

COLUMNS = {
    "R1": {"prune": False, "optimizations": 0},
    "R2": {"optimizations": 0},
    "R3": {},
}
MEASURES = {"F1": "f1_micro", "Hamming": "hamming", "subset": "subset"}

# Means over the ten folds, in percent: F1, Hamming and subset accuracy, each for R1, R2, R3.
PUBLISHED = {
    "birds": ((43.65, 41.12, 46.01), (94.39, 94.48, 95.17), (44.20, 45.57, 51.48)),
    "cal500": ((33.63, 33.18, 33.76), (82.14, 83.66, 85.39), (0.00, 0.00, 0.00)),
    "emotions": ((56.96, 58.68, 60.97), (75.12, 75.38, 77.21), (18.04, 20.40, 23.60)),
    "enron": ((50.57, 53.05, 55.33), (94.35, 94.70, 94.93), (6.17, 7.99, 9.16)),
    "flags": ((71.81, 72.96, 74.85), (73.02, 74.08, 75.20), (15.47, 17.05, 21.00)),
    "genbase": ((98.83, 98.68, 98.68), (99.89, 99.88, 99.88), (97.28, 96.83, 96.83)),
    "medical": ((81.40, 83.67, 84.81), (99.01, 99.10, 99.15), (66.74, 69.91, 72.16)),
    "scene": ((63.97, 63.25, 64.55), (87.87, 87.25, 88.03), (46.61, 44.54, 46.24)),
    "yeast": ((58.65, 60.41, 61.19), (78.50, 78.29, 78.77), (8.73, 7.86, 9.18)),
}
# Mean number of JRip's rules a fold, default rules not counted.
PUBLISHED_RULES = {
    "flags": (66.9, 28.6, 12.8),
    "emotions": (71.4, 31.7, 19.6),
    "birds": (92.8, 57.4, 37.5),
    "genbase": (26.8, 24.8, 24.3),
    "scene": (86.4, 46.8, 40.8),
    "yeast": (104.6, 59.0, 36.4),
}


def run_folds(folder: Path, name: str, seeds: int) -> pd.DataFrame:
    """One row a column, seed and fold: the measures in percent, and the number of rules."""
    data = load_mulan(folder / name / f"{name}.arff", folder / name / f"{name}.xml")
    fold = pd.read_csv(folder / name / "folds.csv")["fold"].to_numpy()
    rows = []
    for column, parameters in COLUMNS.items():
        for seed in range(seeds if column != "R1" else 1):  # without pruning nothing is random
            for k in range(1, 11):
                clf = RipperClassifier(random_state=1000 * seed + k, **parameters)
                clf.fit(data.X[fold != k], data.Y[fold != k])
                truth, predicted = data.Y[fold == k].to_numpy(), clf.predict(data.X[fold == k])
                values = {
                    title: 100 * get_measure(measure)(truth, predicted)
                    for title, measure in MEASURES.items()
                }
                place = {"data": name, "column": column, "seed": seed, "fold": k}
                rows.append(place | values | {"rules": len(clf.theory_)})
    return pd.DataFrame(rows)


def summarise(folds: pd.DataFrame) -> pd.DataFrame:
    """One row a data set, column and measure: mean, standard error, deviation of seeds, published."""
    rows = []
    for (name, column), part in folds.groupby(["data", "column"], sort=False):
        position = list(COLUMNS).index(column)
        for m, title in enumerate(MEASURES):
            by_seed = part.groupby("seed")[title]
            published = PUBLISHED[name][m][position]
            error = float((by_seed.std() / np.sqrt(10)).mean())
            rows.append(
                {
                    "data": name,
                    "column": column,
                    "measure": title,
                    "mean": part[title].mean(),
                    "error": error,
                    "seeds_sd": by_seed.mean().std() if len(by_seed) > 1 else 0.0,
                    "published": published,
                    "difference": part[title].mean() - published,
                    "off": abs(part[title].mean() - published) > 2 * error + 0.005,
                }
            )
    return pd.DataFrame(rows)


def print_tables(folds: pd.DataFrame, summary: pd.DataFrame) -> None:
    for title, part in summary.groupby("measure", sort=False):
        print(f"\n| {title} | " + " | ".join(f"{c} | published" for c in COLUMNS) + " |")
        print("|---|" + "---|---|" * len(COLUMNS))
        for name, rows in part.groupby("data", sort=False):
            cells = [
                f"{row['mean']:.2f} ± {row['error']:.2f}{' (!)' if row['off'] else ''}"
                f" | {row['published']:.2f}"
                for _, row in rows.iterrows()
            ]
            print(f"| {name} | " + " | ".join(cells) + " |")
        bias = part.groupby("column")["difference"].mean()
        print("| mean difference | " + " | ".join(f"{bias[c]:+.2f} |" for c in COLUMNS) + " |")

    print("\n| rules a fold | " + " | ".join(f"{c} | JRip" for c in COLUMNS) + " |")
    print("|---|" + "---|---|" * len(COLUMNS))
    rules = folds.groupby(["data", "column"], sort=False)["rules"].mean()
    for name in folds["data"].unique():
        known = PUBLISHED_RULES.get(name, ("", "", ""))
        cells = [f"{rules[name, c]:.1f} | {known[i]}" for i, c in enumerate(COLUMNS)]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(PUBLISHED), help="data sets")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write the values of every fold as CSV")
    arguments = parser.parse_args()
    folder = Path(os.environ["STEELYARD_DATA"])
    folds = pd.concat([run_folds(folder, name, arguments.seeds) for name in arguments.data])
    if arguments.out:
        folds.to_csv(arguments.out, index=False)
    print_tables(folds, summarise(folds))


if __name__ == "__main__":
    main()
