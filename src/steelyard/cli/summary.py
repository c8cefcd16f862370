"""The summary of a study on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from steelyard.report.build import ReportFiles, StudySummary
    from steelyard.study import StudyResults


def print_summary(
    console: Console, summary: StudySummary, study: StudyResults, files: ReportFiles
) -> None:
    """Best cells, tuned values, and where everything is."""
    from steelyard.report.titles import SYMBOLS, format_parameter, title_of

    table = Table(title="Best cell of the grid in hindsight, mean of the folds")
    for name in ("data set", "measure", "value", "heuristic", "φ", "rules"):
        table.add_column(name, justify="left" if name in ("data set", "measure") else "right")
    for row in summary.best.itertuples():
        symbol = SYMBOLS[row.heuristic]
        table.add_row(
            row.dataset,
            title_of(row.measure),
            f"{100 * row.value:.2f} %",
            f"{symbol} = {format_parameter(row.parameter)}",
            f"{row.phi:g}",
            f"{row.n_rules:.0f}",
        )
    console.print(table)
    if len(summary.tuned):
        table = Table(title="Tuned inside the training sets")
        for name in ("data set", "tuned for", "value", "rules"):
            table.add_column(name, justify="left" if name in ("data set", "tuned for") else "right")
        for row in summary.tuned.itertuples():
            table.add_row(
                row.dataset,
                title_of(row.tuned_for),
                f"{100 * row.value:.2f} %",
                f"{row.n_rules:.0f}",
            )
        console.print(table)
    console.print(f"results: {study.folder}", markup=False, soft_wrap=True)
    if files.page is not None:
        console.print(f"page:    {files.page}", markup=False, soft_wrap=True)
