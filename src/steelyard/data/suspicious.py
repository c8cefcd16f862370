"""Columns that do not help to learn or mislead: identifiers and constants. Knows pandas only."""

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._text import list_names

from .errors import DataWarning

# In fewer examples all values may differ, or be the same, by chance.
_MIN_EXAMPLES = 20
# A name or an identifier can occur twice.
_DISTINCT_SHARE = 0.9
_ID_NAME = re.compile(
    r"(?:^|[\W_])(?:id|ids|uuid|guid|index|row|key|nr|no|number)$|^unnamed: 0$",
    re.IGNORECASE,
)
_CAMEL_ID = re.compile(r"[a-z](?:Id|ID)$")


def warn_about_columns(X: pd.DataFrame, where: str = "", option: str = "") -> None:
    """Warn about the attributes that look like identifiers and those that have one value only.

    `where` starts the message; `option` is how the caller leaves out columns.
    """
    identifiers, constants = [], []
    if len(X) < _MIN_EXAMPLES:
        return
    for name, column in _list_columns(X):
        if is_identifier(column, name):
            identifiers.append(name)
        elif is_constant(column):
            constants.append(name)
    if identifiers:
        leave_out = f"leave them out with {option}" if option else "leave them out"
        _warn(
            f"{where}attributes with another value in nearly every example look like identifiers:"
            f" {list_names(identifiers)}; rules about them do not hold for new examples, so"
            f" {leave_out}"
        )
    if constants:
        _warn(
            f"{where}no rule can test attributes with one value in all examples:"
            f" {list_names(constants)}"
        )


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=4)


def _list_columns(X: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    """The dense columns: in sparse data, words that never occur are normal."""
    # Columns are looked up by their position, several times as fast as with `iloc`. pandas makes the
    # list of all types anew each time that it is asked for them.
    numbered = X.set_axis(range(X.shape[1]), axis=1)
    for position, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if not isinstance(dtype, pd.SparseDtype):
            yield str(name), numbered[position]


def is_constant(column: pd.Series) -> bool:
    """Whether a column has one value, which is known in all rows, or no value at all.

    Examples
    --------
    >>> is_constant(pd.Series([3, 3])), is_constant(pd.Series([3, None]))
    (True, False)
    """
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu" and len(column):
        values = column.to_numpy()  # faster than counting the distinct values
        return bool((values == values[0]).all() or np.isnan(values).all())
    if isinstance(column.dtype, pd.CategoricalDtype) and len(column):
        codes = _category_codes(column)
        return bool((codes == codes[0]).all())
    return _count_distinct(column) == 1


def is_identifier(column: pd.Series, name: str) -> bool:
    """Whether a column names the examples instead of describing them.

    Text and categories do if nearly all of them differ. Numbers describe, unless they are all different
    integers and the name of the column is that of an identifier.

    Examples
    --------
    >>> numbers = pd.Series(range(100))
    >>> is_identifier(numbers, "patient_id"), is_identifier(numbers, "age")
    (True, False)
    >>> is_identifier(numbers.map("P{}".format), "patient")
    True
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = _category_codes(column)
        n_known = int(np.count_nonzero(codes >= 0))
        least = max(_DISTINCT_SHARE * n_known, 1)
        # So few categories are no identifiers, whatever they are.
        if n_known < _MIN_EXAMPLES or len(dtype.categories) < least:
            return False
        return int(np.count_nonzero(np.bincount(codes[codes >= 0]))) >= least
    is_number = pd.api.types.is_any_real_numeric_dtype(dtype)
    if is_number and not (_ID_NAME.search(name) or _CAMEL_ID.search(name)):
        return False
    if dtype.kind in "mM" or isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype):
        return False
    known = column.dropna()
    if len(known) < _MIN_EXAMPLES:
        return False
    n_distinct = _count_distinct(known)
    if is_number:
        return n_distinct == len(known) and bool((known % 1 == 0).all())
    return n_distinct >= _DISTINCT_SHARE * len(known)


def _category_codes(column: pd.Series) -> NDArray[Any]:
    """The codes of a column of categories, -1 for missing ones: much faster than its values."""
    categorical: Any = column.array
    return np.asarray(categorical.codes)


def _count_distinct(column: pd.Series) -> int:
    try:
        return int(column.nunique(dropna=False))
    except TypeError:  # lists and the like, which learning rejects by name
        return 0
