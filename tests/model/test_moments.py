"""Dates and times: seconds, texts that are read again, and conditions that lie on whole values."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.conditions import Condition
from steelyard.model.features import Feature
from steelyard.model.frames import series_to_seconds
from steelyard.model.moments import DAY, format_seconds, snap_down, snap_up, value_to_seconds
from steelyard.model.rules import Rule
from steelyard.model.tables import table_to_columns

MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))


class TestText:
    @given(MOMENTS)
    def test_a_moment_is_read_as_the_seconds_that_were_written(self, moment):
        seconds, kind = value_to_seconds(moment)
        assert value_to_seconds(format_seconds(seconds, kind)) == (seconds, kind)

    @given(st.times())
    def test_so_is_a_time_of_day(self, time):
        seconds, kind = value_to_seconds(time)
        assert value_to_seconds(format_seconds(seconds, kind)) == (seconds, "time")

    @given(st.timedeltas(dt.timedelta(days=-9), dt.timedelta(days=9)))
    def test_so_is_a_duration(self, duration):
        seconds, kind = value_to_seconds(duration)
        assert value_to_seconds(format_seconds(seconds, kind))[0] == seconds

    def test_a_time_zone_is_converted_to_utc(self):
        zone = dt.timezone(dt.timedelta(hours=2))
        aware = dt.datetime(2024, 3, 1, 1, 0, tzinfo=zone)
        assert format_seconds(value_to_seconds(aware)[0], "datetime") == "2024-02-29 23:00"
        assert value_to_seconds(aware) == value_to_seconds("2024-03-01T01:00+02:00")

    @pytest.mark.parametrize("text", ["red", "2024-13-01", "12:60", "-5", "3", ""])
    def test_other_texts_are_not_moments(self, text):
        assert value_to_seconds(text) is None


class TestGrid:
    @given(MOMENTS, st.floats(-2e-6, 2e-6))
    def test_the_first_microsecond_from_a_bound_on_selects_the_same_moments(self, moment, offset):
        value = value_to_seconds(moment)[0]
        bound = value + offset
        assert (value >= bound) == (value >= snap_up(bound, "datetime"))
        assert (value <= bound) == (value <= snap_down(bound, "datetime"))

    @given(MOMENTS)
    def test_a_moment_stays_where_it_is(self, moment):
        value = value_to_seconds(moment)[0]
        assert snap_up(value, "datetime") == snap_down(value, "datetime") == value

    def test_a_bound_between_two_days_is_the_later_one(self):
        noon = Condition.interval("ordered", high=1.5 * DAY, kind="date")
        assert str(noon) == "ordered < 1970-01-03"
        assert str(Condition("ordered", "≥", 1.5 * DAY).read_as("date")) == "ordered ≥ 1970-01-03"


class TestColumns:
    DAYS = (dt.date(2024, 2, 29), None, dt.date(2024, 3, 1))

    @pytest.mark.parametrize(
        "column",
        [
            pd.Series(pd.to_datetime(["2024-02-29", None, "2024-03-01"])),
            pd.Series(DAYS, dtype=object),
            pd.Series(DAYS, dtype="date32[pyarrow]"),
            pd.Series(
                pd.to_datetime(["2024-02-29", None, "2024-03-01"]), dtype="timestamp[ns][pyarrow]"
            ),
            pd.Series(pd.to_datetime(["2024-02-29", None, "2024-03-01"])).dt.tz_localize("UTC"),
        ],
        ids=["datetime64", "objects", "date32", "arrow timestamp", "time zone"],
    )
    def test_every_kind_of_date_column_is_read_as_the_same_seconds(self, column):
        seconds, kind = series_to_seconds(column)
        expected = [value_to_seconds("2024-02-29")[0], np.nan, value_to_seconds("2024-03-01")[0]]
        np.testing.assert_array_equal(seconds, expected)
        assert kind == "date"

    def test_hours_make_it_a_datetime(self):
        column = pd.Series(pd.to_datetime(["2024-02-29 12:00", "2024-03-01 00:00"]))
        assert series_to_seconds(column)[1] == "datetime"

    def test_text_is_not_a_date(self):
        assert series_to_seconds(pd.Series(["2024-02-29", "2024-03-01"])) is None

    @pytest.mark.parametrize(
        "value", ["2024-02-29", dt.date(2024, 2, 29), pd.Timestamp("2024-02-29 18:00")]
    )
    def test_a_date_attribute_takes_dates_their_texts_and_moments_of_the_day(self, value):
        table = pd.DataFrame({"ordered": [value]})
        (column,) = table_to_columns(table, [Feature("ordered", kind="date")])
        assert column.values.tolist() == [value_to_seconds("2024-02-29")[0]]

    def test_a_missing_date_is_missing(self):
        (column,) = table_to_columns(
            pd.DataFrame({"ordered": [None]}), [Feature("ordered", kind="date")]
        )
        assert np.isnan(column.values).all()

    @pytest.mark.parametrize(
        ("feature", "value", "problem"),
        [
            (Feature("a", kind="date"), 3.0, "'a' is a date, but the table has numbers"),
            (Feature("a"), dt.date(2024, 1, 1), "'a' is a number, but the table has dates"),
            (
                Feature("a", kind="time"),
                dt.date(2024, 1, 1),
                "'a' is a time, but the table has dates",
            ),
            (Feature("a", kind="date"), "red", "'a' is a date, but one of its values is 'red'"),
            (Feature("a", ("x",)), dt.date(2024, 1, 1), "'a' is nominal; it cannot be a date"),
        ],
    )
    def test_values_of_another_kind_are_rejected(self, feature, value, problem):
        with pytest.raises(ValueError, match=problem):
            list(table_to_columns(pd.DataFrame({"a": [value]}), [feature]))


class TestConditions:
    def test_dates_texts_and_seconds_make_equal_conditions(self):
        by_text = Condition("ordered", "<", "2024-03-01")
        assert by_text == Condition("ordered", "<", dt.date(2024, 3, 1))
        assert by_text == Condition("ordered", "<", 1709251200)
        assert str(by_text) == "ordered < 2024-03-01"

    def test_parts_and_merged_conditions_print_dates_too(self):
        march = Condition("ordered", "≥", "2024-03-01").intersect(
            Condition("ordered", "<", "2024-04-01")
        )
        assert str(march) == "2024-03-01 ≤ ordered < 2024-04-01"
        late = value_to_seconds("2024-05-01")[0]
        assert str(march.failing_part(late)) == "ordered < 2024-04-01"
        negated = " or ".join(map(str, march.negate(Feature("ordered", kind="date"))))
        assert negated == "ordered < 2024-03-01 or ordered ≥ 2024-04-01"

    def test_advice_gives_dates(self):
        late = value_to_seconds("2024-05-01")[0]
        advice = Condition("ordered", "<", "2024-03-01").describe_change(late)
        assert advice == "change ordered from 2024-05-01 to before 2024-03-01"
        advice = Condition("ordered", "≥", "2024-06-01").describe_change(late)
        assert advice == "change ordered from 2024-05-01 to 2024-06-01 or later"

    def test_it_covers_the_rows_of_a_frame(self):
        X = pd.DataFrame(
            {"ordered": pd.to_datetime(["2024-02-29 18:00", "2024-03-01 00:00", None])}
        )
        assert Condition("ordered", "<", "2024-03-01").covers(X).tolist() == [True, False, False]
        until = Condition("ordered", "≤", "2024-02-29").read_as("date")
        assert until.covers(X).tolist() == [True, False, False]

    @pytest.mark.parametrize(
        "text",
        [
            "late ← ordered < 2024-03-01",
            "late ← 2024-03-01 ≤ ordered < 2024-04-01 12:30:05.000007",
            "late ← opens ≥ 18:30 ∧ waited < 27:00:30",
        ],
    )
    def test_the_text_of_a_rule_is_read_again_with_its_dates(self, text):
        rule = Rule.parse(text)
        assert str(rule) == text
        assert rule.describe() == text
        assert Rule.parse(str(rule)) == rule

    def test_a_date_may_stand_before_the_attribute(self):
        assert Rule.parse("late <- 2024-03-01 > ordered") == Rule.parse(
            "late <- ordered < 2024-03-01"
        )
