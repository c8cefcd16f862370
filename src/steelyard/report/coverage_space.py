"""Coverage space: rules as points (false positives, true positives), a heuristic as isometrics."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from steelyard.estimators.rule_set import theory_path
from steelyard.heuristics import Heuristic, MEstimate, describe, get_heuristic
from steelyard.model.evidence import Label
from steelyard.model.path import TheoryPath
from steelyard.study.store import Arrays
from steelyard.study.units import N_SHOWN_CANDIDATES, count_candidates

from .layout import (
    Space,
    add_legend_below,
    count_legend_lines,
    new_panels,
    set_ticks,
    write_label,
    write_title,
)
from .styles import Style, get_style
from .titles import format_parameter

_CANDIDATE = {"alpha": 0.6, "linewidths": 0}
_SELECTED = {"edgecolor": "white", "linewidths": 0.5, "zorder": 3}
# Candidates up to which a PDF draws each of them as a shape.
_MOST_POINTS = 2_000
# More digits would hide the isometrics.
_MOST_DIGITS = 3


@dataclass(eq=False)
class CoverageSpaceDisplay:
    """Candidates and selected rules of a label in coverage space, with a heuristic's isometrics.

    A heuristic has the same value everywhere on an isometric. Where an isometric is steep, a false
    positive costs many true positives. Use `from_data` to create a display.

    Parameters
    ----------
    candidates_tp, candidates_fp : array-like
        True and false positives of each candidate.
    selected_tp, selected_fp : array-like
        True and false positives of each selected rule.
    heuristic : Heuristic
    label : Label
        Its numbers of examples with and without the target class are the size of the space.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from steelyard.report import CoverageSpaceDisplay
    >>> from steelyard import make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> display = CoverageSpaceDisplay.from_data(
    ...     data.X, data.Y, label="for juice", n_candidates=500, random_state=0
    ... )
    >>> bool((display.selected_tp <= display.label.n_positives).all())
    True
    """

    candidates_tp: ArrayLike
    candidates_fp: ArrayLike
    selected_tp: ArrayLike
    selected_fp: ArrayLike
    _: KW_ONLY
    heuristic: Heuristic
    label: Label
    #: The entries of the legend.
    entries: ClassVar[tuple[str, str, str]] = (
        "candidates",
        "selected rules",
        "no better than chance",
    )

    @classmethod
    def from_data(
        cls,
        X: Any,
        Y: Any,
        *,
        label: str,
        heuristic: Heuristic | str = MEstimate.name,
        n_candidates: int = N_SHOWN_CANDIDATES,
        random_state: int = 0,
    ) -> CoverageSpaceDisplay:
        """Learn the rules of a label.

        Parameters
        ----------
        X, Y : DataFrame
        label : str
            A column of Y.
        heuristic : Heuristic or str, default=MEstimate(m=16)
        n_candidates : int
            Number of candidates over all labels.
        random_state : int, default=0

        Returns
        -------
        CoverageSpaceDisplay
        """
        chosen = get_heuristic(heuristic)
        counts = count_candidates(X, Y, n_candidates, random_state)
        settings: Any = {"n_candidates": n_candidates, "random_state": random_state}
        path = theory_path(X, Y, [chosen], (1.0,), preset="paper", **settings)
        return cls.from_path(counts, path, label, chosen)

    @classmethod
    def from_path(
        cls, counts: Arrays, path: TheoryPath, label: str, heuristic: Heuristic
    ) -> CoverageSpaceDisplay:
        """Show the rules of a path that a heuristic selected for a label.

        Parameters
        ----------
        counts : dict of arrays
            The result of `count_candidates` for the examples of the path.
        path : TheoryPath
        label : str
        heuristic : Heuristic
            A heuristic of the path.

        Returns
        -------
        CoverageSpaceDisplay
        """
        names = [known.name for known in path.labels]
        if label not in names:
            raise ValueError(f"there is no label {label!r}; choose from {', '.join(names)}")
        i = names.index(label)
        selected = path.ranked[path.heuristics.index(heuristic)].rule_idx
        selected = selected[path.label_of_rule[selected] == i]
        own = counts["label"] == i
        points = counts["tp"][own], counts["fp"][own], path.tp[selected], path.fp[selected]
        return cls(*points, heuristic=heuristic, label=path.labels[i])

    @property
    def max_fp(self) -> float:
        """The right end of the figure: slightly more than the largest number of false positives."""
        largest = max(np.max(fp, initial=1) for fp in (self.candidates_fp, self.selected_fp))
        return float(max(1.0, min(self.label.n_negatives, 1.05 * largest)))

    def isometrics(self, n_points: int = 120) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """False positives, true positives and heuristic values on a regular grid of points."""
        ends = self.max_fp, max(self.label.n_positives, 1)
        fp, tp = np.meshgrid(*(np.linspace(0, end, n_points) for end in ends))
        values = self.heuristic(tp, fp, self.label.n_positives - tp, self.label.n_negatives - fp)
        return fp, tp, np.asarray(values)

    def plot(
        self, ax: Any = None, *, n_levels: int = 12, style: Style | str | None = None
    ) -> CoverageSpaceDisplay:
        """Draw the space, with its legend below it.

        Parameters
        ----------
        ax : Axes, optional
        n_levels : int, default=12
            Number of isometrics.
        style : Style or str, default="springer"

        Returns
        -------
        self
        """
        chosen = get_style(style)
        with chosen.context():
            if ax is None:
                n_lines = count_legend_lines(self.entries, chosen)
                space = Space(left=4.6, right=0.8, bottom=3.4 + 1.5 * n_lines, top=3.2)
                ax = new_panels(chosen, space=space, ratio=0.6, is_shown=True)[0, 0]
            self.draw(ax, chosen, n_levels)
            write_title(ax, chosen, *self.titles)
            add_legend_below([ax], chosen)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def draw(self, ax: Any, style: Style, n_levels: int = 12) -> None:
        """Draw the space without a legend."""
        ax.set_xlim(-0.02 * self.max_fp, self.max_fp)
        ax.set_ylim(-0.02 * self.label.n_positives, 1.02 * self.label.n_positives)
        fp, tp, values = self.isometrics()
        lines = ax.contour(fp, tp, values, levels=n_levels, cmap="viridis", linewidths=0.7)
        digits = count_digits(lines.levels)
        places = self._find_free_places(ax, lines, style) if digits <= _MOST_DIGITS else []
        if places:
            look: Any = {"fontsize": style.tick_size, "fmt": f"%.{digits}f", "inline_spacing": 1}
            ax.clabel(lines, manual=places, **look)
        # A PDF with very many points opens slowly, so they become pixels.
        as_pixels = {"rasterized": np.size(self.candidates_tp) > _MOST_POINTS}
        points = ax.scatter(
            self.candidates_fp, self.candidates_tp, 3, "0.45", **_CANDIDATE, **as_pixels
        )
        points.set_label(self.entries[0])
        points = ax.scatter(self.selected_fp, self.selected_tp, 18, "#d55e00", **_SELECTED)
        points.set_label(self.entries[1])
        chance = [0, self.label.n_negatives], [0, self.label.n_positives]
        ax.plot(*chance, color="0.3", linestyle=":", linewidth=1, label=self.entries[2])
        set_ticks(ax, style)
        n_positives, n_negatives = self.label.n_positives, self.label.n_negatives
        shorter = f"false positives (of {n_negatives})", "false positives"
        write_label(ax, "x", f"false positives (of {n_negatives} negatives)", *shorter)
        shorter = f"true positives (of {n_positives})", "true positives"
        write_label(ax, "y", f"true positives (of {n_positives} positives)", *shorter)

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the space, the longest first."""
        heuristic, name = describe(self.heuristic), self.label.name
        n_candidates, n_selected = np.size(self.candidates_tp), np.size(self.selected_tp)
        short = f"{n_selected} of {n_candidates:,} selected"
        counts = f"{n_selected} of {n_candidates:,} candidates are selected"
        symbol = self.heuristic.symbol
        value = f"{symbol} = {format_parameter(self.heuristic.parameter)}" if symbol else heuristic
        return (
            f"{name}: coverage space, {heuristic}\n{counts}",
            f"{name}: {heuristic}\n{counts}",
            f"{heuristic}\n{short}",
            f"{value}\n{short}",
            value,
        )

    def _find_free_places(self, ax: Any, lines: Any, style: Style) -> list[tuple[float, float]]:
        """A place for the label of each isometric, as far from all points as possible.

        Labels keep off the edges, off all points and off each other; a label without a place is
        omitted.
        """

        def to_points(places: Any) -> NDArray[np.float64]:
            pixels: NDArray[np.float64] = ax.transData.transform(places)
            return pixels * (72 / float(ax.figure.dpi))

        marks = [(self.candidates_fp, self.candidates_tp), (self.selected_fp, self.selected_tp)]
        taken = cKDTree(to_points(np.hstack([np.array(m, dtype=np.float64) for m in marks]).T))
        edges, size = to_points(np.transpose([ax.get_xlim(), ax.get_ylim()])), style.tick_size
        places: list[tuple[float, float]] = []
        labels: list[NDArray[np.float64]] = []
        for segments in lines.allsegs:
            path = np.concatenate([*segments, np.empty((0, 2))])
            path = np.concatenate(
                [path, (path[1:] + path[:-1]) / 2]
            )  # straight lines have two ends
            near = to_points(path)
            is_free = ((near > edges[0] + 1.6 * size) & (near < edges[1] - 1.6 * size)).all(axis=1)
            for label in labels:
                is_free &= np.hypot(*(near - label).T) > 3 * size
            distances = np.where(is_free, taken.query(near)[0], 0) if len(near) else np.zeros(1)
            best = int(np.argmax(distances))
            if distances[best] > 1.2 * size:
                places.append((float(path[best, 0]), float(path[best, 1])))
                labels.append(near[best])
        return places


def count_digits(levels: ArrayLike) -> int:
    """Digits after the point with which all levels look different.

    Examples
    --------
    >>> count_digits([0.47, 0.475, 0.48]), count_digits([0, 5, 10])
    (3, 0)
    """
    steps = np.diff(np.asarray(levels, dtype=np.float64))
    smallest = float(np.min(steps[steps > 0], initial=np.inf))
    if not np.isfinite(smallest):
        return _MOST_DIGITS + 1
    # A step of 0.005 needs three digits; 1e-9 is for steps that rounding made slightly smaller.
    return max(0, int(np.ceil(-np.log10(smallest) - 1e-9)))
