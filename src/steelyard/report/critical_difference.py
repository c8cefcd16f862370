"""The critical-difference diagram: average ranks on a line; bars join methods that do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from steelyard.study.analysis.comparison import Comparison

from .layout import (
    Space,
    fit_count,
    new_panels,
    panel_size,
    shorten,
    text_width,
    write_title,
)
from .styles import Style, get_style
from .titles import name_to_math, plain_text, thin_ticks, title_of

# Height of a line of the diagram in em.
_LINE = 1.6
_BAR = "#0072b2"
# Names of methods are not cut further.
_FEWEST_CHARACTERS = 8


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
    >>> from steelyard.report import CriticalDifferenceDisplay
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

    def plot(
        self, ax: Any = None, *, style: Style | str | None = None
    ) -> CriticalDifferenceDisplay:
        """Draw the diagram, the best methods on the left.

        Parameters
        ----------
        ax : Axes, optional
        style : Style or str, default="springer"

        Returns
        -------
        self
        """
        chosen = get_style(style)
        with chosen.context():
            if ax is None:
                ax = self.new_panel(chosen, is_shown=True)
            self._draw(ax, chosen)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    def height(self) -> float:
        """Height of the diagram in lines of text: names, bars, axis and title."""
        return 3.3 + self._first_level + (len(self.methods) + 1) // 2

    @property
    def _first_level(self) -> float:
        """How far the first name is below the axis, in lines: below all bars."""
        return 0.8 + 0.6 * len(self.groups())

    def new_panel(self, style: Style, *, is_shown: bool = False) -> Any:
        """A panel that is as high as the diagram needs."""
        space = Space(left=0.3, right=0.3, bottom=0.3, top=1.8)
        width = style.width - style.em * (space.left + space.right)
        ratio = _LINE * style.em * self.height / width
        return new_panels(style, space=space, ratio=ratio, is_shown=is_shown)[0, 0]

    def _draw(self, ax: Any, style: Style) -> None:
        n_methods, n_left = len(self.methods), (len(self.methods) + 1) // 2
        order = np.argsort(self.average_ranks, kind="stable")
        ranks = np.asarray(self.average_ranks)[order]
        ax.set_axis_off()
        ax.set_ylim(-self.height + 3.3, 3.3)
        names = self._write_names(ax, style, order)
        # Names are beside the axis, which is as wide as they leave it.
        width = panel_size(ax)[0]
        share = max(text_width(text) for text in names) / width
        room = share * (n_methods - 0.7) / max(1 - 2 * share, 0.1)
        ax.set_xlim(0.85 - room, n_methods + 0.15 + room)
        for position, (text, rank) in enumerate(zip(names, ranks, strict=True)):
            is_left = position < n_left
            below = position if is_left else n_methods - 1 - position
            level, end = self._first_level + below, 0.85 if is_left else n_methods + 0.15
            ax.plot([rank, rank, end], [0, -level, -level], color="0.25", linewidth=0.7)
            text.set_position((end, -level))
        for number, (first, last) in enumerate(self.groups()):
            y = -0.5 - 0.6 * number
            ends = [ranks[first] - 0.04, ranks[last] + 0.04]
            ax.plot(ends, [y, y], color=_BAR, linewidth=2.5, solid_capstyle="round")
        self._draw_axis(ax, style)
        write_title(ax, style, self.title)

    def _write_names(self, ax: Any, style: Style, order: Any) -> list[Any]:
        """Write the methods, best first, so short that two fifths of the width suffice for each."""
        n_left, most = (len(self.methods) + 1) // 2, 0.4 * panel_size(ax)[0]
        texts = []
        for position, i in enumerate(order):
            side = "right" if position < n_left else "left"
            rank = f" ({np.asarray(self.average_ranks)[i]:.2f})"
            name = plain_text(self.methods[i])
            length = len(name)
            while True:
                # Spaces keep the name off the end of its line.
                shown = f" {name_to_math(shorten(name, length))}{rank} "
                text = ax.text(0, 0, shown, ha=side, va="center", fontsize=style.text_size)
                if text_width(text) <= most or length <= _FEWEST_CHARACTERS:
                    break
                text.remove()
                length -= 1
            texts.append(text)
        return texts

    def _draw_axis(self, ax: Any, style: Style) -> None:
        n_methods = len(self.methods)
        ax.plot([0.85, n_methods + 0.15], [0, 0], color="black", linewidth=0.7)
        length = ax.get_xlim()[1] - ax.get_xlim()[0]
        step = panel_size(ax)[0] / length
        shown = thin_ticks(n_methods, fit_count(step * n_methods, 2 * style.tick_size))
        for tick in range(1, n_methods + 1):
            ax.plot([tick, tick], [0, 0.25], color="black", linewidth=0.7)
            if tick - 1 in shown:
                size = {"ha": "center", "va": "bottom", "fontsize": style.tick_size}
                ax.text(tick, 0.35, str(tick), **size)
        if self.differs is None:
            ends = [1, 1 + self.critical_difference]
            ax.plot(ends, [1.75, 1.75], color=_BAR, linewidth=1.2)
            words = f"critical difference {self.critical_difference:.2f}"
        else:
            words = "joined: no difference by Wilcoxon's test with Holm"
        ax.text(1, 2.0, words, fontsize=style.tick_size, va="bottom")
