"""Learning a path: coded table → candidates → covering, or weighting → rules ranked for every cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from steelyard._kernels.coding import hash_rows
from steelyard.heuristics import ConfusionMatrix, Heuristic, MEstimate, describe, heuristic_values
from steelyard.model.coded_rules import reduce_program
from steelyard.model.coverage import Bits, cover, index_rows
from steelyard.model.decoding import Combine, KnownLabelSets, count_label_sets
from steelyard.model.evidence import Label
from steelyard.model.features import FeatureCoder, code_training_table, spread_mid_points
from steelyard.model.path import Indices, RankedRules, TheoryPath, find_first_firing
from steelyard.model.rules import RuleTable

from .boosting import WeightedSelection, share_rules, weigh_for_label
from .candidates import ForestSettings, Progress, draw_order, generate_candidates
from .covering import Selection, select_for_label
from .targets import Targets


def learn_path(
    X: Any,
    targets: Targets,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    settings: ForestSettings,
    *,
    threshold_heuristic: Heuristic | None = None,
    revalidate: bool = True,
    combine: Combine = "any",
    max_rules: int = 333,
    entropy: int = 0,
    n_jobs: int | None = None,
    feature_names: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> TheoryPath:
    """Candidates → covering or weighting with every heuristic → rules ranked for every φ."""
    if combine == "weighted":
        return _learn_votes(
            X,
            targets.for_presence(),
            heuristics,
            phis,
            settings,
            max_rules=max_rules,
            entropy=entropy,
            n_jobs=n_jobs,
            feature_names=feature_names,
            progress=progress,
        )
    training = code_training_table(X, feature_names)
    tables = generate_candidates(
        training, targets.is_target, settings, entropy, n_jobs=n_jobs, progress=progress
    )
    index = index_rows(training.coded)
    selections: list[Selection] = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(select_for_label)(table, index, is_target, heuristics, revalidate=revalidate)
        for table, is_target in zip(tables, targets.is_target, strict=True)
    )
    table = RuleTable.concatenate([s.table for s in selections])
    ranked = _rank_rules(selections, targets, cover(table, index), heuristics, threshold_heuristic)
    return _make_path(training.coder, targets, selections, table, ranked, heuristics, phis)


def _learn_votes(
    X: Any,
    targets: Targets,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    settings: ForestSettings,
    *,
    max_rules: int,
    entropy: int,
    n_jobs: int | None,
    feature_names: Sequence[str] | None,
    progress: Progress | None,
) -> TheoryPath:
    """Rules grown and weighed label by label → votes ranked for every φ."""
    ms = [_prior_strength(heuristic) for heuristic in heuristics]
    training = code_training_table(X, feature_names, spread_mid_points)
    index = index_rows(training.coded)
    n_labels = len(targets.is_target)
    budget = share_rules(max_rules, n_labels)
    row_keys = hash_rows(training.coded)
    weighing = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(weigh_for_label)(
            index, is_present, draw_order(row_keys, is_present), ms, settings, budget, entropy
        )
        for is_present in targets.is_target
    )
    selections: list[WeightedSelection] = []
    for selection in weighing:
        selections.append(selection)
        if progress is not None:
            progress(len(selections), n_labels)
    table = RuleTable.concatenate([s.table for s in selections])
    ranked = _rank_votes(selections, targets, cover(table, index), len(heuristics), max_rules)
    return _make_path(training.coder, targets, selections, table, ranked, heuristics, phis)


def _prior_strength(heuristic: Heuristic) -> float:
    """m, the number of examples that the prior stands for."""
    if not isinstance(heuristic, MEstimate):
        raise ValueError(
            "combine='weighted' weighs rules by the m-estimate's m; it knows no "
            f"{describe(heuristic)}"
        )
    return heuristic.m


def _count_and_label(
    selections: Sequence[Selection | WeightedSelection],
) -> tuple[Indices, Indices, Indices, Indices]:
    """Where each label's rules begin, and label, TP and FP of every rule."""
    offsets = np.concatenate(([0], np.cumsum([len(s.table) for s in selections])))
    label_of_rule = np.repeat(np.arange(len(selections)), np.diff(offsets))
    tp = np.concatenate([s.tp for s in selections]).astype(np.int64)
    fp = np.concatenate([s.fp for s in selections]).astype(np.int64)
    return offsets, label_of_rule, tp, fp


def _rank_rules(
    selections: Sequence[Selection],
    targets: Targets,
    coverage: Bits,
    heuristics: Sequence[Heuristic],
    threshold_heuristic: Heuristic | None,
) -> list[RankedRules]:
    """Value the selected rules of all labels on the whole training set and sort them together."""
    offsets, label_of_rule, tp, fp = _count_and_label(selections)
    n_conditions = np.concatenate([s.n_conditions for s in selections])
    n_positives = np.array([s.n_positives for s in selections])[label_of_rule]
    n_negatives = np.array([s.n_negatives for s in selections])[label_of_rule]
    ranked: list[RankedRules] = []
    for h, heuristic in enumerate(heuristics):
        rules = np.concatenate(
            [offset + s.selected[h] for offset, s in zip(offsets[:-1], selections, strict=True)]
        )
        counts = ConfusionMatrix(
            tp=tp[rules],
            fp=fp[rules],
            fn=n_positives[rules] - tp[rules],
            tn=n_negatives[rules] - fp[rules],
        )
        values = heuristic_values(threshold_heuristic or heuristic, counts)
        # Best value first; ties: more true positives, fewer conditions, then order of selection.
        best_first = np.lexsort((n_conditions[rules], -tp[rules], -values))
        rules, values = rules[best_first], values[best_first]
        new = _count_new(coverage, rules, label_of_rule, targets)
        ranked.append(RankedRules(rules, values, *new))
    return ranked


def _rank_votes(
    selections: Sequence[WeightedSelection],
    targets: Targets,
    coverage: Bits,
    n_heuristics: int,
    max_rules: int,
) -> list[RankedRules]:
    """Sort the choices of all labels by what they gain, up to the number of rules."""
    offsets, label_of_rule, _, _ = _count_and_label(selections)
    ranked: list[RankedRules] = []
    for h in range(n_heuristics):
        votes = [s.votes[h] for s in selections]
        rules = np.concatenate([o + v.rule_idx for o, v in zip(offsets[:-1], votes, strict=True)])
        points = np.concatenate([v.points for v in votes])
        gain = np.concatenate([v.gain for v in votes])
        best_first = np.argsort(-gain, kind="stable")
        # Up to the choice with which one rule too many would come.
        first_choice = np.sort(np.unique(rules[best_first], return_index=True)[1])
        if len(first_choice) > max_rules:
            best_first = best_first[: first_choice[max_rules]]
        rules = rules[best_first]
        new = _count_new(coverage, rules, label_of_rule, targets)
        ranked.append(RankedRules(rules, gain[best_first], *new, points[best_first]))
    return ranked


def _count_new(
    coverage: Bits, rules: Indices, label_of_rule: Indices, targets: Targets
) -> tuple[Indices, Indices]:
    """Positives and negatives that each rule is the first of its label to cover."""
    first = find_first_firing(coverage, rules, label_of_rule, targets.is_target.shape)
    new_tp = np.bincount(first[targets.is_target], minlength=len(rules) + 1)[:-1]
    new_fp = np.bincount(first[~targets.is_target], minlength=len(rules) + 1)[:-1]
    return new_tp, new_fp


def _make_path(
    coder: FeatureCoder,
    targets: Targets,
    selections: Sequence[Selection | WeightedSelection],
    table: RuleTable,
    ranked: Sequence[RankedRules],
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
) -> TheoryPath:
    _, label_of_rule, tp, fp = _count_and_label(selections)
    return TheoryPath(
        heuristics=tuple(heuristics),
        phis=tuple(float(phi) for phi in phis),
        program=reduce_program(table, coder),
        label_of_rule=label_of_rule,
        tp=tp,
        fp=fp,
        n_conditions=np.concatenate([s.n_conditions for s in selections]),
        ranked=tuple(ranked),
        labels=tuple(
            Label(name, int(t), s.n_positives, s.n_negatives, s.n_positives, s.n_negatives)
            for name, t, s in zip(targets.names, targets.target_class, selections, strict=True)
        ),
        output=targets.output,
        classes=targets.classes,
        combine="weighted" if ranked and ranked[0].points is not None else "any",
        label_sets=_count_sets(targets),
    )


def _count_sets(targets: Targets) -> KnownLabelSets | None:
    if targets.output != "multilabel":
        return None
    return count_label_sets((targets.is_target == (targets.target_class == 1)[:, None]).T)
