"""Candidates: random forests → rule table per label, until γ distinct rules exist over all labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from steelyard._kernels.coding import block_codes, list_features
from steelyard._kernels.growing import grow_rules
from steelyard._kernels.pruning import prune_rules
from steelyard.model.coding import FeatureCoder
from steelyard.model.coverage import RowIndex, index_rows, order_bits, rows_to_bits
from steelyard.model.rule_table import RuleTable
from steelyard.model.words import WORD_KINDS

from .budget import MemoryLimitError, SlowWarning, format_memory
from .category_sets import CategoryCodes, sort_categories
from .limits import ABSENCE, PRESENCE, Limits
from .parallel import Progress, run_parallel
from .sampling import draw_orders
from .settings import ForestSettings
from .training_table import TrainingFeatures
from .weights import LabelWeights

# Stop after a pass in which less than this share of the rules is new: the data hold few further rules,
# each costs five times as much as at first, and they differ little from known ones. Iris stops after 1 %
# of the passes that a share of 0.01 needs. On the paper's data sets no pass falls below 0.5 before
# 300,000 rules exist (flags; the others stay above 0.75), so they are not affected.
MIN_NEW_SHARE = 0.2

# Passes between two looks at the progress.
_MOST_PASSES = 1000

# What makes a pass over all labels faster; fewer candidates do not, since a pass is the least.
_FEWER_NODES = (
    "smaller bags (sample_fraction) and shallower trees (max_depths) take less; n_candidates does not "
    "matter before the first pass over all labels is over"
)


class GrownRules(NamedTuple):
    """New rules of some passes over one label's forests.

    Parameters
    ----------
    table : RuleTable
    hashes, tree : (n_rules,)
        Key of each rule, and the tree it comes from, counted from the first pass.
    n_new, n_read : (n_passes,)
        Number of new rules, and of all rules read off the trees, per pass.
    """

    table: RuleTable
    hashes: NDArray[np.uint64]
    tree: NDArray[np.int64]
    n_new: NDArray[np.int64]
    n_read: NDArray[np.int64]

    @staticmethod
    def concatenate(rounds: Sequence[GrownRules]) -> GrownRules:
        """The rules of all rounds, one after the other."""
        tables, *columns = zip(*rounds, strict=True)
        return GrownRules(RuleTable.concatenate(tables), *map(np.concatenate, columns))


_NOTHING_GROWN = GrownRules(
    RuleTable.empty(), np.empty(0, np.uint64), *(np.empty(0, np.int64) for _ in range(3))
)


class Bags(NamedTuple):
    """The bags of the trees that the rules of one label come from.

    Parameters
    ----------
    unpruned : RuleTable
        The rules before pruning.
    seeds : (n_rules,) uint64
        Seed of the tree that each rule comes from, with which its bag can be drawn again. Rules of the
        same tree follow each other.
    order : (n_rows,) int64
        The order in which bags draw the rows.
    """

    unpruned: RuleTable
    seeds: NDArray[np.uint64]
    order: NDArray[np.int64]


class GrownCandidates(NamedTuple):
    """The candidates of one label and what tells which rows made each of them.

    Parameters
    ----------
    table : RuleTable
    bags : Bags, optional
        None if all rows made the rules.
    tree_of_rule : (n_rules,) int64, optional
        The tree of each rule, if the rules are whole paths of trees.
    categories : CategoryCodes
        The codes of categories with which the conditions have to be read.
    """

    table: RuleTable
    bags: Bags | None = None
    tree_of_rule: NDArray[np.int64] | None = None
    categories: CategoryCodes = CategoryCodes({})


def grow_candidates(
    training: TrainingFeatures,
    is_target: NDArray[np.bool_],
    settings: ForestSettings,
    entropy: int,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    limits: Sequence[Limits] | None = None,
    target_class: Sequence[int] | None = None,
    max_bytes: int | None = None,
    weights: Sequence[LabelWeights | None] | None = None,
) -> list[GrownCandidates]:
    """Distinct rules for every label, together at least γ if the data yields that many.

    Passes over all labels and depths are repeated until γ is reached. Whole passes count, as in the
    paper.

    Parameters
    ----------
    training : TrainingFeatures
    is_target : (n_labels, n_rows) bool
        Which rows have the label's target class.
    settings : ForestSettings
    entropy : int
        The seed.
    n_jobs : int or None
        Labels are grown in parallel.
    progress : callable(n_found, n_wanted), optional
    limits : sequence of Limits, one per label, optional
        What the rules may test. Pruning deletes conditions, which violates no limit.
    target_class : sequence of {0, 1}, one per label, optional
        What the rules of each label predict; needed for limits.
    max_bytes : int, optional
        A MemoryLimitError is raised as soon as the rules are expected to take more.
    weights : sequence of LabelWeights, one per label, optional
        What the examples count.

    Returns
    -------
    list of GrownCandidates, one per label; empty for a label of one class
    """
    orders = draw_orders(training.coded, is_target)
    none = RuleTable.empty()
    found = [GrownCandidates(none, Bags(none, np.empty(0, np.uint64), order)) for order in orders]
    labels = [i for i, mask in enumerate(is_target) if 0 < mask.sum() < len(mask)]
    if not labels:
        return found
    weights = [None] * len(is_target) if weights is None else weights
    plans = _plan_labels(settings, training, is_target, limits, target_class, weights)
    index = (list_features(training.coded, with_dense=True), block_codes(training.coded))
    grow = partial(_grow_label, training, index, is_target, orders, plans, entropy)
    options = (settings.n_candidates, n_jobs, progress, max_bytes)
    grown, n_passes = _grow_passes(grow, labels, *options)
    seeds = {i: _tree_seeds(plans[i].settings, entropy, i, range(n_passes)).ravel() for i in labels}
    trees = {}
    for i in labels:
        table = grown[i].table.head(int(grown[i].n_new[:n_passes].sum()))
        trees[i] = grown[i].tree[: len(table)]
        if settings.presence_only:
            coder = plans[i].categories.recode_coder(training.coder)
            table, kept = drop_absences(table, coder)
            trees[i] = trees[i][kept]
        is_whole = limits is None and not settings.presence_only and settings.prune is False
        bags = Bags(table, seeds[i][trees[i]], orders[i])
        whole = trees[i] if is_whole else None
        found[i] = GrownCandidates(table, bags, whole, plans[i].categories)
    if settings.prune is False:
        return found
    prune = partial(_prune_label, settings, index_rows(training.coded))
    arguments = [
        (
            plans[i].categories,
            *(found[i].table, trees[i], seeds[i], is_target[i], orders[i], None, weights[i]),
        )
        for i in labels
    ]
    for i, table in zip(labels, run_parallel(prune, arguments, n_jobs), strict=True):
        found[i] = found[i]._replace(table=table)
    return found


def drop_absences(table: RuleTable, coder: FeatureCoder) -> tuple[RuleTable, NDArray[np.intp]]:
    """The rules without conditions that hold if a word is absent, and which rules are left.

    The first code of such an attribute is that of 0. Rules that test nothing else are dropped.
    """
    is_word = np.array([f.reading in WORD_KINDS for f in coder.features], dtype=np.bool_)
    shorter = table.drop_conditions(is_word[table.feature] & (table.low == 0))
    kept = np.flatnonzero(np.diff(shorter.indptr))
    return shorter.take(kept), kept


class _Plan(NamedTuple):
    """How the trees of one label are grown."""

    settings: ForestSettings
    limits: Limits | None
    target: int
    weights: LabelWeights | None = None
    categories: CategoryCodes = CategoryCodes({})


def _plan_labels(
    settings: ForestSettings,
    training: TrainingFeatures,
    is_target: NDArray[np.bool_],
    limits: Sequence[Limits] | None,
    target_class: Sequence[int] | None,
    weights: Sequence[LabelWeights | None],
) -> list[_Plan]:
    plans = []
    for i, own in enumerate(weights):
        plan = _plan_label(settings, i, limits, target_class)._replace(weights=own)
        # Limits are on codes that all labels share.
        if settings.category_sets and limits is None:
            total = None if own is None else own.total
            codes = sort_categories(training.coded, is_target[i], total)
            plan = plan._replace(categories=codes)
        plans.append(plan)
    return plans


def _plan_label(
    settings: ForestSettings,
    label: int,
    limits: Sequence[Limits] | None,
    target_class: Sequence[int] | None,
) -> _Plan:
    if limits is None or target_class is None:
        return _Plan(settings, None, PRESENCE)
    most = limits[label].least_conditions(settings.max_conditions)
    target = PRESENCE if target_class[label] else ABSENCE
    return _Plan(replace(settings, max_conditions=most), limits[label], target)


def _grow_passes(
    grow: Callable[..., GrownRules],
    labels: Sequence[int],
    n_wanted: int,
    n_jobs: int | None,
    progress: Progress | None,
    max_bytes: int | None,
) -> tuple[dict[int, GrownRules], int]:
    """Rules of each label, and the number of passes that count.

    Passes are grown in rounds of several, since each round has a cost. The result does not depend on
    the rounds.
    """
    grown = dict.fromkeys(labels, _NOTHING_GROWN)
    n_passes, round_size = 0, 1
    watch_labels: Progress | None = SlowWarning(
        "growing the first trees of all labels", _FEWER_NODES
    )
    watch_rules = SlowWarning(
        f"growing {n_wanted:,} candidates", "a smaller n_candidates takes less time", progress
    )
    while True:
        passes = range(n_passes, n_passes + round_size)
        arguments = [(i, passes, grown[i].hashes) for i in labels]
        found = run_parallel(grow, arguments, n_jobs, watch_labels)
        watch_labels = None
        for i, rules in zip(labels, found, strict=True):
            grown[i] = GrownRules.concatenate([grown[i], rules])
        n_passes += round_size
        n_new = np.sum([rules.n_new for rules in grown.values()], axis=0)
        n_read = np.sum([rules.n_read for rules in grown.values()], axis=0)
        n_rules = np.cumsum(n_new)
        watch_rules(min(int(n_rules[-1]), n_wanted), n_wanted)
        is_last = (n_rules >= n_wanted) | (n_new < MIN_NEW_SHARE * n_read) | (n_new == 0)
        if is_last.any():
            break
        if max_bytes is not None:
            _expect_memory(grown.values(), n_wanted, max_bytes)
        # New rules become rarer, so the last pass underestimates the number of passes needed.
        needed = math.ceil((n_wanted - n_rules[-1]) / n_new[-1])
        round_size = min(needed, 2 * n_passes, _MOST_PASSES)
    last = int(np.argmax(is_last))
    if n_rules[last] < n_wanted:
        warnings.warn(
            f"the data yields only {n_rules[last]:,} distinct candidate rules of the {n_wanted:,} "
            "asked for: further trees mostly repeat known ones",
            ConvergenceWarning,
            stacklevel=2,
        )
    return grown, last + 1


def _expect_memory(grown: Iterable[GrownRules], n_wanted: int, max_bytes: int) -> None:
    """Raise a MemoryLimitError if so many rules will not fit into memory."""
    n_rules = n_bytes = 0
    for rules in grown:
        arrays = (*vars(rules.table).values(), rules.hashes, rules.tree)
        n_rules += len(rules.table)
        n_bytes += sum(array.nbytes for array in arrays)
    # They are there twice when a round is added to those before it.
    expected = 2 * n_bytes * n_wanted / max(n_rules, 1)
    if expected > max_bytes:
        raise MemoryLimitError(
            f"{n_wanted:,} candidates would take about {format_memory(expected)}, and max_memory allows "
            f"{format_memory(max_bytes)}: n_candidates={int(n_wanted * max_bytes / expected):,} fits, "
            "rules of fewer conditions (max_conditions, smaller max_depths) take less each"
        )


def _tree_seeds(
    settings: ForestSettings, entropy: int, label: int, passes: range
) -> NDArray[np.uint64]:
    """One seed per (label, pass, depth, tree), so that the result depends on the seed alone."""
    n_seeds = len(settings.tree_depths) * settings.n_trees
    sources = [np.random.SeedSequence(entropy, spawn_key=(label, p)) for p in passes]
    return np.array([source.generate_state(n_seeds, np.uint64) for source in sources])


def _grow_label(
    training: TrainingFeatures,
    index: tuple[Any, Any],
    is_target: NDArray[np.bool_],
    orders: NDArray[np.int64],
    plans: Sequence[_Plan],
    entropy: int,
    label: int,
    passes: range,
    known_hashes: NDArray[np.uint64],
) -> GrownRules:
    """New rules of some passes over one label's forests."""
    settings, limits, target, weights, categories = plans[label]
    training = categories.recode_training(training)
    seeds = _tree_seeds(settings, entropy, label, passes)
    bag_size = settings.bag_size(is_target.shape[1])
    rows = (is_target[label].astype(np.uint8), orders[label], bag_size)
    n_usable = training.coded.n_features if limits is None else int(limits.is_usable.sum())
    n_drawn = settings.n_drawn_features(n_usable)
    depths = np.array([-1 if d is None else d for d in settings.tree_depths], dtype=np.int64)
    forests = (n_drawn, depths, settings.n_trees, seeds)
    drawing: tuple[Any, ...] = (None, None)
    if weights is not None:
        drawing = (weights.draw_ends(orders[label]), weights.node_weights(bag_size))
    # Categories that a label sorts by itself are further features, which the index lacks.
    last = (known_hashes, limits, target, *drawing, *((None, None) if categories.places else index))
    grown = grow_rules(*training[1:], *rows, *forests, *last)
    *columns, hashes, tree, pass_ends, n_read = grown
    tree += passes.start * seeds.shape[1]
    return GrownRules(RuleTable(*columns), hashes, tree, np.diff(pass_ends, prepend=0), n_read)


def _prune_label(
    settings: ForestSettings, index: RowIndex, categories: CategoryCodes, *rules: Any
) -> RuleTable:
    return prune_table(settings, categories.recode_index(index), *rules)


def prune_table(
    settings: ForestSettings,
    index: RowIndex,
    table: RuleTable,
    tree_of_rule: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    is_target: NDArray[np.bool_],
    order: NDArray[np.int64],
    within: NDArray[np.bool_] | None = None,
    weights: LabelWeights | None = None,
) -> RuleTable:
    """Delete the conditions that do not improve a rule on the rows outside its tree's bag.

    If `within` is given, only its rows are looked at. Rows count what their weights say.
    """
    rows = (*index[:2], index.step)
    conditions = (table.feature, table.low, table.high)
    bags = (order, settings.bag_size(len(is_target)), seeds, tree_of_rule)
    last_only = settings.prune == "prefix"
    indptr = np.empty_like(table.indptr)
    kept = np.empty(len(table.feature), dtype=np.bool_)
    bits = order_bits(is_target)
    seen = rows_to_bits(np.ones(len(is_target), dtype=np.bool_) if within is None else within, bits)
    last: tuple[Any, ...] = (seen, last_only, indptr, kept)
    if weights is not None:
        last += (weights.draw_ends(order), weights.of_bits(bits))
    prune_rules(*rows, table.indptr, *conditions, *bits, *bags, *last)
    return RuleTable(indptr, *(column[kept] for column in conditions))
