"""Theory → one SELECT that adds the predicted labels to the columns of a table.

Points are integers, so a database computes exactly what `predict` computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import starmap
from numbers import Integral
from typing import Any, NamedTuple

from steelyard.model.formulas import Answer, Choice, Formula, LabelSetSearch, Largest, Sum
from steelyard.model.moments import format_seconds
from steelyard.model.rules import ScoredRule
from steelyard.model.theory import Theory

from .rows import Seconds, list_tests

# Single precision, the narrowest column type, holds every integer up to here.
_LARGEST_PLAIN_INTEGER = 2**24

_LONGEST_CHAIN = 100

_MOMENT_TYPES = {"date": "DATE", "datetime": "TIMESTAMP", "time": "TIME"}
_SQLITE_FORMATS = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%d %H:%M:%f", "time": "%H:%M:%f"}


def to_sql(theory: Theory, dialect: str = "sqlite", table: str = "data") -> str:
    """See `Theory.to_sql`.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.export import to_sql
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y[["high cholesterol"]]).theory_
    >>> print(to_sql(theory, table="patients").splitlines()[-1])
    FROM "patients" AS t
    """
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r}")
    if not isinstance(table, str):
        raise ValueError(f"table must be the name of a table, got {table!r}")
    answers = theory.answers("sql")
    booleans = {f.name for f in theory.features if f.is_boolean}
    writer = _SqlWriter(DIALECTS[dialect], booleans)
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


class Dialect(NamedTuple):
    """How a database writes numbers, dates and limits.

    `has_types` is whether it has types for dates, times and booleans; SQLite stores texts and numbers,
    and takes the word TRUE for a column of that name if there is one.
    `infinity` is an upper bound that keeps NaN out of ``x >= c``, for databases that store NaN and sort
    it above all numbers. `materialized` keeps a query from being computed again for every column.
    """

    number: Callable[[float], str]
    infinity: str | None = None
    first_row: str = "LIMIT 1"
    materialized: str = "MATERIALIZED "
    has_types: bool = True


DIALECTS = {
    "sqlite": Dialect(_sqlite_number, has_types=False),
    "duckdb": Dialect(_double_precision_number, "CAST('Infinity' AS DOUBLE)"),
    "postgres": Dialect(repr, "CAST('Infinity' AS DOUBLE PRECISION)"),
    "ansi": Dialect(_double_precision_number, first_row="FETCH FIRST 1 ROW ONLY", materialized=""),
}


def _pad_time(time: str) -> str:
    """A time of day with milliseconds, as SQLite writes it.

    Examples
    --------
    >>> _pad_time(""), _pad_time("18:30"), _pad_time("18:30:05.250000")
    ('00:00:00.000', '18:30:00.000', '18:30:05.250')
    """
    return time[:12] + "00:00:00.000"[len(time[:12]) :]


def quote_text(text: str, mark: str = "'") -> str:
    """A text, whatever it contains."""
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the null character of {text!r}")
    return mark + text.replace(mark, 2 * mark) + mark


def quote_name(name: str) -> str:
    """The name of a column or table, whatever it contains."""
    return quote_text(name, '"')


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


class _SqlWriter(NamedTuple):
    """Writes the answers of one theory in one dialect; ``t`` is the table."""

    dialect: Dialect
    booleans: set[str]

    def _predicate(self, scored: ScoredRule) -> str:
        """A condition that is true where the rule fires."""
        tests = starmap(self._test, list_tests(scored.body, self.booleans))
        return " AND ".join(tests) or "1 = 1"

    def _test(self, feature: str, operator: str, value: Any) -> str:
        # Qualified, since SQLite takes an unknown name in double quotes for a string.
        column = f"t.{quote_name(feature)}"
        if isinstance(value, Seconds):
            return self._test_moment(feature, column, operator, value)
        if isinstance(value, tuple):
            if operator == "in words":
                column = f"LOWER(CAST({column} AS VARCHAR))"
            return f"{column} IN ({', '.join(map(quote_text, value))})" if value else "1 = 0"
        if operator == ">=" and self.dialect.infinity:
            return f"{column} BETWEEN {self.literal(value)} AND {self.dialect.infinity}"
        return f"{column} {'=' if operator == '==' else operator} {self.literal(value)}"

    def _test_moment(self, feature: str, column: str, operator: str, bound: Seconds) -> str:
        if bound.kind == "duration":
            raise ValueError(
                f"databases have no common type for durations, such as {feature!r}: learn from a "
                "number instead, such as hours, or export this theory as Python or JSON"
            )
        if self.dialect.has_types:
            type_name = _MOMENT_TYPES[bound.kind]
            # A date may be stored with a time.
            column = f"CAST({column} AS DATE)" if bound.kind == "date" else column
            return f"{column} {operator} {type_name} '{format_seconds(bound.seconds, bound.kind)}'"
        if round(bound.seconds * 1_000_000) % 1_000:
            raise ValueError(
                f"SQLite compares times by milliseconds, but a rule tests microseconds of {feature!r}: "
                "export for another database, or as Python or JSON"
            )
        day, _, time = format_seconds(bound.seconds, "datetime").partition(" ")
        time = _pad_time(time)
        text = {"date": day, "datetime": f"{day} {time}", "time": time}[bound.kind]
        return f"strftime('{_SQLITE_FORMATS[bound.kind]}', {column}) {operator} '{text}'"

    def literal(self, value: Any) -> str:
        """A bound, a category, a class, or 0 or 1 for a label."""
        if isinstance(value, bool) and self.dialect.has_types:
            return str(value).upper()
        if isinstance(value, Integral):  # also of numpy
            return str(int(value))
        if not isinstance(value, float):
            return quote_text(str(value))
        is_plain = value.is_integer() and abs(value) <= _LARGEST_PLAIN_INTEGER
        return str(int(value)) if is_plain else self.dialect.number(value)

    def column(self, answer: Answer) -> str:
        """One column of the answer."""
        assert not isinstance(answer, LabelSetSearch)
        if isinstance(answer, Choice):
            value = self._formula(answer.value, "  ")
        elif isinstance(answer, Largest):
            rows = [
                (self._formula(score, "      "), self.literal(outcome))
                for score, outcome in zip(answer.scores, answer.outcomes, strict=True)
            ]
            value = self._pick_best(rows, "  ")
        else:
            absent, present = map(self.literal, answer.outcomes)
            score = self._formula(answer.score, "  ")
            value = f"CASE WHEN {score} > {answer.cut} THEN {present} ELSE {absent} END"
        return f"{value} AS {quote_name(answer.name)}"

    def _formula(self, formula: Formula, indent: str) -> str:
        """The value of a formula, on lines that are indented except for the first."""
        start = self.literal(formula.start if isinstance(formula, Sum) else formula.default)
        if not formula.cases:
            return start
        when = [
            (f"WHEN {self._predicate(s)} THEN {self.literal(value)}", f"  -- {s.counts}")
            for s, value in formula.cases
        ]
        inner = f"\n{indent}  "
        if isinstance(formula, Sum):
            terms = [f"CASE {case} ELSE 0 END{comment}" for case, comment in when]
            return f"({inner}{chain([start, *terms], '+', inner)}\n{indent})"
        # One WHEN per rule: a chain of ORs this long would be too deep a tree for SQLite.
        lines = [case + comment for case, comment in when]
        return inner.join(["CASE", *lines, f"ELSE {start}"]) + f"\n{indent}END"

    def _pick_best(self, rows: Iterable[tuple[str, str]], indent: str) -> str:
        """The answer with the largest score, the first one of equals, from (score, answer)."""
        lines = [
            f"{indent}    ({score}, {place}, {answer})"
            for place, (score, answer) in enumerate(rows, start=1)
        ]
        return (
            f"(\n{indent}  WITH ranked (score, place, answer) AS (VALUES\n"
            + ",\n".join(lines)
            + f"\n{indent}  )\n{indent}  SELECT answer FROM ranked ORDER BY score DESC, place "
            + f"{self.dialect.first_row}\n{indent})"
        )

    def label_set_query(self, search: LabelSetSearch, table: str) -> str:
        """A query that scores the labels, then finds the best label set, then reads off the labels.

        A set is a text such as ``' 1 3 '`` for the first and the third label.
        """
        names = [f'"steelyard score {j}"' for j in range(1, len(search.names) + 1)]
        scores = [
            f"{self._formula(score, '    ')} AS {name}"
            for score, name in zip(search.scores, names, strict=True)
        ]
        labels = [
            f"CASE WHEN \"steelyard label set\" LIKE '% {j} %' THEN 1 ELSE 0 END AS {quote_name(name)}"
            for j, name in enumerate(search.names, start=1)
        ]
        step = f"AS {self.dialect.materialized}(\n  SELECT\n    "
        return (
            f'WITH "steelyard scored" {step}'
            + ",\n    ".join(["t.*", *scores])
            + f'\n  FROM {table} AS t\n), "steelyard found" {step}"steelyard scored".*,\n    '
            + self._pick_best(_list_label_sets(search, names), "    ")
            + ' AS "steelyard label set"\n  FROM "steelyard scored"\n)\nSELECT\n  '
            + ",\n  ".join(['"steelyard found".*', *labels])
            + '\nFROM "steelyard found"\n'
        )


def _list_label_sets(search: LabelSetSearch, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Score and text of every label set; the new one comes last and has to beat all others."""
    for labels, points in search.sets:
        score = chain([str(points), *(names[j] for j in labels)], "+")
        yield score, quote_text(" " + "".join(f"{j + 1} " for j in labels))
    if search.unseen_points is not None:
        scores = [f"CASE WHEN {name} > 0 THEN {name} ELSE 0 END" for name in names]
        texts = [f"CASE WHEN {name} > 0 THEN '{j} ' ELSE '' END" for j, name in enumerate(names, 1)]
        yield chain([str(search.unseen_points), *scores], "+"), chain(["' '", *texts], "||")
