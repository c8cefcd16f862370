"""Theory → what the formats have in common: tests of rules for programs, rows of text for people."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from steelyard.model.conditions import Condition, format_body
from steelyard.model.evidence import Label
from steelyard.model.features import BOOLEAN_WORDS
from steelyard.model.rules import ScoredRule
from steelyard.model.theory import Theory


def list_tests(
    body: tuple[Condition, ...], booleans: Collection[str] = ()
) -> Iterator[tuple[str, str, Any]]:
    """The tests of a rule: attribute, operator of Python and value.

    The operator "in words" compares texts in lower case, since a boolean may be stored as a boolean, a
    number or a word. It is for the attributes in `booleans`.

    Examples
    --------
    >>> body = (Condition.interval("age", 18, 65), Condition("sex", "=", "f"))
    >>> list(list_tests(body))
    [('age', '>=', 18.0), ('age', '<', 65.0), ('sex', '==', 'f')]
    """
    for condition in body:
        name, categories = condition.feature, condition.categories
        if categories is None:
            if condition.low > -math.inf:
                yield name, ">=", condition.low
            if condition.high < math.inf:
                yield name, "<=" if condition.includes_high else "<", condition.high
        elif name in booleans:
            yield name, "in words", tuple(word for c in categories for word in BOOLEAN_WORDS[c])
        elif len(categories) == 1:
            yield name, "==", categories[0]
        else:
            yield name, "in", categories


class LabelRows(NamedTuple):
    """A label, a note about it, and for each of its rules the body and the numbers as texts.

    `silence` says what is predicted for a label without rules; it is empty for others.
    """

    label: Label
    note: str
    rows: list[tuple[ScoredRule, str, list[str]]]
    silence: str


def list_columns(theory: Theory) -> list[str]:
    """The names of the numbers beside a rule."""
    unseen = ["unseen"] * _has_held_out(theory)
    return [*theory.combiner.rule_columns(()), "TP", "FP", "precision", *unseen]


def _has_held_out(theory: Theory) -> bool:
    """Whether rules were counted on examples that they were not learned from."""
    return any(scored.held_out is not None for scored in theory)


def list_rows(theory: Theory) -> Iterator[LabelRows]:
    """The rules of each label with their numbers."""
    has_held_out = _has_held_out(theory)
    for j, label in enumerate(theory.labels):
        rules = theory.rules_of(label.name)
        rows = []
        for scored, *more in zip(rules, *theory.combiner.rule_columns(rules).values(), strict=True):
            numbers = [f"{number:+.2f}" for number in more]
            counts = [str(scored.tp), str(scored.fp), f"{scored.precision:.2f}"]
            numbers += counts if scored.is_counted else ["–"] * len(counts)
            if has_held_out:
                numbers.append("–" if scored.held_out is None else scored.held_out.describe())
            rows.append((scored, format_body(scored.body) or "always", numbers))
        note = theory.combiner.describe_label(j)
        silence = "" if rows else theory.describe_empty(j)
        yield LabelRows(label, f", {note}" if note else "", rows, silence)
