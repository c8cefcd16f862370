"""RuleProgram: rules on codes of just the attributes they test, ready to run on any table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from .coverage import Bits, cover, index_rows
from .features import Feature, FeatureCoder, column_names, shorten_repr
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
        if _is_matched_by_name(names, [f.name for f in features]):
            position = {name: i for i, name in reversed(list(enumerate(names)))}
            wanted = [features[f].name for f in used_idx]
            missing = [name for name in wanted if name not in position]
            if missing:
                raise ValueError(f"the table lacks the {_list_attributes(missing)}")
            return X.iloc[:, [position[name] for name in wanted]]
    elif not sparse.issparse(X):
        X = as_array(X)
    if len(X.shape) != 2 or X.shape[1] != len(features):
        raise ValueError(
            f"the theory knows {len(features)} attributes, the table has shape {X.shape}"
        )
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, used_idx]
    return (
        sparse.csr_array(sparse.csc_array(X)[:, used_idx]) if sparse.issparse(X) else X[:, used_idx]
    )


def _is_matched_by_name(names: Sequence[str], known: Sequence[str]) -> bool:
    """Whether the columns of a DataFrame are found by name; else they are by position."""
    # Attributes with names of their own are found by name, and the table may lack those that no rule
    # tests. x0, x1, ... are what the columns of an array are called, so a table may have others: it
    # is by name if it has all of them or nothing else, by position if it has none of them. With some
    # of them and some of its own it could be either (x1, x2, ... counted from 1), so it is refused,
    # whichever attributes the rules test.
    if list(known) != list(column_names(np.empty((0, len(known))))):
        return True
    own, others = set(known), set(names)
    missing = [name for name in known if name not in others]
    unknown = [name for name in names if name not in own]
    if not missing or not unknown:
        return True
    if len(missing) == len(known):
        return False
    raise ValueError(
        f"the table has other columns, such as {shorten_repr(unknown[0])}, and lacks the "
        f"{_list_attributes(missing)}, so that it is unclear whether its columns are to be taken by "
        "name or by position"
    )


def _list_attributes(names: Sequence[str]) -> str:
    return (
        ("attributes " if len(names) > 1 else "attribute ")
        + ", ".join(map(repr, names[:5]))
        + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    )


def as_array(X: Any) -> NDArray[Any]:
    """An array or a list of rows as an array, or an error that says what it is instead."""
    if not hasattr(X, "__len__") or isinstance(X, str | bytes | Mapping):
        raise TypeError(
            "X must be a table: a DataFrame, an array, a sparse matrix or a list of rows, "
            f"got {shorten_repr(X)}"
        )
    try:
        return np.asarray(X)
    except ValueError:
        raise ValueError("the rows of the table differ in length") from None
