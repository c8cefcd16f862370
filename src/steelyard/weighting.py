"""Weighting: candidates of a label + m → rules that vote, in order, with their points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._kernels.coverage import find_distinct_rows
from ._kernels.covering import count_covered
from ._kernels.weighting import boost_rules
from .coverage import RowIndex, cover, n_words, order_bits
from .decoding import POINTS_PER_LOG_ODD
from .rules import RuleTable

# The share of its best weight that a chosen rule gets: later rules can then correct earlier ones.
STEP = 0.3

# A few examples of a rare label have a gradient and hardly any curvature: their best weight would be in
# the hundreds. The usual cure of LogitBoost.
MAX_WEIGHT = 4.0

# The first rules of a label are the best there are. After them variety pays: a round looks at a tenth of
# the candidates and at two thirds of the examples.
GREEDY_ROUNDS = 20
DRAWN_SHARE = 0.1
ROW_SHARE = 2 / 3

# A label may take this many times the rules that an even share gives it, within the bounds: labels that
# need more rules can have them, and the time of a fit stays bounded.
_GENEROSITY = 3
_FEWEST_ROUNDS = 15
_MOST_ROUNDS = 100


class Votes(NamedTuple):
    """Rules that one value of m chose for a label, in order; a rule can be chosen again.

    `gain` is what a choice lowers the loss by, or the choice before it if that was less: a prefix of
    all choices, best first, is then a prefix of each label's.
    """

    rule_idx: NDArray[np.int64]
    points: NDArray[np.int64]
    gain: NDArray[np.float64]


class WeightedSelection(NamedTuple):
    """The rules of one label that at least one value of m chose, with their counts on all examples."""

    table: RuleTable
    votes: tuple[Votes, ...]
    tp: NDArray[np.int32]
    fp: NDArray[np.int32]
    n_conditions: NDArray[np.int64]
    n_positives: int
    n_negatives: int


def count_rounds(max_rules: int, n_labels: int) -> int:
    """Rounds for each label so that together they can choose `max_rules` rules unevenly.

    Examples
    --------
    >>> count_rounds(300, 6), count_rounds(300, 100)
    (100, 15)
    """
    even_share = max_rules / max(n_labels, 1)
    return int(np.clip(_GENEROSITY * even_share, _FEWEST_ROUNDS, _MOST_ROUNDS))


def weigh_for_label(
    table: RuleTable,
    index: RowIndex,
    is_present: NDArray[np.bool_],
    order: NDArray[np.int64],
    ms: Sequence[float],
    n_rounds: int,
    entropy: int,
) -> WeightedSelection:
    """Choose and weigh rules of one label for each m, from the same candidates.

    Boosting with logistic loss: each round takes the rule whose weight lowers the loss most and adds
    a part of that weight to the log-odds of the examples it covers. m is what it is in the m-estimate:
    a rule is judged as if it covered m further examples with the label's prior distribution. Their
    gradients cancel and their curvatures add m·p·(1 - p) to the rule's.

    `order` are the rows in an order that does not depend on how the table is sorted; samples of the
    examples are drawn in it.
    """
    n_positives = int(is_present.sum())
    n_negatives = len(is_present) - n_positives
    table, coverage, n_conditions = _find_distinct(table, index, order)
    prior = n_positives / len(is_present)
    # Where all covered examples are sure already, m = 0 would divide by nothing.
    strengths = [max(m, 1e-9) * prior * (1 - prior) for m in ms]
    chosen = [_vote(coverage, is_present[order], l2, n_rounds, entropy) for l2 in strengths]
    union, inverse = np.unique(
        np.concatenate([votes.rule_idx for votes in chosen]), return_inverse=True
    )
    ends = np.cumsum([len(votes.rule_idx) for votes in chosen])[:-1]
    chosen_table = table.take(union)
    bits = order_bits(is_present)
    covered = cover(chosen_table, index, bits.bit_of_row, bits.n_words)
    tp, fp = count_covered(covered, bits.n_positive_words)
    return WeightedSelection(
        table=chosen_table,
        votes=tuple(
            votes._replace(rule_idx=idx)
            for votes, idx in zip(chosen, np.split(inverse, ends), strict=True)
        ),
        tp=tp,
        fp=fp,
        n_conditions=n_conditions[union],
        n_positives=n_positives,
        n_negatives=n_negatives,
    )


def _find_distinct(
    table: RuleTable, index: RowIndex, order: NDArray[np.int64]
) -> tuple[RuleTable, NDArray[np.uint8], NDArray[np.int64]]:
    """Rules that cover different rows, the shortest of equals, with their coverage as bytes."""
    bit_of_row = np.empty_like(order)
    bit_of_row[order] = np.arange(len(order))
    bits = cover(table, index, bit_of_row, n_words(len(order)))
    n_conditions = table.count_conditions(index.coded.n_codes, index.coded.is_nominal)
    distinct = find_distinct_rows(bits, n_conditions)
    coverage = bits[distinct].astype("<u8", copy=False).view(np.uint8)
    n_bytes = -(-index.coded.n_rows // 8)
    return table.take(distinct), np.ascontiguousarray(coverage[:, :n_bytes]), n_conditions[distinct]


def _vote(
    coverage: NDArray[np.uint8],
    is_present: NDArray[np.bool_],
    l2: float,
    n_rounds: int,
    entropy: int,
) -> Votes:
    rule_idx = np.empty(n_rounds, dtype=np.int64)
    points = np.empty(n_rounds, dtype=np.int64)
    gain = np.empty(n_rounds)
    n_chosen = 0
    if len(coverage):  # else the label may have one class only
        n_chosen = boost_rules(
            coverage,
            is_present,
            l2,
            STEP,
            MAX_WEIGHT,
            POINTS_PER_LOG_ODD,
            GREEDY_ROUNDS,
            math.ceil(DRAWN_SHARE * len(coverage)),
            ROW_SHARE,
            np.uint64(entropy % 2**64),
            rule_idx,
            points,
            gain,
        )
    gain = np.minimum.accumulate(gain[:n_chosen])
    return Votes(rule_idx[:n_chosen], points[:n_chosen], gain)
