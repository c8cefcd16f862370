"""Theory → Markdown: a table of rules for each label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.model.conditions import format_body
from steelyard.model.theory import Theory

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~$&])")


def to_markdown(theory: Theory) -> str:
    """See `Theory.to_markdown`."""
    return "\n".join(_lines(theory)) + "\n"


def _lines(theory: Theory) -> Iterator[str]:
    yield _escape(theory.summary)
    columns = list(theory.combiner.rule_columns(()))
    for j, label in enumerate(theory.labels):
        note = theory.combiner.describe_label(j)
        title = theory.describe_label(j) + (f", {note}" if note else "")
        yield from ("", f"## {_escape(title)}", "")
        rules = theory.rules_of(label.name)
        if not rules:
            yield "No rule."
            continue
        yield _row(["rule", *columns, "TP", "FP", "precision"])
        yield "|:--|" + "--:|" * (3 + len(columns))
        for scored, *more in zip(rules, *theory.combiner.rule_columns(rules).values(), strict=True):
            body = _escape(format_body(scored.body)) or "always"
            numbers = [f"{number:+.2f}" for number in more]
            yield _row([body, *numbers, scored.tp, scored.fp, f"{scored.precision:.2f}"])


def _row(cells: list[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _escape(text: str) -> str:
    """Names are text, not markup; a line break would end the row of the table."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
