"""All figures of a study, as PNG and PDF files in ``figures/``. Knows study results and displays."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from steelyard._files import write_inside
from steelyard.study import StudyResults
from steelyard.study.analysis.comparison import Comparison
from steelyard.study.config import SIZE_MEASURES
from steelyard.study.rule_sets import RuleSet
from steelyard.study.store import Arrays

from .coverage_space import CoverageSpaceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .heatmaps import RankHeatmapDisplay, ValueHeatmapDisplay, turn_ranks
from .layout import (
    Space,
    add_bar,
    add_legend_below,
    count_legend_lines,
    new_panels,
    write_titles,
)
from .size_curves import SizeCurveDisplay
from .styles import Style
from .titles import symbol_of, title_of

# The paper's figures of ranks, whose panels are stacked; measures that were tuned for follow.
_STACKS = {
    "accuracy": ("hamming", "subset"),
    "micro": ("precision_micro", "recall_micro", "f1_micro"),
    "size": SIZE_MEASURES,
}
MAPPED_MEASURES = tuple(measure for stack in _STACKS.values() for measure in stack)
_MOST_IN_STACK = 3
# Three panels beside each other need a wider figure, in cm.
_NARROW = 10


class StudyFigure(NamedTuple):
    """A figure of a study.

    Parameters
    ----------
    title : str
        A few words.
    caption : str
        What the figure shows, in sentences.
    draw : callable
        Style → matplotlib Figure.
    """

    title: str
    caption: str
    draw: Callable[[Style], Any]


def write_figures(
    study: StudyResults, example: Sequence[RuleSet], style: Style
) -> dict[str, StudyFigure]:
    """Write all figures; warn of a figure that cannot be drawn. Returns the others."""
    written = {}
    for name, figure in list_figures(study, example, style).items():
        try:
            with style.context():
                files = render_figure(figure.draw(style))
        except Exception as error:  # matplotlib fails in many ways, and the tables need no figure
            reason = " ".join(str(error).split())
            warnings.warn(f"cannot draw the figure {name}: {reason}", UserWarning, stacklevel=2)
            continue
        for suffix, content in files.items():
            write_inside(study.folder, f"figures/{name}{suffix}", content)
        written[name] = figure
    return written


def render_figure(figure: Any) -> dict[str, bytes]:
    """A figure as PNG and PDF; equal figures give equal bytes."""
    files = {}
    for suffix, metadata in [(".png", {"Software": None}), (".pdf", {"CreationDate": None})]:
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix[1:], metadata=metadata)
        files[suffix] = buffer.getvalue()
    return files


def list_figures(
    study: StudyResults, example: Sequence[RuleSet], style: Style
) -> dict[str, StudyFigure]:
    """All figures that the results allow, by the name of their files.

    These are rank maps per family, stacked as in the paper, maps of the values and curves of quality
    against size per data set, the coverage space of the example's label, and critical differences of
    several methods on several data sets.
    """
    figures: dict[str, StudyFigure] = {}
    for family in study.config.family_names:
        suffix = "" if len(study.config.family_names) == 1 else f"-{family}"
        for name, measures in _stack_measures(study).items():
            figures[f"ranks-{name}{suffix}"] = _plan_ranks(study, measures, family)
        for dataset in study.datasets:
            parts = _split_evenly(list(_list_measures(study)), style.max_panels)
            for i, measures in enumerate(parts):
                number = "" if i == 0 else f"-{i + 1}"
                figure = _plan_values(study, dataset, measures, family)
                figures[f"values-{dataset}{suffix}{number}"] = figure
    if study.results["fold"].nunique() > 1:
        for dataset in study.datasets:
            figures[f"size-{dataset}"] = _plan_sizes(study, dataset)
    for measure, comparison in study.comparisons.items():
        if len(comparison.datasets) > 1 and len(comparison.methods) > 1:
            figures[f"critical-difference-{measure}"] = _plan_difference(comparison)
    counts = study.candidate_counts(example[0].dataset) if example else None
    if counts is not None:
        figures["coverage-space"] = _plan_space(study, example, counts)
    return figures


def _list_measures(study: StudyResults) -> tuple[str, ...]:
    """The measures with maps: the paper's, and those that were tuned for."""
    return tuple(dict.fromkeys((*MAPPED_MEASURES, *study.config.tune)))


def _stack_measures(study: StudyResults) -> dict[str, Sequence[str]]:
    """Measures whose rank maps share a figure, by the name of the figure."""
    stacks: dict[str, Sequence[str]] = dict(_STACKS)
    others = [name for name in _list_measures(study) if name not in MAPPED_MEASURES]
    for i, part in enumerate(_split_evenly(others, _MOST_IN_STACK)):
        stacks["other" if i == 0 else f"other-{i + 1}"] = part
    return stacks


def _split_evenly(names: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """Parts of nearly equal size with at most so many names."""
    n_parts = math.ceil(len(names) / most)
    for i in range(n_parts):
        first, last = (-(-len(names) * part // n_parts) for part in (i, i + 1))
        yield names[first:last]


def _list_titles(measures: Sequence[str]) -> str:
    """Titles of measures in a sentence: Micro F1, Hamming accuracy and subset accuracy."""
    titles = [title_of(name) for name in measures]
    # Of a first word, only a name such as Hamming keeps its capital letter.
    titles[1:] = [t if t.startswith("Hamming") else t[0].lower() + t[1:] for t in titles[1:]]
    return " and ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)


# Ranks ------------------------------------------------------------------------------------------


def _plan_ranks(study: StudyResults, measures: Sequence[str], family: str) -> StudyFigure:
    symbol = symbol_of(family, study.config.families)
    n_sets = len(study.datasets)
    across = f"{symbol} is across, φ is down." if symbol else "φ is down."
    titles = _list_titles(measures)
    best = "larger" if measures[0] in SIZE_MEASURES else "better"
    over = f" over {n_sets} data sets, and their standard deviation" if n_sets > 1 else ""
    caption = (
        f"Ranks of the cells{over}. {titles}, with the heuristic {family}; {across} "
        f"A smaller rank is {best}. "
        f"A red + marks the {'largest' if best == 'larger' else 'best'} cell of each data set."
    )
    draw = partial(_draw_ranks, study, measures, family)
    return StudyFigure(f"{titles}: ranks, {family}", caption, draw)


def _draw_ranks(study: StudyResults, measures: Sequence[str], family: str, style: Style) -> Any:
    symbol = symbol_of(family, study.config.families)
    displays = [
        RankHeatmapDisplay(study.cells(m, family), measure=m, heuristic=family, symbol=symbol)
        for m in measures
    ]
    n_kinds = 2 if len(study.datasets) > 1 else 1
    # A page has a row of panels per measure, a slide and a single data set have a column.
    is_turned = style.is_slide or n_kinds == 1
    below = not style.is_slide
    shape = (n_kinds, len(displays)) if is_turned else (len(displays), n_kinds)
    space = Space(
        left=4.2,
        right=1.0 if below else 5.2,
        bottom=7.2 if below else 3.2,
        top=1.8,
        columns=2.6 if below else 1.2,  # the ends of two bars need more room than two panels
        rows=2.0,
    )
    axes = new_panels(style, *shape, space, ratio=0.7 if n_kinds > 1 else 0.9)
    by_kind = axes if is_turned else axes.T
    most = max(float(display.cells.sd_rank.max()) for display in displays) or 1.0
    for i, display in enumerate(displays):
        meshes = [display.draw_ranks(by_kind[0, i], style)]
        if n_kinds > 1:
            meshes.append(display.draw_deviation(by_kind[1, i], style, most))
    write_titles(by_kind[0], style, [display.rank_titles for display in displays])
    if n_kinds > 1:
        write_titles(by_kind[1], style, [display.deviation_titles for display in displays])
    label_outer(axes)
    labels = [displays[0].bar_labels, ("standard deviation", "deviation")]
    for kind, mesh in enumerate(meshes):
        # A bar below a column starts below the labels of its last panel.
        panels = list(by_kind[kind]) if is_turned else [by_kind[kind, -1]]
        bar = add_bar(mesh, panels, style, *labels[kind], below=below)
        if kind == 0:
            turn_ranks(bar)
    return axes[0, 0].figure


def label_outer(axes: Any) -> None:
    """Keep the labels of the left column and of the lowest panel of each column."""
    n_rows, n_columns = axes.shape
    for i in range(n_rows):
        for j in range(n_columns):
            is_lowest = i == n_rows - 1 or not axes[i + 1, j].axison
            if not is_lowest:
                axes[i, j].tick_params(labelbottom=False)
                axes[i, j].set_xlabel("")
            if j > 0:
                axes[i, j].tick_params(labelleft=False)
                axes[i, j].set_ylabel("")


# Values and sizes of a data set -----------------------------------------------------------------


def _plan_values(
    study: StudyResults, dataset: str, measures: Sequence[str], family: str
) -> StudyFigure:
    symbol = symbol_of(family, study.config.families)
    across = f"{symbol} is across, φ is down." if symbol else "φ is down."
    caption = (
        f"{dataset}: values of the cells, mean over the folds, with the heuristic {family}; {across} "
        "A red + marks the best cell, which was found on the test folds. Precision, recall and F1 are "
        "micro-averaged unless their titles say otherwise."
    )
    draw = partial(_draw_values, study, dataset, measures, family)
    return StudyFigure(f"{dataset}: values, {family}", caption, draw)


def _draw_values(
    study: StudyResults, dataset: str, measures: Sequence[str], family: str, style: Style
) -> Any:
    symbol = symbol_of(family, study.config.families)
    n_columns = math.ceil(len(measures) / 2) if style.is_slide else min(2, len(measures))
    n_rows = math.ceil(len(measures) / n_columns)
    space = Space(left=4.2, right=4.4, bottom=3.2, top=3.2, columns=5.2, rows=3.4)
    axes = new_panels(style, n_rows, n_columns, space, ratio=0.7)
    displays = [
        ValueHeatmapDisplay(
            study.cells(m, family).of(dataset), measure=m, heuristic=family, symbol=symbol
        )
        for m in measures
    ]
    for ax, display in zip(axes.flat, displays, strict=False):
        add_bar(display.draw_values(ax, style), [ax], style)
    write_titles(axes.flat[: len(displays)], style, [display.titles for display in displays])
    for ax in axes.flat[len(measures) :]:
        ax.set_axis_off()
    label_outer(axes)
    return axes[0, 0].figure


def _plan_sizes(study: StudyResults, dataset: str) -> StudyFigure:
    others = "other folds of its repetition" if study.config.repeats > 1 else "other folds"
    caption = (
        f"{dataset}: quality against the number of rules, mean and standard deviation over the folds. "
        f"At each size, the cell of a curve was chosen on the {others}. Points are methods with "
        "rules; a tuned one was tuned for the measure of its panel."
    )
    title = f"{dataset}: quality against size"
    return StudyFigure(title, caption, partial(_draw_sizes, study, dataset))


def _draw_sizes(study: StudyResults, dataset: str, style: Style) -> Any:
    measures = study.main_measures[:_MOST_IN_STACK]
    displays = [
        SizeCurveDisplay.from_results(
            study.results,
            measure=measure,
            dataset=dataset,
            methods=study.method_means,
            folds_per_repeat=study.folds_per_repeat(dataset),
        )
        for measure in measures
    ]
    labels = list(dict.fromkeys(name for display in displays for name in display.names))
    n_lines = count_legend_lines(labels, style)
    space = Space(4.0, 0.8, bottom=3.6 + 1.5 * n_lines, top=1.8, columns=3.0)
    axes = new_panels(style, 1, len(displays), space, ratio=0.9)
    for ax, display in zip(axes[0], displays, strict=True):
        display.draw(ax, style)
        ax.set_ylabel("%" if ax is axes[0, 0] else "")
    write_titles(axes[0], style, [display.titles for display in displays])
    add_legend_below(list(axes[0]), style)
    return axes[0, 0].figure


# Methods and rules ------------------------------------------------------------------------------


def _plan_difference(comparison: Comparison) -> StudyFigure:
    title = f"{title_of(comparison.measure)}: critical difference"
    caption = (
        f"Average ranks of the methods by {title_of(comparison.measure)} over "
        f"{len(comparison.datasets)} data sets. Bars join methods that do not differ by Nemenyi's test "
        "at 5 %."
    )
    return StudyFigure(title, caption, partial(_draw_difference, comparison))


def _draw_difference(comparison: Comparison, style: Style) -> Any:
    display = CriticalDifferenceDisplay.from_comparison(comparison)
    display.plot(ax=display.new_panel(style), style=style)
    return display.figure_


def _plan_space(study: StudyResults, example: Sequence[RuleSet], counts: Arrays) -> StudyFigure:
    label, dataset = example[0].label, example[0].dataset
    caption = (
        f"Coverage space of the label {label} ({dataset}, fold {study.shown_fold}). A heuristic has the "
        "same value everywhere on a line."
    )
    return StudyFigure(
        f"{label}: coverage space", caption, partial(_draw_space, study, example, counts)
    )


def _draw_space(
    study: StudyResults, example: Sequence[RuleSet], counts: Arrays, style: Style
) -> Any:
    shown = list({rule_set.heuristic: rule_set for rule_set in example}.values())
    n_columns = min(len(shown), 2 if style.width < _NARROW else 3)
    n_rows = math.ceil(len(shown) / n_columns)
    n_lines = count_legend_lines(CoverageSpaceDisplay.entries, style)
    space = Space(4.2, 0.8, bottom=3.4 + 1.5 * n_lines, top=3.2, columns=1.4, rows=6.2)
    axes = new_panels(style, n_rows, n_columns, space, ratio=0.9)
    titles = []
    for ax, s in zip(axes.flat, shown, strict=False):
        path = study.paths[s.dataset]
        display = CoverageSpaceDisplay.from_path(counts, path, s.label, s.heuristic)
        display.draw(ax, style)
        titles.append(display.titles)
    write_titles(axes.flat[: len(shown)], style, titles)
    for ax in axes.flat[len(shown) :]:
        ax.set_axis_off()
    label_outer(axes)
    add_legend_below(list(axes.flat[: len(shown)]), style)
    return axes[0, 0].figure
