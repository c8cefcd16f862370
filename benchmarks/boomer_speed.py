"""CPU seconds of a fit beside BOOMER's, one thread each, in turns.

    python benchmarks/boomer_speed.py --boomer PYTHON [--repeats 3] DATA/enron DATA/medical ...

PYTHON is an interpreter that can import BOOMER (pip install mlrl-boomer==0.15.6, Python 3.12). Each
folder has <name>.arff and <name>.xml. Every fit runs in a process of its own; the least of the repeats
counts. BOOMER has 1,000 rules, its default, and gets only the attributes that vary.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from steelyard import load_mulan

_OURS = """
import sys, time, warnings
from pathlib import Path
from steelyard import BoostedRulesClassifier, RuleSetClassifier, load_mulan
warnings.simplefilter("ignore")
data = load_mulan(Path(sys.argv[1]) / (Path(sys.argv[1]).name + ".arff"))
models = {"boosted": BoostedRulesClassifier, "short": RuleSetClassifier}
options = {"preset": "short"} if sys.argv[2] == "short" else {}
start = time.process_time()
models[sys.argv[2]](random_state=0, n_jobs=1, **options).fit(data.X, data.Y)
print(time.process_time() - start)
"""
_THEIRS = """
import sys, time
import numpy as np
from mlrl.boosting import BoomerClassifier
found = np.load(sys.argv[1])
options = dict.fromkeys(("rule_refinement", "statistic_update", "prediction"), "false")
model = BoomerClassifier(random_state=0, **{f"parallel_{k}": v for k, v in options.items()})
start = time.process_time()
model.fit(found["X"], found["Y"], nominal_feature_indices=found["nominal"].tolist())
print(time.process_time() - start)
"""


def export(folder: Path, path: Path) -> None:
    """The table as BOOMER reads it: numbers, categories as their codes, without constant columns."""
    data = load_mulan(folder / f"{folder.name}.arff")
    columns, is_nominal = [], []
    for _, column in data.X.items():
        nominal = isinstance(column.dtype, pd.CategoricalDtype)
        values = column.cat.codes.to_numpy() if nominal else column.to_numpy()
        values = np.asarray(values, dtype=np.float32)
        if np.ptp(values) > 0:
            columns.append(values)
            is_nominal.append(nominal)
    X = np.ascontiguousarray(np.column_stack(columns))
    np.savez(path, X=X, Y=data.Y.to_numpy(dtype=np.int8), nominal=np.flatnonzero(is_nominal))


def time_fit(python: str, code: str, *arguments: str) -> float:
    command = [python, "-c", code, *arguments]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(run.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boomer", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("folders", nargs="+", type=Path)
    arguments = parser.parse_args()
    table = Table("data set", "BOOMER", "boosted", "ratio", "short", "ratio")
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "data.npz"
            export(folder, path)
            rounds = []
            for _ in range(arguments.repeats):
                rounds.append(
                    (
                        time_fit(arguments.boomer, _THEIRS, str(path)),
                        time_fit(sys.executable, _OURS, str(folder), "boosted"),
                        time_fit(sys.executable, _OURS, str(folder), "short"),
                    )
                )
        theirs, boosted, short = np.min(rounds, axis=0)
        cells = [f"{x:.2f}" for x in (theirs, boosted, boosted / theirs, short, short / theirs)]
        table.add_row(folder.name, *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
