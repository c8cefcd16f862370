"""The training table: cut points of its attributes, its codes, and the values behind the codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.coding import distinct_numbers, few_distinct_numbers, pair_with_next
from steelyard._text import check_text
from steelyard.model.coding import (
    CodedFeatures,
    FeatureCoder,
    code_nominal,
    code_numeric,
    join_columns,
)
from steelyard.model.features import Feature
from steelyard.model.tables import (
    NominalColumn,
    NumericColumn,
    column_names,
    table_to_columns,
)


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

# So few values of an attribute are often those of another one, too.
_FEW_VALUES = 8


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
    return np.asarray(pair_with_next(values))


def _find_distinct(column: NumericColumn, n_rows: int) -> NDArray[np.float64]:
    """The distinct values of a column, ascending."""
    has_zeros = column.rows is not None and len(column.rows) < n_rows
    few = few_distinct_numbers(np.ascontiguousarray(column.values), has_zeros)
    if few is not None:
        return np.asarray(few)
    values = np.append(column.values, 0.0) if has_zeros else column.values
    return np.asarray(distinct_numbers(np.sort(values)))


def _find_cuts(
    values: NDArray[np.float64],
    place_cuts: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    known: dict[bytes, NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Cut points between values, those of few values only once: all words of a text have 0 and 1."""
    if len(values) > _FEW_VALUES:
        return place_cuts(values)
    key = values.tobytes()
    if key not in known:
        known[key] = place_cuts(values) if len(values) else values
    return known[key]


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
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 3.0, None], "colour": ["red", "blue", "red"]})
    >>> coder, coded, *_ = code_training_table(table)
    >>> coder.features
    (Feature(name='size', categories=None, kind=None),
     Feature(name='colour', categories=('blue', 'red'), kind=None))
    >>> coder.cuts[0], coded.dense
    (array([2.]), array([[ 0, 1, -1], [ 1, 0, 1]], dtype=int32))
    """
    names = column_names(X) if names is None else tuple(map(str, names))
    features, cuts, distinct, coded = [], [], [], []
    known: dict[bytes, NDArray[np.float64]] = {}
    for name, column in zip(names, table_to_columns(X), strict=True):
        check_text(name, f"the attribute {name!r}")
        categories, kind, values, cut_points = None, None, np.empty(0), np.empty(0)
        if isinstance(column, NominalColumn):
            categories = column.categories
            for text in categories:
                check_text(text, f"the category {text!r} of the attribute {name!r}")
            coded.append(code_nominal(column.codes, len(categories)))
        else:
            values = _find_distinct(column, X.shape[0])
            kind = column.find_kind(values)
            cut_points = _find_cuts(values, place_cuts, known)
            coded.append(code_numeric(column, cut_points, X.shape[0]))
        features.append(Feature(name, categories, kind))
        cuts.append(cut_points)
        distinct.append(values)
    coder = FeatureCoder(tuple(features), tuple(cuts))
    values_indptr = np.cumsum([0, *map(len, distinct)], dtype=np.int64)
    joined = join_columns(coded, X.shape[0])
    return TrainingFeatures(coder, joined, np.concatenate(distinct), values_indptr)
