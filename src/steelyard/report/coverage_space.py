"""Coverage space: rules as points (false positives, true positives), a heuristic as isometrics."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard._extras import from_extra
from steelyard.estimators.rule_set import theory_path
from steelyard.heuristics import Heuristic, MEstimate, describe, get_heuristic
from steelyard.model.evidence import Label
from steelyard.model.path import TheoryPath
from steelyard.study.store import Arrays
from steelyard.study.units import N_SHOWN_CANDIDATES, count_candidates

from .titles import write_plain

_CANDIDATE = {"alpha": 0.6, "linewidths": 0, "rasterized": True}
_SELECTED = {"edgecolor": "white", "linewidths": 0.8, "zorder": 3}


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

    def plot(self, ax: Any = None, *, n_levels: int = 12) -> CoverageSpaceDisplay:
        """Draw the space.

        Parameters
        ----------
        ax : Axes, optional
        n_levels : int, default=12
            Number of isometrics.

        Returns
        -------
        self
        """
        if ax is None:
            with from_extra("report", "matplotlib"):
                import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(6.4, 5.0), layout="constrained")
        ax.set_xlim(-0.02 * self.max_fp, self.max_fp)
        ax.set_ylim(-0.02 * self.label.n_positives, 1.02 * self.label.n_positives)
        fp, tp, values = self.isometrics()
        lines = ax.contour(fp, tp, values, levels=n_levels, cmap="viridis", linewidths=1)
        if np.ptp(values) > 0.01:  # otherwise all labels would look the same
            ax.clabel(lines, fontsize=7, fmt="%.2g")
        points = ax.scatter(self.candidates_fp, self.candidates_tp, 5, "0.45", **_CANDIDATE)
        points.set_label(f"{np.size(self.candidates_tp):,} candidates")
        points = ax.scatter(self.selected_fp, self.selected_tp, 42, "#d55e00", **_SELECTED)
        points.set_label(f"{np.size(self.selected_tp)} selected rules")
        chance = [0, self.label.n_negatives], [0, self.label.n_positives]
        ax.plot(*chance, color="0.3", linestyle=":", linewidth=1, label="no better than chance")
        ax.set_xlabel(f"false positives (of {self.label.n_negatives} negatives)")
        ax.set_ylabel(f"true positives (of {self.label.n_positives} positives)")
        title = f"{self.label.name}: coverage space, {describe(self.heuristic)}"
        write_plain(ax.set_title, title, fontsize=10)
        ax.legend(loc="lower right", fontsize=8, framealpha=0.9)
        self.ax_, self.figure_ = ax, ax.figure
        return self
