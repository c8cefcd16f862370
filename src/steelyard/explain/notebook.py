"""Explanation → an HTML table for notebooks. Names are untrusted: everything is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from steelyard.model.conditions import format_body
from steelyard.model.rules import ScoredRule

from .explanation import Explanation, LabelExplanation

_LEFT = "text-align:left;vertical-align:top"


def explanation_to_html(explanation: Explanation) -> str:
    """The labels with the rules that fired or came closest."""
    titles = ["", "rule", *["weight"] * explanation.has_weights, "TP", "FP", "precision"]
    header = "".join(f'<th style="{_LEFT}">{text}</th>' for text in titles)
    groups = "".join(
        f"<tbody>{''.join(_rows(label, explanation.has_weights))}</tbody>" for label in explanation
    )
    title = "<br>".join(map(escape, explanation.title_lines()))
    return (
        f'<table class="steelyard-explanation"><caption style="text-align:left">{title}</caption>'
        f"<thead><tr>{header}</tr></thead>{groups}</table>"
    )


def _rows(label: LabelExplanation, has_weights: bool) -> Iterator[str]:
    answer = "yes" if label.predicted else "no"
    yield (
        f'<tr><th colspan="{5 + has_weights}" style="{_LEFT}">'
        f"{escape(label.name)}: {answer} <small>{escape(label.reason)}</small></th></tr>"
    )
    for weight, what in label.sums[:1]:
        yield (
            f'<tr><td></td><td style="{_LEFT}">{what}</td><td>{weight}</td>'
            '<td colspan="3"></td></tr>'
        )
    for scored in label.fired:
        yield _rule_row("✓", scored, "", has_weights)
    for near in label.closest:
        changes = "".join(f"<br><small>→ {escape(str(change))}</small>" for change in near.changes)
        yield _rule_row("✗", near.scored, changes, has_weights)


def _rule_row(sign: str, scored: ScoredRule, more: str, has_weights: bool) -> str:
    body = escape(format_body(scored.body)) or "always"
    weight = f"<td>{scored.weight:+.2f}</td>" if has_weights else ""
    return (
        f'<tr><td>{sign}</td><td style="{_LEFT};white-space:normal">{body}{more}</td>{weight}'
        f"<td>{scored.tp}</td><td>{scored.fp}</td><td>{scored.precision:.2f}</td></tr>"
    )
