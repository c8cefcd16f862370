"""Names, numbers and bodies of rules → SQL, in the words of each data base."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from steelyard.model.features import TRUTH_WORDS

from .decisions import Requirement, body_to_requirements

if TYPE_CHECKING:
    from steelyard.model.rules import Condition
    from steelyard.model.theory import Theory

# Up to here single precision, the narrowest type of a column, holds every whole number.
_LARGEST_PLAIN_INTEGER = 2**24

_LONGEST_CHAIN = 100


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
class Dialect:
    """How a data base writes numbers, and what it can do.

    `infinity` is a bound that keeps NaN out of ``x >= c``, where the data base has NaN in its columns
    and puts it above all numbers; None where it has not.
    """

    number: Callable[[float], str]
    infinity: str | None = None
    true_and_false: tuple[str, str] = ("TRUE", "FALSE")
    first_row: str = "LIMIT 1"
    has_lateral: bool = True
    has_lists: bool = False


DIALECTS = {
    "sqlite": Dialect(_sqlite_number, true_and_false=("1", "0"), has_lateral=False),
    "duckdb": Dialect(_double_precision_number, "CAST('Infinity' AS DOUBLE)", has_lists=True),
    "postgres": Dialect(repr, "CAST('Infinity' AS DOUBLE PRECISION)"),
    "ansi": Dialect(_double_precision_number, first_row="FETCH FIRST 1 ROW ONLY"),
}


class SqlWriter:
    """Writes the rules of one theory in one dialect; ``t`` is the table."""

    def __init__(self, theory: Theory, dialect: Dialect) -> None:
        self.dialect = dialect
        self.truth_values = {f.name for f in theory.features if f.is_truth_value}

    def predicate(self, body: tuple[Condition, ...]) -> str:
        """A condition that is true where the rule fires."""
        tests = [test for r in body_to_requirements(body) for test in self._tests(r)]
        return " AND ".join(tests) or "1 = 1"

    def _tests(self, requirement: Requirement) -> list[str]:
        # Qualified, since SQLite takes an unknown name in double quotes for a string.
        column = f"t.{quote_name(requirement.feature)}"
        if requirement.category is not None:
            return [self._equals(column, requirement)]
        tests = []
        if requirement.lower is not None:
            lower = self._number(requirement.lower)
            if requirement.upper is None and self.dialect.infinity:
                return [f"{column} BETWEEN {lower} AND {self.dialect.infinity}"]
            tests.append(f"{column} >= {lower}")
        if requirement.upper is not None:
            operator = "<=" if requirement.includes_upper else "<"
            tests.append(f"{column} {operator} {self._number(requirement.upper)}")
        return tests

    def _equals(self, column: str, requirement: Requirement) -> str:
        category = str(requirement.category)
        if requirement.feature in self.truth_values and category in TRUTH_WORDS:
            # As text, since a data base may hold them as truth values, as numbers or as words.
            words = ", ".join(map(quote_text, TRUTH_WORDS[category]))
            return f"LOWER(CAST({column} AS VARCHAR)) IN ({words})"
        return f"{column} = {quote_text(category)}"

    def literal(self, value: Any) -> str:
        """A class or a label's 0 or 1."""
        if isinstance(value, bool):
            return self.dialect.true_and_false[0 if value else 1]
        if isinstance(value, int):
            return str(value)
        return self._number(value) if isinstance(value, float) else quote_text(str(value))

    def _number(self, value: float) -> str:
        if value.is_integer() and abs(value) <= _LARGEST_PLAIN_INTEGER:
            return str(int(value))
        return self.dialect.number(value)


def quote_name(name: str) -> str:
    """A name of a column or table, whatever it contains."""
    return '"' + _check_text(name).replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text, whatever it contains."""
    return "'" + _check_text(text).replace("'", "''") + "'"


def _check_text(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the null character of {text!r}")
    return text


def chain(terms: Sequence[str], operator: str, before: str = " ") -> str:
    """Terms joined by an operator, with parentheses around the parts of a long chain.

    SQLite and DuckDB refuse expressions of more than 1,000 levels, of which a chain has as many as
    terms. The order of the operations must not matter.

    Examples
    --------
    >>> chain(["a", "b", "c"], "+")
    'a + b + c'
    """
    terms, glue = list(terms), f"{before}{operator} "
    end = ")" if before == " " else f"{before})"
    while len(terms) > _LONGEST_CHAIN:
        starts = range(0, len(terms), _LONGEST_CHAIN)
        terms = [f"({glue.join(terms[i : i + _LONGEST_CHAIN])}{end}" for i in starts]
    return glue.join(terms)
