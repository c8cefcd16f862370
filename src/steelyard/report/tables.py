"""The tables of a study: best cells, methods side by side, findings, example rule sets.

Knows study results; it computes nothing that they hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.heuristics import describe
from steelyard.model.rules import format_body
from steelyard.study import StudyResults
from steelyard.study.analysis.comparison import Comparison
from steelyard.study.analysis.published import PUBLISHED, PUBLISHED_METHODS
from steelyard.study.rule_sets import RuleSetExample

from .text_table import TextTable
from .titles import SYMBOLS, format_parameter, title_of


def tabulate_best_cells(study: StudyResults) -> TextTable:
    """The best cell of every data set for the main measures."""
    rows = [
        [
            cell.dataset,
            title_of(cell.measure),
            f"{100 * cell.value:.2f}",
            f"{SYMBOLS[cell.heuristic]} = {format_parameter(cell.parameter)}",
            f"{cell.phi:g}",
            f"{cell.n_rules:.0f}",
        ]
        for cell in study.best_cells
    ]
    return TextTable(
        "Best cell of the grid on the test folds",
        ("data set", "measure", "%", "parameter", "φ", "rules"),
        rows,
        notes=[
            "Mean over the folds. Tuning does not see the test folds and may choose other cells."
        ],
    )


def tabulate_comparisons(study: StudyResults) -> list[TextTable]:
    """Methods side by side, one table per main measure."""
    is_inverted = study.config.invert_majority_labels
    return [
        tabulate_comparison(
            c, study.describe_differences(c.datasets), rank_published=not is_inverted
        )
        for c in study.comparisons.values()
    ]


def tabulate_comparison(
    comparison: Comparison, differences: str | None = None, *, rank_published: bool = True
) -> TextTable:
    """Methods side by side with the published values; the best values are bold.

    Parameters
    ----------
    comparison : Comparison
    differences : str, optional
        A note that says why the published values are not comparable.
    rank_published : bool, default=True
        Whether to show the average ranks of the published values.
    """
    datasets, methods = comparison.datasets, comparison.methods
    published = PUBLISHED.get(comparison.measure, {})
    if not set(published) & set(datasets):
        published = {}
    columns = ["data set", *methods]
    columns += [f"{name} published" for name in PUBLISHED_METHODS] if published else []
    rows: list[list[str]] = []
    bold: set[tuple[int, int]] = set()
    for i, (dataset, values) in enumerate(zip(datasets, comparison.values, strict=True)):
        theirs = published.get(dataset, ())
        row = [dataset, *(f"{100 * v:.2f}" for v in values), *(f"{v:.2f}" for v in theirs)]
        rows.append(row + [""] * (len(columns) - len(row)))
        if len(methods) > 1:
            bold |= {(i, 1 + j) for j, v in enumerate(values) if v == values.max()}
        bold |= {(i, 1 + len(methods) + j) for j, v in enumerate(theirs) if v == max(theirs)}
    notes = ["Percent, mean over the folds."]
    if len(methods) > 1 and len(datasets) > 1:
        ranks = [*comparison.average_ranks]
        ranks += _rank_published(published, datasets) if rank_published else []
        row = ["average rank", *(f"{rank:.2f}" for rank in ranks)]
        rows.append(row + [""] * (len(columns) - len(row)))
        notes.append("Equal values share their average rank.")
    if published and differences is not None:
        notes.append(differences)
    friedman = comparison.friedman()
    if friedman is not None:
        notes.append(
            f"Friedman test over {len(datasets)} data sets: χ² = {friedman[0]:.2f}, "
            f"p = {friedman[1]:.3g}; critical difference of average ranks (Nemenyi, 5 %) "
            f"{comparison.critical_difference():.2f}."
        )
    return TextTable(title_of(comparison.measure), columns, rows, frozenset(bold), notes)


def _rank_published(
    published: Mapping[str, tuple[float, ...]], datasets: Sequence[str]
) -> list[float]:
    """Average ranks of the published values over the data sets of this study."""
    values = [published[dataset] for dataset in datasets if dataset in published]
    if not values:
        return []
    return [*Comparison("", tuple(datasets), PUBLISHED_METHODS, np.array(values)).average_ranks]


def tabulate_findings(study: StudyResults) -> TextTable:
    """Statements of the paper with verdicts and numbers."""
    rows = [[finding.statement, finding.verdict, finding.numbers] for finding in study.findings]
    return TextTable(
        "Findings of the paper, checked on this study", ("statement", "", "numbers"), rows
    )


def tabulate_rule_sets(example: RuleSetExample) -> TextTable:
    """The rules of a label at several cells, side by side."""
    sets = example.rule_sets
    columns = [
        f"{describe(s.heuristic)}, φ = {s.phi:g}: precision {100 * s.precision:.2f} %, "
        f"recall {100 * s.recall:.2f} %"
        for s in sets
    ]
    bodies = [[format_body(rule.body) for rule in s.rules] for s in sets]
    rows = [
        [str(i + 1), *(body[i] if i < len(body) else "" for body in bodies)]
        for i in range(max(map(len, bodies)))
    ]
    head = min((str(rule.head) for s in sets for rule in s.rules), default=example.label)
    return TextTable(
        f"Rules for {head} ({example.dataset}, fold {example.fold})",
        ["rule", *columns],
        rows or [["", *("no rule" for _ in sets)]],
        notes=["Precision and recall are micro-averaged over all labels, mean over the folds."],
    )
