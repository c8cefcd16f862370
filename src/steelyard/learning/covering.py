"""Covering (separate-and-conquer): candidates of a label + heuristics → selected rules, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels import covering as kernels
from steelyard._kernels.coverage import find_distinct_rows
from steelyard.heuristics import ConfusionMatrix, Heuristic, heuristic_values, kernel_coefficients
from steelyard.model.coverage import Bits, RowIndex, cover, order_bits, rows_to_bits
from steelyard.model.rule_table import RuleTable

from .limits import Limits
from .paths import LabelRules

Indices = NDArray[np.int64]

# More conditions than a rule has: differences of shares weigh more than differences of lengths.
_LONGEST = 100_000


class Candidates(NamedTuple):
    """The candidates of one label that cover different rows, with what the selection needs to know.

    In a row of `coverage` the positives (rows of the target class) take the first
    `n_positive_words` words, the negatives the rest. `position` is where a candidate stands among all
    candidates of the label.

    `share` is the share of its value that each candidate counts with, if some attributes are preferred;
    `given` are the rows that given rules cover.
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
    position: Indices
    share: NDArray[np.float64] | None = None
    given: Bits | None = None


# From the candidates of a label, the rows of the target class, the selected candidates and the covering
# that selected them: TP and FP on examples that did not make them, shape (2, n_selected).
CountHeldOut = Callable[
    [Candidates, NDArray[np.bool_], Indices, Callable[[Candidates], Indices]], Indices
]


def prepare_candidates(
    table: RuleTable,
    index: RowIndex,
    is_target: NDArray[np.bool_],
    limits: Limits | None = None,
    given: NDArray[np.bool_] | None = None,
) -> Candidates:
    """Coverage and counts of one label's rules; of rules with equal coverage the shortest stays.

    Rules with equal coverage are interchangeable for every heuristic, and the tie-breaks prefer the
    shorter one, so no rule that could be selected is lost. With `limits`, rules that cover too little
    are left out, and of rules with equal coverage those on preferred attributes stay. `given` are the
    rows that given rules cover.
    """
    bit_of_row, n_positive_words, n_words = order_bits(is_target)
    coverage = cover(table, index, bit_of_row, n_words)
    n_conditions = table.count_conditions(index.coded.n_codes, index.coded.is_nominal)
    key, share = n_conditions, None
    if limits is not None and limits.has_preference:
        share = limits.share_of_rules(table)
        key = n_conditions - np.rint(_LONGEST * _LONGEST * share).astype(np.int64)
    distinct, _ = find_distinct_rows(coverage, key)
    coverage = coverage[distinct]
    tp, fp = kernels.count_covered(coverage, n_positive_words)
    if limits is not None:
        is_allowed = limits.allows(table.take(distinct), tp, fp, float(is_target.mean()))
        distinct, coverage = distinct[is_allowed], coverage[is_allowed]
        tp, fp = tp[is_allowed], fp[is_allowed]
    # A rule without conditions covers all rows.
    all_examples = cover(RuleTable.from_ranges([[]]), index, bit_of_row, n_words)[0]
    examples = (all_examples, int(is_target.sum()), int((~is_target).sum()))
    counts = (n_conditions[distinct], tp, fp, distinct)
    bits = None if given is None else rows_to_bits(given, order_bits(is_target))
    share = None if share is None else share[distinct]
    rules = (table.take(distinct), coverage, n_positive_words)
    return Candidates(*rules, *examples, *counts, share, bits)


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
    if candidates.given is not None:
        active, tp, fp, totals = _take_away_given(candidates, uncovered, active, tp, fp)
    if not revalidate:
        n_conditions = candidates.n_conditions[active]
        values = _discount(evaluate(tp, fp, *totals), candidates, active)
        best_first = np.lexsort((active, n_conditions, -tp, -values))
        active, tp, fp = active[best_first], tp[best_first], fp[best_first]
    selected: list[int] = []
    while len(active):
        best = 0
        if revalidate:
            values = _discount(evaluate(tp, fp, *totals), candidates, active)
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


def _discount(
    values: NDArray[np.float64], candidates: Candidates, active: Indices
) -> NDArray[np.float64]:
    """The values with which rules compete: those on attributes that are not preferred lose some."""
    if candidates.share is None:
        return values
    return values - (1 - candidates.share[active]) * np.abs(values)


def _take_away_given(
    candidates: Candidates, uncovered: Bits, active: Indices, tp: Any, fp: Any
) -> tuple[Indices, Any, Any, tuple[int, int]]:
    """Remove the examples that given rules cover: the active candidates, their counts and the totals."""
    coverage = np.vstack([candidates.coverage, np.asarray(candidates.given)])
    rule, words = len(coverage) - 1, candidates.n_positive_words
    n_active, *removed = kernels.take_away(coverage, words, rule, uncovered, active, tp, fp)
    totals = candidates.n_positives - removed[0], candidates.n_negatives - removed[1]
    return active[:n_active], tp[:n_active], fp[:n_active], totals


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
    count_held_out: CountHeldOut | None = None,
    counted: int = 0,
    limits: Limits | None = None,
    given: NDArray[np.bool_] | None = None,
) -> LabelRules:
    """Covering of one label with each of the heuristics, from the same candidates.

    The choices of a heuristic are the indices of its rules, in the order of their selection. Only the
    rules of the heuristic at position `counted` get held-out counts.
    """
    candidates = prepare_candidates(table, index, is_target, limits, given)
    chosen = [select_rules(candidates, h, revalidate=revalidate) for h in heuristics]
    union, inverse = np.unique(np.concatenate(chosen), return_inverse=True)
    ends = np.cumsum([len(indices) for indices in chosen])[:-1]
    counts = (candidates.tp[union], candidates.fp[union], candidates.n_conditions[union])
    choices = tuple(np.split(inverse, ends))
    held_out = None
    if count_held_out is not None:
        again = partial(select_rules, heuristic=heuristics[counted], revalidate=revalidate)
        held_out = np.zeros((2, len(union)), dtype=np.int64)
        found = count_held_out(candidates, is_target, chosen[counted], again)
        held_out[:, choices[counted]] = found
    return LabelRules(candidates.table.take(union), *counts, choices, held_out)
