"""Theory → one SELECT that adds the predicted labels to the columns of a table.

Points are integers, so a database computes exactly what `predict` computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

from steelyard.model.conditions import Condition
from steelyard.model.features import BOOLEAN_WORDS
from steelyard.model.formulas import Answer, Case, Choice, Formula, LabelSetSearch, Largest, Sum
from steelyard.model.rules import ScoredRule
from steelyard.model.theory import Theory

# Single precision, the narrowest column type, holds every integer up to here.
_LARGEST_PLAIN_INTEGER = 2**24

_LONGEST_CHAIN = 100


def to_sql(theory: Theory, dialect: str = "sqlite", table: str = "data") -> str:
    """See `Theory.to_sql`."""
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r}")
    if not isinstance(table, str):
        raise ValueError(f"table must be the name of a table, got {table!r}")
    answers = theory.answers("sql")
    writer = _SqlWriter(theory, DIALECTS[dialect])
    if isinstance(answers[0], LabelSetSearch):
        return writer.label_set_query(answers[0], quote_name(table))
    columns = ",\n  ".join(["t.*", *map(writer.column, answers)])
    return f"SELECT\n  {columns}\nFROM {quote_name(table)} AS t\n"


# -- dialects ------------------------------------------------------------------------------------


def _double_precision_number(value: float) -> str:
    """With an exponent: without one DuckDB and the standard read a decimal, not a double."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _sqlite_number(value: float) -> str:
    """Digits from which SQLite gets the same double.

    Its parser has a few bits more than a double. The shortest digits that identify a double can lie
    half-way to its neighbour, where that is not enough (SQLite 3.40 misreads 7 of 20,000 random
    numbers with 15 digits); 17 digits are always close enough. Beyond 1e±30 SQLite misreads 1 in 200
    all the same.
    """
    text = repr(value)
    if abs(Fraction(text) - Fraction(value)) > Fraction(math.ulp(value)) * 9 / 20:
        text = f"{value:.17g}"
    return text


@dataclass(frozen=True)
class Dialect:
    """How a database writes numbers, booleans and limits.

    `infinity` is an upper bound that keeps NaN out of ``x >= c``, for databases that store NaN and sort
    it above all numbers. `materialized` keeps a query from being computed again for every column.
    """

    number: Callable[[float], str]
    infinity: str | None = None
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    first_row: str = "LIMIT 1"
    materialized: str = "MATERIALIZED "


DIALECTS = {
    "sqlite": Dialect(_sqlite_number, booleans=("0", "1")),
    "duckdb": Dialect(_double_precision_number, "CAST('Infinity' AS DOUBLE)"),
    "postgres": Dialect(repr, "CAST('Infinity' AS DOUBLE PRECISION)"),
    "ansi": Dialect(_double_precision_number, first_row="FETCH FIRST 1 ROW ONLY", materialized=""),
}


def quote_name(name: str) -> str:
    """The name of a column or table, whatever it contains."""
    return '"' + _check_text(name).replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text, whatever it contains."""
    return "'" + _check_text(text).replace("'", "''") + "'"


def _check_text(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the null character of {text!r}")
    return text


def chain(terms: Sequence[str], operator: str, before: str = " ") -> str:
    """Terms joined by an associative operator, with parentheses around the parts of a long chain.

    SQLite and DuckDB reject expressions of more than 1,000 levels, and a chain has one per term.

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


# -- writing -------------------------------------------------------------------------------------


class _SqlWriter:
    """Writes the answers of one theory in one dialect; ``t`` is the table."""

    def __init__(self, theory: Theory, dialect: Dialect) -> None:
        self.dialect = dialect
        self.booleans = {f.name for f in theory.features if f.is_boolean}

    def predicate(self, scored: ScoredRule) -> str:
        """A condition that is true where the rule fires."""
        return " AND ".join(map(self._condition, scored.body)) or "1 = 1"

    def _condition(self, condition: Condition) -> str:
        # Qualified, since SQLite takes an unknown name in double quotes for a string.
        column = f"t.{quote_name(condition.feature)}"
        if condition.categories is not None:
            return self._is_one_of(column, condition)
        tests = []
        if condition.low > -math.inf:
            lower = self._number(condition.low)
            if condition.high == math.inf and self.dialect.infinity:
                return f"{column} BETWEEN {lower} AND {self.dialect.infinity}"
            tests.append(f"{column} >= {lower}")
        if condition.high < math.inf:
            operator = "<=" if condition.includes_high else "<"
            tests.append(f"{column} {operator} {self._number(condition.high)}")
        return " AND ".join(tests)

    def _is_one_of(self, column: str, condition: Condition) -> str:
        categories = condition.categories or ()
        if not categories:
            return "1 = 0"
        if condition.feature in self.booleans:
            # As text, since a database may hold booleans, numbers or words.
            words = [word for text in categories for word in BOOLEAN_WORDS[text]]
            return f"LOWER(CAST({column} AS VARCHAR)) IN ({', '.join(map(quote_text, words))})"
        if len(categories) == 1:
            return f"{column} = {quote_text(categories[0])}"
        return f"{column} IN ({', '.join(map(quote_text, categories))})"

    def literal(self, value: Any) -> str:
        """A class, or 0 or 1 for a label."""
        if isinstance(value, bool):
            return self.dialect.booleans[value]
        if isinstance(value, Integral):  # also of numpy
            return str(int(value))
        return self._number(value) if isinstance(value, float) else quote_text(str(value))

    def _number(self, value: float) -> str:
        if value.is_integer() and abs(value) <= _LARGEST_PLAIN_INTEGER:
            return str(int(value))
        return self.dialect.number(value)

    def column(self, answer: Answer) -> str:
        """One column of the answer."""
        if isinstance(answer, Choice):
            value = self._first_hit(answer.value.cases, answer.value.default, "  ")
        elif isinstance(answer, Largest):
            value = self._largest(answer)
        else:
            assert not isinstance(answer, LabelSetSearch)
            absent, present = map(self.literal, answer.outcomes)
            score = self._score(answer.score, "  ")
            value = f"CASE WHEN {score} > {answer.cut} THEN {present} ELSE {absent} END"
        return f"{value} AS {quote_name(answer.name)}"

    def _first_hit(self, cases: Sequence[Case], default: Any, indent: str) -> str:
        if not cases:
            return self.literal(default)
        # One WHEN per rule: a chain of ORs this long would be too deep a tree for SQLite.
        lines = [
            f"{indent}  WHEN {self.predicate(s)} THEN {self.literal(value)}{_comment(s)}"
            for s, value in cases
        ]
        return "\n".join(
            ["CASE", *lines, f"{indent}  ELSE {self.literal(default)}", f"{indent}END"]
        )

    def _score(self, score: Formula, indent: str) -> str:
        """The points of a label, on lines that are indented except for the first."""
        if not isinstance(score, Sum):
            return self._first_hit(score.cases, score.default, indent)
        if not score.cases:
            return str(score.start)
        terms = [
            f"CASE WHEN {self.predicate(s)} THEN {value} ELSE 0 END{_comment(s)}"
            for s, value in score.cases
        ]
        inner = f"\n{indent}  "
        return f"({inner}{chain([str(score.start), *terms], '+', inner)}\n{indent})"

    def _largest(self, answer: Largest) -> str:
        """The class with the most points, the first one of equals."""
        rows = [
            f"      ({self._score(score, '      ')}, {place}, {self.literal(outcome)})"
            for place, (score, outcome) in enumerate(
                zip(answer.scores, answer.outcomes, strict=True), start=1
            )
        ]
        return (
            "(\n    WITH counted (points, place, class) AS (VALUES\n"
            + ",\n".join(rows)
            + "\n    )\n    SELECT class FROM counted ORDER BY points DESC, place "
            + f"{self.dialect.first_row}\n  )"
        )

    def label_set_query(self, search: LabelSetSearch, table: str) -> str:
        """A query that scores the labels, then finds the best label set, then reads off the labels.

        A set is a text such as ``' 1 3 '`` for the first and the third label.
        """
        names = [f'"steelyard score {j}"' for j in range(1, len(search.names) + 1)]
        scores = [
            f"{self._score(score, '    ')} AS {name}"
            for score, name in zip(search.scores, names, strict=True)
        ]
        rows = ",\n        ".join(_label_set_rows(search, names))
        labels = [
            f"CASE WHEN \"steelyard label set\" LIKE '% {j} %' THEN 1 ELSE 0 END AS {quote_name(name)}"
            for j, name in enumerate(search.names, start=1)
        ]
        step = f"AS {self.dialect.materialized}(\n  SELECT\n    "
        return (
            f'WITH "steelyard scored" {step}'
            + ",\n    ".join(["t.*", *scores])
            + f'\n  FROM {table} AS t\n), "steelyard found" {step}"steelyard scored".*,\n'
            + "    (\n      WITH fit (score, place, labels) AS (VALUES\n        "
            + f"{rows}\n      )\n      SELECT labels FROM fit ORDER BY score DESC, place "
            + f'{self.dialect.first_row}\n    ) AS "steelyard label set"\n'
            + '  FROM "steelyard scored"\n)\nSELECT\n  '
            + ",\n  ".join(['"steelyard found".*', *labels])
            + '\nFROM "steelyard found"\n'
        )


def _label_set_rows(search: LabelSetSearch, names: Sequence[str]) -> Iterator[str]:
    """Score, place and text of every label set; the new one comes last and has to beat all others."""
    for place, (labels, points) in enumerate(search.sets, start=1):
        text = "' " + "".join(f"{j + 1} " for j in labels) + "'"
        yield f"({chain([str(points), *(names[j] for j in labels)], '+')}, {place}, {text})"
    if search.unseen_points is not None:
        score = [f"CASE WHEN {name} > 0 THEN {name} ELSE 0 END" for name in names]
        parts = [f"CASE WHEN {name} > 0 THEN '{j} ' ELSE '' END" for j, name in enumerate(names, 1)]
        total = chain([str(search.unseen_points), *score], "+")
        yield f"({total}, {len(search.sets) + 1}, {chain([quote_text(' '), *parts], '||')})"


def _comment(scored: ScoredRule) -> str:
    return f"  -- TP {scored.tp}, FP {scored.fp}"
