"""Can one use the probabilities? Brier score and calibration error beside a calibrated random forest.

    python benchmarks/probabilities.py --data DATA [emotions yeast ...] [--folds 0,1,2] [--methods ...]

DATA has one folder per data set with <name>.arff and <name>.xml. Of three folds, one is the test set.
Each line is one method on one fold: measures in percent, and CPU seconds of the fit. The forest is
``CalibratedClassifierCV(RandomForestClassifier(100), cv=3)`` of scikit-learn for each label by itself; a
label with fewer than three examples of one kind gets its share of the training examples. With --table,
the lines that are read from standard input become a table of means. With --without-fold 1, the rows of
the first fold of <name>/folds.csv are left out: to choose settings inside a training set.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold
from sklearn.preprocessing import OrdinalEncoder

from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    RuleSetClassifierCV,
    load_mulan,
)
from steelyard.data import read_folds
from steelyard.measures import MEASURES, SCORE_MEASURES

NAMES = ["flags", "emotions", "birds", "genbase", "yeast", "medical", "scene", "enron", "cal500"]
LABELS = ("f1_micro", "hamming", "subset", "f1_macro", "f1_examples")
SCORES = ("brier", "ece", "auc_micro", "ranking_loss")
Rows = list[tuple[str, Any, Any]]


def fit_forest(X: Any, Y: pd.DataFrame, X_test: Any) -> Rows:
    """A calibrated forest for each label."""
    if isinstance(X, pd.DataFrame):
        nominal = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        both = [part.copy() for part in (X, X_test)]
        if nominal:
            both[0][nominal] = encoder.fit_transform(X[nominal])
            both[1][nominal] = encoder.transform(X_test[nominal])
        X, X_test = (part.astype(float).fillna(-1).to_numpy() for part in both)
    probability = np.empty((X_test.shape[0], Y.shape[1]))
    for j, name in enumerate(Y):
        y = Y[name].to_numpy()
        if min(y.sum(), (1 - y).sum()) < 3:
            probability[:, j] = y.mean()
            continue
        forest = CalibratedClassifierCV(RandomForestClassifier(100, random_state=0), cv=3)
        probability[:, j] = forest.fit(X, y).predict_proba(X_test)[:, 1]
    return [("forest, calibrated", probability, probability > 0.5)]


def fit_plain(X: Any, Y: pd.DataFrame, X_test: Any) -> Rows:
    """Boosted rules with the default decoder, calibrated by inner folds, and the same without."""
    clf = BoostedRulesClassifier(calibrate=True, random_state=0).fit(X, Y)
    bare = BoostedRulesClassifier(random_state=0).fit(X, Y)
    return [_predict("boosted", bare, X_test), _predict("boosted, calibrated", clf, X_test)]


def fit_boosted(X: Any, Y: pd.DataFrame, X_test: Any) -> Rows:
    """Boosted rules tuned for micro F1, which chooses among calibrated theories, and without."""
    rows = []
    for calibrate in (False, True):
        clf = BoostedRulesClassifierCV(calibrate=calibrate, random_state=0).fit(X, Y)
        rows.append(_predict("boosted CV" + ", calibrated" * calibrate, clf, X_test))
    return rows


def fit_each_label(X: Any, Y: pd.DataFrame, X_test: Any) -> Rows:
    """Calibrated boosted rules that predict each label by itself, so that no label sets vote."""
    clf = BoostedRulesClassifierCV(decode="each-label", random_state=0).fit(X, Y)
    return [_predict("boosted CV, each label, calibrated", clf, X_test)]


def fit_brier(X: Any, Y: pd.DataFrame, X_test: Any) -> Rows:
    """Calibrated boosted rules tuned for the Brier score, of 333 and of 999 rules."""
    rows = []
    for max_rules in (333, 999):
        clf = BoostedRulesClassifierCV("brier", max_rules=max_rules, random_state=0).fit(X, Y)
        rows.append(_predict(f"boosted CV for brier, {max_rules} rules", clf, X_test))
    return rows


def fit_sharing(X: Any, Y: pd.DataFrame, X_test: Any) -> Rows:
    """The same if bodies that vote for all labels are tried, too."""
    rows = []
    for max_rules in (333, 999):
        options = {"max_rules": max_rules, "max_labels_per_rule": [1, None], "random_state": 0}
        clf = BoostedRulesClassifierCV("brier", **options).fit(X, Y)
        rows.append(_predict(f"boosted CV for brier, {max_rules} bodies", clf, X_test))
    return rows


def fit_macro(X: Any, Y: pd.DataFrame, X_test: Any) -> Rows:
    """Boosted rules tuned for macro F1, with thresholds per label, and for example-based F1."""
    rows = []
    for scoring in ("f1_macro", "f1_examples"):
        for calibrate in (False, True):
            clf = BoostedRulesClassifierCV(scoring, calibrate=calibrate, random_state=0).fit(X, Y)
            name = f"boosted CV for {scoring}" + ", calibrated" * calibrate
            rows.append(_predict(name, clf, X_test))
    return rows


def fit_rule_set(X: Any, Y: pd.DataFrame, X_test: Any) -> Rows:
    """Rule sets tuned for micro F1; the same theory without its calibration."""
    clf = RuleSetClassifierCV(calibrate=True, random_state=0).fit(X, Y)
    cell = (clf.best_heuristic_, clf.best_phi_)
    bare = clf.path_.theory(*cell, decoder=clf.best_params_["decode"])
    kind = "decide" if bare.combiner.calibrated_alike else "label sets"
    named = f"rule set CV ({kind})"
    return [_predict(named, bare, X_test), _predict(f"{named}, calibrated", clf, X_test)]


METHODS = {
    "boosted": fit_boosted,
    "each-label": fit_each_label,
    "brier": fit_brier,
    "sharing": fit_sharing,
    "plain": fit_plain,
    "rule-set": fit_rule_set,
    "forest": fit_forest,
    "macro": fit_macro,
}


def _predict(name: str, model: Any, X_test: Any) -> tuple[str, Any, Any]:
    return name, model.predict_proba(X_test), np.asarray(model.predict(X_test))


def run_fold(data: Any, method: str, fold: int, rows: Any) -> list[dict[str, Any]]:
    """Fit on two of three folds of some rows, compare on the third."""
    splits = list(KFold(3, shuffle=True, random_state=0).split(rows))
    train, test = (rows[part] for part in splits[fold])
    X = data.X.iloc if hasattr(data.X, "iloc") else data.X
    varies = [name for name in data.Y if data.Y[name].iloc[train].nunique() == 2]
    Y = data.Y[varies]
    begin = time.process_time()
    found = METHODS[method](X[train], Y.iloc[train], X[test])
    seconds = round(time.process_time() - begin, 1)
    truth = Y.iloc[test].to_numpy()
    return [
        {"method": name}
        | {m: round(100 * SCORE_MEASURES[m](truth, probability), 3) for m in SCORES}
        | {m: round(100 * MEASURES[m](truth, predicted), 2) for m in LABELS}
        | {"seconds": seconds}
        for name, probability, predicted in found
    ]


def print_table() -> None:
    """Means over the folds: a table of each measure, data sets by methods."""
    frame = pd.DataFrame(map(json.loads, sys.stdin))
    for measure in (*SCORES, *LABELS):
        table = frame.pivot_table(measure, "data", "method", sort=False)
        table.loc["mean"] = table.mean()
        print(f"\n{measure}\n{table.round(2).to_string()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--folds", default="0,1,2")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--without-fold", type=int)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.table:
        print_table()
        return
    warnings.simplefilter("ignore")
    for method in args.methods.split(","):
        for name in args.names:
            arff = args.data / name / f"{name}.arff"
            data = load_mulan(arff, constant_labels="drop", on_unsupported="drop")
            rows = np.arange(len(data.Y))
            if args.without_fold is not None:
                folds = read_folds(args.data / name / "folds.csv", len(rows))
                rows = np.flatnonzero(folds != args.without_fold)
            for fold in map(int, args.folds.split(",")):
                for row in run_fold(data, method, fold, rows):
                    print(json.dumps({"data": name, "fold": fold} | row), flush=True)


if __name__ == "__main__":
    main()
