"""Count the mutants of a mutmut run that the tests noticed, per file.

python tools/mutants.py
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "mutants" / "src"
# Exit codes that mutmut stores. All others (a failed test, a crash) are noticed, and so is a timeout;
# None was not run.
SURVIVED, NO_TESTS, TIMEOUT = {0}, {5, 33}, {-24, 24, 36, 152, 255}


def tally_file(path: Path) -> Counter[str]:
    """How many mutants of a file were noticed, ran too long, survived, have no tests or were not run."""
    codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].values()
    return Counter(
        "not run"
        if code is None
        else "survived"
        if code in SURVIVED
        else "without tests"
        if code in NO_TESTS
        else "timed out"
        if code in TIMEOUT
        else "noticed"
        for code in codes
    )


def main() -> str | None:
    """Print a table; return what is wrong."""
    columns = ("noticed", "timed out", "survived", "without tests", "not run")
    print(f"{'file':36}", *(f"{column:>13}" for column in columns), f"{'score':>6}")
    total: Counter[str] = Counter()
    for path in sorted(RESULTS.rglob("*.meta")):
        tally = tally_file(path)
        if not tally:
            continue
        total += tally
        print_row(str(path.relative_to(RESULTS / "steelyard").with_suffix("")), tally, columns)
    if not total:
        return f"{RESULTS} has no results: run make mutants"
    print_row("all", total, columns)
    return None


def print_row(name: str, tally: Counter[str], columns: tuple[str, ...]) -> None:
    """One row of the table. The score is the share of the mutants that were run; no end is noticed."""
    n_run = tally.total() - tally["not run"]
    score = f"{(tally['noticed'] + tally['timed out']) / n_run:.0%}" if n_run else "-"
    print(f"{name:36}", *(f"{tally[column]:13}" for column in columns), f"{score:>6}")


if __name__ == "__main__":
    sys.exit(main())
