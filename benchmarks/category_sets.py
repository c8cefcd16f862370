"""Conditions on sets of categories against those on single ones, by cross-validation.

Few public multi-label data sets have nominal attributes with several categories. So numbers become
categories here: six bins of equal frequency, in an order that has nothing to do with their sizes. The
planted data sets have rules on one category (`single`), rules on half of the categories (`sets`), or
labels that no attribute tells (`noise`).

    python benchmarks/category_sets.py [--more FOLDER] [--mulan FILE.arff ...]
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import KFold

from steelyard import BoostedRulesClassifier, RuleSetClassifier, make_planted_rules
from steelyard.data import load_mulan
from steelyard.measures import MEASURES

N_BINS = 6
LETTERS = list("abcdefgh")


def to_bins(X):
    """All columns as categories."""
    columns = {}
    for name in X:
        values = pd.to_numeric(X[name], errors="coerce")
        if values.nunique() > N_BINS:
            bins = pd.qcut(values.rank(), N_BINS, labels=False, duplicates="drop")
            texts = bins.map(lambda b: "missing" if pd.isna(b) else f"b{int(5 * b + 2) % 7}")
        else:
            texts = X[name].astype(str)
        columns[name] = texts.astype("category")
    return pd.DataFrame(columns)


def plant(n_categories, seed=0, n_rows=400):
    """Four labels by rules on so many of eight categories, with noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"c{j}": rng.choice(LETTERS, n_rows) for j in range(6)})
    X = X.assign(**{f"x{j}": rng.random(n_rows).round(2) for j in range(4)})
    Y = {}
    for label in range(4):
        first, second = rng.choice(6, 2, replace=False)
        sets = [rng.choice(LETTERS, n_categories, replace=False) for _ in range(2)]
        one, other = X[f"c{first}"].isin(sets[0]), X[f"c{second}"].isin(sets[1])
        is_present = one & other if n_categories > 1 else (one & (X["x0"] > 0.3)) | other
        Y[f"y{label}"] = is_present ^ (rng.random(n_rows) < 0.08)
    return X, pd.DataFrame(Y).astype(int)


def list_data(more, mulan):
    for file in [] if more is None else [more / "chd49" / "chd49.arff"]:
        data = load_mulan(file)
        yield "chd49 in bins", to_bins(data.X), data.Y
    for load in (load_wine, load_breast_cancer, load_iris):
        X, y = load(return_X_y=True, as_frame=True)
        yield f"{load.__name__[5:]} in bins", to_bins(X), pd.get_dummies(y).astype(int)
    planted = make_planted_rules(400, noise=0.05, random_state=5)
    yield "planted", planted.X, planted.Y
    yield "single", *plant(1)
    yield "sets", *plant(4)
    noise = np.random.default_rng(3).random((400, 3)) < 0.3
    yield "noise", plant(4, seed=1)[0], pd.DataFrame(noise, columns=list("abc")).astype(int)
    for file in mulan:
        data = load_mulan(file)
        yield file.stem, data.X, data.Y


def evaluate(make, X, Y, n_folds=4, seeds=(0, 1)):
    """Micro F1, Hamming and subset accuracy on held-out folds in per cent, and the number of rules."""
    found = []
    for seed in seeds:
        for train, test in KFold(n_folds, shuffle=True, random_state=seed).split(X):
            clf = make(seed).fit(X.iloc[train], Y.iloc[train].rename(columns=str))
            predicted = clf.predict(X.iloc[test])
            measured = [
                MEASURES[m](Y.iloc[test], predicted) for m in ("f1_micro", "hamming", "subset")
            ]
            found.append([*(100 * value for value in measured), len(clf.theory_)])
    return np.mean(found, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--more", type=Path, help="a folder with the data set chd49")
    parser.add_argument("--mulan", type=Path, nargs="*", default=[], help="ARFF files to test on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, X, Y in list_data(options.more, options.mulan):
        for method in ("short", "boosted"):
            for sets in (False, True):

                def make(seed, sets=sets, method=method):
                    if method == "boosted":
                        return BoostedRulesClassifier(
                            max_rules=100, category_sets=sets, random_state=seed
                        )
                    return RuleSetClassifier(
                        preset="short", n_candidates=5000, category_sets=sets, random_state=seed
                    )

                row = " ".join(f"{value:6.1f}" for value in evaluate(make, X, Y))
                print(f"{name:22} {method:8} {'in' if sets else '=':3} {row}", flush=True)


if __name__ == "__main__":
    main()
