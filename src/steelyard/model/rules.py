"""Rules: a head and the conditions of a body, and rules with the evidence for them.

Knows neither tables nor learners.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._numbers import is_number
from steelyard._text import as_text, format_number

from .conditions import Condition, describe_body, merge_conditions
from .evidence import Evidence, Provenance, check_class
from .features import Feature
from .log_odds import POINTS_PER_LOG_ODD, format_points
from .rule_text import read_rule, write_rule


@dataclass(frozen=True)
class Head:
    """What a rule predicts: a label and whether it is present (1) or absent (0).

    Examples
    --------
    >>> from steelyard import Head
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
    >>> from steelyard import Condition, Head, Rule
    >>> rule = Rule(Head("Cough"), (Condition("cough", "≥", 0.5), Condition("fever", "<", 0.5)))
    >>> print(rule)
    Cough ← cough ≥ 0.5 ∧ fever < 0.5
    >>> Rule.parse("Cough <- cough >= 0.5 and fever < 0.5") == rule
    True
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
        merged = merge_conditions(body)
        # Rules of several labels keep the body that they share, so that it is coded once.
        object.__setattr__(self, "body", merged if len(merged) < len(body) else body)

    def __len__(self) -> int:
        return sum(condition.n_bounds for condition in self.body)

    def __str__(self) -> str:
        return write_rule(self.head.label, self.head.target_class, self.body)

    @classmethod
    def parse(cls, text: str, features: Sequence[Feature] = ()) -> Rule:
        """Read a rule from its text: the inverse of ``str(rule)``, which keeps all digits.

        Names and categories that could be misread stand in double quotes. ASCII forms are ``<-``,
        ``not``, ``and``, ``<=``, ``>=``, ``==``, ``!=`` and ``in {a, b}``.

        Parameters
        ----------
        text : str
        features : sequence of Feature, optional
            Attributes with their categories, which ``!=`` and ``not in`` need. The methods of a
            theory that take the text of a rule use its own.

        Examples
        --------
        >>> print(Rule.parse("not Cough <- 36 <= fever < 37.5 and colour in {red, blue}"))
        ¬Cough ← 36 ≤ fever < 37.5 ∧ colour in {blue, red}
        >>> Rule.parse("Cough ← fever ≥ high")
        Traceback (most recent call last):
        ...
        ValueError: cannot read the rule 'Cough ← fever ≥ high' at character 17: expected a number, ...
        """
        label, target_class, body = read_rule(text, features)
        return cls(Head(label, target_class), tuple(body))

    def describe(self) -> str:
        """The rule for people: words, numbers with six digits, and no quoted name."""
        return f"{self.head} ← {describe_body(self.body)}"

    def covers(self, X: pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows of a DataFrame satisfy all conditions, shape (n_rows,)."""
        covered = np.ones(len(X), dtype=np.bool_)
        for condition in self.body:
            covered &= condition.covers(X)
        return covered

    def read_as(self, kinds: Mapping[str, str | None]) -> Rule:
        """The same rule, whose conditions read as the kinds of their attributes say."""
        body = tuple(c.read_as(kinds.get(c.feature, c.kind)) for c in self.body)
        return self if all(map(operator.is_, body, self.body)) else Rule(self.head, body)


@dataclass(frozen=True)
class ScoredRule:
    """A rule of a theory with the evidence for it.

    Parameters
    ----------
    rule : Rule
    evidence : Evidence, optional
        Counts on the examples that `Theory.evidence_from` names, which are the training examples unless
        the theory was recounted. None for a rule that was edited and not counted since.
    value : float, optional
        Heuristic value on the training examples. For a boosted rule, the loss reduction of its vote.
        None for a rule that was not learned.
    points : int, optional
        Strength of a rule that votes, for its head, in hundredths of log-odds. None for a rule that
        decides.
    held_out : Evidence, optional
        Counts on examples that did not take part in learning the rule; for a rule set, of the rule that
        is selected in its place without these examples. See "Unseen examples" in docs/methods.md.
    provenance : Provenance, default=Provenance()
        Who made the rule: learned, edited or given.
    confidence : float, optional
        The smoothed precision with which a rule that decides scores its label, if it is not that of its
        evidence. So new evidence does not change what a theory predicts. Of a calibrated rule it is
        2p - 1 for the probability p.

    Examples
    --------
    >>> from steelyard import Condition, Evidence, Head, Rule, ScoredRule
    >>> print(ScoredRule(Rule(Head("flu"), (Condition("fever", "≥", 38.5),)), Evidence(9, 2), 0.8))
    flu ← fever ≥ 38.5  (TP 9, FP 2, value 0.8)
    """

    rule: Rule
    evidence: Evidence | None
    value: float | None
    points: int | None = None
    held_out: Evidence | None = None
    provenance: Provenance = Provenance()  # noqa: RUF009, provenances are immutable
    confidence: float | None = None

    def __post_init__(self) -> None:
        self._check_type("rule", Rule)
        self._check_type("provenance", Provenance)
        for name in ("evidence", "held_out"):
            if getattr(self, name) is not None:
                self._check_type(name, Evidence)
        if not is_number(self.value) and not (
            self.value is None and not self.provenance.is_learned
        ):
            raise ValueError(
                f"the value of {str(self.rule)!r} must be a number, got {self.value!r}"
            )
        if self.confidence is not None and not (
            is_number(self.confidence) and 0 <= self.confidence <= 1
        ):
            raise ValueError(
                f"the confidence of {str(self.rule)!r} must be a number from 0 to 1, "
                f"got {self.confidence!r}"
            )

    def _check_type(self, name: str, kind: type) -> None:
        value: Any = getattr(self, name)
        if not isinstance(value, kind):
            raise ValueError(
                f"{name} of a ScoredRule must be of type {kind.__name__}, got {value!r}"
            )

    def read_as(self, kinds: Mapping[str, str | None]) -> ScoredRule:
        """The same rule, whose conditions read as the kinds of their attributes say."""
        rule = self.rule.read_as(kinds)
        return self if rule is self.rule else replace(self, rule=rule)

    @property
    def head(self) -> Head:
        """What the rule predicts."""
        return self.rule.head

    @property
    def body(self) -> tuple[Condition, ...]:
        """The conditions of the rule."""
        return self.rule.body

    @property
    def is_counted(self) -> bool:
        """Whether there is evidence for it."""
        return self.evidence is not None

    @property
    def tp(self) -> int:
        """True positives of the evidence; 0 without evidence."""
        return 0 if self.evidence is None else self.evidence.tp

    @property
    def fp(self) -> int:
        """False positives of the evidence; 0 without evidence."""
        return 0 if self.evidence is None else self.evidence.fp

    @property
    def precision(self) -> float:
        """TP/(TP + FP), 0 if the rule covers nothing or has no evidence."""
        return 0.0 if self.evidence is None else self.evidence.precision

    @property
    def smoothed_precision(self) -> float:
        """The confidence or, without one, (TP + 1)/(TP + FP + 2); ½ without evidence."""
        if self.confidence is not None:
            return self.confidence
        return Evidence(self.tp, self.fp).smoothed_precision

    @property
    def vote(self) -> int:
        """Points for the presence of the label; negative if the rule predicts its absence."""
        return (self.points or 0) * (1 if self.head.target_class else -1)

    @property
    def size_of_vote(self) -> int:
        """Points for or against the label; 1 for a rule that decides."""
        return 1 if self.points is None else abs(self.points)

    @property
    def weight(self) -> float:
        """The vote as log-odds; 0 for a rule that decides."""
        return self.vote / POINTS_PER_LOG_ODD

    @property
    def counts(self) -> str:
        """The evidence in words, as in "TP 9, FP 2"."""
        return f"TP {self.tp}, FP {self.fp}" if self.is_counted else "not counted"

    def __len__(self) -> int:
        return len(self.rule)

    def __str__(self) -> str:
        weight = "" if self.points is None else f"weight {format_points(self.vote)}"
        value = "" if self.value is None else f"value {format_number(self.value)}"
        unseen = "" if self.held_out is None else f"unseen: {self.held_out.describe()}"
        parts = [self.counts, unseen, value, weight, self.provenance.describe()]
        return f"{self.rule.describe()}  ({', '.join(filter(None, parts))})"
