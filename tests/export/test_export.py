"""Exports: what runs elsewhere predicts what `predict` predicts, and names are never markup."""

from __future__ import annotations

import math
import sqlite3
import warnings
import xml.etree.ElementTree as ET
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import Condition, RuleSetClassifier, Theory
from steelyard.export.decisions import body_to_requirements
from steelyard.model.evidence import Label, ScoredRule
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule
from theories import HOSTILE, every_kind_of_theory, hostile_table, learn

KINDS = every_kind_of_theory()


@pytest.fixture(params=KINDS)
def case(request):
    return KINDS[request.param]


def predict(theory: Theory, X: pd.DataFrame) -> list[list]:
    """Predictions as lists of rows, one column for a theory of classes."""
    predicted = np.asarray(theory.predict(X))
    return (predicted if predicted.ndim == 2 else predicted[:, None]).tolist()


def plain(X: pd.DataFrame) -> pd.DataFrame:
    """A table as data bases take it: categories as text, missing as None."""
    texts = {c: X[c].astype(object) for c in X if X[c].dtype == "category"}
    return X.assign(**texts) if texts else X


def run_sqlite(query: str, X: pd.DataFrame, table: str = "data") -> list[list]:
    with closing(sqlite3.connect(":memory:")) as connection:
        plain(X).to_sql(table, connection, index=False)
        return [list(row) for row in connection.execute(query)]


def run_duckdb(query: str, X: pd.DataFrame, *, as_enum: bool = False) -> list[list]:
    with closing(duckdb.connect()) as connection:
        connection.register("data", X if as_enum else plain(X))
        return [list(row) for row in connection.execute(query).fetchall()]


def last(rows: list[list], n: int) -> list[list]:
    return [row[-n:] for row in rows]


def test_sqlite_predicts_what_predict_predicts(case):
    theory, X = case
    expected = predict(theory, X)
    assert last(run_sqlite(theory.to_sql(), X), len(expected[0])) == expected


@pytest.mark.parametrize("as_enum", [False, True])
def test_duckdb_predicts_what_predict_predicts(case, as_enum):
    theory, X = case
    expected = predict(theory, X)
    rows = run_duckdb(theory.to_sql("duckdb"), X, as_enum=as_enum)
    assert last(rows, len(expected[0])) == expected


def test_postgres_sql_runs_where_its_syntax_is_understood(case):
    # DuckDB reads PostgreSQL's syntax; its decimals are not exact, so only the shape is compared.
    theory, X = case
    for dialect in ("postgres", "ansi"):
        rows = run_duckdb(theory.to_sql(dialect), X)
        assert len(rows) == len(X)


def test_python_predicts_what_predict_predicts(case):
    theory, X = case
    scope: dict = {}
    exec(compile(theory.to_python(), "exported.py", "exec"), scope)
    assert set(scope) <= {"__builtins__", "_number", "_text", "predict"}
    answers = [scope["predict"](row) for row in plain(X).to_dict("records")]
    if theory.output == "multilabel":
        assert [list(answer) for answer in answers] == [list(theory.label_names)] * len(X)
        answers = [list(answer.values()) for answer in answers]
    else:
        answers = [[answer] for answer in answers]
    assert answers == predict(theory, X)


def test_python_takes_none_and_nan_and_numpy_for_the_same(case):
    theory, X = case
    scope: dict = {}
    exec(theory.to_python(), scope)
    row = plain(X).iloc[0].to_dict()
    for name in row:
        with_nan, with_none = row | {name: math.nan}, row | {name: None}
        with_na = row | {name: pd.NA}
        assert scope["predict"](with_na) == scope["predict"](with_none)
        assert scope["predict"](with_nan) == scope["predict"](with_none)


def test_table_columns_come_first_and_labels_last_in_order():
    theory, X = KINDS["multilabel"]
    with closing(sqlite3.connect(":memory:")) as connection:
        plain(X).to_sql("data", connection, index=False)
        cursor = connection.execute(theory.to_sql())
        assert [d[0] for d in cursor.description] == [*X.columns, *theory.label_names]


def test_the_table_may_have_any_name():
    theory, X = KINDS["multilabel"]
    name = 'my "table"; --'
    rows = run_sqlite(theory.to_sql(table=name), X, table=name)
    assert last(rows, 3) == predict(theory, X)


def test_a_query_can_be_nested():
    theory, X = KINDS["multilabel"]
    (count,) = run_sqlite(f"SELECT count(*) FROM ({theory.to_sql()})", X)
    assert count == [len(X)]


def test_a_misspelt_column_is_an_error_not_a_string():
    theory, X = KINDS["multilabel"]
    tested = theory.scored_rules[0].rule.body[0].feature
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        run_sqlite(theory.to_sql(), X.drop(columns=tested))


def test_duckdb_nan_is_missing_too():
    theory = bound_theory(0.5)
    query = theory.to_sql("duckdb").replace('"data"', "(SELECT CAST('NaN' AS DOUBLE) AS x)")
    with closing(duckdb.connect()) as connection:
        assert connection.execute(query).fetchall()[0][-1] == 0


def test_nominal_numbers_match_columns_of_numbers():
    X = pd.DataFrame({"code": pd.Categorical([4, 5, 4, 5, 6, 6] * 10)})
    theory = learn(X, pd.DataFrame({"four": (X["code"] == 4).astype(int)}))
    numbers = X.astype({"code": int})
    expected = predict(theory, X)
    assert theory.features[0].categories == ("4", "5", "6")
    assert last(run_sqlite(theory.to_sql(), numbers), 1) == expected
    assert last(run_duckdb(theory.to_sql("duckdb"), numbers), 1) == expected
    assert last(run_sqlite(theory.to_sql(), numbers.astype(float)), 1) == expected


def test_more_rules_than_sqlite_nests_expressions():
    rules = [ScoredRule(rule_at_least(float(i)), 1, 0, 1.0) for i in range(3000, 0, -1)]
    theory = Theory((Feature("x"),), (Label("y", 1, 1, 1, 0, 1),), tuple(rules))
    X = pd.DataFrame({"x": [0.5, 1.0, 2999.5]})
    assert last(run_sqlite(theory.to_sql(), X), 1) == [[0], [1], [1]]
    scope: dict = {}
    exec(theory.to_python(), scope)
    assert [scope["predict"]({"x": x})["y"] for x in X["x"]] == [0, 1, 1]


def rule_at_least(bound: float) -> Rule:
    return Rule(Head("y"), (Condition("x", "≥", bound),))


def bound_theory(bound: float) -> Theory:
    scored = ScoredRule(rule_at_least(bound), 1, 0, 1.0)
    return Theory((Feature("x"),), (Label("y", 1, 1, 1, 0, 1),), (scored,))


# Beyond these magnitudes SQLite's own reader of numbers is not exact, whatever the digits.
@given(st.floats(-1e20, 1e20, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-20))
def test_a_bound_is_met_exactly_from_its_own_value_on(bound):
    theory = bound_theory(bound)
    X = pd.DataFrame({"x": [np.nextafter(bound, -np.inf), bound]})
    assert last(run_sqlite(theory.to_sql(), X), 1) == [[0], [1]]
    assert last(run_duckdb(theory.to_sql("duckdb"), X), 1) == [[0], [1]]


def test_unknown_dialects_and_null_characters_are_refused():
    theory, _ = KINDS["multilabel"]
    with pytest.raises(ValueError, match="dialect must be one of sqlite, duckdb, postgres, ansi"):
        theory.to_sql("mysql")
    with pytest.raises(ValueError, match="null character"):
        theory.to_sql(table="a\0b")


# -- PMML ------------------------------------------------------------------------------------------

NS = {"p": "http://www.dmg.org/PMML-4_4"}


def evaluate_pmml(text: str, row: dict) -> list[str]:
    """A reader of the part of PMML that the export writes: the first hit decides."""
    operators = {
        "equal": lambda a, b: str(a) == b,
        "greaterOrEqual": lambda a, b: a >= float(b),
        "lessThan": lambda a, b: a < float(b),
        "lessOrEqual": lambda a, b: a <= float(b),
    }
    answers = []
    for model in ET.fromstring(text.encode()).findall("p:RuleSetModel", NS):
        ruleset = model.find("p:RuleSet", NS)
        answer = ruleset.get("defaultScore")
        for rule in ruleset.findall("p:SimpleRule", NS):
            tests = rule.findall(".//p:SimplePredicate", NS)
            values = [(row[t.get("field")], t) for t in tests]
            if all(
                not pd.isna(value) and operators[t.get("operator")](value, t.get("value"))
                for value, t in values
            ):
                answer = rule.get("score")
                break
        answers.append(answer)
    return answers


def test_pmml_predicts_what_predict_predicts(case):
    theory, X = case
    text = theory.to_pmml()
    rows = plain(X).head(60).to_dict("records")
    expected = [[str(value) for value in row] for row in predict(theory, X.head(60))]
    assert [evaluate_pmml(text, row) for row in rows] == expected


def test_pmml_fields_are_declared_once_and_used_as_declared(case):
    theory, _ = case
    root = ET.fromstring(theory.to_pmml().encode())
    names = [field.get("name") for field in root.iterfind("p:DataDictionary/p:DataField", NS)]
    assert (
        len(set(names))
        == len(names)
        == int(root.find("p:DataDictionary", NS).get("numberOfFields"))
    )
    for model in root.findall("p:RuleSetModel", NS):
        fields = {field.get("name") for field in model.iterfind("p:MiningSchema/p:MiningField", NS)}
        assert fields <= set(names)
        assert {t.get("field") for t in model.iter(f"{{{NS['p']}}}SimplePredicate")} <= fields
        assert len(model.findall("p:MiningSchema/p:MiningField[@usageType='target']", NS)) == 1


def test_pmml_survives_characters_that_xml_has_not():
    theory = Theory((Feature("a\x01b"),), (Label("y\x00", 1, 1, 1, 0, 1),), ())
    ET.fromstring(theory.to_pmml().encode())


# -- for people ------------------------------------------------------------------------------------


def test_markdown_has_a_row_for_each_rule_and_escapes_names():
    theory, _ = KINDS["multilabel"]
    text = theory.to_markdown()
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert len(rows) == len(theory) + sum(bool(theory.rules_of(n)) for n in theory.label_names)
    assert len(headings) == len(theory.labels)
    assert "<img" not in text.replace("\\<", "")


def test_latex_is_balanced_and_escapes_names():
    theory, _ = KINDS["multilabel"]
    text = theory.to_latex()
    body = text.replace(r"\{", "").replace(r"\}", "")
    assert body.count("{") == body.count("}")
    rows = [line for line in text.splitlines() if line.startswith(r"\quad")]
    assert len(rows) == len(theory) + sum(not theory.rules_of(n) for n in theory.label_names)
    for row in rows:
        assert row.replace(r"\&", "").count("&") == 3
    assert "%" not in text.split("\n", 1)[1].replace(r"\%", "")


def test_text_is_what_is_printed():
    theory, _ = KINDS["filtered"]
    assert theory.to_text() == f"{theory}\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_notebook_table_shows_names_as_text(name):
    scored = ScoredRule(Rule(Head(name), (Condition(name, "=", name),)), 2, 1, 0.5)
    theory = Theory((Feature(name, (name,)),), (Label(name, 1, 3, 4, 1, 3),), (scored,))
    root = ET.fromstring(theory._repr_html_())
    assert name.split()[:1] == [] or name.strip() in "".join(root.itertext())
    tags = {element.tag for element in root.iter()}
    assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "small", "svg", "rect"}


def test_notebook_table_of_a_large_theory_is_cut_and_says_so():
    rules = tuple(ScoredRule(rule_at_least(float(i)), 1, 0, 1.0) for i in range(1000))
    html = Theory((Feature("x"),), (Label("y", 1, 1, 1, 0, 1),), rules)._repr_html_()
    assert html.count("<tr>") < 310
    assert "700 more rules" in html


def test_plot_draws_a_panel_for_each_label(case):
    theory, _ = case
    figure = theory.plot()
    drawn = [axes for axes in figure.axes if axes.axison]
    assert len(drawn) == len(theory.labels)
    assert sum(len(axes.collections[0].get_offsets()) for axes in drawn) == len(theory)
    figure.canvas.draw()


@pytest.mark.parametrize("max_labels", [0, -1, 1.5, None, "2"])
def test_a_plot_has_at_least_one_panel(max_labels):
    theory, _ = KINDS["multilabel"]
    with pytest.raises(ValueError, match="max_labels must be a whole number of at least 1, got"):
        theory.plot(max_labels=max_labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": None}, "table must be the name of a table, got None"),
        ({"table": 3}, "table must be the name of a table, got 3"),
        ({"dialect": ["x"]}, "dialect must be one of sqlite, duckdb, postgres, ansi, got"),
        ({"dialect": None}, "dialect must be one of sqlite, duckdb, postgres, ansi, got None"),
    ],
)
def test_a_query_needs_the_name_of_a_dialect_and_a_table(arguments, message):
    theory, _ = KINDS["no rule"]
    with pytest.raises(ValueError, match=message):
        theory.to_sql(**arguments)


def test_bounds_of_an_attribute_are_merged_to_the_tightest():
    body = (
        Condition("x", "≥", 1.0),
        Condition("x", "<", 5.0),
        Condition("x", "≥", 2.0),
        Condition("x", "≤", 4.0),
    )
    (requirement,) = body_to_requirements(body)
    assert (requirement.lower, requirement.upper, requirement.includes_upper) == (2.0, 4.0, True)


def test_hostile_table_has_missing_values_everywhere_but_in_the_booleans():
    assert hostile_table().isna().any().sum() == 7


@pytest.mark.parametrize("classes", [("a", "b"), ("a", "a"), ("a", "b", "c")], ids="".join)
@pytest.mark.parametrize("preset", ["paper", "accurate"])
def test_python_needs_no_numpy_for_classes_of_numpy_text(classes, preset):
    X = np.arange(40.0)[:, None]
    y = np.array(classes)[(X[:, 0] // 14).astype(int) % len(classes)]
    few = {"n_candidates": 50} if preset == "paper" else {"max_rules": 6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one attribute does not have 50 rules
        clf = RuleSetClassifier(preset=preset, random_state=0, **few)
        theory = clf.fit(pd.DataFrame({"x": X[:, 0]}), y).theory_
    assert {type(name) for name in theory.label_names} == {str}
    scope: dict = {}
    exec(theory.to_python(), scope)
    predicted = theory.predict(pd.DataFrame({"x": X[:, 0]}))
    assert [scope["predict"]({"x": value}) for value in X[:, 0]] == predicted.tolist()


@pytest.mark.parametrize("form", [bool, int, float, "Int64", "boolean", str, "category"], ids=str)
def test_truth_values_may_be_given_as_0_and_1_everywhere(form):
    X = pd.DataFrame({"d": [True, False, False, True, False] * 8})
    theory = learn(X, pd.DataFrame({"y": X["d"].astype(int)}))
    assert len(theory) > 0
    expected = X["d"].astype(int).tolist()
    table = X.astype({"d": form})
    assert theory.predict(table)["y"].tolist() == expected
    assert last(run_sqlite(theory.to_sql(), table), 1) == [[y] for y in expected]
    for dialect in ("duckdb", "postgres", "ansi"):
        assert last(run_duckdb(theory.to_sql(dialect), table), 1) == [[y] for y in expected]
    scope: dict = {}
    exec(theory.to_python(), scope)
    assert [scope["predict"](row)["y"] for row in table.to_dict("records")] == expected
    explained = theory.explain(table)
    assert [bool(e.labels[0].fired) for e in explained] == [bool(y) for y in expected]
    assert explained[1].labels[0].closest[0].failing[0].value == "False"


def test_rules_that_vote_read_0_and_1_as_truth_values_too():
    X = pd.DataFrame({"d": [True, False, False, True, False] * 8})
    clf = RuleSetClassifier(preset="accurate", max_rules=2, random_state=0)
    theory = clf.fit(X, np.where(X["d"], "b", "a")).theory_
    assert theory.has_points
    scope: dict = {}
    exec(theory.to_python(), scope)
    for value, name in [(1, "b"), (0.0, "a"), (True, "b"), ("0", "a")]:
        assert scope["predict"]({"d": value}) == name
        assert theory.predict(pd.DataFrame({"d": [value]})).tolist() == [name]


def test_other_categories_than_truth_values_are_compared_as_they_are():
    X = pd.DataFrame({"d": ["True", "False", "maybe"] * 10})
    theory = learn(X, pd.DataFrame({"y": (X["d"] == "True").astype(int)}))
    table = pd.DataFrame({"d": ["1", "true", "True"]})
    assert theory.predict(table)["y"].tolist() == [0, 0, 1]
    assert last(run_sqlite(theory.to_sql(), table), 1) == [[0], [0], [1]]
