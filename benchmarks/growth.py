"""How time and memory grow with rows, attributes, labels and candidates: each doubles four times.

    python benchmarks/growth.py [--only rows,labels] [--estimators paper] [--size 0.5] [--repeats 3]

Each fit runs in a process of its own on one core; its CPU time counts, and its peak memory beyond that
of the data. A slope is that of a line through the logarithms: 1 is linear growth. The rows are also
doubled with labels of pure chance, which give the most rules, and predictions with rows and with rules.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from memory import forget_peak, peak_memory
from steelyard import BoostedRulesClassifier, RipperClassifier, RuleSetClassifier
from synthetic import make_noise, make_numbers

# Where the doubling starts, by estimator: large enough to measure, small enough for minutes in all.
START = {"rows": 4_000, "attributes": 10, "labels": 3, "candidates": 20_000}
WHILE_OTHERS_GROW = {"rows": 4_000, "attributes": 20, "labels": 3, "candidates": 1_000}
ESTIMATORS: dict[str, Any] = {
    "paper": lambda n: RuleSetClassifier(preset="paper", n_candidates=n, random_state=0),
    "short": lambda n: RuleSetClassifier(preset="short", n_candidates=n, random_state=0),
    "boosted": lambda _: BoostedRulesClassifier(random_state=0),
    "ripper": lambda _: RipperClassifier(random_state=0),
    # The two kinds of trees of "paper", each alone: which of them grows faster than the rows?
    "shallow": lambda n: RuleSetClassifier(
        preset="paper", max_depths=tuple(range(1, 9)), n_candidates=n, random_state=0
    ),
    "unlimited": lambda n: RuleSetClassifier(
        preset="paper", max_depths=(None,), n_candidates=n, random_state=0
    ),
}
_LEAST_SECONDS = 0.5


def make_data(case: dict[str, Any]) -> tuple[Any, Any]:
    make = make_noise if case["is_noise"] else make_numbers
    return make(case["rows"], case["attributes"], case["labels"])


def measure_fit(case: dict[str, Any]) -> dict[str, float]:
    """CPU seconds and peak memory in MB of one fit, in this process."""
    X, Y = make_data(case)
    model = ESTIMATORS[case["estimator"]](case["candidates"])
    warm = make_numbers(300, case["attributes"], 2)
    ESTIMATORS[case["estimator"]](500).fit(*warm)  # imports and first allocations
    forget_peak()
    before = peak_memory()
    start = time.process_time()
    model.fit(X, Y)
    seconds = time.process_time() - start
    return {"seconds": seconds, "MB": 1024 * (peak_memory() - before)}


def measure_predict(case: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of predicting; the number of rules and of rows to predict grow."""
    X, Y = make_noise(3_000, 20, 1)
    model = RuleSetClassifier(
        preset="paper", n_candidates=2_000, phi=1.0, max_rules=case["rules"], random_state=0
    ).fit(X, Y)
    X, _ = make_noise(case["rows"], 20, 1)
    model.predict(X[:1000])
    start, n_repeats = time.process_time(), 0
    while time.process_time() - start < _LEAST_SECONDS:
        model.predict(X)
        n_repeats += 1
    seconds = (time.process_time() - start) / n_repeats
    return {"seconds": seconds, "rules": float(len(model.theory_))}


def run_alone(case: dict[str, Any], n_repeats: int) -> dict[str, float]:
    """Measure a case in new processes; the fastest counts, since other work only adds to its time."""
    command = [sys.executable, "-W", "ignore", __file__, "--case", json.dumps(case)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(n_repeats)
    ]
    return min(runs, key=lambda run: run["seconds"])


def find_slope(sizes: list[float], values: list[float]) -> float:
    """Slope of the line through the logarithms, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


def list_cases(what: str, estimator: str, n_doublings: int, size: float) -> list[dict[str, Any]]:
    is_noise = what == "rows of noise"
    what = "rows" if is_noise else what
    cases = []
    for step in range(n_doublings + 1):
        case = {"estimator": estimator, "is_noise": is_noise, **WHILE_OTHERS_GROW}
        case[what] = int(START[what] * size) << step
        cases.append(case | {"size": case[what]})
    return cases


def list_predictions(what: str, n_doublings: int) -> list[dict[str, Any]]:
    start = {"rows": 20_000, "rules": 25}
    cases = []
    for step in range(n_doublings + 1):
        case = {"rows": 20_000, "rules": 200}
        case[what] = start[what] << step
        cases.append(case | {"size": case[what]})
    return cases


def show(console: Console, title: str, rows: list[tuple[str, list[Any], list[Any]]]) -> None:
    n = len(rows[0][1])
    table = Table("what doubles", "from", *(f"× {2**i}" for i in range(n)), "slope", title=title)
    for name, sizes, values in rows:
        shown = [f"{value:.3g}" for value in values]
        table.add_row(name, f"{sizes[0]:,}", *shown, f"{find_slope(sizes, values):.2f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="rows,rows of noise,attributes,labels,candidates,predict")
    parser.add_argument("--estimators", default="paper,short,boosted,ripper")
    parser.add_argument("--doublings", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=1, help="fits per size; the fastest counts")
    parser.add_argument(
        "--size", type=float, default=1.0, help="where the doubling starts, times this"
    )
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        case = json.loads(arguments.case)
        warnings.simplefilter("ignore")
        print(json.dumps(measure_predict(case) if "rules" in case else measure_fit(case)))
        return
    console = Console(width=120)
    axes = arguments.only.split(",")
    for estimator in arguments.estimators.split(","):
        rows: dict[str, list[Any]] = {"seconds": [], "MB": []}
        for what in axes:
            if what == "predict" or (what == "candidates" and estimator in ("boosted", "ripper")):
                continue
            cases = list_cases(what, estimator, arguments.doublings, arguments.size)
            found = [run_alone(case, arguments.repeats) for case in cases]
            for unit, lines in rows.items():
                lines.append((what, [case["size"] for case in cases], [f[unit] for f in found]))
        for unit, lines in rows.items():
            if lines:
                name = "CPU seconds" if unit == "seconds" else "peak memory, MB"
                show(console, f"{estimator}: {name} of a fit", lines)
    if "predict" in axes:
        lines = []
        for what in ("rows", "rules"):
            cases = list_predictions(what, arguments.doublings)
            found = [run_alone(case, arguments.repeats) for case in cases]
            sizes = [f["rules"] for f in found] if what == "rules" else [c["size"] for c in cases]
            lines.append((what, sizes, [f["seconds"] for f in found]))
        show(console, "CPU seconds of a prediction", lines)


if __name__ == "__main__":
    main()
