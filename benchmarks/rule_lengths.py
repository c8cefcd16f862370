"""Lengths of boosted rules within a budget of conditions, compared inside training sets.

    python benchmarks/rule_lengths.py MORE/chd49 segments diabetes [--lengths 1 2 4 auto] [--folds 0,1,2]

The budget of each fold is what Ripper needs there. `diabetes` is scikit-learn's, with five labels: four
levels of the disease and a large body mass index, which is then no attribute. Other names are those of
boosted_settings.py. The tuned estimator has five inner folds. Each line shows means over folds of our
own, in percent.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from boosted_settings import load_training_part
from steelyard import BoostedRulesClassifierCV, RipperClassifier
from steelyard.measures import get_measure
from steelyard.splitting import IterativeStratifiedKFold

MEASURES = ("f1_micro", "hamming", "subset")


def load_levels() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Patients with diabetes: whether the disease is beyond some levels, and the body mass index."""
    X, level = load_diabetes(return_X_y=True, as_frame=True)
    labels = {f"{share} %": level > np.quantile(level, share / 100) for share in (30, 50, 70, 85)}
    labels["bmi"] = X["bmi"] > 0.02
    return X.drop(columns="bmi"), pd.DataFrame(labels).astype(int)


def compare_lengths(X: Any, Y: Any, train: Any, test: Any, lengths: list[Any], seed: int) -> Any:
    """One row per learner: its measures on the test rows and its size."""
    seen, unseen = (X.iloc[train], Y.iloc[train]), (X.iloc[test], Y.iloc[test].to_numpy())
    ripper = RipperClassifier(random_state=0).fit(*seen)
    budget = ripper.theory_.n_conditions
    for name in ("Ripper", *lengths):
        row: dict[str, Any] = {"learner": str(name), "conditions": budget, "rules": 0.0}
        for measure in MEASURES:
            model: Any = ripper
            if name != "Ripper":
                model = BoostedRulesClassifierCV(
                    measure, max_total_conditions=budget, max_conditions=name, random_state=seed
                ).fit(*seen)
            row[measure] = 100 * get_measure(measure)(
                unseen[1], np.asarray(model.predict(unseen[0]))
            )
            row["rules"] += len(model.theory_) / len(MEASURES)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--lengths", nargs="+", default=["4", "auto"])
    parser.add_argument("--folds", default="0,1,2")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lengths = [int(text) if text.isdigit() else text for text in arguments.lengths]
    for source in arguments.sources:
        X, Y = load_levels() if source == "diabetes" else load_training_part(source)
        splits = list(IterativeStratifiedKFold(5, random_state=7).split(np.zeros((len(X), 1)), Y))
        rows = [
            row
            for k in map(int, arguments.folds.split(","))
            for row in compare_lengths(X, Y, *splits[k], lengths, k)
        ]
        means = pd.DataFrame(rows).groupby("learner").mean().round(2)
        print(f"{Path(source).name}\n{means.to_string()}", flush=True)


if __name__ == "__main__":
    main()
