"""write_report: study results → tables, figures, documents and the page, in the results folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard._files import write_inside
from steelyard.study import StudyResults
from steelyard.study.rule_sets import Cell, collect_rule_sets

from .figures import write_figures
from .gathering import gather_latex, write_markdown
from .page import write_page
from .styles import Style, get_style
from .tables import list_tables
from .text_table import write_tables


def write_report(
    study: StudyResults,
    *,
    label: str | None = None,
    cells: Sequence[Cell] | None = None,
    style: Style | str | None = None,
) -> Path:
    """Write tables, figures, report.tex, report.md and the page of a study into its folder.

    Parameters
    ----------
    study : StudyResults
    label : str, optional
        The label of the example rule sets; by default a label with few rules.
    cells : sequence of (parameter, φ), optional
        The cells of the example rule sets; by default those with the best F1 and the best recall.
    style : Style or str, default="springer"
        Sizes of figures and tables: "springer", "ieee", "beamer", or a style of your own.

    Returns
    -------
    Path
        The page.
    """
    # First, so that an unknown label or style is rejected before anything is written.
    chosen = get_style(style)
    example = collect_rule_sets(study, label, cells)
    tables = {name: parts for name, parts in list_tables(study, example).items() if parts}
    for name, parts in tables.items():
        write_tables(study.folder, name, parts, chosen)
    page = write_page(study)
    figures = write_figures(study, example, chosen)
    title = ", ".join(study.datasets)
    documents = {
        "report.md": write_markdown(title, tables, figures),
        "report.tex": gather_latex(title, tables, figures, chosen),
    }
    for name, text in documents.items():
        write_inside(study.folder, name, text.encode())
    return page
