"""The table of measures of scores: ranking and calibration of all methods. Knows study results."""

from __future__ import annotations

import numpy as np

from steelyard.measures import find_score_measures
from steelyard.study import StudyResults
from steelyard.study.analysis.comparison import TUNED_NAMES
from steelyard.study.analysis.statistics import DIGITS

from .text_table import TextTable


def tabulate_scores(study: StudyResults) -> list[TextTable]:
    """Ranking and calibration of baselines, methods and tuned theories; empty if not evaluated.

    The best value of a data set is bold; a dash is a method without scores or probabilities.
    """
    means = study.method_means
    measures = [m for m in find_score_measures(study.config.measures) if m.name in means]
    if not measures:
        return []
    columns = ["data set", "method"]
    columns += [f"{m.title} {'↓' if m.is_loss else '↑'}" for m in measures]
    rows: list[list[str]] = []
    bold: set[tuple[int, int]] = set()
    several = len(study.config.family_names) > 1
    for dataset in study.datasets:
        own = means[means["dataset"] == dataset]
        values = own[[m.name for m in measures]].to_numpy(np.float64).round(DIGITS)
        for j, measure in enumerate(measures):
            column = values[:, j]
            if len(column) > 1 and np.isfinite(column).any():
                best = np.nanmin(column) if measure.is_loss else np.nanmax(column)
                bold |= {(len(rows) + i, 2 + j) for i in np.flatnonzero(column == best).tolist()}
        for method, tuned_for, numbers in zip(own["method"], own["tuned_for"], values, strict=True):
            name = TUNED_NAMES.get(tuned_for, f"M ({tuned_for})") if tuned_for else method
            name = f"{name} ({method})" if tuned_for and several else name
            shown = ["–" if np.isnan(number) else f"{number:.3f}" for number in numbers]
            rows.append([dataset, name, *shown])
    notes = [
        "Mean over the folds; ↓: smaller is better. Measures of probabilities or, where a method has "
        "none, of its decision function.",
    ]
    return [TextTable("Ranking and calibration", columns, rows, frozenset(bold), notes)]
