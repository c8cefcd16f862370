"""What an explanation is: plain frozen objects that print themselves. Computes nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..rules import Condition, format_body, format_number
from .html import explanation_to_html

if TYPE_CHECKING:
    from ..theory import Label, ScoredRule

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


_COLUMNS = ["label", "predicted", "fired", "rule", "tp", "fp", "precision", "failing", "change"]


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


@dataclass(frozen=True)
class LabelExplanation:
    """Why a label is predicted as it is.

    Parameters
    ----------
    label : Label
        With its target class and the training examples that no rule covers.
    predicted : {0, 1}
        Whether the label is predicted as present (for a theory of classes: whether it is the class).
    fired : tuple of ScoredRule
        All rules that fire, best first.
    closest : tuple of NearRule
        If none fires, the rules for which the fewest attributes have to change; of those, the most
        precise ones first.
    """

    label: Label
    predicted: int
    fired: tuple[ScoredRule, ...]
    closest: tuple[NearRule, ...]

    @property
    def name(self) -> str:
        """The label's name."""
        return self.label.name

    @property
    def smallest_change(self) -> tuple[Change, ...]:
        """The changes after which a rule fires; empty if one does already, or if there is none."""
        return self.closest[0].changes if self.closest else ()

    @property
    def reason(self) -> str:
        """Why, in one line."""
        about = "" if self.label.target_class else " for its absence"
        if self.fired:
            n_fired = len(self.fired)
            text = f"{n_fired} rule{'s fire' if n_fired > 1 else ' fires'}{about}"
            is_outvoted = self.predicted != self.label.target_class
            return text + (", but another class is better supported" if is_outvoted else "")
        n_right = self.label.uncovered_negatives
        n_silent = self.label.uncovered_positives + n_right
        return (
            f"no rule{about} fires, which was right for {n_right} of {n_silent} training examples"
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.name}: {'yes' if self.predicted else 'no'}, {self.reason}"
        for scored in self.fired:
            yield f"  ✓ {format_body(scored.rule.body) or 'always'}  ({_evidence(scored)})"
        for near in self.closest:
            yield f"  ✗ {format_body(near.scored.rule.body)}  ({_evidence(near.scored)})"
            for failing in near.failing:
                yield f"      {failing}"
            yield f"      → {', '.join(map(str, near.changes))}"


def _evidence(scored: ScoredRule) -> str:
    return f"TP {scored.tp}, FP {scored.fp}, precision {scored.precision:.2f}"


@dataclass(frozen=True)
class Explanation:
    """Why a theory predicts what it predicts for one example.

    A sequence of `LabelExplanation`, one a label; an item can also be had by the label's name.

    Parameters
    ----------
    labels : tuple of LabelExplanation
    predicted : tuple of str, or a class
        The names of the labels that are predicted as present; for a theory of classes the class.
    row : hashable
        The example's index label or position.

    Examples
    --------
    >>> from steelyard import MEstimate, RuleSetClassifier, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = RuleSetClassifier(MEstimate(m=8), n_candidates=500, random_state=0)
    >>> explanation = clf.fit(data.X, data.Y).explain(data.X.iloc[0])
    >>> [label.name for label in explanation] == data.label_names
    True
    >>> list(explanation.to_frame().columns)
    ['label', 'predicted', 'fired', 'rule', 'tp', 'fp', 'precision', 'failing', 'change']
    """

    labels: tuple[LabelExplanation, ...]
    predicted: Any
    row: Hashable = 0

    def __iter__(self) -> Iterator[LabelExplanation]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, label: str | int) -> LabelExplanation:
        if isinstance(label, int):
            return self.labels[label]
        for explained in self.labels:
            if explained.name == label:
                return explained
        raise KeyError(label)

    def __str__(self) -> str:
        what = self.predicted
        if isinstance(what, tuple):
            what = ", ".join(what) or "no label"
        return "\n\n".join([f"predicted: {what}", *map(str, self.labels)])

    def __repr__(self) -> str:
        return f"<Explanation: {self.predicted!r} predicted, {len(self.labels)} labels>"

    def to_frame(self) -> pd.DataFrame:
        """One row a rule that fired or is among the closest, and one for a label without rules."""
        return pd.DataFrame(list(self._records()), columns=_COLUMNS)

    def _records(self) -> Iterator[tuple[Any, ...]]:
        for label in self.labels:
            about = (label.name, label.predicted)
            for scored in label.fired:
                yield (*about, True, *_rule_record(scored), "", "")
            for near in label.closest:
                failing = "; ".join(str(failing.condition) for failing in near.failing)
                change = "; ".join(map(str, near.changes))
                yield (*about, False, *_rule_record(near.scored), failing, change)
            if not label.fired and not label.closest:
                yield (*about, False, None, None, None, None, "", "")

    def _repr_html_(self) -> str:
        return explanation_to_html(self)


def _rule_record(scored: ScoredRule) -> tuple[Any, ...]:
    return format_body(scored.rule.body), scored.tp, scored.fp, scored.precision
