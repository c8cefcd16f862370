"""The pictures of the README, from the results of the default study.

    make study && .venv/bin/python docs/make_images.py results/patients

Writes docs/images/map.png: the map of micro F1 and the rules of one label in two of its cells.
The screenshot of the page (docs/images/page.png) is taken with `chromium --headless --screenshot`.
"""

from __future__ import annotations

import gzip
import sys
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd

from steelyard.heuristics import MEstimate
from steelyard.model.conditions import format_body
from steelyard.model.path import TheoryPath
from steelyard.report import ValueHeatmapDisplay

LABEL = "fast progression"
CELLS = (
    (MEstimate(m=1024.0), 1.0, "few and general"),
    (MEstimate(m=4.0), 1.0, "many and specific"),
)


def rules_as_text(path: TheoryPath, heuristic: MEstimate, phi: float, most: int = 5) -> str:
    rules = path.theory(heuristic, phi).rules_of(LABEL)
    lines = []
    for scored in rules[:most]:
        # Lines break between conditions, not within them.
        parts = format_body(scored.rule.body).replace(" ", "\N{NO-BREAK SPACE}")
        body = textwrap.wrap(parts.replace("∧\N{NO-BREAK SPACE}", "∧ "), 60)
        lines.append(f"TP {scored.tp:3}  FP {scored.fp:3}   " + f"\n{' ' * 17}".join(body))
    if len(rules) > most:
        lines.append(f"and {len(rules) - most} more")
    return "\n".join(lines)


def main() -> None:
    results = Path(sys.argv[1])
    rows = pd.read_csv(results / "results.csv")
    with gzip.open(
        results / "theories" / "patients" / "fold-1.json.gz", "rt", encoding="utf-8"
    ) as file:
        path = TheoryPath.from_json(file.read())
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12.5, 4.8), width_ratios=(1, 1.35), layout="constrained"
    )
    ValueHeatmapDisplay.from_results(rows, measure="f1_micro").plot(ax=left, max_ticks=10)
    right.axis("off")
    y = 1.0
    for heuristic, phi, words in CELLS:
        title = f"{LABEL}: {words} (m = {heuristic.m:g}, φ = {phi:g})"
        right.text(0, y, title, weight="bold", size=10.5, va="top")
        text = rules_as_text(path, heuristic, phi)
        right.text(0, y - 0.07, text, family="monospace", size=8.2, va="top", linespacing=1.45)
        y -= 0.13 + 0.052 * (text.count("\n") + 1)
    target = Path(__file__).parent / "images" / "map.png"
    figure.savefig(target, dpi=100)
    print(target)


if __name__ == "__main__":
    main()
