"""Ripper: table and targets → the rules of each label or class → Theory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.ripper import RuleListLearner
from steelyard.heuristics import Laplace, describe
from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.combiners import AnyRule, FirstRule
from steelyard.model.decoders import BestLabel, EachLabel
from steelyard.model.evidence import Evidence, Label, smoothed_precision
from steelyard.model.rule_table import ranges_to_body
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory

from .parallel import run_parallel
from .sampling import draw_orders
from .settings import RipperSettings
from .targets import Targets
from .training_table import code_training_table, value_cuts

Mask = NDArray[np.bool_]


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
    n_possible = count_possible_conditions(training.coded)
    learn = partial(_learn_rules, training.coded, settings, n_possible, entropy)
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
        learned = _keep_best(learned, is_target, settings.max_rules, in_turn)
    labels = targets.count_labels(np.array([rules.rest for rules in learned]))
    scored = map(_score_rules, labels, learned, is_target, repeat(training.coder))
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


class LearnedRules(NamedTuple):
    """Rules of a target class, in order, and the rows to learn from that none of them covers.

    A rule is its ranges, see `ranges_to_body`, and the mask of the rows that it covers.
    """

    rules: Sequence[tuple[list[tuple[int, int, int]], Mask]]
    rest: Mask


def count_possible_conditions(coded: CodedFeatures) -> int:
    """Conditions that tell examples apart: = each category, ≤ and ≥ each value but one extreme.

    JRip counts two more per numeric attribute, the bounds that all examples meet. Without them an
    attribute of the numbers 0 and 1 counts as much as the same attribute read as nominal.
    """
    # A numeric attribute with d values has 2d + 1 codes: see `value_cuts`.
    n_possible = np.where(coded.is_nominal, coded.n_codes, np.maximum(coded.n_codes - 3, 0))
    return max(1, int(n_possible.sum()))


def _learn_rules(
    coded: CodedFeatures,
    settings: RipperSettings,
    n_possible: int,
    entropy: int,
    every: Mask,
    is_target: Mask,
    order: NDArray[np.int64],
    fp_share: float,
) -> LearnedRules:
    """The rules of one target class, on the rows in `every`; see `RuleListLearner`.

    Every label starts from the same seed, as in JRip, and meets its rows in an order of its own: its
    rules depend neither on the other labels nor on its position among them.
    """
    masks = every.view(np.uint8), is_target.view(np.uint8)
    learner = RuleListLearner(coded, settings, n_possible, entropy, *masks, order, fp_share)
    rules = learner.learn()
    return LearnedRules(rules, _remove_covered((mask for _, mask in rules), every))


def _remove_covered(masks: Iterable[Mask], rows: Mask) -> Mask:
    """The rows that no mask covers."""
    rest = rows.copy()
    for mask in masks:
        rest &= ~mask
    return rest


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
    learned: Sequence[LearnedRules], is_target: Mask, max_rules: int, in_turn: bool
) -> list[LearnedRules]:
    """The `max_rules` rules of all labels with the best values; ties: more true positives."""
    ranked = []
    for i, (rules, _) in enumerate(learned):
        for r, (_, mask) in enumerate(rules):
            tp, fp = _count_covered(mask, is_target[i])
            ranked.append((-smoothed_precision(tp, fp), -tp, i, r))
    chosen = {(i, r) for *_, i, r in sorted(ranked)[:max_rules]}
    kept = [
        [rule for r, rule in enumerate(rules) if (i, r) in chosen]
        for i, (rules, _) in enumerate(learned)
    ]
    every = np.ones(is_target.shape[1], dtype=np.bool_)
    rests = [_remove_covered((mask for _, mask in rules), every) for rules in kept]
    if in_turn:
        # The classes share one default: the rows that no rule of any class covers.
        rests = [np.logical_and.reduce(rests)] * len(rests)
    return [LearnedRules(*pair) for pair in zip(kept, rests, strict=True)]


def _count_covered(mask: Mask, is_target: Mask) -> tuple[int, int]:
    """Positives and negatives among the covered rows."""
    tp = int(np.count_nonzero(mask & is_target))
    return tp, int(np.count_nonzero(mask)) - tp


def _score_rules(
    label: Label, learned: LearnedRules, is_target: Mask, coder: FeatureCoder
) -> Iterator[ScoredRule]:
    """Rules with their counts on all training examples, in the order in which they were learned."""
    head = Head(label.name, label.target_class)
    for ranges, mask in learned.rules:
        evidence = Evidence(*_count_covered(mask, is_target))
        rule = Rule(head, ranges_to_body(ranges, coder))
        yield ScoredRule(rule, evidence, evidence.smoothed_precision)
