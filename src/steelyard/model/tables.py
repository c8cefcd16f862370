"""Tables: frames, arrays and sparse matrices as columns of numbers or categories.

Knows which column is which attribute; knows neither codes nor rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from steelyard._kernels.coding import count_codes, take_codes, take_columns
from steelyard._text import did_you_mean, list_names, shorten_repr

from .conditions import Value
from .features import Feature, category_text
from .frames import floor_to_days, is_foreign, series_to_seconds, to_pandas
from .moments import MOMENT_KINDS, value_to_seconds

MISSING = -1

# Bytes of a table that are copied at a time: about half of a second-level cache.
_CACHED_BYTES = 2**18


class NumericColumn(NamedTuple):
    """Numbers of a column: one per row, or those of `rows` while all other rows are 0.

    `kind` is the kind of an attribute whose values are seconds; see `Feature`.
    """

    values: NDArray[np.float64]
    rows: NDArray[np.intp] | None = None
    kind: str | None = None

    def find_kind(self, distinct: NDArray[np.float64]) -> str | None:
        """The kind of the attribute that has these values; `distinct` are the different ones.

        An attribute of zeros and ones is a presence. Non-negative integers in a sparse column are how
        often a word occurs.

        Examples
        --------
        >>> numbers = np.array([0.0, 1.0])
        >>> NumericColumn(numbers).find_kind(numbers)
        'presence'
        """
        if self.kind is not None or not len(distinct) or distinct[0] < 0:
            return self.kind
        if self.rows is not None:
            return "word" if (distinct == np.floor(distinct)).all() else None
        return "presence" if distinct.tolist() == [0.0, 1.0] else None


class NominalColumn(NamedTuple):
    """Category codes of a column (-1 is missing) and the text of each category."""

    codes: NDArray[np.int32]
    categories: tuple[str, ...]

    def recode(self, categories: tuple[str, ...]) -> NDArray[np.int32]:
        """The codes that point into other categories; texts that are not among them are missing."""
        if categories == self.categories:
            return self.codes
        position = {text: code for code, text in enumerate(categories)}
        codes = [position.get(text, MISSING) for text in self.categories]
        return np.asarray(take_codes(self.codes, np.array(codes, dtype=np.int32)))


Column = NumericColumn | NominalColumn


def _nominal_from_values(values: Any, name: str) -> NominalColumn:
    try:
        codes, uniques = pd.factorize(values, sort=False)
    except TypeError:
        bad = [value for value in values if not _is_hashable(value)]
        if not bad:
            raise
        raise ValueError(
            f"attribute {name!r} holds a {type(bad[0]).__name__}, {shorten_repr(bad[0])}, "
            "where a number or a category is expected"
        ) from None
    return _nominal_from_codes(codes, [category_text(value) for value in uniques])


def _is_hashable(value: object) -> bool:
    # The type alone does not tell: a tuple that contains a list has no hash.
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _nominal_from_codes(codes: NDArray[Any], texts: Sequence[str]) -> NominalColumn:
    """A column from codes that point into `texts` (-1 is missing).

    Its categories are the texts that occur, sorted. They do not depend on the order of the rows, the
    dtype, or declared categories that never occur.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    counts = count_codes(codes, len(texts)).tolist()
    found = {text for text, count in zip(texts, counts, strict=True) if count}
    categories = tuple(sorted(found))
    return NominalColumn(NominalColumn(codes, tuple(texts)).recode(categories), categories)


def _series_to_column(series: pd.Series, name: str, known: dict[int, list[str]]) -> Column:
    """A column; `known` has the texts of categories that columns share."""
    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        if _is_number_dtype(dtype.subtype) and not dtype.fill_value:
            array: Any = series.array
            return NumericColumn(
                _check_finite(np.asarray(array.sp_values, dtype=np.float64), name),
                array.sp_index.indices.astype(np.intp),
            )
        series = pd.Series(np.asarray(series.array))
        dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype) and "dictionary" in str(dtype.pyarrow_dtype):
        return _nominal_from_values(np.array(series.tolist(), dtype=object), name)
    if isinstance(dtype, pd.CategoricalDtype):
        # The frame keeps the categories alive, so no others have their identity.
        texts = known.get(id(dtype.categories))
        if texts is None:
            texts = [category_text(value) for value in dtype.categories.to_numpy(dtype=object)]
            known[id(dtype.categories)] = texts
        categorical: Any = series.array
        return _nominal_from_codes(categorical.codes, texts)
    if _is_number_dtype(dtype):
        if dtype.kind == "c":
            raise ValueError(f"Complex data not supported: attribute {name!r}")
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return NumericColumn(_check_finite(numbers, name))
    seconds = series_to_seconds(series)
    if seconds is not None:
        return NumericColumn(seconds[0], kind=seconds[1])
    if dtype.kind == "O" and pd.api.types.infer_dtype(series, skipna=True) == "decimal":
        return NumericColumn(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if (
        pd.api.types.is_bool_dtype(dtype)
        or pd.api.types.is_string_dtype(dtype)
        or pd.api.types.is_object_dtype(dtype)
    ):
        return _nominal_from_values(series.to_numpy(dtype=object, na_value=np.nan), name)
    raise ValueError(
        f"attribute {name!r} has type {dtype}, which is neither numeric nor nominal; "
        "convert or drop it"
    )


def _frame_to_columns(X: pd.DataFrame) -> Iterator[Column]:
    # pandas looks up the name of each column it yields; for text data that takes longer than the rest.
    unnamed = X.copy(deep=False)
    unnamed.columns = pd.RangeIndex(X.shape[1])
    known: dict[int, list[str]] = {}
    for name, (_, series) in zip(column_names(X), unnamed.items(), strict=True):
        yield _series_to_column(series, name, known)


def _is_number_dtype(dtype: Any) -> bool:
    """Whether values have an order; booleans, which pandas counts as numeric, are nominal."""
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def _check_finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if np.isinf(values).any():
        raise ValueError(f"attribute {name!r} contains infinity; it must be finite or missing")
    return values


def _object_array_to_columns(
    X: NDArray[Any], names: Sequence[str], features: Sequence[Feature] | None
) -> Iterator[Column]:
    for j, name in enumerate(names):
        values = X[:, j]
        # Known categories stay categories even if all texts of the table look like numbers.
        if features is not None and features[j].is_nominal:
            yield _nominal_from_values(values, name)
            continue
        seconds = series_to_seconds(pd.Series(values)) if X.dtype.kind == "O" else None
        if seconds is not None:
            yield NumericColumn(seconds[0], kind=seconds[1])
            continue
        try:
            numbers = values.astype(np.float64)
        except (ValueError, TypeError):
            yield _nominal_from_values(values, name)
            continue
        yield NumericColumn(_check_finite(numbers, name))


def table_to_columns(X: Any, features: Sequence[Feature] | None = None) -> Iterable[Column]:
    """Columns of a DataFrame, an array or a sparse matrix, one at a time.

    Each is numeric or nominal like its attribute, if `features` are given. Without them a column of
    an object array is numeric if all its values are numbers. Infinite values are rejected.
    """
    if isinstance(X, pd.DataFrame):
        columns: Iterable[Column] = _frame_to_columns(X)
    else:
        names = column_names(X) if features is None else [feature.name for feature in features]
        columns = _array_to_columns(X, names, features)
    return columns if features is None else map(_fit_column, columns, features)


def _array_to_columns(
    X: Any, names: Sequence[str], features: Sequence[Feature] | None
) -> Iterable[Column]:
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        if not X.has_canonical_format:
            X = X.copy()  # it shares the caller's arrays, which the next line changes
            X.sum_duplicates()
        return (
            NumericColumn(
                _check_finite(X.data[X.indptr[j] : X.indptr[j + 1]].astype(np.float64), name),
                X.indices[X.indptr[j] : X.indptr[j + 1]].astype(np.intp),
            )
            for j, name in enumerate(names)
        )
    X = np.asarray(X)
    if X.dtype.kind in "OUS":
        return _object_array_to_columns(X, names, features)
    X = np.asarray(X, dtype=np.float64)
    # A finite sum has no infinite part; all columns together take a fraction of the time of each alone.
    with np.errstate(over="ignore", invalid="ignore"):
        is_certain = np.isfinite(X.sum(axis=0))
    for j in np.flatnonzero(~is_certain).tolist():
        _check_finite(X[:, j], names[j])
    return (NumericColumn(X[:, j]) for j in range(len(names)))


def column_names(X: Any) -> tuple[str, ...]:
    """Names of a table's columns: the DataFrame's own, else x0, x1, ..."""
    if isinstance(X, pd.DataFrame):
        return tuple(map(str, X.columns.tolist()))
    return tuple(f"x{j}" for j in range(X.shape[1]))


def _fit_column(column: Column, feature: Feature) -> Column:
    """A column in the form of its attribute: numbers, or categories as the attribute writes them."""
    if feature.categories is None:
        return _column_to_numbers(column, feature)
    if isinstance(column, NumericColumn):
        if column.rows is not None:
            raise ValueError(f"attribute {feature.name!r} is nominal; it cannot be a sparse column")
        if column.kind is not None:
            raise ValueError(f"attribute {feature.name!r} is nominal; it cannot be a {column.kind}")
        values = column.values.astype(object)
        values[np.isnan(column.values)] = None
        column = _nominal_from_values(values, feature.name)
    return NominalColumn(column.codes, tuple(map(feature.read_category, column.categories)))


def _column_to_numbers(column: Column, feature: Feature) -> NumericColumn:
    """A column as numbers, those of dates and times as seconds."""
    if isinstance(column, NominalColumn):
        numbers = np.full(len(column.categories) + 1, np.nan)  # the last one is missing
        for i, text in enumerate(column.categories):
            numbers[i] = _text_to_number(text, feature)
        column = NumericColumn(
            _check_finite(numbers, feature.name)[column.codes], None, feature.kind
        )
    if column.kind != feature.kind and (column.kind or feature.is_temporal):
        are_moments = {column.kind, feature.kind} == set(MOMENT_KINDS)
        if not are_moments and not np.isnan(column.values).all():
            wanted, found = feature.kind or "number", column.kind or "number"
            raise ValueError(
                f"attribute {feature.name!r} is a {wanted}, but the table has {found}s"
            )
    if feature.kind == "date":
        return column._replace(values=floor_to_days(column.values))
    return column


def _text_to_number(text: str, feature: Feature) -> float:
    if not feature.is_temporal:
        try:
            return float(text)
        except ValueError:
            problem = "numeric"
    else:
        seconds = value_to_seconds(text)
        if seconds is not None:
            return seconds[0]
        problem = f"a {feature.kind}"
    raise ValueError(f"attribute {feature.name!r} is {problem}, but one of its values is {text!r}")


def column_to_values(column: Column, n_rows: int) -> list[Value]:
    """The values of a column as conditions see them, one per row; keeps unknown categories."""
    if isinstance(column, NominalColumn):
        return [None if code < 0 else column.categories[code] for code in column.codes]
    numbers = column.values
    if column.rows is not None:
        numbers = np.zeros(n_rows)
        numbers[column.rows] = column.values
    return [None if np.isnan(number) else float(number) for number in numbers]


def select_columns(X: Any, features: Sequence[Feature], used_idx: NDArray[np.intp]) -> Any:
    """The used columns of a table: by name in a DataFrame, by position elsewhere."""
    if is_foreign(X):
        X = to_pandas(X)
    if isinstance(X, pd.DataFrame):
        names = [str(name) for name in X.columns]
        if _is_matched_by_name(names, [f.name for f in features]):
            position = {name: i for i, name in reversed(list(enumerate(names)))}
            wanted = [features[f].name for f in used_idx]
            missing = [name for name in wanted if name not in position]
            if missing:
                raise ValueError(f"the table has no column for {list_names(missing)}")
            return X.iloc[:, [position[name] for name in wanted]]
    elif not sparse.issparse(X):
        X = as_array(X)
    if len(X.shape) != 2 or X.shape[1] != len(features):
        raise ValueError(f"expected a table with {len(features)} attributes, got shape {X.shape}")
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, used_idx]
    if sparse.issparse(X):
        return sparse.csr_array(sparse.csc_array(X)[:, used_idx])
    return _take_columns(X, used_idx)


def _take_columns(X: NDArray[Any], used_idx: NDArray[np.intp]) -> NDArray[Any]:
    """Columns of an array, each in one piece of memory.

    A few rows at a time are read, as many as fit into a cache: the numbers of a column are far apart.
    """
    taken = np.empty((len(used_idx), len(X)), dtype=X.dtype)
    if X.dtype == np.float64 and X.flags.c_contiguous:
        take_columns(X, used_idx.astype(np.int64), taken)
        return taken.T
    n_rows = max(16, _CACHED_BYTES // max(1, X.itemsize * X.shape[1]))
    for start in range(0, len(X), n_rows):
        taken[:, start : start + n_rows] = X[start : start + n_rows].T[used_idx]
    return taken.T


def _is_matched_by_name(names: Sequence[str], known: Sequence[str]) -> bool:
    """Whether the columns of a DataFrame are matched by name; otherwise by position.

    Attributes with names of their own are matched by name. x0, x1, ... are the names of an array's
    columns, so a DataFrame may have others: it is matched by name if it has all of them or nothing
    else, and by position if it has none of them. A mixture could mean either (x1, x2, ... counted
    from 1), so it is rejected.
    """
    if list(known) != list(column_names(np.empty((0, len(known))))):
        return True
    own, others = set(known), set(names)
    missing = [name for name in known if name not in others]
    unknown = [name for name in names if name not in own]
    if not missing or not unknown:
        return True
    if len(missing) == len(known):
        return False
    raise ValueError(
        f"cannot match the columns by name or by position: the table has {shorten_repr(unknown[0])} "
        f"but not {list_names(missing)}"
    )


def as_array(X: Any) -> NDArray[Any]:
    """An array, or a list of rows as an array; rejects anything else."""
    if not hasattr(X, "__len__") or isinstance(X, str | bytes | Mapping):
        raise TypeError(
            "X must be a DataFrame, an array, a sparse matrix or a list of rows, "
            f"got {shorten_repr(X)}"
        )
    try:
        return np.asarray(X)
    except ValueError:
        raise ValueError("the rows of the table differ in length") from None


def as_table(X: Any) -> Any:
    """One example (Series, dict, 1-D array or list) as a table with one row; tables as they are.

    Examples
    --------
    >>> as_table({"size": 3.0, "colour": "red"})
       size colour
    0   3.0    red
    >>> as_table([1.0, 2.0]).shape
    (1, 2)
    """
    X = to_pandas(X)
    if isinstance(X, pd.DataFrame) or sparse.issparse(X):
        return X
    if isinstance(X, pd.Series):
        if isinstance(X.dtype, pd.SparseDtype):
            X = pd.Series(X.to_numpy(), index=X.index, name=X.name)
        # A row of mixed columns has dtype object; its values still know their types.
        return X.astype(object).to_frame().T.infer_objects()
    if isinstance(X, Mapping):
        return pd.DataFrame([X])
    array = X if hasattr(X, "dtype") else np.asarray(X, dtype=object)
    if array.ndim == 0:
        raise TypeError(
            "expected an example (a Series, a dict, a list or a 1-D array) or a table, "
            f"got {shorten_repr(X)}"
        )
    if array is not X:
        array = np.where(pd.isna(array), np.nan, array)
    return array.reshape(1, -1) if array.ndim == 1 else array


def order_labels(names: Sequence[str], Y: pd.DataFrame) -> pd.DataFrame:
    """The columns of a frame with the labels of a theory, in its order."""
    columns = {str(name): name for name in Y.columns}
    for name in names:
        if name not in columns:
            hint = did_you_mean(name, columns) or f"; it has {list_names(list(columns))}"
            raise ValueError(f"Y has no label {name!r}, which the theory predicts{hint}")
    return Y[[columns[name] for name in names]]
