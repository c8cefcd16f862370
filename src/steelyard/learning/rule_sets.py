"""Rule sets: table and targets → candidates → covering → rules ranked for every φ → TheoryPath."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from steelyard.heuristics import ConfusionMatrix, Heuristic, heuristic_values
from steelyard.model.combiners import AnyRule
from steelyard.model.coverage import index_rows
from steelyard.model.path import Indices, TheoryPath

from .candidates import grow_candidates
from .covering import select_for_label
from .held_out import HeldOutCounter, group_equal_rows
from .parallel import Progress, run_parallel
from .paths import NO_BOUNDS, Bounds, Ranking, RulePool, make_path, pool_rules
from .settings import ForestSettings
from .targets import Targets
from .training_table import code_training_table


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
    entropy: int = 0,
    n_jobs: int | None = None,
    feature_names: Sequence[str] | None = None,
    progress: Progress | None = None,
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
        Limits on the number of rules of each theory.
    held_out_for : int, optional
        Position of the heuristic whose rules are counted on examples that did not make them.
    entropy : int
        The seed.
    n_jobs : int or None
    feature_names : sequence of str, optional
    progress : callable(n_candidates, n_wanted), optional
    """
    bounds.check(len(targets.names))
    training = code_training_table(X, feature_names)
    is_target = targets.is_target
    grown = grow_candidates(training, is_target, settings, entropy, n_jobs, progress)
    index = index_rows(training.coded)
    select = partial(select_for_label, index, heuristics, revalidate)
    counts: list[Any] = [None] * len(grown)
    if held_out_for is not None:
        groups = group_equal_rows(training.coded)
        counts = [HeldOutCounter(index, settings, groups, found).count for found in grown]
    arguments = [
        (found.table, target, count, held_out_for or 0)
        for found, target, count in zip(grown, is_target, counts, strict=True)
    ]
    rules_of_label = run_parallel(select, arguments, n_jobs)
    pool = pool_rules(rules_of_label)
    selections = zip(*(rules.choices for rules in rules_of_label), strict=True)
    rankings = [
        _rank_rules(pool, selected, targets, threshold_heuristic or heuristic, bounds)
        for heuristic, selected in zip(heuristics, selections, strict=True)
    ]
    about = (targets, training.coder, index, heuristics, phis, AnyRule(), bounds)
    return make_path(pool, rankings, *about)


def _rank_rules(
    pool: RulePool,
    selected: Sequence[Indices],
    targets: Targets,
    heuristic: Heuristic,
    bounds: Bounds,
) -> Ranking:
    """Value the selected rules of all labels on the whole training set and sort them together.

    The rules that each label keeps whatever their values come first.
    """
    rules = np.concatenate([o + idx for o, idx in zip(pool.offsets, selected, strict=True)])
    n_positives = targets.is_target.sum(axis=1)[pool.label_of_rule[rules]]
    tp, fp = pool.tp[rules], pool.fp[rules]
    fn, tn = n_positives - tp, targets.is_target.shape[1] - n_positives - fp
    values = heuristic_values(heuristic, ConfusionMatrix(tp, fp, fn, tn))
    # Best value first; ties: more true positives, fewer conditions, then order of selection.
    best_first = np.lexsort((pool.n_conditions[rules], -tp, -values))
    if bounds.min_rules_per_label:
        best_first = best_first[bounds.protect(pool.label_of_rule[rules[best_first]])]
    return Ranking(rules[best_first], values[best_first])
