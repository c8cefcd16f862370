"""The tables of docs/speed.md, from the JSON files of `make bench` and `make bench-compare`.

    make bench && make bench-compare REV=df9ef1b && .venv/bin/python docs/make_speed.py results/bench

A table stands between the comments `<!-- NAME -->` and `<!-- end -->`, and is written anew.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "speed.md"
_BLOCK = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

Rows = Iterator[Sequence[str]]


def list_pieces(timings: Mapping[str, Any]) -> Rows:
    """CPU time of each piece of work."""
    yield "piece of work", "CPU time"
    for name, seconds in timings["cpu_seconds"].items():
        yield name, _format_seconds(seconds)


def list_data_sets(speed: Mapping[str, Any]) -> Rows:
    """Candidates beside scikit-learn, and a whole grid, per data set."""
    yield (
        "data set",
        "candidates per second, ratio",
        "400 theories of a fold",
        "peak memory of a fit",
    )
    ratios, grids, peaks = (
        speed[key]
        for key in (
            "ratio of candidates per second",
            "CPU seconds of 400 theories",
            "peak memory in GB",
        )
    )
    for name, ratio in ratios.items():
        peak = f"{peaks[name]:.2f} GB" if name in peaks else ""
        yield name, f"{ratio:.1f}", f"{grids[name]:.1f} s", peak
    yield "together", "", f"{sum(grids.values()):.1f} s", ""


def list_changes(comparison: Mapping[str, Any]) -> Rows:
    """CPU time of each piece of work before and now, and the ratio."""
    before, now = comparison["cpu_seconds"]
    yield "piece of work", "before", "now", "now / before"
    for name, ratio in comparison["ratios"].items():
        yield name, _format_seconds(before[name]), _format_seconds(now[name]), f"{ratio:.2f}"


def describe_run(result: Mapping[str, Any]) -> str:
    """Revision, machine and versions in a sentence."""
    machine = result["machine"]
    revisions = result.get("revisions") or [result["revision"]]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return (
        f"Revision {' and '.join(f'`{revision}`' for revision in revisions)}; {machine['processor']}, "
        f"{machine['cores']} cores, load {machine['load']:g} at the end of the run; Python "
        f"{machine['python']}, {packages}."
    )


def describe_prediction(speed: Mapping[str, Any]) -> str:
    """Prediction in a sentence."""
    ((name, ratio),) = speed["ratio of predictions per second"].items()
    return (
        f"A forest of 100 trees takes {ratio:.1f} times as long as a rule set to predict 100,000 rows "
        f"of {name}."
    )


def _format_seconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def to_markdown(rows: Rows) -> str:
    """A table whose first column is text and whose other columns are numbers."""
    head, *body = rows
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fill(page: str, blocks: Mapping[str, str]) -> str:
    """The page with new text in each of its blocks."""
    names = [found[2] for found in _BLOCK.finditer(page)]
    if sorted(names) != sorted(blocks):
        raise ValueError(f"the page has the blocks {names}, not {list(blocks)}")
    return _BLOCK.sub(lambda found: f"{found[1]}\n{blocks[found[2]].rstrip()}\n\n{found[3]}", page)


def make_blocks(
    timings: Mapping[str, Any], speed: Mapping[str, Any], comparison: Mapping[str, Any]
) -> dict[str, str]:
    """The text of each block of the page."""
    return {
        "pieces": f"{to_markdown(list_pieces(timings))}\n{describe_run(timings)}",
        "data_sets": f"{to_markdown(list_data_sets(speed))}\n{describe_prediction(speed)}\n\n"
        f"{describe_run(speed)}",
        "changes": f"{to_markdown(list_changes(comparison))}\n{describe_run(comparison)}",
    }


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python docs/make_speed.py results/bench")
    results = [
        json.loads((Path(sys.argv[1]) / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("timings", "speed", "compare")
    ]
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), make_blocks(*results)), encoding="utf-8")


if __name__ == "__main__":
    main()
