"""Columns of DataFrames to attributes and labels: kinds of values and spellings of labels.

Owns what counts as a number, a category and a label. Knows pandas, but no file format.
"""

import re
import warnings
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._text import format_count, list_names, shorten_repr
from steelyard.model.features import category_text

from .errors import DataError, DataWarning

ConstantLabels = Literal["keep", "drop", "raise"]
MissingLabels = Literal["raise", "drop", "absent"]
MultiValued = Literal["raise", "split"]

SPLIT_HINT = "multi_valued='split' makes a label of each value"
_MISSING_HINT = "missing_labels='drop' leaves out such examples, 'absent' reads them as 0"

_LABEL_OF_WORD = {
    **dict.fromkeys(("0", "0.0", "false", "no", "f", "n"), 0),
    **dict.fromkeys(("1", "1.0", "true", "yes", "t", "y"), 1),
}
# What pandas calls the content of columns of Python objects.
_NUMBERS = ("integer", "floating", "decimal", "mixed-integer-float")
_MOMENTS = ("date", "datetime", "time", "timedelta")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")
_NAMES = ("string", "boolean", "categorical", "mixed", "mixed-integer", "empty")


def word_to_label(word: object) -> int:
    """Return 1 for a word that says a label is present, 0 for absent and -1 for any other."""
    return _LABEL_OF_WORD.get(str(word).strip().lower(), -1)


def check_choice(parameter: str, value: object, kind: Any) -> None:
    """Reject a value that is not among the choices of a parameter."""
    choices = get_args(kind)
    if value not in choices:
        raise ValueError(f"{parameter} must be one of {choices}, not {value!r}")


def decode_examples(
    X: pd.DataFrame,
    labels: pd.DataFrame,
    where: object,
    *,
    constant_labels: ConstantLabels = "keep",
    missing_labels: MissingLabels = "raise",
    multi_valued: MultiValued = "raise",
    lines: NDArray[np.int64] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the attributes, and the labels as 0 and 1; the options are those of `load_mulan`.

    ``where`` starts every message. A message about an example gives its line, or its row if there
    are no ``lines``.
    """
    check_choice("constant_labels", constant_labels, ConstantLabels)
    check_choice("missing_labels", missing_labels, MissingLabels)
    check_choice("multi_valued", multi_valued, MultiValued)
    if missing_labels == "drop":
        X, labels, lines = _drop_unlabelled(X, labels, where, lines)
    if multi_valued == "split":
        labels = _split_targets(labels)
    absent = 0 if missing_labels == "absent" else -1
    values = [_decode_label(labels[name], where, lines, absent) for name in labels]
    Y = pd.DataFrame(np.column_stack(values), columns=list(map(str, labels)))
    return X, _treat_constant(Y, where, constant_labels)


def _drop_unlabelled(
    X: pd.DataFrame, labels: pd.DataFrame, where: object, lines: NDArray[np.int64] | None
) -> tuple[pd.DataFrame, pd.DataFrame, NDArray[np.int64] | None]:
    is_known = labels.notna().all(axis=1).to_numpy()
    if is_known.all():
        return X, labels, lines
    if not is_known.any():
        raise DataError(f"{where}: every example lacks a label, so no example would be left")
    dropped = format_count(int((~is_known).sum()), "example")
    warnings.warn(f"{where}: dropped {dropped} with missing labels", UserWarning, stacklevel=4)
    kept = [frame[is_known].reset_index(drop=True) for frame in (X, labels)]
    return kept[0], kept[1], None if lines is None else lines[is_known]


def _split_targets(labels: pd.DataFrame) -> pd.DataFrame:
    """One label per value of a column that has other values than 0 and 1; a missing one stays so."""
    columns: dict[str, pd.Series] = {}
    for name in labels:
        column = labels[name].astype("category").cat.remove_unused_categories()
        values = column.cat.categories.tolist()
        decoded = [word_to_label(value) for value in values]
        if -1 not in decoded and len(set(decoded)) == len(decoded):
            columns[str(name)] = labels[name]
            continue
        for value in values:
            is_value = (column == value).astype(float).where(column.notna())
            columns[f"{name}={category_text(value)}"] = is_value
    return pd.DataFrame(columns)


def _treat_constant(
    Y: pd.DataFrame, where: object, constant_labels: ConstantLabels
) -> pd.DataFrame:
    constant = list(Y.columns[Y.min() == Y.max()])
    if not constant:
        return Y
    listed = list_names(constant)
    if constant_labels == "raise":
        raise DataError(
            f"{where}: label {constant[0]!r} is {Y[constant[0]].iloc[0]} in every example, so there"
            f" is nothing to learn (constant: {listed}; constant_labels='drop' or 'keep' accepts"
            " that)"
        )
    if constant_labels == "keep":
        warnings.warn(
            f"{where}: no rule can be learned for labels with one value in all examples: {listed}"
            " (constant_labels='drop' drops them)",
            DataWarning,
            stacklevel=4,
        )
        return Y
    if len(constant) == Y.shape[1]:
        raise DataError(f"{where}: every label is constant, so no label would be left")
    warnings.warn(f"{where}: dropped the constant labels {listed}", DataWarning, stacklevel=4)
    return Y.drop(columns=constant)


def _decode_label(
    column: pd.Series, where: object, lines: NDArray[np.int64] | None, absent: int
) -> NDArray[np.int8]:
    """A label as 0 and 1; `absent` is what a missing value is, or -1 if it is rejected."""
    categorical = pd.Categorical(column)
    codes, words = categorical.codes, categorical.categories.tolist()
    # A missing value has the code -1 and finds the last entry.
    label: NDArray[np.int8] = np.array([*map(word_to_label, words), absent], dtype=np.int8)[codes]
    bad = np.flatnonzero(label < 0)
    if len(bad):
        row = bad[0]
        place = f"row {row + 1}" if lines is None else f"line {lines[row]}"
        if codes[row] < 0:
            problem, hint = "missing", _MISSING_HINT
        else:
            problem, hint = f"{shorten_repr(str(words[codes[row]]))} instead of 0 or 1", SPLIT_HINT
        raise DataError(f"{where}, {place}: label {column.name!r} is {problem}; {hint}")
    return label


def convert_attributes(frame: pd.DataFrame, where: object) -> pd.DataFrame:
    """Convert every column to numbers, categories or dates and times."""
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
    if dtype.kind in "mM" and content not in ("period", "interval"):
        return column
    if content in _MOMENTS:
        return column.astype(object)
    moments = _read_moments(column) if content == "string" else None
    if moments is not None:
        return moments
    if content in _NAMES:
        return column.astype(object).map(str, na_action="ignore").astype("category")
    raise DataError(
        f"{where}: column {column.name!r} has the type {dtype} ({content}), which is neither"
        " numeric nor nominal"
    )


def _read_moments(column: pd.Series) -> pd.Series | None:
    """The dates of a column of texts if all of them are dates in ISO 8601, else None."""
    texts = column.dropna().unique()
    if not len(texts) or not all(map(_ISO_DATE.fullmatch, texts)):
        return None
    try:
        return pd.to_datetime(column, format="ISO8601")
    except ValueError:  # such as the 13th month
        return None
