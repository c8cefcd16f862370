"""Example rule sets: the rules of one label at several cells of the grid, for reading side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.heuristics import Heuristic
from steelyard.model.path import TheoryPath
from steelyard.model.rules import Rule
from steelyard.study.config import FAMILIES, StudyError
from steelyard.study.runner import StudyResults
from steelyard.study.store import StudyStore

from .ranks import map_cells

# As many as the paper's own example has: few enough to be read, enough to differ.
_READABLE_RULES = 5

Cell = tuple[float, float]


@dataclass(frozen=True)
class RuleSet:
    """The rules of a label at one cell, with what its whole theory achieves on the data set.

    Parameters
    ----------
    heuristic : Heuristic
    phi : float
    precision, recall : float
        Micro-averaged, mean of the folds.
    rules : tuple of Rule
        Of the first fold, best first.
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


def read_path(study: StudyResults, dataset: str, fold: int | None = None) -> TheoryPath | None:
    """The theories of a fold (the first of the study if none is named), if they are kept."""
    if fold is None:
        fold = first_fold(study)
    text = StudyStore(study.folder).read_theories(dataset, fold)
    return None if text is None else TheoryPath.from_json(text)


def first_fold(study: StudyResults) -> int:
    """The fold whose theories are shown."""
    return study.config.only_folds[0] if study.config.only_folds else 1


def collect_rule_sets(
    study: StudyResults,
    dataset: str | None = None,
    label: str | None = None,
    cells: Sequence[Cell] | None = None,
) -> RuleSetExample | None:
    """Rule sets of a label at some cells; by default those that the data suggests.

    The cells are by default those with the data set's best F1 and best recall, as in the paper's
    example, and the one that puts most weight on coverage; the label is the one that has about five
    rules at the first of them.

    Returns
    -------
    RuleSetExample, or None if the theories are not kept
    """
    datasets = list(dict.fromkeys(study.results["dataset"]))
    if dataset is None:
        dataset = _find_dataset(study, datasets, label)
    path = read_path(study, dataset)
    if path is None:
        return None
    family = study.config.heuristics[0]
    chosen = list(cells) if cells else _suggest_cells(study, dataset, family)
    make = FAMILIES[family][0]
    theories = [path.theory(make(p), phi) for p, phi in chosen]  # type: ignore[call-arg]
    if label is None:
        sizes = {name: len(theories[0].rules_of(name)) for name in theories[0].label_names}
        label = min(sizes, key=lambda name: abs(sizes[name] - _READABLE_RULES))
    rule_sets = []
    for (parameter, phi), theory in zip(chosen, theories, strict=True):
        rules = tuple(scored.rule for scored in theory.rules_of(label))
        precision, recall = (
            _value_at(study, dataset, family, parameter, phi, measure)
            for measure in ("precision_micro", "recall_micro")
        )
        heuristic = make(parameter)  # type: ignore[call-arg]
        rule_sets.append(RuleSet(heuristic, phi, precision, recall, rules))
    return RuleSetExample(dataset, label, first_fold(study), tuple(rule_sets))


def _find_dataset(study: StudyResults, datasets: Sequence[str], label: str | None) -> str:
    if label is None:
        return datasets[0]
    for dataset in datasets:
        path = read_path(study, dataset)
        if path is not None and label in [known.name for known in path.labels]:
            return dataset
    raise StudyError(f"no data set of the study has a label {label!r}")


def _suggest_cells(study: StudyResults, dataset: str, family: str) -> list[Cell]:
    rows = study.results[study.results["dataset"] == dataset]
    cells: list[Cell] = []
    for measure in ("f1_micro", "recall_micro"):
        found = map_cells(rows, measure, family)
        j, i = found.best_cells().get(dataset, (0, 0))
        cells.append((float(found.parameters[i]), float(found.phis[j])))
    cells.append((float(found.parameters[-1]), float(found.phis[0])))
    return list(dict.fromkeys(cells))


def _value_at(
    study: StudyResults, dataset: str, family: str, parameter: float, phi: float, measure: str
) -> float:
    rows = study.results
    rows = rows[
        (rows["dataset"] == dataset)
        & (rows["heuristic"] == family)
        & (rows["parameter"] == parameter)
        & (rows["phi"] == phi)
        & (rows["measure"] == measure)
    ]
    if rows.empty:
        raise StudyError(f"the study has no cell {parameter:g}:{phi:g}")
    return float(rows["value"].mean())
