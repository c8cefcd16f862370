"""All figures of a study, as PNG and PDF files in ``figures/``. Knows study results and displays."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from steelyard._extras import from_extra
from steelyard._files import write_inside
from steelyard.study import StudyResults
from steelyard.study.analysis.comparison import Comparison
from steelyard.study.config import SIZE_MEASURES
from steelyard.study.rule_sets import RuleSet
from steelyard.study.store import Arrays

from .coverage_space import CoverageSpaceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .heatmaps import RankHeatmapDisplay, ValueHeatmapDisplay
from .titles import write_plain

# The paper's figures in its order; measures that were tuned for follow.
_ACCURACIES = ("hamming", "subset", "precision_micro", "recall_micro", "f1_micro")
MAPPED_MEASURES = (*_ACCURACIES, *SIZE_MEASURES)


def write_figures(study: StudyResults, example: Sequence[RuleSet]) -> None:
    """Write all figures that the results allow; warn of a figure that cannot be drawn.

    These are rank maps per measure and family, maps of the values per data set, the coverage space of
    the example's label, and critical differences of several methods on several data sets.
    """
    for name, draw in list_figures(study, example).items():
        try:
            files = render_figure(draw())
        except Exception as error:  # matplotlib fails in many ways, and the tables need no figure
            reason = " ".join(str(error).split())
            warnings.warn(f"cannot draw the figure {name}: {reason}", UserWarning, stacklevel=2)
            continue
        for suffix, content in files.items():
            write_inside(study.folder, f"figures/{name}{suffix}", content)


def list_figures(study: StudyResults, example: Sequence[RuleSet]) -> dict[str, Callable[[], Any]]:
    """Name of a figure → function that draws it and returns its axes."""
    figures: dict[str, Callable[[], Any]] = {}
    measures = list(dict.fromkeys((*MAPPED_MEASURES, *study.config.tune)))
    for heuristic in study.config.family_names:
        suffix = "" if len(study.config.family_names) == 1 else f"-{heuristic}"
        for measure in measures:
            figures[f"ranks-{measure}{suffix}"] = partial(_draw_ranks, study, measure, heuristic)
        for dataset in study.datasets:
            draw = partial(_draw_values, study, dataset, measures, heuristic)
            figures[f"values-{dataset}{suffix}"] = draw
    for measure, comparison in study.comparisons.items():
        if len(comparison.datasets) > 1 and len(comparison.methods) > 1:
            figures[f"critical-difference-{measure}"] = partial(_draw_difference, comparison)
    counts = study.candidate_counts(example[0].dataset) if example else None
    if counts is not None:
        figures["coverage-space"] = partial(_draw_space, study, example, counts)
    return figures


def _draw_ranks(study: StudyResults, measure: str, heuristic: str) -> Any:
    cells = study.cells(measure, heuristic)
    axes = new_axes(6.2, 4.4, 1, 2 if len(cells.datasets) > 1 else 1)
    RankHeatmapDisplay(cells, measure=measure, heuristic=heuristic).plot(ax=axes[0])
    return axes


def _draw_values(study: StudyResults, dataset: str, measures: Sequence[str], heuristic: str) -> Any:
    axes = new_axes(4.9, 3.7, math.ceil(len(measures) / 4), 4)
    write_plain(axes[0, 0].figure.suptitle, f"{dataset}: mean over the folds", y=0.99)
    for ax, measure in zip(axes.flat, measures, strict=False):
        cells = study.cells(measure, heuristic).of(dataset)
        display = ValueHeatmapDisplay(cells, measure=measure, heuristic=heuristic)
        display.plot(ax=ax, max_ticks=10)
    for ax in axes.flat[len(measures) :]:
        ax.set_axis_off()
    return axes


def _draw_difference(comparison: Comparison) -> Any:
    axes = new_axes(6.4, 2.4)
    CriticalDifferenceDisplay.from_comparison(comparison).plot(ax=axes[0, 0])
    return axes


def _draw_space(study: StudyResults, example: Sequence[RuleSet], counts: Arrays) -> Any:
    shown = {rule_set.heuristic: rule_set for rule_set in example}
    axes = new_axes(6.4, 5.0, 1, len(shown))
    for ax, s in zip(axes[0], shown.values(), strict=True):
        path = study.paths[s.dataset]
        CoverageSpaceDisplay.from_path(counts, path, s.label, s.heuristic).plot(ax=ax)
    return axes


def new_axes(width: float, height: float, n_rows: int = 1, n_columns: int = 1) -> Any:
    """Axes of shape (n_rows, n_columns), each of this size in inches, without pyplot.

    All panels have the same labels around them, so the margins are fixed. The layout engines of
    matplotlib measure every text three times, which took most of the time of a report.
    """
    with from_extra("report", "matplotlib"):
        from matplotlib.figure import Figure

    width, height = width * n_columns, height * n_rows + 0.2
    figure = Figure(figsize=(width, height))
    sides = {"left": 0.6 / width, "right": 1 - 0.15 / width}
    ends = {"bottom": 0.5 / height, "top": 1 - 0.5 / height}
    figure.subplots_adjust(**sides, **ends, wspace=0.2, hspace=0.3)
    return figure.subplots(n_rows, n_columns, squeeze=False)


def render_figure(axes: Any) -> dict[str, bytes]:
    """The figure of some axes as PNG and PDF; equal figures give equal bytes."""
    files = {}
    for suffix, metadata in [(".png", {"Software": None}), (".pdf", {"CreationDate": None})]:
        buffer = io.BytesIO()
        axes[0, 0].figure.savefig(buffer, format=suffix[1:], dpi=120, metadata=metadata)
        files[suffix] = buffer.getvalue()
    return files
