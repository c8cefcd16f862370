"""Curves of a measure with their spread over folds, and how they are drawn. Knows numbers only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.splitting import IterativeStratifiedKFold

from .layout import (
    Space,
    add_legend_below,
    count_legend_lines,
    fit_count,
    new_panels,
    panel_size,
    set_ticks,
    write_title,
)
from .styles import Style, get_style
from .titles import is_share, name_to_math, plain_text, short_title_of, title_of

# Colours that colour-blind readers can tell apart (Okabe and Ito); shapes and dashes repeat the
# difference for print without colour.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", "--", "-.", ":")
# An axis whose values differ by a larger factor is logarithmic.
_LARGEST_LINEAR = 8


class Curve(NamedTuple):
    """A measure at some positions.

    Parameters
    ----------
    name : str
    x, mean, sd : (n_points,)
        Positions, means and standard deviations over the folds; the deviation of one fold is NaN.
    """

    name: str
    x: NDArray[np.float64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]

    @classmethod
    def from_folds(cls, name: str, x: Any, values: Any) -> Curve:
        """Average positions and values of shape (n_folds, n_points) over the folds."""
        values = np.asarray(values, dtype=np.float64)
        one = np.full(values.shape[1], np.nan)
        sd = values.std(axis=0, ddof=1) if len(values) > 1 else one
        return cls(name, np.mean(x, axis=0, dtype=np.float64), values.mean(axis=0), sd)


class Point(NamedTuple):
    """A method with one position and one value; `curve` is the curve whose colour it has."""

    name: str
    x: float
    y: float
    curve: str = ""


@dataclass(eq=False)
class CurveDisplay:
    """Curves of a measure, with a band of one standard deviation, and points."""

    _x_label: ClassVar[str] = ""
    curves: Sequence[Curve]
    _: KW_ONLY
    measure: str
    points: Sequence[Point] = ()
    title: str = ""

    @property
    def x_label(self) -> str:
        """The name of the horizontal axis."""
        return self._x_label

    @property
    def names(self) -> list[str]:
        """The entries of the legend."""
        names = [curve.name for curve in self.curves] + [point.name for point in self.points]
        return [name_to_math(plain_text(name)) for name in names]

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles, the longest first."""
        if self.title:
            return (self.title,)
        return title_of(self.measure), short_title_of(self.measure)

    def plot(self, ax: Any = None, *, style: Style | str | None = None) -> Self:
        """Draw the curves, with a legend below them.

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
                n_lines = count_legend_lines(self.names, chosen)
                space = Space(left=4.4, right=0.8, bottom=3.4 + 1.5 * n_lines, top=1.9)
                ax = new_panels(chosen, space=space, ratio=0.5, is_shown=True)[0, 0]
            self.draw(ax, chosen)
            write_title(ax, chosen, *self.titles)
            add_legend_below([ax], chosen)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def draw(self, ax: Any, style: Style) -> None:
        """Draw the curves without a legend."""
        factor = 100 if is_share(self.measure) else 1
        labels = iter(self.names)
        colours = {}
        for i, curve in enumerate(self.curves):
            colour = colours[curve.name] = _COLOURS[i % len(_COLOURS)]
            mean, sd = factor * curve.mean, factor * curve.sd
            look: Any = {"color": colour, "linestyle": _DASHES[i % len(_DASHES)]}
            ax.plot(curve.x, mean, marker=".", markersize=3, label=next(labels), **look)
            if np.isfinite(sd).all():
                ax.fill_between(curve.x, mean - sd, mean + sd, color=colour, alpha=0.18, lw=0)
        for i, point in enumerate(self.points):
            other = _COLOURS[(len(self.curves) + i) % len(_COLOURS)]
            look = {"marker": _MARKERS[i % len(_MARKERS)], "color": colours.get(point.curve, other)}
            look |= {"linestyle": "none", "markersize": 4.5}
            look |= {"markeredgecolor": "black", "markeredgewidth": 0.4}
            ax.plot([point.x], [factor * point.y], label=next(labels), **look)
        ax.margins(0.08)
        self._scale(ax, style)
        set_ticks(ax, style)
        ax.set_xlabel(self.x_label)
        ax.set_ylabel(f"{title_of(self.measure)}{' (%)' if factor > 1 else ''}")

    def _scale(self, ax: Any, style: Style) -> None:
        """Make the horizontal axis logarithmic if it spans much, with plain numbers as ticks."""
        ax.locator_params(axis="y", nbins=5)
        x = np.concatenate([*(curve.x for curve in self.curves), [p.x for p in self.points]])
        x = x[x > 0]
        if not x.size or x.max() <= _LARGEST_LINEAR * x.min():
            ax.locator_params(axis="x", nbins=fit_count(panel_size(ax)[0], 4 * style.tick_size))
            return
        ax.set_xscale("log")
        ends = ax.get_xlim()
        powers = range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])))
        ticks = [n * 10.0**power for power in powers for n in (1, 2, 5)]
        ticks = [tick for tick in ticks if ends[0] <= tick <= ends[1]]
        # A digit is about 0.64 em wide; labels need a space between them.
        room = style.tick_size * (0.64 * max((len(f"{tick:g}") for tick in ticks), default=1) + 1)
        width = panel_size(ax)[0]
        scale = width / math.log10(ends[1] / ends[0])
        if scale * math.log10(2) < room:  # then 1, 10, 100 only
            ticks = [tick for tick in ticks if math.log10(tick).is_integer()] or ticks[:1]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_xticks([], minor=True)
        ax.set_xlim(ends)


def name_estimators(estimators: Any) -> Mapping[str, Any]:
    """Estimators by name: a mapping as it is, a single estimator by the name of its class."""
    if isinstance(estimators, Mapping):
        return estimators
    return {type(estimators).__name__: estimators}


def split_folds(
    X: Any, Y: Any, cv: Any, random_state: int
) -> Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and test rows of each fold: stratified folds for a number, else those of a splitter."""
    if isinstance(cv, Integral):
        cv = IterativeStratifiedKFold(int(cv), random_state=random_state)
    folds: Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]] = cv.split(X, Y)
    return folds
