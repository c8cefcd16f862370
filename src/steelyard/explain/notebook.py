"""Explanation → an HTML table for notebooks. Names are untrusted: everything is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from steelyard.model.conditions import format_body

from .explanation import Explanation

_LEFT = "text-align:left;vertical-align:top"


def explanation_to_html(explanation: Explanation) -> str:
    """The labels with the rules that fired or came closest."""
    return "".join(_parts(explanation))


def _parts(explanation: Explanation) -> Iterator[str]:
    has_weights = explanation.has_weights
    has_held_out = explanation.has_held_out
    titles = ["", "rule", *["weight"] * has_weights, "TP", "FP", "precision"]
    titles += ["unseen"] * has_held_out
    caption = "<br>".join(map(escape, explanation.title_lines()))
    yield f'<table class="steelyard-explanation"><caption style="text-align:left">{caption}'
    yield "</caption><thead><tr>"
    yield from (f'<th style="{_LEFT}">{title}</th>' for title in titles)
    yield "</tr></thead>"
    for label in explanation:
        yield f'<tbody><tr><th colspan="{len(titles)}" style="{_LEFT}">{escape(label.name)}: '
        yield f"{'yes' if label.predicted else 'no'} <small>{escape(label.reason)}</small></th></tr>"
        for weight, what in label.sums[:1]:
            yield f'<tr><td></td><td style="{_LEFT}">{what}</td><td>{weight}</td>'
            yield f'<td colspan="{3 + has_held_out}"></td></tr>'
        for near in label.shown:
            scored = near.scored
            body = escape(format_body(scored.body)) or "always"
            yield f'<tr><td>{near.sign}</td><td style="{_LEFT};white-space:normal">{body}'
            yield from (f"<br><small>→ {escape(str(change))}</small>" for change in near.changes)
            yield f"</td><td>{scored.weight:+.2f}</td>" if has_weights else "</td>"
            numbers = ["–"] * 3
            if scored.is_counted:
                numbers = [str(scored.tp), str(scored.fp), f"{scored.precision:.2f}"]
            unseen = [] if scored.held_out is None else [scored.held_out.describe()]
            cells = [*numbers, *(unseen or [""] * has_held_out)]
            yield "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        yield "</tbody>"
    yield "</table>"
