"""Columns of a DataFrame that came from elsewhere to attributes and labels as we keep them."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .errors import DataError, shorten
from .label_values import ConstantLabels, labels_to_frame, word_to_label
from .multilabel import MultiLabelData

# What pandas calls columns of Python objects that are numbers all the same.
_NUMBERS_AS_OBJECTS = ("integer", "floating", "decimal", "mixed-integer-float")
_NAMES_AS_OBJECTS = ("string", "boolean", "categorical", "mixed", "mixed-integer", "empty")


def frames_to_data(
    attributes: pd.DataFrame,
    labels: pd.DataFrame,
    *,
    name: str,
    where: object,
    description: str = "",
    constant_labels: ConstantLabels,
) -> MultiLabelData:
    """Bring attributes and labels into their form; ``where`` opens every message."""
    if attributes.empty:
        raise DataError(f"{where} has no attributes beside the labels, or no examples")
    values = [_column_to_label(labels[column], where) for column in labels]
    columns = {column: _column_to_attribute(attributes[column], where) for column in attributes}
    return MultiLabelData(
        X=pd.DataFrame(columns),
        Y=labels_to_frame(np.column_stack(values), list(map(str, labels)), where, constant_labels),
        name=name,
        description=description,
    )


def _column_to_attribute(column: pd.Series, where: object) -> pd.Series:
    """A column as numbers or as categories."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype | pd.SparseDtype):
        return column
    content = pd.api.types.infer_dtype(column, skipna=True)
    is_number = pd.api.types.is_numeric_dtype(dtype) and content not in ("boolean", "complex")
    if is_number and isinstance(dtype, np.dtype):
        return column
    if is_number or content in _NUMBERS_AS_OBJECTS:
        return column.astype("float64")  # nullable numbers and decimals, too: missing as NaN
    if content in _NAMES_AS_OBJECTS:
        text = column.astype(object).map(str, na_action="ignore")
        return text.astype("category")
    raise DataError(
        f"{where}: column {column.name!r} has the type {dtype} ({content}), which is neither"
        " numeric nor nominal"
    )


def _column_to_label(column: pd.Series, where: object) -> NDArray[np.int8]:
    """A column as 0 and 1."""
    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise DataError(f"{where}: label {column.name!r} is missing in row {missing[0] + 1}")
    if pd.api.types.is_bool_dtype(column.dtype):
        return column.to_numpy(dtype=np.int8)
    # A column has few distinct values, so that their words are looked up only once each.
    codes, words = pd.factorize(column.astype(object))
    values = np.array([_object_to_label(word) for word in words], dtype=np.int8)[codes]
    bad = np.flatnonzero(values < 0)
    if len(bad):
        raise DataError(
            f"{where}: label {column.name!r} is {shorten(str(column.iloc[bad[0]]))} in row"
            f" {bad[0] + 1} instead of 0 or 1"
        )
    return values


def _object_to_label(value: object) -> int:
    label = word_to_label(str(value))
    return -1 if label is None else label
