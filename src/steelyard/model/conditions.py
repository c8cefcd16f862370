"""Conditions: one test on one attribute, an interval of numbers or a set of categories.

Knows values of attributes; knows neither codes nor labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._numbers import is_number
from steelyard._text import as_text, did_you_mean, format_number, list_names, shorten_repr

from .features import PRESENT_CATEGORIES, Feature, category_text, read_categories
from .frames import floor_to_days, series_to_seconds, to_pandas
from .moments import (
    MOMENT_KINDS,
    SECOND_KINDS,
    format_seconds,
    snap_down,
    snap_up,
    value_to_seconds,
)
from .words import WORD_KINDS, count_range, describe_count_change, describe_counts

Value = float | str | None
"""A value of an attribute; None is missing."""

_OPERATORS = {"<": "<", "≤": "≤", "<=": "≤", "≥": "≥", ">=": "≥", "=": "=", "==": "=", "in": "in"}


def format_value(value: Value, kind: str | None = None) -> str:
    """A value of an attribute of some kind as text.

    Examples
    --------
    >>> format_value(37.0), format_value("red"), format_value(None)
    ('37', 'red', 'missing')
    >>> format_value(86400.0, "date")
    '1970-01-02'
    """
    if value is None:
        return "missing"
    if isinstance(value, str):
        return value
    return format_seconds(value, kind) if kind in SECOND_KINDS else format_number(value)


@dataclass(frozen=True, init=False)
class Condition:
    """One test on one attribute; a missing value never satisfies it.

    A condition is an interval ``low ≤ x < high`` (``x ≤ high`` if `includes_high`) on a numeric
    attribute, or a set of `categories` of a nominal one.

    Parameters
    ----------
    feature : str
    operator : {"<", "≤", "≥", "=", "in"}
        "<=" and ">=" are accepted as well. "=" and "in" test categories.
    value : float, str, or iterable of str for "in"
        A bound may be a date, a time or a duration, or the text of one in ISO 8601: it becomes seconds.

    Attributes
    ----------
    kind : str or None
        How it reads, as in `Feature.reading`. Conditions that differ in nothing else are equal. `str`
        writes dates and times as text and all else in symbols; `words` also says "has gpl".

    Examples
    --------
    >>> from steelyard import Condition
    >>> print(Condition("fever", "≥", 38.5))
    fever ≥ 38.5
    >>> print(Condition("colour", "=", "red"))
    colour = red
    >>> print(Condition.interval("age", 18, 65))
    18 ≤ age < 65
    >>> Condition("age", "≥", 18).intersect(Condition("age", "<", 65)).test(65.0)
    False
    >>> print(Condition("ordered", "<", "2024-03-01"))
    ordered < 2024-03-01
    """

    feature: str
    low: float
    high: float
    includes_high: bool
    categories: tuple[str, ...] | None
    kind: str | None = field(compare=False, repr=False)

    def __init__(self, feature: str, operator: str, value: Any) -> None:
        known = _OPERATORS.get(operator) if isinstance(operator, str) else None
        if known is None:
            raise ValueError(
                f"the operator of {feature!r} must be one of <, ≤, ≥, =, in, got {operator!r}"
            )
        if known == "=":
            if not isinstance(value, str):
                raise ValueError(f"the value of {feature!r} must be a category, got {value!r}")
            self._set(feature, categories=(str(value),))
        elif known == "in":
            self._set(feature, categories=tuple(sorted(set(read_categories(value, feature)))))
        else:
            bound, kind = _read_bound(feature, value)
            if known == "≥":
                self._set(feature, low=bound, kind=kind)
            else:
                self._set(feature, high=bound, includes_high=known == "≤", kind=kind)

    def _set(
        self,
        feature: str,
        low: float = -math.inf,
        high: float = math.inf,
        includes_high: bool = False,
        categories: tuple[str, ...] | None = None,
        kind: str | None = None,
    ) -> None:
        feature = as_text(feature, "the attribute of a condition")
        if kind in SECOND_KINDS:
            # Values lie on this grid, so the condition holds for the same ones.
            low = snap_up(low, kind)
            high = snap_down(high, kind) if includes_high else snap_up(high, kind)
        bounds = {"low": low, "high": high, "includes_high": includes_high}
        vars(self).update(feature=feature, **bounds, categories=categories, kind=kind)

    @classmethod
    def interval(
        cls,
        feature: str,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        includes_high: bool = False,
        kind: str | None = None,
    ) -> Condition:
        """The condition ``low ≤ x < high``, or ``low ≤ x ≤ high``."""
        if low == -math.inf and high == math.inf:
            raise ValueError(f"an interval of {feature!r} needs at least one bound")
        low, of_low = (low, None) if low == -math.inf else _read_bound(feature, low)
        high, of_high = (high, None) if high == math.inf else _read_bound(feature, high)
        condition = cls.__new__(cls)
        kind = kind or of_low or of_high
        condition._set(feature, low, high, includes_high and high < math.inf, kind=kind)
        return condition

    def read_as(self, kind: str | None) -> Condition:
        """The same condition on an attribute that reads in another way; see `Feature.reading`."""
        if kind == self.kind:
            return self
        condition = Condition.__new__(Condition)
        bounds = (self.low, self.high, self.includes_high)
        condition._set(self.feature, *bounds, self.categories, kind)
        return condition

    @property
    def is_nominal(self) -> bool:
        """Whether it tests categories."""
        return self.categories is not None

    @property
    def n_bounds(self) -> int:
        """How many conditions people count: an interval with two bounds is two."""
        return 1 if self.is_nominal else (self.low > -math.inf) + (self.high < math.inf)

    @property
    def cut(self) -> float:
        """The smallest number above the interval."""
        return math.nextafter(self.high, math.inf) if self.includes_high else self.high

    @property
    def is_empty(self) -> bool:
        """Whether no value satisfies it."""
        return not self.categories if self.is_nominal else self.low >= self.cut

    def __str__(self) -> str:
        return self.write(str, format_value)

    def write(
        self, write_name: Callable[[str], str], write_bound: Callable[[float, str | None], str]
    ) -> str:
        """The condition as text, given how to write names and categories, and bounds of its kind."""
        name = write_name(self.feature)
        if self.categories is not None:
            categories = list(map(write_name, self.categories))
            if len(categories) == 1:
                return f"{name} = {categories[0]}"
            return f"{name} in {{{', '.join(categories)}}}"
        low, high = (write_bound(bound, self.kind) for bound in (self.low, self.high))
        upper = f"{'≤' if self.includes_high else '<'} {high}"
        if self.low == -math.inf:
            return f"{name} {upper}"
        if self.high == math.inf:
            return f"{name} ≥ {low}"
        return f"{low} ≤ {name} {upper}"

    @property
    def words(self) -> str:
        """The condition for reading: in words if it is about something present, absent or counted.

        Examples
        --------
        >>> Condition("gpl", "≥", 0.5).read_as("word").words
        'has gpl'
        >>> Condition("fever", "≥", 38.5).words
        'fever ≥ 38.5'
        """
        counts = self._find_counts()
        return str(self) if counts is None else describe_counts(self.feature, *counts)

    def _find_counts(self) -> tuple[int, float] | None:
        """The smallest and the largest count that satisfies it; None if it does not read as words."""
        if self.kind not in WORD_KINDS or self.is_empty:
            return None
        if self.categories is not None:
            is_present = {text in PRESENT_CATEGORIES for text in self.categories}
            return None if len(is_present) > 1 else (1, math.inf) if True in is_present else (0, 0)
        first, last = count_range(self.low, self.cut)
        if self.kind == "presence" and last >= 1:
            last = math.inf
        return None if last < first or (first, last) == (0, math.inf) else (first, last)

    # -- testing values --------------------------------------------------------------------------

    def test(self, value: Value) -> bool:
        """Whether a value satisfies the condition."""
        if value is None:
            return False
        if self.categories is not None:
            return value in self.categories
        return not isinstance(value, str) and self.low <= value < self.cut

    def covers(self, X: pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows of a DataFrame satisfy the condition, shape (n_rows,)."""
        column = to_pandas(X)[self.feature]
        if self.categories is not None:
            # As objects: an arrow column without any value has no type to compare with text.
            texts = column.astype(object).map(category_text, na_action="ignore")
            return np.asarray(texts.isin(self.categories), dtype=np.bool_)
        seconds = series_to_seconds(column)
        if seconds is None:
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            numbers = floor_to_days(seconds[0]) if self.kind == "date" else seconds[0]
        return np.asarray((numbers >= self.low) & (numbers < self.cut))

    def failing_part(self, value: Value) -> Condition:
        """The bound that a value misses; the whole condition if it misses all of it."""
        if value is None or isinstance(value, str) or self.n_bounds < 2:
            return self
        if value < self.low:
            return Condition(self.feature, "≥", self.low).read_as(self.kind)
        operator = "≤" if self.includes_high else "<"
        return Condition(self.feature, operator, self.high).read_as(self.kind)

    def nearest(self, value: Value) -> float | str | None:
        """The value closest to `value` that satisfies the condition; None if there is none.

        A missing value gets the lower bound, or the first category.
        """
        if self.is_empty:
            return None
        if self.categories is not None:
            return str(value) if self.test(value) else self.categories[0]
        if value is None or isinstance(value, str):
            below = math.nextafter(self.cut, -math.inf)
            return self.low if self.low > -math.inf else below
        return min(max(value, self.low), math.nextafter(self.cut, -math.inf))

    def describe_change(self, value: Value) -> str:
        """What would have to change for a value to satisfy the condition.

        Examples
        --------
        >>> Condition("fever", "≥", 38.5).describe_change(37.0)
        'raise fever from 37 to at least 38.5'
        >>> Condition("colour", "=", "blue").describe_change("red")
        'change colour from red to blue'
        """
        part, counts = self.failing_part(value), self._find_counts()
        if counts is not None and value is not None:
            # A category that is not the right one is the other of two.
            number = float(counts[0] == 0) if isinstance(value, str) else value
            return describe_count_change(self.feature, self.kind or "", number, *counts)
        is_moment = self.kind in MOMENT_KINDS
        if part.categories is not None:
            target, verb = " or ".join(part.categories), "change"
        else:
            below = "at most" if part.includes_high else "before" if is_moment else "below"
            low, high = (format_value(bound, self.kind) for bound in (part.low, part.high))
            lower = f"{low} or later" if is_moment else f"at least {low}"
            bounds = [lower] * (part.low > -math.inf)
            bounds += [f"{below} {high}"] * (part.high < math.inf)
            target = " and ".join(bounds)
            verb = "raise" if part.low > -math.inf else "lower"
        if value is None:
            return f"give {self.feature} a value: {target}"
        verb = "change" if is_moment else verb
        return f"{verb} {self.feature} from {format_value(value, self.kind)} to {target}"

    # -- combining -------------------------------------------------------------------------------

    def intersect(self, other: Condition) -> Condition:
        """The condition that holds where both hold."""
        if self.feature != other.feature or self.is_nominal != other.is_nominal:
            raise ValueError(f"cannot merge the conditions {str(self)!r} and {str(other)!r}")
        if self.categories is not None:
            both = [text for text in self.categories if text in (other.categories or ())]
            return Condition(self.feature, "in", both).read_as(self.kind)
        upper = self if self.cut <= other.cut else other
        return Condition.interval(
            self.feature,
            max(self.low, other.low),
            upper.high,
            includes_high=upper.includes_high,
            kind=_join_kinds(self.kind, other.kind),
        )

    def negate(self, feature: Feature) -> tuple[Condition, ...]:
        """Conditions of which one holds for every known value that fails this one.

        Examples
        --------
        >>> print(*Condition.interval("age", 18, 65).negate(Feature("age")), sep=" or ")
        age < 18 or age ≥ 65
        >>> print(*Condition("colour", "=", "red").negate(Feature("colour", ("blue", "red"))))
        colour = blue
        """
        if self.categories is not None:
            others = [text for text in feature.categories or () if text not in self.categories]
            return (Condition(self.feature, "in", others).read_as(self.kind),)
        below = [Condition(self.feature, "<", self.low)] if self.low > -math.inf else []
        above = [Condition(self.feature, "≥", self.cut)] if self.cut < math.inf else []
        return tuple(part.read_as(self.kind) for part in (*below, *above))

    def check(self, feature: Feature) -> None:
        """Reject a condition that does not fit its attribute."""
        if self.is_nominal != feature.is_nominal:
            kinds = ("nominal", "categories") if feature.is_nominal else ("numeric", "bounds")
            raise ValueError(
                f"the attribute {self.feature!r} is {kinds[0]} and needs {kinds[1]}, "
                f"got {str(self)!r}"
            )
        for text in self.categories or ():
            if text not in (feature.categories or ()):
                known = list_names(feature.categories or (), most=10)
                hint = did_you_mean(text, feature.categories or ())
                raise ValueError(
                    f"the attribute {self.feature!r} has no category {text!r}{hint}; it has {known}"
                )


def _read_bound(feature: str, value: Any) -> tuple[float, str | None]:
    """A bound as a number, and its kind if it is a date, a time or a duration."""
    if is_number(value) and not math.isinf(value):
        return float(value), None
    seconds = value_to_seconds(value)
    if seconds is None:
        raise ValueError(
            f"the value of {feature!r} must be a finite number, a date or a time, "
            f"got {shorten_repr(value)}"
        )
    # Only an attribute knows that its values are whole days.
    return seconds[0], "datetime" if seconds[1] in MOMENT_KINDS else seconds[1]


def _join_kinds(first: str | None, second: str | None) -> str | None:
    """The kind that both bounds of an interval can have."""
    return "datetime" if {first, second} == set(MOMENT_KINDS) else first or second


def merge_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """One condition per attribute, in the order in which the attributes first occur."""
    merged: dict[str, Condition] = {}
    for condition in conditions:
        known = merged.get(condition.feature)
        merged[condition.feature] = condition if known is None else known.intersect(condition)
    return tuple(merged.values())


def format_body(body: Iterable[Condition]) -> str:
    """Conditions joined by ∧.

    Examples
    --------
    >>> format_body([Condition("age", "≥", 18), Condition("sex", "=", "f")])
    'age ≥ 18 ∧ sex = f'
    """
    return " ∧ ".join(map(str, body))


def describe_body(body: Iterable[Condition]) -> str:
    """Conditions joined by ∧, for reading: `Condition.words`.

    Examples
    --------
    >>> describe_body([Condition("age", "≥", 18), Condition("gpl", "<", 0.5).read_as("word")])
    'age ≥ 18 ∧ no gpl'
    """
    return " ∧ ".join(condition.words for condition in body)
