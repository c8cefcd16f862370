"""Frames of other libraries (polars, pyarrow, ...) as pandas, through narwhals; dates as seconds.

The only file that knows other libraries of tables. Names are kept. Numbers stay numbers, texts and
categories become text, dates and times stay dates and times.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .moments import DAY, MICROSECONDS, value_to_seconds

_TEMPORAL_TYPES = (dt.date, dt.time, dt.timedelta)


def to_pandas(table: Any) -> Any:
    """A frame or a series of another library as pandas; anything else as it is.

    Examples
    --------
    >>> import pyarrow
    >>> to_pandas(pyarrow.table({"size": [1.5, None], "colour": ["red", "blue"]}))
       size colour
    0   1.5    red
    1   NaN   blue
    >>> to_pandas([[1, 2]])
    [[1, 2]]
    """
    if isinstance(table, pd.DataFrame | pd.Series):
        return table
    frame = nw.from_native(table, pass_through=True, allow_series=True)
    if isinstance(frame, nw.Series):
        return _series_to_values(frame).rename(frame.name or None)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"X and y must be in memory, got a {type(table).__name__}: call its collect() first"
        )
    if not isinstance(frame, nw.DataFrame):
        return table
    columns = {series.name: _series_to_values(series) for series in frame.iter_columns()}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(frame)), columns=list(columns))


def is_foreign(table: Any) -> bool:
    """Whether a table is a frame of another library than pandas."""
    return not isinstance(table, pd.DataFrame) and isinstance(
        nw.from_native(table, pass_through=True), nw.DataFrame
    )


def _series_to_values(series: nw.Series[Any]) -> pd.Series:
    dtype = series.dtype
    if isinstance(dtype, nw.Categorical | nw.Enum):
        series = series.cast(nw.String)
    if isinstance(dtype, nw.Decimal):
        series = series.cast(nw.Float64)
    if dtype.is_numeric() or isinstance(dtype, nw.Date | nw.Datetime | nw.Duration):
        values = pd.Series(series.to_numpy())
        return values if values.dtype.kind != "O" else values.astype("float64")
    # Text, booleans, times and lists: as objects, in which None is missing.
    return pd.Series(series.to_list(), dtype=object)


def series_to_seconds(series: pd.Series) -> tuple[NDArray[np.float64], str] | None:
    """Seconds of a column of dates, times or durations, with their kind; None for other columns.

    Missing values are NaN. Dates with a time at midnight in all rows are dates.

    Examples
    --------
    >>> seconds, kind = series_to_seconds(pd.Series(pd.to_datetime(["1970-01-02", None])))
    >>> kind, seconds
    ('date', array([86400.,    nan]))
    """
    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype) and str(dtype.pyarrow_dtype).startswith("date"):
        series = series.astype("timestamp[us][pyarrow]")  # pandas does not convert missing dates
    if dtype.kind in "mM" and not isinstance(dtype, pd.PeriodDtype):
        kind, unit = ("datetime", "M8[us]") if dtype.kind == "M" else ("duration", "m8[us]")
        nothing: Any = np.array("NaT", dtype=unit)[()]
        moments = series.to_numpy(dtype=unit, na_value=nothing)
        seconds = np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / MICROSECONDS)
    elif _holds_moments(series):
        values = series.to_numpy(dtype=object, na_value=np.nan)
        found = [value_to_seconds(value) for value in values]
        kinds = {pair[1] for pair in found if pair is not None}
        kind = "datetime" if kinds <= {"date", "datetime"} else kinds.pop()
        seconds = np.array([np.nan if pair is None else pair[0] for pair in found])
    else:
        return None
    known = seconds[~np.isnan(seconds)]
    if kind == "datetime" and not (known % DAY).any():
        kind = "date"
    return seconds, kind


def floor_to_days(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds since 1970 of the beginning of each day."""
    return np.floor(seconds / DAY) * DAY


def _holds_moments(series: pd.Series) -> bool:
    """Whether a column of Python objects, or of Arrow's, holds dates, times or durations only."""
    if series.dtype.kind != "O" or isinstance(series.dtype, pd.CategoricalDtype):
        return False
    first = series.first_valid_index()
    if first is None or not isinstance(series.loc[first], _TEMPORAL_TYPES):
        return False
    content = pd.api.types.infer_dtype(series, skipna=True)
    return content in ("date", "datetime", "datetime64", "time", "timedelta", "timedelta64")
