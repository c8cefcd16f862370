"""Theory → an HTML table for notebooks. Names are untrusted: everything is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from steelyard._text import format_count
from steelyard.model.conditions import format_body
from steelyard.model.evidence import Label
from steelyard.model.rules import ScoredRule
from steelyard.model.theory import Theory

# A notebook with tens of thousands of table rows stops responding.
_MAX_RULES = 300

_LEFT = "text-align:left"
_RIGHT_COLOUR = "#009E73"  # bluish green and vermillion of Okabe and Ito: distinct for all eyes
_WRONG_COLOUR = "#D55E00"


def to_html(theory: Theory) -> str:
    """The rules of a theory as a table, grouped by label."""
    return "".join(_parts(theory))


def _parts(theory: Theory) -> Iterator[str]:
    n_shown = 0
    columns = list(theory.combiner.rule_columns(()))
    titles = "".join(f"<th>{title}</th>" for title in (*columns, "TP", "FP", "precision"))
    yield '<table class="steelyard-theory"><caption style="text-align:left">'
    yield escape(theory.summary)
    yield f'</caption><thead><tr><th style="{_LEFT}">rule</th><th></th>{titles}</tr></thead>'
    for j, label in enumerate(theory.labels):
        rules = theory.rules_of(label.name)
        note = theory.combiner.describe_label(j)
        yield f"<tbody>{_label_row(label, len(rules), note, 5 + len(columns))}"
        numbers = zip(*theory.combiner.rule_columns(rules).values(), strict=True)
        extra = list(numbers) or [()] * len(rules)
        for scored, more in list(zip(rules, extra, strict=True))[: _MAX_RULES - n_shown]:
            yield _rule_row(scored, label, more)
        n_shown = min(n_shown + len(rules), _MAX_RULES)
        yield "</tbody>"
    yield "</table>"
    if n_shown < len(theory):
        yield f"<p>… and {len(theory) - n_shown} more rules; print the theory to see all of them.</p>"


def _label_row(label: Label, n_rules: int, note: str, n_columns: int) -> str:
    text = f"{label.n_positives} of {label.n_examples} examples, {format_count(n_rules, 'rule')}"
    text += f", {note}" if note else ""
    return (
        f'<tr><th colspan="{n_columns}" style="{_LEFT}">{escape(str(label))} '
        f"<small>{text}</small></th></tr>"
    )


def _rule_row(scored: ScoredRule, label: Label, more: tuple[float, ...]) -> str:
    body = escape(format_body(scored.body)) or "always"
    cells = "".join(f"<td>{number:+.2f}</td>" for number in more)
    return (
        f'<tr><td style="{_LEFT};white-space:normal">{body}</td><td>{_bar(scored, label)}</td>'
        f"{cells}<td>{scored.tp}</td><td>{scored.fp}</td><td>{scored.precision:.2f}</td></tr>"
    )


def _bar(scored: ScoredRule, label: Label) -> str:
    """TP and FP side by side, relative to the number of examples with the head of the rule."""
    is_for_target = scored.head.target_class == label.target_class
    unit = 60 / max(label.n_positives if is_for_target else label.n_negatives, 1)
    right, wrong = scored.tp * unit, min(scored.fp * unit, 60)
    return (
        f'<svg width="120" height="8" aria-hidden="true"><rect width="{right:.1f}" height="8" '
        f'fill="{_RIGHT_COLOUR}"/><rect x="{right:.1f}" width="{wrong:.1f}" height="8" '
        f'fill="{_WRONG_COLOUR}"/></svg>'
    )
