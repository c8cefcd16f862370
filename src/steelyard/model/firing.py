"""Firing: rules × columns of a table → packed bits. Each distinct bound of the rules is tested once.

Knows bounds of numbers only; a category is the number of its code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.firing import join_bounds, test_bounds

from .coding import FeatureCoder
from .coverage import Bits, n_words
from .rule_table import RuleTable
from .tables import Column, NominalColumn


class BoundTests(NamedTuple):
    """The distinct bounds of rules, by attribute, and those that each rule has to satisfy.

    Parameters
    ----------
    bounds_indptr : (n_features + 1,) int64
    cuts, is_upper : (n_bounds,)
        number ≥ cut or, if it is an upper bound, number < cut.
    indptr, bound : arrays
        The bounds of each rule, as a CSR.
    """

    bounds_indptr: NDArray[np.int64]
    cuts: NDArray[np.float64]
    is_upper: NDArray[np.uint8]
    indptr: NDArray[np.int64]
    bound: NDArray[np.int32]


def find_bounds(table: RuleTable, coder: FeatureCoder) -> BoundTests:
    """The bounds of the rules of a table.

    A condition has a lower bound, an upper one or both. One that every known number satisfies has the
    lower bound -∞: missing values do not satisfy it.
    """
    n_features = len(coder.features)
    n_codes = np.array([coder.n_codes(f) for f in range(n_features)], dtype=np.int64)
    feature = table.feature.astype(np.int64)
    has_high = table.high < n_codes[feature] if n_features else np.zeros(0, dtype=np.bool_)
    has_low = (table.low > 0) | ~has_high
    condition = np.concatenate((np.flatnonzero(has_low), np.flatnonzero(has_high)))
    is_upper = np.repeat([0, 1], [has_low.sum(), has_high.sum()])
    code = np.concatenate((table.low[has_low], table.high[has_high]))
    # Bounds in the order of the rules; distinct ones in the order of the attributes.
    order = np.argsort(condition, kind="stable")
    keys = np.column_stack((feature[condition], is_upper, code))[order]
    distinct, bound = np.unique(keys, axis=0, return_inverse=True)
    n_of_condition = has_low.astype(np.int64) + has_high
    indptr = np.concatenate(([0], np.cumsum(n_of_condition)))[table.indptr]
    cuts = [_code_to_cut(coder, *key) for key in distinct[:, [0, 2]].tolist()]
    return BoundTests(
        np.searchsorted(distinct[:, 0], np.arange(n_features + 1)).astype(np.int64),
        np.array(cuts, dtype=np.float64),
        distinct[:, 1].astype(np.uint8),
        indptr.astype(np.int64),
        bound.ravel().astype(np.int32),
    )


def _code_to_cut(coder: FeatureCoder, f: int, code: int) -> float:
    """The least number with this code or a higher one."""
    if code == 0:
        return -np.inf
    return code if coder.features[f].is_nominal else float(coder.cuts[f][code - 1])


def fire(tests: BoundTests, coder: FeatureCoder, columns: Sequence[Column], n_rows: int) -> Bits:
    """Bits of the rows for which each rule fires, shape (n_rules, n_words)."""
    words = n_words(n_rows)
    every = np.full(words, ~np.uint64(0))
    if n_rows % 64:
        every[-1] = (1 << n_rows % 64) - 1
    numbers = [
        _column_to_numbers(column, feature.categories or ())
        for column, feature in zip(columns, coder.features, strict=True)
    ]
    bounds, bodies = tests[:3], tests[3:]
    satisfied = np.empty((len(tests.cuts), words), dtype=np.uint64)
    test_bounds(numbers, *bounds, every, n_rows, satisfied)
    bits = np.empty((len(tests.indptr) - 1, words), dtype=np.uint64)
    join_bounds(*bodies, satisfied, every, bits)
    return bits


def _column_to_numbers(
    column: Column, categories: tuple[str, ...]
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    if isinstance(column, NominalColumn):
        codes = column.recode(categories)
        return np.where(codes < 0, np.nan, codes), None
    rows = None if column.rows is None else np.ascontiguousarray(column.rows, dtype=np.int64)
    return np.ascontiguousarray(column.values), rows
