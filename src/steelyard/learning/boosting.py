"""Boosting: table and targets → rules that vote, label by label → ranked votes → TheoryPath."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.boosting import boost_rules
from steelyard._kernels.coverage import find_distinct_rows
from steelyard._kernels.covering import count_covered
from steelyard.heuristics import MEstimate
from steelyard.model.combiners import SumOfVotes
from steelyard.model.coverage import RowIndex, cover, index_rows, order_bits
from steelyard.model.log_odds import POINTS_PER_LOG_ODD, probability_to_points
from steelyard.model.path import TheoryPath
from steelyard.model.rule_table import RuleTable

from .parallel import Progress, run_parallel
from .paths import LabelRules, Ranking, RulePool, make_path, pool_rules
from .sampling import draw_orders
from .settings import BoostingSettings
from .targets import Targets
from .training_table import code_training_table, spread_mid_points

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
    of the choices of all labels, best first, is then a prefix of each label's choices.
    """

    rule_idx: NDArray[np.int64]
    points: NDArray[np.int64]
    gain: NDArray[np.float64]


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
    """
    heuristics = [MEstimate(m) for m in ms]
    targets = targets.for_presence()
    training = code_training_table(X, feature_names, spread_mid_points)
    index = index_rows(training.coded)
    budget = share_rules(settings.max_rules, len(targets.names))
    orders = draw_orders(training.coded, targets.is_target)
    boost = partial(boost_label, index, ms, settings, budget, entropy)
    arguments = list(zip(targets.is_target, orders, strict=True))
    rules_of_label = run_parallel(boost, arguments, n_jobs, progress)
    pool = pool_rules(rules_of_label)
    votes_of_ms = zip(*(rules.choices for rules in rules_of_label), strict=True)
    rankings = [_rank_votes(pool, votes, settings.max_rules) for votes in votes_of_ms]
    prior = targets.is_target.mean(axis=1)
    combiner = SumOfVotes(tuple(probability_to_points(prior).tolist()))
    return make_path(pool, rankings, targets, training.coder, index, heuristics, (1.0,), combiner)


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
) -> LabelRules:
    """Grow, choose and weigh rules of one label for each m.

    Boosting with logistic loss. Each round grows several rules, each on a bag of the examples and
    condition by condition. It takes the rule whose weight lowers the loss most and adds a part of
    that weight to the log-odds of the examples that the rule covers. m is what it is in the
    m-estimate: a rule is judged as if it covered m further examples with the label's prior
    distribution. Their gradients cancel, their curvatures add m·p·(1 - p) to the rule's.

    `order` is the order in which bags draw the rows.
    """
    tables: list[RuleTable] = []
    votes_of_ms: list[Votes] = []
    for m in ms:
        # Each m has rules of its own, so that its theory does not depend on the other values.
        grown, votes = _boost(index, m, settings, budget, entropy, is_present, order)
        n_conditions = grown.count_conditions(index.coded.n_codes, index.coded.is_nominal)
        distinct, position = find_distinct_rows(cover(grown, index), n_conditions)
        n_known = sum(map(len, tables))
        tables.append(grown.take(distinct))
        votes_of_ms.append(votes._replace(rule_idx=n_known + position[votes.rule_idx]))
    table = RuleTable.concatenate(tables)
    bits = order_bits(is_present)
    covered = cover(table, index, bits.bit_of_row, bits.n_words)
    tp, fp = count_covered(covered, bits.n_positive_words)
    n_conditions = table.count_conditions(index.coded.n_codes, index.coded.is_nominal)
    return LabelRules(table, tp, fp, n_conditions, tuple(votes_of_ms))


def _boost(
    index: RowIndex,
    m: float,
    settings: BoostingSettings,
    budget: Budget,
    entropy: int,
    is_present: NDArray[np.bool_],
    order: NDArray[np.int64],
) -> tuple[RuleTable, Votes]:
    """The rules that one m grows, and the choices among them."""
    n_rows, prior = len(is_present), is_present.mean()
    n_varying = int((index.coded.n_codes > 1).sum())
    rule_idx, points = np.empty((2, budget.n_choices), dtype=np.int64)
    gain = np.empty(budget.n_choices)
    # Each condition excludes at least one row.
    most_conditions = min(settings.max_conditions or _MOST_CONDITIONS, n_rows)
    bodies = np.empty((budget.n_rules, most_conditions, 3), dtype=np.int32)
    lengths = np.empty(budget.n_rules, dtype=np.int64)
    n_choices = n_rules = 0
    if 0 < prior < 1 and n_varying:
        bag = (order, settings.bag_size(n_rows), settings.n_drawn_features(n_varying))
        # Avoid a division by 0 if m = 0 and all covered examples are certain already.
        l2 = max(m, 1e-9) * prior * (1 - prior)
        weights = (l2, STEP, MAX_WEIGHT, POINTS_PER_LOG_ODD, budget.reuse)
        tries = (settings.n_tries, *weights, np.uint64(entropy % 2**64))
        out = (rule_idx, points, gain, lengths, bodies)
        n_choices, n_rules = boost_rules(index.coded, is_present, *bag, *tries, *out)
    used = zip(bodies[:n_rules], lengths[:n_rules], strict=True)
    table = RuleTable.from_ranges([body[:length] for body, length in used])
    gain = np.minimum.accumulate(gain[:n_choices])
    return table, Votes(rule_idx[:n_choices], points[:n_choices], gain)


def _rank_votes(pool: RulePool, votes: Sequence[Votes], max_rules: int) -> Ranking:
    """Sort the votes of all labels by their gain; stop before exceeding `max_rules`."""
    rules = np.concatenate([o + v.rule_idx for o, v in zip(pool.offsets, votes, strict=True)])
    _, points, gain = map(np.concatenate, zip(*votes, strict=True))
    best_first = np.argsort(-gain, kind="stable")
    first_votes = np.sort(np.unique(rules[best_first], return_index=True)[1])
    if len(first_votes) > max_rules:
        best_first = best_first[: first_votes[max_rules]]
    return Ranking(rules[best_first], gain[best_first], points[best_first])
