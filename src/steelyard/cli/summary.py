"""The summary of a study on a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from steelyard.report.build import StudySummary
    from steelyard.report.text_table import TextTable


def print_summary(console: Console, summary: StudySummary, folder: Path, page: Path | None) -> None:
    """Best cells, methods side by side, findings, and where everything is."""
    for table in summary.tables:
        console.print(_to_rich(table))
    if summary.findings:
        console.print("Findings of the paper on the rows of this run", style="italic")
        grid = Table.grid(padding=(0, 2))
        for finding in summary.findings:
            colour = "green" if finding.supported else "red"
            grid.add_row(f"[{colour}]{finding.verdict}[/{colour}]", escape(finding.statement))
            grid.add_row("", f"[dim]{escape(finding.numbers)}[/dim]")
        console.print(grid)
        console.print()
    console.print(f"results: {folder}", markup=False, soft_wrap=True)
    if page is not None:
        console.print(f"page:    {page}", markup=False, soft_wrap=True)


def _to_rich(text: TextTable) -> Table:
    """A table of text as the terminal draws it."""
    table = Table(
        title=escape(text.title),
        title_justify="left",
        caption=escape("\n".join(text.notes)) or None,
        caption_justify="left",
    )
    for j, name in enumerate(text.columns):
        table.add_column(escape(name), justify="left" if text.is_text(j) else "right")
    for i, row in enumerate(text.rows):
        cells = (
            f"[bold]{escape(cell)}[/bold]" if (i, j) in text.bold else escape(cell)
            for j, cell in enumerate(row)
        )
        table.add_row(
            *cells, end_section=i + 2 == len(text.rows) and text.rows[-1][0] == "average rank"
        )
    return table
