"""ARFF files to a matrix of numbers and category codes, with a check of every cell.

Written by hand because no library reads sparse ARFF with missing values and nominal defaults at
this speed and names the line of a bad cell.
"""

from array import array
from collections.abc import Callable
from datetime import datetime
from functools import partial
from io import StringIO
from itertools import count, pairwise
from math import inf, isinf
from operator import call
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from steelyard._text import shorten_repr
from steelyard.model.moments import value_to_seconds

from ..errors import DataError, error_at
from ..text_files import read_text
from .cells import MISSING, ArffSyntaxError, Cell, Row, split_row
from .header import Attribute, parse_header


class ArffTable(NamedTuple):
    """The content of an ARFF file.

    ``values`` is a sparse matrix of numbers and of codes: the code of a nominal value is its
    position in the declaration, and a date is its seconds since 1970. Missing values are NaN.
    Sparse rows leave out what is 0 here, and that includes the *first* value of a nominal
    attribute.
    """

    relation: str
    attributes: list[Attribute]
    values: Any  # csr_array of shape (n_examples, n_attributes)
    lines: NDArray[np.int64]  # the line of each example, for messages
    n_sparse_rows: int
    n_weights: int


def read_arff(path: Path) -> ArffTable:
    """Read a file; every problem is a DataError with the line."""
    numbered = enumerate(map(str.strip, StringIO(read_text(path), newline=None)), start=1)
    lines = ((number, text) for number, text in numbered if text and not text.startswith("%"))
    relation, attributes = parse_header(path, lines)
    all_columns = array("q", range(len(attributes)))
    parsers = [_fast_parser(attribute) for attribute in attributes]
    values, column_idx, row_ends, numbers = array("d"), array("q"), array("q", [0]), array("q")
    n_sparse_rows = n_weights = 0
    for number, text in lines:
        try:
            row = split_row(text)
            _check_shape(row, len(attributes))
            columns = all_columns if row.columns is None else array("q", row.columns)
            try:
                parsed = list(map(call, map(parsers.__getitem__, columns), row.cells))
            except (KeyError, ValueError):
                parsed = [inf]
            # float() also accepts 1_000 and Infinity, which are not numbers in ARFF.
            if "_" in text or inf in parsed or -inf in parsed:
                for column, cell in zip(columns, row.cells, strict=True):
                    _check_cell(attributes[column], parsers[column], cell)
        except ArffSyntaxError as error:
            raise error_at(path, number, error) from None
        values.fromlist(parsed)
        column_idx.extend(columns)
        row_ends.append(len(values))
        numbers.append(number)
        n_sparse_rows += row.columns is not None
        n_weights += row.has_weight
    if not numbers:
        raise DataError(f"{path} has no examples after @data")
    content = (np.array(values), np.array(column_idx), np.array(row_ends))
    matrix = csr_array(content, shape=(len(numbers), len(attributes)))
    return ArffTable(relation, attributes, matrix, np.array(numbers), n_sparse_rows, n_weights)


def _check_shape(row: Row, n_attributes: int) -> None:
    n_cells = len(row.cells)
    if row.columns is None and n_cells != n_attributes:
        raise ArffSyntaxError(f"the row has {n_cells} values instead of {n_attributes}")
    for before, column in pairwise([-1, *(row.columns or ())]):
        if column >= n_attributes:
            raise ArffSyntaxError(f"index {column} is out of range: the last is {n_attributes - 1}")
        if column <= before:
            raise ArffSyntaxError(f"index {column} is not greater than the index before it")


def _fast_parser(attribute: Attribute) -> Callable[[Any], float]:
    """Return a function that converts every valid cell and raises on most others."""
    if attribute.kind == "nominal":
        codes: dict[Cell, float] = dict(zip(attribute.values, count(0.0)))
        return (codes | {MISSING: MISSING}).__getitem__
    if attribute.kind == "date":
        return partial(_parse_date, attribute.date_format)
    return float if attribute.kind == "numeric" else lambda _: MISSING


def _parse_date(date_format: str, cell: Cell) -> float:
    """Seconds since 1970."""
    if cell is MISSING or not isinstance(cell, str):
        return MISSING
    moment = value_to_seconds(datetime.strptime(cell, date_format))
    return MISSING if moment is None else moment[0]


def _check_cell(attribute: Attribute, parse: Callable[[Any], float], cell: Cell) -> None:
    try:
        number = parse(cell)
    except (KeyError, ValueError):
        number = inf
    is_numeric = attribute.kind == "numeric"
    if isinf(number) or (is_numeric and "_" in str(cell)):
        expected = f"among its values {attribute.type_name}"
        if attribute.kind != "nominal":
            expected = "a number" if is_numeric else f"a date like {attribute.date_format}"
        found = shorten_repr(str(cell))
        raise ArffSyntaxError(f"attribute {attribute.name!r}: {found} is not {expected}")
