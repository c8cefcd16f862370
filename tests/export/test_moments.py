"""Exports of theories about dates and times predict what `predict` predicts, or decline."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pytest

from steelyard.model.conditions import Condition
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory

FEATURES = (
    Feature("ordered", kind="date"),
    Feature("paid", kind="datetime"),
    Feature("opens", kind="time"),
    Feature("waited", kind="duration"),
)


def make_theory(*conditions: Condition) -> Theory:
    """One label per condition."""
    names = [f"y{j}" for j in range(len(conditions))]
    rules = [
        ScoredRule(Rule(Head(name), (condition,)), Evidence(9, 2), 0.8)
        for name, condition in zip(names, conditions, strict=True)
    ]
    return Theory(FEATURES, tuple(Label(name, 1, 10, 30, 1, 28) for name in names), tuple(rules))


DATED = make_theory(
    Condition("ordered", "<", "2024-03-01"),
    Condition("ordered", "≤", "2024-02-29"),
    Condition("ordered", "≥", "2024-03-01"),
    Condition("paid", "≥", "2024-03-01 12:30"),
    Condition("paid", "<", "2024-03-01 12:30:05.250"),
    Condition("paid", "≤", "2024-03-01"),
    Condition("opens", "≥", "18:30"),
    Condition("opens", "<", "09:00:30"),
)
LASTING = make_theory(Condition("waited", "≥", dt.timedelta(hours=26)))


def make_table(n_rows: int = 200) -> pd.DataFrame:
    """Moments at the bounds of conditions and next to them; some are missing."""
    rng = np.random.default_rng(0)
    near = pd.to_datetime(
        ["2024-02-29", "2024-03-01", "2024-03-01 12:30", "2024-03-01 12:30:05.25"], format="ISO8601"
    )
    steps = pd.to_timedelta([-86_400_000, -1000, -1, 0, 1, 1000, 86_400_000], unit="ms")

    def draw() -> pd.Series:
        drawn = pd.Series(rng.choice(near, n_rows)) + pd.Series(rng.choice(steps, n_rows))
        return drawn.mask(rng.random(n_rows) < 0.1)

    opens = ["09:00:29", "09:00:30", "18:29:59", "18:30:00", "00:00:00"]
    return pd.DataFrame(
        {
            "ordered": draw(),
            "paid": draw(),
            "opens": [dt.time.fromisoformat(text) for text in rng.choice(opens, n_rows)],
            "waited": pd.to_timedelta(rng.integers(25, 28, n_rows), unit="h"),
        }
    )


def run_sqlite(theory: Theory, X: pd.DataFrame, **options: str) -> list[list[int]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        X.astype({"opens": str, "waited": str}).to_sql("data", connection, index=False, **options)
        rows = connection.execute(theory.to_sql("sqlite")).fetchall()
    return [list(row[-len(theory.labels) :]) for row in rows]


def test_sqlite_predicts_what_predict_predicts():
    X = make_table()
    assert run_sqlite(DATED, X) == DATED.predict(X).to_numpy().tolist()


def test_duckdb_predicts_what_predict_predicts():
    X = make_table()
    with closing(duckdb.connect()) as connection:
        connection.register("data", X)
        rows = connection.execute(DATED.to_sql("duckdb")).fetchall()
    assert [list(row[-8:]) for row in rows] == DATED.predict(X).to_numpy().tolist()


@pytest.mark.parametrize("theory", [DATED, LASTING], ids=["dated", "lasting"])
def test_python_predicts_what_predict_predicts(theory):
    X = make_table()
    scope: dict = {}
    exec(theory.to_python(), scope)
    expected = theory.predict(X).to_numpy().tolist()
    found = [list(scope["predict"](row).values()) for row in X.to_dict("records")]
    assert found == expected


def test_python_reads_texts_and_numpys_moments_and_missing_ones():
    scope: dict = {}
    exec(DATED.to_python(), scope)
    row = {"ordered": dt.date(2024, 2, 29), "paid": None, "opens": dt.time(9), "waited": None}
    expected = scope["predict"](row)
    assert expected["y0"] == expected["y1"] == expected["y7"] == 1
    assert expected["y3"] == expected["y4"] == 0
    texts = {"ordered": "2024-02-29", "paid": pd.NaT, "opens": "09:00", "waited": pd.NA}
    assert scope["predict"](texts) == expected
    numpys = {"ordered": np.datetime64("2024-02-29T18", "ns"), "paid": np.datetime64("NaT", "ns")}
    assert scope["predict"](row | numpys) == expected


def test_durations_in_sql_and_moments_in_pmml_are_declined_in_one_sentence():
    with pytest.raises(ValueError, match="no common type for durations, such as 'waited': learn"):
        LASTING.to_sql()
    with pytest.raises(ValueError, match="PMML is not written for dates and times, such as 'orde"):
        DATED.to_pmml()


def test_sqlite_declines_microseconds():
    theory = make_theory(Condition("paid", "≥", "2024-03-01 12:30:05.250001"))
    with pytest.raises(ValueError, match="SQLite compares times by milliseconds"):
        theory.to_sql("sqlite")
    assert "'2024-03-01 12:30:05.250001'" in theory.to_sql("duckdb")


def test_json_keeps_dates():
    read = Theory.from_json(DATED.to_json())
    assert read == DATED
    assert str(read) == str(DATED)
    assert "y0 ← ordered < 2024-03-01" in str(read)
