"""CPU seconds to train RipperClassifier on all ten folds, beside JRip and wittgenstein in the same run.

    STEELYARD_DATA=... python benchmarks/ripper_speed.py [--weka weka.jar] [--wittgenstein] [data ...]

Ours is the CPU time of `fit`, one process and one thread, after one fit that loads the modules. JRip's
is the CPU time of the thread that trains. Of small data both go through the folds several times, and
the fastest round counts: it is warm and least disturbed by other processes. Java's compiler and garbage
collector have threads of their own and are not counted; neither is Python's garbage collector, which
would spend its time on what was imported. wittgenstein is slow and knows neither multi-label data nor
missing values: it is timed on the first fold alone, with the same labels for us.
"""

import argparse
import gc
import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import pandas as pd

from steelyard import load_mulan
from steelyard.estimators.ripper import RipperClassifier

COLUMNS = {
    "R1": {"prune": False, "optimizations": 0},
    "R2": {"optimizations": 0},
    "R3": {},
}
# Rounds over the folds, of which the fastest counts; where training takes minutes it warms itself.
ROUNDS = {"flags": 30, "emotions": 3, "birds": 2}
HARNESS = Path(__file__).with_name("JRipBench.java")


def read(folder, name):
    data = load_mulan(folder / name / f"{name}.arff", folder / name / f"{name}.xml")
    return data, pd.read_csv(folder / name / "folds.csv")["fold"].to_numpy()


def time_ours(data, fold, n_rounds):
    """CPU seconds of each column."""
    parts = [(data.X[fold != k], data.Y[fold != k]) for k in range(1, 11)]
    RipperClassifier(random_state=0).fit(*parts[0])
    seconds = {}
    gc.disable()
    for column, parameters in COLUMNS.items():
        rounds = []
        for _ in range(n_rounds):
            start = time.process_time()
            for k, (X, Y) in enumerate(parts):
                RipperClassifier(random_state=k, **parameters).fit(X, Y)
            rounds.append(time.process_time() - start)
        seconds[column] = min(rounds)
    gc.enable()
    return seconds


def time_jrip(jar, folder, name, data, n_rounds):
    """CPU seconds of each column, by the harness in Java."""
    with tempfile.TemporaryDirectory() as temporary:
        labels = Path(temporary) / "labels.txt"
        labels.write_text("\n".join(data.label_names) + "\n", encoding="utf-8")
        source = folder / name
        columns = ",".join(COLUMNS)
        arguments = [
            source / f"{name}.arff",
            labels,
            source / "folds.csv",
            columns,
            "1",
            n_rounds,
        ]
        command = ["java", "-XX:+UseSerialGC", "-cp", jar, HARNESS, *arguments]
        output = subprocess.run(
            list(map(str, command)), check=True, capture_output=True, text=True
        ).stdout
    rows = [line.split(",") for line in output.splitlines()]
    return {row[0]: float(row[-1]) for row in rows}


def time_wittgenstein(data, fold):
    """(our CPU seconds, theirs) for R3 on the first fold, over the labels it can learn."""
    from wittgenstein import RIPPER

    X, Y = data.X[fold != 1], data.Y[fold != 1]
    start = time.process_time()
    RipperClassifier(random_state=0).fit(X, Y)
    ours = time.process_time() - start
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label in Y:
            target = Y[label].to_numpy()
            rarer = int(target.mean() < 0.5)
            RIPPER(k=2, random_state=0).fit(X.reset_index(drop=True), target, pos_class=rarer)
    return ours, time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=["flags", "emotions", "birds", "yeast", "scene"])
    parser.add_argument("--weka", type=Path, help="path of a weka.jar to compare with")
    parser.add_argument("--wittgenstein", action="store_true", help="compare with wittgenstein")
    arguments = parser.parse_args()
    folder = Path(os.environ["STEELYARD_DATA"])
    print("| data | column | ours, s | JRip, s | ratio |\n|---|---|---|---|---|")
    loaded = {name: read(folder, name) for name in arguments.data}
    for name, (data, fold) in loaded.items():
        n_rounds = ROUNDS.get(name, 1)
        ours = time_ours(data, fold, n_rounds)
        jrip = time_jrip(arguments.weka, folder, name, data, n_rounds) if arguments.weka else {}
        for column, seconds in ours.items():
            theirs = jrip.get(column)
            cells = "| | |" if theirs is None else f"| {theirs:.3f} | {theirs / seconds:.1f} |"
            print(f"| {name} | {column} | {seconds:.3f} {cells}", flush=True)
    if arguments.wittgenstein:
        print("\n| data, first fold | ours, s | wittgenstein, s | ratio |\n|---|---|---|---|")
        for name, (data, fold) in loaded.items():
            ours, theirs = time_wittgenstein(data, fold)
            print(f"| {name} | {ours:.3f} | {theirs:.1f} | {theirs / ours:.0f} |", flush=True)


if __name__ == "__main__":
    main()
