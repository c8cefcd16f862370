"""Ripper: table and targets → the rules of each label or class → Theory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.heuristics import Laplace, describe
from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.combiners import AnyRule, FirstRule
from steelyard.model.decoders import BestLabel, EachLabel
from steelyard.model.evidence import Evidence, Label
from steelyard.model.rule_table import ranges_to_body
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory

from .parallel import run_parallel
from .ripper_rules import GrownRule, RuleListLearner, remove_covered
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
    """Rules of a target class, in order, and the rows to learn from that none of them covers."""

    rules: Sequence[GrownRule]
    rest: Mask


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
    state = np.array([entropy % 2**64], dtype=np.uint64)
    learner = RuleListLearner(coded, settings, is_target, every, order, fp_share, state)
    rules = learner.learn()
    return LearnedRules(rules, remove_covered(rules, every))


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


def _score_rules(
    label: Label, learned: LearnedRules, is_target: Mask, coder: FeatureCoder
) -> Iterator[ScoredRule]:
    """Rules with their counts on all training examples, in the order in which they were learned."""
    head = Head(label.name, label.target_class)
    for body, mask in learned.rules:
        tp = int(np.count_nonzero(mask & is_target))
        evidence = Evidence(tp, int(np.count_nonzero(mask)) - tp)
        rule = Rule(head, ranges_to_body(body.tolist(), coder))
        yield ScoredRule(rule, evidence, evidence.smoothed_precision)
