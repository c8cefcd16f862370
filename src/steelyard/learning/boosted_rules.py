"""Boosted rules: table and targets → rules of all labels within one budget → votes → TheoryPath."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import cpu_count, effective_n_jobs

from steelyard._kernels.coding import list_features
from steelyard.heuristics import MEstimate
from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.combiners import SumOfVotes
from steelyard.model.coverage import RowIndex, cover, index_rows, unpack
from steelyard.model.log_odds import probability_to_points
from steelyard.model.path import TheoryPath

from .boosting import (
    STEP,
    Budget,
    Grown,
    LabelTask,
    Votes,
    find_start,
    finish_label,
    grow_further,
    grow_label,
    start_growing,
)
from .budget import MemoryLimit, check_memory
from .category_sets import CategoryCodes, sort_categories
from .condensing import condense_votes, find_pace
from .condensing import expect_memory as condense_memory
from .constraints import Constraints, ConstraintWarning
from .held_out import group_equal_rows
from .limits import Limits, read_demands
from .parallel import Progress, run_parallel
from .paths import Bounds, Ranking, RulePool, make_path, pool_rules
from .sampling import draw_orders
from .settings import BoostingSettings
from .shared_bodies import (
    MOST_GROWN_FOR,
    STEP_OF_MANY,
    Candidate,
    CommonBodies,
    Losses,
    Vote,
    draw_common_order,
    find_needed_gain,
    grow_together,
)
from .targets import Targets
from .training_table import code_training_table, spread_mid_points

# If a label's even share of the rules is below ENOUGH_RULES, a known rule gets a larger vote instead of
# adding a new one if it gains at least REUSE times as much. With enough rules, many different ones
# with a small weight each predict better.
ENOUGH_RULES = 20
REUSE = 0.7

# Rules turn out not to be scarce if this many times as many are allowed as the labels need: those that
# they have when a choice gains less than this. Labels without noise (genbase) need 68 rules of 333, but
# would go on for 1,600 rounds. The other data sets need 390 and more.
PLENTY = 2
NEEDED_GAIN = 0.25

# Maximum number of votes per rule, on average, if known rules get larger votes.
_MOST_VOTES = 10

# Labels go on for a quarter of their even share of the rules, but at least this many rounds, before
# their gains are compared.
_FEWEST_CHOICES = 4

# A label ends where no rule lowers its loss by this much times the mean weight of a row. Labels without
# noise (genbase) would go on for hundreds of rounds that change no prediction.
_LEAST_GAIN = 0.01

# Of each row and label while all labels are learned together: log-odds, gradient, curvature, and what
# they count, each of them once more while they are made.
_BYTES_OF_LOSS = 48
# With weights: what a draw of a row counts, its gradient and its curvature.
_BYTES_OF_DRAWS = 24
_NOTHING_SHARED = (
    "the constraints concern every label, so no body votes for several: constraints of single labels "
    "(for_label) leave the others free to share"
)
_LESS_MEMORY = "fewer labels or rows per fit, fewer jobs (n_jobs) or a smaller max_rules take less"


class BoostedRules(NamedTuple):
    """The rules that boosting has grown and their votes for each m; more than are kept if condensed."""

    pool: RulePool
    rankings: Sequence[Ranking]
    ms: Sequence[float]
    targets: Targets
    coder: FeatureCoder
    bounds: Bounds
    shares_bodies: bool = False

    def to_path(self, condense: str | bool = False) -> TheoryPath:
        """The theories, one per m, condensed by what `BoostingSettings.condense` says."""
        rankings = self.rankings
        if isinstance(condense, str):
            how = (self.pool, self.targets, self.bounds, condense, self.shares_bodies)
            fit_votes = partial(condense_votes, *how)
            rankings = [fit_votes(*pair) for pair in zip(rankings, self.ms, strict=True)]
        combiner = SumOfVotes(tuple(probability_to_points(self.targets.priors).tolist()))
        heuristics = [MEstimate(m) for m in self.ms]
        of_path = (self.targets, self.coder, heuristics, (1.0,), combiner)
        return make_path(self.pool, rankings, *of_path)


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
    bounds = _read_bounds(settings)
    grown_bounds = bounds.widen(_count_grown_per_kept(settings))
    is_weighed = any(weights is not None for weights in targets.label_weights)
    n_bytes = expect_memory(targets.is_target.shape, settings, n_jobs, is_weighed)
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
    if settings.shares_bodies:
        order = draw_common_order(training.coded, targets.is_target)
        labels = [label._replace(order=order, limits=_drop_empty(label.limits)) for label in labels]
        if all(label.limits is not None for label in labels):
            warnings.warn(_NOTHING_SHARED, ConstraintWarning, stacklevel=2)
        are_classes = targets.output != "multilabel"
        of_ms = [_grow_sharing(index, m, settings, entropy, labels, are_classes) for m in ms]
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
    about = (targets, training.coder, bounds, settings.shares_bodies)
    return BoostedRules(pool, rankings, ms, *about)


def _count_grown_per_kept(settings: BoostingSettings) -> int:
    """How many times as many rules are grown as are kept."""
    return find_pace(settings.shares_bodies).grown_per_kept if settings.condense else 1


def _drop_empty(limits: Limits | None) -> Limits | None:
    """Limits that exclude something: labels without such limits may share bodies."""
    return None if limits is None or limits.excludes_nothing else limits


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


def _read_bounds(settings: BoostingSettings) -> Bounds:
    return Bounds(settings.max_rules, settings.min_rules_per_label, settings.max_total_conditions)


def expect_memory(
    shape: tuple[int, int], settings: BoostingSettings, n_jobs: int | None, is_weighed: bool
) -> int:
    """Bytes that grow with the labels and with the rules, for a number of labels and rows.

    They are the orders of all labels, what the rules of the labels at work cover, and what condensing
    takes.
    """
    n_labels, n_rows = shape
    max_rules = _count_rules(_read_bounds(settings).widen(_count_grown_per_kept(settings)))
    budget = share_rules(max_rules, n_labels)
    n_kept = budget.n_rules if budget.reuse < math.inf else 1
    if settings.shares_bodies:
        n_grown_for = min(n_labels, MOST_GROWN_FOR)
        of_label = 8 + _BYTES_OF_LOSS + is_weighed * _BYTES_OF_DRAWS
        per_row = of_label * n_labels + 16 * n_grown_for + max_rules
    else:
        per_row = 8 * n_labels + min(effective_n_jobs(n_jobs), cpu_count(), n_labels) * n_kept
    n_voting = n_labels if settings.shares_bodies else 1
    condensing = condense_memory(max_rules, n_rows, n_voting) if settings.condense else 0
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

    nothing = [
        start_growing(label.categories.recode_index(index), settings, entropy, label)
        for label in labels
    ]
    for m in ms:
        grow = partial(grow_label, index, m, settings, entropy)
        stages = partial(_grow_in_stages, grow, labels, most, n_jobs, report)
        grown, chosen = nothing, budget
        if budget.reuse < math.inf:
            grown = stages(budget, nothing, NEEDED_GAIN)
            n_needed = sum(len(label.lengths) for label in grown)
            if most >= max(ENOUGH_RULES, PLENTY * n_needed):
                grown, chosen = nothing, share_rules(most, 1)
        of_ms.append(stages(chosen, grown))
    return list(zip(*of_ms, strict=True))


def _grow_in_stages(
    grow: Callable[..., Grown],
    labels: Sequence[LabelTask],
    max_rules: int,
    n_jobs: int | None,
    progress: Progress,
    budget: Budget,
    known: Sequence[Grown],
    last_gain: float = -math.inf,
) -> list[Grown]:
    """The rules of all labels, after the known ones, without most of those that `max_rules` would drop.

    In each stage, the labels go on for a few rounds. Then labels whose next rules gain too little to
    be kept stop: the rules that are grown are hardly more than those that are kept, and the theory is
    the same as if each label had gone on to the end. A label also stops for the time being after a
    stage whose last choice gains less than `last_gain`.
    """
    unit = min((label.mean_weight for label in labels), default=1.0)
    stage = max(_FEWEST_CHOICES, max_rules // (4 * max(len(labels), 1)))
    grown = list(known)
    open_idx = [i for i, label in enumerate(grown) if budget.allows_more(label)]
    while open_idx:
        least_gain = max(_LEAST_GAIN * unit, _find_least_gain(grown, max_rules))
        calls = [
            (budget.at_most(len(grown[i].gain) + stage), labels[i], grown[i], least_gain)
            for i in open_idx
        ]
        for i, found in zip(open_idx, run_parallel(grow, calls, n_jobs), strict=True):
            grown[i] = found
        open_idx = [i for i in open_idx if budget.allows_more(grown[i])]
        open_idx = [i for i in open_idx if grown[i].gain[-1] >= last_gain * unit]
        progress(sum(not budget.allows_more(label) for label in grown), len(labels))
    return grown


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


def _grow_sharing(
    index: RowIndex,
    m: float,
    settings: BoostingSettings,
    entropy: int,
    labels: Sequence[LabelTask],
    are_classes: bool,
) -> list[Grown]:
    """The rules of each label if a body may vote for several of them."""
    starts = [find_start(m, label) for label in labels]
    log_odds = np.array([start for _, start, *_ in starts])
    is_present = np.array([label.is_present for label in labels])
    l2 = np.array([of_label[0] for of_label in starts])
    states = [start_growing(index, settings, entropy, label) for label in labels]
    order, weights = labels[0].order, [label.weights for label in labels if label.weights]
    bag_size = settings.bag_size(len(order))
    step = STEP_OF_MANY if settings.condense else STEP
    losses = Losses(is_present, log_odds, l2, weights or None, bag_size, step)
    may_share = np.array([label.limits is None for label in labels])
    may_share &= [not state.is_done for state in states]
    common = None
    if settings.max_labels_per_rule is None and may_share.any():
        draw_ends = weights[0].draw_ends(order) if weights else None
        # Labels without limits have the same attributes and the same randomness.
        empty = states[int(np.argmax(may_share))]
        common = CommonBodies(index.coded, settings, order, draw_ends, empty, may_share)

    def find(j: int) -> Candidate | None:
        if states[j].is_done:
            return None
        at = (labels[j], float(l2[j]), losses.log_odds[j], -math.inf)
        found = grow_further(index, settings, Budget(1, 1, math.inf), *at, states[j])
        states[j] = states[j]._replace(window=found.window, seed=found.seed, is_done=found.is_done)
        if found.is_done:
            return None
        covered = unpack(cover(found.table, index), is_present.shape[1])[0]
        return Candidate(found, covered, float(found.gain[0]))

    max_rules = settings.max_rules * _count_grown_per_kept(settings)
    max_bodies = max_rules - sum(len(of_label[2]) for of_label in starts)
    reuse = share_rules(max_rules, len(labels)).reuse
    most = (max_bodies, settings.max_labels_per_rule, reuse)
    needed = find_needed_gain(int(may_share.sum()), are_classes)
    votes = grow_together(find, losses, may_share, *most, common, needed)
    return [_join_votes(*pair) for pair in zip(states, votes, strict=True)]


def _join_votes(empty: Grown, votes: Sequence[Vote]) -> Grown:
    """The rules of a label, one per vote."""
    if not votes:
        return empty
    lengths, bodies, *of_rules = zip(*(vote.rule[3:7] for vote in votes), strict=True)
    # Those of a label with limits can have fewer places for conditions.
    padded = np.zeros((len(bodies), max(body.shape[1] for body in bodies), 3), dtype=np.int32)
    for place, body in zip(padded, bodies, strict=True):
        place[: body.shape[1]] = body[0]
    choices = (
        np.arange(len(votes), dtype=np.int64),
        np.array([vote.points for vote in votes], dtype=np.int64),
        np.array([vote.gain for vote in votes]),
    )
    arrays = [np.concatenate(lengths), padded, *map(np.concatenate, of_rules)]
    return Grown._make([*choices, *arrays, *empty[7:]])


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
