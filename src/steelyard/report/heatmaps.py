"""Heat maps over the grid: average ranks with deviations, and values. Parameter across, φ down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from steelyard.study.analysis.ranks import CellMap, Values, map_cells

from .layout import (
    Space,
    dress_bar,
    fit_count,
    new_panels,
    panel_size,
    set_ticks,
    write_title,
)
from .styles import Style, get_style
from .titles import (
    format_parameter,
    is_share,
    short_title_of,
    symbol_of,
    thin_ticks,
    tick_of,
    title_of,
)

# Cells of a map up to which a PDF draws each of them as an area.
_MOST_AREAS = 10_000
# Around panels that have a colour bar each.
_OWN_BARS = Space(left=4.2, right=3.2, bottom=3.2, top=3.0, columns=8.0)


@dataclass(eq=False)
class _HeatmapDisplay:
    """A measure over the cells of a family."""

    _max_datasets: ClassVar[float] = math.inf
    cells: CellMap
    _: KW_ONLY
    measure: str
    heuristic: str
    symbol: str | None = None

    def __post_init__(self) -> None:
        if self.symbol is None:
            self.symbol = symbol_of(self.heuristic)

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        *,
        measure: str,
        dataset: str | None = None,
        heuristic: str | None = None,
        symbol: str | None = None,
    ) -> Self:
        """Map the cells of the rows of a study.

        Parameters
        ----------
        results : DataFrame
            The rows of results.csv.
        measure : str
        dataset : str, optional
            The only data set to show. A map of values requires it if the rows have several.
        heuristic : str, optional
            The family; required if the rows have several.
        symbol : str, optional
            The sign of the parameter of a family of your own.
        """
        known = list(dict.fromkeys(results["dataset"]))
        if dataset not in known and (dataset is not None or len(known) > cls._max_datasets):
            raise ValueError(f"dataset must be one of {', '.join(known)}, got {dataset!r}")
        if dataset is not None:
            results = results[results["dataset"] == dataset]
        cells = map_cells(results, measure, heuristic)
        family = heuristic or str(results["heuristic"].iloc[0])
        return cls(cells, measure=measure, heuristic=family, symbol=symbol)

    def draw(
        self, ax: Any, matrix: Values, cmap: str, style: Style, most: int | None, **limits: float
    ) -> Any:
        """Draw a matrix of shape (n_phis, n_parameters); return what a colour bar needs.

        The colour maps of this file keep their order in greyscale and for colour-blind readers. Cells
        are drawn as areas, not as pixels of an image, which a PDF would blur or cut; very many cells
        would make the file slow, so they become pixels.
        """
        n_phis, n_parameters = matrix.shape
        mesh = ax.pcolormesh(
            np.arange(n_parameters + 1) - 0.5,
            np.arange(n_phis + 1) - 0.5,
            matrix,
            cmap=cmap,
            edgecolors="face",  # otherwise viewers show white lines between the cells
            linewidth=0.1,
            rasterized=matrix.size > _MOST_AREAS,
            **limits,
        )
        ax.invert_yaxis()
        width, height = panel_size(ax)
        labels = [tick_of(value) if self.symbol else "" for value in self.cells.parameters]
        # A digit is about 0.64 em wide; labels need a space between them.
        room = style.tick_size * (0.64 * max(map(len, labels)) + 0.5)
        columns = thin_ticks(n_parameters, most or fit_count(width, room))
        ax.set_xticks(columns, [labels[i] for i in columns])
        limit = max(1, most // 2) if most else fit_count(height, 1.5 * style.tick_size)
        rows = thin_ticks(n_phis, limit)
        ax.set_yticks(rows, [f"{self.cells.phis[j]:g}" for j in rows])
        set_ticks(ax, style)
        ax.set_xlabel(self.symbol, style="italic")
        ax.set_ylabel("φ", rotation=0, labelpad=6, style="italic", va="center")
        return mesh

    def add_own_bar(self, ax: Any, mesh: Any, style: Style, *labels: str) -> Any:
        """Add a colour bar for one panel, which takes a part of the panel."""
        bar = ax.figure.colorbar(mesh, ax=ax)
        dress_bar(bar, style, *labels)
        return bar


def mark_cells(ax: Any, cells: Iterable[tuple[int, int]]) -> None:
    """Draw a red + at each cell (φ index, parameter index); marks in one cell are side by side."""
    for (row, column), count in Counter(cells).items():
        for offset in (np.arange(count) - (count - 1) / 2) * min(0.45, 0.9 / count):
            # The white rim keeps the mark visible on every colour.
            for colour, width in (("white", 2.4), ("#d00000", 1.2)):
                style = {"markersize": 6, "markeredgewidth": width, "linestyle": "none"}
                ax.plot(column + offset, row, marker="+", color=colour, **style)


class RankHeatmapDisplay(_HeatmapDisplay):
    """Average ranks of the cells over data sets, their standard deviation, and the best cells.

    Use `from_results` to create a display.

    Parameters
    ----------
    cells : CellMap
    measure, heuristic : str
    symbol : str, optional
        The sign of the parameter; by default that of the heuristic with this name.

    Attributes
    ----------
    ax_ : matplotlib Axes, or an array of two with the standard deviation
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from steelyard.report import RankHeatmapDisplay
    >>> import pandas as pd
    >>> rows = pd.DataFrame({
    ...     "dataset": ["a"] * 4 + ["b"] * 4, "fold": 1, "heuristic": "m-estimate",
    ...     "parameter": [0, 0, 2, 2] * 2, "phi": [1.0, 0.5] * 4, "measure": "hamming",
    ...     "value": [0.5, 0.6, 0.9, 0.8, 0.1, 0.2, 0.3, 0.4]})
    >>> display = RankHeatmapDisplay.from_results(rows, measure="hamming")
    >>> display.cells.mean_rank.tolist()
    [[4.0, 1.5], [3.0, 1.5]]
    """

    def plot(
        self, ax: Any = None, *, sd: bool = True, style: Style | str | None = None
    ) -> RankHeatmapDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : Axes or a pair of Axes, optional
            A single one shows the average ranks; a pair shows the standard deviation too.
        sd : bool, default=True
            Whether to draw the deviation if `ax` is not given. A single data set has none.
        style : Style or str, default="springer"

        Returns
        -------
        self
        """
        chosen = get_style(style)
        with chosen.context():
            if ax is None:
                n_panels = 1 + (sd and len(self.cells.datasets) > 1)
                panels = new_panels(chosen, 1, n_panels, _OWN_BARS, is_shown=True)[0]
                ax = panels if n_panels > 1 else panels[0]
            axes = np.atleast_1d(ax)
            mesh = self.draw_ranks(axes[0], chosen)
            write_title(axes[0], chosen, *self.rank_titles)
            turn_ranks(self.add_own_bar(axes[0], mesh, chosen, *self.bar_labels))
            if len(axes) > 1:
                mesh = self.draw_deviation(axes[1], chosen)
                write_title(axes[1], chosen, *self.deviation_titles)
                self.add_own_bar(axes[1], mesh, chosen, "standard deviation")
        self.ax_, self.figure_ = ax, axes[0].figure
        return self

    @property
    def bar_labels(self) -> tuple[str, str]:
        """What the colours of the average ranks mean, in many words and in few."""
        best = f"1 = {'best' if is_share(self.measure) else 'most'}"
        return f"rank of {self.cells.mean_rank.size}, {best}", best

    @property
    def rank_titles(self) -> tuple[str, ...]:
        """Titles of the average ranks, the longest first."""
        title, short = title_of(self.measure), short_title_of(self.measure)
        return f"{title}: average rank", f"{short}: average rank", f"{short}: rank", short

    @property
    def deviation_titles(self) -> tuple[str, ...]:
        """Titles of the standard deviations, the longest first."""
        title, short = title_of(self.measure), short_title_of(self.measure)
        words = ("standard deviation of ranks", "standard deviation", "deviation")
        return *(f"{title}: {word}" for word in words), f"{short}: deviation", short

    def draw_ranks(self, ax: Any, style: Style) -> Any:
        """Draw the average ranks without a colour bar, from 1 to the number of cells."""
        n_cells = self.cells.mean_rank.size
        # Small ranks are good, so this map is reversed: bright means good everywhere.
        limits = {"vmin": 1, "vmax": max(n_cells, 2)}
        mesh = self.draw(ax, self.cells.mean_rank, "viridis_r", style, None, **limits)
        mark_cells(ax, self.cells.best_cells.values())
        return mesh

    def draw_deviation(self, ax: Any, style: Style, most: float | None = None) -> Any:
        """Draw the standard deviation of the ranks without a colour bar, from 0 to `most`."""
        limits = {"vmin": 0, "vmax": most or max(float(self.cells.sd_rank.max()), 1.0)}
        return self.draw(ax, self.cells.sd_rank, "cividis", style, None, **limits)


def turn_ranks(bar: Any) -> None:
    """Let a colour bar of ranks begin with rank 1: at the top, or at the left if it is horizontal."""
    n_cells = round(bar.vmax)
    bar.set_ticks([1, *(round(n_cells * part / 4) for part in range(1, 5))] if n_cells > 8 else [1])
    if bar.orientation == "vertical":
        bar.ax.invert_yaxis()


class ValueHeatmapDisplay(_HeatmapDisplay):
    """The values of a measure over the grid, for one data set; a red + marks the best cell.

    Parameters
    ----------
    cells : CellMap
        The map of one data set.
    measure, heuristic : str
    symbol : str, optional
        The sign of the parameter; by default that of the heuristic with this name.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from steelyard.report import ValueHeatmapDisplay
    >>> import pandas as pd
    >>> rows = pd.DataFrame({
    ...     "dataset": "a", "fold": 1, "heuristic": "m-estimate", "parameter": [0, 0, 2, 2],
    ...     "phi": [1.0, 0.5] * 2, "measure": "hamming", "value": [0.5, 0.6, 0.9, 0.8]})
    >>> display = ValueHeatmapDisplay.from_results(rows, measure="hamming", dataset="a")
    >>> display.cells.values.tolist()
    [[[0.5, 0.9], [0.6, 0.8]]]
    """

    _max_datasets = 1

    def plot(
        self,
        ax: Any = None,
        *,
        max_ticks: int | None = None,
        style: Style | str | None = None,
    ) -> ValueHeatmapDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : Axes, optional
        max_ticks : int, optional
            Maximum number of labels on the horizontal axis, half as many on the vertical axis; by
            default as many as fit.
        style : Style or str, default="springer"

        Returns
        -------
        self
        """
        chosen = get_style(style)
        with chosen.context():
            if ax is None:
                ax = new_panels(chosen, space=_OWN_BARS, is_shown=True)[0, 0]
            mesh = self.draw_values(ax, chosen, max_ticks)
            write_title(ax, chosen, *self.titles)
            self.add_own_bar(ax, mesh, chosen)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def draw_values(self, ax: Any, style: Style, max_ticks: int | None = None) -> Any:
        """Draw the values without a colour bar."""
        is_percent = is_share(self.measure)
        values = self.cells.values[0] * (100 if is_percent else 1)
        mesh = self.draw(ax, values, "viridis", style, max_ticks)
        mark_cells(ax, self.cells.best_cells.values() if is_percent else ())
        return mesh

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the map, the longest first; those of a share name the best cell."""
        is_percent = is_share(self.measure)
        unit = " (%)" if is_percent else ""
        names = [
            f"{title}{unit}" for title in (title_of(self.measure), short_title_of(self.measure))
        ]
        forms = ["{}: {} at {}", "{}\n{} at {}", "{}: {}\n{}", "{}: {}", "{}\n{}"]
        words: tuple[str, ...] = ()
        for j, i in self.cells.best_cells.values() if is_percent else ():
            parameter = format_parameter(float(self.cells.parameters[i]))
            where = f"{self.symbol} = {parameter}, " * bool(self.symbol)
            best = f"best {100 * self.cells.values[0, j, i]:.1f}"
            words = (best, f"{where}φ = {self.cells.phis[j]:g}")
        texts = [form.format(name, *words) if words else name for form in forms for name in names]
        return (*texts, names[1])
