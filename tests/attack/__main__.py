"""Attack the program and print what was tried, how often, and what was seen.

PYTHONPATH=tests python -m attack                                  # everything: some 20 minutes
PYTHONPATH=tests python -m attack --only fuzzing --seconds 60      # a minute on each reader
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from .digests import compare_backends, compare_digests
from .exports import export_random, open_pages
from .outcomes import Outcome, Setting, to_table
from .processes import (
    crash_everywhere,
    damage_units,
    fill_disk,
    kill_at_random,
    lose_workers,
    write_twice,
)
from .readers import fuzz_readers
from .soak import soak

ATTACKS: dict[str, Callable[[Setting], Iterable[Outcome]]] = {
    "kills": kill_at_random,
    "workers": lose_workers,
    "crashes": crash_everywhere,
    "disk": fill_disk,
    "writers": write_twice,
    "damage": damage_units,
    "fuzzing": fuzz_readers,
    "exports": export_random,
    "pages": open_pages,
    "soak": soak,
    "digests": compare_digests,
    "backends": compare_backends,
}


def run_attack(name: str, setting: Setting) -> list[Outcome]:
    """Run an attack in a folder of its own, and say what it saw."""
    folder = setting.folder / name
    folder.mkdir()
    outcomes = []
    for outcome in ATTACKS[name](replace(setting, folder=folder)):
        print(f"{outcome.what}: {outcome.n_tried:,}; {outcome.describe()}", flush=True)
        for defect in outcome.defects:
            print(f"  DEFECT: {defect}", flush=True)
        outcomes.append(outcome)
    shutil.rmtree(folder, ignore_errors=True)
    return outcomes


def main() -> int:
    """Run the attacks that are asked for; the exit code is 1 if one of them found a defect."""
    parser = argparse.ArgumentParser(prog="attack", description=__doc__.splitlines()[0])
    parser.add_argument("--only", help=f"attacks, separated by commas: {', '.join(ATTACKS)}")
    parser.add_argument("--seconds", type=float, default=20, help="per reader that is fuzzed")
    parser.add_argument("--rounds", type=int, default=10, help="repetitions of the slow attacks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that fuzz")
    parser.add_argument(
        "--python", action="append", default=[], help="another interpreter with Steelyard"
    )
    parser.add_argument("--table", type=Path, help="write the table to this file")
    parser.add_argument("--folder", type=Path, help="where to work; a disk in memory is faster")
    given = parser.parse_args()
    folder = Path(mkdtemp(prefix="attack-", dir=given.folder))
    numbers = (given.seconds, given.rounds, given.seed)
    setting = Setting(folder, *numbers, tuple(given.python), given.jobs)
    begin = time.monotonic()
    names = given.only.split(",") if given.only else list(ATTACKS)
    outcomes = [outcome for name in names for outcome in run_attack(name, setting)]
    table = to_table(outcomes)
    print(f"\n{table}\n{time.monotonic() - begin:,.0f} s")
    if given.table:
        given.table.write_text(table, encoding="utf-8")
    n_defects = sum(outcome.seen["DEFECT"] for outcome in outcomes)
    print(f"{n_defects} defects in {sum(outcome.n_tried for outcome in outcomes):,} tries")
    return int(n_defects > 0)


if __name__ == "__main__":
    sys.exit(main())
