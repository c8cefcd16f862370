"""Example rule sets: the rules of one label at several cells of the grid, to read side by side.

Knows cell maps and the theory path of one data set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steelyard.heuristics import Heuristic
from steelyard.model.path import TheoryPath
from steelyard.model.rules import Rule
from steelyard.model.theory import Theory
from steelyard.study.config import FAMILIES

from .ranks import CellMap

# As many as in the paper's example: few enough to read, enough to differ.
_READABLE_RULES = 5

Cell = tuple[float, float]


@dataclass(frozen=True)
class RuleSet:
    """The rules of a label at one cell, and the precision and recall of the whole theory.

    Parameters
    ----------
    heuristic : Heuristic
    phi : float
    precision, recall : float
        Micro-averaged, mean over the folds.
    rules : tuple of Rule
        Rules of the shown fold, best first.
    """

    heuristic: Heuristic
    phi: float
    precision: float
    recall: float
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class RuleSetExample:
    """Rule sets of one label side by side."""

    dataset: str
    label: str
    fold: int
    rule_sets: tuple[RuleSet, ...]


def list_rules(theory: Theory, label: str) -> tuple[Rule, ...]:
    """The rules of a label, best first."""
    return tuple(scored.rule for scored in theory.rules_of(label))


def collect_rule_sets(
    path: TheoryPath,
    cells_of: Callable[[str], CellMap],
    family: str,
    dataset: str,
    fold: int,
    label: str | None = None,
    cells: Sequence[Cell] | None = None,
) -> RuleSetExample:
    """Rule sets of a label at some cells.

    Parameters
    ----------
    path : TheoryPath
        The theories of the fold.
    cells_of : callable(measure)
        Cell maps of the family.
    family, dataset : str
    fold : int
    label : str, optional
        By default the label with about five rules at the first cell.
    cells : sequence of (parameter, φ), optional
        By default the cells with the best F1 and the best recall of the data set, as in the paper's
        example, and the cell with the largest parameter and φ.
    """
    chosen = list(cells) if cells else _suggest_cells(cells_of, dataset)
    precisions, recalls = (
        [cells_of(measure).value_at(dataset, *cell) for cell in chosen]
        for measure in ("precision_micro", "recall_micro")
    )
    heuristics = [FAMILIES[family][0](parameter) for parameter, _ in chosen]  # type: ignore[call-arg]
    phis = [phi for _, phi in chosen]
    theories = [path.theory(h, phi) for h, phi in zip(heuristics, phis, strict=True)]
    if label is None:
        sizes = {known.name: len(list_rules(theories[0], known.name)) for known in path.labels}
        label = min(sizes, key=lambda name: abs(sizes[name] - _READABLE_RULES))
    rules = [list_rules(theory, label) for theory in theories]
    rule_sets = map(RuleSet, heuristics, phis, precisions, recalls, rules)
    return RuleSetExample(dataset, label, fold, tuple(rule_sets))


def _suggest_cells(cells_of: Callable[[str], CellMap], dataset: str) -> list[Cell]:
    f1, recall = cells_of("f1_micro"), cells_of("recall_micro")
    last = float(f1.parameters[-1]), float(f1.phis[0])
    return list(dict.fromkeys([f1.best_cell(dataset), recall.best_cell(dataset), last]))
