"""Paths: chosen rules of every label → rules ranked over all labels → TheoryPath. Knows no learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.heuristics import Heuristic
from steelyard.model.coded_rules import reduce_program
from steelyard.model.coverage import RowIndex, cover
from steelyard.model.decoding import count_label_sets
from steelyard.model.evidence import Label
from steelyard.model.features import FeatureCoder
from steelyard.model.path import Indices, RankedRules, TheoryPath, find_first_firing
from steelyard.model.rules import RuleTable

from .targets import Targets

Choices = TypeVar("Choices")


class LabelRules(NamedTuple, Generic[Choices]):
    """The rules of one label that at least one heuristic chose.

    Parameters
    ----------
    table : RuleTable
    tp, fp, n_conditions : (n_rules,)
        Counts are those on all training examples.
    choices : tuple
        What each heuristic chose, with indices into the table.
    """

    table: RuleTable
    tp: NDArray[np.int32]
    fp: NDArray[np.int32]
    n_conditions: NDArray[np.int64]
    choices: tuple[Choices, ...]


class RulePool(NamedTuple):
    """The rules of all labels, one label after the other; each label starts at its offset."""

    table: RuleTable
    offsets: Indices
    label_of_rule: Indices
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_conditions: NDArray[np.int64]


class Ranking(NamedTuple):
    """The rules that one heuristic chose over all labels, best first; `points` if they vote."""

    rule_idx: Indices
    values: NDArray[np.float64]
    points: NDArray[np.int64] | None = None


def pool_rules(rules_of_label: Sequence[LabelRules[Any]]) -> RulePool:
    """Join the rules of all labels."""
    sizes = [len(rules.table) for rules in rules_of_label]
    return RulePool(
        table=RuleTable.concatenate([rules.table for rules in rules_of_label]),
        offsets=np.cumsum([0, *sizes[:-1]]),
        label_of_rule=np.repeat(np.arange(len(sizes)), sizes),
        tp=np.concatenate([rules.tp for rules in rules_of_label]).astype(np.int64),
        fp=np.concatenate([rules.fp for rules in rules_of_label]).astype(np.int64),
        n_conditions=np.concatenate([rules.n_conditions for rules in rules_of_label]),
    )


def make_path(
    pool: RulePool,
    rankings: Sequence[Ranking],
    targets: Targets,
    coder: FeatureCoder,
    index: RowIndex,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
) -> TheoryPath:
    """The path of theories, one ranking per heuristic."""
    coverage = cover(pool.table, index)
    is_target = targets.is_target
    ranked = []
    for rule_idx, values, points in rankings:
        # Positives and negatives that each rule is the first of its label to cover.
        first = find_first_firing(coverage, rule_idx, pool.label_of_rule, is_target.shape)
        new_tp = np.bincount(first[is_target], minlength=len(rule_idx) + 1)[:-1]
        new_fp = np.bincount(first[~is_target], minlength=len(rule_idx) + 1)[:-1]
        ranked.append(RankedRules(rule_idx, values, new_tp, new_fp, points))
    n_rows = is_target.shape[1]
    return TheoryPath(
        heuristics=tuple(heuristics),
        phis=tuple(phis),
        program=reduce_program(pool.table, coder),
        label_of_rule=pool.label_of_rule,
        tp=pool.tp,
        fp=pool.fp,
        n_conditions=pool.n_conditions,
        ranked=tuple(ranked),
        labels=tuple(
            Label(name, target, n, n_rows - n, n, n_rows - n)
            for name, target, n in zip(
                targets.names,
                targets.target_class.tolist(),
                is_target.sum(axis=1).tolist(),
                strict=True,
            )
        ),
        output=targets.output,
        classes=targets.classes,
        combine="any" if rankings[0].points is None else "weighted",
        label_sets=count_label_sets(targets.is_present.T)
        if targets.output == "multilabel"
        else None,
    )
