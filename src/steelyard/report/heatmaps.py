"""Heat maps over the grid: average ranks with deviations, and values. Parameter across, φ down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from steelyard._extras import from_extra
from steelyard.study.analysis.ranks import CellMap, Values, map_cells

from .titles import (
    format_parameter,
    is_share,
    symbol_of,
    thin_ticks,
    tick_of,
    title_of,
    write_plain,
)


@dataclass(eq=False)
class _HeatmapDisplay:
    """A measure over the cells of a family."""

    _max_datasets: ClassVar[float] = math.inf
    cells: CellMap
    _: KW_ONLY
    measure: str
    heuristic: str

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        *,
        measure: str,
        dataset: str | None = None,
        heuristic: str | None = None,
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
        """
        known = list(dict.fromkeys(results["dataset"]))
        if dataset not in known and (dataset is not None or len(known) > cls._max_datasets):
            raise ValueError(f"dataset must be one of {', '.join(known)}, got {dataset!r}")
        if dataset is not None:
            results = results[results["dataset"] == dataset]
        cells = map_cells(results, measure, heuristic)
        return cls(cells, measure=measure, heuristic=heuristic or str(results["heuristic"].iloc[0]))

    def draw(
        self, ax: Any, matrix: Values, cmap: str, title: str, max_ticks: int = 20, **limits: float
    ) -> Any:
        """Draw a matrix of shape (n_phis, n_parameters) with a colour bar; return the bar.

        The colour maps of this file keep their order in greyscale and for colour-blind readers.
        """
        image = ax.imshow(matrix, cmap=cmap, aspect="auto", interpolation="nearest", **limits)
        columns = thin_ticks(len(self.cells.parameters), max_ticks)
        symbol = symbol_of(self.heuristic)
        labels = [tick_of(self.cells.parameters[i]) if symbol else "" for i in columns]
        # Many labels such as 0.86 would overlap.
        is_crowded = len(labels) > 10 and max(map(len, labels)) > 3
        ax.set_xticks(columns, labels, fontsize=7, rotation=45 if is_crowded else 0)
        rows = thin_ticks(len(self.cells.phis), max(1, max_ticks // 2))
        ax.set_yticks(rows, [f"{self.cells.phis[j]:g}" for j in rows], fontsize=7)
        ax.tick_params(length=2)
        ax.set_xlabel(symbol, style="italic")
        ax.set_ylabel("φ", rotation=0, labelpad=8, style="italic")
        write_plain(ax.set_title, title, fontsize=10)
        return ax.figure.colorbar(image, ax=ax)


def mark_cells(ax: Any, cells: Iterable[tuple[int, int]]) -> None:
    """Draw a red + at each cell (φ index, parameter index); marks in one cell are side by side."""
    for (row, column), count in Counter(cells).items():
        for offset in (np.arange(count) - (count - 1) / 2) * min(0.45, 0.9 / count):
            # The white rim keeps the mark visible on every colour.
            for colour, width in (("white", 3.2), ("#d00000", 1.6)):
                style = {"markersize": 9, "markeredgewidth": width, "linestyle": "none"}
                ax.plot(column + offset, row, marker="+", color=colour, **style)


class RankHeatmapDisplay(_HeatmapDisplay):
    """Average ranks of the cells over data sets, their standard deviation, and the best cells.

    Use `from_results` to create a display.

    Parameters
    ----------
    cells : CellMap
    measure, heuristic : str

    Attributes
    ----------
    ax_ : matplotlib Axes, or an array of two with the standard deviation
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({
    ...     "dataset": ["a"] * 4 + ["b"] * 4, "fold": 1, "heuristic": "m-estimate",
    ...     "parameter": [0, 0, 2, 2] * 2, "phi": [1.0, 0.5] * 4, "measure": "hamming",
    ...     "value": [0.5, 0.6, 0.9, 0.8, 0.1, 0.2, 0.3, 0.4]})
    >>> display = RankHeatmapDisplay.from_results(rows, measure="hamming")
    >>> display.cells.mean_rank.tolist()
    [[4.0, 1.5], [3.0, 1.5]]
    """

    def plot(self, ax: Any = None, *, sd: bool = True) -> RankHeatmapDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : Axes or a pair of Axes, optional
            A single one shows the average ranks; a pair shows the standard deviation too.
        sd : bool, default=True
            Whether to draw the deviation if `ax` is not given. A single data set has none.

        Returns
        -------
        self
        """
        n_sets, n_cells = len(self.cells.datasets), self.cells.mean_rank.size
        if ax is None:
            with from_extra("report", "matplotlib"):
                import matplotlib.pyplot as plt

            n_panels = 1 + (sd and n_sets > 1)
            _, ax = plt.subplots(1, n_panels, figsize=(6.2 * n_panels, 4.4), layout="constrained")
        axes, title = np.atleast_1d(ax), title_of(self.measure)
        over = f"{n_sets} data sets" if n_sets > 1 else self.cells.datasets[0]
        heading = f"{title}: average rank, {over}"
        # Small ranks are good, so this map is reversed: bright means good everywhere.
        bar = self.draw(axes[0], self.cells.mean_rank, "viridis_r", heading, vmin=1, vmax=n_cells)
        bar.set_label(f"rank of {n_cells}, 1 = {'best' if is_share(self.measure) else 'most'}")
        bar.ax.invert_yaxis()
        mark_cells(axes[0], self.cells.best_cells.values())
        if len(axes) > 1:
            heading = f"{title}: standard deviation of ranks"
            bar = self.draw(axes[1], self.cells.sd_rank, "cividis", heading)
            bar.set_label("standard deviation")
        self.ax_, self.figure_ = ax, axes[0].figure
        return self


class ValueHeatmapDisplay(_HeatmapDisplay):
    """The values of a measure over the grid, for one data set; a red + marks the best cell.

    Parameters
    ----------
    cells : CellMap
        The map of one data set.
    measure, heuristic : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({
    ...     "dataset": "a", "fold": 1, "heuristic": "m-estimate", "parameter": [0, 0, 2, 2],
    ...     "phi": [1.0, 0.5] * 2, "measure": "hamming", "value": [0.5, 0.6, 0.9, 0.8]})
    >>> display = ValueHeatmapDisplay.from_results(rows, measure="hamming", dataset="a")
    >>> display.cells.values.tolist()
    [[[0.5, 0.9], [0.6, 0.8]]]
    """

    _max_datasets = 1

    def plot(self, ax: Any = None, *, max_ticks: int = 20) -> ValueHeatmapDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : Axes, optional
        max_ticks : int, default=20
            Maximum number of labels on the horizontal axis; half as many on the vertical axis.

        Returns
        -------
        self
        """
        if ax is None:
            with from_extra("report", "matplotlib"):
                import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(6.2, 4.4), layout="constrained")
        percent = is_share(self.measure)
        values = self.cells.values[0] * (100 if percent else 1)
        best = list(self.cells.best_cells.values()) if percent else []
        title = title_of(self.measure) + (" (%)" if percent and not best else "")
        for j, i in best:
            parameter = format_parameter(float(self.cells.parameters[i]))
            symbol = symbol_of(self.heuristic)
            where = f"{symbol} = {parameter}, " * bool(symbol) + f"φ = {self.cells.phis[j]:g}"
            title += f": best {values[j, i]:.1f} % at {where}"
        self.draw(ax, values, "viridis", title, max_ticks)
        mark_cells(ax, best)
        self.ax_, self.figure_ = ax, ax.figure
        return self
