"""The tables of a study: best cells, methods side by side, findings, example rule sets.

Knows study results; it computes nothing that they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from steelyard.heuristics import describe
from steelyard.model.conditions import format_body
from steelyard.study import StudyResults
from steelyard.study.analysis.comparison import Comparison
from steelyard.study.analysis.published import PUBLISHED, PUBLISHED_METHODS
from steelyard.study.analysis.ranks import rank_best_first
from steelyard.study.analysis.statistics import DIGITS, fewest_data_sets
from steelyard.study.rule_sets import RuleSet

from .score_table import tabulate_scores
from .text_table import TextTable
from .titles import format_parameter, symbol_of, title_of


def list_tables(study: StudyResults, example: Sequence[RuleSet]) -> dict[str, list[TextTable]]:
    """All tables of a study by the name of their file."""
    return {
        "rule_sets": [tabulate_rule_sets(example, study.shown_fold)] if example else [],
        "best_cells": [tabulate_best_cells(study)],
        "comparison": tabulate_comparisons(study),
        "pairs": [
            tabulate_pairs(comparison)
            for comparison in study.comparisons.values()
            if len(comparison.methods) > 1 and len(comparison.datasets) > 1
        ],
        "scores": tabulate_scores(study),
        "costs": tabulate_costs(study),
        "findings": [tabulate_findings(study)],
    }


def tabulate_best_cells(study: StudyResults) -> TextTable:
    """The best cell of every data set for the main measures."""
    several = len(study.config.family_names) > 1
    family = ("heuristic",) if several else ()
    columns = ("data set", "measure", "%", *family, "parameter", "φ", "rules")
    rows = []
    for best in study.best_cells:
        symbol = symbol_of(best["heuristic"], study.config.families)
        parameter = f"{symbol} = {format_parameter(best['parameter'])}" if symbol else "–"
        family = (best["heuristic"],) if several else ()
        cell = (*family, parameter, f"{best['phi']:g}")
        value, n_rules = f"{100 * best['value']:.2f}", f"{best['n_rules']:.0f}"
        rows.append([best["dataset"], title_of(best["measure"]), value, *cell, n_rules])
    note = "Mean over the folds. Tuning does not see the test folds and may choose other cells."
    return TextTable("Best cell of the grid on the test folds", columns, rows, notes=[note])


def tabulate_comparisons(study: StudyResults) -> list[TextTable]:
    """Methods side by side, one table per main measure."""
    differences = study.describe_differences(study.datasets)
    return [tabulate_comparison(c, differences) for c in study.comparisons.values()]


def tabulate_comparison(comparison: Comparison, differences: str | None = None) -> TextTable:
    """Methods side by side with the published values; the best values are bold.

    Parameters
    ----------
    comparison : Comparison
    differences : str, optional
        Why the published values are not comparable; they are then omitted.
    """
    datasets, methods = comparison.datasets, comparison.methods
    known = PUBLISHED.get(comparison.measure, {})
    published = {name: known[name] for name in datasets if name in known}
    notes = ["Percent, mean over the folds."]
    if published and differences is not None:
        notes.append(f"{differences} They are omitted.")
        published = {}
    columns = ["data set", *methods]
    columns += [f"{name} published" for name in PUBLISHED_METHODS] if published else []
    rows: list[list[str]] = []
    bold: set[tuple[int, int]] = set()
    for i, (dataset, values) in enumerate(zip(datasets, comparison.values, strict=True)):
        theirs = published.get(dataset, ())
        row = [dataset, *(f"{100 * v:.2f}" for v in values), *(f"{v:.2f}" for v in theirs)]
        rows.append(row)
        if len(methods) > 1:
            rounded = values.round(DIGITS)
            bold |= {(i, 1 + j) for j, v in enumerate(rounded) if v == rounded.max()}
        bold |= {(i, 1 + len(methods) + j) for j, v in enumerate(theirs) if v == max(theirs)}
    if len(methods) > 1 and len(datasets) > 1:
        ranks = [*comparison.average_ranks]
        if len(published) == len(datasets):  # otherwise the ranks are over other data sets
            ranks += [*rank_best_first(np.array([*published.values()])).mean(axis=0)]
        rows.append(["average rank", *(f"{rank:.2f}" for rank in ranks)])
        notes.append("Equal values share their average rank.")
    friedman = comparison.friedman()
    if friedman is not None:
        notes.append(
            f"Friedman test over {len(datasets)} data sets: χ² = {friedman.chi2:.2f}, "
            f"p = {friedman.chi2_p:.3g}; Iman and Davenport: F = {friedman.f:.2f}, "
            f"p = {friedman.p:.3g}; critical difference of average ranks (Nemenyi, 5 %) "
            f"{comparison.critical_difference():.2f}."
        )
    rows = [row + [""] * (len(columns) - len(row)) for row in rows]
    return TextTable(title_of(comparison.measure), columns, rows, frozenset(bold), notes)


def tabulate_costs(study: StudyResults) -> list[TextTable]:
    """Seconds and sizes of the methods, and where they failed; empty without methods."""
    rows = []
    means = study.method_means.set_index(["dataset", "method"])
    for dataset in study.datasets:
        for name, cost in study.run.get("data", {}).get(dataset, {}).get("methods", {}).items():
            seconds = [
                f"{cost[k]:.2f}" if k in cost else "–" for k in ("fit_seconds", "predict_seconds")
            ]
            size = means["n_rules"].get((dataset, name)) if "n_rules" in means else None
            size = "–" if size is None or np.isnan(size) else f"{size:.0f}"
            failed = "; ".join(
                f"{fold}: {reason}" for fold, reason in cost.get("failed", {}).items()
            )
            rows.append([dataset, name, *seconds, size, failed])
    if not rows:
        return []
    columns = ("data set", "method", "fit, s", "predict, s", "rules", "failed")
    notes = ["Seconds of one process, mean over the folds. Other processes may have run beside it."]
    return [TextTable("What the methods cost", columns, rows, notes=notes)]


def tabulate_pairs(comparison: Comparison) -> TextTable:
    """Every two methods of a comparison, with tests and effect sizes."""
    columns = (
        "methods",
        "wins",
        "ties",
        "losses",
        "p",
        "Holm",
        "effect",
        "better",
        "equal",
        "worse",
    )
    rows = []
    for pair in comparison.pairs:
        counts = [str(count) for count in (pair.wins, pair.ties, pair.losses)]
        numbers = [f"{p:.3g}" for p in (pair.p, pair.holm)] + [f"{pair.effect:+.2f}"]
        shares = [f"{share:.2f}" for share in (pair.better, pair.equal, pair.worse)]
        rows.append([f"{pair.first} against {pair.second}", *counts, *numbers, *shares])
    n, fewest = len(comparison.datasets), fewest_data_sets(len(comparison.methods))
    notes = [
        "p: Wilcoxon's signed-rank test, two-sided; Holm: adjusted for all pairs. Effect: rank-biserial "
        "correlation, from -1 (always worse) to 1 (always better). Better, equal, worse: posterior "
        "probabilities of the Bayesian signed-rank test; equal is a difference of up to one percent.",
    ]
    if n < fewest:
        few = f"With {n} data sets no difference can be significant: that takes {fewest} at least."
        notes.insert(0, few)
    title = f"{title_of(comparison.measure)}: pairs of methods on {n} data sets"
    return TextTable(title, columns, rows, notes=notes)


def tabulate_findings(study: StudyResults) -> TextTable:
    """Statements of the paper with verdicts and numbers."""
    title = "Findings of the paper, checked on this study"
    return TextTable(title, ("statement", "", "numbers"), study.findings)


def tabulate_rule_sets(sets: Sequence[RuleSet], fold: int) -> TextTable:
    """The rules of a label at several cells, side by side."""
    columns = [
        f"{describe(s.heuristic)}, φ = {s.phi:g}: precision {100 * s.precision:.2f} %, "
        f"recall {100 * s.recall:.2f} %"
        for s in sets
    ]
    bodies = zip_longest(*([format_body(r.body) for r in s.rules] for s in sets), fillvalue="")
    rows = [[str(i), *row] for i, row in enumerate(bodies, 1)] or [["", *["no rule"] * len(sets)]]
    head = min((str(rule.head) for s in sets for rule in s.rules), default=sets[0].label)
    title = f"Rules for {head} ({sets[0].dataset}, fold {fold})"
    note = "Precision and recall are micro-averaged over all labels, mean over the folds."
    return TextTable(title, ["rule", *columns], rows, notes=[note])
