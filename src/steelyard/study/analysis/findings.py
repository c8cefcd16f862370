"""Findings: the statements of the paper about the grid, checked on the cell maps of a study.

A verdict compares the numbers exactly as they are printed, so that a reader can check it. A tie, or a
verdict that depends on a single data set or fold, is "undecided". Knows cell maps and, for one example,
a theory path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from steelyard.heuristics import FMeasure, MEstimate
from steelyard.model.path import TheoryPath

from .ranks import CellMap

# A measure is good in the best tenth of the distinct cells by average rank. The single best cell
# changes too much with the seed.
BEST_SHARE = 0.1
# A verdict holds if it stays the same in this share of the studies without one data set or fold.
SAME_SHARE = 0.9


class Finding(NamedTuple):
    """A statement, "supported", "contradicted" or "undecided", and the numbers that were compared."""

    statement: str
    verdict: str
    numbers: str


def _judge(statement: str, supported: bool, contradicted: bool, numbers: str) -> Finding:
    verdict = "supported" if supported else "contradicted" if contradicted else "undecided"
    return Finding(statement, verdict, numbers)


def weigh_findings(
    found: Sequence[Finding], without: Sequence[Sequence[Finding]], part: str
) -> list[Finding]:
    """Findings with their uncertainty: how many verdicts stay the same without one part of the results.

    Parameters
    ----------
    found : sequence of Finding
    without : sequence of sequences of Finding
        The same findings on the results without each of the parts.
    part : str
        What a part is: "data set" or "fold".
    """
    weighed = []
    # A part may leave nothing to say about a statement, for example if the others need no rule.
    verdicts = [{other.statement: other.verdict for other in others} for others in without]
    for finding in found:
        n_same = sum(known.get(finding.statement) == finding.verdict for known in verdicts)
        verdict = finding.verdict if n_same >= SAME_SHARE * len(without) else "undecided"
        spread = f"the same without any one {part} in {n_same} of {len(without)} cases"
        if not without:
            spread = f"one {part} only, so that nothing is known about the spread"
        weighed.append(finding._replace(verdict=verdict, numbers=f"{finding.numbers}; {spread}"))
    return weighed


# Measure → cell map of one family.
Maps = Callable[[str], CellMap]


def check_findings(family: str, maps: Callable[[str, str], CellMap]) -> list[Finding]:
    """All findings that the cell maps of a family can support or contradict.

    Parameters
    ----------
    family : str
    maps : callable(measure, family)
    """

    def cells_of(measure: str) -> CellMap:
        return maps(measure, family)

    cells = cells_of("n_rules")
    if len(cells.parameters) < 2 or len(cells.phis) < 2:
        return []
    if family == FMeasure.name:
        return list(_check_own_parameter(cells_of("f1_micro"), "F1", "β", 1.0))
    if family != MEstimate.name:  # the paper says nothing about other families
        return []
    precision = _check_own_parameter(cells_of("precision_micro"), "precision", "m", 0.0)
    competing, *others = _check_regions(cells_of)
    return [competing, *precision, *others, *_check_sizes(cells, cells_of("n_conditions"))]


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


def _check_regions(cells_of: Maps) -> Iterator[Finding]:
    """Where precision, recall, F1 and the accuracies are best."""
    precision, recall = cells_of("precision_micro"), cells_of("recall_micro")
    p, r, f1 = map(_best_region, (precision, recall, cells_of("f1_micro")))
    correlation = _correlate([recall.mean_rank.ravel()], precision.mean_rank.ravel())
    yield _judge(
        "Precision and recall compete: precision is best at smaller m and smaller φ than recall.",
        correlation < 0 and p.step < r.step and p.phi < r.phi,
        correlation > 0 or p.step > r.step or p.phi > r.phi,
        f"best tenth of the cells: precision {p}; recall {r}; correlation of their average ranks "
        f"over all cells {correlation:+.2f}",
    )
    third, middle = (round(1 + (len(f1.parameters) - 1) / k, 1) for k in (3, 2))
    yield _judge(
        "F1 is best at small m.",
        f1.step <= third,
        f1.step >= middle,
        f"best tenth of the cells: {f1}; the first third of the grid ends at step {third:g}, the first "
        f"half at step {middle:g}",
    )
    for measure, name in [("hamming", "Hamming accuracy"), ("subset", "Subset accuracy")]:
        own = _best_region(cells_of(measure))
        is_less = own.step < f1.step or own.phi < f1.phi
        yield _judge(
            f"{name} is best at more consistency and stronger filtering than F1.",
            is_less and own.step <= f1.step and own.phi <= f1.phi,
            own.step > f1.step or own.phi > f1.phi,
            f"best tenth of the cells: {name} {own}; F1 {f1}",
        )


def _check_own_parameter(cells: CellMap, name: str, symbol: str, own: float) -> Iterator[Finding]:
    """Whether the parameter with which a heuristic equals a measure is the best one for it."""
    setting, is_own = f"{symbol} = {own:g}", cells.parameters == own
    if not is_own.any():
        return
    at_own = round(float(cells.mean_rank[:, is_own].min()), 2)
    others = np.where(is_own, np.inf, cells.mean_rank)
    elsewhere = round(float(others.min()), 2)
    i, j = divmod(int(np.argmin(others.T)), len(cells.phis))
    n_best = sum(is_own[i] for _, i in cells.best_cells.values())
    yield _judge(
        f"Selecting by {name} ({setting}) does not give the highest overall {name}.",
        elsewhere < at_own,
        elsewhere > at_own,
        f"best average rank with {setting} is {at_own:.2f}, elsewhere {elsewhere:.2f} "
        f"({symbol} = {cells.parameters[i]:g}, φ = {cells.phis[j]:g}); {setting} is best "
        f"on {n_best} of {len(cells.datasets)} data sets",
    )


def _check_sizes(rules: CellMap, conditions: CellMap) -> Iterator[Finding]:
    """How the number of rules and of conditions per rule depend on m and φ."""
    n_rules = rules.values.mean(axis=0)
    by_m = _correlate(n_rules, np.arange(len(rules.parameters)))
    by_phi = _correlate(n_rules.T, rules.phis)
    yield _judge(
        "The number of rules decreases with larger m and with smaller φ.",
        by_m < 0 < by_phi,
        by_m > 0 or by_phi < 0,
        f"rank correlation of the number of rules with m {by_m:+.2f}, with φ {by_phi:+.2f}; "
        f"between {n_rules.min():.0f} and {n_rules.max():.0f} rules",
    )
    values = conditions.values
    grand = values.mean(axis=(1, 2), keepdims=True)
    total = float(((values - grand) ** 2).sum())
    if total == 0:
        return
    # Axis 1 is φ: the mean over φ depends on m only, and vice versa.
    means = [values.mean(axis=k, keepdims=True) for k in (1, 2)]
    explained = [float(((mean - grand) ** 2).sum()) for mean in means]
    by_m, by_phi = (round(explained[k] * values.shape[k + 1] / total, 3) for k in (0, 1))
    yield _judge(
        "The number of conditions depends mostly on m.",
        by_m > by_phi,
        by_m < by_phi,
        f"share of the variance explained by m {by_m:.1%}, by φ {by_phi:.1%}",
    )


def _correlate(rows: Iterable[NDArray[np.float64]], values: NDArray[Any]) -> float:
    """The median of Spearman's rank correlations of each row; 0 if one side is constant."""
    varies = np.ptp(values) > 0
    found = [spearmanr(values, x).statistic if varies and np.ptp(x) > 0 else 0.0 for x in rows]
    return round(float(np.median(found)), 2)


def check_cough(path: TheoryPath | None, fold: int) -> Iterator[Finding]:
    """The paper's example of a label of medical, if the path has the label and the cells."""
    label, cells = "786.2:Cough", ((MEstimate(16.0), 0.3), (MEstimate(262144.0), 1.0))
    if path is None or label not in [known.name for known in path.labels]:
        return
    if any(h not in path.heuristics or phi not in path.phis for h, phi in cells):
        return
    specific, general = (path.theory(*cell).rules_of(label) for cell in cells)
    if not specific or not general:
        return
    n_about = sum(any("cough" in condition.feature for condition in r.body) for r in specific)
    lengths = [round(float(np.mean([*map(len, rules)])), 1) for rules in (specific, general)]
    yield _judge(
        f"For {label} of medical, the rules at m = 16 and φ = 0.3 are about the word cough; the rules "
        "at m = 262144 and φ = 1 are shorter.",
        2 * n_about > len(specific) and lengths[1] < lengths[0],
        2 * n_about < len(specific) or lengths[1] > lengths[0],
        f"fold {fold}: {len(specific)} rules with {lengths[0]:.1f} conditions each, {n_about} of "
        f"them with the word; {len(general)} rules with {lengths[1]:.1f} conditions",
    )
