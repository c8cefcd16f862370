"""The whole report of a study: figures, tables, page; and the summary that a terminal shows."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from steelyard.study import StudyResults
from steelyard.study.summary import average_tuned, find_best_cells

from .figures import write_figures


@dataclass(frozen=True)
class ReportFiles:
    """What `write_report` has written."""

    figures: tuple[Path, ...]
    page: Path | None


@dataclass(frozen=True)
class StudySummary:
    """The few numbers that a terminal shows."""

    best: pd.DataFrame
    tuned: pd.DataFrame

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "best_cells": self.best.to_dict(orient="records"),
            "tuned": self.tuned.to_dict(orient="records"),
        }


def summarize_study(study: StudyResults) -> StudySummary:
    """The numbers of the summary."""
    return StudySummary(find_best_cells(study), average_tuned(study))


def write_report(
    study: StudyResults,
    *,
    label: str | None = None,
    cells: list[tuple[float, float]] | None = None,
) -> ReportFiles:
    """Write figures, tables and the page of a study into its folder."""
    figures = write_figures(study)
    return ReportFiles(tuple(figures), _write_page(study.folder))


def _write_page(folder: Path) -> Path | None:
    try:
        page = importlib.import_module("steelyard.report.page")
    except ModuleNotFoundError as error:
        if error.name != "steelyard.report.page":
            raise
        return None
    written: Path = page.write_page(folder)
    return written
