"""Weighting: coded table + a label + m → rules that vote, in order, with their points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.boosting import boost_rules
from steelyard._kernels.coverage import find_distinct_rows
from steelyard._kernels.covering import count_covered
from steelyard.model.coverage import Bits, RowIndex, cover, order_bits
from steelyard.model.log_odds import POINTS_PER_LOG_ODD
from steelyard.model.rule_table import RuleTable

from .candidates import ForestSettings

# The share of its best weight that a chosen rule gets: later rules can then correct earlier ones.
STEP = 0.3

# A few examples of a rare label have a gradient and hardly any curvature: their best weight would be in
# the hundreds. The usual cure of LogitBoost.
MAX_WEIGHT = 4.0

# Where labels have to share the rules so that each has fewer than this, a rule that is there already is
# raised instead of adding a new one, unless the new one gains clearly more. Where there are rules
# enough, many different ones with a small weight each predict better.
ENOUGH_RULES = 20
REUSE = 0.7

# A label may take this many times the rules that an even share gives it, within the bounds: labels that
# need more rules can have them, and the time of a fit stays bounded. It may choose as many times that.
_GENEROSITY = 3
_FEWEST_RULES = 15
_MOST_RULES = 100

# Conditions of a rule where no limit is given.
_MOST_CONDITIONS = 20


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


class Budget(NamedTuple):
    """What one label may spend: rules, and choices, since a rule can be chosen again."""

    n_rules: int
    n_choices: int
    reuse: float


def share_rules(max_rules: int, n_labels: int) -> Budget:
    """The budget of each label, so that together they can take `max_rules` rules unevenly.

    Examples
    --------
    >>> share_rules(300, 6), share_rules(300, 100)
    (Budget(n_rules=100, n_choices=100, reuse=inf), Budget(n_rules=15, n_choices=45, reuse=0.7))
    """
    even_share = max_rules / max(n_labels, 1)
    n_rules = int(np.clip(_GENEROSITY * even_share, _FEWEST_RULES, _MOST_RULES))
    if even_share >= ENOUGH_RULES:
        return Budget(n_rules, n_rules, math.inf)
    return Budget(n_rules, _GENEROSITY * n_rules, REUSE)


def weigh_for_label(
    index: RowIndex,
    is_present: NDArray[np.bool_],
    order: NDArray[np.int64],
    ms: Sequence[float],
    settings: ForestSettings,
    budget: Budget,
    entropy: int,
) -> WeightedSelection:
    """Grow, choose and weigh rules of one label for each m.

    Boosting with logistic loss: each round grows as many rules as a forest has trees, each on a bag of
    the examples and each condition by condition, takes the one whose weight lowers the loss most and
    adds a part of that weight to the log-odds of the examples it covers. m is what it is in the
    m-estimate: a rule is judged as if it covered m further examples with the label's prior
    distribution. Their gradients cancel and their curvatures add m·p·(1 - p) to the rule's.

    `order` are the rows in an order that does not depend on how the table is sorted; bags are drawn in
    it.
    """
    tables: list[RuleTable] = []
    votes_of_ms: list[Votes] = []
    n_rules = 0
    for m in ms:
        grown, votes = _boost(index, is_present, order, m, settings, budget, entropy)
        # Each m has rules of its own, so that what it learns does not depend on the others.
        distinct, number = _find_distinct(grown, index)
        tables.append(distinct)
        votes_of_ms.append(votes._replace(rule_idx=n_rules + number[votes.rule_idx]))
        n_rules += len(distinct)
    table = RuleTable.concatenate(tables)
    bits = order_bits(is_present)
    covered = cover(table, index, bits.bit_of_row, bits.n_words)
    tp, fp = count_covered(covered, bits.n_positive_words)
    return WeightedSelection(
        table=table,
        votes=tuple(votes_of_ms),
        tp=tp,
        fp=fp,
        n_conditions=table.count_conditions(index.coded.n_codes, index.coded.is_nominal),
        n_positives=int(is_present.sum()),
        n_negatives=int((~is_present).sum()),
    )


def _boost(
    index: RowIndex,
    is_present: NDArray[np.bool_],
    order: NDArray[np.int64],
    m: float,
    settings: ForestSettings,
    budget: Budget,
    entropy: int,
) -> tuple[RuleTable, Votes]:
    """The rules that one m grows, and the choices among them."""
    coded = index.coded
    prior = is_present.mean()
    rule_idx = np.empty(budget.n_choices, dtype=np.int64)
    points = np.empty(budget.n_choices, dtype=np.int64)
    gain = np.empty(budget.n_choices)
    limits = [depth or _MOST_CONDITIONS for depth in settings.max_depths]
    # Each condition leaves out a row at least.
    most_conditions = min(max(limits), len(is_present))
    body = np.empty((budget.n_rules, most_conditions, 3), dtype=np.int32)
    length = np.empty(budget.n_rules, dtype=np.int64)
    n_choices = n_rules = 0
    if 0 < prior < 1 and (coded.n_codes > 1).any():
        n_choices, n_rules = boost_rules(
            coded,
            is_present,
            order,
            settings.bag_size(len(is_present)),
            settings.n_drawn_features(int((coded.n_codes > 1).sum())),
            settings.n_trees,
            # Where all covered examples are sure already, m = 0 would divide by nothing.
            max(m, 1e-9) * prior * (1 - prior),
            STEP,
            MAX_WEIGHT,
            POINTS_PER_LOG_ODD,
            budget.reuse,
            np.uint64(entropy % 2**64),
            rule_idx,
            points,
            gain,
            length,
            body,
        )
    table = _to_table(body[:n_rules], length[:n_rules])
    gain = np.minimum.accumulate(gain[:n_choices])
    return table, Votes(rule_idx[:n_choices], points[:n_choices], gain)


def _to_table(bodies: NDArray[np.int32], lengths: NDArray[np.int64]) -> RuleTable:
    """Bodies (n_rules, most_conditions, 3) of the given lengths as a table."""
    is_used = np.arange(bodies.shape[1]) < lengths[:, None]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return RuleTable(indptr, *(np.ascontiguousarray(column) for column in bodies[is_used].T))


def _find_distinct(table: RuleTable, index: RowIndex) -> tuple[RuleTable, NDArray[np.int64]]:
    """Rules that cover different rows, the shortest of equals; and which of them each rule became."""
    bits: Bits = cover(table, index)
    n_conditions = table.count_conditions(index.coded.n_codes, index.coded.is_nominal)
    distinct = find_distinct_rows(bits, n_conditions)
    number_of = {bits[rule].tobytes(): i for i, rule in enumerate(distinct)}
    return table.take(distinct), np.array(
        [number_of[row.tobytes()] for row in bits], dtype=np.int64
    )
