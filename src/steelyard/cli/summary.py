"""The summary of a study on a terminal: tables, findings, and where the results are."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from steelyard.report.tables import tabulate_best_cells, tabulate_comparisons
from steelyard.report.text_table import TextTable
from steelyard.study import StudyResults


def print_summary(console: Console, study: StudyResults, page: Path) -> None:
    """Print best cells, methods side by side, findings and paths."""
    for table in [tabulate_best_cells(study), *tabulate_comparisons(study)]:
        console.print(_to_rich(table))
    if study.findings:
        console.print("Findings of the paper, checked on this study", style="italic")
        grid = Table.grid(padding=(0, 2))
        for finding in study.findings:
            colour = "green" if finding.supported else "red"
            grid.add_row(f"[{colour}]{finding.verdict}[/{colour}]", escape(finding.statement))
            grid.add_row("", f"[dim]{escape(finding.numbers)}[/dim]")
        console.print(grid)
        console.print()
    console.print(f"results: {study.folder}", markup=False, soft_wrap=True)
    console.print(f"page:    {page}", markup=False, soft_wrap=True)


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
