"""Columns of DataFrames to attributes and labels: kinds of values and spellings of labels.

Owns what counts as a number, a category and a label. Knows pandas, but no file format.
"""

import warnings
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._text import list_names, shorten_repr

from .errors import DataError

ConstantLabels = Literal["raise", "drop", "keep"]

_LABEL_OF_WORD = {
    **dict.fromkeys(("0", "0.0", "false", "no", "f", "n"), 0),
    **dict.fromkeys(("1", "1.0", "true", "yes", "t", "y"), 1),
}
# What pandas calls the content of columns of Python objects.
_NUMBERS = ("integer", "floating", "decimal", "mixed-integer-float")
_NAMES = ("string", "boolean", "categorical", "mixed", "mixed-integer", "empty")


def word_to_label(word: object) -> int:
    """Return 1 for a word that says a label is present, 0 for absent and -1 for any other."""
    return _LABEL_OF_WORD.get(str(word).strip().lower(), -1)


def decode_labels(
    labels: pd.DataFrame,
    where: object,
    constant_labels: ConstantLabels,
    lines: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """Decode labels to 0 and 1, and raise, drop or keep those that have one value only.

    ``where`` starts every message. A message about an example gives its line, or its row if there
    are no ``lines``.
    """
    choices = get_args(ConstantLabels)
    if constant_labels not in choices:
        raise ValueError(f"constant_labels must be one of {choices}, not {constant_labels!r}")
    values = np.column_stack([_decode_label(labels[name], where, lines) for name in labels])
    Y = pd.DataFrame(values, columns=list(map(str, labels)))
    constant = list(Y.columns[Y.min() == Y.max()])
    if constant_labels == "keep" or not constant:
        return Y
    listed = list_names(constant)
    if constant_labels == "raise":
        raise DataError(
            f"{where}: label {constant[0]!r} is {Y[constant[0]].iloc[0]} in every example, so there"
            f" is nothing to learn (constant: {listed}; constant_labels='drop' or 'keep' accepts"
            " that)"
        )
    if len(constant) == Y.shape[1]:
        raise DataError(f"{where}: every label is constant, so no label would be left")
    warnings.warn(f"{where}: dropped the constant labels {listed}", UserWarning, stacklevel=3)
    return Y.drop(columns=constant)


def _decode_label(
    column: pd.Series, where: object, lines: NDArray[np.int64] | None
) -> NDArray[np.int8]:
    categorical = pd.Categorical(column)
    codes, words = categorical.codes, categorical.categories.tolist()
    # A missing value has the code -1 and finds the last entry.
    label: NDArray[np.int8] = np.array([*map(word_to_label, words), -1], dtype=np.int8)[codes]
    bad = np.flatnonzero(label < 0)
    if len(bad):
        row = bad[0]
        place = f"row {row + 1}" if lines is None else f"line {lines[row]}"
        found = "missing" if codes[row] < 0 else shorten_repr(str(words[codes[row]]))
        raise DataError(f"{where}, {place}: label {column.name!r} is {found} instead of 0 or 1")
    return label


def convert_attributes(frame: pd.DataFrame, where: object) -> pd.DataFrame:
    """Convert every column to numbers or categories."""
    if frame.empty:
        raise DataError(f"{where} has no attributes besides the labels, or no examples")
    return pd.DataFrame({column: _convert_attribute(frame[column], where) for column in frame})


def _convert_attribute(column: pd.Series, where: object) -> pd.Series:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype | pd.SparseDtype):
        return column
    content = pd.api.types.infer_dtype(column, skipna=True)
    is_number = pd.api.types.is_numeric_dtype(dtype) and content not in ("boolean", "complex")
    if is_number and isinstance(dtype, np.dtype):
        return column
    if is_number or content in _NUMBERS:
        return column.astype("float64")  # nullable numbers and decimals, with NaN if missing
    if content in _NAMES:
        return column.astype(object).map(str, na_action="ignore").astype("category")
    raise DataError(
        f"{where}: column {column.name!r} has the type {dtype} ({content}), which is neither"
        " numeric nor nominal"
    )
