"""Validation of what users pass: tables, weights, seeds, parameters. Knows no learner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, validate_data

from steelyard._numbers import read_weights
from steelyard._text import find_repeated, list_names
from steelyard.model.frames import to_pandas


def validate_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """X as a DataFrame, a float or object array or a CSC matrix, checked by scikit-learn."""
    X = to_pandas(X)
    if isinstance(X, pd.DataFrame):
        if not X.columns.is_unique:
            twice = X.columns[X.columns.duplicated()].tolist()[0]
            raise ValueError(f"two attributes have the same name {twice!r}")
        validate_data(estimator, X=X, skip_check_array=True, reset=reset)
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise ValueError(f"the table is empty: it has shape {X.shape}")
        return X
    options = {"accept_sparse": "csc", "dtype": np.float64, "ensure_all_finite": "allow-nan"}
    array = X if sparse.issparse(X) or hasattr(X, "__array_function__") else np.asarray(X)
    if getattr(array, "dtype", np.dtype(float)).kind in "mM":
        X = array = array.astype("M8[us]" if array.dtype.kind == "M" else "m8[us]").astype(object)
    if getattr(array, "ndim", 0) == 2 and array.dtype.kind in "OUS":
        if array.dtype.kind == "O":
            # pandas' NA cannot be converted to a float, unlike None and NaN.
            X = np.where(pd.isna(array), np.nan, array)
        # Categories that a theory knows stay categories if they all look like numbers.
        is_known = not reset and any(f.is_nominal for f in estimator.theory_.features)
        if is_known or _holds_text(X):
            options = {"dtype": object, "ensure_all_finite": False}
    return validate_data(estimator, X=X, reset=reset, **options)


def _holds_text(X: Any) -> bool:
    """Whether an array or a list of lists holds text that is not a number: nominal values."""
    try:
        np.asarray(X).astype(np.float64)
    except ValueError:
        return True
    except TypeError:
        pass  # scikit-learn's validation names the problem
    return False


def read_feature_names(feature_names: Any, X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a validated table, if they are given; a DataFrame has its own."""
    if feature_names is None:
        return None
    names = _read_names("feature_names", feature_names, X.shape[1], "attributes")
    if isinstance(X, pd.DataFrame) and names != tuple(map(str, X.columns)):
        raise ValueError(
            "feature_names name the columns of an array or a sparse matrix; X has names of its own: "
            f"{list_names(list(map(str, X.columns)))}"
        )
    return names


def name_labels(y: Any, label_names: Any) -> Any:
    """The targets with names: a frame of any library as pandas, and an indicator with given names."""
    y = _plain_labels(to_pandas(y))
    if label_names is None:
        return y
    Y = y.toarray() if sparse.issparse(y) else np.asarray(y)
    if Y.ndim != 2:
        raise ValueError("label_names name the columns of a multi-label y; y has one dimension")
    names = _read_names("label_names", label_names, Y.shape[1], "labels")
    if isinstance(y, pd.DataFrame) and names != tuple(map(str, y.columns)):
        raise ValueError(
            "label_names name the columns of an array or a sparse matrix; y has names of its own: "
            f"{list_names(list(map(str, y.columns)))}"
        )
    return pd.DataFrame(Y, columns=list(names))


def _plain_labels(y: Any) -> Any:
    """Labels of pandas' nullable and Arrow types as numbers of NumPy; all others as they are.

    NumPy and scikit-learn's measures would see objects in these types.
    """
    if isinstance(y, pd.DataFrame):
        changed = [position for position, dtype in enumerate(y.dtypes) if _hides_numbers(dtype)]
        if not changed:
            return y
        columns = [
            _to_floats(y.iloc[:, i]) if i in changed else y.iloc[:, i] for i in range(y.shape[1])
        ]
        plain = pd.concat(columns, axis=1)
        plain.columns = y.columns
        return plain
    return _to_floats(y) if isinstance(y, pd.Series) and _hides_numbers(y.dtype) else y


def _hides_numbers(dtype: Any) -> bool:
    """Whether it is a nullable or Arrow type of numbers or booleans."""
    is_own = isinstance(dtype, pd.ArrowDtype | pd.BooleanDtype) or hasattr(dtype, "numpy_dtype")
    return is_own and dtype.kind in "iufb"


def _to_floats(column: pd.Series) -> pd.Series:
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = numbers if np.isnan(numbers).any() else numbers.astype(np.int64)
    return pd.Series(whole, index=column.index, name=column.name)


def _read_names(parameter: str, given: Any, n_expected: int, noun: str) -> tuple[str, ...]:
    given = given() if callable(given) else given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"{parameter} must be a list of names, got {given!r}")
    names = tuple(map(str, given))
    if len(names) != n_expected:
        raise ValueError(f"{parameter} has {len(names)} names for {n_expected} {noun}")
    twice = find_repeated(names)
    if twice is not None:
        raise ValueError(f"{parameter} has the name {twice!r} twice")
    return names


# The rows are copied, so more of them do not fit into memory.
_MOST_COPIES = 10**8


class WeighedRows(NamedTuple):
    """The rows that count, and what each of them counts.

    Integer weights are numbers of copies: `idx` repeats the rows, and `weights` is None. Otherwise `idx`
    has the rows whose weight is above 0, once each. An `idx` of None is every row once.
    """

    idx: NDArray[np.intp] | None = None
    weights: NDArray[np.float64] | None = None


def read_sample_weight(sample_weight: Any, X: Any, *, fractions: bool = True) -> WeighedRows:
    """The rows of a table that count; without `fractions`, only integers are allowed."""
    if sample_weight is None:
        return WeighedRows()
    weights = read_weights(sample_weight, _num_samples(X))
    if (weights == np.floor(weights)).all():
        if (weights == 1).all():
            return WeighedRows()
        if weights.sum() > _MOST_COPIES:
            raise ValueError(
                f"sample_weight has a sum of {weights.sum():.3g}, and integers are numbers of copies, "
                f"at most {_MOST_COPIES:,} in all: divide the weights by a common factor"
            )
        return WeighedRows(np.repeat(np.arange(len(weights)), weights.astype(np.intp)))
    if not fractions:
        raise ValueError(
            "sample_weight must be integers: a weight of k means that the example occurs k times"
        )
    idx = np.flatnonzero(weights)
    return WeighedRows(None if len(idx) == len(weights) else idx, weights[idx])


def take_rows(table: Any, row_idx: NDArray[np.intp] | None) -> Any:
    """Rows of a DataFrame, Series, array, list or sparse matrix by position; None: all of them."""
    if row_idx is None:
        return table
    if _is_sparse_frame(table):
        # pandas takes rows of every sparse column by itself: on medical 0.33 s instead of 0.06 s.
        rows = table.sparse.to_coo().tocsr()[row_idx]
        index, columns = table.index[row_idx], table.columns
        return table.sparse.from_spmatrix(rows, index=index, columns=columns)
    return _safe_indexing(table.tocsr() if sparse.issparse(table) else table, row_idx)


def _is_sparse_frame(table: Any) -> bool:
    """Whether a table is a DataFrame of sparse numbers, all of one type, in which 0 is not stored."""
    dtypes: set[Any] = set(table.dtypes) if isinstance(table, pd.DataFrame) else set()
    return len(dtypes) == 1 and all(
        isinstance(dtype, pd.SparseDtype) and dtype.subtype.kind in "fiu" and dtype.fill_value == 0
        for dtype in dtypes
    )


def seed_to_entropy(random_state: Any) -> int:
    """One integer from scikit-learn's three kinds of `random_state`."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a RandomState or an integer of at least 0, got {random_state!r}"
    )


def as_list(value: Any) -> list[Any]:
    """The items of a parameter that takes several values; a single value is one item."""
    is_single = isinstance(value, str) or not isinstance(value, Iterable)
    is_single = is_single or getattr(value, "ndim", 1) == 0  # an array of one number
    return [value] if is_single else list(value)
