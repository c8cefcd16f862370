"""How the tuning of short chooses: sources, smoothing and tolerance on noisy data with frequent labels.

    python benchmarks/choosing.py MORE [--data chd49,patients,...] [--parts 0,1,2]

MORE is a folder with the folder of chd49: the training sets of three of its folds are each split into
three parts. The other data sets, which scikit-learn or planted rules give, are split into three parts
as they are. Each part is tested once, after tuning by five folds of the other two. The table has means
over parts, then over data sets.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from steelyard import (
    RipperClassifier,
    RuleSetClassifierCV,
    load_mulan,
    load_patients,
    load_segments,
    make_planted_rules,
)
from steelyard.learning.tuning import choose_cell, smooth_scores
from steelyard.measures import get_measure
from steelyard.splitting import IterativeStratifiedKFold

MEASURES = ("f1_micro", "hamming", "subset")
NOISY = ("patients", "cancer", "segments", "planted0", "planted1", "planted2")
FOREST, RIPPER = ("forest",), ("ripper",)
# Sources, smoothing, tolerance.
SETTINGS = [
    (FOREST, False, 0.5),
    (FOREST, False, 1.0),
    (FOREST, True, 0.5),
    (RIPPER, False, 0.5),
    (FOREST + RIPPER, False, 0.5),
    (FOREST + RIPPER, False, 1.0),
    (FOREST + RIPPER, True, 0.0),
    (FOREST + RIPPER, True, 0.25),
    (FOREST + RIPPER, True, 0.5),
]
Table = pd.DataFrame


def flip(Y: Table, share: float, random: np.random.Generator) -> Table:
    return (Y ^ (random.random(Y.shape) < share)).astype(np.int8)


def load_cancer() -> tuple[Table, Table]:
    """Attributes of tumours; labels are whether their worst values are large, and malignancy."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    worst = X.filter(like="worst")
    shares = zip(worst.columns[[1, 4, 5, 8, 9]], (0.5, 0.4, 0.6, 0.7, 0.55), strict=True)
    Y = pd.DataFrame({name: worst[name] > worst[name].quantile(q) for name, q in shares})
    Y = Y.astype(np.int8).assign(malignant=(1 - y).astype(np.int8))
    attributes = X.filter(like="mean").join(X.filter(like="error"))
    return attributes, flip(Y, 0.1, np.random.default_rng(1))


def load_noisy(name: str) -> tuple[Table, Table]:
    if name == "patients":
        data = load_patients()
        return data.X, data.Y
    if name == "cancer":
        return load_cancer()
    if name == "segments":
        data, random = load_segments(), np.random.default_rng(0)
        rows = random.choice(len(data.X), 500, replace=False)
        X, Y = (part.iloc[rows].reset_index(drop=True) for part in (data.X, data.Y))
        return X, flip(Y, 0.15, random)
    seed = int(name[-1])
    options = {"n_rules_per_label": 3, "noise": (0.1, 0.2, 0.3)[seed], "random_state": seed}
    planted = make_planted_rules(500, 6, **options)
    return planted.X, planted.Y


def list_parts(more: Path, name: str, parts: list[int]) -> Iterator[tuple[Table, ...]]:
    """Attributes and labels to learn from, and those to test on."""
    if name in NOISY:
        X, Y = load_noisy(name)
        training_sets = {0: np.arange(len(X))}
    else:
        data = load_mulan(more / name / f"{name}.arff", more / name / f"{name}.xml")
        fold = pd.read_csv(more / name / "folds.csv").iloc[:, -1].to_numpy()
        X, Y = data.X, data.Y
        training_sets = {k: np.flatnonzero(fold != k) for k in (1, 2, 3)}
    for k, rows in training_sets.items():
        splitter = IterativeStratifiedKFold(3, random_state=1000 + k)
        splits = list(splitter.split(np.zeros((len(rows), 1)), Y.iloc[rows]))
        for part in parts:
            yield tuple(
                table.iloc[rows[idx]].reset_index(drop=True)
                for idx in splits[part]
                for table in (X, Y)
            )


def test_all_cells(search: Any, X: Table, Y: Table, X_test: Table, Y_test: Table) -> Any:
    """Values of every cell on the test part, shape (n_measures, n_cells), and its conditions."""
    values, sizes = [], []
    measures = [get_measure(name) for name in MEASURES]
    for model in search.models():
        path = model._learn_path(*model._read_training_set(X, Y), *search.axes.values())
        for decoder in search.decoders:
            found = path.evaluate(X_test, Y_test, measures, decoder)
            values.append([found[name].ravel() for name in MEASURES])
            sizes.append(path.total_conditions.ravel())
    return np.concatenate(values, axis=1), np.concatenate(sizes)


def judge_part(X: Table, Y: Table, X_test: Table, Y_test: Table) -> NDArray[np.float64]:
    """Value and conditions of Ripper and of each setting, shape (1 + n_settings, n_measures, 2)."""
    search = RuleSetClassifierCV(preset="short", random_state=0)._plan(0)
    splitter = IterativeStratifiedKFold(5, random_state=0)
    splits = list(splitter.split(np.zeros((len(X), 1)), Y))
    folds = search.score_folds(X, Y, splits, MEASURES)
    n_conditions = np.mean([fold.n_conditions for fold in folds], axis=0)
    source = np.array([cell["source"] for cell in search.cells()])
    shape = [len(values) for values in search.axes.values()]
    values, sizes = test_all_cells(search, X, Y, X_test, Y_test)
    theory = RipperClassifier(random_state=0).fit(X, Y).theory_
    predicted = theory.predict(X_test).to_numpy()
    rows = [[(get_measure(m)(Y_test.to_numpy(), predicted), theory.n_conditions) for m in MEASURES]]
    for sources, is_smooth, tolerance in SETTINGS:
        among = np.flatnonzero(np.isin(source, sources))
        row = []
        for i in range(len(MEASURES)):
            scores = np.array([fold.scores[i][among] for fold in folds])
            scores = smooth_scores(scores, shape) if is_smooth else scores
            cell = among[choose_cell(scores, n_conditions[among], tolerance)]
            row.append((values[i, cell], sizes[cell]))
        rows.append(row)
    return np.array(rows, dtype=np.float64)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("more", type=Path)
    parser.add_argument("--data", default=",".join(("chd49", *NOISY)))
    parser.add_argument("--parts", default="0,1,2")
    arguments = parser.parse_args()
    parts = list(map(int, arguments.parts.split(",")))
    of_data = [
        np.mean([judge_part(*split) for split in list_parts(arguments.more, name, parts)], axis=0)
        for name in arguments.data.split(",")
    ]
    names = ["Ripper (R3)"] + [
        f"{' and '.join(sources)}, {'smooth, ' * is_smooth}tolerance {tolerance:g}"
        for sources, is_smooth, tolerance in SETTINGS
    ]
    print("| | F1 | Hamming | subset | conditions (F1, Hamming, subset) |")
    print("|---|---:|---:|---:|---|")
    for name, row in zip(names, np.mean(of_data, axis=0), strict=True):
        values = " | ".join(f"{100 * value:.2f}" for value in row[:, 0])
        print(f"| {name} | {values} | {', '.join(f'{size:.0f}' for size in row[:, 1])} |")


if __name__ == "__main__":
    main()
