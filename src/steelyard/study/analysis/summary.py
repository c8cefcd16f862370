"""What a study says in a few numbers: best cells and tuned values of every data set."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.study.config import StudyConfig
from steelyard.study.runner import StudyResults

from .ranks import map_cells

SUMMARY_MEASURES = ("f1_micro", "hamming", "subset")


def list_summary_measures(config: StudyConfig) -> tuple[str, ...]:
    """The main measures of a study: the paper's three, and those that were tuned for.

    Examples
    --------
    >>> list_summary_measures(StudyConfig(tune=("hamming", "f1_macro")))
    ('f1_micro', 'hamming', 'subset', 'f1_macro')
    """
    return tuple(dict.fromkeys((*SUMMARY_MEASURES, *config.tune)))


class BestCell(NamedTuple):
    """The best cell of a data set for a measure: means over the folds."""

    dataset: str
    heuristic: str
    measure: str
    parameter: float
    phi: float
    value: float
    n_rules: float


class TunedValue(NamedTuple):
    """What the theories tuned for a measure achieve in it: means over the folds."""

    dataset: str
    heuristic: str
    tuned_for: str
    value: float
    n_rules: float


def find_best_cells(study: StudyResults) -> list[BestCell]:
    """The best cell of every data set and family for each of the main measures.

    Best in hindsight, on the test folds: it says what the grid holds, not what tuning would find.
    """
    found = []
    for heuristic in study.config.heuristics:
        n_rules = map_cells(study.results, "n_rules", heuristic)
        for measure in list_summary_measures(study.config):
            cells = map_cells(study.results, measure, heuristic)
            for d, dataset in enumerate(cells.datasets):
                j, i = cells.best_cells().get(dataset, (0, 0))
                found.append(
                    BestCell(
                        dataset,
                        heuristic,
                        measure,
                        float(cells.parameters[i]),
                        float(cells.phis[j]),
                        float(cells.values[d, j, i]),
                        float(n_rules.values[d, j, i]),
                    )
                )
    order = list(dict.fromkeys(study.results["dataset"]))
    return sorted(found, key=lambda cell: order.index(cell.dataset))


def average_tuned(study: StudyResults) -> list[TunedValue]:
    """Mean over the folds of the measure that was tuned for, with the size of the theories."""
    if study.tuned.empty:
        return []
    found = []
    for key, rows in study.tuned.groupby(["dataset", "heuristic", "tuned_for"], sort=False):
        dataset, heuristic, tuned_for = map(str, key)
        means = rows.groupby("measure")["value"].mean()
        value, n_rules = float(means[tuned_for]), float(means["n_rules"])
        found.append(TunedValue(dataset, heuristic, tuned_for, value, n_rules))
    return found
