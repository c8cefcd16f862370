"""Dates, times and durations as seconds, and seconds as text. Knows single values, not tables.

A date or a date with a time is counted in seconds since 1970, in UTC if it has a time zone. A time of
day and a duration are seconds as well. Data has microseconds at best, so every bound of a condition
lies on a whole microsecond, and on a whole day for an attribute of dates.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any

from steelyard._text import format_number

DAY = 86_400
MICROSECONDS = 1_000_000

#: The kinds of attributes whose values are seconds.
MOMENT_KINDS = ("date", "datetime")
CLOCK_KINDS = ("time", "duration")
SECOND_KINDS = (*MOMENT_KINDS, *CLOCK_KINDS)

_EPOCH = dt.datetime(1970, 1, 1)
_CLOCK = re.compile(r"(-?)(\d+):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?")


def value_to_seconds(value: Any) -> tuple[float, str] | None:
    """The seconds of a date, time or duration, or of its text, with the kind; None for others.

    Examples
    --------
    >>> import datetime
    >>> value_to_seconds(datetime.date(1970, 1, 2)), value_to_seconds("1970-01-01 00:01")
    ((86400.0, 'date'), (60.0, 'datetime'))
    >>> value_to_seconds("18:30"), value_to_seconds("red")
    ((66600.0, 'time'), None)
    """
    if isinstance(value, str):
        value = _read_text(value.strip())
    if value is None or value != value:  # NaT differs from itself
        return None
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        seconds = _to_seconds(value - _EPOCH)
        return seconds, "datetime" if seconds % DAY else "date"
    if isinstance(value, dt.date):
        return float((value - _EPOCH.date()).days * DAY), "date"
    if isinstance(value, dt.time):
        since_midnight = dt.timedelta(
            hours=value.hour,
            minutes=value.minute,
            seconds=value.second,
            microseconds=value.microsecond,
        )
        return _to_seconds(since_midnight), "time"
    return (_to_seconds(value), "duration") if isinstance(value, dt.timedelta) else None


def _to_seconds(delta: dt.timedelta) -> float:
    # One division of integers, as arrays of datetimes are read: equal moments are equal numbers.
    return (delta // dt.timedelta(microseconds=1)) / MICROSECONDS


def _read_text(text: str) -> dt.date | dt.time | dt.timedelta | None:
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        sign, hours, minutes, seconds, fraction = clock.groups()
        micros = int((fraction or "").ljust(6, "0"))
        parts = {"hours": int(hours), "minutes": int(minutes), "seconds": int(seconds or 0)}
        since_midnight = dt.timedelta(microseconds=micros, **parts)
        if sign or since_midnight >= dt.timedelta(days=1):
            return -since_midnight if sign else since_midnight
        return (_EPOCH + since_midnight).time()
    try:
        return dt.datetime.fromisoformat(text) if "-" in text[1:] else None
    except ValueError:
        return None


def format_seconds(seconds: float, kind: str) -> str:
    """Seconds as text of a kind, which `value_to_seconds` reads again.

    Examples
    --------
    >>> format_seconds(86400.0, "date"), format_seconds(86460.0, "datetime")
    ('1970-01-02', '1970-01-02 00:01')
    >>> format_seconds(66600.0, "time"), format_seconds(97200.5, "duration")
    ('18:30', '27:00:00.500000')
    """
    if math.isinf(seconds):
        return format_number(seconds)
    whole = math.floor(seconds)
    micros = whole * MICROSECONDS + round((seconds - whole) * MICROSECONDS)
    if kind in CLOCK_KINDS:
        return ("-" if micros < 0 else "") + _format_clock(abs(micros))
    try:
        moment = _EPOCH + dt.timedelta(microseconds=micros)
    except OverflowError:  # beyond the years 1 to 9999 of Python
        return format_number(seconds)
    day = moment.date().isoformat()
    within = micros % (DAY * MICROSECONDS)
    return f"{day} {_format_clock(within)}" if within else day


def _format_clock(micros: int) -> str:
    minutes, rest = divmod(micros, 60 * MICROSECONDS)
    seconds, fraction = divmod(rest, MICROSECONDS)
    text = f"{minutes // 60:02}:{minutes % 60:02}"
    text += f":{seconds:02}" if rest else ""
    return text + (f".{fraction:06}" if fraction else "")


def snap_up(seconds: float, kind: str) -> float:
    """The first value of a kind that is not below `seconds`.

    Examples
    --------
    >>> snap_up(1.5 * DAY, "date") / DAY
    2.0
    """
    if math.isinf(seconds):
        return seconds
    if kind == "date":
        return float(math.ceil(seconds / DAY) * DAY)
    micros = math.floor(seconds * MICROSECONDS) - 1
    while micros / MICROSECONDS < seconds:  # the product above is rounded
        micros += 1
    return micros / MICROSECONDS


def snap_down(seconds: float, kind: str) -> float:
    """The last value of a kind that is not above `seconds`."""
    return -snap_up(-seconds, kind)
