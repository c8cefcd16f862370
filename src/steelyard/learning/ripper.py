"""Ripper: table and targets → the rules of each label or class → Theory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.ripper import LearnedRules, Settings, learn_rules
from steelyard.heuristics import Laplace, describe
from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.combiners import AnyRule, FirstRule
from steelyard.model.coverage import RowIndex, cover, index_rows, unpack
from steelyard.model.decoders import BestLabel, EachLabel
from steelyard.model.evidence import Evidence, Label, smoothed_precision
from steelyard.model.rule_table import RuleTable
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory

from .parallel import run_parallel
from .sampling import draw_orders
from .settings import RipperSettings
from .targets import Targets
from .training_table import code_training_table, value_cuts

Mask = NDArray[np.bool_]

# More conditions than a rule can have: each one excludes a row.
_NO_LIMIT = 2**31 - 1


def learn_ripper(
    X: Any,
    targets: Targets,
    settings: RipperSettings,
    *,
    entropy: int = 0,
    n_jobs: int | None = None,
    feature_names: Sequence[str] | None = None,
) -> Theory:
    """The theory that Ripper learns; see `RipperClassifier`."""
    training = code_training_table(X, feature_names, value_cuts)
    learn = partial(_learn_rules, training.coded, settings, entropy)
    is_target = targets.is_target
    orders = draw_orders(training.coded, is_target)
    in_turn = targets.output == "multiclass"
    if in_turn:
        learned = _learn_in_turn(learn, is_target, orders)
    else:
        every = np.ones(training.coded.n_rows, dtype=np.bool_)
        arguments = zip(is_target, orders, is_target.mean(axis=1).tolist(), strict=True)
        learned = run_parallel(partial(learn, every), list(arguments), n_jobs)
    if settings.max_rules is not None:
        learned = _keep_best(learned, settings.max_rules, training.coded, in_turn)
    labels = targets.count_labels(np.array([rules.rest for rules in learned]))
    scored = map(_score_rules, labels, learned, repeat(training.coder))
    rarest_first = np.argsort(is_target.sum(axis=1), kind="stable").tolist()
    return Theory(
        features=training.coder.features,
        labels=labels,
        rules=tuple(chain.from_iterable(scored)),
        combiner=FirstRule(tuple(rarest_first)) if in_turn else AnyRule(),
        decoder=BestLabel() if in_turn else EachLabel(),
        classes=targets.classes,
        heuristic=describe(Laplace()),
    )


def _learn_rules(
    coded: CodedFeatures,
    settings: RipperSettings,
    entropy: int,
    every: Mask,
    is_target: Mask,
    order: NDArray[np.int64],
    fp_share: float,
) -> LearnedRules:
    """The rules of one target class, on the rows in `every`.

    Every label starts from the same seed, as in JRip, and meets its rows in an order of its own: its
    rules depend neither on the other labels nor on its position among them.
    """
    kernel_settings = Settings(
        prune=bool(settings.prune),
        n_folds=int(settings.folds),
        min_weight=float(settings.min_weight),
        check_error=bool(settings.check_error),
        max_conditions=int(settings.max_conditions or _NO_LIMIT),
        n_possible=count_possible_conditions(coded),
        fp_share=fp_share,
        order=order,
    )
    is_positive, seed = is_target.view(np.uint8), np.uint64(entropy % 2**64)
    n_passes = int(settings.optimizations)
    learned: LearnedRules = learn_rules(coded, is_positive, every, kernel_settings, n_passes, seed)
    return learned


def _learn_in_turn(
    learn: Callable[..., LearnedRules], is_target: Mask, orders: NDArray[np.int64]
) -> list[LearnedRules]:
    """The rules of every class but the most frequent one, on the rows that rarer classes leave over."""
    rest = np.ones(is_target.shape[1], dtype=np.bool_)
    sizes = is_target.sum(axis=1)
    *others, default = np.argsort(sizes, kind="stable")
    n_left = len(rest)
    learned = {}
    for i in others:
        learned[i] = learn(rest, is_target[i], orders[i], float(sizes[i] / n_left))
        rest = learned[i].rest
        n_left -= sizes[i]
    # The default class has no rules: it has no rows to learn from.
    learned[default] = learn(np.zeros_like(rest), is_target[default], orders[default], 1.0)
    # The classes share one default, which applies where none of them has a rule.
    return [learned[i]._replace(rest=rest) for i in range(len(sizes))]


def _keep_best(
    learned: Sequence[LearnedRules], max_rules: int, coded: CodedFeatures, in_turn: bool
) -> list[LearnedRules]:
    """The `max_rules` rules of all labels with the best values; ties: more true positives."""
    sizes = [len(rules.tp) for rules in learned]
    if sum(sizes) <= max_rules:
        return list(learned)
    tp, fp = (np.concatenate([getattr(rules, name) for rules in learned]) for name in ("tp", "fp"))
    best_first = np.lexsort((-tp, -smoothed_precision(tp, fp)))
    is_kept = np.zeros(len(tp), dtype=np.bool_)
    is_kept[best_first[:max_rules]] = True
    index = index_rows(coded)
    kept = [
        _take_rules(rules, np.flatnonzero(mask), index)
        for rules, mask in zip(learned, np.split(is_kept, np.cumsum(sizes)[:-1]), strict=True)
    ]
    if not in_turn:
        return kept
    # The classes share one default: the rows that no rule of any class covers.
    rest = np.logical_and.reduce([rules.rest for rules in kept])
    return [rules._replace(rest=rest) for rules in kept]


def _take_rules(rules: LearnedRules, rule_idx: NDArray[np.intp], index: RowIndex) -> LearnedRules:
    """Some of the rules of a label, and the rows that they leave uncovered."""
    table = RuleTable(rules.indptr, *rules.conditions.T).take(rule_idx)
    fires = unpack(cover(table, index), index.coded.n_rows)
    rest = np.asarray(~fires.any(axis=0))
    conditions = np.column_stack([table.feature, table.low, table.high])
    return LearnedRules(table.indptr, conditions, rules.tp[rule_idx], rules.fp[rule_idx], rest)


def count_possible_conditions(coded: CodedFeatures) -> int:
    """Conditions that tell examples apart: = each category, ≤ and ≥ each value but one extreme.

    JRip counts two more per numeric attribute, the bounds that all examples meet. Without them an
    attribute of the numbers 0 and 1 counts as much as the same attribute read as nominal.
    """
    # A numeric attribute with d values has 2d + 1 codes: see `value_cuts`.
    n_possible = np.where(coded.is_nominal, coded.n_codes, np.maximum(coded.n_codes - 3, 0))
    return max(1, int(n_possible.sum()))


def _score_rules(label: Label, rules: LearnedRules, coder: FeatureCoder) -> Iterator[ScoredRule]:
    """Rules with their counts on all training examples, in the order in which they were learned."""
    head = Head(label.name, label.target_class)
    table = RuleTable(rules.indptr, *rules.conditions.T)
    for i, counts in enumerate(zip(rules.tp.tolist(), rules.fp.tolist(), strict=True)):
        evidence = Evidence(*counts)
        rule = Rule(head, table.body(i, coder))
        yield ScoredRule(rule, evidence, evidence.smoothed_precision)
