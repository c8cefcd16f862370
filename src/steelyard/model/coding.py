"""Codes: a table as small integers, the form in which kernels see data.

Numeric values become ranks among cut points, categories their positions, missing values -1. Above
this file only people see values again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.coding import (
    code_numbers,
    count_codes,
    list_numbers,
    list_other_rows,
)

from .features import Feature
from .tables import MISSING, Column, NominalColumn, NumericColumn, table_to_columns

# A column whose most frequent code fills all but this share of the rows is kept as a list of the
# other rows: on text (medical, enron) a list is far shorter than a column.
LISTED_SHARE = 1 / 8


class CodedFeatures(NamedTuple):
    """A table as integer codes, the form in which kernels see data.

    A feature is stored in one of two ways. Dense: ``dense[column[f]]`` holds the code of every row.
    Listed (``column[f] == -1``): the rows in ``rows[indptr[f]:indptr[f + 1]]``, ascending, have the
    codes beside them and all other rows have ``default_code[f]``. A missing value is coded -1.
    """

    n_codes: NDArray[np.int32]
    is_nominal: NDArray[np.bool_]
    column: NDArray[np.int32]
    dense: NDArray[np.int32]
    default_code: NDArray[np.int32]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    codes: NDArray[np.int32]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_codes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.dense.shape[1])


@dataclass(frozen=True)
class FeatureCoder:
    """Features with the cut points that give their codes.

    The code of a number is the count of its feature's cut points that are not above it. A condition on
    a feature is a range ``low ≤ code < high``.

    Parameters
    ----------
    features : tuple of Feature
    cuts : tuple of ndarray
        Ascending cut points of each numeric feature; empty for nominal ones.
    """

    features: tuple[Feature, ...]
    cuts: tuple[NDArray[np.float64], ...]

    def encode(self, X: Any) -> CodedFeatures:
        """Codes of a table whose columns are these features, in this order."""
        return self.encode_columns(table_to_columns(X, self.features), X.shape[0])

    def encode_columns(self, columns: Iterable[Column], n_rows: int) -> CodedFeatures:
        """Codes of columns that fit the features."""
        coded = []
        for feature, cuts, column in zip(self.features, self.cuts, columns, strict=True):
            if isinstance(column, NominalColumn):
                categories = feature.categories or ()
                coded.append(code_nominal(column.recode(categories), len(categories)))
            else:
                coded.append(code_numeric(column, cuts, n_rows))
        return join_columns(coded, n_rows)

    def n_codes(self, feature_idx: int) -> int:
        """Number of codes of a feature."""
        categories = self.features[feature_idx].categories
        return len(self.cuts[feature_idx]) + 1 if categories is None else len(categories)


class CodedColumn(NamedTuple):
    """Codes of one column: those of all rows, or of `rows` while all others have the default code."""

    n_codes: int
    is_nominal: bool
    codes: NDArray[np.int32]
    default_code: int = MISSING
    rows: NDArray[Any] | None = None


def code_nominal(codes: NDArray[np.int32], n_codes: int) -> CodedColumn:
    """A column of categories."""
    return _shorten(CodedColumn(n_codes, True, codes))


def code_numeric(column: NumericColumn, cuts: NDArray[np.float64], n_rows: int) -> CodedColumn:
    """A column of numbers."""
    n_codes = len(cuts) + 1
    numbers = np.ascontiguousarray(column.values)
    if column.rows is None:
        codes = np.empty(len(numbers), dtype=np.int32)
        code_numbers(numbers, cuts, codes)
        return _shorten(CodedColumn(n_codes, False, codes))
    listed = list_numbers(numbers, column.rows, cuts)
    if listed is None:
        ascending = np.argsort(column.rows, kind="stable")
        listed = list_numbers(numbers[ascending], column.rows[ascending], cuts)
    rows, codes, zero = listed
    if len(rows) <= LISTED_SHARE * n_rows:
        return CodedColumn(n_codes, False, codes, zero, rows)
    full = np.full(n_rows, zero, dtype=np.int32)
    full[rows] = codes
    return _shorten(CodedColumn(n_codes, False, full))


def _shorten(dense: CodedColumn) -> CodedColumn:
    """A column as the list of the rows without its most frequent code, if they are few."""
    frequencies = count_codes(dense.codes, max(dense.n_codes, 1))
    default = int(frequencies.argmax())
    n_others = len(dense.codes) - int(frequencies[default])
    if n_others > LISTED_SHARE * len(dense.codes):
        return dense
    rows = list_other_rows(dense.codes, default, n_others)
    return dense._replace(codes=dense.codes[rows], default_code=default, rows=rows)


def join_columns(columns: Sequence[CodedColumn], n_rows: int) -> CodedFeatures:
    """The coded columns of a table."""
    listed = [column for column in columns if column.rows is not None]
    full = [column.codes for column in columns if column.rows is None]
    is_dense = np.array([column.rows is None for column in columns], dtype=np.bool_)
    dense = np.empty((len(full), n_rows), dtype=np.int32)
    for row, codes in zip(dense, full, strict=True):
        row[:] = codes
    lengths = [0 if column.rows is None else len(column.rows) for column in columns]
    none = np.empty(0, dtype=np.int32)
    return CodedFeatures(
        n_codes=np.array([column.n_codes for column in columns], dtype=np.int32),
        is_nominal=np.array([column.is_nominal for column in columns], dtype=np.bool_),
        column=np.where(is_dense, np.cumsum(is_dense) - 1, -1).astype(np.int32),
        dense=dense,
        default_code=np.array([column.default_code for column in columns], dtype=np.int32),
        indptr=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        rows=np.concatenate([none, *(column.rows for column in listed)]).astype(np.int32),
        codes=np.concatenate([none, *(column.codes for column in listed)]),
    )
