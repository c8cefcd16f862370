"""Theory → one SELECT that adds the predicted labels to a table's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .decisions import Decision, theory_to_decisions
from .sql_points import points_to_query
from .sql_text import DIALECTS, SqlWriter, quote_name

if TYPE_CHECKING:
    from steelyard.model.theory import Theory


def to_sql(theory: Theory, dialect: str = "sqlite", table: str = "data") -> str:
    """See `Theory.to_sql`."""
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r}")
    if not isinstance(table, str):
        raise ValueError(f"table must be the name of a table, got {table!r}")
    writer = SqlWriter(theory, DIALECTS[dialect])
    if theory.has_points:
        columns, more = points_to_query(theory, writer)
    else:
        columns, more = [_column(d, writer) for d in theory_to_decisions(theory)], ""
    selected = ",\n  ".join(["t.*", *columns])
    return f"SELECT\n  {selected}\nFROM {quote_name(table)} AS t\n{more}"


def _column(decision: Decision, writer: SqlWriter) -> str:
    default, name = writer.literal(decision.default), quote_name(decision.name)
    if not decision.cases:
        return f"{default} AS {name}"
    # One WHEN a rule: a chain of ORs this long would be too deep a tree for SQLite.
    lines = [
        f"    WHEN {writer.predicate(scored.rule.body)} THEN {writer.literal(outcome)}"
        f"  -- TP {scored.tp}, FP {scored.fp}"
        for scored, outcome in decision.cases
    ]
    return "\n".join(["CASE", *lines, f"    ELSE {default}", f"  END AS {name}"])
