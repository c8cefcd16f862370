"""Drift: which rules of a theory fire or err more often on new examples than they did before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from steelyard._text import format_count

from .conditions import format_body
from .evidence import Evidence
from .recounting import read_labels, tally_rules
from .rules import Rule, ScoredRule
from .significance import adjust_holm, compare_shares
from .theory import Theory

# The level of a test over all rules together.
_LEVEL = 0.05


@dataclass(frozen=True)
class RuleDrift:
    """How often a rule fires and is right, before and now.

    Parameters
    ----------
    rule : Rule
    before_share, share : float
        Shares of the examples for which it fires; NaN if it was not counted before.
    p_fires : float
        p-value of Fisher's exact test that both are equal, adjusted after Holm.
    before_precision, precision : float
        NaN without labels, or if the rule does not fire.
    p_falls : float
        p-value of the one-sided test that the precision did not fall, adjusted after Holm.
    before : str
        What the precision before was counted on: "unseen", "training", "recount" or "before the edit".
    """

    rule: Rule
    before_share: float
    share: float
    p_fires: float
    before_precision: float
    precision: float
    p_falls: float
    before: str

    @property
    def fires(self) -> str:
        """Whether it fires "more" or "less" often; empty if the test does not tell."""
        if not self.p_fires < _LEVEL:
            return ""
        return "more" if self.share > self.before_share else "less"

    @property
    def falls(self) -> bool:
        """Whether it is right less often."""
        return self.p_falls < _LEVEL

    def describe(self) -> str:
        """What changed, in words; empty if nothing did."""
        parts = []
        if self.fires:
            parts.append(
                f"fires {self.fires} often: {self.before_share:.1%} → {self.share:.1%} "
                f"(p = {self.p_fires:.2g})"
            )
        if self.falls:
            parts.append(
                f"precision fell: {self.before_precision:.2f} ({self.before}) → "
                f"{self.precision:.2f} (p = {self.p_falls:.2g})"
            )
        return "; ".join(parts)


@dataclass(frozen=True)
class Drift:
    """What changed between the examples of the evidence and new ones.

    Iterating gives the rules (`RuleDrift`) in the order of the theory.

    Examples
    --------
    >>> from steelyard import Rule, ScoredRule, Theory
    >>> from steelyard import Evidence, Feature, Label
    >>> theory = Theory(
    ...     (Feature("fever"),),
    ...     (Label("flu", 1, 10, 30, 1, 28),),
    ...     (ScoredRule(Rule.parse("flu ← fever ≥ 38.5"), Evidence(9, 2), 0.8),),
    ... )
    >>> print(theory.drift([[39.0]] * 30 + [[37.0]] * 10))
    40 new examples, 1 rule; fire more often than before: 1, less often: 0
      flu ← fever ≥ 38.5
        fires more often: 27.5% → 75.0% (p = 4.2e-05)
    """

    rules: tuple[RuleDrift, ...]
    n_rows: int
    has_labels: bool

    def __iter__(self) -> Iterator[RuleDrift]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def changed(self) -> tuple[RuleDrift, ...]:
        """The rules of which a test says that they changed."""
        return tuple(rule for rule in self.rules if rule.describe())

    @property
    def summary(self) -> str:
        """How many rules changed, in one line."""
        more, less = (sum(rule.fires == how for rule in self.rules) for how in ("more", "less"))
        fell = f", right less often: {sum(r.falls for r in self.rules)}" * self.has_labels
        return (
            f"{format_count(self.n_rows, 'new example')}, {format_count(len(self), 'rule')}; "
            f"fire more often than before: {more}, less often: {less}{fell}"
        )

    def __str__(self) -> str:
        lines = [f"  {rule.rule.describe()}\n    {rule.describe()}" for rule in self.changed]
        return "\n".join([self.summary, *lines])

    def to_frame(self) -> pd.DataFrame:
        """One row per rule: label, target_class, rule, shares, precisions and p-values."""
        numbers = ["before_share", "share", "p_fires", "fires"]
        if self.has_labels:
            numbers += ["before", "before_precision", "precision", "p_falls", "falls"]
        heads = [rule.rule.head for rule in self.rules]
        columns: dict[str, Any] = {
            "label": [head.label for head in heads],
            "target_class": [head.target_class for head in heads],
            "rule": [format_body(rule.rule.body) for rule in self.rules],
        }
        columns |= {name: [getattr(rule, name) for rule in self.rules] for name in numbers}
        return pd.DataFrame(columns)

    def _repr_html_(self) -> str:
        left = "text-align:left"
        rows = [
            f'<tr><td style="{left}">{escape(rule.rule.describe())}</td>'
            f'<td style="{left}">{escape(rule.describe())}</td></tr>'
            for rule in self.changed
        ]
        return (
            f'<table class="steelyard-drift"><caption style="{left}">{escape(self.summary)}</caption>'
            f"<tbody>{''.join(rows)}</tbody></table>"
        )


def find_drift(theory: Theory, X: Any, Y: Any = None) -> Drift:
    """See `Theory.drift`."""
    n_before = {label.name: label.n_examples for label in theory.labels}
    if Y is None:
        covers = theory.covers(X)
        n_rows, covered = len(covers), covers.sum(axis=0)
        tp = np.zeros(len(theory), dtype=np.int64)
    else:
        truth = read_labels(theory, Y)
        tally, _ = tally_rules(theory, X, truth)
        n_rows, covered, tp = len(truth), tally.tp + tally.fp, tally.tp
    if not n_rows:
        raise ValueError("X has no rows")
    rules = list(zip(theory, covered.tolist(), tp.tolist(), strict=True))
    p_fires = adjust_holm([_test_share(s, n, n_rows, n_before[s.head.label]) for s, n, _ in rules])
    p_falls = adjust_holm(
        [math.nan if Y is None else _test_precision(s, right, n) for s, n, right in rules]
    )
    found = []
    for (scored, n, right), p_fire, p_fall in zip(rules, p_fires, p_falls, strict=True):
        base, name = _precision_before(theory, scored)
        n_base = n_before[scored.head.label]
        is_known = scored.is_counted and n_base
        found.append(
            RuleDrift(
                scored.rule,
                (scored.tp + scored.fp) / n_base if is_known else math.nan,
                n / n_rows,
                float(p_fire),
                base if Y is not None else math.nan,
                right / n if Y is not None and n else math.nan,
                float(p_fall),
                name,
            )
        )
    return Drift(tuple(found), n_rows, Y is not None)


def _test_share(scored: ScoredRule, n_now: int, n_rows: int, n_before: int) -> float:
    if not scored.is_counted:
        return math.nan
    return compare_shares(n_now, n_rows, scored.tp + scored.fp, n_before)


def _evidence_before(scored: ScoredRule) -> Evidence | None:
    """The counts with the lower precision: those on unseen examples are of a similar rule.

    A rule is rarely better on unseen examples than on its own. If it seems so, the counts belong to a
    different rule and are too high to compare with.
    """
    known = [e for e in (scored.held_out, scored.evidence) if e is not None and e.covered]
    return min(known, key=lambda evidence: evidence.precision, default=None)


def _test_precision(scored: ScoredRule, n_right: int, n_now: int) -> float:
    evidence = _evidence_before(scored)
    if evidence is None:
        return math.nan
    return compare_shares(n_right, n_now, evidence.tp, evidence.covered, "less")


def _precision_before(theory: Theory, scored: ScoredRule) -> tuple[float, str]:
    """The precision before, and what it was counted on."""
    evidence = _evidence_before(scored)
    if evidence is None:
        return math.nan, ""
    kind = "before the edit" if theory.evidence_from.kind == "stale" else theory.evidence_from.kind
    return evidence.precision, "unseen" if evidence is scored.held_out else kind
