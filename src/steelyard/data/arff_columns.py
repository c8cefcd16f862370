"""ARFF cells to columns: numbers, category codes, and the check of every single cell.

Dense and sparse rows meet here: whatever a row looked like, its cells are converted by the same
function, a column at a time. Written by hand because no library reads sparse ARFF with missing
values and nominal defaults at this speed and names the line of a bad cell.
"""

import math
from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arff_cells import ArffSyntaxError, Cell, split_dense_row, split_sparse_row
from .arff_header import Attribute
from .errors import DataError, error_at, shorten

Values = NDArray[np.float64] | NDArray[np.int32]

# Cells of dense rows are converted in blocks of about this many: their strings take about 65 MB
# then, however long the file is.
_N_CELLS_PER_BLOCK = 1_000_000


class Column(NamedTuple):
    """One attribute of all examples.

    ``values`` are floats (missing: NaN) or codes into the nominal values (missing: -1). With
    ``rows`` they belong to those examples, and all others have 0: that is what a sparse row
    leaves out, and it is the code of the first value of a nominal attribute.
    """

    attribute: Attribute
    values: Values
    rows: NDArray[np.intp] | None

    def dense(self, n_examples: int) -> Values:
        """All examples' values."""
        if self.rows is None:
            return self.values
        full = np.zeros(n_examples, dtype=self.values.dtype)
        full[self.rows] = self.values
        return full


class Table(NamedTuple):
    """The rows of an ARFF file, by column; unsupported attributes have none."""

    columns: list[Column]
    lines: NDArray[np.intp]  # of each example, for messages
    n_sparse_rows: int
    n_weights: int


def parse_rows(
    path: str | PathLike[str], attributes: list[Attribute], lines: list[str], n_header_lines: int
) -> Table:
    """Parse what follows ``@data``; every problem is a DataError with the line."""
    numbers, rows = [], []
    for number, line in enumerate(lines[n_header_lines:], start=n_header_lines + 1):
        text = line.strip()
        if text and not text.startswith("%"):
            numbers.append(number)
            rows.append(text)
    if not rows:
        raise DataError(f"{path} has no examples after @data")

    line_numbers = np.array(numbers, dtype=np.intp)
    n_sparse_rows = sum(row.startswith("{") for row in rows)
    parse = _parse_sparse_rows if n_sparse_rows else _parse_dense_rows
    columns, n_weights = parse(path, attributes, rows, line_numbers)
    return Table(columns, line_numbers, n_sparse_rows, n_weights)


def _parse_dense_rows(
    path: str | PathLike[str],
    attributes: list[Attribute],
    rows: list[str],
    lines: NDArray[np.intp],
) -> tuple[list[Column], int]:
    n_weights = 0
    columns = [Column(a, _allocate_values(a, len(rows)), None) for a in attributes]
    code_of = [_value_to_code(attribute) for attribute in attributes]
    n_rows_per_block = max(1, _N_CELLS_PER_BLOCK // len(attributes))
    for start in range(0, len(rows), n_rows_per_block):
        block = []
        for row, line in zip(
            rows[start : start + n_rows_per_block],
            lines[start : start + n_rows_per_block],
            strict=True,
        ):
            cells, has_weight = _split_checked(path, row, line, len(attributes))
            block.append(cells)
            n_weights += has_weight
        stop = start + len(block)
        for column, codes, cells_of_column in zip(
            columns, code_of, zip(*block, strict=True), strict=True
        ):
            if column.attribute.kind != "unsupported":
                column.values[start:stop] = _convert_cells(
                    path, column.attribute, codes, cells_of_column, lines[start:stop]
                )
    return [column for column in columns if column.attribute.kind != "unsupported"], n_weights


def _parse_sparse_rows(
    path: str | PathLike[str],
    attributes: list[Attribute],
    rows: list[str],
    lines: NDArray[np.intp],
) -> tuple[list[Column], int]:
    n_weights = 0
    all_columns = list(range(len(attributes)))
    column_idx: list[int] = []
    cells: list[Cell] = []
    n_cells_of_row = np.empty(len(rows), dtype=np.intp)
    for position, (row, line) in enumerate(zip(rows, lines, strict=True)):
        if row.startswith("{"):
            try:
                sparse_row, has_weight = split_sparse_row(row)
            except ArffSyntaxError as error:
                raise error_at(path, int(line), str(error)) from None
            column_idx += sparse_row.columns
            cells += sparse_row.cells
            n_cells_of_row[position] = len(sparse_row.cells)
        else:
            dense_cells, has_weight = _split_checked(path, row, line, len(attributes))
            column_idx += all_columns
            cells += dense_cells
            n_cells_of_row[position] = len(dense_cells)
        n_weights += has_weight

    row_of_cell = np.repeat(np.arange(len(rows)), n_cells_of_row)
    column_of_cell = np.array(column_idx, dtype=np.intp)
    _check_indices(path, column_of_cell, row_of_cell, len(attributes), lines)

    by_column = np.argsort(column_of_cell, kind="stable")
    cells_by_column = np.array(cells, dtype=object)[by_column]
    rows_by_column = row_of_cell[by_column]
    bounds = np.searchsorted(column_of_cell[by_column], np.arange(len(attributes) + 1))
    columns = []
    for attribute, start, stop in zip(attributes, bounds[:-1], bounds[1:], strict=True):
        if attribute.kind == "unsupported":
            continue
        rows_of_column = rows_by_column[start:stop]
        values = _convert_cells(
            path,
            attribute,
            _value_to_code(attribute),
            cells_by_column[start:stop].tolist(),
            lines[rows_of_column],
        )
        columns.append(Column(attribute, values, rows_of_column))
    return columns, n_weights


def _split_checked(
    path: str | PathLike[str], row: str, line: int, n_attributes: int
) -> tuple[list[Cell], bool]:
    try:
        cells, has_weight = split_dense_row(row)
    except ArffSyntaxError as error:
        raise error_at(path, int(line), str(error)) from None
    if len(cells) != n_attributes:
        raise error_at(
            path,
            int(line),
            f"the row is too {'short' if len(cells) < n_attributes else 'long'}:"
            f" {len(cells)} values for {n_attributes} attributes",
        )
    return cells, has_weight


def _check_indices(
    path: str | PathLike[str],
    column_of_cell: NDArray[np.intp],
    row_of_cell: NDArray[np.intp],
    n_attributes: int,
    lines: NDArray[np.intp],
) -> None:
    too_large = np.flatnonzero(column_of_cell >= n_attributes)
    if len(too_large):
        first = too_large[0]
        raise error_at(
            path,
            int(lines[row_of_cell[first]]),
            f"index {column_of_cell[first]} is out of range: the {n_attributes} attributes are"
            f" numbered from 0 to {n_attributes - 1}",
        )
    step = np.diff(column_of_cell)
    bad = np.flatnonzero((step <= 0) & (np.diff(row_of_cell) == 0))
    if len(bad):
        first = bad[0] + 1
        problem = "appears twice" if step[bad[0]] == 0 else "is not in ascending order"
        raise error_at(
            path,
            int(lines[row_of_cell[first]]),
            f"index {column_of_cell[first]} {problem} in the sparse row",
        )


def _allocate_values(attribute: Attribute, n_examples: int) -> Values:
    if attribute.kind == "nominal":
        return np.empty(n_examples, dtype=np.int32)
    return np.empty(n_examples, dtype=np.float64)


def _value_to_code(attribute: Attribute) -> dict[Cell, int]:
    return {None: -1} | {value: code for code, value in enumerate(attribute.values)}


def _convert_cells(
    path: str | PathLike[str],
    attribute: Attribute,
    codes: dict[Cell, int],
    cells: Sequence[Cell],
    lines: NDArray[np.intp],
) -> Values:
    try:
        if attribute.kind == "nominal":
            return np.fromiter(map(codes.__getitem__, cells), np.int32, len(cells))
        numbers = np.array([math.nan if cell is None else float(cell) for cell in cells])
    except (KeyError, ValueError):
        raise _bad_cell(path, attribute, cells, lines) from None
    # float() also takes 1_000 and Infinity, which no ARFF file means.
    if np.isinf(numbers).any() or "_" in "".join(filter(None, cells)):
        raise _bad_cell(path, attribute, cells, lines)
    return numbers


def _bad_cell(
    path: str | PathLike[str],
    attribute: Attribute,
    cells: Sequence[Cell],
    lines: NDArray[np.intp],
) -> DataError:
    """The error for the first cell that cannot be converted."""
    for cell, line in zip(cells, lines, strict=True):
        if cell is None:
            continue
        if attribute.kind == "nominal":
            if cell in attribute.values:
                continue
            allowed = ", ".join(attribute.values)
            problem = f"{shorten(cell)} is not among its values {{{shorten(allowed)[1:-1]}}}"
        else:
            try:
                if "_" not in cell and not math.isinf(float(cell)):
                    continue
            except ValueError:
                pass
            problem = f"{shorten(cell)} is not a number"
        return error_at(path, int(line), f"attribute {attribute.name!r}: {problem}")
    raise AssertionError("every cell is fine")
