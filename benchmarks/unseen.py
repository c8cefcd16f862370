"""Are the counts beside rules honest? Precision on training examples, on unseen ones, and on a test set.

    python benchmarks/unseen.py --data DATA [emotions yeast ...] [--folds 0,1,2] [--out-of-bag]
        [--without-fold 1] [--least-similarity 0,0.05] [--least-covered 5]

DATA has one folder per data set with <name>.arff and <name>.xml. Of three folds, one is the test set;
with --without-fold, they are folds of the training set of this fold of folds.csv.
Each line gives the precision of all rules of a theory together (rules weighted by what they cover) on
the training set, by `held_out`, and on the test set; then the mean distance of training and unseen
precision from test precision, over the rules that cover at least ten test examples, and the share of
the rules that have a count. With --out-of-bag, rule sets are counted outside the bags of their trees
alone, without repeating the selection.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from steelyard import BoostedRulesClassifier, MultiLabelData, RuleSetClassifier, Theory, load_mulan
from steelyard.learning import held_out
from steelyard.learning.held_out import HeldOutCounter, count_outside_bags
from steelyard.model.coverage import order_bits

METHODS: dict[str, Any] = {
    "paper": RuleSetClassifier(preset="paper", random_state=0),
    "short": RuleSetClassifier(preset="short", random_state=0),
    "boosted": BoostedRulesClassifier(random_state=0),
}


def count_out_of_bag(
    self: HeldOutCounter, candidates: Any, is_target: Any, selected: Any, _: Any
) -> Any:
    """The counts of selected rules outside the bags of their trees."""
    bags = (self.bags.order, self.settings.bag_size(len(is_target)))
    seeds = self.bags.seeds[candidates.position[selected]]
    covered = candidates.rows.take(selected)
    return count_outside_bags(covered, order_bits(is_target), self.group_of_row, *bags, seeds)


def compare_precisions(theory: Theory, X: Any, Y: Any, least_covered: int) -> dict[str, Any]:
    """Precision of a theory's rules by each of its counts and on a test set."""
    evidence = {
        "training": [scored.evidence for scored in theory],
        "unseen": [scored.held_out for scored in theory],
        "test": [scored.evidence for scored in theory.recount(X, Y)],
    }
    counts = {
        name: np.array([(e.tp, e.covered) if e else (0, 0) for e in found], dtype=float)
        for name, found in evidence.items()
    }
    row: dict[str, Any] = {"n_rules": len(theory)}
    for name, pair in counts.items():
        row[name] = round(pair[:, 0].sum() / pair[:, 1].sum(), 3)
    row["counted"] = round(float((counts["unseen"][:, 1] > 0).mean()), 3)
    is_judged = (counts["test"][:, 1] >= least_covered) & (counts["unseen"][:, 1] > 0)
    precision = {name: p[is_judged, 0] / p[is_judged, 1] for name, p in counts.items()}
    for name in ("training", "unseen"):
        distance = np.abs(precision[name] - precision["test"])
        row[f"{name}_distance"] = round(float(distance.mean()), 3)
    return row


def run_fold(
    data: MultiLabelData, rows: Any, model: Any, fold: int, least_covered: int
) -> dict[str, Any]:
    """Fit on two of three folds of some rows, compare on the third."""
    splits = list(KFold(3, shuffle=True, random_state=0).split(rows))
    train, test = (rows[part] for part in splits[fold])
    X = data.X.iloc if hasattr(data.X, "iloc") else data.X
    varies = [name for name in data.Y if data.Y[name].iloc[train].nunique() == 2]
    Y = data.Y[varies]
    theory = model.fit(X[train], Y.iloc[train]).theory_
    return compare_precisions(theory, X[test], Y.iloc[test], least_covered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["emotions", "yeast", "scene"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--folds", default="0,1,2")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--out-of-bag", action="store_true")
    parser.add_argument("--without-fold", type=int)
    parser.add_argument("--least-similarity", default=str(held_out.LEAST_SIMILARITY))
    parser.add_argument("--least-covered", type=int, default=10)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.out_of_bag:
        HeldOutCounter.count = count_out_of_bag  # type: ignore[method-assign]
    for name in args.names:
        arff = args.data / name / f"{name}.arff"
        data = load_mulan(arff, constant_labels="drop", on_unsupported="drop")
        rows = np.arange(len(data.Y))
        if args.without_fold is not None:
            folds = pd.read_csv(arff.parent / "folds.csv").iloc[:, -1].to_numpy()
            rows = np.flatnonzero(folds != args.without_fold)
        for method in args.methods.split(","):
            for fold in map(int, args.folds.split(",")):
                for least in map(float, args.least_similarity.split(",")):
                    held_out.LEAST_SIMILARITY = least
                    row = run_fold(data, rows, METHODS[method], fold, args.least_covered)
                    about = {"data": name, "method": method, "fold": fold, "least": least}
                    print(json.dumps(about | row), flush=True)


if __name__ == "__main__":
    main()
