"""write_report: study results → tables, figures and the page, in the results folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard.study import StudyResults
from steelyard.study.rule_sets import Cell, collect_rule_sets

from .figures import write_figures
from .page import write_page
from .tables import list_tables
from .text_table import write_tables


def write_report(
    study: StudyResults, *, label: str | None = None, cells: Sequence[Cell] | None = None
) -> Path:
    """Write tables, figures and the page of a study into its folder.

    Parameters
    ----------
    study : StudyResults
    label : str, optional
        The label of the example rule sets; by default a label with few rules.
    cells : sequence of (parameter, φ), optional
        The cells of the example rule sets; by default those with the best F1 and the best recall.

    Returns
    -------
    Path
        The page.
    """
    # First, so that an unknown label is rejected before anything is written.
    example = collect_rule_sets(study, label, cells)
    for name, tables in list_tables(study, example).items():
        if tables:
            write_tables(study.folder, name, tables)
    page = write_page(study)
    write_figures(study, example)
    return page
