"""How large BOOMER's theories are: rules, votes and conditions, beside boosted rules.

Run:  python benchmarks/boomer_sizes.py DATA/emotions DATA/scene DATA/yeast

Each folder has <name>.arff, <name>.xml and folds.csv; fold 1 is left out. A rule of BOOMER's defaults
votes for every label; `head_type="single"` makes rules that vote for one. Percents are those of the
predictor for each label by itself and, for subset accuracy, of the example-wise one. Needs BOOMER (pip
install mlrl-boomer==0.15.6, Python 3.12). Data sets with nominal attributes cannot be counted.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mlrl.boosting import BoomerClassifier

from boomer_table import ONE_THREAD, frame_to_matrix
from steelyard import BoostedRulesClassifier, import_theory, load_mulan
from steelyard.measures import get_measure


def count(theory: Any) -> str:
    """Bodies, votes and conditions of all bodies as cells of a table."""
    bodies = {scored.body: len(scored.body) for scored in theory}
    per_body = sum(bodies.values()) / len(bodies)
    return f"{len(bodies)} | {len(theory)} | {per_body:.1f} | {sum(bodies.values())}"


def score(measure: str, Y: Any, predicted: Any) -> str:
    return f"{100 * get_measure(measure)(Y, np.asarray(predicted)):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    print(
        "| data set | learner | rules | votes | conditions per rule | conditions | Hamming | subset |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for folder in parser.parse_args().folders:
        name = folder.name
        data = load_mulan(folder / f"{name}.arff", folder / f"{name}.xml")
        is_test = pd.read_csv(folder / "folds.csv").iloc[:, -1].to_numpy() == 1
        X, _ = frame_to_matrix(data.X)
        Y, names = data.Y.to_numpy(), [str(label) for label in data.Y]
        for head in ("auto", "single"):
            options = {"head_type": head, "binary_predictor": "example-wise", **ONE_THREAD}
            clf = BoomerClassifier(random_state=1, **options).fit(X[~is_test], Y[~is_test])
            sizes = count(import_theory(clf, label_names=names))
            subset = score("subset", Y[is_test], clf.predict(X[is_test]))
            clf.set_params(binary_predictor=None)
            hamming = score("hamming", Y[is_test], clf.predict(X[is_test]))
            learner = "BOOMER" if head == "auto" else "BOOMER, one label per rule"
            print(f"| {name} | {learner} | {sizes} | {hamming} | {subset} |", flush=True)
        ours = BoostedRulesClassifier(random_state=0).fit(data.X[~is_test], data.Y[~is_test])
        subset = score("subset", Y[is_test], ours.predict(data.X[is_test]))
        ours.set_params(decode="label-set-votes").fit(data.X[~is_test], data.Y[~is_test])
        hamming = score("hamming", Y[is_test], ours.predict(data.X[is_test]))
        print(f"| {name} | boosted | {count(ours.theory_)} | {hamming} | {subset} |", flush=True)


if __name__ == "__main__":
    main()
