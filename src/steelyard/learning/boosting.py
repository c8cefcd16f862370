"""Boosting: table and targets → rules that vote, label by label → ranked votes → TheoryPath."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import NDArray

from steelyard._kernels.boosting import boost_rules
from steelyard._kernels.coding import list_features
from steelyard._kernels.weighing import weigh_rules
from steelyard.heuristics import MEstimate
from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.combiners import SumOfVotes
from steelyard.model.coverage import (
    RowIndex,
    collect,
    cover,
    index_rows,
    order_bits,
    rows_to_bits,
    unpack,
)
from steelyard.model.log_odds import POINTS_PER_LOG_ODD, probability_to_points
from steelyard.model.path import TheoryPath
from steelyard.model.rule_table import RuleTable
from steelyard.model.rules import Rule

from .budget import MemoryLimit, check_memory
from .category_sets import CategoryCodes, sort_categories
from .condensing import GROWN_PER_KEPT, condense_votes
from .condensing import expect_memory as condense_memory
from .constraints import Constraints
from .held_out import count_outside_bags, group_equal_rows
from .limits import Limits, read_demands
from .parallel import Progress, run_parallel
from .paths import Bounds, LabelRules, Ranking, RulePool, make_path, pool_rules
from .sampling import draw_orders
from .settings import BoostingSettings
from .shared_bodies import Candidate, Losses, Vote, draw_common_order, grow_together
from .targets import Targets
from .training_table import code_training_table, spread_mid_points
from .weights import LabelWeights

# Share of its best weight that a chosen rule gets, so that later rules can correct earlier ones.
STEP = 0.3

# A few examples of a rare label have a gradient and hardly any curvature: without this bound their
# best weight would be in the hundreds. LogitBoost has the same bound.
MAX_WEIGHT = 4.0

# If a label's even share of the rules is below ENOUGH_RULES, a known rule gets a larger vote instead of
# adding a new one if it gains at least REUSE times as much. With enough rules, many different ones
# with a small weight each predict better.
ENOUGH_RULES = 20
REUSE = 0.7

# Rules turn out not to be scarce if this many times as many are allowed as are needed.
PLENTY = 2

# Maximum number of votes per rule, on average, if known rules get larger votes.
_MOST_VOTES = 10

# Labels go on for a quarter of their even share of the rules, but at least this many rounds, before
# their gains are compared.
_FEWEST_CHOICES = 4

# Maximum number of conditions of a rule if no limit is given.
_MOST_CONDITIONS = 20

# Of each row and label while all labels are learned together: log-odds, gradient, curvature, count and
# candidate, each of them once more while they are made.
_BYTES_OF_LOSS = 48
_LESS_MEMORY = "fewer labels or rows per fit, fewer jobs (n_jobs) or a smaller max_rules take less"


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


class BoostedRules(NamedTuple):
    """The rules that boosting has grown and their votes for each m; more than are kept if condensed."""

    pool: RulePool
    rankings: Sequence[Ranking]
    ms: Sequence[float]
    targets: Targets
    coder: FeatureCoder
    bounds: Bounds

    def to_path(self, condense: str | bool = False) -> TheoryPath:
        """The theories, one per m, condensed by what `BoostingSettings.condense` says."""
        rankings = self.rankings
        if isinstance(condense, str):
            fit_to = partial(condense_votes, self.pool, self.targets, self.bounds, condense)
            rankings = [fit_to(*pair) for pair in zip(rankings, self.ms, strict=True)]
        combiner = SumOfVotes(tuple(probability_to_points(self.targets.priors).tolist()))
        heuristics = [MEstimate(m) for m in self.ms]
        about = (self.targets, self.coder, heuristics, (1.0,), combiner)
        return make_path(self.pool, rankings, *about)


def grow_boosted_rules(
    X: Any,
    targets: Targets,
    ms: Sequence[float],
    settings: BoostingSettings,
    *,
    entropy: int = 0,
    n_jobs: int | None = None,
    feature_names: Sequence[str] | None = None,
    progress: Progress | None = None,
    constraints: Constraints | None = None,
    max_memory: MemoryLimit = None,
) -> BoostedRules:
    """Rules that vote, for each m.

    Parameters
    ----------
    X : DataFrame, array or sparse matrix
    targets : Targets
    ms : sequence of float
        Strengths of the prior, as in the m-estimate.
    settings : BoostingSettings
    entropy : int
        The seed.
    n_jobs : int or None
    feature_names : sequence of str, optional
    progress : callable(n_labels_done, n_labels), optional
    constraints : Constraints, optional
    max_memory : str, number or None
        See `read_memory`. It bounds what grows with the labels and with the rules.
    """
    bounds = Bounds(settings.max_rules, settings.min_rules_per_label, settings.max_total_conditions)
    grown_bounds = bounds.widen(GROWN_PER_KEPT) if settings.condense else bounds
    n_bytes = _expect_memory(targets.is_target.shape, grown_bounds, settings, n_jobs)
    check_memory(n_bytes, max_memory, "boosting", _LESS_MEMORY)
    targets = targets.for_presence()
    training = code_training_table(X, feature_names, spread_mid_points)
    demands = read_demands(constraints, training.coder, targets, X, takes_both_classes=True)
    given = demands.given
    bounds.check(len(targets.names), given.rules)
    lists = list_features(training.coded, with_dense=True)
    index = index_rows(training.coded)._replace(lists=lists)
    orders = draw_orders(training.coded, targets.is_target)
    limits, _ = demands.by_label()
    of_label = [given.of_label(i) for i in range(len(targets.names))]
    codes = _sort_categories(training.coded, targets, limits, settings)
    columns = (targets.is_target, orders, limits, of_label, targets.label_weights, codes)
    labels = [LabelTask(*row) for row in zip(*columns, strict=True)]
    report = progress or (lambda *_: None)
    if settings.max_labels_per_rule > 1:
        order = draw_common_order(training.coded, targets.is_target)
        labels = [label._replace(order=order) for label in labels]
        of_ms = [_grow_sharing(index, m, settings, entropy, labels) for m in ms]
        grown = list(zip(*of_ms, strict=True))
        report(len(grown), len(grown))
        grown_bounds = Bounds()  # bodies were counted as they were grown
    else:
        grown = _grow_rules(index, ms, settings, entropy, labels, grown_bounds, n_jobs, report)
    groups = group_equal_rows(training.coded)
    finish = partial(finish_label, index, ms, settings, groups)
    rules_of_label = run_parallel(finish, list(zip(labels, grown, strict=True)), n_jobs)
    demands.warn_of_empty([len(rules.table) for rules in rules_of_label])
    pool = pool_rules(rules_of_label, given, targets)
    votes_of_ms = zip(*(rules.choices for rules in rules_of_label), strict=True)
    rankings = [_rank_votes(pool, votes, grown_bounds) for votes in votes_of_ms]
    return BoostedRules(pool, rankings, ms, targets, training.coder, bounds)


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


def _sort_categories(
    coded: CodedFeatures, targets: Targets, limits: Sequence[Any], settings: BoostingSettings
) -> list[CategoryCodes]:
    """The orders of categories in which sets of them are ranges of codes, one per label."""
    if not settings.category_sets:
        return [CategoryCodes({})] * len(targets.names)
    columns = zip(targets.is_target, targets.label_weights, limits, strict=True)
    return [
        sort_categories(coded, present, own and own.total) if limit is None else CategoryCodes({})
        for present, own, limit in columns
    ]


def _expect_memory(
    shape: tuple[int, int], bounds: Bounds, settings: BoostingSettings, n_jobs: int | None
) -> int:
    """Bytes that grow with the labels and with the rules, for a number of labels and rows.

    They are the orders of all labels, what the rules of the labels at work cover, and what condensing
    takes.
    """
    n_labels, n_rows = shape
    max_rules = _count_rules(bounds)
    budget = share_rules(max_rules, n_labels)
    n_kept = budget.n_rules if budget.reuse < math.inf else 1
    if settings.max_labels_per_rule > 1:
        per_row = (8 + _BYTES_OF_LOSS) * n_labels + max_rules
    else:
        per_row = 8 * n_labels + min(effective_n_jobs(n_jobs), cpu_count(), n_labels) * n_kept
    condensing = condense_memory(max_rules, n_rows) if settings.condense else 0
    return per_row * n_rows + condensing


def _count_rules(bounds: Bounds) -> int:
    """The largest number of rules within the bounds; a rule has at least one condition."""
    return min(filter(None, (bounds.max_rules, bounds.max_total_conditions)))


def _grow_rules(
    index: RowIndex,
    ms: Sequence[float],
    settings: BoostingSettings,
    entropy: int,
    labels: Sequence[LabelTask],
    bounds: Bounds,
    n_jobs: int | None,
    progress: Progress,
) -> list[tuple[Grown, ...]]:
    """The rules of all labels for each m, hardly more than the bounds allow.

    Known rules get larger votes where rules are scarce. If the labels then need few of the rules that
    they may have, rules are not scarce: the labels are grown again with new rules only.
    """
    most = _count_rules(bounds)
    budget = share_rules(most, len(labels))
    of_ms: list[list[Grown]] = []

    def report(n_done: int, n_labels: int) -> None:
        progress((len(of_ms) * n_labels + n_done) // len(ms), n_labels)

    for m in ms:
        grow = partial(grow_label, index, m, settings, entropy)
        grown = _grow_in_stages(grow, labels, budget, most, n_jobs, report)
        n_rules = sum(len(label.lengths) for label in grown)
        if budget.reuse < math.inf and most >= max(ENOUGH_RULES, PLENTY * n_rules):
            grown = _grow_in_stages(grow, labels, share_rules(most, 1), most, n_jobs)
        of_ms.append(grown)
    return list(zip(*of_ms, strict=True))


def _grow_in_stages(
    grow: Callable[..., Grown],
    labels: Sequence[LabelTask],
    budget: Budget,
    max_rules: int,
    n_jobs: int | None,
    progress: Progress | None = None,
) -> list[Grown]:
    """The rules of all labels without most of those that `max_rules` would drop.

    In each stage, the labels go on for a few rounds. Then labels whose next rules gain too little to
    be kept stop: the rules that are grown are hardly more than those that are kept, and the theory is
    the same as if each label had gone on to the end.
    """
    n_choices = stage = max(_FEWEST_CHOICES, max_rules // (4 * max(len(labels), 1)))
    grown: dict[int, Grown] = {}
    open_idx = list(range(len(labels)))
    while open_idx:
        least_gain = _find_least_gain(list(grown.values()), max_rules)
        most = budget.at_most(n_choices)
        calls = [(most, labels[i], grown.get(i), least_gain) for i in open_idx]
        for i, found in zip(open_idx, run_parallel(grow, calls, n_jobs), strict=True):
            grown[i] = found
        is_last = n_choices >= budget.n_choices
        open_idx = [i for i in open_idx if not (is_last or grown[i].is_done)]
        if progress is not None:
            progress(len(labels) - len(open_idx), len(labels))
        n_choices += stage
    return [grown[i] for i in range(len(labels))]


def _find_least_gain(grown: Sequence[Grown], max_rules: int) -> float:
    """The gain below which a further rule cannot be among the best `max_rules`."""
    gains = np.sort(np.concatenate([np.empty(0), *(label.first_gains() for label in grown)]))[::-1]
    return float(gains[max_rules]) if len(gains) > max_rules else -math.inf


def share_rules(max_rules: int, n_labels: int) -> Budget:
    """The budget of each label: it can take all rules, if it needs them more than the other labels.

    Examples
    --------
    >>> share_rules(300, 6), share_rules(300, 100)
    (Budget(n_rules=300, n_choices=300, reuse=inf), Budget(n_rules=301, n_choices=3000, reuse=0.7))
    """
    if max_rules >= ENOUGH_RULES * n_labels:
        return Budget(max_rules, max_rules, math.inf)
    # The first rule too many ends the votes of all rules.
    return Budget(max_rules + 1, _MOST_VOTES * max_rules, REUSE)


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
    grown = known or _start_growing(index, settings, entropy, label)
    if grown.is_done:
        return grown
    l2, start, *_ = _start(m, label)
    return _grow_on(index, settings, budget, label, l2, start, least_gain, grown)


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
        *_, given_points, given_gain = _start(m, label)
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


def _start(
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
    columns = np.column_stack((table.feature, table.low, table.high)).tolist()
    spans = zip(table.indptr[:-1], table.indptr[1:], strict=True)
    first: dict[tuple[Any, ...], int] = {}
    bodies = [tuple(map(tuple, sorted(columns[begin:end]))) for begin, end in spans]
    numbers = [first.setdefault(body, len(first)) for body in bodies]
    position = np.array(numbers, dtype=np.int64)
    return np.unique(position, return_index=True)[1], position


def _start_growing(
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


def _grow_on(
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


def _grow_sharing(
    index: RowIndex,
    m: float,
    settings: BoostingSettings,
    entropy: int,
    labels: Sequence[LabelTask],
) -> list[Grown]:
    """The rules of each label if a body may vote for several of them."""
    starts = [_start(m, label) for label in labels]
    log_odds = np.array([start for _, start, *_ in starts])
    is_present = np.array([label.is_present for label in labels])
    l2 = np.array([of_label[0] for of_label in starts])
    states = [_start_growing(index, settings, entropy, label) for label in labels]

    def find(j: int, log_odds: NDArray[np.float64]) -> Candidate | None:
        if states[j].is_done:
            return None
        at = (labels[j], float(l2[j]), log_odds, -math.inf)
        found = _grow_on(index, settings, Budget(1, 1, math.inf), *at, states[j])
        states[j] = states[j]._replace(window=found.window, seed=found.seed, is_done=found.is_done)
        if found.is_done:
            return None
        covered = unpack(cover(found.table, index), is_present.shape[1])[0]
        return Candidate(found, covered, float(found.gain[0]))

    totals = None
    if labels[0].weights is not None:
        totals = np.array([label.weights.total for label in labels if label.weights])
    losses = Losses(is_present, log_odds, l2, STEP, MAX_WEIGHT, totals)
    are_free = [label.limits is None for label in labels]
    may_share = np.array(are_free) & [not state.is_done for state in states]
    max_bodies = settings.max_rules - sum(len(of_label[2]) for of_label in starts)
    reuse = share_rules(settings.max_rules, len(labels)).reuse
    most = (max_bodies, settings.max_labels_per_rule, reuse)
    votes = grow_together(find, losses, may_share, *most)
    return [_join_votes(*pair) for pair in zip(states, votes, strict=True)]


def _join_votes(empty: Grown, votes: Sequence[Vote]) -> Grown:
    """The rules of a label, one per vote."""
    if not votes:
        return empty
    of_rules = zip(*(vote.rule[3:7] for vote in votes), strict=True)
    choices = (
        np.arange(len(votes), dtype=np.int64),
        np.array([vote.points for vote in votes], dtype=np.int64),
        np.array([vote.gain for vote in votes]),
    )
    return Grown._make([*choices, *map(np.concatenate, of_rules), *empty[7:]])


def _lengthen(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A larger array that begins with the given one."""
    longer = np.empty((size, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def _rank_votes(pool: RulePool, votes: Sequence[Votes], bounds: Bounds) -> Ranking:
    """Sort the votes of all labels by their gain; stop before exceeding the bounds.

    The votes of given rules come first. The first votes of each label are among them whatever their
    gain.
    """
    chosen = (o + v.rule_idx for o, v in zip(pool.offsets, votes, strict=True))
    rules = np.concatenate((pool.given_idx, *chosen))
    points = np.concatenate([*(v.given_points for v in votes), *(v.points for v in votes)])
    gain = np.concatenate([*(v.given_gain for v in votes), *(v.gain for v in votes)])
    best_first = np.lexsort((-gain, rules < len(pool.table)))
    first_votes = np.sort(np.unique(rules[best_first], return_index=True)[1])
    ranked = rules[best_first]
    firsts = ranked[first_votes]
    order = bounds.protect(pool.label_of_rule[firsts], len(pool.given.rules))
    max_rules = bounds.count_within(pool.n_conditions[firsts[order]])
    if len(first_votes) > max_rules:
        kept = first_votes[order[:max_rules]]
        is_kept = np.isin(ranked, ranked[kept])
        is_kept[first_votes[max_rules] :] = False
        is_kept[kept] = True
        best_first = best_first[is_kept]
    return Ranking(rules[best_first], gain[best_first], points[best_first])
