"""Codes: a table as small integers, the form in which kernels see data.

Numeric values become ranks among cut points, categories their positions, missing values -1. Above
this file only people see values again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.coding import code_numbers

from .features import Feature
from .tables import MISSING, Column, NominalColumn, NumericColumn, fit_column, table_to_columns

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
        """Codes of the columns of a table."""
        builder = CodeBuilder(n_rows)
        for feature, cuts, column in zip(self.features, self.cuts, columns, strict=True):
            fitted = fit_column(column, feature)
            if isinstance(fitted, NominalColumn):
                builder.add_nominal(fitted.codes, len(fitted.categories))
            else:
                builder.add_numeric(fitted, cuts)
        return builder.build()

    def n_codes(self, feature_idx: int) -> int:
        """Number of codes of a feature."""
        categories = self.features[feature_idx].categories
        return len(self.cuts[feature_idx]) + 1 if categories is None else len(categories)


_NO_CODES = np.empty(0, dtype=np.int32)


class CodeBuilder:
    """Collects coded columns; stores each as dense or listed, whichever is smaller."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.n_codes: list[int] = []
        self.is_nominal: list[bool] = []
        self.column: list[int] = []
        self.default_code: list[int] = []
        self.dense: list[NDArray[np.int32]] = []
        self.rows: list[NDArray[np.int32]] = []
        self.codes: list[NDArray[np.int32]] = []

    def add_nominal(self, codes: NDArray[Any], n_codes: int) -> None:
        self._add_dense(codes.astype(np.int32), n_codes, nominal=True)

    def add_numeric(self, column: NumericColumn, cuts: NDArray[np.float64]) -> None:
        codes = np.empty(len(column.values), dtype=np.int32)
        code_numbers(np.ascontiguousarray(column.values), cuts, codes)
        n_codes = len(cuts) + 1
        if column.rows is None:
            self._add_dense(codes, n_codes, nominal=False)
            return
        zero = int(np.searchsorted(cuts, 0.0, side="right"))
        differs = codes != zero
        rows, codes = column.rows[differs], codes[differs]
        if len(rows) > LISTED_SHARE * self.n_rows:
            full = np.full(self.n_rows, zero, dtype=np.int32)
            full[rows] = codes
            self._add_dense(full, n_codes, nominal=False)
        else:
            ascending = np.argsort(rows, kind="stable")
            self._add_listed(rows[ascending], codes[ascending], zero, n_codes, nominal=False)

    def _add_dense(self, codes: NDArray[np.int32], n_codes: int, *, nominal: bool) -> None:
        frequencies = np.bincount(codes[codes != MISSING], minlength=1)
        default = int(frequencies.argmax())
        if self.n_rows - frequencies[default] <= LISTED_SHARE * self.n_rows:
            rows = np.flatnonzero(codes != default)
            self._add_listed(rows, codes[rows], default, n_codes, nominal=nominal)
            return
        self._describe(n_codes, nominal, column=len(self.dense), default_code=MISSING)
        self.dense.append(codes)

    def _add_listed(
        self,
        rows: NDArray[Any],
        codes: NDArray[np.int32],
        default: int,
        n_codes: int,
        *,
        nominal: bool,
    ) -> None:
        self._describe(n_codes, nominal, column=-1, default_code=default)
        self.rows[-1], self.codes[-1] = rows.astype(np.int32), codes

    def _describe(self, n_codes: int, nominal: bool, *, column: int, default_code: int) -> None:
        self.n_codes.append(n_codes)
        self.is_nominal.append(nominal)
        self.column.append(column)
        self.default_code.append(default_code)
        self.rows.append(_NO_CODES)
        self.codes.append(_NO_CODES)

    def build(self) -> CodedFeatures:
        dense = np.empty((len(self.dense), self.n_rows), dtype=np.int32)
        for row, codes in zip(dense, self.dense, strict=True):
            row[:] = codes
        lengths = [len(rows) for rows in self.rows]
        return CodedFeatures(
            n_codes=np.array(self.n_codes, dtype=np.int32),
            is_nominal=np.array(self.is_nominal, dtype=np.bool_),
            column=np.array(self.column, dtype=np.int32),
            dense=dense,
            default_code=np.array(self.default_code, dtype=np.int32),
            indptr=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            rows=np.concatenate([*self.rows, _NO_CODES]),
            codes=np.concatenate([*self.codes, _NO_CODES]),
        )
