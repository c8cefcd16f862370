"""RuleProgram: rules on codes of just the attributes they test, ready to run on any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from .coverage import Bits, cover, index_rows
from .features import Feature, FeatureCoder, column_names
from .rules import Condition, RuleTable


@dataclass(frozen=True)
class RuleProgram:
    """Rules with the coder of the attributes that occur in them.

    Parameters
    ----------
    features : tuple of Feature
        All attributes of the training table.
    used_idx : (n_used,) int
        Which of them the rules test.
    coder : FeatureCoder
        Codes of the used attributes.
    table : RuleTable
        The rules; its features count within the used ones.
    """

    features: tuple[Feature, ...]
    used_idx: NDArray[np.intp]
    coder: FeatureCoder
    table: RuleTable

    def select_columns(self, X: Any) -> Any:
        """The used columns of a table: by name in a DataFrame, by position elsewhere."""
        return select_columns(X, self.features, self.used_idx)

    def cover(self, columns: Any) -> Bits:
        """Bits of the rows that each rule covers, given the used columns."""
        return cover(self.table, index_rows(self.coder.encode(columns)))


def reduce_program(table: RuleTable, coder: FeatureCoder) -> RuleProgram:
    """The program of coded rules, without the attributes that none of them tests."""
    used_idx, feature = np.unique(table.feature, return_inverse=True)
    used = FeatureCoder(
        tuple(coder.features[f] for f in used_idx), tuple(coder.cuts[f] for f in used_idx)
    )
    reduced = RuleTable(table.indptr, feature.astype(np.int32), table.low, table.high)
    return RuleProgram(coder.features, used_idx.astype(np.intp), used, reduced)


def compile_rules(
    features: tuple[Feature, ...], bodies: Sequence[Sequence[Condition]]
) -> RuleProgram:
    """The program of rules that are given as conditions with names and values."""
    position = {feature.name: i for i, feature in enumerate(features)}
    cuts: dict[int, set[float]] = {}
    for body in bodies:
        for condition in body:
            used = cuts.setdefault(position[condition.feature], set())
            if not isinstance(condition.value, str):
                # Both ends of what x ≤ v tells apart, so that the bound is still a ≤ when read back.
                used.update({float(condition.value), condition.cut})
    used_idx = np.array(sorted(cuts), dtype=np.intp)
    coder = FeatureCoder(
        tuple(features[f] for f in used_idx),
        tuple(np.array(sorted(cuts[int(f)])) for f in used_idx),
    )
    slot = {features[f].name: i for i, f in enumerate(used_idx)}
    ranges = [_body_to_ranges(body, coder, slot) for body in bodies]
    flat = np.array([r for body in ranges for r in body], dtype=np.int32).reshape(-1, 3)
    indptr = np.concatenate(([0], np.cumsum([len(body) for body in ranges]))).astype(np.int64)
    return RuleProgram(features, used_idx, coder, RuleTable(indptr, *np.ascontiguousarray(flat.T)))


def _body_to_ranges(
    body: Sequence[Condition], coder: FeatureCoder, slot: dict[str, int]
) -> list[tuple[int, int, int]]:
    """Conditions as (feature, low, high) on codes, one range an attribute."""
    ranges: dict[int, tuple[int, int]] = {}
    for condition in body:
        f = slot[condition.feature]
        low, high = ranges.get(f, (0, coder.n_codes(f)))
        if isinstance(condition.value, str):
            categories = coder.features[f].categories or ()
            # An unknown category cannot be met: the empty range.
            code = categories.index(condition.value) if condition.value in categories else high
            low, high = max(low, code), min(high, code + 1)
        else:
            code = int(np.searchsorted(coder.cuts[f], condition.cut)) + 1
            low, high = (
                (max(low, code), high) if condition.operator == "≥" else (low, min(high, code))
            )
        ranges[f] = (low, max(low, high))
    return [(f, low, high) for f, (low, high) in ranges.items()]


def select_columns(X: Any, features: Sequence[Feature], used_idx: NDArray[np.intp]) -> Any:
    """The used columns of a table: by name in a DataFrame, by position elsewhere."""
    if isinstance(X, pd.DataFrame):
        names = [str(name) for name in X.columns]
        wanted = [features[f].name for f in used_idx]
        missing = [name for name in wanted if name not in set(names)]
        if not missing:
            position = {name: i for i, name in reversed(list(enumerate(names)))}
            return X.iloc[:, [position[name] for name in wanted]]
        nameless = [f.name for f in features] == list(column_names(np.empty((0, len(features)))))
        if not nameless:
            raise ValueError(
                "the table lacks the attribute"
                + ("s " if len(missing) > 1 else " ")
                + ", ".join(map(repr, missing[:5]))
                + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            )
        X = X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)
    elif not sparse.issparse(X):
        X = np.asarray(X)
    if len(X.shape) != 2 or X.shape[1] != len(features):
        raise ValueError(
            f"the theory knows {len(features)} attributes, the table has shape {X.shape}"
        )
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, used_idx]
    return (
        sparse.csr_array(sparse.csc_array(X)[:, used_idx]) if sparse.issparse(X) else X[:, used_idx]
    )
