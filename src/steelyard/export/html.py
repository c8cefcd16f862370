"""Theory → an HTML table for notebooks. Names are untrusted: everything is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from steelyard.model.decoding import format_points
from steelyard.model.rules import Head, format_body

from .points import format_starts

if TYPE_CHECKING:
    from steelyard.model.evidence import Label, ScoredRule
    from steelyard.model.theory import Theory

# A notebook with tens of thousands of table rows stops responding.
_MAX_RULES = 300

_LEFT = "text-align:left"
_SAFE = "#009E73"  # bluish green and vermillion of Okabe and Ito: apart for all eyes
_WRONG = "#D55E00"


def to_html(theory: Theory) -> str:
    """The rules of a theory as a table, grouped by label."""
    return "".join(_parts(theory))


def _parts(theory: Theory) -> Iterator[str]:
    n_shown = 0
    starts = format_starts(theory)
    weight = "<th>weight</th>" * theory.has_points
    yield '<table class="steelyard-theory"><caption style="text-align:left">'
    yield escape(str(theory).partition("\n")[0])
    yield f'</caption><thead><tr><th style="{_LEFT}">rule</th><th></th>{weight}'
    yield "<th>TP</th><th>FP</th><th>precision</th></tr></thead>"
    for label in theory.labels:
        rules = theory.rules_of(label.name)
        yield f"<tbody>{_label_row(label, len(rules), starts.get(label.name))}"
        for scored in rules[: _MAX_RULES - n_shown]:
            yield _rule_row(scored, label, has_weight=theory.has_points)
        n_shown = min(n_shown + len(rules), _MAX_RULES)
        yield "</tbody>"
    yield "</table>"
    if n_shown < len(theory):
        yield f"<p>… and {len(theory) - n_shown} more rules; print the theory to see all of them.</p>"


def _label_row(label: Label, n_rules: int, start: str | None) -> str:
    head = escape(str(Head(label.name, label.target_class)))
    n_examples = label.n_positives + label.n_negatives
    note = f"{label.n_positives} of {n_examples} examples, {n_rules} rule{'s' * (n_rules != 1)}"
    n_columns = 5
    if start is not None:
        note, n_columns = f"{note}, start {start}", 6
    return f'<tr><th colspan="{n_columns}" style="{_LEFT}">{head} <small>{note}</small></th></tr>'


def _rule_row(scored: ScoredRule, label: Label, *, has_weight: bool) -> str:
    body = escape(format_body(scored.rule.body)) or "always"
    weight = f"<td>{format_points(scored.vote)}</td>" if has_weight else ""
    return (
        f'<tr><td style="{_LEFT};white-space:normal">{body}</td><td>{_bar(scored, label)}</td>'
        f"{weight}<td>{scored.tp}</td><td>{scored.fp}</td><td>{scored.precision:.2f}</td></tr>"
    )


def _bar(scored: ScoredRule, label: Label) -> str:
    """Right and wrong beside each other, as long as the examples with the rule's head are many."""
    is_for_target = scored.rule.head.target_class == label.target_class
    unit = 60 / max(label.n_positives if is_for_target else label.n_negatives, 1)
    right, wrong = scored.tp * unit, min(scored.fp * unit, 60)
    return (
        f'<svg width="120" height="8" aria-hidden="true"><rect width="{right:.1f}" height="8" '
        f'fill="{_SAFE}"/><rect x="{right:.1f}" width="{wrong:.1f}" height="8" fill="{_WRONG}"/></svg>'
    )
