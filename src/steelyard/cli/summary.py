"""The summary of a study on a terminal: tables and findings."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from steelyard.report.tables import tabulate_best_cells, tabulate_comparisons
from steelyard.report.text_table import TextTable
from steelyard.study import StudyResults

from .consoles import plain_cell

_COLOURS = {"supported": "green", "contradicted": "red", "undecided": "yellow"}


def summarize(study: StudyResults) -> Iterator[RenderableType]:
    """Yield best cells, methods side by side, and findings."""
    for table in [tabulate_best_cells(study), *tabulate_comparisons(study)]:
        yield _to_rich(table)
    if study.findings:
        grid = Table.grid(padding=(0, 2))
        for finding in study.findings:
            colour = _COLOURS[finding.verdict]
            grid.add_row(Text(finding.verdict, colour), plain_cell(finding.statement))
            grid.add_row("", Text(finding.numbers, "dim"))
        yield Text("Findings of the paper, checked on this study", "italic")
        yield grid
        yield ""


def _to_rich(text: TextTable) -> Table:
    table = Table(
        title=plain_cell(text.title, "table.title"),
        title_justify="left",
        caption=plain_cell("\n".join(text.notes), "table.caption") if text.notes else None,
        caption_justify="left",
    )
    for j, name in enumerate(text.columns):
        table.add_column(
            plain_cell(name), justify="left" if text.is_text(j) else "right", overflow="fold"
        )
    for i, row in enumerate(text.rows):
        is_last = i + 2 == len(text.rows) and text.rows[-1][0] == "average rank"
        cells = [plain_cell(cell) for cell in row]
        for j, cell in enumerate(cells):
            cell.stylize("bold" if (i, j) in text.bold else "")
        table.add_row(*cells, end_section=is_last)
    return table
