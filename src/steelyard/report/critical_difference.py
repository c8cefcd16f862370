"""The critical-difference diagram: average ranks on a line; bars join methods that do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from steelyard._extras import from_extra
from steelyard.study.analysis.comparison import Comparison

from .titles import title_of, write_plain

# Width of a character of a method's name, in inches.
_CHARACTER_WIDTH = 0.065


@dataclass(eq=False)
class CriticalDifferenceDisplay:
    """Average ranks of methods; bars join those that differ by at most the critical difference.

    Parameters
    ----------
    methods : sequence of str
    average_ranks : array-like of shape (n_methods,)
    critical_difference : float
        Methods whose ranks differ by more are different (Nemenyi's test).
    differs : (n_methods, n_methods) bool, optional
        Which methods differ by another test, instead of the critical difference.
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

    methods: Sequence[str]
    average_ranks: ArrayLike
    critical_difference: float
    _: KW_ONLY
    differs: ArrayLike | None = None
    title: str = ""

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, alpha: float = 0.05, test: str = "nemenyi"
    ) -> Self:
        """Rank the methods of a comparison.

        Parameters
        ----------
        comparison : Comparison
            A comparison of at least two methods on at least two data sets.
        alpha : float, default=0.05
            Significance level.
        test : {"nemenyi", "wilcoxon-holm"}, default="nemenyi"
            Nemenyi's test compares average ranks. Wilcoxon's signed-rank test compares every pair by
            itself, with Holm's procedure; what other methods are compared does not change its ranks.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        if test not in ("nemenyi", "wilcoxon-holm"):
            raise ValueError(f"test must be 'nemenyi' or 'wilcoxon-holm', got {test!r}")
        title = f"{title_of(comparison.measure)}, {len(comparison.datasets)} data sets"
        friedman = comparison.friedman()
        if friedman is not None:
            title += f"; Friedman p = {friedman.p:.3g}"
        ranks, difference = comparison.average_ranks, comparison.critical_difference(alpha)
        differs = comparison.differing(alpha) if test == "wilcoxon-holm" else None
        return cls(comparison.methods, ranks, difference, differs=differs, title=title)

    def groups(self) -> list[tuple[int, int]]:
        """Longest runs of methods, sorted by rank, that do not differ: (first, last) positions."""
        order = np.argsort(self.average_ranks, kind="stable")
        ranks = np.asarray(self.average_ranks)[order]
        if self.differs is None:
            # A difference of exactly the critical one, up to rounding, is not significant.
            differs = np.abs(ranks[:, None] - ranks) > self.critical_difference + 1e-9
        else:
            differs = np.asarray(self.differs)[np.ix_(order, order)]
        n = len(ranks)
        last = [
            max(j for j in range(i, n) if not differs[i : j + 1, i : j + 1].any()) for i in range(n)
        ]
        runs = [(i, j) for i, j in enumerate(last) if j > i]
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
            with from_extra("report", "matplotlib"):
                import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
        n_methods, n_left = len(self.methods), (len(self.methods) + 1) // 2
        order = np.argsort(self.average_ranks, kind="stable")
        ranks = np.asarray(self.average_ranks)[order]
        labels = [f" {self.methods[i]} ({rank:.2f}) " for i, rank in zip(order, ranks, strict=True)]
        groups = self.groups()
        base = 0.35 + 0.28 * len(groups)
        for position, (label, rank) in enumerate(zip(labels, ranks, strict=True)):
            on_left = position < n_left
            level = base + 0.45 * (position if on_left else n_methods - 1 - position)
            end, side = (0.85, "right") if on_left else (n_methods + 0.15, "left")
            ax.plot([rank, rank, end], [0, -level, -level], color="0.25", linewidth=1)
            write_plain(ax.text, end, -level, label, ha=side, va="center", fontsize=9)
        for level, (first, last) in enumerate(groups):
            y = -0.18 - 0.28 * level
            ends = [ranks[first] - 0.04, ranks[last] + 0.04]
            ax.plot(ends, [y, y], color="#0072b2", linewidth=4, solid_capstyle="round")
        if self.differs is None:
            ax.plot([1, 1 + self.critical_difference], [0.55, 0.55], color="#0072b2", linewidth=1.5)
            ax.text(1, 0.65, f"critical difference {self.critical_difference:.2f}", fontsize=8)
        else:
            ax.text(1, 0.65, "joined: no difference by Wilcoxon's test with Holm", fontsize=8)
        ax.plot([0.85, n_methods + 0.15], [0, 0], color="black", linewidth=1)
        for tick in range(1, n_methods + 1):
            ax.plot([tick, tick], [0, 0.1], color="black", linewidth=1)
            ax.text(tick, 0.15, str(tick), ha="center", va="bottom", fontsize=8)
        # Leave room for the longest name on both sides of the axis.
        width = ax.figure.get_figwidth() * ax.get_position().width
        share = min(0.4, _CHARACTER_WIDTH * max(map(len, labels)) / width)
        room = share * (n_methods - 0.7) / (1 - 2 * share)
        ax.set_xlim(0.85 - room, n_methods + 0.15 + room)
        ax.set_ylim(-base - 0.45 * n_left, 1.0)
        ax.set_axis_off()
        write_plain(ax.set_title, self.title, fontsize=10)
        self.ax_, self.figure_ = ax, ax.figure
        return self
