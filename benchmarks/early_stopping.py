"""Boosted rules that stop early beside all rules, both tuned, on folds inside training sets.

    python benchmarks/early_stopping.py MORE/chd49 diabetes patients segments digits [--seeds 0,1]

Data sets are those of boosted_settings.py, `diabetes` of rule_lengths.py, and `patients`, which
steelyard has; `patients+0.1` and the like have a tenth of their labels turned. Each of five folds of our
own is tested once, after tuning by five folds of the others. The table has percents and the number of
rules, each of all rules and of those that stop early, and then the differences with their standard
errors over all tunings.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from boosted_settings import load_training_part
from nested import NestedTuning
from rule_lengths import load_levels
from steelyard import BoostedRulesClassifierCV, load_patients
from steelyard.measures import get_measure
from steelyard.splitting import IterativeStratifiedKFold

MEASURES = ("f1_micro", "hamming", "subset")


def load(source: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Attributes and labels, some of them turned."""
    name, _, share = source.partition("+")
    if name not in ("diabetes", "patients"):
        return load_training_part(source)
    data = load_patients()
    X, Y = (data.X, data.Y) if name == "patients" else load_levels()
    is_turned = np.random.default_rng(5).random(Y.shape) < float(share or 0)
    return X, (Y.astype(int) ^ is_turned).astype(int)


def compare(source: str, k: int, seed: int, max_rules: int) -> NDArray[np.float64]:
    """Percents of each measure and the mean number of rules, of all rules and of those that stop."""
    warnings.simplefilter("ignore")
    X, Y = load(source)
    splits = list(IterativeStratifiedKFold(5, random_state=77).split(np.zeros((len(X), 1)), Y))
    train, test = splits[k]
    seen = [table.iloc[train].reset_index(drop=True) for table in (X, Y)]
    values = np.zeros((len(MEASURES) + 1, 2))
    for j, phis in enumerate(([1.0], None)):
        estimator = BoostedRulesClassifierCV(phis=phis, max_rules=max_rules, random_state=seed)
        tuning = NestedTuning(estimator, *seen, seed, MEASURES)
        for i, measure in enumerate(MEASURES):
            theory, _ = tuning.learn(tuning.choose(measure))
            predicted = theory.predict(X.iloc[test]).to_numpy()
            values[i, j] = 100 * get_measure(measure)(Y.iloc[test].to_numpy(), predicted)
            values[-1, j] += len(theory) / len(MEASURES)
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--folds", default="0,1,2,3,4")
    parser.add_argument("--max-rules", type=int, default=333)
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    folds = [int(k) for k in arguments.folds.split(",")]
    tunings = [(k, int(seed)) for seed in arguments.seeds.split(",") for k in folds]
    differences = []
    print("| | F1 | Hamming | subset | rules |\n|---|---:|---:|---:|---:|")
    for source in arguments.sources:
        calls = (delayed(compare)(source, *pair, arguments.max_rules) for pair in tunings)
        values = np.array(Parallel(n_jobs=arguments.jobs)(calls))
        *percents, rules = values.mean(axis=0)
        cells = [f"{before:.2f} → {after:.2f}" for before, after in percents]
        cells.append(f"{rules[0]:.0f} → {rules[1]:.0f}")
        print(f"| {Path(source).name} | {' | '.join(cells)} |", flush=True)
        differences.append(values[:, :-1, 1] - values[:, :-1, 0])
    gain = np.mean([difference.mean(axis=0) for difference in differences], axis=0)
    every = np.concatenate(differences)
    error = every.std(axis=0, ddof=1) / np.sqrt(len(every))
    pairs = zip(MEASURES, gain, error, strict=True)
    print(f"\nmean over data sets, {len(every)} tunings: ", end="")
    print(", ".join(f"{name} {mean:+.2f} ± {se:.2f}" for name, mean, se in pairs))


if __name__ == "__main__":
    main()
