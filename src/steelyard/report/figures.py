"""All figures of a study: rows → files in ``figures/``, as PNG to look at and PDF to print."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

from steelyard.study import StudyResults
from steelyard.study.store import write_atomically

from .heatmaps import RankHeatmapDisplay, ValueHeatmapDisplay

# The paper's figures, in its order.
MAPPED_MEASURES = (
    "hamming",
    "subset",
    "precision_micro",
    "recall_micro",
    "f1_micro",
    "n_rules",
    "n_conditions",
)


def new_figure(width: float, height: float) -> Any:
    """A figure that no window and no global list knows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Any, path: Path) -> list[Path]:
    """Write a figure as PNG and PDF, the same bytes every time."""
    written = []
    for suffix, metadata in [(".png", {"Software": None}), (".pdf", {"CreationDate": None})]:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix[1:], dpi=120, metadata=metadata)
        # The layout is found once, in the first rendering: it takes half of the time.
        figure.set_layout_engine("none")
        file = path.with_name(path.name + suffix)
        write_atomically(file, buffer.getvalue())
        written.append(file)
    return written


def write_figures(study: StudyResults) -> list[Path]:
    """Rank maps of every measure and family, and the raw values of every data set."""
    folder = study.folder / "figures"
    written: list[Path] = []
    for heuristic in study.config.heuristics:
        suffix = "" if len(study.config.heuristics) == 1 else f"-{heuristic}"
        for measure in MAPPED_MEASURES:
            written += _write_ranks(study, measure, heuristic, folder / f"ranks-{measure}{suffix}")
        for dataset in dict.fromkeys(study.results["dataset"]):
            written += _write_values(
                study, dataset, heuristic, folder / f"values-{dataset}{suffix}"
            )
    return written


def _write_ranks(study: StudyResults, measure: str, heuristic: str, path: Path) -> list[Path]:
    display = RankHeatmapDisplay.from_results(study.results, measure=measure, heuristic=heuristic)
    n_panels = 2 if len(display.cells.datasets) > 1 else 1
    figure = new_figure(6.2 * n_panels, 4.4)
    display.plot(ax=figure.subplots(1, n_panels))
    return save_figure(figure, path)


def _write_values(study: StudyResults, dataset: str, heuristic: str, path: Path) -> list[Path]:
    n_columns = 4
    n_rows = math.ceil(len(MAPPED_MEASURES) / n_columns)
    figure = new_figure(4.9 * n_columns, 3.7 * n_rows)
    figure.suptitle(f"{dataset}: mean of the folds")
    axes = figure.subplots(n_rows, n_columns).ravel()
    for ax, measure in zip(axes, MAPPED_MEASURES, strict=False):
        ValueHeatmapDisplay.from_results(
            study.results, measure=measure, dataset=dataset, heuristic=heuristic
        ).plot(ax=ax, max_ticks=10)
    for ax in axes[len(MAPPED_MEASURES) :]:
        ax.set_axis_off()
    return save_figure(figure, path)
