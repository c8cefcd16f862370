"""Changes: what an example lacks for a rule to fire. Computes nothing but words."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.model.conditions import Condition, Value, format_value
from steelyard.model.rules import ScoredRule


@dataclass(frozen=True)
class Change:
    """The smallest change of one attribute after which a condition holds.

    Parameters
    ----------
    condition : Condition
        The condition that fails.
    current : float, str or None
        The value of the example; None is missing.

    Examples
    --------
    >>> from steelyard import Change, Condition
    >>> change = Change(Condition("fever", "≥", 38.5), 37.0)
    >>> print(change)
    raise fever from 37 to at least 38.5
    >>> change.failure, change.nearest
    ('fever ≥ 38.5 fails: fever is 37', 38.5)
    """

    condition: Condition
    current: Value

    @property
    def feature(self) -> str:
        """The attribute that would have to change."""
        return self.condition.feature

    @property
    def failing(self) -> Condition:
        """The part of the condition that fails."""
        return self.condition.failing_part(self.current)

    @property
    def nearest(self) -> float | str | None:
        """The value closest to the current one that satisfies the condition."""
        return self.condition.nearest(self.current)

    @property
    def failure(self) -> str:
        """Which condition fails, and why."""
        value = format_value(self.current, self.condition.kind)
        return f"{self.failing.words} fails: {self.feature} is {value}"

    def __str__(self) -> str:
        return self.condition.describe_change(self.current)


@dataclass(frozen=True)
class NearRule:
    """A rule that does not fire, with the changes that would make it fire.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> data = load_patients()
    >>> clf = RipperClassifier(random_state=0).fit(data.X, data.Y)
    >>> label = clf.explain(data.X.iloc[[0]], labels=["high cholesterol"]).labels[0]
    >>> print(label.closest[0])
    high cholesterol ← ...; to fire: raise LDL from 93.2 to at least ...
    """

    scored: ScoredRule
    changes: tuple[Change, ...]

    @property
    def sign(self) -> str:
        """A tick for a rule that fires, which needs no change, else a cross."""
        return "✗" if self.changes else "✓"

    def __str__(self) -> str:
        return f"{self.scored.rule.describe()}; to fire: {', '.join(map(str, self.changes))}"
