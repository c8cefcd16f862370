"""Rule tables: many rule bodies as arrays of code ranges, the form in which kernels see rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .coding import FeatureCoder
from .conditions import Condition


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

    @classmethod
    def from_ranges(cls, bodies: Sequence[Sequence[Sequence[int]]]) -> RuleTable:
        """A table of bodies, each a list of (feature, low, high)."""
        ranges = [r for body in bodies for r in body]
        flat = np.array(ranges, dtype=np.int32).reshape(-1, 3)
        indptr = np.concatenate(([0], np.cumsum([len(body) for body in bodies]))).astype(np.int64)
        return cls(indptr, *np.ascontiguousarray(flat.T))

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

    def drop_conditions(self, is_dropped: NDArray[np.bool_]) -> RuleTable:
        """The same rules without some of their conditions; bodies may become empty."""
        n_kept = np.concatenate(([0], np.cumsum(~is_dropped)))
        columns = (self.feature, self.low, self.high)
        return RuleTable(n_kept[self.indptr], *(column[~is_dropped] for column in columns))

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
        """Conditions of each rule as people count them: an interval with two bounds is two."""
        ends = (self.low > 0).astype(np.int64) + (self.high < n_codes[self.feature])
        ends[is_nominal[self.feature]] = 1
        total = np.concatenate(([0], np.cumsum(ends)))
        return total[self.indptr[1:]] - total[self.indptr[:-1]]

    def ranges(self, rule_idx: int) -> NDArray[np.int64]:
        """The conditions of one rule as (feature, low, high)."""
        span = slice(self.indptr[rule_idx], self.indptr[rule_idx + 1])
        return np.column_stack((self.feature[span], self.low[span], self.high[span]))

    def list_ranges(self) -> list[tuple[tuple[int, ...], ...]]:
        """The conditions of each rule as (feature, low, high), sorted: equal bodies have equal ones."""
        columns = np.column_stack((self.feature, self.low, self.high)).tolist()
        spans = zip(self.indptr[:-1].tolist(), self.indptr[1:].tolist(), strict=True)
        return [tuple(map(tuple, sorted(columns[begin:end]))) for begin, end in spans]

    def body(self, rule_idx: int, coder: FeatureCoder) -> tuple[Condition, ...]:
        """The conditions of one rule with names and values."""
        return ranges_to_body(self.ranges(rule_idx).tolist(), coder)


def ranges_to_body(ranges: Iterable[Sequence[int]], coder: FeatureCoder) -> tuple[Condition, ...]:
    """Ranges of codes, each (feature, low, high), as conditions with names and values."""
    conditions: list[Condition] = []
    for f, low, high in ranges:
        feature, cuts = coder.features[f], coder.cuts[f]
        if feature.categories is not None:
            condition = Condition(feature.name, "in", feature.categories[low:high])
            conditions.append(condition.read_as(feature.reading))
            continue
        lower = float(cuts[low - 1]) if low > 0 else -math.inf
        upper, includes_upper = math.inf, False
        if high <= len(cuts):
            upper = float(cuts[high - 1])
            # x < cut is x ≤ v if the cut below it is v and no float lies between.
            if high > 1 and math.nextafter(cuts[high - 2], math.inf) == upper:
                upper, includes_upper = float(cuts[high - 2]), True
        if lower > -math.inf or upper < math.inf:
            interval = Condition.interval(
                feature.name, lower, upper, includes_high=includes_upper, kind=feature.kind
            )
            conditions.append(interval)
    return tuple(conditions)
