"""Settings of boosted rules, compared by cross-validation inside a training set.

Run:  python benchmarks/boosted_settings.py segments DATA/scene --settings max_labels_per_rule=3
      [--folds 0,1] [--seeds 0]

`digits` are scikit-learn's images with properties of the number as labels: even, from 5 on, with a loop,
prime, a square, a multiple of 3. `digits+0.1` has a tenth of the labels turned. Both and `segments` have
no folds; of other data, fold 1 of `folds.csv` is left out. The other examples are split into five folds
of our own (at most 2,600 examples, drawn at random). Each line shows percents with fixed decoders,
subset accuracy also with label sets of training examples only (known), the mean negative log-likelihood
per label and example times 1,000, the size of the theory, and the CPU seconds of a fit.
"""

from __future__ import annotations

import argparse
import ast
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from steelyard import BoostedRulesClassifier, load_mulan, load_segments
from steelyard.measures import get_measure
from steelyard.model.decoders import BestLabelSet, EachLabel, LabelSetVotes
from steelyard.splitting import IterativeStratifiedKFold

MOST_ROWS = 2_600
DECODED = {
    "hamming": ("hamming", LabelSetVotes(0.5)),
    "subset": ("subset", BestLabelSet()),
    "known": ("subset", BestLabelSet(new_sets=False)),
    "f1_micro": ("f1_micro", LabelSetVotes(0.35)),
}


def load_digit_properties() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Images of digits with properties of the number as labels."""
    X, number = load_digits(return_X_y=True, as_frame=True)
    labels = {
        "even": number % 2 == 0,
        "from 5 on": number >= 5,
        "loop": number.isin([0, 6, 8, 9]),
        "prime": number.isin([2, 3, 5, 7]),
        "square": number.isin([0, 1, 4, 9]),
        "multiple of 3": number % 3 == 0,
    }
    return X, pd.DataFrame(labels).astype(int)


def load_training_part(source: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Attributes and labels of a data set without its first fold, if it has folds."""
    source, _, noise = source.partition("+")
    if source == "segments":
        data = load_segments()
        X, Y = data.X, data.Y
    elif source == "digits":
        X, Y = load_digit_properties()
    else:
        folder = Path(source)
        data = load_mulan(folder / f"{folder.name}.arff", folder / f"{folder.name}.xml")
        fold = pd.read_csv(folder / "folds.csv").iloc[:, -1].to_numpy()
        X, Y = data.X[fold != 1], data.Y[fold != 1]
    if noise:
        Y ^= (np.random.default_rng(5).random(Y.shape) < float(noise)).astype(int)
    keep = np.arange(len(X))
    if len(X) > MOST_ROWS:
        keep = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    return X.iloc[keep].reset_index(drop=True), Y.iloc[keep].reset_index(drop=True)


def test_fold(X: Any, Y: Any, train: Any, test: Any, **parameters: Any) -> dict[str, float]:
    """What a theory that is learned on some rows reaches on others."""
    model = BoostedRulesClassifier(**parameters)
    start = time.process_time()
    path = model._learn_path(*model._read_training_set(X.iloc[train], Y.iloc[train]), [model.m])
    seconds = time.process_time() - start
    theory = path.theory(decoder=EachLabel())
    is_present = Y.iloc[test].to_numpy().astype(bool)
    scores = theory.evaluate(X.iloc[test]).scores
    row = {}
    for name, (measure, decoder) in DECODED.items():
        decoded = decoder.fit(path.label_sets).decode(scores, path.combiner)
        row[name] = 100 * get_measure(measure)(is_present, decoded.is_present)
    p = np.clip(1 / (1 + np.exp(-scores / 100)), 1e-4, 1 - 1e-4)
    row["loss"] = -1000 * np.log(np.where(is_present, p, 1 - p)).mean()
    row["bodies"] = theory.n_bodies
    row["rules"] = len(theory)
    row["conditions"] = theory.n_conditions / max(1, len(theory))
    return row | {"seconds": seconds}


def read_settings(text: str) -> dict[str, Any]:
    """Parameters from ``name=value,name=value``."""
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(pair.arg): ast.literal_eval(pair.value) for pair in call.keywords}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--settings", action="append", default=[""])
    parser.add_argument("--folds", default="0,1")
    parser.add_argument("--seeds", default="0")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for source in arguments.sources:
        X, Y = load_training_part(source)
        splits = list(IterativeStratifiedKFold(5, random_state=77).split(np.zeros((len(X), 1)), Y))
        for settings in arguments.settings:
            rows = [
                test_fold(X, Y, *splits[int(k)], random_state=int(s), **read_settings(settings))
                for s in arguments.seeds.split(",")
                for k in arguments.folds.split(",")
            ]
            means = pd.DataFrame(rows).mean()
            numbers = "  ".join(f"{name} {value:.2f}" for name, value in means.items())
            print(f"{Path(source).name:10} {settings or 'defaults':24} {numbers}", flush=True)


if __name__ == "__main__":
    main()
