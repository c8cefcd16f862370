"""Speed and memory, ours beside scikit-learn's, in one run on one core.

Prints ratios that should hold on any machine, and seconds that hold on this one. The data sets are
those under STEELYARD_DATA (fold 1 held out); without it the embedded ones.

    python benchmarks/speed.py [--data emotions,scene] [--candidates 300000] [--json speed.json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier

from machine import find_revision, machine_facts
from memory import peak_memory
from steelyard import RuleSetClassifier, load_mulan, load_segments, theory_path
from steelyard.data import read_folds
from steelyard.heuristics import MEstimate
from steelyard.learning.candidates import grow_candidates
from steelyard.learning.settings import ForestSettings
from steelyard.learning.targets import encode_targets
from steelyard.learning.training_table import code_training_table
from steelyard.measures import MEASURES

PAPER_SETS = [
    "flags",
    "emotions",
    "birds",
    "cal500",
    "genbase",
    "yeast",
    "medical",
    "enron",
    "scene",
]
Figures = dict[str, float]
MEASURED = [MEASURES[name] for name in ("f1_micro", "hamming", "subset")]


def load_fold(name: str):
    """Training and test part with fold 1 held out."""
    if name == "segments":
        data = load_segments()
        fold = 1 + np.arange(len(data.X)) % 10
    else:
        folder = Path(os.environ["STEELYARD_DATA"]) / name
        data = load_mulan(folder / f"{name}.arff")
        fold = read_folds(folder / "folds.csv", len(data.X))
    Y = data.Y.to_numpy()
    return data.X[fold != 1], Y[fold != 1], data.X[fold == 1], Y[fold == 1]


def cpu_seconds(function) -> tuple[float, object]:
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def extract_paths(forest: RandomForestClassifier) -> set:
    """Distinct bodies of the leaves that predict class 1, as scikit-learn's users extract them."""
    rules = set()
    for estimator in forest.estimators_:
        tree = estimator.tree_
        stack = [(0, ())]
        while stack:
            node, body = stack.pop()
            left, right = tree.children_left[node], tree.children_right[node]
            if left < 0:
                if body and np.argmax(tree.value[node][0]) == 1:
                    rules.add(frozenset(body))
                continue
            feature, cut = int(tree.feature[node]), float(tree.threshold[node])
            stack.append((left, (*body, (feature, "<", cut))))
            stack.append((right, (*body, (feature, ">=", cut))))
    return rules


def to_float_array(X) -> np.ndarray:
    """What scikit-learn's forests accept: numbers, categories as their codes."""
    columns = {
        name: X[name].cat.codes if isinstance(X[name].dtype, pd.CategoricalDtype) else X[name]
        for name in X
    }
    return np.nan_to_num(pd.DataFrame(columns).to_numpy(dtype=np.float32))


def compare_candidates(names: list[str], n_candidates: int, console: Console) -> Figures:
    ratios = {}
    table = Table("data set", "ours: rules/s", "scikit-learn: rules/s", "ratio", title="Candidates")
    for name in names:
        X, Y, *_ = load_fold(name)
        targets = encode_targets(Y)
        training = code_training_table(X)
        settings = ForestSettings(n_candidates=n_candidates)
        seconds, grown = cpu_seconds(
            lambda t=training, y=targets, s=settings: grow_candidates(t, y.is_target, s, 0, 1)
        )
        ours = sum(len(found.table) for found in grown) / seconds
        array = to_float_array(X)
        # scikit-learn gets one pass over the labels too, over every third one of cal500: trees of a
        # frequent label have more leaves, so its rate depends on which labels these are.
        sizes = targets.is_target.sum(axis=1)
        learnable = [i for i in np.argsort(sizes) if 0 < sizes[i] < targets.is_target.shape[1]]
        labels = learnable[:: 1 + len(learnable) // 60]

        def grow(array=array, targets=targets, labels=labels) -> int:
            found = 0
            for i in labels:
                rules: set = set()
                for depth in (None, *range(1, 9)):
                    forest = RandomForestClassifier(
                        10,
                        criterion="entropy",
                        max_depth=depth,
                        max_features="log2",
                        random_state=0,
                    )
                    rules |= extract_paths(forest.fit(array, targets.is_target[i]))
                found += len(rules)
            return found

        seconds, found = cpu_seconds(grow)
        theirs = found / seconds
        ratios[name] = ours / theirs
        table.add_row(name, f"{ours:,.0f}", f"{theirs:,.0f}", f"{ours / theirs:.1f}")
    console.print(table)
    return ratios


def time_grids(names: list[str], n_candidates: int, console: Console) -> Figures:
    title = f"400 theories of one fold, {n_candidates:,} candidates"
    table = Table("data set", "CPU seconds", title=title)
    taken = {}
    for name in names:
        X, Y, X_test, Y_test = load_fold(name)

        def run(X=X, Y=Y, X_test=X_test, Y_test=Y_test):
            path = theory_path(
                X, Y, preset="paper", n_candidates=n_candidates, random_state=0, n_jobs=1
            )
            return path.evaluate(X_test, Y_test, MEASURED)

        taken[name], _ = cpu_seconds(run)
        table.add_row(name, f"{taken[name]:.1f}")
    table.add_row("together", f"{sum(taken.values()):.1f}")
    console.print(table)
    return taken


def compare_prediction(name: str, console: Console) -> Figures:
    X, Y, *_ = load_fold(name)
    theory = theory_path(
        X, Y, [MEstimate(m=32)], preset="paper", n_candidates=30_000, random_state=0
    ).theory(0, 1.0)
    rows = np.random.default_rng(0).integers(len(X), size=100_000)
    noise = np.random.default_rng(1).normal(1, 0.01, size=(len(rows), X.shape[1]))
    table = X.to_numpy(dtype=np.float64)[rows] * noise
    forest = RandomForestClassifier(100, random_state=0, n_jobs=1).fit(X.to_numpy(), Y)
    theory.predict(table[:1000])
    ours, _ = cpu_seconds(lambda: theory.predict(table))
    theirs, _ = cpu_seconds(lambda: forest.predict(table))
    console.print(
        f"Prediction, {name}, 100,000 rows: {len(theory)} rules {ours:.2f} s, "
        f"forest of 100 trees {theirs:.2f} s, ratio {theirs / ours:.1f}"
    )
    return {name: theirs / ours}


def measure_memory(names: list[str], n_candidates: int, console: Console) -> Figures:
    peaks = {}
    for name in names:
        run = subprocess.run(
            [sys.executable, __file__, "--fit-only", name, "--candidates", str(n_candidates)],
            check=True,
            capture_output=True,
            text=True,
        )
        peaks[name] = float(run.stdout)
        console.print(f"Peak memory of fitting {name}: {peaks[name]:.2f} GB")
    return peaks


def time_first_fit(console: Console) -> Figures:
    """Import, and the first fit of a process on a small data set, in CPU seconds."""
    code = (
        "import time; t = time.process_time(); "
        "from steelyard import RuleSetClassifier, make_planted_rules; i = time.process_time() - t; "
        "d = make_planted_rules(300, random_state=0); t = time.process_time(); "
        "RuleSetClassifier(preset='paper', n_candidates=5000, random_state=0).fit(d.X, d.Y); "
        "print(i, time.process_time() - t)"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    imported, fitted = map(float, run.stdout.split())
    console.print(f"import {imported:.1f} s, first fit {fitted:.1f} s of CPU time")
    return {"import": imported, "first fit": fitted}


def main() -> None:
    has_paper_data = "STEELYARD_DATA" in os.environ
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=",".join(PAPER_SETS) if has_paper_data else "segments")
    parser.add_argument("--candidates", type=int, default=300_000)
    parser.add_argument("--json", type=Path, help="file to write")
    parser.add_argument("--fit-only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit_only:
        X, Y, *_ = load_fold(arguments.fit_only)
        RuleSetClassifier(preset="paper", n_candidates=arguments.candidates, random_state=0).fit(
            X, Y
        )
        print(peak_memory())
        return
    console = Console()
    names = arguments.data.split(",")
    in_memory = ["scene", "yeast"] if has_paper_data else names
    n_candidates = arguments.candidates
    figures = {
        "ratio of candidates per second": compare_candidates(
            names, min(n_candidates, 75_000), console
        ),
        "CPU seconds of 400 theories": time_grids(names, n_candidates, console),
        "ratio of predictions per second": compare_prediction(
            "yeast" if has_paper_data else "segments", console
        ),
        "peak memory in GB": measure_memory(in_memory, n_candidates, console),
        "CPU seconds of a new process": time_first_fit(console),
    }
    if arguments.json:
        facts = {"revision": find_revision(), "machine": machine_facts()}
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(facts | figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
