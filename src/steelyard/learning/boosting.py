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
from steelyard._kernels.weighing import weigh_rules
from steelyard.heuristics import MEstimate
from steelyard.model.combiners import SumOfVotes
from steelyard.model.coverage import RowIndex, collect, index_rows, order_bits, rows_to_bits
from steelyard.model.log_odds import POINTS_PER_LOG_ODD, probability_to_points
from steelyard.model.path import TheoryPath
from steelyard.model.rule_table import RuleTable
from steelyard.model.rules import Rule

from .budget import warn_of_memory
from .category_sets import CategoryCodes, sort_categories
from .constraints import Constraints
from .held_out import count_outside_bags, group_equal_rows
from .limits import Limits, read_demands
from .parallel import Progress, run_parallel
from .paths import Bounds, LabelRules, Ranking, RulePool, make_path, pool_rules
from .sampling import draw_orders
from .settings import BoostingSettings
from .targets import Targets
from .training_table import code_training_table, spread_mid_points
from .weights import LabelWeights

# Share of its best weight that a chosen rule gets, so that later rules can correct earlier ones.
STEP = 0.3

# A few examples of a rare label have a gradient and hardly any curvature: without this bound their
# best weight would be in the hundreds. LogitBoost has the same bound.
MAX_WEIGHT = 4.0

# If a label's even share of the rules is below ENOUGH_RULES, a known rule is raised instead of adding
# a new one if it gains at least REUSE times as much. With enough rules, many different ones with a
# small weight each predict better.
ENOUGH_RULES = 20
REUSE = 0.7

# A label may take this many times its even share of the rules, within the bounds: labels that need
# more rules can have them, and the time of a fit stays bounded.
_GENEROSITY = 3
_FEWEST_RULES = 15
_MOST_RULES = 100

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


def learn_boosted_rules(
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
) -> TheoryPath:
    """Theories whose rules vote, one per m.

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
    """
    bounds = Bounds(settings.max_rules, settings.min_rules_per_label, settings.max_total_conditions)
    heuristics = [MEstimate(m) for m in ms]
    targets = targets.for_presence()
    training = code_training_table(X, feature_names, spread_mid_points)
    demands = read_demands(constraints, training.coder, targets, X, takes_both_classes=True)
    given = demands.given
    bounds.check(len(targets.names), given.rules)
    index = index_rows(training.coded)
    most = min(settings.max_rules, settings.max_total_conditions or settings.max_rules)
    budget = share_rules(most, len(targets.names))
    _expect_memory(targets.is_target, budget, n_jobs)
    orders = draw_orders(training.coded, targets.is_target)
    boost = partial(boost_label, index, ms, settings, budget, entropy)
    limits, _ = demands.by_label()
    of_label = [given.of_label(i) for i in range(len(targets.names))]
    groups = [group_equal_rows(training.coded)] * len(orders)
    columns = (targets.is_target, orders, groups, limits, of_label, targets.label_weights)
    arguments = list(zip(*columns, strict=True))
    prior = targets.priors
    order = np.argsort(prior * (prior - 1), kind="stable")  # the largest loss first
    waves = partial(_boost_in_waves, boost, arguments, order, budget, settings)
    rules_of_label = waves(n_jobs, progress or (lambda *_: None))
    demands.warn_of_empty([len(rules.table) for rules in rules_of_label])
    pool = pool_rules(rules_of_label, given, targets)
    votes_of_ms = zip(*(rules.choices for rules in rules_of_label), strict=True)
    rankings = [_rank_votes(pool, votes, bounds) for votes in votes_of_ms]
    combiner = SumOfVotes(tuple(probability_to_points(prior).tolist()))
    return make_path(pool, rankings, targets, training.coder, heuristics, (1.0,), combiner)


def _expect_memory(is_target: NDArray[np.bool_], budget: Budget, n_jobs: int | None) -> None:
    """Warn if the orders of all labels and what the rules of the labels at work cover are too large."""
    n_at_work = min(effective_n_jobs(n_jobs), cpu_count(), len(is_target))
    n_bytes = is_target.size * 8 + n_at_work * budget.n_rules * is_target.shape[1]
    advice = "fewer labels or rows per fit, fewer jobs (n_jobs) or a smaller max_rules take less"
    warn_of_memory(n_bytes, "boosting", advice)


def _boost_in_waves(
    boost: Callable[..., LabelRules],
    arguments: Sequence[Sequence[Any]],
    order: NDArray[np.int64],
    budget: Budget,
    settings: BoostingSettings,
    n_jobs: int | None,
    progress: Progress,
) -> list[LabelRules]:
    """The rules of all labels; if labels are many, without most of those that `max_rules` would drop.

    Labels with much to learn come first, in the given order. What they gain tells the labels after
    them when to stop. The theory stays the same, except that of rules that cover the same examples
    the shortest that was grown is kept, and fewer are grown.
    """
    found: dict[int, LabelRules] = {}
    are_many = budget.reuse < math.inf
    size = -(-(settings.max_rules + 1) // budget.n_rules) if are_many else len(order)
    while len(found) < len(order):
        wave = order[len(found) : len(found) + size]
        least_gains = _find_least_gains(list(found.values()), settings)
        calls = [(*arguments[i], least_gains) for i in wave]
        report = partial(_report_later, progress, len(found), len(order))
        results = run_parallel(boost, calls, n_jobs, report)
        found |= zip(wave.tolist(), results, strict=True)
        size = len(found)  # each wave is as large as all before it, so there are few of them
    return [found[i] for i in range(len(order))]


def _report_later(progress: Progress, n_before: int, n_all: int, n_done: int, _: int) -> None:
    progress(n_before + n_done, n_all)


def _find_least_gains(
    known: Sequence[LabelRules], settings: BoostingSettings
) -> tuple[float, ...] | None:
    """For each m the gain below which a further rule cannot be among the best `max_rules`.

    None if all rules may be needed: those that each label keeps depend on all of its rules.
    """
    if not known or settings.min_rules_per_label > 1:
        return None
    least, most = [], settings.max_rules
    for votes_of_labels in zip(*(rules.choices for rules in known), strict=True):
        firsts = [v.gain[np.unique(v.rule_idx, return_index=True)[1]] for v in votes_of_labels]
        gains = np.sort(np.concatenate(firsts))[::-1]
        least.append(float(gains[most]) if len(gains) > most else -math.inf)
    return tuple(least)


def share_rules(max_rules: int, n_labels: int) -> Budget:
    """The budget of each label, such that the labels can share `max_rules` rules unevenly.

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


def boost_label(
    index: RowIndex,
    ms: Sequence[float],
    settings: BoostingSettings,
    budget: Budget,
    entropy: int,
    is_present: NDArray[np.bool_],
    order: NDArray[np.int64],
    group_of_row: NDArray[np.int64] | None = None,
    limits: Limits | None = None,
    given: tuple[Sequence[Rule], NDArray[np.bool_]] | None = None,
    weights: LabelWeights | None = None,
    least_gains: Sequence[float] | None = None,
) -> LabelRules:
    """Grow, choose and weigh rules of one label for each m.

    Boosting with logistic loss. Each round grows several rules, each on a bag of the examples and
    condition by condition. It takes the rule whose weight lowers the loss most and adds a part of
    that weight to the log-odds of the examples that the rule covers. m is what it is in the
    m-estimate: a rule is judged as if it covered m further examples with the label's prior
    distribution. Their gradients cancel, their curvatures add m·p·(1 - p) to the rule's.

    `order` is the order in which bags draw the rows. With the groups of equal rows, each rule is also
    counted on the rows outside its bag. `given` are the given rules of the label and the rows that they
    cover: they get their votes first. No rules follow a gain below the least gain of an m. With
    `weights`, gradients and curvatures of a row are multiplied by what it counts.
    """
    categories = CategoryCodes({})
    if settings.category_sets and limits is None:
        total = None if weights is None else weights.total
        categories = sort_categories(index.coded, is_present, total)
        index = categories.recode_index(index)
    tables: list[RuleTable] = []
    seeds: list[NDArray[np.uint64]] = []
    votes_of_ms: list[Votes] = []
    for m, least_gain in zip(ms, least_gains or [-math.inf] * len(ms), strict=True):
        # Each m has rules of its own, so that its theory does not depend on the other values.
        l2, start, given_points, given_gain = _start(m, is_present, given, weights)
        rows = (is_present, order, l2, start, limits, least_gain, weights)
        grown, bag_seeds, votes = _boost(index, settings, budget, entropy, *rows)
        votes = votes._replace(given_points=given_points, given_gain=given_gain)
        distinct, position = _find_distinct(grown, index, is_present, limits)
        n_known = sum(map(len, tables))
        tables.append(grown.take(distinct))
        seeds.append(bag_seeds[distinct])
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
    m: float,
    is_present: NDArray[np.bool_],
    given: tuple[Sequence[Rule], NDArray[np.bool_]] | None,
    weights: LabelWeights | None = None,
) -> tuple[float, NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """What boosting starts from: curvature of the prior, log-odds, votes and gains of given rules.

    Each given rule gets its whole best weight, one after the other, but at least one point for its
    head.
    """
    total = np.ones(len(is_present)) if weights is None else weights.total
    n_rows, n_present = float(total.sum()), float(total[is_present].sum())
    prior = n_present / n_rows
    # Avoid a division by 0 if m = 0 and all covered examples are certain already.
    l2 = max(m, 1e-9) * prior * (1 - prior)
    is_varied = 0 < n_present < n_rows
    first = math.log(n_present / (n_rows - n_present)) if is_varied else 0.0
    log_odds = np.full(len(is_present), first)
    rules, masks = given or ((), ())
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
    """The rules to keep, and for every rule the position among them of its equal.

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


def _boost(
    index: RowIndex,
    settings: BoostingSettings,
    budget: Budget,
    entropy: int,
    is_present: NDArray[np.bool_],
    order: NDArray[np.int64],
    l2: float,
    start: NDArray[np.float64],
    limits: Limits | None,
    least_gain: float,
    counted: LabelWeights | None = None,
) -> tuple[RuleTable, NDArray[np.uint64], Votes]:
    """The rules that one m grows, the seeds of their bags, and the choices among the rules."""
    n_rows = len(is_present)
    prior = np.average(is_present, weights=None if counted is None else counted.total)
    is_usable = index.coded.n_codes > 1
    max_conditions = settings.max_conditions
    if limits is not None:
        is_usable = is_usable & limits.is_usable
        max_conditions = limits.least_conditions(max_conditions)
    n_varying = int(is_usable.sum())
    rule_idx, points = np.empty((2, budget.n_choices), dtype=np.int64)
    gain = np.empty(budget.n_choices)
    # Each condition excludes at least one row.
    most_conditions = min(max_conditions or _MOST_CONDITIONS, n_rows)
    bodies = np.empty((budget.n_rules, most_conditions, 3), dtype=np.int32)
    lengths = np.empty(budget.n_rules, dtype=np.int64)
    seeds = np.empty(budget.n_rules, dtype=np.uint64)
    n_choices = n_rules = 0
    if 0 < prior < 1 and n_varying:
        bag = (order, settings.bag_size(n_rows), settings.n_drawn_features(n_varying))
        weights = (l2, STEP, MAX_WEIGHT, POINTS_PER_LOG_ODD, budget.reuse)
        tries = (settings.n_tries, *weights, np.uint64(entropy % 2**64))
        out = (rule_idx, points, gain, lengths, bodies, seeds)
        end: tuple[Any, ...] = (start, limits, least_gain)
        if counted is not None:
            unit = counted.find_unit(settings.bag_size(n_rows))
            rows = (counted.draw_ends(order), counted.total, counted.drawn_weights(), unit)
            end = (*end, *rows)
        n_choices, n_rules = boost_rules(index.coded, is_present, *bag, *tries, *out, *end)
    used = zip(bodies[:n_rules], lengths[:n_rules], strict=True)
    table = RuleTable.from_ranges([body[:length] for body, length in used])
    gain = np.minimum.accumulate(gain[:n_choices])
    return table, seeds[:n_rules], Votes(rule_idx[:n_choices], points[:n_choices], gain)


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
