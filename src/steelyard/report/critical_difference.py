"""The critical-difference diagram: average ranks on a line, methods that do not differ joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.study.analysis.comparison import Comparison

from .titles import title_of


class CriticalDifferenceDisplay:
    """Average ranks of methods; bars join those whose ranks differ by less than the critical difference.

    Parameters
    ----------
    methods : sequence of str
    average_ranks : array-like of shape (n_methods,)
    critical_difference : float
    title : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> display = CriticalDifferenceDisplay(["A", "B", "C"], [1.2, 1.9, 2.9], 1.0)
    >>> display.groups()
    [(0, 1), (1, 2)]
    """

    def __init__(
        self,
        methods: Sequence[str],
        average_ranks: ArrayLike,
        critical_difference: float,
        *,
        title: str = "",
    ) -> None:
        self.methods = list(methods)
        self.average_ranks = np.asarray(average_ranks, dtype=np.float64)
        self.critical_difference = critical_difference
        self.title = title

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, alpha: float = 0.05
    ) -> CriticalDifferenceDisplay:
        """Rank the methods of a comparison.

        Parameters
        ----------
        comparison : Comparison
            Of at least two methods and two data sets.
        alpha : float, default=0.05

        Returns
        -------
        CriticalDifferenceDisplay
        """
        title = f"{title_of(comparison.measure)}, {len(comparison.datasets)} data sets"
        friedman = comparison.friedman()
        if friedman is not None:
            title += f"; Friedman p = {friedman[1]:.3g}"
        return cls(
            comparison.methods,
            comparison.average_ranks,
            comparison.critical_difference(alpha),
            title=title,
        )

    def groups(self) -> list[tuple[int, int]]:
        """Longest runs of methods, sorted by rank, that do not differ: (first, last) positions."""
        ranks = np.sort(self.average_ranks)
        last = np.searchsorted(ranks, ranks + self.critical_difference, side="right") - 1
        runs = [(i, int(j)) for i, j in enumerate(last) if j > i]
        return [(i, j) for k, (i, j) in enumerate(runs) if k == 0 or j > runs[k - 1][1]]

    def plot(self, ax: Any = None) -> CriticalDifferenceDisplay:
        """Draw the diagram, the best methods on the left.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
        n_methods = len(self.methods)
        order = np.argsort(self.average_ranks, kind="stable")
        ranks = self.average_ranks[order]
        n_left = (n_methods + 1) // 2
        groups = self.groups()
        base = 0.35 + 0.28 * len(groups)
        for position, (method, rank) in enumerate(zip(order, ranks, strict=True)):
            on_left = position < n_left
            level = base + 0.45 * (position if on_left else n_methods - 1 - position)
            end = 0.85 if on_left else n_methods + 0.15
            ax.plot([rank, rank, end], [0, -level, -level], color="0.25", linewidth=1)
            ax.text(
                end,
                -level,
                f" {self.methods[method]} ({rank:.2f}) ",
                ha="right" if on_left else "left",
                va="center",
                fontsize=9,
            )
        for level, (first, last) in enumerate(groups):
            y = -0.18 - 0.28 * level
            ends = [ranks[first] - 0.04, ranks[last] + 0.04]
            ax.plot(ends, [y, y], color="#0072b2", linewidth=4, solid_capstyle="round")
        ax.plot([1, 1 + self.critical_difference], [0.55, 0.55], color="#0072b2", linewidth=1.5)
        ax.text(1, 0.65, f"critical difference {self.critical_difference:.2f}", fontsize=8)
        ax.axhline(0, color="black", linewidth=1)
        for tick in range(1, n_methods + 1):
            ax.plot([tick, tick], [0, 0.1], color="black", linewidth=1)
            ax.text(tick, 0.15, str(tick), ha="center", va="bottom", fontsize=8)
        ax.set_xlim(0.4, n_methods + 0.6)
        ax.set_ylim(-base - 0.45 * n_left, 1.0)
        ax.set_axis_off()
        ax.set_title(self.title, fontsize=10)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
