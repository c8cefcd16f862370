"""What an example lacks for a rule: plain frozen objects that print themselves. Computes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.model.rules import Condition, format_number

if TYPE_CHECKING:
    from steelyard.model.evidence import ScoredRule

Value = float | str | None
"""A value of an attribute; None is missing."""


def format_value(value: Value) -> str:
    """A value as people write it.

    Examples
    --------
    >>> format_value(37.0), format_value("red"), format_value(None)
    ('37', 'red', 'missing')
    """
    if value is None:
        return "missing"
    return value if isinstance(value, str) else format_number(value)


@dataclass(frozen=True)
class FailingCondition:
    """A condition that an example does not meet, with the value that the example has instead.

    Examples
    --------
    >>> print(FailingCondition(Condition("fever", "≥", 38.5), 37.0))
    fever ≥ 38.5 fails: fever is 37
    """

    condition: Condition
    value: Value

    def __str__(self) -> str:
        feature = self.condition.feature
        return f"{self.condition} fails: {feature} is {format_value(self.value)}"


@dataclass(frozen=True)
class Change:
    """The smallest change of one attribute after which a rule's conditions on it are met.

    Parameters
    ----------
    feature : str
    current : float, str or None
        The example's value; None is missing.
    needed : tuple of Condition
        The conditions that are not met.
    nearest : float or str
        The value closest to the current one that meets them.

    Examples
    --------
    >>> print(Change("fever", 37.0, (Condition("fever", "≥", 38.5),), 38.5))
    raise fever from 37 to at least 38.5
    >>> print(Change("colour", "red", (Condition("colour", "=", "blue"),), "blue"))
    change colour from red to blue
    """

    feature: str
    current: Value
    needed: tuple[Condition, ...]
    nearest: float | str

    def __str__(self) -> str:
        bounds = " and ".join(map(_bound_in_words, self.needed))
        if self.current is None:
            return f"give {self.feature} a value: {bounds}"
        if self.needed[0].operator == "=":
            verb = "change"
        else:
            verb = "raise" if self.needed[0].operator == "≥" else "lower"
        return f"{verb} {self.feature} from {format_value(self.current)} to {bounds}"


def _bound_in_words(condition: Condition) -> str:
    words = {"≥": "at least ", "<": "below ", "≤": "at most ", "=": ""}
    return words[condition.operator] + format_value(condition.value)


@dataclass(frozen=True)
class NearRule:
    """A rule that did not fire, with what the example lacks for it."""

    scored: ScoredRule
    failing: tuple[FailingCondition, ...]
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return f"{self.scored.rule}; to fire: {', '.join(map(str, self.changes))}"
