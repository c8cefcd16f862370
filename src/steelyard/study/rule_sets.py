"""Example rule sets: the rules of one label at several cells of the grid, to read side by side.

Knows study results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.heuristics import Heuristic
from steelyard.model.rules import ScoredRule

from .config import StudyError
from .results import StudyResults

# As many as in the paper's example: few enough to read, enough to differ.
_READABLE_RULES = 5

Cell = tuple[float, float]


class RuleSet(NamedTuple):
    """The rules of a label at one cell, and the precision and recall of the whole theory.

    Parameters
    ----------
    dataset, label : str
    heuristic : Heuristic
    phi : float
    precision, recall : float
        Micro-averaged, mean over the folds.
    rules : tuple of ScoredRule
        Rules of the shown fold, best first.
    """

    dataset: str
    label: str
    heuristic: Heuristic
    phi: float
    precision: float
    recall: float
    rules: tuple[ScoredRule, ...]


def collect_rule_sets(
    study: StudyResults, label: str | None = None, cells: Sequence[Cell] | None = None
) -> list[RuleSet]:
    """Rule sets of a label at some cells; none if the theories were not saved.

    Parameters
    ----------
    study : StudyResults
    label : str, optional
        By default a label of the first data set with about five rules at the first cell.
    cells : sequence of (parameter, φ), optional
        By default the cells with the best F1 and the best recall of the data set, as in the paper's
        example, and the cell with the largest parameter and φ.
    """
    labels = {dataset: [known.name for known in p.labels] for dataset, p in study.paths.items()}
    dataset = next((d for d, names in labels.items() if label in [None, *names]), None)
    if dataset is None:
        if label is not None:
            raise StudyError(f"no data set of the study has a label {label!r}")
        return []
    family = study.config.families[0]
    measures = ("precision_micro", "recall_micro", "f1_micro")
    precision, recall, f1 = (study.cells(measure, family.name) for measure in measures)
    last = float(f1.parameters[-1]), float(f1.phis[0])
    suggested = f1.best_cell(dataset), recall.best_cell(dataset), last
    rule_sets = []
    for cell in cells or dict.fromkeys(suggested):
        values = precision.value_at(dataset, *cell), recall.value_at(dataset, *cell)
        heuristic, phi = family.make(cell[0]), cell[1]
        theory = study.paths[dataset].theory(heuristic, phi)
        if label is None:
            sizes = {name: len(theory.rules_of(name)) for name in theory.label_names}
            label = min(sizes, key=lambda name: abs(sizes[name] - _READABLE_RULES))
        rules = theory.rules_of(label)
        rule_sets.append(RuleSet(dataset, label, heuristic, phi, *values, rules))
    return rule_sets
