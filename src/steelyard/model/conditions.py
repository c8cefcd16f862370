"""Conditions: one test on one attribute, an interval of numbers or a set of categories.

Knows values of attributes; knows neither codes nor labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._numbers import is_number
from steelyard._text import as_text, did_you_mean, format_number, list_names, shorten_repr

from .features import Feature, category_text, read_categories

Value = float | str | None
"""A value of an attribute; None is missing."""

_OPERATORS = {"<": "<", "≤": "≤", "<=": "≤", "≥": "≥", ">=": "≥", "=": "=", "==": "=", "in": "in"}


def format_value(value: Value) -> str:
    """A value as text.

    Examples
    --------
    >>> format_value(37.0), format_value("red"), format_value(None)
    ('37', 'red', 'missing')
    """
    if value is None:
        return "missing"
    return value if isinstance(value, str) else format_number(value)


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

    Examples
    --------
    >>> print(Condition("fever", "≥", 38.5))
    fever ≥ 38.5
    >>> print(Condition("colour", "=", "red"))
    colour = red
    >>> print(Condition.interval("age", 18, 65))
    18 ≤ age < 65
    >>> Condition("age", "≥", 18).intersect(Condition("age", "<", 65)).test(65.0)
    False
    """

    feature: str
    low: float
    high: float
    includes_high: bool
    categories: tuple[str, ...] | None

    def __init__(self, feature: str, operator: str, value: float | str | Iterable[str]) -> None:
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
        elif known == "≥":
            self._set(feature, low=_check_bound(feature, value))
        else:
            self._set(feature, high=_check_bound(feature, value), includes_high=known == "≤")

    def _set(
        self,
        feature: str,
        low: float = -math.inf,
        high: float = math.inf,
        includes_high: bool = False,
        categories: tuple[str, ...] | None = None,
    ) -> None:
        feature = as_text(feature, "the attribute of a condition")
        bounds = {"low": low, "high": high, "includes_high": includes_high}
        vars(self).update(feature=feature, **bounds, categories=categories)

    @classmethod
    def interval(
        cls,
        feature: str,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        includes_high: bool = False,
    ) -> Condition:
        """The condition ``low ≤ x < high``, or ``low ≤ x ≤ high``."""
        if low == -math.inf and high == math.inf:
            raise ValueError(f"an interval of {feature!r} needs at least one bound")
        low = -math.inf if low == -math.inf else _check_bound(feature, low)
        high = math.inf if high == math.inf else _check_bound(feature, high)
        condition = cls.__new__(cls)
        condition._set(feature, low, high, includes_high and high < math.inf)
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
        if self.categories is not None:
            if len(self.categories) == 1:
                return f"{self.feature} = {self.categories[0]}"
            return f"{self.feature} in {{{', '.join(self.categories)}}}"
        upper = f"{'≤' if self.includes_high else '<'} {format_number(self.high)}"
        if self.low == -math.inf:
            return f"{self.feature} {upper}"
        if self.high == math.inf:
            return f"{self.feature} ≥ {format_number(self.low)}"
        return f"{format_number(self.low)} ≤ {self.feature} {upper}"

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
        column = X[self.feature]
        if self.categories is not None:
            texts = column.map(category_text, na_action="ignore")
            return np.asarray(texts.isin(self.categories), dtype=np.bool_)
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray((numbers >= self.low) & (numbers < self.cut))

    def failing_part(self, value: Value) -> Condition:
        """The bound that a value misses; the whole condition if it misses all of it."""
        if value is None or isinstance(value, str) or self.n_bounds < 2:
            return self
        if value < self.low:
            return Condition(self.feature, "≥", self.low)
        return Condition(self.feature, "≤" if self.includes_high else "<", self.high)

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
        part = self.failing_part(value)
        if part.categories is not None:
            target, verb = " or ".join(part.categories), "change"
        else:
            lower = f"at least {format_number(part.low)}"
            upper = f"{'at most' if part.includes_high else 'below'} {format_number(part.high)}"
            bounds = [lower] * (part.low > -math.inf) + [upper] * (part.high < math.inf)
            target = " and ".join(bounds)
            verb = "raise" if part.low > -math.inf else "lower"
        if value is None:
            return f"give {self.feature} a value: {target}"
        return f"{verb} {self.feature} from {format_value(value)} to {target}"

    # -- combining -------------------------------------------------------------------------------

    def intersect(self, other: Condition) -> Condition:
        """The condition that holds where both hold."""
        if self.feature != other.feature or self.is_nominal != other.is_nominal:
            raise ValueError(f"cannot merge the conditions {str(self)!r} and {str(other)!r}")
        if self.categories is not None:
            both = [text for text in self.categories if text in (other.categories or ())]
            return Condition(self.feature, "in", both)
        upper = self if self.cut <= other.cut else other
        return Condition.interval(
            self.feature,
            max(self.low, other.low),
            upper.high,
            includes_high=upper.includes_high,
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
            return (Condition(self.feature, "in", others),)
        below = [Condition(self.feature, "<", self.low)] if self.low > -math.inf else []
        above = [Condition(self.feature, "≥", self.cut)] if self.cut < math.inf else []
        return (*below, *above)

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


def _check_bound(feature: str, value: Any) -> float:
    if not is_number(value) or math.isinf(value):
        raise ValueError(
            f"the value of {feature!r} must be a finite number, got {shorten_repr(value)}"
        )
    return float(value)


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
