"""Theory → one SELECT that adds the predicted labels to a table's columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .decisions import Decision, Requirement, body_to_requirements, theory_to_decisions

if TYPE_CHECKING:
    from ..theory import Theory

# Up to here single precision, the narrowest type of a column, holds every whole number.
_LARGEST_PLAIN_INTEGER = 2**24


def _double_precision_number(value: float) -> str:
    """With an exponent: without one DuckDB and the standard read a decimal, not a double."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _sqlite_number(value: float) -> str:
    """Digits from which SQLite gets the very same double.

    Its parser works with a few bits more than a double has. The shortest digits that identify a
    double can lie half-way to its neighbour, where that is not enough (SQLite 3.40 misreads 7 of
    20,000 random numbers of 15 digits); 17 digits are always close to the double they mean. Far from
    1, seen beyond 1e±30, SQLite misreads 1 in 200 all the same.
    """
    text = repr(value)
    if abs(Fraction(text) - Fraction(value)) > Fraction(math.ulp(value)) * 9 / 20:
        text = f"{value:.17g}"
    return text


@dataclass(frozen=True)
class _Dialect:
    """How a data base writes numbers.

    `infinity` is a bound that keeps NaN out of ``x >= c``, where the data base has NaN in its columns
    and puts it above all numbers; None where it has not.
    """

    number: Callable[[float], str]
    infinity: str | None = None
    true_and_false: tuple[str, str] = ("TRUE", "FALSE")
    booleans_are_integers: bool = False


_DIALECTS = {
    "sqlite": _Dialect(_sqlite_number, true_and_false=("1", "0"), booleans_are_integers=True),
    "duckdb": _Dialect(_double_precision_number, "CAST('Infinity' AS DOUBLE)"),
    "postgres": _Dialect(repr, "CAST('Infinity' AS DOUBLE PRECISION)"),
    "ansi": _Dialect(_double_precision_number),
}


def to_sql(theory: Theory, dialect: str = "sqlite", table: str = "data") -> str:
    """See `Theory.to_sql`."""
    if dialect not in _DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(_DIALECTS)}, got {dialect!r}")
    writer = _Writer(theory, _DIALECTS[dialect])
    columns = ["t.*", *(writer.column(decision) for decision in theory_to_decisions(theory))]
    return "SELECT\n  " + ",\n  ".join(columns) + f"\nFROM {_quote_name(table)} AS t\n"


class _Writer:
    """Writes the columns of one theory in one dialect."""

    def __init__(self, theory: Theory, dialect: _Dialect) -> None:
        self.dialect = dialect
        truth = {"True", "False"}
        self.boolean_features = {
            f.name for f in theory.features if f.categories and set(f.categories) <= truth
        }

    def column(self, decision: Decision) -> str:
        default, name = self.literal(decision.default), _quote_name(decision.name)
        if not decision.cases:
            return f"{default} AS {name}"
        # One WHEN a rule: a chain of ORs this long would be too deep a tree for SQLite.
        lines = [
            f"    WHEN {self.predicate(scored.rule.body)} THEN {self.literal(outcome)}"
            f"  -- TP {scored.tp}, FP {scored.fp}"
            for scored, outcome in decision.cases
        ]
        return "\n".join(["CASE", *lines, f"    ELSE {default}", f"  END AS {name}"])

    def predicate(self, body: Any) -> str:
        tests = [test for r in body_to_requirements(body) for test in self.tests(r)]
        return " AND ".join(tests) or "1 = 1"

    def tests(self, requirement: Requirement) -> list[str]:
        # Qualified, since SQLite takes an unknown name in double quotes for a string.
        column = f"t.{_quote_name(requirement.feature)}"
        if requirement.category is not None:
            return [self.equals(column, requirement)]
        tests = []
        if requirement.lower is not None:
            lower = self.number(requirement.lower)
            if requirement.upper is None and self.dialect.infinity:
                return [f"{column} BETWEEN {lower} AND {self.dialect.infinity}"]
            tests.append(f"{column} >= {lower}")
        if requirement.upper is not None:
            operator = "<=" if requirement.includes_upper else "<"
            tests.append(f"{column} {operator} {self.number(requirement.upper)}")
        return tests

    def equals(self, column: str, requirement: Requirement) -> str:
        category = str(requirement.category)
        if self.dialect.booleans_are_integers and requirement.feature in self.boolean_features:
            return f"{column} IN ({int(category == 'True')}, '{category}')"
        return f"{column} = {_quote_text(category)}"

    def literal(self, value: Any) -> str:
        if isinstance(value, bool):
            return self.dialect.true_and_false[0 if value else 1]
        if isinstance(value, int):
            return str(value)
        return self.number(value) if isinstance(value, float) else _quote_text(str(value))

    def number(self, value: float) -> str:
        if value.is_integer() and abs(value) <= _LARGEST_PLAIN_INTEGER:
            return str(int(value))
        return self.dialect.number(value)


def _quote_name(name: str) -> str:
    return '"' + _check_text(name).replace('"', '""') + '"'


def _quote_text(text: str) -> str:
    return "'" + _check_text(text).replace("'", "''") + "'"


def _check_text(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the null character of {text!r}")
    return text
