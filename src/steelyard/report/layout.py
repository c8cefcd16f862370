"""Panels of a figure with fixed margins, colour bars beside them, and texts that fit. Knows no study.

All panels have the same labels around them, so the margins are fixed, in em of the style. The layout
engines of matplotlib measure every text three times, which took most of the time of a report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from steelyard._extras import needed_here

from .styles import CM_PER_INCH, POINTS_PER_CM, Style
from .titles import write_plain


class Space(NamedTuple):
    """Space around the panels of a figure and between them, in em of the style."""

    left: float
    right: float
    bottom: float
    top: float
    columns: float = 0.0
    rows: float = 0.0


#: Around a single panel with labels on both axes.
ONE_PANEL = Space(left=4.4, right=0.8, bottom=3.4, top=1.9)


def new_panels(
    style: Style,
    n_rows: int = 1,
    n_columns: int = 1,
    space: Space = ONE_PANEL,
    *,
    ratio: float = 0.75,
    is_shown: bool = False,
) -> Any:
    """Axes of shape (n_rows, n_columns) in a figure as wide as the style.

    Parameters
    ----------
    style : Style
    n_rows, n_columns : int
    space : Space
    ratio : float, default=0.75
        Height of a panel divided by its width; panels are lower if the figure would be too high.
    is_shown : bool, default=False
        Whether pyplot manages the figure, which a notebook then shows.
    """
    left, right, bottom, top, columns, rows = (style.em * part for part in space)
    width = (style.width - left - right - (n_columns - 1) * columns) / n_columns
    most = (style.max_height - top - bottom - (n_rows - 1) * rows) / n_rows
    height = min(ratio * width, most)
    total = n_rows * height + top + bottom + (n_rows - 1) * rows
    size = style.width / CM_PER_INCH, total / CM_PER_INCH
    figure: Any
    if is_shown:
        with needed_here("matplotlib"):
            import matplotlib.pyplot as plt

        figure = plt.figure(figsize=size)
    else:
        with needed_here("matplotlib"):
            from matplotlib.figure import Figure

        figure = Figure(figsize=size)
    sides = {"left": left / style.width, "right": 1 - right / style.width}
    ends = {"bottom": bottom / total, "top": 1 - top / total}
    figure.subplots_adjust(**sides, **ends, wspace=columns / width, hspace=rows / height)
    return figure.subplots(n_rows, n_columns, squeeze=False)


def panel_size(ax: Any) -> tuple[float, float]:
    """Width and height of a panel in pt."""
    box, (width, height) = ax.get_position(), ax.figure.get_size_inches()
    return 72 * box.width * width, 72 * box.height * height


def add_bar(
    mappable: Any, axes: Sequence[Any], style: Style, *labels: str, below: bool = False
) -> Any:
    """Add one colour bar for some panels in a row or a column: to their right, or below them.

    Its label is the first of `labels` that is not longer than the bar.
    """
    figure = axes[0].figure
    width, height = (CM_PER_INCH * inches for inches in figure.get_size_inches())
    boxes = [ax.get_position() for ax in axes]
    x0, x1 = min(box.x0 for box in boxes), max(box.x1 for box in boxes)
    y0, y1 = min(box.y0 for box in boxes), max(box.y1 for box in boxes)
    em = style.em
    if below:
        place = (x0, y0 - 4.1 * em / height, x1 - x0, 0.7 * em / height)
    else:
        place = (x1 + 0.6 * em / width, y0, 0.7 * em / width, y1 - y0)
    way = "horizontal" if below else "vertical"
    bar = figure.colorbar(mappable, cax=figure.add_axes(place), orientation=way)
    dress_bar(bar, style, *labels)
    return bar


def dress_bar(bar: Any, style: Style, *labels: str) -> None:
    """Give a colour bar the sizes of the style, and colours without white lines between them."""
    bar.solids.set(edgecolor="face", rasterized=False)
    bar.outline.set_linewidth(0.6)
    bar.ax.locator_params(nbins=4)
    set_ticks(bar.ax, style)
    if labels:
        is_flat = bar.orientation == "horizontal"
        write_label(bar.ax, "x" if is_flat else "y", *labels)


def write_label(ax: Any, axis: str, *texts: str) -> None:
    """Label an axis ("x" or "y") with the first text that is not longer than it, else the last."""
    label = ax.xaxis.label if axis == "x" else ax.yaxis.label
    most = panel_size(ax)[0 if axis == "x" else 1]
    for text in texts:
        label.set_text(text)
        box = label.get_window_extent()
        length = (box.width if axis == "x" else box.height) * 72 / ax.figure.dpi
        if length <= most:
            return


def count_legend_columns(labels: Sequence[str], style: Style) -> int:
    """How many columns of a legend fit into the width of a figure."""
    # A letter is about 0.55 em wide; the sign of an entry and the space after it take 3.4 em.
    widest = 3.4 + 0.55 * max(map(len, labels), default=0)
    return max(1, min(len(labels), int(style.width / style.em / widest)))


def count_legend_lines(labels: Sequence[str], style: Style) -> int:
    """The number of lines of a legend."""
    return math.ceil(len(labels) / count_legend_columns(labels, style))


def add_legend_below(axes: Sequence[Any], style: Style) -> Any:
    """Add one legend for all axes below them, where it covers nothing.

    Equal entries of several axes are shown once. The legend of a single panel belongs to its axes; that
    of several is at the lower edge of the figure.
    """
    entries: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        entries |= {label: handle for handle, label in zip(handles, labels, strict=True)}
    owner, place = axes[0].figure, {"loc": "lower center", "borderaxespad": 0.2}
    if len(axes) == 1:
        below = cm_to_points(2.9 * style.em) / panel_size(axes[0])[1]
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -below), "borderaxespad": 0}
        owner = axes[0]
    return owner.legend(
        entries.values(),
        entries.keys(),
        ncols=count_legend_columns(list(entries), style),
        fontsize=style.text_size,
        frameon=False,
        columnspacing=1.2,
        handletextpad=0.5,
        labelspacing=0.3,
        **place,
    )


def set_ticks(ax: Any, style: Style) -> None:
    """Give ticks the style for good: those that matplotlib makes later would lack it."""
    ax.tick_params(labelsize=style.tick_size, labelfontfamily=list(style.fonts), length=2, pad=2)


def write_title(ax: Any, style: Style, *texts: str) -> None:
    """Write the first text that is not wider than the panel, else the last one, shortened."""
    write_titles([ax], style, [texts])


def write_titles(axes: Sequence[Any], style: Style, choices: Sequence[Sequence[str]]) -> None:
    """Give each panel one of its titles: the first that fits into all panels.

    Titles of the same position belong together, so that no panel is titled otherwise than its
    neighbours. If none fits, the last ones are shortened.
    """
    for texts in zip(*choices, strict=True):
        for ax, text in zip(axes, texts, strict=True):
            write_plain(ax.set_title, text, fontsize=style.title_size)
        if all(text_width(ax.title) <= panel_size(ax)[0] for ax in axes):
            return
    for ax, own in zip(axes, choices, strict=True):
        text = own[-1]
        while len(text) > 1 and text_width(ax.title) > panel_size(ax)[0]:
            text = text[:-1]
            write_plain(ax.set_title, f"{text.rstrip()}…", fontsize=style.title_size)


def text_width(text: Any) -> float:
    """Width of a drawn text in pt."""
    return float(text.get_window_extent().width * 72 / text.figure.dpi)


def shorten(text: str, most: int) -> str:
    """Cut a text in the middle, if it is longer than a number of characters.

    Examples
    --------
    >>> shorten("RandomForestClassifier(n_estimators=50)", 20)
    'RandomFore…ators=50)'
    """
    if len(text) <= most:
        return text
    head = (most + 1) // 2
    return f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"


def fit_count(length: float, size: float) -> int:
    """How many labels of a size fit into a length, both in pt."""
    return max(1, int(length / size))


def cm_to_points(length: float) -> float:
    """Convert cm to pt."""
    return length * POINTS_PER_CM
