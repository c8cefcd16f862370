"""Theory → Markdown: a table of rules for each label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from steelyard.model.decoding import format_points
from steelyard.model.rules import Head, format_body, format_count

from .points import describe_points, format_starts

if TYPE_CHECKING:
    from steelyard.model.evidence import Label
    from steelyard.model.theory import Theory

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~$&])")


def to_markdown(theory: Theory) -> str:
    """See `Theory.to_markdown`."""
    return "\n".join(_lines(theory)) + "\n"


def _lines(theory: Theory) -> Iterator[str]:
    n_rules, n_conditions, n_labels = (
        format_count(n, noun)
        for n, noun in (
            (len(theory), "rule"),
            (theory.n_conditions, "condition"),
            (len(theory.labels), "label"),
        )
    )
    yield f"{n_rules} with {n_conditions} for {n_labels}{describe_points(theory)}"
    starts = format_starts(theory)
    for label in theory.labels:
        yield from ("", f"## {_escape(_title(label, starts.get(label.name)))}", "")
        rules = theory.rules_of(label.name)
        if not rules:
            yield "No rule."
            continue
        yield "| rule |" + " weight |" * theory.has_points + " TP | FP | precision |"
        yield "|:--|" + "--:|" * theory.has_points + "--:|--:|--:|"
        for scored in rules:
            body = _escape(format_body(scored.rule.body)) or "always"
            weight = f" {format_points(scored.vote)} |" * theory.has_points
            yield f"| {body} |{weight} {scored.tp} | {scored.fp} | {scored.precision:.2f} |"


def _title(label: Label, start: str | None) -> str:
    n_examples = label.n_positives + label.n_negatives
    start = "" if start is None else f", start {start}"
    return f"{Head(label.name, label.target_class)} ({label.n_positives} of {n_examples}{start})"


def _escape(text: str) -> str:
    """Names are text, not markup; a line break would end the table's row."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
