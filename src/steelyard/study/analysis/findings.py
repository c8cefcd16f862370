"""Findings: what the paper says of the grid, checked on the rows of a run.

A check is a function of the rows that returns a Finding with the numbers, or None where the run has no
rows to check it on. Nothing is said that was not computed from the rows, and a verdict compares exactly
the numbers that are printed, rounded as they are printed: a reader can check it, and a tie supports
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from steelyard.heuristics import MEstimate
from steelyard.study.runner import StudyResults

from .ranks import CellMap, map_cells
from .rule_sets import first_fold, read_path

# "Where a measure is good" is the best tenth of the distinct cells by average rank: the very best cell
# alone moves far with the seed.
BEST_SHARE = 0.1


@dataclass(frozen=True)
class Finding:
    """A statement, whether the rows support it, and the numbers that say so.

    Examples
    --------
    >>> print(Finding("Larger m, fewer rules.", True, "correlation -0.98"))
    supported: Larger m, fewer rules. (correlation -0.98)
    """

    statement: str
    supported: bool
    numbers: str

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        return "supported" if self.supported else "contradicted"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.statement} ({self.numbers})"


def check_findings(study: StudyResults) -> list[Finding]:
    """All findings that the rows of a study can support or contradict."""
    found = (check(study) for check in _CHECKS)
    return [finding for finding in found if finding is not None]


def _cells(study: StudyResults, measure: str, heuristic: str = "m-estimate") -> CellMap | None:
    """The map of a measure, if the study has a grid worth the name."""
    if heuristic not in study.config.heuristics:
        return None
    cells = map_cells(study.results, measure, heuristic)
    return cells if len(cells.parameters) > 1 and len(cells.phis) > 1 else None


@dataclass(frozen=True)
class _Region:
    """Where the best tenth of the cells lies: medians of the step on the grid's m and of φ.

    The steps count from 1; the median of an even number of cells may lie half-way between two.
    """

    step: float
    phi: float
    parameters: NDArray[np.float64]

    def __str__(self) -> str:
        below, above = (self.parameters[f(self.step) - 1] for f in (math.floor, math.ceil))
        m = f"m = {below:g}" if below == above else f"m between {below:g} and {above:g}"
        return f"{m} (step {self.step:g} of {len(self.parameters)}), φ = {self.phi:g}"


def _best_region(cells: CellMap) -> _Region:
    # Where φ changes nothing (m = 0: every rule is perfect) or m no longer does (m beyond the number of
    # examples), cells hold the same theories; each is counted once, at the smallest m, the largest φ.
    ranks, first = np.unique(cells.mean_rank.T, return_index=True)
    n_best = max(1, round(BEST_SHARE * len(ranks)))
    columns, rows = np.unravel_index(first[:n_best], cells.mean_rank.T.shape)
    phi = round(float(np.median(cells.phis[rows])), 3)
    return _Region(float(np.median(columns)) + 1, phi, cells.parameters)


def _best_by_rank_among(cells: CellMap, is_wanted: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Parameter, φ and average rank of the best cell among some of the parameters."""
    ranks = np.where(is_wanted, cells.mean_rank, np.inf)
    i, j = divmod(int(np.argmin(ranks.T)), len(cells.phis))
    return float(cells.parameters[i]), float(cells.phis[j]), round(float(ranks[j, i]), 2)


def _precision_and_recall(study: StudyResults) -> Finding | None:
    precision, recall = _cells(study, "precision_micro"), _cells(study, "recall_micro")
    if precision is None or recall is None:
        return None
    p, r = _best_region(precision), _best_region(recall)
    correlation = round(_correlate(precision.mean_rank.ravel(), recall.mean_rank.ravel()), 2)
    return Finding(
        "Precision and recall compete: precision wants smaller m and stronger filtering than recall.",
        correlation < 0 and p.step < r.step and p.phi < r.phi,
        f"best tenth of the cells: precision {p}; recall {r}; correlation of their average ranks "
        f"over all cells {correlation:+.2f}",
    )


def _precision_at_zero(study: StudyResults) -> Finding | None:
    cells = _cells(study, "precision_micro")
    if cells is None or cells.parameters[0] != 0:
        return None
    _, _, at_zero = _best_by_rank_among(cells, cells.parameters == 0)
    m, phi, elsewhere = _best_by_rank_among(cells, cells.parameters != 0)
    n_best = sum(column == 0 for _, column in cells.best_cells().values())
    return Finding(
        "Selecting by precision (m = 0) does not give the highest overall precision.",
        elsewhere < at_zero,
        f"best average rank with m = 0 is {at_zero:.2f}, elsewhere {elsewhere:.2f} (m = {m:g}, "
        f"φ = {phi:g}); m = 0 is best on {n_best} of {len(cells.datasets)} data sets",
    )


def _f1_at_one(study: StudyResults) -> Finding | None:
    cells = _cells(study, "f1_micro", "f-measure")
    if cells is None or 1.0 not in cells.parameters:
        return None
    _, _, at_one = _best_by_rank_among(cells, cells.parameters == 1)
    beta, phi, elsewhere = _best_by_rank_among(cells, cells.parameters != 1)
    return Finding(
        "Selecting by F1 (β = 1) does not give the highest overall F1.",
        elsewhere < at_one,
        f"best average rank with β = 1 is {at_one:.2f}, elsewhere {elsewhere:.2f} (β = {beta:g}, "
        f"φ = {phi:g})",
    )


def _f1_wants_small_m(study: StudyResults) -> Finding | None:
    cells = _cells(study, "f1_micro")
    if cells is None:
        return None
    region = _best_region(cells)
    middle = (len(cells.parameters) + 1) / 2
    return Finding(
        "F1 wants small m.",
        region.step < middle,
        f"best tenth of the cells: {region}; the middle of the grid is step {middle:g}",
    )


def _more_consistency(study: StudyResults, measure: str, name: str) -> Finding | None:
    f1, other = _cells(study, "f1_micro"), _cells(study, measure)
    if f1 is None or other is None:
        return None
    f, o = _best_region(f1), _best_region(other)
    no_less = o.step <= f.step and o.phi <= f.phi
    return Finding(
        f"{name} wants even more consistency and stronger filtering than F1.",
        no_less and (o.step < f.step or o.phi < f.phi),
        f"best tenth of the cells: {name} {o}; F1 {f}",
    )


def _hamming_wants_more(study: StudyResults) -> Finding | None:
    return _more_consistency(study, "hamming", "Hamming accuracy")


def _subset_wants_more(study: StudyResults) -> Finding | None:
    return _more_consistency(study, "subset", "Subset accuracy")


def _fewer_rules(study: StudyResults) -> Finding | None:
    cells = _cells(study, "n_rules")
    if cells is None:
        return None
    n_rules = cells.values.mean(axis=0)
    position = np.arange(len(cells.parameters), dtype=np.float64)
    by_m = round(float(np.median([_correlate(position, row) for row in n_rules])), 2)
    by_phi = round(float(np.median([_correlate(cells.phis, column) for column in n_rules.T])), 2)
    return Finding(
        "Fewer rules with larger m and with smaller φ.",
        by_m < 0 < by_phi,
        f"rank correlation of the number of rules with m {by_m:+.2f}, with φ {by_phi:+.2f}; "
        f"{n_rules.max():.0f} rules at most, {n_rules.min():.0f} at least",
    )


def _conditions_depend_on_m(study: StudyResults) -> Finding | None:
    cells = _cells(study, "n_conditions")
    if cells is None:
        return None
    values = cells.values
    grand = values.mean(axis=(1, 2), keepdims=True)
    total = float(((values - grand) ** 2).sum())
    if total == 0:
        return None
    # Of the mean over φ, which depends on m alone, and the other way round.
    by_m, by_phi = (
        round(float(((mean - grand) ** 2).sum()) * values.shape[axis] / total, 3)
        for axis, mean in ((k, values.mean(axis=k, keepdims=True)) for k in (1, 2))
    )
    return Finding(
        "The number of conditions depends mostly on m.",
        by_m > by_phi,
        f"share of the variance explained by m {by_m:.1%}, by φ {by_phi:.1%}",
    )


def _cough_example(study: StudyResults) -> Finding | None:
    label, consistent, covering = "786.2:Cough", (16.0, 0.3), (262144.0, 1.0)
    cells = (consistent, covering)
    has_cells = all(
        MEstimate(m) in study.config.grid and phi in study.config.phis for m, phi in cells
    )
    if not has_cells or "medical" not in set(study.results["dataset"]):
        return None
    path = read_path(study, "medical")
    if path is None or label not in [known.name for known in path.labels]:
        return None
    specific, general = (
        [scored.rule for scored in path.theory(MEstimate(m), phi).rules_of(label)]
        for m, phi in cells
    )
    if not specific or not general:
        return None
    about_cough = sum(any("cough" in c.feature for c in rule.body) for rule in specific)
    lengths = [
        round(float(np.mean([len(rule) for rule in rules])), 1) for rules in (specific, general)
    ]
    return Finding(
        f"For {label} of medical, m = 16 and φ = 0.3 give rules around the word cough, m = 262144 and "
        "φ = 1 shorter ones.",
        2 * about_cough > len(specific) and lengths[1] < lengths[0],
        f"fold {first_fold(study)}: {len(specific)} rules with {lengths[0]:.1f} conditions each, "
        f"{about_cough} of them with the word; {len(general)} rules with {lengths[1]:.1f} conditions",
    )


def _correlate(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Spearman's rank correlation; 0 where one side is constant."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(spearmanr(a, b).statistic)


_CHECKS: tuple[Callable[[StudyResults], Finding | None], ...] = (
    _precision_and_recall,
    _precision_at_zero,
    _f1_at_one,
    _f1_wants_small_m,
    _hamming_wants_more,
    _subset_wants_more,
    _fewer_rules,
    _conditions_depend_on_m,
    _cough_example,
)
