"""Rules: a head and the conditions of a body, and rules with the evidence for them.

Knows neither tables nor learners.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._numbers import is_number
from steelyard._text import as_text, format_number

from .conditions import Condition, format_body, merge_conditions
from .evidence import Evidence, check_class
from .log_odds import POINTS_PER_LOG_ODD, format_points


@dataclass(frozen=True)
class Head:
    """What a rule predicts: a label and whether it is present (1) or absent (0).

    Examples
    --------
    >>> print(Head("Cough"), Head("Cough", target_class=0))
    Cough ¬Cough
    """

    label: str
    target_class: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", as_text(self.label, "the label of a rule"))
        check_class(self.target_class, "a rule")

    def __str__(self) -> str:
        return self.label if self.target_class else f"¬{self.label}"


@dataclass(frozen=True)
class Rule:
    """head ← body: predicts the head for every example that satisfies all conditions.

    Conditions on the same attribute are merged when the rule is made. The length of a rule is the
    number of its conditions as people count them: an interval with two bounds counts as two.

    Examples
    --------
    >>> rule = Rule(Head("Cough"), (Condition("cough", "≥", 0.5), Condition("fever", "<", 0.5)))
    >>> print(rule)
    Cough ← cough ≥ 0.5 ∧ fever < 0.5
    """

    head: Head
    body: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.head, Head):
            raise ValueError(f"the head of a rule must be a Head, got {self.head!r}")
        body = (self.body,) if isinstance(self.body, Condition) else tuple(self.body)
        for condition in body:
            if not isinstance(condition, Condition):
                raise ValueError(
                    f"the body of a rule must consist of Conditions, got {condition!r}"
                )
        object.__setattr__(self, "body", merge_conditions(body))

    def __len__(self) -> int:
        return sum(condition.n_bounds for condition in self.body)

    def __str__(self) -> str:
        return f"{self.head} ← {format_body(self.body)}"

    def covers(self, X: pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows of a DataFrame satisfy all conditions, shape (n_rows,)."""
        covered = np.ones(len(X), dtype=np.bool_)
        for condition in self.body:
            covered &= condition.covers(X)
        return covered


@dataclass(frozen=True)
class ScoredRule:
    """A rule of a theory with the evidence for it.

    Parameters
    ----------
    rule : Rule
    evidence : Evidence
        Counts on the training examples.
    value : float
        Heuristic value on the training examples. For a boosted rule, the loss reduction of its vote.
    points : int, optional
        Strength of a rule that votes, for its head, in hundredths of log-odds. None for a rule that
        decides.

    Examples
    --------
    >>> print(ScoredRule(Rule(Head("flu"), (Condition("fever", "≥", 38.5),)), Evidence(9, 2), 0.8))
    flu ← fever ≥ 38.5  (TP 9, FP 2, value 0.8)
    """

    rule: Rule
    evidence: Evidence
    value: float
    points: int | None = None

    def __post_init__(self) -> None:
        for name, kind in (("rule", Rule), ("evidence", Evidence)):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(
                    f"{name} of a ScoredRule must be of type {kind.__name__}, "
                    f"got {getattr(self, name)!r}"
                )
        if not is_number(self.value):
            raise ValueError(
                f"the value of {str(self.rule)!r} must be a number, got {self.value!r}"
            )

    def read_as(self, kinds: Mapping[str, str | None]) -> ScoredRule:
        """The same rule, whose conditions read as the kinds of their attributes say."""
        body = tuple(c.read_as(kinds.get(c.feature, c.kind)) for c in self.body)
        if all(map(operator.is_, body, self.body)):
            return self
        return replace(self, rule=Rule(self.head, body))

    @property
    def head(self) -> Head:
        """What the rule predicts."""
        return self.rule.head

    @property
    def body(self) -> tuple[Condition, ...]:
        """The conditions of the rule."""
        return self.rule.body

    @property
    def tp(self) -> int:
        """True positives of the evidence."""
        return self.evidence.tp

    @property
    def fp(self) -> int:
        """False positives of the evidence."""
        return self.evidence.fp

    @property
    def precision(self) -> float:
        """TP/(TP + FP), 0 if the rule covers nothing."""
        return self.evidence.precision

    @property
    def vote(self) -> int:
        """Points for the presence of the label; negative if the rule predicts its absence."""
        return (self.points or 0) * (1 if self.head.target_class else -1)

    @property
    def weight(self) -> float:
        """The vote as log-odds; 0 for a rule that decides."""
        return self.vote / POINTS_PER_LOG_ODD

    def __len__(self) -> int:
        return len(self.rule)

    def __str__(self) -> str:
        weight = "" if self.points is None else f", weight {format_points(self.vote)}"
        value = format_number(self.value)
        return f"{self.rule}  (TP {self.tp}, FP {self.fp}, value {value}{weight})"
