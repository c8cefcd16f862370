"""Tuned boosted rules with two settings, on folds inside training sets.

    python benchmarks/tuned_settings.py MORE/chd49 diabetes patients segments digits \
        --before "phis=[1.0]" [--after ""] [--seeds 0,1]

The settings are parameters of BoostedRulesClassifierCV. Data sets are those of boosted_settings.py,
`diabetes` of rule_lengths.py, and `patients`, which steelyard has; `patients+0.1` and the like have a
tenth of their labels turned. Each of five folds of our own is tested once, after tuning by five folds of
the others. The table has percents and the numbers of bodies and of rules, each before and after, and
then the differences with their standard errors over all tunings.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from boosted_settings import load_training_part, read_settings
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


def compare(source: str, k: int, seed: int, settings: list[str]) -> NDArray[np.float64]:
    """Percents of each measure and mean numbers of bodies and rules, of each of the settings."""
    warnings.simplefilter("ignore")
    X, Y = load(source)
    splits = list(IterativeStratifiedKFold(5, random_state=77).split(np.zeros((len(X), 1)), Y))
    train, test = splits[k]
    seen = [table.iloc[train].reset_index(drop=True) for table in (X, Y)]
    values = np.zeros((len(MEASURES) + 2, len(settings)))
    for j, text in enumerate(settings):
        estimator = BoostedRulesClassifierCV(random_state=seed, **read_settings(text))
        tuning = NestedTuning(estimator, *seen, seed, MEASURES)
        for i, measure in enumerate(MEASURES):
            theory, _ = tuning.learn(tuning.choose(measure))
            predicted = theory.predict(X.iloc[test]).to_numpy()
            values[i, j] = 100 * get_measure(measure)(Y.iloc[test].to_numpy(), predicted)
            values[-2, j] += theory.n_bodies / len(MEASURES)
            values[-1, j] += len(theory) / len(MEASURES)
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--folds", default="0,1,2,3,4")
    parser.add_argument("--before", default="")
    parser.add_argument("--after", default="")
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    folds = [int(k) for k in arguments.folds.split(",")]
    tunings = [(k, int(seed)) for seed in arguments.seeds.split(",") for k in folds]
    differences = []
    settings = [arguments.before, arguments.after]
    print("| | F1 | Hamming | subset | bodies | rules |\n|---|---:|---:|---:|---:|---:|")
    for source in arguments.sources:
        calls = (delayed(compare)(source, *pair, settings) for pair in tunings)
        values = np.array(Parallel(n_jobs=arguments.jobs)(calls))
        means = values.mean(axis=0)
        cells = [f"{before:.2f} → {after:.2f}" for before, after in means[:-2]]
        cells += [f"{before:.0f} → {after:.0f}" for before, after in means[-2:]]
        print(f"| {Path(source).name} | {' | '.join(cells)} |", flush=True)
        differences.append(values[:, :-2, 1] - values[:, :-2, 0])
    gain = np.mean([difference.mean(axis=0) for difference in differences], axis=0)
    every = np.concatenate(differences)
    error = every.std(axis=0, ddof=1) / np.sqrt(len(every))
    pairs = zip(MEASURES, gain, error, strict=True)
    print(f"\nmean over data sets, {len(every)} tunings: ", end="")
    print(", ".join(f"{name} {mean:+.2f} ± {se:.2f}" for name, mean, se in pairs))


if __name__ == "__main__":
    main()
