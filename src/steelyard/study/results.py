"""StudyResults: the rows of a study and everything derived from them, computed once.

This is the only module that reads a results folder. Tables, figures, the page and the terminal take a
`StudyResults` and open no files.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd

from steelyard._files import read_text
from steelyard.model.path import TheoryPath

from .analysis.comparison import Comparison, MethodMeans, average_methods, compare_methods
from .analysis.findings import Finding, check_cough, check_findings
from .analysis.published import describe_differences
from .analysis.ranks import BestCell, CellMap, map_cells
from .candidate_counts import CandidateCounts
from .config import StudyConfig, StudyError, config_from_toml
from .rows import empty_rows
from .store import StudyStore
from .units import Unit

_MAIN_MEASURES = ("f1_micro", "hamming", "subset")
_NUMBERS = {"fold": int, "parameter": float, "phi": float, "value": float}


@dataclass(frozen=True, eq=False)
class StudyResults:
    """The results of a study.

    Parameters
    ----------
    folder : Path
        The results folder.
    config : StudyConfig
    results, tuned, baselines : DataFrame
        Tidy rows; the last two have no rows if the study did not ask for them.
    run : dict
        The content of run.json: versions, hashes and seconds.
    """

    folder: Path
    config: StudyConfig
    results: pd.DataFrame
    tuned: pd.DataFrame
    baselines: pd.DataFrame
    run: dict[str, Any]
    _cells: dict[tuple[str, str], CellMap] = field(default_factory=dict, init=False, repr=False)
    _paths: dict[str, TheoryPath | None] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return tuple(dict.fromkeys(self.results["dataset"]))

    @property
    def main_measures(self) -> tuple[str, ...]:
        """The measures of the tables: the paper's three, and those that were tuned for."""
        return tuple(dict.fromkeys((*_MAIN_MEASURES, *self.config.tune)))

    @property
    def shown_fold(self) -> int:
        """The fold whose theories and examples are shown: the first of the study."""
        return (*self.config.only_folds, 1)[0]

    # Files of the shown fold

    def path(self, dataset: str) -> TheoryPath | None:
        """All theories of the shown fold, or None if they were not saved."""
        if dataset not in self._paths:
            text = StudyStore(self.folder).read_theories(dataset, self.shown_fold)
            self._paths[dataset] = None if text is None else TheoryPath.from_json(text)
        return self._paths[dataset]

    def examples(self, dataset: str) -> dict[str, Any] | None:
        """Held-out examples of the shown fold, or None if they were not saved."""
        file = self.folder / "examples" / f"{dataset}.json"
        return json.loads(read_text(file)) if file.exists() else None

    def candidate_counts(self, dataset: str) -> CandidateCounts | None:
        """What the candidates of the shown fold cover, or None if the counts were not saved."""
        unit = Unit("candidates", dataset, self.shown_fold)
        arrays = StudyStore(self.folder).read_unit(unit.name)
        return None if arrays is None else CandidateCounts(**arrays)

    # Derived from the rows

    def cells(self, measure: str, heuristic: str) -> CellMap:
        """A measure over the grid of a family of heuristics, for all data sets."""
        key = measure, heuristic
        if key not in self._cells:
            self._cells[key] = map_cells(self.results, measure, heuristic)
        return self._cells[key]

    @cached_property
    def best_cells(self) -> list[BestCell]:
        """The best cell of every data set and family for each of the main measures.

        The cells are chosen on the test folds: they show what the grid contains, not what tuning finds.
        """
        found = []
        keys = itertools.product(self.datasets, self.config.heuristics, self.main_measures)
        for dataset, family, measure in keys:
            cells, n_rules = self.cells(measure, family), self.cells("n_rules", family)
            cell = cells.best_cell(dataset)
            values = cells.value_at(dataset, *cell), n_rules.value_at(dataset, *cell)
            found.append(BestCell(dataset, family, measure, *cell, *values))
        return found

    @cached_property
    def method_means(self) -> list[MethodMeans]:
        """The means of the baselines and of the tuned theories, per data set."""
        return average_methods(self.baselines, self.tuned)

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """Baselines and tuned theories side by side, for each of the main measures."""
        names, methods = self.main_measures, self.method_means
        found = {name: compare_methods(methods, name, self.datasets) for name in names}
        return {name: comparison for name, comparison in found.items() if comparison is not None}

    @cached_property
    def findings(self) -> list[Finding]:
        """The statements of the paper that the results can support or contradict."""
        found: list[Finding] = []
        for family in self.config.heuristics:
            found += check_findings(family, partial(self.cells, heuristic=family))
        return [*found, *check_cough(self.path("medical"), self.shown_fold)]

    def describe_differences(self, datasets: Sequence[str]) -> str | None:
        """Why the values of some data sets are not comparable with the published values."""
        about = self.run.get("data", {})
        # Early versions did not record whether the folds were new.
        new = [name for name in datasets if not about.get(name, {}).get("has_own_folds", True)]
        return describe_differences(self.config, datasets, new)

    def summarize(self) -> dict[str, Any]:
        """Best cells, tuned values and findings as plain data."""
        return {
            "best_cells": [cell._asdict() for cell in self.best_cells],
            "tuned": [
                {
                    "dataset": tuned.dataset,
                    "heuristic": tuned.method,
                    "tuned_for": tuned.tuned_for,
                    "value": tuned.means[tuned.tuned_for],
                    "n_rules": tuned.means["n_rules"],
                }
                for tuned in self.method_means
                if tuned.tuned_for
            ],
            "findings": [
                {"statement": f.statement, "verdict": f.verdict, "numbers": f.numbers}
                for f in self.findings
            ],
        }


def load_study(folder: str | os.PathLike[str]) -> StudyResults:
    """Load the results of a finished study.

    Parameters
    ----------
    folder : path-like
        The results folder.

    Returns
    -------
    StudyResults
    """
    path = Path(folder)
    # A study writes run.json last.
    if not all((path / name).exists() for name in ("results.csv", "run.json")):
        is_unfinished = (path / "units" / "identity.json").exists()
        what = "an unfinished study: run it to the end first" if is_unfinished else "no study"
        raise StudyError(f"{str(folder)!r} holds {what}")
    rows = empty_rows()
    rows |= {file.stem: _read_rows(file) for file in path.glob("*.csv") if file.stem in rows}
    config = config_from_toml(read_text(path / "study.toml"), "study.toml")
    return StudyResults(path, config, **rows, run=json.loads(read_text(path / "run.json")))


def _read_rows(path: Path) -> pd.DataFrame:
    # As text first: a data set may have the name "NA" or "007", and numpy reads every float exactly.
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    for name in rows.columns.intersection(list(_NUMBERS)):
        texts = rows[name].replace("", "nan").to_numpy(dtype=object)
        rows[name] = texts.astype(_NUMBERS[name])
    return rows
