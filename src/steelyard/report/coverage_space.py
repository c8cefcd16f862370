"""Coverage space: rules as points (false positives, true positives), a heuristic as isometrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.estimators.rule_set import theory_path
from steelyard.heuristics import Heuristic, MEstimate, describe, get_heuristic
from steelyard.study.candidate_counts import N_SHOWN_CANDIDATES, count_candidates


class CoverageSpaceDisplay:
    """Candidates and selected rules of a label in coverage space, with a heuristic's isometrics.

    Along an isometric the heuristic has one value: where it is steep, a false positive costs many true
    ones. It is recommended to use `from_data` to create a display.

    Parameters
    ----------
    candidates_tp, candidates_fp : array-like
        True and false positives of each candidate.
    selected_tp, selected_fp : array-like
        The same of the selected rules.
    n_positives, n_negatives : int
        Of the label: the size of the space.
    heuristic : Heuristic
    label : str

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
    >>> bool((display.selected_tp <= display.n_positives).all())
    True
    """

    def __init__(
        self,
        candidates_tp: ArrayLike,
        candidates_fp: ArrayLike,
        selected_tp: ArrayLike,
        selected_fp: ArrayLike,
        *,
        n_positives: int,
        n_negatives: int,
        heuristic: Heuristic,
        label: str,
    ) -> None:
        self.candidates_tp = np.asarray(candidates_tp)
        self.candidates_fp = np.asarray(candidates_fp)
        self.selected_tp = np.asarray(selected_tp)
        self.selected_fp = np.asarray(selected_fp)
        self.n_positives = n_positives
        self.n_negatives = n_negatives
        self.heuristic = heuristic
        self.label = label

    @classmethod
    def from_data(
        cls,
        X: Any,
        Y: Any,
        *,
        label: str,
        heuristic: Heuristic | str | None = None,
        n_candidates: int = N_SHOWN_CANDIDATES,
        random_state: int = 0,
    ) -> CoverageSpaceDisplay:
        """Learn the rules of a label and place them.

        Parameters
        ----------
        X, Y : DataFrame
        label : str
            A column of Y.
        heuristic : Heuristic or str, default=MEstimate(m=16)
        n_candidates : int
            Over all labels.
        random_state : int, default=0

        Returns
        -------
        CoverageSpaceDisplay
        """
        names = [str(name) for name in Y.columns]
        if label not in names:
            raise ValueError(f"there is no label {label!r}; there is {', '.join(map(repr, names))}")
        chosen = MEstimate() if heuristic is None else get_heuristic(heuristic)
        i = names.index(label)
        counts = count_candidates(X, Y, n_candidates, random_state)
        path = theory_path(
            X, Y, [chosen], (1.0,), n_candidates=n_candidates, random_state=random_state
        )
        is_ours, is_selected = counts.label == i, path.label_of_rule == i
        return cls(
            counts.tp[is_ours],
            counts.fp[is_ours],
            path.tp[is_selected],
            path.fp[is_selected],
            n_positives=int(counts.n_positives[i]),
            n_negatives=int(counts.n_negatives[i]),
            heuristic=chosen,
            label=label,
        )

    @property
    def max_fp(self) -> float:
        """How far the space is shown: rules that cover most negatives are rare, so up to the last."""
        covered = np.concatenate([self.candidates_fp, self.selected_fp, [1]])
        return float(max(1.0, min(self.n_negatives, 1.05 * covered.max())))

    def isometrics(self, n_points: int = 120) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """False positives, true positives and heuristic values on a lattice over the shown space."""
        fp, tp = np.meshgrid(
            np.linspace(0, self.max_fp, n_points),
            np.linspace(0, max(self.n_positives, 1), n_points),
        )
        values = self.heuristic(tp, fp, self.n_positives - tp, self.n_negatives - fp)
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
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(6.4, 5.0), layout="constrained")
        ax.set_xlim(-0.02 * self.max_fp, self.max_fp)
        ax.set_ylim(-0.02 * self.n_positives, 1.02 * self.n_positives)
        fp, tp, values = self.isometrics()
        lines = ax.contour(fp, tp, values, levels=n_levels, cmap="viridis", linewidths=1)
        if np.ptp(values) > 0.01:  # values that differ in the fourth digit say nothing
            ax.clabel(lines, fontsize=7, fmt="%.2g")
        ax.scatter(
            self.candidates_fp,
            self.candidates_tp,
            s=5,
            color="0.45",
            alpha=0.6,
            linewidths=0,
            label=f"{len(self.candidates_tp):,} candidates",
            rasterized=True,
        )
        ax.scatter(
            self.selected_fp,
            self.selected_tp,
            s=42,
            color="#d55e00",
            edgecolor="white",
            linewidths=0.8,
            zorder=3,
            label=f"{len(self.selected_tp)} selected rules",
        )
        ax.plot(
            [0, self.n_negatives],
            [0, self.n_positives],
            color="0.3",
            linestyle=":",
            linewidth=1,
            label="no better than chance",
        )
        ax.set_xlabel(f"false positives (of {self.n_negatives} negatives)")
        ax.set_ylabel(f"true positives (of {self.n_positives} positives)")
        ax.set_title(f"{self.label}: coverage space, {describe(self.heuristic)}", fontsize=10)
        ax.legend(loc="lower right", fontsize=8, framealpha=0.9)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
