"""Theory → what the formats have in common: tests of rules for programs, rows of text for people."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from steelyard.model.conditions import Condition, describe_body
from steelyard.model.features import BOOLEAN_WORDS
from steelyard.model.moments import SECOND_KINDS
from steelyard.model.rules import ScoredRule
from steelyard.model.theory import Theory
from steelyard.model.views import check_by, group_by_body


@dataclass(frozen=True)
class Seconds:
    """A bound that is a date, a time or a duration: its seconds and its kind, as in `Feature`."""

    seconds: float
    kind: str


def list_tests(
    body: tuple[Condition, ...], booleans: Collection[str] = ()
) -> Iterator[tuple[str, str, Any]]:
    """The tests of a rule: attribute, operator of Python and value.

    The operator "in words" compares texts in lower case, since a boolean may be stored as a boolean, a
    number or a word. It is for the attributes in `booleans`. Dates and times are `Seconds`.

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
                yield name, ">=", _bound(condition.low, condition.kind)
            if condition.high < math.inf:
                operator = "<=" if condition.includes_high else "<"
                yield name, operator, _bound(condition.high, condition.kind)
        elif name in booleans:
            yield name, "in words", tuple(word for c in categories for word in BOOLEAN_WORDS[c])
        elif len(categories) == 1:
            yield name, "==", categories[0]
        else:
            yield name, "in", categories


def _bound(number: float, kind: str | None) -> float | Seconds:
    return Seconds(number, kind) if kind in SECOND_KINDS else number


class Section(NamedTuple):
    """The rules that a view shows together: those of a label, or those with the same body.

    `title` is the label or the body, and `heading` the title with all that is known of the label, in one
    line. `share` is the number of examples of the label, as in "3 of 8", and `note` says more of it;
    both can be empty. Each row has a rule, the text that tells it from the others of the section, which
    is its body or its head, and its numbers as texts. `silence` says what is predicted for a label
    without rules; it is empty for others.
    """

    title: str
    heading: str
    share: str
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


def list_sections(theory: Theory, by: str = "label") -> Iterator[Section]:
    """The rules of each label, or those with the same body, with their numbers."""
    check_by(by)
    if by == "body":
        for body, alike in group_by_body(theory):
            title = describe_body(body) or "always"
            heads = [str(scored.head) for scored in alike]
            yield Section(title, title, "", "", _list_rows(theory, alike, heads), "")
        return
    for j, label in enumerate(theory.labels):
        rules = theory.rules_of(label.name)
        bodies = [describe_body(scored.body) or "always" for scored in rules]
        note = theory.combiner.describe_label(j)
        note = f", {note}" if note else ""
        share = f"{label.n_positives} of {label.n_examples}" if label.n_examples else ""
        rows = _list_rows(theory, rules, bodies)
        silence = "" if rows else theory.describe_empty(j)
        yield Section(str(label), theory.describe_label(j) + note, share, note, rows, silence)


def _list_rows(
    theory: Theory, rules: Sequence[ScoredRule], texts: Sequence[str]
) -> list[tuple[ScoredRule, str, list[str]]]:
    has_held_out = _has_held_out(theory)
    rows = []
    weights = theory.combiner.rule_columns(rules).values()
    for scored, text, *more in zip(rules, texts, *weights, strict=True):
        numbers = [f"{number:+.2f}" for number in more]
        counts = [str(scored.tp), str(scored.fp), f"{scored.precision:.2f}"]
        numbers += counts if scored.is_counted else ["–"] * len(counts)
        if has_held_out:
            numbers.append("–" if scored.held_out is None else scored.held_out.describe())
        rows.append((scored, text, numbers))
    return rows
