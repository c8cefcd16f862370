"""Covering (separate-and-conquer): candidates of a label + heuristics → selected rules, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.covering import Covering, evaluate_fraction, select_in_order
from steelyard._kernels.row_store import RowStore
from steelyard._kernels.weighing import WeighedCovering, weigh_rules
from steelyard.heuristics import ConfusionMatrix, Heuristic, heuristic_values, kernel_coefficients
from steelyard.model.coverage import Bits, RowIndex, collect, count_among, order_bits, rows_to_bits
from steelyard.model.rule_table import RuleTable

from .budget import MemoryLimitError, format_memory
from .category_sets import CategoryCodes
from .limits import Limits
from .paths import LabelRules
from .weights import Floats, LabelWeights

Indices = NDArray[np.int64]

# More conditions than a rule has: differences of shares weigh more than differences of lengths.
_LONGEST = 100_000


class Candidates(NamedTuple):
    """The candidates of one label that cover different rows, with what the selection needs to know.

    `rows` are the rows that each candidate covers; positives (rows of the target class) come first.
    `position` is where a candidate stands among all candidates of the label.

    `share` is the share of its value that each candidate counts with, if some attributes are preferred;
    `given` are the rows that given rules cover, `weights` what the row of each bit counts if that is not
    1. All counts here are numbers of rows.
    """

    table: RuleTable
    rows: RowStore
    all_examples: Bits
    n_positives: int
    n_negatives: int
    n_conditions: NDArray[np.int64]
    tp: NDArray[np.int32]
    fp: NDArray[np.int32]
    position: Indices
    share: NDArray[np.float64] | None = None
    given: Bits | None = None
    weights: Floats | None = None


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
    tree_of_rule: NDArray[np.int64] | None = None,
    max_bytes: int = 0,
    weights: LabelWeights | None = None,
) -> Candidates:
    """Coverage and counts of one label's rules; of rules with equal coverage the shortest stays.

    Rules with equal coverage are interchangeable for every heuristic, and the tie-breaks prefer the
    shorter one, so no rule that could be selected is lost. With `limits` or weights of classes, rules
    that cover too little are left out, and of rules with equal coverage those on preferred attributes
    stay. `given` are the rows that given rules cover. Rules with the same `tree_of_rule` are covered
    together, which is faster. A MemoryLimitError is raised if their rows take more than `max_bytes`; 0
    is no limit.
    """
    bits = order_bits(is_target)
    n_conditions = table.count_conditions(index.coded.n_codes, index.coded.is_nominal)
    key, share = n_conditions, None
    if limits is not None and limits.has_preference:
        share = limits.share_of_rules(table)
        key = n_conditions - np.rint(_LONGEST * _LONGEST * share).astype(np.int64)
    try:
        rows, distinct, _ = collect(table, index, bits, key, tree_of_rule, max_bytes)
    except MemoryError:
        raise MemoryLimitError(_describe_excess(len(table), len(is_target), max_bytes)) from None
    tp, fp = rows.counts()
    if limits is not None or weights is not None:
        is_allowed = np.ones(len(tp), dtype=np.bool_)
        if limits is not None:
            is_allowed &= limits.allows(table.take(distinct), tp, fp, float(is_target.mean()))
        if weights is not None:
            is_allowed &= tp >= weights.fewest(is_target)
        distinct, rows = distinct[is_allowed], rows.take(np.flatnonzero(is_allowed))
        tp, fp = tp[is_allowed], fp[is_allowed]
    return Candidates(
        table=table.take(distinct),
        rows=rows,
        all_examples=rows_to_bits(np.ones(len(is_target), dtype=np.bool_), bits),
        n_positives=int(is_target.sum()),
        n_negatives=int((~is_target).sum()),
        n_conditions=n_conditions[distinct],
        tp=tp,
        fp=fp,
        position=distinct,
        share=None if share is None else share[distinct],
        given=None if given is None else rows_to_bits(given, bits),
        weights=None if weights is None else weights.of_bits(bits),
    )


def _describe_excess(n_rules: int, n_rows: int, max_bytes: int) -> str:
    allowed = f"the {format_memory(max_bytes)} that max_memory allows" if max_bytes else "there is"
    return (
        f"which of {n_rows:,} examples the {n_rules:,} candidates of a label cover takes more memory "
        f"than {allowed}: smaller bags (sample_fraction) and shallower trees (max_depths) give fewer "
        "rules per pass, and fewer jobs (n_jobs) leave more memory for each"
    )


def select_rules(
    candidates: Candidates, heuristics: Sequence[Heuristic], *, revalidate: bool = True
) -> list[Indices]:
    """For each heuristic the indices of the selected candidates, in the order of their selection.

    Take the candidate with the best heuristic value on the examples that no selected rule covers yet
    (ties: more true positives, fewer conditions, first generated), until no candidate covers an
    uncovered positive. With ``revalidate=False`` candidates are ranked once, on all examples.
    """
    if candidates.weights is not None:
        weighed = (candidates, candidates.weights)
        return [_select_weighed(*weighed, heuristic, revalidate) for heuristic in heuristics]
    evaluations = [_make_evaluation(heuristic) for heuristic in heuristics]
    n_conditions = candidates.n_conditions
    rank = _rank_by_length(n_conditions)
    shares, kind = np.ones(1), None
    if candidates.share is not None:
        shares, kind = np.unique(candidates.share, return_inverse=True)
    counts = (candidates.tp, candidates.fp)
    covering = Covering(candidates.rows, *counts, rank, candidates.all_examples, kind)
    totals, uncovered = (candidates.n_positives, candidates.n_negatives), candidates.all_examples
    if candidates.given is not None:
        totals = _subtract(totals, covering.remove_rows(candidates.given))
        uncovered = uncovered & ~candidates.given
    if not revalidate:
        tp, fp = count_among(candidates.rows, uncovered)
        ranked = (_discount(e(tp, fp, *totals), candidates.share) for e in evaluations)
        orders = (np.lexsort((n_conditions, -tp, -values)) for values in ranked)
        return [np.asarray(select_in_order(candidates.rows, o, uncovered)) for o in orders]
    selected: list[list[int]] = [[] for _ in heuristics]
    left = [_Branch(covering, totals, list(range(len(heuristics))))]
    while left:
        branch = left.pop().grow()
        tp, fp, kinds = branch.covering.counts()
        if not len(tp):
            continue
        share = None if candidates.share is None else shares[kinds]
        for h in branch.heuristics:
            values = _discount(evaluations[h](tp, fp, *branch.totals), share)
            selected[h].append(branch.covering.pick(values, tp))
        left += branch.split([selected[h][-1] for h in branch.heuristics])
    return [np.array(rules, dtype=np.int64) for rules in selected]


class _Branch(NamedTuple):
    """Heuristics that have selected the same rules so far, and so see the same counts.

    They share the work: on the paper's data sets the 20 values of m need half to three quarters of the
    steps. `rule` is the last selected rule, whose rows are not removed yet. Of the branches of one
    covering all but the last copy it.
    """

    covering: Covering
    totals: tuple[int, int]
    heuristics: list[int]
    rule: int | None = None
    is_last: bool = True

    def grow(self) -> _Branch:
        """Remove the rows of the last selected rule."""
        if self.rule is None:
            return self
        covering = self.covering if self.is_last else self.covering.copy()
        totals = _subtract(self.totals, covering.remove(self.rule))
        return _Branch(covering, totals, self.heuristics)

    def split(self, picked: Sequence[int]) -> list[_Branch]:
        """One branch per rule that a heuristic picked, to be taken from the end.

        That of most heuristics comes last, so that few copies wait at the same time.
        """
        agreeing: dict[int, list[int]] = {}
        for h, rule in zip(self.heuristics, picked, strict=True):
            agreeing.setdefault(rule, []).append(h)
        rules = sorted(agreeing, key=lambda rule: -len(agreeing[rule]))
        return [
            self._replace(heuristics=agreeing[rule], rule=rule, is_last=i == 0)
            for i, rule in enumerate(rules)
        ]


def _select_weighed(
    candidates: Candidates, weights: Floats, heuristic: Heuristic, revalidate: bool
) -> Indices:
    """The same with TP, FP, positives and negatives that are sums of weights."""
    evaluate = partial(_evaluate_counts, heuristic)
    rank = _rank_by_length(candidates.n_conditions)
    covering = WeighedCovering(candidates.rows, weights, rank, candidates.all_examples)
    uncovered, share = candidates.all_examples, candidates.share
    if candidates.given is not None:
        covering.remove_rows(candidates.given)
        uncovered = uncovered & ~candidates.given
    if not revalidate:
        tp, fp = weigh_rules(candidates.rows, weights, uncovered)
        values = _discount(evaluate(tp, fp, *covering.totals()), share)
        best_first = np.lexsort((candidates.n_conditions, -tp, -values))
        return np.asarray(select_in_order(candidates.rows, best_first, uncovered))
    selected: list[int] = []
    while True:
        tp, fp, left = covering.counts()
        if not len(tp):
            return np.array(selected, dtype=np.int64)
        values = evaluate(tp, fp, *covering.totals())
        selected.append(covering.pick(_discount(values, None if share is None else share[left])))
        covering.remove(selected[-1])


def _rank_by_length(n_conditions: NDArray[np.int64]) -> Indices:
    """The place of each candidate in the order of their lengths, then of their generation."""
    in_order = np.argsort(n_conditions, kind="stable")
    rank = np.empty_like(in_order)
    rank[in_order] = np.arange(len(rank))
    return rank


def _subtract(totals: tuple[int, int], removed: tuple[int, int]) -> tuple[int, int]:
    return totals[0] - removed[0], totals[1] - removed[1]


def _discount(
    values: NDArray[np.float64], share: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The values with which rules compete: those on attributes that are not preferred lose some."""
    return values if share is None else values - (1 - share) * np.abs(values)


def _make_evaluation(heuristic: Heuristic) -> Callable[..., NDArray[np.float64]]:
    """The heuristic as a function of TP and FP (arrays), positives and negatives (numbers)."""
    coefficients = kernel_coefficients(heuristic)
    if coefficients is not None:
        return partial(evaluate_fraction, coefficients)
    return partial(_evaluate_counts, heuristic)


def _evaluate_counts(
    heuristic: Heuristic, tp: Any, fp: Any, positives: float, negatives: float
) -> NDArray[np.float64]:
    return heuristic_values(heuristic, ConfusionMatrix(tp, fp, positives - tp, negatives - fp))


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
    tree_of_rule: NDArray[np.int64] | None = None,
    max_bytes: int = 0,
    weights: LabelWeights | None = None,
    categories: CategoryCodes = CategoryCodes({}),  # noqa: B008, it is never changed
) -> LabelRules:
    """Covering of one label with each of the heuristics, from the same candidates.

    The choices of a heuristic are the indices of its rules, in the order of their selection. Only the
    rules of the heuristic at position `counted` get held-out counts.
    """
    index = categories.recode_index(index)
    options = (limits, given, tree_of_rule, max_bytes, weights)
    candidates = prepare_candidates(table, index, is_target, *options)
    chosen = select_rules(candidates, heuristics, revalidate=revalidate)
    union, inverse = np.unique(np.concatenate(chosen), return_inverse=True)
    ends = np.cumsum([len(indices) for indices in chosen])[:-1]
    choices = tuple(np.split(inverse, ends))
    held_out = None
    if count_held_out is not None:
        held_out = np.zeros((2, len(union)), dtype=np.int64)

        def again(known: Candidates) -> Indices:
            return select_rules(known, [heuristics[counted]], revalidate=revalidate)[0]

        found = count_held_out(candidates, is_target, chosen[counted], again)
        held_out[:, choices[counted]] = found
    rows, weighed = candidates.rows.take(union), None
    if candidates.weights is not None:
        weighed = weigh_rules(rows, candidates.weights, candidates.all_examples)
    return LabelRules(
        table=candidates.table.take(union),
        rows=rows,
        tp=candidates.tp[union],
        fp=candidates.fp[union],
        n_conditions=candidates.n_conditions[union],
        choices=choices,
        held_out=held_out,
        weighed=weighed,
        categories=categories,
        candidate_idx=union.astype(np.int64),
    )
