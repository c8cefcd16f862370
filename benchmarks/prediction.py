"""CPU seconds of a prediction beside a forest of 100 trees, one core each.

    OPENBLAS_NUM_THREADS=1 python benchmarks/prediction.py [--rows 20000] DATA/emotions DATA/medical ...

Each folder has <name>.arff and <name>.xml. The rows are drawn from the data set; numbers that are not
binary get noise of 1 %. Rule sets have at most 500 rules. The least of several runs counts. Without the
variable, the threads of the linear algebra, which wait for work, count as well.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier

from steelyard import BoostedRulesClassifier, RipperClassifier, RuleSetClassifier, load_mulan

LEARNERS: dict[str, Callable[[], Any]] = {
    "paper": lambda: RuleSetClassifier(
        preset="paper", n_candidates=30_000, phi=1.0, max_rules=500, random_state=0
    ),
    "short": lambda: RuleSetClassifier(preset="short", max_rules=500, random_state=0),
    "boosted": lambda: BoostedRulesClassifier(random_state=0),
    "Ripper": lambda: RipperClassifier(random_state=0),
}


def read_numbers(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The table as numbers, categories as their codes, and the labels."""
    data = load_mulan(folder / f"{folder.name}.arff")
    columns = {
        name: column.cat.codes if isinstance(column.dtype, pd.CategoricalDtype) else column
        for name, column in data.X.items()
    }
    return pd.DataFrame(columns).to_numpy(dtype=np.float64), data.Y.to_numpy()


def draw_rows(X: np.ndarray, n_rows: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    rows = X[rng.integers(len(X), size=n_rows)]
    is_binary = np.isin(X, (0, 1)).all(axis=0)
    return rows * np.where(is_binary, 1, rng.normal(1, 0.01, size=rows.shape))


def least_seconds(predict: Callable[[], Any], n_runs: int) -> float:
    taken = []
    for _ in range(n_runs):
        start = time.process_time()
        predict()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("folders", nargs="+", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table("data set", "forest, ms", *(f"{name}: rules, ms, ratio" for name in LEARNERS))
    for folder in arguments.folders:
        X, Y = read_numbers(folder)
        rows = draw_rows(X, arguments.rows)
        forest = RandomForestClassifier(100, random_state=0, n_jobs=1).fit(X, Y)
        models = [make().fit(X, Y) for make in LEARNERS.values()]
        theirs = least_seconds(lambda: forest.predict(rows), 3)  # noqa: B023
        cells = []
        for model in models:
            model.predict(rows[:100])
            ours = least_seconds(lambda: model.predict(rows), arguments.runs)  # noqa: B023
            cells.append(f"{len(model.theory_)}, {1000 * ours:.0f}, {theirs / ours:.1f}")
        table.add_row(folder.name, f"{1000 * theirs:.0f}", *cells)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
