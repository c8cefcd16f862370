"""The tables of a study: best cells, methods side by side, findings, example rule sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.heuristics import describe
from steelyard.model.rules import format_body
from steelyard.study import StudyResults
from steelyard.study.analysis.comparison import Comparison, compare_methods
from steelyard.study.analysis.findings import Finding
from steelyard.study.analysis.published import (
    PUBLISHED,
    PUBLISHED_METHODS,
    describe_differences,
    is_inverted,
)
from steelyard.study.analysis.rule_sets import RuleSetExample
from steelyard.study.analysis.summary import find_best_cells, list_summary_measures

from .text_table import TextTable
from .titles import SYMBOLS, format_parameter, title_of


def tabulate_best_cells(study: StudyResults) -> TextTable:
    """The best cell of every data set for the main measures."""
    rows = [
        [
            row.dataset,
            title_of(row.measure),
            f"{100 * row.value:.2f}",
            f"{SYMBOLS[row.heuristic]} = {format_parameter(row.parameter)}",
            f"{row.phi:g}",
            f"{row.n_rules:.0f}",
        ]
        for row in find_best_cells(study)
    ]
    return TextTable(
        "Best cell of the grid, in hindsight",
        ("data set", "measure", "%", "parameter", "φ", "rules"),
        rows,
        notes=[
            "Mean of the folds. Chosen on the test folds: what the grid holds, not what tuning finds."
        ],
    )


def compare_all(study: StudyResults) -> list[Comparison]:
    """The comparison of methods for each measure that has one."""
    measures = list_summary_measures(study.config)
    found = (compare_methods(study, measure) for measure in measures)
    return [comparison for comparison in found if comparison is not None]


def tabulate_comparison(comparison: Comparison, run: Mapping[str, Any] | None = None) -> TextTable:
    """Methods side by side, best in bold, average ranks below, the published values beside.

    `run` is the content of run.json; with it, a note says what keeps the values of the run and the
    published ones from being compared.
    """
    run = run or {}
    published = PUBLISHED.get(comparison.measure, {})
    if not set(published) & set(comparison.datasets):
        published = {}
    columns = ["data set", *comparison.methods]
    columns += [f"{name} published" for name in PUBLISHED_METHODS] if published else []
    rows: list[list[str]] = []
    bold: set[tuple[int, int]] = set()
    for i, (dataset, values) in enumerate(zip(comparison.datasets, comparison.values, strict=True)):
        theirs = published.get(dataset)
        row = [dataset, *(f"{100 * value:.2f}" for value in values)]
        if published:
            row += [f"{value:.2f}" for value in theirs] if theirs else [""] * len(PUBLISHED_METHODS)
        rows.append(row)
        if len(values) > 1:
            bold |= {(i, 1 + j) for j, v in enumerate(values) if v == values.max()}
        if theirs:
            first = 1 + len(values)
            bold |= {(i, first + j) for j, v in enumerate(theirs) if v == max(theirs)}
    notes = ["Percent, mean of the folds."]
    if len(comparison.methods) > 1 and len(comparison.datasets) > 1:
        ranks = [f"{rank:.2f}" for rank in comparison.average_ranks]
        if not is_inverted(run):
            ranks += _rank_published(published, comparison.datasets)
        rows.append(["average rank", *ranks, *[""] * (len(columns) - 1 - len(ranks))])
        notes.append("Equal values share the average of their ranks.")
    differences = describe_differences(run, comparison.datasets) if published else None
    if differences is not None:
        notes.append(differences)
    friedman = comparison.friedman()
    if friedman is not None:
        notes.append(
            f"Friedman test over {len(comparison.datasets)} data sets: χ² = {friedman[0]:.2f}, "
            f"p = {friedman[1]:.3g}; critical difference of average ranks (Nemenyi, 5 %) "
            f"{comparison.critical_difference():.2f}."
        )
    title = title_of(comparison.measure)
    return TextTable(title, columns, rows, frozenset(bold), notes)


def _rank_published(
    published: Mapping[str, tuple[float, ...]], datasets: Sequence[str]
) -> list[str]:
    """Average ranks of the published values, over the data sets of this run."""
    values = [published[dataset] for dataset in datasets if dataset in published]
    if not values:
        return [""] * len(PUBLISHED_METHODS) if published else []
    ranked = Comparison("", tuple(datasets), PUBLISHED_METHODS, np.array(values))
    return [f"{rank:.2f}" for rank in ranked.average_ranks]


def tabulate_findings(findings: Sequence[Finding]) -> TextTable:
    """Statements with verdicts and numbers."""
    rows = [[f.statement, f.verdict, f.numbers] for f in findings]
    return TextTable(
        "Findings of the paper on the rows of this run", ("statement", "", "numbers"), rows
    )


def tabulate_rule_sets(example: RuleSetExample) -> TextTable:
    """The rules of a label at several cells, side by side."""
    columns = ["rule"]
    for rules in example.rule_sets:
        columns.append(
            f"{describe(rules.heuristic)}, φ = {rules.phi:g}: precision {100 * rules.precision:.2f} %,"
            f" recall {100 * rules.recall:.2f} %"
        )
    n_rows = max(len(rules.rules) for rules in example.rule_sets)
    rows = [
        [
            str(i + 1),
            *(format_body(s.rules[i].body) if i < len(s.rules) else "" for s in example.rule_sets),
        ]
        for i in range(n_rows)
    ]
    heads = {str(rule.head) for rules in example.rule_sets for rule in rules.rules}
    head = min(heads, default=example.label)
    return TextTable(
        f"Rules for {head} ({example.dataset}, fold {example.fold})",
        columns,
        rows or [["", *("no rule" for _ in example.rule_sets)]],
        notes=["Precision and recall are micro-averaged over all labels, mean of the folds."],
    )
