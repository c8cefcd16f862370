"""Explanation → an HTML table for notebooks. Names are untrusted: everything is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from steelyard.model.decoding import format_points
from steelyard.model.rules import format_body

if TYPE_CHECKING:
    from steelyard.model.evidence import ScoredRule

    from .explanation import Explanation, LabelExplanation

_LEFT = "text-align:left;vertical-align:top"


def explanation_to_html(explanation: Explanation) -> str:
    """The labels with the rules that fired or came closest."""
    has_points = any(label.points is not None for label in explanation)
    titles = ["", "rule", *["weight"] * has_points, "TP", "FP", "precision"]
    header = "".join(f'<th style="{_LEFT}">{text}</th>' for text in titles)
    groups = "".join(f"<tbody>{''.join(_rows(label))}</tbody>" for label in explanation)
    title = escape(str(explanation).partition("\n")[0])
    if explanation.label_set is not None:
        title += f"<br>{escape(str(explanation.label_set))}"
    return (
        f'<table class="steelyard-explanation"><caption style="text-align:left">{title}</caption>'
        f"<thead><tr>{header}</tr></thead>{groups}</table>"
    )


def _rows(label: LabelExplanation) -> Iterator[str]:
    answer = "yes" if label.predicted else "no"
    yield (
        f'<tr><th colspan="{5 if label.points is None else 6}" style="{_LEFT}">'
        f"{escape(label.name)}: {answer} <small>{escape(label.reason)}</small></th></tr>"
    )
    if label.points is not None and label.points.is_sum and label.fired:
        start = format_points(label.points.start)
        yield (
            f'<tr><td></td><td style="{_LEFT}">start</td><td>{start}</td><td colspan="3"></td></tr>'
        )
    for scored in label.fired:
        yield _rule_row("✓", label, scored, "")
    for near in label.closest:
        changes = "".join(f"<br><small>→ {escape(str(change))}</small>" for change in near.changes)
        yield _rule_row("✗", label, near.scored, changes)


def _rule_row(sign: str, label: LabelExplanation, scored: ScoredRule, more: str) -> str:
    body = escape(format_body(scored.rule.body)) or "always"
    weight = "" if label.points is None else f"<td>{format_points(scored.vote)}</td>"
    return (
        f'<tr><td>{sign}</td><td style="{_LEFT};white-space:normal">{body}{more}</td>{weight}'
        f"<td>{scored.tp}</td><td>{scored.fp}</td><td>{scored.precision:.2f}</td></tr>"
    )
