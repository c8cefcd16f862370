"""Heat maps over the grid: parameter across, φ down. Average ranks with deviations, and raw values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard.study.analysis.ranks import CellMap, map_cells

from .titles import SYMBOLS, format_parameter, is_share, thin_ticks, tick_of, title_of

# Both maps keep their order for colour-blind readers and in print. A small rank is good: reversed, so
# that bright means good in ranks and in values alike.
RANK_COLOURS = "viridis_r"
SD_COLOURS = "cividis"
VALUE_COLOURS = "viridis"


def draw_grid(
    ax: Any,
    matrix: NDArray[np.float64],
    cells: CellMap,
    *,
    heuristic: str,
    colours: str,
    title: str,
    max_ticks: int = 20,
    **limits: float,
) -> Any:
    """Draw a matrix (n_phis, n_parameters) with the axes of the grid; returns the image."""
    image = ax.imshow(matrix, cmap=colours, aspect="auto", interpolation="nearest", **limits)
    columns = thin_ticks(len(cells.parameters), max_ticks)
    labels = [tick_of(cells.parameters[i]) for i in columns]
    # Twenty labels such as 0.86 beside each other would run into one another.
    is_crowded = len(labels) > 10 and max(map(len, labels)) > 3
    ax.set_xticks(columns, labels, fontsize=7, rotation=45 if is_crowded else 0)
    rows = thin_ticks(len(cells.phis), max(1, max_ticks // 2))
    ax.set_yticks(rows, [f"{cells.phis[j]:g}" for j in rows], fontsize=7)
    ax.tick_params(length=2)
    ax.set_xlabel(SYMBOLS.get(heuristic, ""), style="italic")
    ax.set_ylabel("φ", rotation=0, labelpad=8, style="italic")
    ax.set_title(title, fontsize=10)
    return image


def mark_cells(ax: Any, cells: list[tuple[int, int]]) -> None:
    """A red + at each cell (φ index, parameter index); several in one cell stand side by side."""
    for (row, column), count in Counter(cells).items():
        offsets = (np.arange(count) - (count - 1) / 2) * min(0.45, 0.9 / count)
        for offset in offsets:
            # The white rim keeps the mark visible on every colour of the map.
            for colour, width in (("white", 3.2), ("#d00000", 1.6)):
                ax.plot(
                    column + offset,
                    row,
                    marker="+",
                    color=colour,
                    markersize=9,
                    markeredgewidth=width,
                    linestyle="none",
                )


class RankHeatmapDisplay:
    """Average ranks of the cells over data sets, their standard deviation, and each data set's best.

    It is recommended to use `from_results` to create one.

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

    def __init__(self, cells: CellMap, *, measure: str, heuristic: str) -> None:
        self.cells = cells
        self.measure = measure
        self.heuristic = heuristic

    @classmethod
    def from_results(
        cls, results: pd.DataFrame, *, measure: str, heuristic: str | None = None
    ) -> RankHeatmapDisplay:
        """Rank the cells of a study's rows.

        Parameters
        ----------
        results : DataFrame
            The content of results.csv.
        measure : str
        heuristic : str, optional
            The family, if the rows have several.

        Returns
        -------
        RankHeatmapDisplay
        """
        cells = map_cells(results, measure, heuristic)
        return cls(cells, measure=measure, heuristic=heuristic or str(results["heuristic"].iloc[0]))

    def plot(self, ax: Any = None, *, sd: bool = True) -> RankHeatmapDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : Axes or a pair of Axes, optional
            One draws the average ranks; a pair has the standard deviation beside them.
        sd : bool, default=True
            Whether to draw the deviation too, if `ax` is not given. Of one data set there is none.

        Returns
        -------
        self
        """
        if ax is None:
            import matplotlib.pyplot as plt

            n_panels = 2 if sd and len(self.cells.datasets) > 1 else 1
            _, ax = plt.subplots(1, n_panels, figsize=(6.2 * n_panels, 4.4), layout="constrained")
        axes = np.atleast_1d(ax)
        n_cells = self.cells.mean_rank.size
        n_sets = len(self.cells.datasets)
        over = f"{n_sets} data sets" if n_sets > 1 else self.cells.datasets[0]
        hint = ", 1 = most" if not is_share(self.measure) else ", 1 = best"
        image = draw_grid(
            axes[0],
            self.cells.mean_rank,
            self.cells,
            heuristic=self.heuristic,
            colours=RANK_COLOURS,
            title=f"{title_of(self.measure)}: average rank, {over}",
            vmin=1,
            vmax=n_cells,
        )
        bar = axes[0].figure.colorbar(image, ax=axes[0])
        bar.set_label(f"rank of {n_cells}{hint}")
        bar.ax.invert_yaxis()
        mark_cells(axes[0], list(self.cells.best_cells().values()))
        if len(axes) > 1:
            image = draw_grid(
                axes[1],
                self.cells.sd_rank,
                self.cells,
                heuristic=self.heuristic,
                colours=SD_COLOURS,
                title=f"{title_of(self.measure)}: standard deviation of ranks",
            )
            axes[1].figure.colorbar(image, ax=axes[1]).set_label("standard deviation")
        self.ax_ = ax
        self.figure_ = axes[0].figure
        return self


class ValueHeatmapDisplay:
    """A measure itself over the grid, for one data set; a red + marks the best cell.

    Parameters
    ----------
    cells : CellMap
        Of one data set.
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

    def __init__(self, cells: CellMap, *, measure: str, heuristic: str) -> None:
        self.cells = cells
        self.measure = measure
        self.heuristic = heuristic

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        *,
        measure: str,
        dataset: str | None = None,
        heuristic: str | None = None,
    ) -> ValueHeatmapDisplay:
        """Average the folds of one data set.

        Parameters
        ----------
        results : DataFrame
            The content of results.csv.
        measure : str
        dataset, heuristic : str, optional
            May be left out if the rows have only one.

        Returns
        -------
        ValueHeatmapDisplay
        """
        known = list(dict.fromkeys(results["dataset"]))
        if dataset is None and len(known) == 1:
            dataset = known[0]
        if dataset not in known:
            raise ValueError(f"dataset must be one of {', '.join(known)}, got {dataset!r}")
        rows = results[results["dataset"] == dataset]
        cells = map_cells(rows, measure, heuristic)
        return cls(cells, measure=measure, heuristic=heuristic or str(rows["heuristic"].iloc[0]))

    def plot(self, ax: Any = None, *, max_ticks: int = 20) -> ValueHeatmapDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : Axes, optional
        max_ticks : int, default=20
            Labels on the horizontal axis, and half as many on the vertical one.

        Returns
        -------
        self
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(6.2, 4.4), layout="constrained")
        values = self.cells.values[0]
        percent = is_share(self.measure)
        image = draw_grid(
            ax,
            100 * values if percent else values,
            self.cells,
            heuristic=self.heuristic,
            colours=VALUE_COLOURS,
            title=title_of(self.measure) + (" (%)" if percent else ""),
            max_ticks=max_ticks,
        )
        ax.figure.colorbar(image, ax=ax)
        if percent:
            mark_cells(ax, list(self.cells.best_cells().values()))
            for row, column in self.cells.best_cells().values():
                best = f"{100 * values[row, column]:.1f} %"
                where = format_parameter(float(self.cells.parameters[column]))
                ax.set_title(
                    f"{title_of(self.measure)}: best {best} at "
                    f"{SYMBOLS.get(self.heuristic, '')} = {where}, φ = {self.cells.phis[row]:g}",
                    fontsize=10,
                )
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
