"""The first fit of each estimator in a new process, imports included, beside an older revision.

Every figure comes from a new process with an empty cache of compiled code and of bytecode, as in a new
container. The older revision runs from its source in the same environment, so that environment needs
what it imports (revisions before the kernels were compiled ahead of time need numba).

    python benchmarks/cold_start.py [--before FOLDER]

FOLDER is a checkout of the older revision: ``git worktree add FOLDER REVISION``.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parents[1]
FIT = """
from steelyard import {name}, make_planted_rules
data = make_planted_rules(300, random_state=0)
{name}({arguments}random_state=0).fit(data.X, data.Y).predict(data.X)
"""
FITS = {
    "rule set": FIT.format(name="RuleSetClassifier", arguments="n_candidates=1000, "),
    "boosted rules": FIT.format(name="BoostedRulesClassifier", arguments=""),
    "Ripper": FIT.format(name="RipperClassifier", arguments=""),
    "import alone": "import sklearn.base, scipy.sparse, pandas",
}


def time_process(code: str, source: Path) -> tuple[float, float]:
    """(seconds, CPU seconds) of a new Python process that runs the code with empty caches."""
    with tempfile.TemporaryDirectory() as cache:
        settings = {
            "PYTHONPATH": str(source),
            "NUMBA_CACHE_DIR": f"{cache}/numba",
            "PYTHONPYCACHEPREFIX": f"{cache}/bytecode",
        }
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | settings)
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="checkout of an older revision")
    options = parser.parse_args()
    revisions = {"now": HERE} | ({"before": options.before} if options.before else {})
    table = Table(
        "first fit", *(f"{name}: {unit}" for name in revisions for unit in ("s", "CPU s"))
    )
    for name, code in FITS.items():
        cells = []
        for folder in revisions.values():
            cells += [f"{value:.1f}" for value in time_process(code, folder / "src")]
        table.add_row(name, *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
