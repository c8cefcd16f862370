"""Comparing: two theories → the rules that they share, and where their predictions differ."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from steelyard._text import format_count, list_names

from .conditions import format_body
from .log_odds import POINTS_PER_LOG_ODD
from .rules import Rule, ScoredRule
from .tables import as_table
from .theory import Theory

# A notebook or a terminal is no place for thousands of rules.
_MOST_SHOWN = 100
_LEFT = "text-align:left"


@dataclass(frozen=True)
class SimilarRules:
    """A rule of each theory with the same head and attributes and with overlapping coverage.

    `overlap` is the number of examples that both cover over the number that any of them covers; NaN if
    no examples were given.
    """

    first: Rule
    second: Rule
    overlap: float


@dataclass(frozen=True)
class LabelDifference:
    """How many examples get a label from one theory only."""

    label: str
    only_first: int
    only_second: int

    @property
    def n_rows(self) -> int:
        """The number of examples for which the predictions of the label differ."""
        return self.only_first + self.only_second


@dataclass(frozen=True)
class Comparison:
    """What two theories have in common and where they differ.

    Parameters
    ----------
    same : tuple of Rule
        Rules of both theories.
    only_first, only_second : tuple of Rule
        Rules of one theory without a similar one in the other.
    similar : tuple of SimilarRules
    votes : tuple of (Rule, float, float)
        Rules of both theories that vote with different weights.
    labels_first, labels_second : tuple of str
        Labels that only one of them predicts.
    n_rows : int, optional
        Number of examples whose predictions were compared; None if no examples were given.
    differences : tuple of LabelDifference
        Per common label, where the predictions differ.
    rows : tuple of hashable
        Index labels or positions of the examples whose predictions differ.

    Examples
    --------
    >>> from steelyard import Rule, ScoredRule, Theory
    >>> from steelyard import Evidence, Feature, Label
    >>> theory = Theory(
    ...     (Feature("fever"),),
    ...     (Label("flu", 1, 10, 30, 1, 28),),
    ...     (ScoredRule(Rule.parse("flu ← fever ≥ 38.5"), Evidence(9, 2), 0.8),),
    ... )
    >>> print(theory.compare(theory.replace(0, "flu ← fever ≥ 38"), [[37.0], [38.2], [39.0]]))
    0 rules in both, 1 similar, 0 only in the first, 0 only in the second
    predictions differ for 1 of 3 examples
      flu: 1 example, 0 only by the first, 1 only by the second
    − flu ← fever ≥ 38.5  (similar)
    + flu ← fever ≥ 38  (overlap 0.50)
    """

    same: tuple[Rule, ...]
    only_first: tuple[Rule, ...]
    only_second: tuple[Rule, ...]
    similar: tuple[SimilarRules, ...]
    votes: tuple[tuple[Rule, float, float], ...] = ()
    labels_first: tuple[str, ...] = ()
    labels_second: tuple[str, ...] = ()
    n_rows: int | None = None
    differences: tuple[LabelDifference, ...] = ()
    rows: tuple[Hashable, ...] = ()

    @property
    def summary(self) -> list[str]:
        """The comparison in a few lines."""
        lines = [
            f"{format_count(len(self.same), 'rule')} in both, {len(self.similar)} similar, "
            f"{len(self.only_first)} only in the first, {len(self.only_second)} only in the second"
        ]
        for which, names in (("first", self.labels_first), ("second", self.labels_second)):
            if names:
                lines.append(f"labels only in the {which}: {list_names(names)}")
        if self.n_rows is not None:
            lines.append(
                f"predictions differ for {len(self.rows)} of {format_count(self.n_rows, 'example')}"
            )
        return lines

    def _difference_lines(self) -> Iterator[str]:
        for found in self.differences:
            if found.n_rows:
                yield (
                    f"{found.label}: {format_count(found.n_rows, 'example')}, {found.only_first} only "
                    f"by the first, {found.only_second} only by the second"
                )

    def _changes(self) -> Iterator[tuple[str, str, str]]:
        """Sign, rule and remark of what differs."""
        for pair in self.similar:
            remark = "" if math.isnan(pair.overlap) else f"overlap {pair.overlap:.2f}"
            yield "−", pair.first.describe(), "similar"
            yield "+", pair.second.describe(), remark
        for rule, first, second in self.votes:
            yield "=", rule.describe(), f"weight {first:+.2f} → {second:+.2f}"
        for rule in self.only_first:
            yield "−", rule.describe(), ""
        for rule in self.only_second:
            yield "+", rule.describe(), ""

    def __str__(self) -> str:
        lines = [*self.summary, *(f"  {line}" for line in self._difference_lines())]
        changes = list(self._changes())
        for sign, rule, remark in changes[:_MOST_SHOWN]:
            lines.append(f"{sign} {rule}{f'  ({remark})' if remark else ''}")
        if len(changes) > _MOST_SHOWN:
            lines.append(f"… and {len(changes) - _MOST_SHOWN} more; see to_frame()")
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """One row per rule, or per pair of similar ones: status, label, rule, other, overlap.

        The status is "both", "similar", "first" or "second"; `other` is the similar rule of the second
        theory.
        """
        rows = [("both", rule, None, 1.0) for rule in self.same]
        rows += [("similar", pair.first, pair.second, pair.overlap) for pair in self.similar]  # type: ignore[misc]
        rows += [("first", rule, None, math.nan) for rule in self.only_first]
        rows += [("second", rule, None, math.nan) for rule in self.only_second]
        return pd.DataFrame(
            [
                (
                    status,
                    rule.head.label,
                    rule.head.target_class,
                    format_body(rule.body),
                    "" if other is None else format_body(other.body),
                    overlap,
                )
                for status, rule, other, overlap in rows
            ],
            columns=["status", "label", "target_class", "rule", "other", "overlap"],
        )

    def _repr_html_(self) -> str:
        lines = [*self.summary, *self._difference_lines()]
        caption = "<br>".join(map(escape, lines))
        rows = [
            f'<tr><td>{sign}</td><td style="{_LEFT};white-space:normal">{escape(rule)}</td>'
            f'<td style="{_LEFT}">{escape(remark)}</td></tr>'
            for sign, rule, remark in self._changes()
        ]
        left_out = len(rows) - _MOST_SHOWN
        note = f"<p>… and {left_out} more; see to_frame().</p>" if left_out > 0 else ""
        return (
            f'<table class="steelyard-comparison"><caption style="{_LEFT}">{caption}</caption>'
            f"<tbody>{''.join(rows[:_MOST_SHOWN])}</tbody></table>{note}"
        )


def compare_theories(first: Theory, second: Theory, X: Any = None) -> Comparison:
    """See `Theory.compare`."""
    if not isinstance(second, Theory):
        raise ValueError(f"a theory can be compared with a theory, not with {second!r}")
    table = None if X is None else as_table(X)
    known = {scored.rule for scored in first}, {scored.rule for scored in second}
    alone = [
        [i for i, scored in enumerate(theory) if scored.rule not in others]
        for theory, others in ((first, known[1]), (second, known[0]))
    ]
    similar = _find_similar(first, second, alone, table)
    taken = {i for i, _, _ in similar}, {k for _, k, _ in similar}
    only_first, only_second = (
        tuple(theory.rules[i].rule for i in own if i not in used)
        for theory, own, used in zip((first, second), alone, taken, strict=True)
    )
    names = first.label_names, second.label_names
    return Comparison(
        same=tuple(scored.rule for scored in first if scored.rule in known[1]),
        only_first=only_first,
        only_second=only_second,
        similar=tuple(
            SimilarRules(first.rules[i].rule, second.rules[k].rule, o) for i, k, o in similar
        ),
        votes=_compare_votes(first, second),
        labels_first=tuple(name for name in names[0] if name not in names[1]),
        labels_second=tuple(name for name in names[1] if name not in names[0]),
        **({} if table is None else _compare_predictions(first, second, table)),
    )


def _compare_votes(first: Theory, second: Theory) -> tuple[tuple[Rule, float, float], ...]:
    """Rules of both theories with other weights; those of a rule that occurs twice are added up."""
    votes: list[dict[Rule, int]] = [{}, {}]
    for theory, of_rule in zip((first, second), votes, strict=True):
        for scored in theory:
            of_rule[scored.rule] = of_rule.get(scored.rule, 0) + scored.vote
    return tuple(
        (rule, vote / POINTS_PER_LOG_ODD, votes[1][rule] / POINTS_PER_LOG_ODD)
        for rule, vote in votes[0].items()
        if vote != votes[1].get(rule, vote)
    )


def _find_similar(
    first: Theory, second: Theory, alone: Sequence[Sequence[int]], table: Any
) -> list[tuple[int, int, float]]:
    """Pairs of rules with the same head and attributes, the greatest overlap first, each rule once."""
    covers = None if table is None else (first.covers(table), second.covers(table))
    by_key: dict[Any, list[int]] = {}
    for k in alone[1]:
        by_key.setdefault(_key(second.rules[k]), []).append(k)
    pairs = []
    for i in alone[0]:
        for k in by_key.get(_key(first.rules[i]), ()):
            if covers is None:
                meets = _can_meet(first.rules[i].rule, second.rules[k].rule)
                overlap, rank = math.nan, float(meets)
            else:
                mine, other = covers[0][:, i], covers[1][:, k]
                overlap = rank = float((mine & other).sum() / max((mine | other).sum(), 1))
            if rank > 0:
                pairs.append((-rank, i, k, overlap))
    found: list[tuple[int, int, float]] = []
    for _, i, k, overlap in sorted(pairs):
        if all(i != other[0] and k != other[1] for other in found):
            found.append((i, k, overlap))
    return found


def _key(scored: ScoredRule) -> tuple[Any, ...]:
    return scored.head, frozenset(condition.feature for condition in scored.body)


def _can_meet(rule: Rule, other: Rule) -> bool:
    """Whether an example could satisfy both rules, which test the same attributes."""
    both = Rule(rule.head, (*rule.body, *other.body))
    return not any(condition.is_empty for condition in both.body)


def _compare_predictions(first: Theory, second: Theory, table: Any) -> dict[str, Any]:
    common = [name for name in first.label_names if name in second.label_names]
    predicted = []
    for theory in (first, second):
        position = [theory.label_names.index(name) for name in common]
        predicted.append(theory._by_block(table, theory._predict_block)[:, position])
    only_first, only_second = predicted[0] & ~predicted[1], predicted[1] & ~predicted[0]
    counts = zip(common, only_first.sum(axis=0), only_second.sum(axis=0), strict=True)
    rows = np.flatnonzero((only_first | only_second).any(axis=1)).tolist()
    index = table.index if isinstance(table, pd.DataFrame) else range(len(only_first))
    return {
        "n_rows": len(only_first),
        "differences": tuple(LabelDifference(name, int(a), int(b)) for name, a, b in counts),
        "rows": tuple(index[row] for row in rows),
    }
