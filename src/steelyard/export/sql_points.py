"""Theory with points → SQL that counts them for each label.

Points are whole numbers, so that a data base counts exactly what `predict` counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .decisions import plain_classes
from .points import Tally, theory_to_tallies
from .sql_label_sets import label_sets_to_query
from .sql_text import SqlWriter, chain, quote_name

if TYPE_CHECKING:
    from steelyard.model.theory import Theory


def points_to_query(theory: Theory, writer: SqlWriter) -> tuple[list[str], str]:
    """The columns that follow the table's, and what FROM needs besides the table."""
    tallies = theory_to_tallies(theory)
    if theory.output == "multilabel" and theory.label_sets is not None:
        points = [_points(tally, writer, "    ") for tally in tallies]
        return label_sets_to_query(theory.label_names, theory.label_sets, points, writer.dialect)
    if theory.output == "multilabel":
        return [_sign_column(tally, tally.name, [0, 1], writer) for tally in tallies], ""
    classes = plain_classes(theory)
    if theory.output == "binary":
        return [_sign_column(tallies[0], "class", classes, writer)], ""
    return [_class_column(tallies, classes, writer)], ""


def _sign_column(tally: Tally, name: str, outcomes: list[Any], writer: SqlWriter) -> str:
    absent, present = map(writer.literal, outcomes)
    points = _points(tally, writer, "  ")
    return f"CASE WHEN {points} > 0 THEN {present} ELSE {absent} END AS {quote_name(name)}"


def _class_column(tallies: list[Tally], classes: list[Any], writer: SqlWriter) -> str:
    """The class with the most points, the first one if several have as many."""
    rows = [
        f"      ({_points(tally, writer, '      ')}, {place}, {writer.literal(value)})"
        for place, (tally, value) in enumerate(zip(tallies, classes, strict=True), start=1)
    ]
    lines = [
        "(",
        "    WITH counted (points, place, class) AS (VALUES",
        ",\n".join(rows),
        "    )",
        f"    SELECT class FROM counted ORDER BY points DESC, place {writer.dialect.first_row}",
        '  ) AS "class"',
    ]
    return "\n".join(lines)


def _points(tally: Tally, writer: SqlWriter, indent: str) -> str:
    """The points of a label, on lines that are indented but for the first."""
    if not tally.rules:
        return str(tally.start)
    votes = [
        (f"WHEN {writer.predicate(s.rule.body)} THEN {s.vote}", f"  -- TP {s.tp}, FP {s.fp}")
        for s in tally.rules
    ]
    inner = f"\n{indent}  "
    if tally.is_sum:
        terms = [f"CASE {vote} ELSE 0 END{note}" for vote, note in votes]
        return f"({inner}{chain([str(tally.start), *terms], '+', inner)}\n{indent})"
    lines = [*(f"{vote}{note}" for vote, note in votes), f"ELSE {tally.start}"]
    return f"CASE{inner}{inner.join(lines)}\n{indent}END"
