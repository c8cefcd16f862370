"""Validation of what users pass: tables, weights, seeds, parameters. Knows no learner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, validate_data


def validate_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """X as a DataFrame, a float or object array or a CSC matrix, checked by scikit-learn."""
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


def repeated_rows(sample_weight: Any, X: Any) -> NDArray[np.intp] | None:
    """Row indices in which each row occurs as often as its weight; None: every row once.

    Bags are drawn and examples are counted, so a weight is a number of copies. Fractional weights are
    rejected.
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X)
    if (weights < 0).any() or (weights != np.floor(weights)).any():
        raise ValueError(
            "sample_weight must be integers of at least 0: a weight of k means that the example "
            "occurs k times"
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every example")
    if (weights == 1).all():
        return None
    return np.repeat(np.arange(len(weights)), weights.astype(np.intp))


def take_rows(table: Any, row_idx: NDArray[np.intp] | None) -> Any:
    """Rows of a DataFrame, Series, array, list or sparse matrix by position; None: all of them."""
    if row_idx is None:
        return table
    return _safe_indexing(table.tocsr() if sparse.issparse(table) else table, row_idx)


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
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
