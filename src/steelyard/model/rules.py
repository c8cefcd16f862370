"""Conditions and rules as people read them, and tables of rules as kernels read them.

Knows no data and no scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .features import FeatureCoder

Operator = Literal["<", "≤", "≥", "="]


def format_number(value: float) -> str:
    """A number as people write it, with at most six digits.

    Examples
    --------
    >>> format_number(0.5), format_number(1234567.0), format_number(-0.123456789)
    ('0.5', '1234567', '-0.123457')
    """
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return f"{value:.6g}"


@dataclass(frozen=True)
class Condition:
    """One test on one attribute; a missing value never satisfies it.

    Parameters
    ----------
    feature : str
    operator : {"<", "≤", "≥", "="}
        Order for numeric attributes, equality for nominal ones.
    value : float or str

    Examples
    --------
    >>> print(Condition("fever", "≥", 38.5))
    fever ≥ 38.5
    >>> print(Condition("colour", "=", "red"))
    colour = red
    """

    feature: str
    operator: Operator
    value: float | str

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else format_number(self.value)
        return f"{self.feature} {self.operator} {value}"

    @property
    def cut(self) -> float:
        """The smallest number on the upper side of a numeric condition's boundary."""
        value = float(self.value)
        return math.nextafter(value, math.inf) if self.operator == "≤" else value


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

    def __str__(self) -> str:
        return self.label if self.target_class else f"¬{self.label}"


@dataclass(frozen=True)
class Rule:
    """head ← body: the head is predicted for every example that satisfies all conditions of the body.

    Examples
    --------
    >>> print(Rule(Head("Cough"), (Condition("cough", "≥", 0.5), Condition("fever", "<", 0.5))))
    Cough ← cough ≥ 0.5 ∧ fever < 0.5
    """

    head: Head
    body: tuple[Condition, ...]

    def __len__(self) -> int:
        return len(self.body)

    def __str__(self) -> str:
        return f"{self.head} ← {format_body(self.body)}"


def format_count(n: int, noun: str) -> str:
    """A number of things, of which one has no s.

    Examples
    --------
    >>> format_count(1, "rule"), format_count(0, "rule")
    ('1 rule', '0 rules')
    """
    return f"{n} {noun}{'s' * (n != 1)}"


def format_body(body: Sequence[Condition]) -> str:
    """Conditions joined by ∧; the two bounds of one attribute are written as an interval.

    Examples
    --------
    >>> format_body([Condition("age", "≥", 18), Condition("sex", "=", "f"), Condition("age", "<", 65)])
    '18 ≤ age < 65 ∧ sex = f'
    """
    lower = {c.feature: c for c in body if c.operator == "≥"}
    upper = {c.feature: c for c in body if c.operator in ("<", "≤")}
    parts: list[str] = []
    for condition in body:
        name = condition.feature
        if condition.operator != "=" and name in lower and name in upper:
            text = f"{format_number(float(lower[name].value))} ≤ {upper[name]}"
            if text not in parts:
                parts.append(text)
        else:
            parts.append(str(condition))
    return " ∧ ".join(parts)


@dataclass(frozen=True)
class RuleTable:
    """Many rule bodies as arrays: a CSR of conditions ``low ≤ code < high`` on a feature.

    Parameters
    ----------
    indptr : (n_rules + 1,) int64
    feature, low, high : (n_conditions,) int32
    """

    indptr: NDArray[np.int64]
    feature: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]

    @classmethod
    def empty(cls) -> RuleTable:
        """A table without rules."""
        none = np.empty(0, dtype=np.int32)
        return cls(np.zeros(1, dtype=np.int64), none, none, none)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def take(self, rule_idx: NDArray[np.intp]) -> RuleTable:
        """The rules at the given indices, in that order."""
        lengths = np.diff(self.indptr)[rule_idx]
        indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        condition_idx = np.arange(indptr[-1]) + np.repeat(
            self.indptr[:-1][rule_idx] - indptr[:-1], lengths
        )
        return RuleTable(
            indptr, self.feature[condition_idx], self.low[condition_idx], self.high[condition_idx]
        )

    def head(self, n_rules: int) -> RuleTable:
        """The first rules."""
        end = self.indptr[n_rules]
        return RuleTable(
            self.indptr[: n_rules + 1], self.feature[:end], self.low[:end], self.high[:end]
        )

    @staticmethod
    def concatenate(tables: Sequence[RuleTable]) -> RuleTable:
        """The rules of all tables, one after the other."""
        if not tables:
            return RuleTable.empty()
        lengths = np.concatenate([np.diff(table.indptr) for table in tables])
        return RuleTable(
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            np.concatenate([table.feature for table in tables]),
            np.concatenate([table.low for table in tables]),
            np.concatenate([table.high for table in tables]),
        )

    def count_conditions(
        self, n_codes: NDArray[np.int32], is_nominal: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Conditions of each rule as people count them: an interval with two ends is two conditions."""
        ends = (self.low > 0).astype(np.int64) + (self.high < n_codes[self.feature])
        ends[is_nominal[self.feature]] = 1
        total = np.concatenate(([0], np.cumsum(ends)))
        return total[self.indptr[1:]] - total[self.indptr[:-1]]

    def body(self, rule_idx: int, coder: FeatureCoder) -> tuple[Condition, ...]:
        """The conditions of one rule with names and values."""
        span = slice(self.indptr[rule_idx], self.indptr[rule_idx + 1])
        columns = (self.feature[span], self.low[span], self.high[span])
        return ranges_to_body(zip(*(column.tolist() for column in columns), strict=True), coder)


def ranges_to_body(ranges: Iterable[Sequence[int]], coder: FeatureCoder) -> tuple[Condition, ...]:
    """Ranges of codes, each a feature with low and high, as conditions with names and values."""
    conditions: list[Condition] = []
    for f, low, high in ranges:
        feature, cuts = coder.features[f], coder.cuts[f]
        if feature.categories is not None:
            conditions.append(Condition(feature.name, "=", feature.categories[low]))
            continue
        if low > 0:
            conditions.append(Condition(feature.name, "≥", float(cuts[low - 1])))
        if high <= len(cuts):
            conditions.append(_upper_bound(feature.name, cuts, high - 1))
    return tuple(conditions)


def _upper_bound(name: str, cuts: NDArray[np.float64], i: int) -> Condition:
    """``< cuts[i]`` or, if the cut below it is the next smaller float, the same as ``≤`` that one."""
    if i > 0 and math.nextafter(cuts[i - 1], math.inf) == cuts[i]:
        return Condition(name, "≤", float(cuts[i - 1]))
    return Condition(name, "<", float(cuts[i]))
