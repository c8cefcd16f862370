"""Explanation → an HTML table for notebooks. Names are untrusted: everything is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ..rules import format_body

if TYPE_CHECKING:
    from ..theory import ScoredRule
    from .explanation import Explanation, LabelExplanation

_LEFT = "text-align:left;vertical-align:top"


def explanation_to_html(explanation: Explanation) -> str:
    """The labels with the rules that fired or came closest."""
    header = "".join(
        f'<th style="{_LEFT}">{text}</th>' for text in ("", "rule", "TP", "FP", "precision")
    )
    groups = "".join(f"<tbody>{''.join(_rows(label))}</tbody>" for label in explanation)
    title = escape(str(explanation).partition("\n")[0])
    return (
        f'<table class="steelyard-explanation"><caption style="text-align:left">{title}</caption>'
        f"<thead><tr>{header}</tr></thead>{groups}</table>"
    )


def _rows(label: LabelExplanation) -> Iterator[str]:
    answer = "yes" if label.predicted else "no"
    yield (
        f'<tr><th colspan="5" style="{_LEFT}">{escape(label.name)}: {answer} '
        f"<small>{escape(label.reason)}</small></th></tr>"
    )
    for scored in label.fired:
        yield _rule_row("✓", scored, "")
    for near in label.closest:
        changes = "".join(f"<br><small>→ {escape(str(change))}</small>" for change in near.changes)
        yield _rule_row("✗", near.scored, changes)


def _rule_row(sign: str, scored: ScoredRule, more: str) -> str:
    body = escape(format_body(scored.rule.body)) or "always"
    return (
        f'<tr><td>{sign}</td><td style="{_LEFT};white-space:normal">{body}{more}</td>'
        f"<td>{scored.tp}</td><td>{scored.fp}</td><td>{scored.precision:.2f}</td></tr>"
    )
