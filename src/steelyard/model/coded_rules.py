"""Coded rules: rules on codes of just the attributes that they test, ready to run on any table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .coding import FeatureCoder
from .conditions import Condition
from .coverage import Bits, cover, index_rows
from .features import Feature
from .firing import BoundTests, find_bounds, fire
from .rule_table import RuleTable
from .tables import Column, select_columns, table_to_columns

# Rows per block: a column of codes then fits the second cache, and the coverage bits of 1,000 rules take
# 2 MB whatever the size of the table.
_BLOCK_ROWS = 16_384

# Rules with more distinct bounds per attribute than this take less time on sorted codes: sorting an
# attribute takes about as long as testing it so often.
_MOST_BOUNDS = 64


@dataclass(frozen=True)
class CodedRules:
    """Rules with the coder of the attributes that occur in them.

    Parameters
    ----------
    features : tuple of Feature
        All attributes of the training table.
    used_idx : (n_used,) int
        Positions of the attributes that the rules test.
    coder : FeatureCoder
        Codes of the used attributes.
    table : RuleTable
        The rules; its features count within the used ones.
    parts : (n_rules + 1,) int
        A set of categories without an order of its own takes several rows of the table: rule r has the
        rows parts[r] to parts[r + 1]. Nearly always it is one row per rule.
    """

    features: tuple[Feature, ...]
    used_idx: NDArray[np.intp]
    coder: FeatureCoder
    table: RuleTable
    parts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.parts) - 1

    @property
    def used_features(self) -> tuple[Feature, ...]:
        """The attributes that the rules test."""
        return self.coder.features

    @cached_property
    def _bounds(self) -> BoundTests:
        return find_bounds(self.table, self.coder)

    def select_columns(self, X: Any) -> Any:
        """The used columns of a table: by name in a DataFrame, by position elsewhere."""
        return select_columns(X, self.features, self.used_idx)

    def read_columns(self, selected: Any) -> list[Column]:
        """The used columns as numbers and categories."""
        return list(table_to_columns(selected, self.used_features))

    def cover_columns(self, columns: Sequence[Column], n_rows: int) -> Bits:
        """Bits of the rows that each rule covers, shape (n_rules, n_words)."""
        if len(self._bounds.cuts) <= _MOST_BOUNDS * max(1, len(columns)):
            bits = fire(self._bounds, self.coder, columns, n_rows)
        else:
            bits = cover(self.table, index_rows(self.coder.encode_columns(columns, n_rows)))
        if len(bits) == len(self):
            return bits
        return np.bitwise_or.reduceat(bits, self.parts[:-1], axis=0)

    def cover(self, X: Any) -> tuple[Bits, int]:
        """Bits of the rows that each rule covers, and the number of rows."""
        selected = self.select_columns(X)
        n_rows = int(selected.shape[0])
        return self.cover_columns(self.read_columns(selected), n_rows), n_rows

    def cover_blocks(self, X: Any) -> Iterator[tuple[Bits, int]]:
        """The same for one block of rows after the other, at least one."""
        selected = self.select_columns(X)
        rows = selected.iloc if isinstance(selected, pd.DataFrame) else selected
        for start in range(0, max(selected.shape[0], 1), _BLOCK_ROWS):
            block = rows[start : start + _BLOCK_ROWS]
            yield self.cover_columns(self.read_columns(block), block.shape[0]), block.shape[0]

    def count_conditions(self) -> NDArray[np.int64]:
        """Conditions of each rule as people count them; every part of a rule has the same number."""
        n_codes = [self.coder.n_codes(f) for f in range(len(self.used_features))]
        is_nominal = [feature.is_nominal for feature in self.used_features]
        counts = self.table.count_conditions(
            np.array(n_codes, dtype=np.int32), np.array(is_nominal, dtype=np.bool_)
        )
        return counts[self.parts[:-1]]

    def body(self, rule: int) -> tuple[Condition, ...]:
        """The conditions of one rule with names and values."""
        rows = range(self.parts[rule], self.parts[rule + 1])
        bodies = [self.table.body(row, self.coder) for row in rows]
        return tuple(map(_join_parts, zip(*bodies, strict=True)))


def _join_parts(parts: Sequence[Condition]) -> Condition:
    """The condition whose categories are those of all parts."""
    first = parts[0]
    if first.categories is None:
        return first
    categories = [text for part in parts for text in part.categories or ()]
    return Condition(first.feature, "in", categories).read_as(first.kind)


def drop_unused(table: RuleTable, coder: FeatureCoder) -> CodedRules:
    """Coded rules without the attributes that none of them tests."""
    used_idx, feature = np.unique(table.feature, return_inverse=True)
    used = FeatureCoder(
        tuple(coder.features[f] for f in used_idx), tuple(coder.cuts[f] for f in used_idx)
    )
    reduced = RuleTable(table.indptr, feature.astype(np.int32), table.low, table.high)
    parts = np.arange(len(reduced) + 1)
    return CodedRules(coder.features, used_idx.astype(np.intp), used, reduced, parts)


def code_rules(features: tuple[Feature, ...], bodies: Sequence[Sequence[Condition]]) -> CodedRules:
    """Code rules that are given as conditions with names and values, one per attribute."""
    position = {feature.name: i for i, feature in enumerate(features)}
    cuts: dict[int, set[float]] = {}
    for condition in itertools.chain.from_iterable(bodies):
        used = cuts.setdefault(position[condition.feature], set())
        # Both ends of what x ≤ v tells apart, so that the bound is a ≤ again when it is read back.
        bounds = (condition.low, condition.high, condition.cut)
        used.update(bound for bound in bounds if not math.isinf(bound))
    used_idx = np.array(sorted(cuts), dtype=np.intp)
    coder = FeatureCoder(
        tuple(features[f] for f in used_idx),
        tuple(np.array(sorted(cuts[int(f)])) for f in used_idx),
    )
    slot = {features[f].name: i for i, f in enumerate(used_idx)}
    # One row per combination of runs of codes.
    rows = [
        list(itertools.product(*(_condition_to_ranges(c, coder, slot[c.feature]) for c in body)))
        for body in bodies
    ]
    table = RuleTable.from_ranges([row for of_rule in rows for row in of_rule])
    parts = np.cumsum([0, *map(len, rows)])
    return CodedRules(features, used_idx, coder, table, parts)


def _condition_to_ranges(
    condition: Condition, coder: FeatureCoder, f: int
) -> list[tuple[int, int, int]]:
    """The runs of codes that a condition allows, each (feature, low, high)."""
    if condition.categories is None:
        cuts, low, high = coder.cuts[f], 0, coder.n_codes(f)
        if condition.low > -math.inf:
            low = int(np.searchsorted(cuts, condition.low)) + 1
        if condition.cut < math.inf:
            high = int(np.searchsorted(cuts, condition.cut)) + 1
        return [(f, low, max(low, high))]
    categories = coder.features[f].categories or ()
    codes = sorted(categories.index(text) for text in condition.categories if text in categories)
    if not codes:
        return [(f, len(categories), len(categories))]  # the empty range: no value satisfies it
    starts = [code for code in codes if code - 1 not in codes]
    stops = [code + 1 for code in codes if code + 1 not in codes]
    return [(f, start, stop) for start, stop in zip(starts, stops, strict=True)]
