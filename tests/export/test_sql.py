"""SQL: a database predicts what `predict` predicts, whatever names and values there are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.export.sql import DIALECTS, chain
from steelyard.model.combiners import StrongestVote, SumOfVotes
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BestF1, BestLabel, BestLabelSet, EachLabel, LabelSetVotes
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from theories import (
    FEATURES,
    PAIRS,
    bound_theory,
    flu_theory,
    handmade_table,
    handmade_theory,
    many_label_sets,
    many_rules,
    plain_table,
    predict_rows,
    random_cases,
    switch_theory,
)

SQL_PAIRS = [pair for pair in PAIRS if pair[1] not in ("label-set-votes", "best-f1")]
SICK = pd.DataFrame(
    {"fever": [39.0, 39.0, 37.0, 37.0, None], "nose": ["runs", "dry", "runs", "dry", None]}
)


class Answer:
    """The columns of a query's answer and its rows."""

    def __init__(self, cursor):
        self.names = [column[0] for column in cursor.description]
        self.rows = [list(row) for row in cursor.fetchall()]

    def last(self, n_columns):
        return [row[-n_columns:] for row in self.rows]


def run_sqlite(query: str, X: pd.DataFrame, table: str = "data") -> Answer:
    with closing(sqlite3.connect(":memory:")) as connection:
        plain_table(X).to_sql(table, connection, index=False)
        return Answer(connection.execute(query))


@pytest.fixture(scope="module")
def connection():
    with closing(duckdb.connect()) as connection:
        yield connection


@pytest.fixture(scope="module")
def run_duckdb(connection):
    def run(query: str, X: pd.DataFrame, table: str = "data") -> Answer:
        connection.register(table, X)
        answer = Answer(connection.execute(query))
        connection.unregister(table)
        return answer

    return run


def assert_predicts(answer: Answer, theory: Theory, X: pd.DataFrame):
    expected = predict_rows(theory, X)
    assert answer.last(len(expected[0])) == expected


def all_cases(pair):
    yield from random_cases(*pair)
    if pair == ("any-rule", "each-label"):
        yield handmade_theory(), handmade_table()


@pytest.mark.parametrize("pair", SQL_PAIRS, ids="-".join)
class TestPredictions:
    def test_sqlite(self, pair):
        for theory, X in all_cases(pair):
            assert_predicts(run_sqlite(theory.to_sql(), X), theory, X)

    def test_duckdb_with_texts(self, pair, run_duckdb):
        for theory, X in all_cases(pair):
            assert_predicts(run_duckdb(theory.to_sql("duckdb"), plain_table(X)), theory, X)

    def test_duckdb_with_enumerations(self, pair, run_duckdb):
        for theory, X in random_cases(*pair)[:3]:
            assert_predicts(run_duckdb(theory.to_sql("duckdb"), X), theory, X)

    @pytest.mark.parametrize("dialect", ["postgres", "ansi"])
    def test_other_dialects_where_their_syntax_is_understood(self, pair, dialect, run_duckdb):
        # DuckDB reads decimals where PostgreSQL reads doubles; integers are the same in both.
        for theory, X in random_cases(*pair)[:3]:
            X = X.assign(**{f.name: X[f.name].round() for f in FEATURES if not f.is_nominal})
            rules = tuple(
                replace(s, rule=Rule(s.head, map(round_condition, s.body))) for s in theory
            )
            whole = replace(theory, rules=rules)
            assert_predicts(run_duckdb(whole.to_sql(dialect), plain_table(X)), whole, X)

    def test_table_columns_come_first_and_labels_last_in_order(self, pair, run_duckdb):
        theory, X = random_cases(*pair)[0]
        X = plain_table(X).assign(further="text")
        labels = list(theory.label_names) if theory.is_multilabel else ["class"]
        for run, dialect in ((run_sqlite, "sqlite"), (run_duckdb, "duckdb")):
            answer = run(theory.to_sql(dialect), X)
            assert answer.names[: X.shape[1]] == list(X.columns)
            assert [row[X.shape[1] - 1] for row in answer.rows] == ["text"] * len(X)
            between = answer.names[X.shape[1] : -len(labels)]
            n_scores = len(labels) + 1 if pair[1] == "best-label-set" else 0
            assert len(between) == n_scores
            assert all(name.startswith("steelyard ") for name in between)
            if not set(labels) & set(X.columns):  # DuckDB numbers a name that is there twice
                assert answer.names[-len(labels) :] == labels

    def test_a_query_can_be_nested(self, pair, run_duckdb):
        theory, X = random_cases(*pair)[1]
        for run, dialect in ((run_sqlite, "sqlite"), (run_duckdb, "duckdb")):
            query = f"SELECT count(*) FROM ({theory.to_sql(dialect)}) AS q"
            assert run(query, plain_table(X)).rows == [[len(X)]]


def round_condition(condition: Condition) -> Condition:
    if condition.is_nominal:
        return condition
    bounds = [
        bound if np.isinf(bound) else round(bound) for bound in (condition.low, condition.high)
    ]
    return Condition.interval(condition.feature, *bounds, includes_high=condition.includes_high)


@pytest.mark.parametrize("combiner", ["strongest-vote", "sum-of-votes"])
def test_scores_beside_label_sets_are_those_of_the_theory(combiner):
    for theory, X in random_cases(combiner, "best-label-set"):
        answer = run_sqlite(theory.to_sql(), X)
        start, n_labels = X.shape[1], len(theory.labels)
        scores = [row[start : start + n_labels] for row in answer.rows]
        assert scores == theory.evaluate(X).scores.tolist()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("decoder", "reason"),
    [(LabelSetVotes(0.4), "let label sets vote"), (BestF1(), "maximise an expected F1")],
    ids=str,
)
def test_label_sets_that_vote_are_rejected_in_one_sentence(dialect, decoder, reason):
    with pytest.raises(ValueError, match=f"^SQL cannot {reason}: .*Python") as rejection:
        flu_theory(decoder=decoder).to_sql(dialect)
    assert "\n" not in str(rejection.value)


class TestNames:
    @pytest.mark.parametrize("decoder", [EachLabel(), BestLabelSet()], ids=str)
    @pytest.mark.parametrize(
        "table", ["t", "fit", "counted", "found", "s", "labels", 'my "table"; --', "select"]
    )
    def test_a_table_may_have_any_name(self, table, decoder, run_duckdb):
        theory = flu_theory(decoder=decoder)
        assert_predicts(run_sqlite(theory.to_sql(table=table), SICK, table), theory, SICK)
        assert_predicts(run_duckdb(theory.to_sql("duckdb", table), SICK, table), theory, SICK)

    def test_a_misspelt_column_is_an_error_not_a_string(self):
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            run_sqlite(flu_theory(decoder=EachLabel()).to_sql(), SICK.drop(columns="nose"))

    def test_null_characters_are_rejected(self):
        with pytest.raises(ValueError, match="null character"):
            bound_theory(1.0).to_sql(table="a\0b")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"table": None}, "table must be the name of a table, got None"),
            ({"table": 3}, "table must be the name of a table, got 3"),
            ({"dialect": ["x"]}, "dialect must be one of sqlite, duckdb, postgres, ansi, got"),
            ({"dialect": None}, "dialect must be one of sqlite, duckdb, postgres, ansi, got None"),
            ({"dialect": "mysql"}, "dialect must be one of sqlite, duckdb, postgres, ansi, got"),
        ],
    )
    def test_a_query_needs_a_dialect_and_a_table(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            bound_theory(1.0).to_sql(**arguments)


class TestValues:
    # Beyond these magnitudes SQLite's own reader of numbers is not exact, whatever the digits.
    @given(st.floats(-1e20, 1e20, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-20))
    def test_a_bound_is_met_exactly_from_its_own_value_on(self, run_duckdb, bound):
        theory = bound_theory(bound)
        X = pd.DataFrame({"x": [np.nextafter(bound, -np.inf), bound]})
        assert run_sqlite(theory.to_sql(), X).last(1) == [[0], [1]]
        assert run_duckdb(theory.to_sql("duckdb"), X).last(1) == [[0], [1]]

    @pytest.mark.parametrize("operator", ["<", "≤", "≥"])
    def test_nan_in_a_database_is_missing_too(self, operator, connection):
        query = bound_theory(0.5, operator).to_sql("duckdb")
        query = query.replace('"data"', "(SELECT CAST('NaN' AS DOUBLE) AS x)")
        assert connection.execute(query).fetchall()[0][-1] == 0

    @pytest.mark.parametrize("categories", [["4"], ["4", "6"]], ids=str)
    def test_categories_that_are_numbers_match_columns_of_numbers(self, categories, run_duckdb):
        rule = Rule(Head("y"), (Condition("code", "in", categories),))
        theory = Theory(
            (Feature("code", ("4", "5", "6")),),
            (Label("y"),),
            (ScoredRule(rule, Evidence(1, 0), 1.0),),
        )
        X = pd.DataFrame({"code": [4, 5, 6, 4]})
        expected = [[int(str(code) in categories)] for code in X["code"]]
        assert predict_rows(theory, X) == expected
        assert run_sqlite(theory.to_sql(), X).last(1) == expected
        assert run_sqlite(theory.to_sql(), X.astype(float)).last(1) == expected
        assert run_duckdb(theory.to_sql("duckdb"), X).last(1) == expected

    @pytest.mark.parametrize(
        "form", [bool, int, float, "Int64", "boolean", str, "category"], ids=str
    )
    def test_booleans_may_be_stored_as_0_and_1(self, form, run_duckdb):
        theory = switch_theory("False", "True")
        X = pd.DataFrame({"d": [True, False, False, True]}).astype({"d": form})
        expected = [[1], [0], [0], [1]]
        assert predict_rows(theory, X) == expected
        assert run_sqlite(theory.to_sql(), X).last(1) == expected
        for dialect in ("duckdb", "postgres", "ansi"):
            assert run_duckdb(theory.to_sql(dialect), plain_table(X)).last(1) == expected

    def test_classes_may_be_true_and_false_beside_a_column_of_that_name(self, run_duckdb):
        rule = ScoredRule(Rule(Head("True"), (Condition("true", "≥", 5.0),)), Evidence(1, 0), 1.0)
        features = (Feature("true"), Feature("false"))
        theory = Theory(features, (Label("True"),), (rule,), classes=(False, True))
        X = pd.DataFrame({"true": [3.0, 7.0], "false": [9.0, 9.0]})
        assert predict_rows(theory, X) == [[False], [True]]
        assert run_sqlite(theory.to_sql(), X).last(1) == [[0], [1]]
        assert run_duckdb(theory.to_sql("duckdb"), X).last(1) == [[False], [True]]

    def test_other_categories_than_booleans_are_compared_as_they_are(self):
        theory = switch_theory("False", "True", "maybe")
        X = pd.DataFrame({"d": ["1", "true", "True"]})
        assert predict_rows(theory, X) == [[0], [0], [1]]
        assert run_sqlite(theory.to_sql(), X).last(1) == [[0], [0], [1]]

    @pytest.mark.parametrize("combiner", [StrongestVote, SumOfVotes])
    def test_points_may_be_numbers_of_numpy(self, combiner):
        rules = (
            ScoredRule(Rule(Head("y"), (Condition("x", "≥", low),)), Evidence(1, 0), 1.0, points)
            for low, points in zip([0, -9], np.array([17, 3]), strict=True)
        )
        theory = Theory(
            (Feature("x"),),
            (Label("y"), Label("z")),
            rules,
            combiner(tuple(np.array([-5, 9]))),
            BestLabel(),
            ("y", "z"),
        )
        X = pd.DataFrame({"x": [-1.0, 1.0]})
        assert predict_rows(theory, X) == [["z"], ["y"]]
        assert_predicts(run_sqlite(theory.to_sql(), X), theory, X)


class TestLimits:
    @pytest.mark.parametrize("combiner", ["any-rule", "strongest-vote", "sum-of-votes"])
    def test_more_rules_than_databases_nest_expressions(self, combiner, run_duckdb):
        theory = many_rules(1500, combiner)
        X = pd.DataFrame({"x": [-1.0, 0.0, 700.0, 1e9]})
        assert len({tuple(row) for row in predict_rows(theory, X)}) == 2
        assert_predicts(run_sqlite(theory.to_sql(), X), theory, X)
        assert_predicts(run_duckdb(theory.to_sql("duckdb"), X), theory, X)

    def test_hundreds_of_label_sets_and_labels(self, run_duckdb):
        theory = many_label_sets(200, 600, BestLabelSet(0.0005))
        X = pd.DataFrame({"x": [-1.0, 10.0, 100.0, 199.0, None]})
        assert len({tuple(row) for row in predict_rows(theory, X)}) > 3
        assert_predicts(run_sqlite(theory.to_sql(), X), theory, X)
        assert_predicts(run_duckdb(theory.to_sql("duckdb"), X), theory, X)

    def test_a_long_chain_is_the_same_sum(self):
        for n in (1, 2, 100, 101, 12_345):
            text = chain(list(map(str, range(n))), "+")
            assert text.count("(") == text.count(")")
            assert eval(text) == sum(range(n))
