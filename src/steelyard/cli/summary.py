"""The summary of a study on a terminal: tables and findings."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from steelyard.report.tables import tabulate_best_cells, tabulate_comparisons
from steelyard.report.text_table import TextTable
from steelyard.study import StudyResults


def summarize(study: StudyResults) -> Iterator[RenderableType]:
    """Yield best cells, methods side by side, and findings."""
    for table in [tabulate_best_cells(study), *tabulate_comparisons(study)]:
        yield _to_rich(table)
    if study.findings:
        grid = Table.grid(padding=(0, 2))
        for finding in study.findings:
            colour = "green" if finding.verdict == "supported" else "red"
            grid.add_row(f"[{colour}]{finding.verdict}[/{colour}]", escape(finding.statement))
            grid.add_row("", f"[dim]{escape(finding.numbers)}[/dim]")
        yield Text("Findings of the paper, checked on this study", "italic")
        yield grid
        yield ""


def _to_rich(text: TextTable) -> Table:
    table = Table(
        title=escape(text.title),
        title_justify="left",
        caption=escape("\n".join(text.notes)) or None,
        caption_justify="left",
    )
    for j, name in enumerate(text.columns):
        table.add_column(
            escape(name), justify="left" if text.is_text(j) else "right", overflow="fold"
        )
    for i, row in enumerate(text.format_rows(escape, "[bold]{}[/bold]")):
        is_last = i + 2 == len(text.rows) and text.rows[-1][0] == "average rank"
        table.add_row(*row, end_section=is_last)
    return table
