"""All figures of a study: rows → files in ``figures/``, as PNG to look at and PDF to print."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steelyard._files import write_atomically
from steelyard.study import StudyConfig, StudyResults
from steelyard.study.analysis.comparison import Comparison
from steelyard.study.analysis.rule_sets import RuleSetExample, read_path
from steelyard.study.candidate_counts import CandidateCounts
from steelyard.study.store import StudyStore
from steelyard.study.units import Unit

from .coverage_space import CoverageSpaceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .heatmaps import RankHeatmapDisplay, ValueHeatmapDisplay

# The paper's figures, in its order; a study has those of the measures it tuned for besides.
MAPPED_MEASURES = (
    "hamming",
    "subset",
    "precision_micro",
    "recall_micro",
    "f1_micro",
    "n_rules",
    "n_conditions",
)


def list_mapped_measures(config: StudyConfig) -> tuple[str, ...]:
    """The measures that a study draws maps of.

    Examples
    --------
    >>> list_mapped_measures(StudyConfig(tune=("hamming", "f1_macro")))[-2:]
    ('n_conditions', 'f1_macro')
    """
    return tuple(dict.fromkeys((*MAPPED_MEASURES, *config.tune)))


def new_axes(width: float, height: float, n_rows: int = 1, n_columns: int = 1) -> Any:
    """Axes (n_rows, n_columns) of that size in inches, on a figure that no global list knows.

    All our panels have the same labels around them, so their margins are fixed: matplotlib's layout
    engines measure every text three times, which took most of the time of a report.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    total_width, total_height = width * n_columns, height * n_rows + 0.2
    figure = Figure(figsize=(total_width, total_height))
    FigureCanvasAgg(figure)
    figure.subplots_adjust(
        left=0.6 / total_width,
        right=1 - 0.15 / total_width,
        bottom=0.5 / total_height,
        top=1 - 0.5 / total_height,
        wspace=0.2,
        hspace=0.3,
    )
    return figure.subplots(n_rows, n_columns, squeeze=False)


def save_figure(figure: Any, path: Path) -> list[Path]:
    """Write a figure as PNG and PDF, the same bytes every time."""
    written = []
    for suffix, metadata in [(".png", {"Software": None}), (".pdf", {"CreationDate": None})]:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix[1:], dpi=120, metadata=metadata)
        file = path.with_name(path.name + suffix)
        write_atomically(file, buffer.getvalue())
        written.append(file)
    return written


def write_figures(
    study: StudyResults, comparisons: Sequence[Comparison], example: RuleSetExample | None
) -> list[Path]:
    """All figures that the study has the rows for.

    Rank maps of every measure and family, raw values of every data set, the coverage space of the
    example's label, and critical differences where several methods met on several data sets.
    """
    folder = study.folder / "figures"
    written: list[Path] = []
    for heuristic in study.config.heuristics:
        suffix = "" if len(study.config.heuristics) == 1 else f"-{heuristic}"
        for measure in list_mapped_measures(study.config):
            written += _write_ranks(study, measure, heuristic, folder / f"ranks-{measure}{suffix}")
        for dataset in dict.fromkeys(study.results["dataset"]):
            written += _write_values(
                study, dataset, heuristic, folder / f"values-{dataset}{suffix}"
            )
    for comparison in comparisons:
        if len(comparison.datasets) > 1 and len(comparison.methods) > 1:
            ax = new_axes(6.4, 2.4)[0, 0]
            display = CriticalDifferenceDisplay.from_comparison(comparison).plot(ax=ax)
            name = f"critical-difference-{comparison.measure}"
            written += save_figure(display.figure_, folder / name)
    if example is not None:
        written += _write_coverage_space(study, example, folder / "coverage-space")
    return written


def _write_coverage_space(study: StudyResults, example: RuleSetExample, path: Path) -> list[Path]:
    """The label's candidates with the rules that each of the example's heuristics selects."""
    unit = Unit("candidates", example.dataset, example.fold)
    arrays = StudyStore(study.folder).read_unit(unit.name)
    theories = read_path(study, example.dataset)
    if arrays is None or theories is None:
        return []
    counts = CandidateCounts(**arrays)
    label = [known.name for known in theories.labels].index(example.label)
    is_ours = counts.label == label
    heuristics = list(dict.fromkeys(rules.heuristic for rules in example.rule_sets))
    axes = new_axes(6.4, 5.0, 1, len(heuristics))[0]
    for ax, heuristic in zip(axes, heuristics, strict=True):
        selected = theories.ranked[theories.heuristics.index(heuristic)].rule_idx
        selected = selected[theories.label_of_rule[selected] == label]
        CoverageSpaceDisplay(
            counts.tp[is_ours],
            counts.fp[is_ours],
            theories.tp[selected],
            theories.fp[selected],
            n_positives=int(counts.n_positives[label]),
            n_negatives=int(counts.n_negatives[label]),
            heuristic=heuristic,
            label=example.label,
        ).plot(ax=ax)
    return save_figure(axes[0].figure, path)


def _write_ranks(study: StudyResults, measure: str, heuristic: str, path: Path) -> list[Path]:
    display = RankHeatmapDisplay.from_results(study.results, measure=measure, heuristic=heuristic)
    n_panels = 2 if len(display.cells.datasets) > 1 else 1
    display.plot(ax=new_axes(6.2, 4.4, 1, n_panels)[0])
    return save_figure(display.figure_, path)


def _write_values(study: StudyResults, dataset: str, heuristic: str, path: Path) -> list[Path]:
    measures = list_mapped_measures(study.config)
    n_columns = 4
    n_rows = math.ceil(len(measures) / n_columns)
    axes = new_axes(4.9, 3.7, n_rows, n_columns).ravel()
    axes[0].figure.suptitle(f"{dataset}: mean of the folds", y=0.99)
    for ax, measure in zip(axes, measures, strict=False):
        ValueHeatmapDisplay.from_results(
            study.results, measure=measure, dataset=dataset, heuristic=heuristic
        ).plot(ax=ax, max_ticks=10)
    for ax in axes[len(measures) :]:
        ax.set_axis_off()
    return save_figure(axes[0].figure, path)
