"""Rule sets: table and targets → candidates → covering → rules ranked for every φ → TheoryPath."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs

from steelyard.heuristics import ConfusionMatrix, Heuristic, heuristic_values
from steelyard.model.combiners import AnyRule
from steelyard.model.coverage import index_rows
from steelyard.model.path import Indices, TheoryPath

from .budget import MemoryLimit, SlowWarning, read_memory
from .candidates import GrownCandidates, grow_candidates
from .constraints import Constraints
from .covering import select_for_label
from .held_out import HeldOutCounter, group_equal_rows
from .limits import Demands, read_demands
from .parallel import Progress, run_parallel
from .paths import NO_BOUNDS, Bounds, Ranking, RulePool, make_path, pool_rules
from .ripper import list_ripper_candidates
from .settings import ForestSettings
from .targets import Targets
from .training_table import TrainingFeatures, code_training_table, mid_points, value_cuts
from .weights import LabelWeights

_FEWER_RULES = (
    "smaller bags (sample_fraction) and shallower trees (max_depths) give fewer rules to select from, "
    "and n_jobs spreads the labels"
)


def _grow_forests(
    training: TrainingFeatures,
    demands: Demands,
    settings: ForestSettings,
    entropy: int,
    n_jobs: int | None,
    progress: Progress | None,
    max_bytes: int,
) -> list[GrownCandidates]:
    targets, limits, _ = demands
    options = (entropy, n_jobs, progress, limits, targets.target_class.tolist(), max_bytes)
    weights = targets.label_weights
    return grow_candidates(training, targets.is_target, settings, *options, weights)


def _run_ripper(
    training: TrainingFeatures,
    demands: Demands,
    settings: ForestSettings,
    entropy: int,
    n_jobs: int | None,
    *_: Any,
) -> list[GrownCandidates]:
    # Weights count when rules are selected, not when Ripper proposes them.
    tables = list_ripper_candidates(training, demands, settings, entropy, n_jobs)
    return [GrownCandidates(table) for table in tables]


# Where candidates come from: how the cut points of the table are placed, and who makes the rules.
SOURCES = {"forest": (mid_points, _grow_forests), "ripper": (value_cuts, _run_ripper)}


def learn_rule_sets(
    X: Any,
    targets: Targets,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    settings: ForestSettings,
    *,
    threshold_heuristic: Heuristic | None = None,
    revalidate: bool = True,
    bounds: Bounds = NO_BOUNDS,
    held_out_for: int | None = None,
    constraints: Constraints | None = None,
    entropy: int = 0,
    n_jobs: int | None = None,
    feature_names: Sequence[str] | None = None,
    progress: Progress | None = None,
    label_progress: Progress | None = None,
    max_memory: MemoryLimit = None,
) -> TheoryPath:
    """Theories for every heuristic and φ from one pool of candidates.

    Parameters
    ----------
    X : DataFrame, array or sparse matrix
    targets : Targets
    heuristics : sequence of Heuristic
    phis : sequence of float
    settings : ForestSettings
    threshold_heuristic : Heuristic, optional
        Ranks the selected rules instead of the heuristic that selected them.
    revalidate : bool
        Whether candidates are valued again on the uncovered examples after each selection.
    bounds : Bounds
        Limits on the size of each theory.
    held_out_for : int, optional
        Position of the heuristic whose rules are counted on examples that did not make them.
    constraints : Constraints, optional
    entropy : int
        The seed.
    n_jobs : int or None
    feature_names : sequence of str, optional
    progress : callable(n_candidates, n_wanted), optional
    label_progress : callable(n_labels_done, n_labels), optional
        Told when candidates are there and rules are selected.
    max_memory : str, number or None
        See `read_memory`. It bounds what grows with the number of candidates.
    """
    max_bytes = read_memory(max_memory)
    place_cuts, grow = SOURCES[settings.source]
    training = code_training_table(X, feature_names, place_cuts)
    demands = read_demands(constraints, training.coder, targets, X)
    targets, _, given = demands
    bounds.check(len(targets.names), given.rules)
    is_target = targets.is_target
    grown = grow(training, demands, settings, entropy, n_jobs, progress, max_bytes)
    weights = targets.label_weights
    index = index_rows(training.coded)
    select = partial(select_for_label, index, heuristics, revalidate)
    counts: list[Any] = [None] * len(grown)
    if held_out_for is not None:
        counter = partial(HeldOutCounter, index, settings, group_equal_rows(training.coded))
        counts = _count_held_out(counter, grown, weights)
    # The workers of a cluster, which may be more than this machine has cores, have memory of their own.
    n_sharing = min(effective_n_jobs(n_jobs), cpu_count(), len(grown))
    per_job = max_bytes // max(1, n_sharing)
    arguments = [
        (
            *(found.table, target, count, held_out_for or 0, *demanded),
            *(found.tree_of_rule, per_job, own, found.categories),
        )
        for found, target, count, own, *demanded in zip(
            grown, is_target, counts, weights, *demands.by_label(), strict=True
        )
    ]
    watch = SlowWarning("selecting rules for all labels", _FEWER_RULES, label_progress)
    rules_of_label = run_parallel(select, arguments, n_jobs, watch)
    # A label without a rule of Ripper has been told of if the constraints are the reason.
    n_rules = [len(rules.table) for rules in rules_of_label]
    demands.warn_of_empty([n if g.bags else 1 for n, g in zip(n_rules, grown, strict=True)])
    pool = pool_rules(rules_of_label, given, targets)
    selections = zip(*(rules.choices for rules in rules_of_label), strict=True)
    rankings = [
        _rank_rules(pool, selected, targets, threshold_heuristic or heuristic, bounds)
        for heuristic, selected in zip(heuristics, selections, strict=True)
    ]
    about = (targets, training.coder, heuristics, phis, AnyRule(), bounds)
    return make_path(pool, rankings, *about)


def _count_held_out(
    counter: Callable[..., HeldOutCounter],
    grown: Sequence[GrownCandidates],
    weights: Sequence[LabelWeights | None],
) -> list[Any]:
    """What counts the rules of each label on held-out examples; None where there are no bags."""
    return [
        found.bags and counter(found.bags, found.categories, own).count
        for found, own in zip(grown, weights, strict=True)
    ]


def _rank_rules(
    pool: RulePool,
    selected: Sequence[Indices],
    targets: Targets,
    heuristic: Heuristic,
    bounds: Bounds,
) -> Ranking:
    """Value the selected rules of all labels on the whole training set and sort them together.

    The given rules come first, then those that each label keeps whatever their values.
    """
    chosen = (o + idx for o, idx in zip(pool.offsets, selected, strict=True))
    rules = np.concatenate((pool.given_idx, *chosen))
    positives, totals = targets.sizes[:, pool.label_of_rule[rules]]
    tp, fp = (pool.tp, pool.fp) if pool.weighed is None else pool.weighed
    tp, fp = tp[rules], fp[rules]
    fn, tn = positives - tp, totals - positives - fp
    values = heuristic_values(heuristic, ConfusionMatrix(tp, fp, fn, tn))
    # Best value first; ties: more true positives, fewer conditions, then order of selection.
    is_learned = rules < len(pool.table)
    best_first = np.lexsort((pool.n_conditions[rules], -tp, -values, is_learned))
    if bounds.min_rules_per_label:
        labels = pool.label_of_rule[rules[best_first]]
        best_first = best_first[bounds.protect(labels, len(pool.given.rules))]
    return Ranking(rules[best_first], values[best_first])
