"""ARFF tables to DataFrames: which columns are kept sparse, and which become categories."""

from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.sparse import csc_array

from .header import Attribute
from .reader import ArffTable

# Sparse columns are worth it if there are many of them and they are mostly zeros. Otherwise dense
# columns are as small, faster to slice, and keep nominal attributes nominal.
_MIN_SPARSE_COLUMNS = 100
_MAX_DENSITY = 0.2


def table_to_frame(
    table: ArffTable, columns: list[int], sparse: bool | Literal["auto"] = False
) -> pd.DataFrame:
    """Build a DataFrame from some columns of a table, in the given order."""
    if sparse not in (True, False, "auto"):
        raise ValueError(f"sparse must be True, False or 'auto', not {sparse!r}")
    attributes = [table.attributes[column] for column in columns]
    values = table.values[:, columns]
    if sparse == "auto" and 2 * table.n_sparse_rows < len(table.lines):
        sparse = False
    if sparse is False:
        return _dense_frame(attributes, values)

    has_numbers = [a.kind == "numeric" or {*a.values} == {"0", "1"} for a in attributes]
    numeric, nominal = np.flatnonzero(has_numbers), np.flatnonzero(np.logical_not(has_numbers))
    numbers = _codes_to_numbers([attributes[i] for i in numeric], values[:, numeric])
    is_wide = len(numeric) >= _MIN_SPARSE_COLUMNS
    if sparse == "auto" and not (is_wide and numbers.nnz <= _MAX_DENSITY * np.prod(numbers.shape)):
        return _dense_frame(attributes, values)
    frame: pd.DataFrame = pd.DataFrame.sparse.from_spmatrix(  # type: ignore[attr-defined]
        numbers, columns=[attributes[i].name for i in numeric]
    )
    if len(nominal):
        others = _dense_frame([attributes[i] for i in nominal], values[:, nominal])
        frame = pd.concat([frame, others], axis=1)[[a.name for a in attributes]]
    return frame


def _codes_to_numbers(attributes: list[Attribute], values: Any) -> Any:
    """Turn the codes of {0, 1} and {1, 0} into the numbers they stand for."""
    starts_with_one = np.array([[a.values[:1] == ("1",) for a in attributes]], dtype=np.float64)
    if starts_with_one.any():
        ones = csc_array(np.ones((values.shape[0], 1))) @ csc_array(starts_with_one)
        values = csc_array(values * (1 - 2 * starts_with_one) + ones)
    values.eliminate_zeros()
    return values


def _dense_frame(attributes: list[Attribute], values: Any) -> pd.DataFrame:
    # Many files declare the same few sets of values a thousand times.
    dtype_of = cache(lambda values: pd.CategoricalDtype(list(values)))
    columns: dict[str, Any] = {}
    for attribute, content in zip(attributes, values.toarray().T, strict=True):
        if attribute.kind == "nominal":
            codes = np.where(np.isnan(content), -1, content).astype(np.int32)
            content = pd.Categorical.from_codes(codes, dtype=dtype_of(attribute.values))
        elif attribute.kind == "date":
            content = pd.to_datetime(content, unit="s")
        columns[attribute.name] = content
    return pd.DataFrame(columns, index=pd.RangeIndex(values.shape[0]))
