"""The summary of a study on a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
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
        for finding in summary.findings:
            colour = "green" if finding.supported else "red"
            verdict = f"[{colour}]{finding.verdict:>12}[/{colour}]"
            console.print(f"{verdict}  {escape(finding.statement)}")
            console.print(Padding(escape(finding.numbers), (0, 0, 0, 14)), style="dim")
        console.print()
    console.print(f"results: {folder}", markup=False, soft_wrap=True)
    if page is not None:
        console.print(f"page:    {page}", markup=False, soft_wrap=True)


def _to_rich(text: TextTable) -> Table:
    """A table of text as the terminal draws it; words to the left, numbers to the right."""
    table = Table(title=escape(text.title), title_justify="left")
    for j, name in enumerate(text.columns):
        is_word = any(row[j][:1].isalpha() and "=" not in row[j] for row in text.rows)
        table.add_column(escape(name), justify="left" if is_word else "right")
    for i, row in enumerate(text.rows):
        cells = (
            f"[bold]{escape(cell)}[/bold]" if (i, j) in text.bold else escape(cell)
            for j, cell in enumerate(row)
        )
        table.add_row(
            *cells, end_section=i + 2 == len(text.rows) and text.rows[-1][0] == "average rank"
        )
    return table
