"""StudyResults: the rows of a study and everything derived from them, computed once.

Only this module and `reading` read a results folder. Tables, figures, the page and the terminal take a
`StudyResults` and open no files.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd

from steelyard._files import locate_inside, read_text
from steelyard.model.path import TheoryPath

from .analysis.comparison import Comparison, average_methods, compare_methods
from .analysis.findings import Finding, check_cough, check_findings, weigh_findings
from .analysis.published import describe_differences
from .analysis.ranks import CellMap, map_cells
from .config import StudyConfig, StudyError, config_from_toml
from .parts import read_path
from .reading import read_examples, read_label_rows, read_rows, read_run
from .rows import COLUMNS
from .store import Arrays, StudyStore
from .units import Unit

_MAIN_MEASURES = ("f1_micro", "hamming", "subset")
_BEST_CELL = ["dataset", "heuristic", "measure", "parameter", "phi", "value", "n_rules"]


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

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.study import StudyConfig, run_study
    >>> grid = {"parameters": (8.0,), "phis": (1.0, 0.5)}
    >>> config = StudyConfig(("patients",), folds=2, n_candidates=200, **grid)
    >>> with TemporaryDirectory() as folder:
    ...     study = run_study(config, folder)
    >>> study.results.columns.tolist()[:3]
    ['dataset', 'fold', 'heuristic']
    >>> study.cells("hamming", "m-estimate").values.shape[-2:]
    (2, 1)
    """

    folder: Path
    config: StudyConfig
    results: pd.DataFrame
    tuned: pd.DataFrame
    baselines: pd.DataFrame
    run: dict[str, Any]

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return tuple(dict.fromkeys(self.results["dataset"]))

    @property
    def main_measures(self) -> tuple[str, ...]:
        """The measures of the tables: the paper's three, and those that were tuned for."""
        return tuple(dict.fromkeys((*_MAIN_MEASURES, *self.config.tune)))

    def folds_per_repeat(self, dataset: str) -> int:
        """The number of folds of a data set in each repetition, with those that were not run."""
        return int(self.run["data"][dataset]["n_folds"]) // self.config.repeats

    @property
    def shown_fold(self) -> int:
        """The fold whose theories and examples are shown: the first of the study."""
        return (*self.config.only_folds, 1)[0]

    # Files of the shown fold

    @cached_property
    def paths(self) -> dict[str, TheoryPath]:
        """All theories of the shown fold, for every data set whose theories were saved."""
        store, fold = StudyStore(self.folder), self.shown_fold
        saved = [name for name in self.datasets if store.theory_file(name, fold).exists()]
        return {name: read_path(store, self.config, name, fold) for name in saved}

    def examples(self, dataset: str) -> dict[str, Any] | None:
        """Held-out examples of the shown fold, or None if they were not saved."""
        file = locate_inside(self.folder, f"examples/{dataset}.json")
        if not file.exists() or dataset not in self.paths:
            return None
        return read_examples(file, self.paths[dataset].coded.used_features)

    def candidate_counts(self, dataset: str) -> Arrays | None:
        """What the candidates of the shown fold cover, or None if the counts were not saved."""
        unit = Unit("candidates", dataset, self.shown_fold)
        return StudyStore(self.folder).read_unit(unit.name)

    @cached_property
    def per_label(self) -> pd.DataFrame:
        """Counts and measures of each label; no rows if the study did not ask for them."""
        return read_label_rows(locate_inside(self.folder, "per_label.csv"))

    # Derived from the rows

    @cached_property
    def cells(self) -> Callable[[str, str], CellMap]:
        """Function of (measure, heuristic) → the measure over the grid of the family, computed once."""
        return cache(partial(map_cells, self.results))

    @cached_property
    def best_cells(self) -> list[dict[str, Any]]:
        """The best cell of every data set and family for each of the main measures.

        The cells are chosen on the test folds: they show what the grid contains, not what tuning finds.
        """
        found = []
        keys = itertools.product(self.datasets, self.config.family_names, self.main_measures)
        for dataset, family, measure in keys:
            cells, n_rules = self.cells(measure, family), self.cells("n_rules", family)
            cell = cells.best_cell(dataset)
            values = cells.value_at(dataset, *cell), n_rules.value_at(dataset, *cell)
            best = (dataset, family, measure, *cell, *values)
            found.append(dict(zip(_BEST_CELL, best, strict=True)))
        return found

    @cached_property
    def method_means(self) -> pd.DataFrame:
        """The means of the baselines and of the tuned theories; see `average_methods`."""
        n_folds = self.results.groupby("dataset")["fold"].nunique()
        folds = self.baselines.groupby(["dataset", "baseline"])["fold"].transform("nunique")
        # A method that failed on a fold cannot be compared on the data set.
        is_whole = folds == self.baselines["dataset"].map(n_folds)
        return average_methods(self.baselines[is_whole], self.tuned)

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """Baselines and tuned theories side by side, for each of the main measures."""
        names, means = self.main_measures, self.method_means
        if means.empty:
            return {}
        found = {name: compare_methods(means, name, self.datasets) for name in names}
        return {name: comparison for name, comparison in found.items() if comparison.methods}

    @cached_property
    def findings(self) -> list[Finding]:
        """The statements of the paper that the results can support or contradict."""
        found, without = self._check_findings(self.cells), []
        kind, column = ("data set", "dataset") if len(self.datasets) > 2 else ("fold", "fold")
        parts = self.results[column].unique()
        if found and len(parts) > 1:
            rest = (self.results[self.results[column] != part] for part in parts)
            without = [self._check_findings(cache(partial(map_cells, rows))) for rows in rest]
        cough = check_cough(self.paths.get("medical"), self.shown_fold)
        return [*weigh_findings(found, without, kind), *cough]

    def _check_findings(self, cells: Callable[[str, str], CellMap]) -> list[Finding]:
        families = self.config.family_names
        return [finding for family in families for finding in check_findings(family, cells)]

    def describe_differences(self, datasets: Sequence[str]) -> str | None:
        """Why the values of some data sets are not comparable with the published values."""
        return describe_differences(self.config, datasets, self.run.get("data", {}))

    def summarize(self) -> dict[str, Any]:
        """Best cells, tuned values and findings as plain data."""
        columns = ["dataset", "heuristic", "tuned_for", "value", "n_rules"]
        tuned = self.method_means[self.method_means["tuned_for"] != ""]
        values = [row[row["tuned_for"]] for row in tuned.to_dict("records")]
        tuned = tuned.assign(heuristic=tuned["method"], value=values).reindex(columns=columns)
        return {
            "best_cells": self.best_cells,
            "tuned": tuned.to_dict("records"),
            "findings": [finding._asdict() for finding in self.findings],
        }


def load_study(folder: str | os.PathLike[str], *, trust: bool = False) -> StudyResults:
    """Load the results of a finished study.

    Parameters
    ----------
    folder : path-like
        The results folder.
    trust : bool, default=False
        Whether to import heuristics that the study names as ``module:attribute``.

    Returns
    -------
    StudyResults

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.study import StudyConfig, load_study, run_study
    >>> grid = {"parameters": (8.0,), "phis": (1.0, 0.5)}
    >>> config = StudyConfig(("patients",), folds=2, n_candidates=200, **grid)
    >>> with TemporaryDirectory() as folder:
    ...     study = run_study(config, folder)
    ...     loaded = load_study(folder)
    >>> loaded.results.equals(study.results)
    True
    """
    path = Path(folder)
    # A study writes run.json last.
    if not all((path / name).exists() for name in ("results.csv", "run.json")):
        is_unfinished = (path / "units" / "identity.json").exists()
        what = "an unfinished study: run it to the end first" if is_unfinished else "no study"
        raise StudyError(f"{str(folder)!r} holds {what}")
    file = locate_inside(path, "study.toml")
    config = config_from_toml(read_text(file), str(file), trust=trust)
    files = {name: locate_inside(path, f"{name}.csv") for name in COLUMNS}
    rows = {name: read_rows(file, config) for name, file in files.items()}
    folds = {name: set(zip(t["dataset"], t["fold"], strict=True)) for name, t in rows.items()}
    for name, found in folds.items():
        if found and found != folds["results"]:
            raise StudyError(f"{files[name]} has other folds than {files['results']}")
    return StudyResults(path, config, **rows, run=read_run(locate_inside(path, "run.json")))
