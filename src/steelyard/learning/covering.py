"""Covering (separate-and-conquer): candidates of a label + heuristics → selected rules, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels import covering as kernels
from steelyard._kernels.coverage import find_distinct_rows
from steelyard.heuristics import ConfusionMatrix, Heuristic, heuristic_values, kernel_coefficients
from steelyard.model.coverage import Bits, RowIndex, cover, order_bits
from steelyard.model.rule_table import RuleTable

from .paths import LabelRules

Indices = NDArray[np.int64]


class Candidates(NamedTuple):
    """The candidates of one label that cover different rows, with what the selection needs to know.

    In a row of `coverage` the positives (rows of the target class) take the first
    `n_positive_words` words, the negatives the rest.
    """

    table: RuleTable
    coverage: Bits
    n_positive_words: int
    all_examples: Bits
    n_positives: int
    n_negatives: int
    n_conditions: NDArray[np.int64]
    tp: NDArray[np.int32]
    fp: NDArray[np.int32]


def prepare_candidates(
    table: RuleTable, index: RowIndex, is_target: NDArray[np.bool_]
) -> Candidates:
    """Coverage and counts of one label's rules; of rules with equal coverage the shortest stays.

    Rules with equal coverage are interchangeable for every heuristic, and the tie-breaks prefer the
    shorter one, so no rule that could be selected is lost.
    """
    bit_of_row, n_positive_words, n_words = order_bits(is_target)
    coverage = cover(table, index, bit_of_row, n_words)
    n_conditions = table.count_conditions(index.coded.n_codes, index.coded.is_nominal)
    distinct, _ = find_distinct_rows(coverage, n_conditions)
    coverage = coverage[distinct]
    tp, fp = kernels.count_covered(coverage, n_positive_words)
    # A rule without conditions covers all rows.
    all_examples = cover(RuleTable.from_ranges([[]]), index, bit_of_row, n_words)[0]
    examples = (all_examples, int(is_target.sum()), int((~is_target).sum()))
    counts = (n_conditions[distinct], tp, fp)
    return Candidates(table.take(distinct), coverage, n_positive_words, *examples, *counts)


def select_rules(
    candidates: Candidates, heuristic: Heuristic, *, revalidate: bool = True
) -> Indices:
    """Indices of the selected candidates, in the order of their selection.

    Take the candidate with the best heuristic value on the examples that no selected rule covers yet
    (ties: more true positives, fewer conditions, first generated), until no candidate covers an
    uncovered positive. With ``revalidate=False`` candidates are ranked once, on all examples.
    """
    evaluate = _make_evaluation(heuristic)
    totals = candidates.n_positives, candidates.n_negatives
    uncovered = candidates.all_examples.copy()
    active = np.flatnonzero(candidates.tp > 0)
    tp, fp = candidates.tp[active], candidates.fp[active]
    if not revalidate:
        n_conditions = candidates.n_conditions[active]
        best_first = np.lexsort((active, n_conditions, -tp, -evaluate(tp, fp, *totals)))
        active, tp, fp = active[best_first], tp[best_first], fp[best_first]
    selected: list[int] = []
    while len(active):
        best = 0
        if revalidate:
            values = evaluate(tp, fp, *totals)
            best = kernels.pick_by_values(values, active, tp, candidates.n_conditions)
        selected.append(int(active[best]))
        n_active, *removed = kernels.take_away(
            candidates.coverage,
            candidates.n_positive_words,
            selected[-1],
            uncovered,
            active,
            tp,
            fp,
        )
        active, tp, fp = active[:n_active], tp[:n_active], fp[:n_active]
        totals = totals[0] - removed[0], totals[1] - removed[1]
    return np.array(selected, dtype=np.int64)


def _make_evaluation(heuristic: Heuristic) -> Callable[..., NDArray[np.float64]]:
    """The heuristic as a function of TP and FP (arrays), positives and negatives (numbers)."""
    coefficients = kernel_coefficients(heuristic)
    if coefficients is not None:
        return partial(kernels.evaluate_fraction, coefficients)

    def evaluate(tp: Indices, fp: Indices, positives: int, negatives: int) -> NDArray[np.float64]:
        counts = ConfusionMatrix(tp, fp, positives - tp, negatives - fp)
        return heuristic_values(heuristic, counts)

    return evaluate


def select_for_label(
    index: RowIndex,
    heuristics: Sequence[Heuristic],
    revalidate: bool,
    table: RuleTable,
    is_target: NDArray[np.bool_],
) -> LabelRules:
    """Covering of one label with each of the heuristics, from the same candidates.

    The choices of a heuristic are the indices of its rules, in the order of their selection.
    """
    candidates = prepare_candidates(table, index, is_target)
    chosen = [select_rules(candidates, h, revalidate=revalidate) for h in heuristics]
    union, inverse = np.unique(np.concatenate(chosen), return_inverse=True)
    ends = np.cumsum([len(indices) for indices in chosen])[:-1]
    counts = (candidates.tp[union], candidates.fp[union], candidates.n_conditions[union])
    return LabelRules(candidates.table.take(union), *counts, tuple(np.split(inverse, ends)))
