"""Boosting: the examples of one label → rules that vote, round by round. Knows no other label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.boosting import boost_rules
from steelyard._kernels.weighing import weigh_rules
from steelyard.model.coverage import RowIndex, collect, order_bits, rows_to_bits
from steelyard.model.log_odds import POINTS_PER_LOG_ODD
from steelyard.model.rule_table import RuleTable
from steelyard.model.rules import Rule

from .category_sets import CategoryCodes
from .held_out import count_outside_bags
from .limits import Limits
from .paths import LabelRules
from .settings import BoostingSettings
from .weights import LabelWeights

# Share of its best weight that a chosen rule gets, so that later rules can correct earlier ones.
STEP = 0.3

# A few examples of a rare label have a gradient and hardly any curvature: without this bound their
# best weight would be in the hundreds. LogitBoost has the same bound.
MAX_WEIGHT = 4.0

# Maximum number of conditions of a rule if no limit is given.
_MOST_CONDITIONS = 20


class Votes(NamedTuple):
    """Rules that one m chose for a label, in order; a rule can be chosen again.

    `gain` is how much a choice lowers the loss, but at most the gain of the choice before it: a prefix
    of the choices of all labels, best first, is then a prefix of each label's choices. The given rules
    of the label have one vote each.
    """

    rule_idx: NDArray[np.int64]
    points: NDArray[np.int64]
    gain: NDArray[np.float64]
    given_points: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    given_gain: NDArray[np.float64] = np.empty(0)


class Budget(NamedTuple):
    """Maximum number of rules and of choices of one label, since a rule can be chosen again."""

    n_rules: int
    n_choices: int
    reuse: float

    def at_most(self, n_choices: int) -> Budget:
        """The part of the budget that this many choices can use."""
        n_choices = min(n_choices, self.n_choices)
        return Budget(min(n_choices, self.n_rules), n_choices, self.reuse)

    def allows_more(self, grown: Grown) -> bool:
        """Whether a label may go on, and has not ended."""
        return not grown.is_done and len(grown.rule_idx) < self.n_choices


class LabelTask(NamedTuple):
    """What the rules of one label are learned from.

    `order` is the order in which bags draw the rows. `given` are the given rules of the label and the
    rows that they cover. `weights` says what the rows count, and `categories` are the codes of
    categories with which the conditions have to be read.
    """

    is_present: NDArray[np.bool_]
    order: NDArray[np.int64]
    limits: Limits | None = None
    given: tuple[Sequence[Rule], NDArray[np.bool_]] | None = None
    weights: LabelWeights | None = None
    categories: CategoryCodes = CategoryCodes({})

    @property
    def mean_weight(self) -> float:
        """What a row counts on average."""
        return 1.0 if self.weights is None else float(self.weights.total.mean())


class Grown(NamedTuple):
    """What boosting has done for one label and one m so far: its choices, its rules, and its randomness.

    `gain` is how much each choice lowers the loss. `is_done` says that no further choice follows.
    """

    rule_idx: NDArray[np.int64]
    points: NDArray[np.int64]
    gain: NDArray[np.float64]
    lengths: NDArray[np.int64]
    bodies: NDArray[np.int32]
    bag_seeds: NDArray[np.uint64]
    classes: NDArray[np.uint8]
    window: NDArray[np.int64]
    seed: int
    is_done: bool = False

    @property
    def table(self) -> RuleTable:
        """The rules."""
        used = zip(self.bodies, self.lengths, strict=True)
        return RuleTable.from_ranges([body[:length] for body, length in used])

    @property
    def votes(self) -> Votes:
        """The choices."""
        return Votes(self.rule_idx, self.points, np.minimum.accumulate(self.gain))

    def first_gains(self) -> NDArray[np.float64]:
        """The gain of the first choice of each rule."""
        return self.votes.gain[np.unique(self.rule_idx, return_index=True)[1]]


def grow_label(
    index: RowIndex,
    m: float,
    settings: BoostingSettings,
    entropy: int,
    budget: Budget,
    label: LabelTask,
    known: Grown | None = None,
    least_gain: float = -math.inf,
) -> Grown:
    """Grow, choose and weigh rules of one label, after those that are known.

    Boosting with logistic loss. Each round grows several rules, each on a bag of the examples and
    condition by condition. It takes the rule whose weight lowers the loss most and adds a part of
    that weight to the log-odds of the examples that the rule covers. m is what it is in the
    m-estimate: a rule is judged as if it covered m further examples with the label's prior
    distribution. Their gradients cancel, their curvatures add m·p·(1 - p) to the rule's.

    Given rules get their votes first. No rules follow a gain below the least gain. With weights,
    gradients and curvatures of a row are multiplied by what it counts.
    """
    index = label.categories.recode_index(index)
    grown = known or start_growing(index, settings, entropy, label)
    if grown.is_done:
        return grown
    l2, start, *_ = find_start(m, label)
    return grow_further(index, settings, budget, label, l2, start, least_gain, grown)


def start_growing(
    index: RowIndex, settings: BoostingSettings, entropy: int, label: LabelTask
) -> Grown:
    """A label without rules; it is done if there is nothing to learn."""
    max_conditions, is_usable = settings.max_conditions, index.coded.n_codes > 1
    is_present, limits, weights = label.is_present, label.limits, label.weights
    if limits is not None:
        max_conditions = limits.least_conditions(max_conditions)
        is_usable = is_usable & limits.is_usable
    # Each condition excludes at least one row.
    most_conditions = min(max_conditions or _MOST_CONDITIONS, len(is_present))
    integers = np.empty(0, dtype=np.int64)
    bodies = np.empty((0, most_conditions, 3), dtype=np.int32)
    of_rules = (integers, bodies, np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint8))
    is_one_sided = is_present.all() or not is_present.any()
    if weights is not None:
        is_one_sided |= weights.outweighs(is_present) or weights.outweighs(~is_present)
    has_nothing = bool(is_one_sided or not is_usable.any())
    random = (np.flatnonzero(is_usable).astype(np.int64), entropy % 2**64)
    return Grown(integers, integers, np.empty(0), *of_rules, *random, has_nothing)


def grow_further(
    index: RowIndex,
    settings: BoostingSettings,
    budget: Budget,
    label: LabelTask,
    l2: float,
    start: NDArray[np.float64],
    least_gain: float,
    grown: Grown,
) -> Grown:
    """What one m has grown, with further choices up to the budget."""
    n_known, n_known_rules = len(grown.rule_idx), len(grown.lengths)
    sizes = [budget.n_choices] * 3 + [budget.n_rules] * 4
    arrays: Sequence[NDArray[Any]] = grown[:7]  # those of choices and of rules
    out = [_lengthen(array, size) for array, size in zip(arrays, sizes, strict=True)]
    window = grown.window.copy()
    n_drawn = settings.n_drawn_features(len(window))
    bag_size = settings.bag_size(len(label.order))
    bag = (label.order, bag_size, n_drawn, settings.n_tries)
    votes = (l2, STEP, MAX_WEIGHT, POINTS_PER_LOG_ODD, budget.reuse, np.uint64(grown.seed))
    least_rules = max(1, settings.min_rules_per_label)
    end: tuple[Any, ...] = (start, label.limits, least_gain, least_rules, n_known, n_known_rules)
    if label.weights is not None:
        end = (*end, *label.weights.of_draws(label.order, bag_size))
    table = (index.coded, label.is_present)
    n_choices, n_rules, seed = boost_rules(
        *table, *bag, *votes, *out, window, *end, lists=index.lists
    )
    counts = [n_choices] * 3 + [n_rules] * 4
    filled = [array[:count].copy() for array, count in zip(out, counts, strict=True)]
    return Grown._make([*filled, window, seed, n_choices < budget.n_choices])


def find_start(
    m: float, label: LabelTask
) -> tuple[float, NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """What boosting starts from: curvature of the prior, log-odds, votes and gains of given rules.

    Each given rule gets its whole best weight, one after the other, but at least one point for its
    head.
    """
    is_present, weights = label.is_present, label.weights
    total = np.ones(len(is_present)) if weights is None else weights.total
    n_rows, n_present = float(total.sum()), float(total[is_present].sum())
    prior = n_present / n_rows
    # Avoid a division by 0 if m = 0 and all covered examples are certain already.
    l2 = max(m, 1e-9) * prior * (1 - prior)
    is_varied = 0 < n_present < n_rows
    first = math.log(n_present / (n_rows - n_present)) if is_varied else 0.0
    log_odds = np.full(len(is_present), first)
    rules, masks = label.given or ((), ())
    points = np.empty(len(rules), dtype=np.int64)
    gain = np.empty(len(rules))
    for i, (rule, mask) in enumerate(zip(rules, masks, strict=True)):
        p = 1 / (1 + np.exp(-log_odds[mask]))
        slope = float((total[mask] * (is_present[mask] - p)).sum())
        bend = float((total[mask] * p * (1 - p)).sum()) + max(l2, 1e-9)
        weight = min(max(slope / bend, -MAX_WEIGHT), MAX_WEIGHT)
        sign = 1 if rule.head.target_class else -1
        points[i] = sign * max(1, sign * round(POINTS_PER_LOG_ODD * weight))
        weight = points[i] / POINTS_PER_LOG_ODD
        gain[i] = weight * (2 * slope - bend * weight)
        log_odds[mask] += weight
    return l2, log_odds, points, gain


def finish_label(
    index: RowIndex,
    ms: Sequence[float],
    settings: BoostingSettings,
    group_of_row: NDArray[np.int64] | None,
    label: LabelTask,
    grown_of_ms: Sequence[Grown],
) -> LabelRules:
    """The rules of a label with their counts.

    With the groups of equal rows, each rule is also counted on the rows outside its bag.
    """
    is_present, order, limits, _, weights, categories = label
    index = categories.recode_index(index)
    tables: list[RuleTable] = []
    seeds: list[NDArray[np.uint64]] = []
    votes_of_ms: list[Votes] = []
    for m, grown in zip(ms, grown_of_ms, strict=True):
        *_, given_points, given_gain = find_start(m, label)
        votes = grown.votes._replace(given_points=given_points, given_gain=given_gain)
        table = grown.table
        distinct, position = _find_distinct(table, index, is_present, limits)
        n_known = sum(map(len, tables))
        tables.append(table.take(distinct))
        seeds.append(grown.bag_seeds[distinct])
        votes_of_ms.append(votes._replace(rule_idx=n_known + position[votes.rule_idx]))
    table = RuleTable.concatenate(tables)
    bits = order_bits(is_present)
    rows, *_ = collect(table, index, bits)
    tp, fp = rows.counts()
    n_conditions = table.count_conditions(index.coded.n_codes, index.coded.is_nominal)
    held_out = None
    if group_of_row is not None:
        bag = (group_of_row, order, settings.bag_size(len(order)), np.concatenate(seeds))
        held_out = count_outside_bags(rows, bits, *bag, weights=weights)
    weighed = None
    if weights is not None:
        every = rows_to_bits(np.ones(len(order), dtype=np.bool_), bits)
        weighed = weigh_rules(rows, weights.of_bits(bits), every)
    counted = (tp, fp, n_conditions, tuple(votes_of_ms), held_out, weighed, categories)
    return LabelRules(table, rows, *counted)


def _find_distinct(
    table: RuleTable, index: RowIndex, is_present: NDArray[np.bool_], limits: Limits | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rules to keep, and for every rule the position of the kept rule that equals it.

    Rules that cover the same rows are equal. With limits only those with the same conditions are:
    others may permit votes for other classes.
    """
    n_conditions = table.count_conditions(index.coded.n_codes, index.coded.is_nominal)
    if limits is None:
        _, distinct, position = collect(table, index, order_bits(is_present), n_conditions)
        return distinct, position
    first: dict[tuple[Any, ...], int] = {}
    numbers = [first.setdefault(body, len(first)) for body in table.list_ranges()]
    position = np.array(numbers, dtype=np.int64)
    return np.unique(position, return_index=True)[1], position


def _lengthen(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A larger array that begins with the given one."""
    longer = np.empty((size, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
