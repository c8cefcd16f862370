"""Findings: the statements of the paper about the grid, checked on the cell maps of a study.

A verdict compares the numbers exactly as they are printed, so that a reader can check it; a tie does
not support a statement. Knows cell maps and, for one example, a theory path.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from steelyard.heuristics import FMeasure, MEstimate
from steelyard.model.path import TheoryPath
from steelyard.model.rules import Rule
from steelyard.model.theory import Theory

from .ranks import CellMap

# A measure is good in the best tenth of the distinct cells by average rank. The single best cell
# changes too much with the seed.
BEST_SHARE = 0.1


class Finding(NamedTuple):
    """A statement, whether the results support it, and the numbers that were compared.

    Examples
    --------
    >>> Finding("Larger m, fewer rules.", True, "correlation -0.98").verdict
    'supported'
    """

    statement: str
    supported: bool
    numbers: str

    @property
    def verdict(self) -> str:
        """The verdict in one word."""
        return "supported" if self.supported else "contradicted"


# Measure → cell map of one family.
Maps = Callable[[str], CellMap]


def check_findings(family: str, cells_of: Maps) -> list[Finding]:
    """All findings that the cell maps of a family can support or contradict.

    Parameters
    ----------
    family : str
    cells_of : callable(measure)
    """
    cells = cells_of("n_rules")
    if len(cells.parameters) < 2 or len(cells.phis) < 2:
        return []
    found = (check(cells_of) for check in _CHECKS.get(family, ()))
    return [finding for finding in found if finding is not None]


class _Region(NamedTuple):
    """Where the best tenth of the cells lies: the medians of the step on the grid of m, and of φ.

    Steps count from 1; the median of an even number of cells may lie between two steps.
    """

    step: float
    phi: float
    parameters: NDArray[np.float64]

    def __str__(self) -> str:
        below, above = (self.parameters[f(self.step) - 1] for f in (math.floor, math.ceil))
        m = f"m = {below:g}" if below == above else f"m between {below:g} and {above:g}"
        return f"{m} (step {self.step:g} of {len(self.parameters)}), φ = {self.phi:g}"


def _best_region(cells: CellMap) -> _Region:
    # Neighbouring cells can hold the same theories: φ changes nothing at m = 0, where every rule is
    # perfect, and m changes nothing beyond the number of examples. Count each theory once, at the
    # smallest m and the largest φ.
    ranks, first = np.unique(cells.mean_rank.T, return_index=True)
    n_best = max(1, round(BEST_SHARE * len(ranks)))
    columns, rows = np.unravel_index(first[:n_best], cells.mean_rank.T.shape)
    phi = round(float(np.median(cells.phis[rows])), 3)
    return _Region(float(np.median(columns)) + 1, phi, cells.parameters)


def _precision_and_recall(cells_of: Maps) -> Finding:
    precision, recall = cells_of("precision_micro"), cells_of("recall_micro")
    p, r = _best_region(precision), _best_region(recall)
    correlation = round(_correlate(precision.mean_rank.ravel(), recall.mean_rank.ravel()), 2)
    return Finding(
        "Precision and recall compete: precision is best at smaller m and smaller φ than recall.",
        correlation < 0 and p.step < r.step and p.phi < r.phi,
        f"best tenth of the cells: precision {p}; recall {r}; correlation of their average ranks "
        f"over all cells {correlation:+.2f}",
    )


def _selecting_by(
    cells_of: Maps, measure: str, name: str, symbol: str, own: float
) -> Finding | None:
    """Whether the parameter with which a heuristic equals a measure is the best one for it."""
    cells = cells_of(measure)
    if own not in cells.parameters:
        return None
    is_own = cells.parameters == own
    at_own = round(float(cells.mean_rank[:, is_own].min()), 2)
    others = np.where(is_own, np.inf, cells.mean_rank)
    elsewhere = round(float(others.min()), 2)
    i, j = divmod(int(np.argmin(others.T)), len(cells.phis))
    n_best = sum(cells.parameters[i] == own for _, i in cells.best_cells.values())
    return Finding(
        f"Selecting by {name} ({symbol} = {own:g}) does not give the highest overall {name}.",
        elsewhere < at_own,
        f"best average rank with {symbol} = {own:g} is {at_own:.2f}, elsewhere {elsewhere:.2f} "
        f"({symbol} = {cells.parameters[i]:g}, φ = {cells.phis[j]:g}); {symbol} = {own:g} is best "
        f"on {n_best} of {len(cells.datasets)} data sets",
    )


def _f1_at_small_m(cells_of: Maps) -> Finding:
    cells = cells_of("f1_micro")
    region = _best_region(cells)
    middle = (len(cells.parameters) + 1) / 2
    return Finding(
        "F1 is best at small m.",
        region.step < middle,
        f"best tenth of the cells: {region}; the middle of the grid is step {middle:g}",
    )


def _more_consistency(cells_of: Maps, measure: str, name: str) -> Finding:
    f, o = _best_region(cells_of("f1_micro")), _best_region(cells_of(measure))
    no_less = o.step <= f.step and o.phi <= f.phi
    return Finding(
        f"{name} is best at more consistency and stronger filtering than F1.",
        no_less and (o.step < f.step or o.phi < f.phi),
        f"best tenth of the cells: {name} {o}; F1 {f}",
    )


def _fewer_rules(cells_of: Maps) -> Finding:
    cells = cells_of("n_rules")
    n_rules = cells.values.mean(axis=0)
    position = np.arange(len(cells.parameters), dtype=np.float64)
    by_m = round(float(np.median([_correlate(position, row) for row in n_rules])), 2)
    by_phi = round(float(np.median([_correlate(cells.phis, column) for column in n_rules.T])), 2)
    return Finding(
        "The number of rules decreases with larger m and with smaller φ.",
        by_m < 0 < by_phi,
        f"rank correlation of the number of rules with m {by_m:+.2f}, with φ {by_phi:+.2f}; "
        f"between {n_rules.min():.0f} and {n_rules.max():.0f} rules",
    )


def _conditions_depend_on_m(cells_of: Maps) -> Finding | None:
    values = cells_of("n_conditions").values
    grand = values.mean(axis=(1, 2), keepdims=True)
    total = float(((values - grand) ** 2).sum())
    if total == 0:
        return None
    # Axis 1 is φ: the mean over φ depends on m only, and vice versa.
    by_m, by_phi = (
        round(float(((mean - grand) ** 2).sum()) * values.shape[axis] / total, 3)
        for axis, mean in ((k, values.mean(axis=k, keepdims=True)) for k in (1, 2))
    )
    return Finding(
        "The number of conditions depends mostly on m.",
        by_m > by_phi,
        f"share of the variance explained by m {by_m:.1%}, by φ {by_phi:.1%}",
    )


def _correlate(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Spearman's rank correlation; 0 if one side is constant."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(spearmanr(a, b).statistic)


_CHECKS: dict[str, tuple[Callable[[Maps], Finding | None], ...]] = {
    MEstimate.name: (
        _precision_and_recall,
        partial(_selecting_by, measure="precision_micro", name="precision", symbol="m", own=0.0),
        _f1_at_small_m,
        partial(_more_consistency, measure="hamming", name="Hamming accuracy"),
        partial(_more_consistency, measure="subset", name="Subset accuracy"),
        _fewer_rules,
        _conditions_depend_on_m,
    ),
    FMeasure.name: (partial(_selecting_by, measure="f1_micro", name="F1", symbol="β", own=1.0),),
}


def list_rules(theory: Theory, label: str) -> tuple[Rule, ...]:
    """The rules of a label, best first."""
    return tuple(scored.rule for scored in theory.rules_of(label))


def check_cough(path: TheoryPath, fold: int) -> Finding | None:
    """The paper's example of a label of medical; None if the path lacks the label or the cells."""
    label, cells = "786.2:Cough", ((MEstimate(16.0), 0.3), (MEstimate(262144.0), 1.0))
    has_label = label in [known.name for known in path.labels]
    if not has_label or any(h not in path.heuristics or phi not in path.phis for h, phi in cells):
        return None
    specific, general = (list_rules(path.theory(*cell), label) for cell in cells)
    if not specific or not general:
        return None
    n_about = sum(any("cough" in condition.feature for condition in r.body) for r in specific)
    lengths = [round(float(np.mean([*map(len, rules)])), 1) for rules in (specific, general)]
    return Finding(
        f"For {label} of medical, the rules at m = 16 and φ = 0.3 are about the word cough; the rules "
        "at m = 262144 and φ = 1 are shorter.",
        2 * n_about > len(specific) and lengths[1] < lengths[0],
        f"fold {fold}: {len(specific)} rules with {lengths[0]:.1f} conditions each, {n_about} of "
        f"them with the word; {len(general)} rules with {lengths[1]:.1f} conditions",
    )
