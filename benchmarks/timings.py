"""CPU seconds of named pieces of work, as JSON with facts about the machine.

It uses public names only, so that it measures older revisions too; what a revision lacks is left out.

    python benchmarks/timings.py [--json timings.json] [--only fit] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import steelyard
from machine import find_revision, machine_facts

Work = Callable[[], Any]
# Work that is shorter than this is repeated.
LEAST_SECONDS = 0.2


def list_work() -> Iterator[tuple[str, Work]]:
    """Name of a piece of work and the function that does it. Each takes about a second or less."""
    planted = steelyard.make_planted_rules(1500, noise=0.05, random_state=0)
    segments = steelyard.load_segments()
    data = {"planted": (planted.X, planted.Y), "segments": (segments.X, segments.Y)}
    theory = None
    for name, (X, Y) in data.items():
        for kind, estimator in list_estimators().items():
            yield f"fit {kind} {name}", lambda e=estimator, X=X, Y=Y: e.fit(X, Y)
            if name == "segments":
                theory = theory or estimator.fit(X, Y).theory_
    path = steelyard.theory_path(planted.X, planted.Y, n_candidates=5_000, random_state=0)
    measures = [steelyard.measures.MEASURES[m] for m in ("f1_micro", "hamming", "subset")]
    yield "path planted", lambda: steelyard.theory_path(planted.X, planted.Y, n_candidates=5_000)
    Y = np.asarray(planted.Y)
    yield "evaluate 400 theories", lambda: path.evaluate(planted.X, Y, measures)
    rows = np.random.default_rng(0).integers(len(segments.X), size=50_000)
    table = segments.X.to_numpy(dtype=np.float64)[rows]
    yield "predict 50,000 rows", lambda: theory.predict(table)
    yield "explain 20 rows", lambda: [str(theory.explain(row)) for row in table[:20]]
    yield "read JSON", lambda: steelyard.Theory.from_json(theory.to_json())
    yield "write SQL", theory.to_sql


def list_estimators() -> dict[str, Any]:
    """What is fitted, small enough for a second each."""
    forest = {"n_candidates": 10_000, "random_state": 0}
    return {
        "paper": steelyard.RuleSetClassifier(preset="paper", **forest),
        "short": steelyard.RuleSetClassifier(preset="short", **forest),
        "boosted": steelyard.BoostedRulesClassifier(max_rules=100, random_state=0),
        "ripper": steelyard.RipperClassifier(random_state=0),
    }


def time_import() -> float:
    """CPU seconds of a process that imports the estimators."""
    code = "import time; from steelyard import RuleSetClassifier; print(time.process_time())"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(run.stdout)


def measure(only: str, n_rounds: int) -> dict[str, float]:
    """The least CPU seconds of some rounds per piece of work: other processes only add to them."""
    seconds: dict[str, float] = {}
    if only in "import":
        seconds["import"] = min(time_import() for _ in range(n_rounds))
    for name, work in list_work():
        if only not in name:
            continue
        seconds[name] = min(time_work(work) for _ in range(n_rounds))
    return {name: round(value, 4) for name, value in seconds.items()}


def time_work(work: Work) -> float:
    """CPU seconds of a piece of work; short ones are repeated, so that no first import counts."""
    taken: list[float] = []
    while not taken or sum(taken) < LEAST_SECONDS:
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="file to write")
    parser.add_argument("--only", default="", help="part of the names to measure")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    result = {
        "steelyard": steelyard.__version__,
        "package": str(Path(steelyard.__file__).parent),
        "revision": find_revision(),
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine_facts(),
        "cpu_seconds": measure(arguments.only, arguments.rounds),
    }
    for name, seconds in result["cpu_seconds"].items():
        print(f"{name:28} {seconds:8.3f} s")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
