"""ARFF columns to a DataFrame: which columns are kept sparse, and which become categories."""

from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .arff_columns import Column

# Sparse columns pay when there are many of them and they are mostly zeros; below that, dense
# ones are as small, faster to slice, and keep nominal attributes nominal.
_MIN_SPARSE_COLUMNS = 100
_MAX_DENSITY = 0.2


def columns_to_frame(
    columns: list[Column], n_examples: int, n_sparse_rows: int, sparse: bool | Literal["auto"]
) -> pd.DataFrame:
    """Build X, its columns in the given order."""
    if sparse not in (True, False, "auto"):
        raise ValueError(f"sparse must be True, False or 'auto', not {sparse!r}")
    if sparse is False or (sparse == "auto" and 2 * n_sparse_rows < n_examples):
        return _dense_frame(columns, n_examples)

    rows_and_numbers = {
        column.attribute.name: _nonzeros(column, n_examples)
        for column in columns
        if _has_sparse_form(column)
    }
    n_cells = n_examples * len(rows_and_numbers)
    n_nonzeros = sum(len(rows) for rows, _ in rows_and_numbers.values())
    is_wide = len(rows_and_numbers) >= _MIN_SPARSE_COLUMNS
    if sparse == "auto" and not (is_wide and n_nonzeros <= _MAX_DENSITY * n_cells):
        return _dense_frame(columns, n_examples)

    sparse_frame = _sparse_frame(rows_and_numbers, n_examples)
    others = [column for column in columns if column.attribute.name not in rows_and_numbers]
    if not others:
        return sparse_frame
    both = pd.concat([sparse_frame, _dense_frame(others, n_examples)], axis=1)
    return both[[column.attribute.name for column in columns]]


def _has_sparse_form(column: Column) -> bool:
    return column.attribute.kind == "numeric" or set(column.attribute.values) == {"0", "1"}


def _nonzeros(column: Column, n_examples: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The examples where a column is not zero, and its numbers there; a NaN is not zero."""
    first_value_is_zero = column.attribute.values[:1] in ((), ("0",))
    if column.rows is not None and first_value_is_zero:
        rows, values = column.rows, column.values
    else:
        rows, values = np.arange(n_examples), column.dense(n_examples)
    if column.attribute.kind == "nominal":
        # A missing value has the code -1 and finds the last entry.
        values = np.array([*map(float, column.attribute.values), np.nan])[values.astype(np.intp)]
    numbers = values.astype(np.float64, copy=False)
    return rows[numbers != 0], numbers[numbers != 0]


def _sparse_frame(
    rows_and_numbers: dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]], n_examples: int
) -> pd.DataFrame:
    from scipy.sparse import csc_array

    names = list(rows_and_numbers)
    all_rows = [rows for rows, _ in rows_and_numbers.values()]
    all_numbers = [numbers for _, numbers in rows_and_numbers.values()]
    bounds = np.concatenate([[0], np.cumsum([len(rows) for rows in all_rows])])
    matrix = csc_array(
        (np.concatenate(all_numbers), np.concatenate(all_rows), bounds),
        shape=(n_examples, len(names)),
    )
    frame: pd.DataFrame = pd.DataFrame.sparse.from_spmatrix(matrix, columns=names)  # type: ignore[attr-defined]
    return frame


def _dense_frame(columns: list[Column], n_examples: int) -> pd.DataFrame:
    # Many files declare the same few sets of values a thousand times.
    dtype_of = cache(lambda values: pd.CategoricalDtype(list(values)))
    values: dict[str, Any] = {}
    for column in columns:
        content = column.dense(n_examples)
        if column.attribute.kind == "nominal":
            dtype = dtype_of(column.attribute.values)
            values[column.attribute.name] = pd.Categorical.from_codes(content, dtype=dtype)  # type: ignore[arg-type]
        else:
            values[column.attribute.name] = content
    return pd.DataFrame(values, index=pd.RangeIndex(n_examples))
