"""Theory → Markdown: a table of rules for each label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..rules import Head, format_body

if TYPE_CHECKING:
    from ..theory import Label, Theory

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~$&])")


def to_markdown(theory: Theory) -> str:
    """See `Theory.to_markdown`."""
    return "\n".join(_lines(theory)) + "\n"


def _lines(theory: Theory) -> Iterator[str]:
    yield f"{len(theory)} rules with {theory.n_conditions} conditions for {len(theory.labels)} labels"
    for label in theory.labels:
        yield from ("", f"## {_escape(_title(label))}", "")
        rules = theory.rules_of(label.name)
        if not rules:
            yield "No rule."
            continue
        yield "| rule | TP | FP | precision |"
        yield "|:--|--:|--:|--:|"
        for scored in rules:
            body = _escape(format_body(scored.rule.body)) or "always"
            yield f"| {body} | {scored.tp} | {scored.fp} | {scored.precision:.2f} |"


def _title(label: Label) -> str:
    n_examples = label.n_positives + label.n_negatives
    return f"{Head(label.name, label.target_class)} ({label.n_positives} of {n_examples})"


def _escape(text: str) -> str:
    """Names are text, not markup; a line break would end the table's row."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
