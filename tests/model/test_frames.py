"""Frames of polars, pyarrow and pandas with the same content are the same table."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from steelyard.model.conditions import Condition
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.frames import to_pandas
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.tables import NominalColumn, column_names, table_to_columns
from steelyard.model.theory import Theory

POLARS = pl.DataFrame(
    {
        "integer": [1, None, 3],
        "real": [1.5, None, float("nan")],
        "decimal": [Decimal("1.5"), None, Decimal(2)],
        "switch": [True, None, False],
        "text": ["a", None, "b"],
        "category": pl.Series(["x", None, "y"], dtype=pl.Categorical),
        "level": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "high"])),
        "day": [dt.date(2024, 2, 29), None, dt.date(2024, 3, 1)],
        "moment": [dt.datetime(2024, 2, 29, 12, 30), None, dt.datetime(1960, 1, 1)],
        "time": [dt.time(18, 30), None, dt.time(9)],
        "duration": [dt.timedelta(hours=26), None, dt.timedelta(0)],
    }
)


def with_signed_indices(table: pa.Table) -> pa.Table:
    """The same table; older versions of pyarrow cannot give pandas the unsigned indices of polars."""
    for position, name in enumerate(table.column_names):
        column = table[name].combine_chunks()
        if pa.types.is_dictionary(column.type):
            indices = column.indices.cast(pa.int32())
            column = pa.DictionaryArray.from_arrays(indices, column.dictionary)
            table = table.set_column(position, name, column)
    return table


ARROW = POLARS.to_arrow()
SIGNED = with_signed_indices(ARROW)
FRAMES = {
    "polars": POLARS,
    "pyarrow": ARROW,
    "pandas": SIGNED.to_pandas(),
    "pandas with Arrow types": SIGNED.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with nullable types": SIGNED.to_pandas().convert_dtypes(),
}
KINDS = [*[None] * 3, "date", "datetime", "time", "duration"]


def read(frame: object) -> list[tuple[object, ...]]:
    """The content of the columns, comparable."""
    found = []
    for column in table_to_columns(to_pandas(frame)):
        if isinstance(column, NominalColumn):
            found.append((column.codes.tolist(), column.categories))
        else:
            found.append((np.nan_to_num(column.values, nan=-9e9).tolist(), column.kind))
    return found


@pytest.mark.parametrize("library", FRAMES)
def test_every_library_gives_the_same_columns(library):
    frame = FRAMES[library]
    assert column_names(to_pandas(frame)) == tuple(POLARS.columns)
    assert read(frame) == read(FRAMES["pandas"])


def test_the_columns_are_numbers_categories_and_moments():
    columns = list(table_to_columns(to_pandas(POLARS)))
    assert [isinstance(column, NominalColumn) for column in columns] == [
        *[False] * 3,
        *[True] * 4,
        *[False] * 4,
    ]
    kinds = [column.kind for column in columns if not isinstance(column, NominalColumn)]
    assert kinds == KINDS
    assert columns[3].categories == ("False", "True")
    assert columns[3].codes.tolist() == [1, -1, 0]


def test_series_keep_their_names():
    assert to_pandas(pl.Series("label", [0, 1])).name == "label"
    assert to_pandas(pl.Series("label", ["a", None])).isna().tolist() == [False, True]


def test_what_is_no_frame_stays_as_it_is():
    for table in ([[1, 2]], np.eye(2), {"a": 1}, None, FRAMES["pandas"]):
        assert to_pandas(table) is table


def test_lazy_frames_are_rejected_with_what_to_do():
    with pytest.raises(
        TypeError, match=r"must be in memory, got a LazyFrame: call its collect\(\)"
    ):
        to_pandas(POLARS.lazy())


def test_repeated_names_are_rejected():
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ValueError, match="unique column names"):
        to_pandas(twice)


@pytest.mark.parametrize("library", FRAMES)
def test_a_theory_matches_the_columns_of_every_frame_by_name(library):
    body = (Condition("real", "≥", 1), Condition("category", "=", "x"))
    theory = Theory(
        (Feature("category", ("x", "y")), Feature("real"), Feature("day", kind="date")),
        (Label("y", 1, 10, 30, 1, 28),),
        (ScoredRule(Rule(Head("y"), body), Evidence(9, 2), 0.8),),
    )
    X = FRAMES[library]
    assert np.asarray(theory.predict(X)).ravel().tolist() == [1, 0, 0]
    assert [e.predicted for e in theory.explain(X)] == [("y",), (), ()]
    assert theory.rules[0].rule.covers(X).tolist() == [True, False, False]
