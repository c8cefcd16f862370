"""Coded rules: rules on codes of just the attributes that they test, ready to run on any table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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

# Rules with more distinct bounds per attribute than this are tested on sorted codes: the time of sorting
# an attribute does not depend on how many bounds it has. Predicting 20,000 rows of 20 attributes took
# 9 ms with 52 bounds each (sorted 14) and 18 with 121 (sorted 19); of 5 attributes, 2.3 ms with 41
# (sorted 4.0) and 9.9 with 140 (sorted 4.7). So the two are equal somewhere between 50 and 120.
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
        Codes of the used attributes and, after them, of the same attributes with their categories in
        another order: a set of categories that is no range of codes is one there.
    table : RuleTable
        The rules; its features are those of the coder.
    sources : (n_coded,) int
        Position among the used attributes of each attribute of the coder.
    """

    features: tuple[Feature, ...]
    used_idx: NDArray[np.intp]
    coder: FeatureCoder
    table: RuleTable
    sources: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.table)

    @property
    def used_features(self) -> tuple[Feature, ...]:
        """The attributes that the rules test."""
        return self.coder.features[: len(self.used_idx)]

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
        own = [columns[source] for source in self.sources]
        if len(self._bounds.cuts) <= _MOST_BOUNDS * max(1, len(own)):
            return fire(self._bounds, self.coder, own, n_rows)
        return cover(self.table, index_rows(self.coder.encode_columns(own, n_rows)))

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
        """Conditions of each rule as people count them."""
        n_codes = [self.coder.n_codes(f) for f in range(len(self.sources))]
        is_nominal = [feature.is_nominal for feature in self.coder.features]
        return self.table.count_conditions(
            np.array(n_codes, dtype=np.int32), np.array(is_nominal, dtype=np.bool_)
        )

    def body(self, rule: int) -> tuple[Condition, ...]:
        """The conditions of one rule with names and values."""
        return self.table.body(rule, self.coder)

    def bodies(self, rules: Iterable[int]) -> Iterator[tuple[Condition, ...]]:
        """The conditions of some rules; where they are equal, rules have the same object.

        A body that votes for several labels is then made, and later coded, once.
        """
        known: dict[bytes, tuple[Condition, ...]] = {}
        for rule in rules:
            key = self.table.ranges(rule).tobytes()
            if key not in known:
                known[key] = self.body(rule)
            yield known[key]


def drop_unused(table: RuleTable, coder: FeatureCoder) -> CodedRules:
    """Coded rules without the attributes that none of them tests."""
    used_idx, feature = np.unique(table.feature, return_inverse=True)
    used = FeatureCoder(
        tuple(coder.features[f] for f in used_idx), tuple(coder.cuts[f] for f in used_idx)
    )
    reduced = RuleTable(table.indptr, feature.astype(np.int32), table.low, table.high)
    sources = np.arange(len(used_idx))
    return CodedRules(coder.features, used_idx.astype(np.intp), used, reduced, sources)


def code_rules(features: tuple[Feature, ...], bodies: Sequence[Sequence[Condition]]) -> CodedRules:
    """Code rules that are given as conditions with names and values, one per attribute."""
    position = {feature.name: i for i, feature in enumerate(features)}
    # A body that votes for several labels is one object, as a rule.
    distinct = {id(body): body for body in bodies}
    cuts: dict[int, set[float]] = {}
    for condition in itertools.chain.from_iterable(distinct.values()):
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
    orders = _CategoryOrders(coder)
    found = {
        key: [orders.find_range(c, slot[c.feature]) for c in body] for key, body in distinct.items()
    }
    table = RuleTable.from_ranges([found[id(body)] for body in bodies])
    return CodedRules(features, used_idx, orders.coder, table, np.array(orders.sources, np.intp))


class _CategoryOrders:
    """The orders of the categories of attributes in which sets of categories are ranges of codes."""

    def __init__(self, coder: FeatureCoder) -> None:
        self.coder = coder
        self.sources = list(range(len(coder.features)))
        self._known: dict[tuple[int, tuple[str, ...]], tuple[int, int, int]] = {}

    def find_range(self, condition: Condition, f: int) -> tuple[int, int, int]:
        """The attribute of the coder and the range of its codes that a condition allows."""
        if condition.categories is None:
            cuts, low, high = self.coder.cuts[f], 0, self.coder.n_codes(f)
            if condition.low > -math.inf:
                low = int(np.searchsorted(cuts, condition.low)) + 1
            if condition.cut < math.inf:
                high = int(np.searchsorted(cuts, condition.cut)) + 1
            return f, low, max(low, high)
        key = (f, condition.categories)
        if key not in self._known:
            self._known[key] = self._find_set(condition.categories, f)
        return self._known[key]

    def _find_set(self, categories: Sequence[str], f: int) -> tuple[int, int, int]:
        known = self.coder.features[f].categories or ()
        wanted = [text for text in known if text in categories]
        if not wanted:
            return f, len(known), len(known)  # the empty range: no value satisfies it
        for place in (place for place, source in enumerate(self.sources) if source == f):
            order = self.coder.features[place].categories or ()
            codes = [order.index(text) for text in wanted]
            if max(codes) - min(codes) < len(codes):
                return place, min(codes), max(codes) + 1
        rest = [text for text in known if text not in categories]
        feature = replace(self.coder.features[f], categories=(*wanted, *rest))
        self.coder = FeatureCoder(
            (*self.coder.features, feature), (*self.coder.cuts, self.coder.cuts[f])
        )
        self.sources.append(f)
        return len(self.sources) - 1, 0, len(wanted)
