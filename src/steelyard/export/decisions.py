"""A theory as plain decisions, the form that every executable format writes down.

A decision is a column of the answer: rules asked in turn, the outcome of the first one that fires,
and the outcome if none does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.model.rules import Condition

if TYPE_CHECKING:
    from steelyard.model.evidence import ScoredRule
    from steelyard.model.theory import Theory


@dataclass(frozen=True)
class Decision:
    """The outcome of the first firing rule, or the default."""

    name: str
    cases: tuple[tuple[ScoredRule, Any], ...]
    default: Any


@dataclass(frozen=True)
class Requirement:
    """All that a rule asks of one attribute: a category, or an interval with one or two ends."""

    feature: str
    category: str | None = None
    lower: float | None = None
    upper: float | None = None
    includes_upper: bool = False


def theory_to_decisions(theory: Theory) -> list[Decision]:
    """One decision a label, or a single one called "class" if the theory predicts classes."""
    if theory.output == "multilabel":
        return [
            Decision(
                label.name,
                tuple((scored, label.target_class) for scored in theory.rules_of(label.name)),
                1 - label.target_class,
            )
            for label in theory.labels
        ]
    if any(label.target_class != 1 for label in theory.labels):
        raise ValueError("the rules of a theory of classes must predict presence, not absence")
    classes = plain_classes(theory)
    if theory.output == "binary":
        cases = tuple((scored, classes[1]) for scored in theory.scored_rules)
        return [Decision("class", cases, classes[0])]
    position = {name: i for i, name in enumerate(theory.label_names)}

    def class_of(scored: ScoredRule) -> int:
        return position[scored.rule.head.label]

    if theory.output == "ordered":
        rarest_first = sorted(position.values(), key=lambda i: theory.labels[i].n_positives)
        turn = {label: i for i, label in enumerate(rarest_first)}
        rules = sorted(theory.scored_rules, key=lambda scored: turn[class_of(scored)])
        default = rarest_first[-1]
    else:
        # The class of the most precise firing rule wins, the first such class if several tie. Every
        # silent class has a negative score, so those decide only where no rule fires at all.
        rules = sorted(
            theory.scored_rules, key=lambda scored: (-scored.smoothed_precision, class_of(scored))
        )
        default = int(np.argmax([label.silent_score for label in theory.labels]))
    cases = tuple((scored, classes[class_of(scored)]) for scored in rules)
    return [Decision("class", cases, classes[default])]


def plain_classes(theory: Theory) -> list[Any]:
    """The classes as Python's own text and numbers, whose texts do not mention NumPy."""
    return [value.item() if isinstance(value, np.generic) else value for value in theory.classes]


def body_to_requirements(body: tuple[Condition, ...]) -> list[Requirement]:
    """What a body asks of each attribute, in the order of its conditions; equal bounds are merged.

    Two different categories of one attribute stay two requirements, which nothing meets.

    Examples
    --------
    >>> body = (Condition("age", "≥", 18.0), Condition("sex", "=", "f"), Condition("age", "<", 65.0))
    >>> [(r.feature, r.lower, r.upper, r.category) for r in body_to_requirements(body)]
    [('age', 18.0, 65.0, None), ('sex', None, None, 'f')]
    """
    lower: dict[str, float] = {}
    upper: dict[str, Condition] = {}
    order: dict[tuple[str, str | None], None] = {}
    for condition in body:
        name = condition.feature
        if isinstance(condition.value, str):
            order[name, condition.value] = None
            continue
        order[name, None] = None
        if condition.operator == "≥":
            lower[name] = max(lower.get(name, -np.inf), float(condition.value))
        elif name not in upper or condition.cut < upper[name].cut:
            upper[name] = condition
    return [
        Requirement(name, category)
        if category is not None
        else Requirement(
            name,
            lower=lower.get(name),
            upper=float(upper[name].value) if name in upper else None,
            includes_upper=name in upper and upper[name].operator == "≤",
        )
        for name, category in order
    ]
