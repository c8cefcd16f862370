"""Attributes and their codes: what a column is called, which values it knows, where its cut points lie.

Every table is turned once into small integers (numeric → rank, nominal → category, missing → -1);
everything above works on these codes, and only people see the values again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from steelyard._kernels.coding import (
    code_numbers,
    distinct_numbers,
    most_frequent_code,
    pair_with_next,
)

MISSING = -1

# A column whose most frequent code fills all but this share of the rows is kept as a list of the
# other rows: on text (medical, enron) a list is far shorter than a column.
LISTED_SHARE = 1 / 8

# How tables and data bases write truth values, in lower case.
TRUTH_WORDS = {"True": ("true", "1", "1.0"), "False": ("false", "0", "0.0")}


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
class Feature:
    """One attribute: its name and, if it is nominal, its categories (as text).

    Examples
    --------
    >>> Feature("colour", ("red", "green")).is_nominal
    True
    """

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def is_nominal(self) -> bool:
        """Whether conditions on it test equality instead of order."""
        return self.categories is not None

    @property
    def is_truth_value(self) -> bool:
        """Whether its categories are True and False, which other tables write as 1 and 0."""
        return self.categories in (("False", "True"), ("False",), ("True",), ("True", "False"))

    def read_category(self, text: str) -> str:
        """The category that a text stands for: of a truth value, "1" is True.

        Examples
        --------
        >>> Feature("ill", ("False", "True")).read_category("1")
        'True'
        >>> Feature("grade", ("1", "2")).read_category("1")
        '1'
        """
        if self.is_truth_value:
            for category, words in TRUTH_WORDS.items():
                if text.lower() in words:
                    return category
        return text


class NumericColumn(NamedTuple):
    """Numbers of a column; `rows` is None if there is one for each row, else all others are 0."""

    values: NDArray[np.float64]
    rows: NDArray[np.intp] | None = None


class NominalColumn(NamedTuple):
    """Category codes of a column (-1 is missing) and the text of each category."""

    codes: NDArray[Any]
    categories: tuple[str, ...]


def category_text(value: object) -> str:
    """Text of a category, so that 4, 4.0 and "4" from different readers are the same category.

    Examples
    --------
    >>> category_text(4.0), category_text("red"), category_text(True)
    ('4', 'red', 'True')
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


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


def refuse_surrogates(text: str, what: str) -> None:
    """Refuse half of a pair of surrogates, which no file and no DataFrame can hold as text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{what} contains a lone surrogate, which is no character; replace it"
        ) from None


def _is_hashable(value: object) -> bool:
    # Asked of the value, not of its type: a tuple with a list in it has no hash either.
    try:
        hash(value)
    except TypeError:
        return False
    return True


def shorten_repr(value: object) -> str:
    """A value as it prints itself, cut where it would fill a message."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _nominal_from_codes(codes: NDArray[Any], texts: Sequence[str]) -> NominalColumn:
    """A column from codes that point into `texts` (-1 is missing).

    Its categories are the texts that occur, sorted: they depend neither on the order of the rows, nor
    on the type that holds the text, nor on categories that were declared and never seen.
    """
    occurs = np.bincount(codes[codes >= 0], minlength=len(texts)) > 0
    categories = sorted({text for text, does in zip(texts, occurs, strict=True) if does})
    return _recode_categories(codes, texts, tuple(categories))


def _recode_categories(
    codes: NDArray[Any], texts: Sequence[str], categories: tuple[str, ...]
) -> NominalColumn:
    """Codes that point into `texts` (-1 is missing) as codes of `categories`."""
    if categories == tuple(texts):
        return NominalColumn(codes, categories)
    position = {text: code for code, text in enumerate(categories)}
    lookup = np.array([*(position.get(text, MISSING) for text in texts), MISSING], dtype=np.intp)
    return NominalColumn(lookup[codes], categories)


def _series_to_column(series: pd.Series, name: str) -> NumericColumn | NominalColumn:
    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        if _is_number_dtype(dtype.subtype) and not dtype.fill_value:
            array: Any = series.array
            return NumericColumn(
                _refuse_infinity(np.asarray(array.sp_values, dtype=np.float64), name),
                array.sp_index.indices.astype(np.intp),
            )
        series = pd.Series(np.asarray(series.array))
        dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        texts = [category_text(value) for value in dtype.categories.to_numpy(dtype=object)]
        categorical: Any = series.array
        return _nominal_from_codes(categorical.codes, texts)
    if _is_number_dtype(dtype):
        if dtype.kind == "c":
            raise ValueError(f"Complex data not supported: attribute {name!r}")
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return NumericColumn(_refuse_infinity(numbers, name))
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


def _frame_to_columns(X: pd.DataFrame) -> Iterator[NumericColumn | NominalColumn]:
    # pandas looks up the name of each column it hands out, which for text takes longer than the rest.
    unnamed = X.copy(deep=False)
    unnamed.columns = pd.RangeIndex(X.shape[1])
    for name, (_, series) in zip(column_names(X), unnamed.items(), strict=True):
        yield _series_to_column(series, name)


def _is_number_dtype(dtype: Any) -> bool:
    """Numbers have an order; truth values, which pandas counts among them, are nominal."""
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def _refuse_infinity(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if np.isinf(values).any():
        raise ValueError(f"attribute {name!r} contains infinity; it must be finite or missing")
    return values


def _object_array_to_columns(
    X: NDArray[Any], names: Sequence[str], features: Sequence[Feature] | None
) -> Iterator[NumericColumn | NominalColumn]:
    for j, name in enumerate(names):
        values = X[:, j]
        # A known category stays one where all the texts of a table happen to look like numbers.
        if features is not None and features[j].is_nominal:
            yield _nominal_from_values(values, name)
            continue
        try:
            numbers = values.astype(np.float64)
        except (ValueError, TypeError):
            yield _nominal_from_values(values, name)
            continue
        yield NumericColumn(_refuse_infinity(numbers, name))


def table_to_columns(
    X: Any, features: Sequence[Feature] | None = None
) -> Iterable[NumericColumn | NominalColumn]:
    """Columns of a DataFrame, an array or a sparse matrix, one at a time.

    A column of an array of objects is numeric if all it holds are numbers, unless its `features` are
    known already. Infinity is refused in whatever form it comes.
    """
    if isinstance(X, pd.DataFrame):
        return _frame_to_columns(X)
    names = column_names(X) if features is None else [feature.name for feature in features]
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        if not X.has_canonical_format:
            X = (
                X.copy()
            )  # the conversion shares the caller's arrays, and the next line changes them
            X.sum_duplicates()
        return (
            NumericColumn(
                _refuse_infinity(X.data[X.indptr[j] : X.indptr[j + 1]].astype(np.float64), name),
                X.indices[X.indptr[j] : X.indptr[j + 1]].astype(np.intp),
            )
            for j, name in enumerate(names)
        )
    X = np.asarray(X)
    if X.dtype.kind in "OUS":
        return _object_array_to_columns(X, names, features)
    X = np.asarray(X, dtype=np.float64)
    return (NumericColumn(_refuse_infinity(X[:, j], name)) for j, name in enumerate(names))


def column_names(X: Any) -> tuple[str, ...]:
    """Names of a table's columns: the DataFrame's own, else x0, x1, ..."""
    if isinstance(X, pd.DataFrame):
        return tuple(map(str, X.columns.tolist()))
    return tuple(f"x{j}" for j in range(X.shape[1]))


def _round_to_15_digits(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nearest decimal of 15 digits where powers of ten are exact, the number itself elsewhere."""
    magnitude = np.floor(np.log10(np.abs(numbers), where=numbers != 0, out=np.zeros_like(numbers)))
    digits = 14 - magnitude
    exact = (digits >= 0) & (digits <= 22)
    scale = 10.0 ** np.where(exact, digits, 0)
    return np.where(exact, np.round(numbers * scale) / scale, numbers)


def mid_points(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut points between neighbouring values: lower < cut ≤ upper, so that ``x ≥ cut`` separates them.

    Rounded to 15 digits, which removes the noise of binary fractions (0.15 instead of
    0.15000000000000002) and nothing else.

    Examples
    --------
    >>> mid_points(np.array([0.1, 0.2, 3.0]))
    array([0.15, 1.6 ])
    """
    lower, upper = values[:-1], values[1:]
    middle = lower / 2 + upper / 2  # not (lower + upper) / 2, which may overflow
    rounded = _round_to_15_digits(middle)
    cuts = np.where((lower < rounded) & (rounded <= upper), rounded, middle)
    return np.where((lower < cuts) & (cuts <= upper), cuts, upper)


# Cut points of a feature where rules are grown by the thousand: histograms stay in the fastest cache.
MOST_SPREAD_CUTS = 63


def spread_mid_points(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """At most 63 of the cut points, evenly spread over the ordered values.

    Examples
    --------
    >>> len(spread_mid_points(np.arange(1000.0))), spread_mid_points(np.arange(4.0))
    (63, array([0.5, 1.5, 2.5]))
    """
    cuts = mid_points(values)
    n_cuts = min(len(cuts), MOST_SPREAD_CUTS)
    return cuts[(np.arange(n_cuts) + 1) * (len(cuts) + 1) // (n_cuts + 1) - 1]


def value_cuts(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut points at the values themselves, so that ``x ≥ v`` and ``x ≤ v`` are both ranges of codes.

    Each value v is followed by the next larger float: x ≤ v is x < that float. Value i has the code
    2i + 1, and what lies between two values has a code of its own.

    Examples
    --------
    >>> np.searchsorted(value_cuts(np.array([1.0, 2.0])), [0.9, 1.0, 1.5, 2.0, 2.1], side="right")
    array([0, 1, 2, 3, 4])
    """
    cuts: NDArray[np.float64] = pair_with_next(values)
    return cuts


@dataclass(frozen=True)
class FeatureCoder:
    """Features with the cut points that give their codes; turns tables into codes and back.

    The code of a number is how many of its feature's cut points are not above it. A condition on a
    feature is a range ``low ≤ code < high``, for nominal features of length one.

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
        builder = _CodeBuilder(n_rows=X.shape[0])
        for feature, cuts, column in zip(
            self.features, self.cuts, table_to_columns(X, self.features), strict=True
        ):
            if feature.categories is not None:
                builder.add_nominal(_recode(column, feature), len(feature.categories))
            elif isinstance(column, NominalColumn):
                builder.add_numeric(_numbers_from_text(column, feature.name), cuts)
            else:
                builder.add_numeric(column, cuts)
        return builder.build()

    def n_codes(self, feature_idx: int) -> int:
        """Number of codes of a feature."""
        categories = self.features[feature_idx].categories
        return len(self.cuts[feature_idx]) + 1 if categories is None else len(categories)


def _recode(column: NumericColumn | NominalColumn, feature: Feature) -> NDArray[np.intp]:
    if isinstance(column, NumericColumn):
        if column.rows is not None:
            raise ValueError(
                f"attribute {feature.name!r} is nominal and cannot be given as a sparse column"
            )
        values = column.values.astype(object)
        values[np.isnan(column.values)] = None
        column = _nominal_from_values(values, feature.name)
    texts = [feature.read_category(text) for text in column.categories]
    return _recode_categories(column.codes, texts, feature.categories or ()).codes


def _numbers_from_text(column: NominalColumn, name: str) -> NumericColumn:
    try:
        numbers = [float(text) for text in column.categories]
    except ValueError:
        bad = next(text for text in column.categories if not _is_number(text))
        raise ValueError(
            f"attribute {name!r} is numeric, but one of its values is {bad!r}"
        ) from None
    return NumericColumn(_refuse_infinity(np.array([*numbers, np.nan]), name)[column.codes])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_NO_CODES = np.empty(0, dtype=np.int32)


class _CodeBuilder:
    """Collects coded columns, choosing for each whether it is stored dense or listed."""

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
        default, n_default = most_frequent_code(codes, n_codes)
        if self.n_rows - n_default <= LISTED_SHARE * self.n_rows:
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


class TrainingFeatures(NamedTuple):
    """What growing needs: the coder, the codes of the training rows and the values behind the codes."""

    coder: FeatureCoder
    coded: CodedFeatures
    values: NDArray[np.float64]
    values_indptr: NDArray[np.int64]


def code_training_table(
    X: Any,
    names: Sequence[str] | None = None,
    place_cuts: Callable[[NDArray[np.float64]], NDArray[np.float64]] = mid_points,
) -> TrainingFeatures:
    """Learn the coder of a training table and encode the table with it.

    `place_cuts` turns the distinct values of a numeric feature into its cut points.

    Examples
    --------
    >>> table = pd.DataFrame({"size": [1.0, 3.0, None], "colour": ["red", "blue", "red"]})
    >>> coder, coded, *_ = code_training_table(table)
    >>> coder.features
    (Feature(name='size', categories=None), Feature(name='colour', categories=('blue', 'red')))
    >>> coder.cuts[0], coded.dense
    (array([2.]), array([[ 0, 1, -1], [ 1, 0, 1]], dtype=int32))
    """
    names = column_names(X) if names is None else tuple(map(str, names))
    n_rows = X.shape[0]
    builder = _CodeBuilder(n_rows)
    features: list[Feature] = []
    cuts: list[NDArray[np.float64]] = []
    distinct: list[NDArray[np.float64]] = []
    for name, column in zip(names, table_to_columns(X), strict=True):
        refuse_surrogates(name, f"the attribute {name!r}")
        if isinstance(column, NominalColumn):
            for text in column.categories:
                refuse_surrogates(text, f"the category {text!r} of the attribute {name!r}")
            features.append(Feature(name, column.categories))
            cuts.append(np.empty(0))
            distinct.append(np.empty(0))
            builder.add_nominal(column.codes, len(column.categories))
            continue
        values = distinct_numbers(np.sort(column.values))
        if column.rows is not None and len(column.rows) < n_rows:
            values = np.union1d(values, [0.0])
        features.append(Feature(name))
        distinct.append(values)
        cuts.append(place_cuts(values) if len(values) else np.empty(0))
        builder.add_numeric(column, cuts[-1])
    lengths = [len(values) for values in distinct]
    return TrainingFeatures(
        coder=FeatureCoder(tuple(features), tuple(cuts)),
        coded=builder.build(),
        values=np.concatenate([*distinct, np.empty(0)]),
        values_indptr=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
    )
