"""The whole report of a study: tables, figures, page; and the summary that a terminal shows."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.study import StudyResults
from steelyard.study.analysis.findings import Finding, check_findings
from steelyard.study.analysis.rule_sets import Cell, collect_rule_sets
from steelyard.study.analysis.summary import BestCell, TunedValue, average_tuned, find_best_cells

from .figures import write_figures
from .tables import (
    compare_all,
    tabulate_best_cells,
    tabulate_comparison,
    tabulate_findings,
    tabulate_rule_sets,
)
from .text_table import TextTable, write_tables


@dataclass(frozen=True)
class StudySummary:
    """What a terminal shows of a study.

    Parameters
    ----------
    best : tuple of BestCell
        Best cells in hindsight.
    tuned : tuple of TunedValue
        Values of the tuned theories.
    findings : tuple of Finding
    tables : tuple of TextTable
        Best cells, then methods side by side, one table a measure.
    """

    best: tuple[BestCell, ...]
    tuned: tuple[TunedValue, ...]
    findings: tuple[Finding, ...]
    tables: tuple[TextTable, ...]

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "best_cells": [cell._asdict() for cell in self.best],
            "tuned": [value._asdict() for value in self.tuned],
            "findings": [
                {"statement": f.statement, "verdict": f.verdict, "numbers": f.numbers}
                for f in self.findings
            ],
        }


def summarize_study(study: StudyResults) -> StudySummary:
    """The numbers of the summary."""
    return StudySummary(
        tuple(find_best_cells(study)),
        tuple(average_tuned(study)),
        tuple(check_findings(study)),
        (
            tabulate_best_cells(study),
            *(tabulate_comparison(c, study.run) for c in compare_all(study)),
        ),
    )


def write_report(
    study: StudyResults,
    *,
    label: str | None = None,
    cells: list[Cell] | None = None,
) -> Path | None:
    """Write tables, figures and the page of a study into its folder.

    Parameters
    ----------
    study : StudyResults
    label : str, optional
        The label of the example rule sets; by default one that the data suggests.
    cells : list of (parameter, φ), optional
        Their cells; by default the best for F1 and for recall.

    Returns
    -------
    Path of the page, or None if there is none
    """
    folder = study.folder / "tables"
    # First, so that a label that does not exist is said at once.
    example = collect_rule_sets(study, label=label, cells=cells)
    if example is not None:
        write_tables(folder / "rule_sets", [tabulate_rule_sets(example)])
    write_tables(folder / "best_cells", [tabulate_best_cells(study)])
    comparisons = compare_all(study)
    if comparisons:
        write_tables(
            folder / "comparison", [tabulate_comparison(c, study.run) for c in comparisons]
        )
    write_tables(folder / "findings", [tabulate_findings(check_findings(study))])
    write_figures(study, comparisons, example)
    return _write_page(study.folder)


def _write_page(folder: Path) -> Path | None:
    try:
        page = importlib.import_module("steelyard.report.page")
    except ModuleNotFoundError as error:
        if error.name != "steelyard.report.page":
            raise
        return None
    written: Path = page.write_page(folder)
    return written
