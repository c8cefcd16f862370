"""Python: the exported function predicts what `predict` predicts and needs nothing but Python."""

from __future__ import annotations

import ast
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from steelyard.model.combiners import SumOfVotes
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BestLabel, BestLabelSet, LabelSetVotes
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.label_sets import KnownLabelSets
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from theories import (
    PAIRS,
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


def load(theory: Theory):
    """The exported function, and the names beside it."""
    scope: dict = {}
    exec(compile(theory.to_python(), "exported.py", "exec"), scope)
    return scope.pop("predict"), set(scope) - {"__builtins__"}


def run_python(theory: Theory, X: pd.DataFrame) -> list[list]:
    predict, _ = load(theory)
    answers = [predict(row) for row in plain_table(X).to_dict("records")]
    if not theory.is_multilabel:
        return [[answer] for answer in answers]
    assert all(list(answer) == list(theory.label_names) for answer in answers)
    return [list(answer.values()) for answer in answers]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
class TestPredictions:
    def test_it_predicts_what_predict_predicts(self, pair):
        for theory, X in random_cases(*pair):
            found = run_python(theory, X)
            assert found == predict_rows(theory, X)
            plain = {type(value) for row in found for value in row}
            assert plain <= {int, str, bool, float}

    def test_none_and_nan_and_pandas_na_are_missing(self, pair):
        for theory, X in random_cases(*pair)[:5]:
            predict, _ = load(theory)
            row = plain_table(X).iloc[0].to_dict()
            for name in row:
                expected = predict(row | {name: None})
                assert predict(row | {name: math.nan}) == expected
                assert predict(row | {name: pd.NA}) == expected

    def test_values_may_be_those_of_numpy(self, pair):
        theory, X = random_cases(*pair)[1]
        predict, _ = load(theory)
        for row in plain_table(X).to_dict("records"):
            boxed = {k: v if v is None else np.asarray(v)[()] for k, v in row.items()}
            assert predict(boxed) == predict(row)

    def test_it_imports_nothing_but_mathematics(self, pair):
        for theory, _ in random_cases(*pair):
            nodes = ast.walk(ast.parse(theory.to_python()))
            imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
            assert [alias.name for node in imports for alias in node.names] in ([], ["math"])
            assert load(theory)[1] <= {"_number", "_text", "_LABEL_SETS", "math"}


def test_every_kind_of_condition():
    theory, X = handmade_theory(), handmade_table()
    assert run_python(theory, X) == predict_rows(theory, X)


def test_it_runs_in_a_process_of_its_own():
    theory = flu_theory(decoder=LabelSetVotes(0.4))
    source = theory.to_python() + "\nprint(predict({'fever': 39.0, 'nose': 'runs'}))\n"
    output = subprocess.run(
        [sys.executable, "-I", "-S", "-c", source], capture_output=True, text=True, check=True
    ).stdout
    (expected,) = predict_rows(theory, pd.DataFrame({"fever": [39.0], "nose": ["runs"]}))
    assert ast.literal_eval(output) == dict(zip(theory.label_names, expected, strict=True))


@pytest.mark.parametrize("kind", [np.str_, np.int64, np.float64, np.bool_])
def test_it_needs_no_numpy_for_names_and_classes_of_numpy(kind):
    rule = Rule(Head(np.str_("a")), (Condition(np.str_("c"), "=", np.str_("x")),))
    theory = Theory(
        (Feature(np.str_("c"), (np.str_("x"), np.str_("y"))),),
        (Label(np.str_("a")),),
        (ScoredRule(rule, Evidence(np.int64(1), 0), np.float64(1), np.int64(3)),),
        SumOfVotes((np.int64(-1),)),
        classes=tuple(map(kind, (0, 1))),
    )
    assert "np." not in theory.to_python()
    X = pd.DataFrame({"c": ["x", "y"]})
    assert run_python(theory, X) == predict_rows(theory, X)


@pytest.mark.parametrize("form", [bool, int, float, "Int64", "boolean", str], ids=str)
def test_booleans_may_be_given_as_0_and_1(form):
    X = pd.DataFrame({"d": [True, False, True]}).astype({"d": form})
    assert run_python(switch_theory("False", "True"), X) == [[1], [0], [1]]


def test_other_categories_than_booleans_are_compared_as_they_are():
    X = pd.DataFrame({"d": ["1", "true", "True"]})
    assert run_python(switch_theory("False", "True", "maybe"), X) == [[0], [0], [1]]


@pytest.mark.parametrize("combiner", ["any-rule", "strongest-vote", "sum-of-votes"])
def test_more_rules_than_python_nests_expressions(combiner):
    theory = many_rules(3000, combiner)
    X = pd.DataFrame({"x": [-1.0, 0.0, 1499.0, 1e9]})
    assert run_python(theory, X) == predict_rows(theory, X)


@pytest.mark.parametrize("decoder", [BestLabelSet(0.0005), LabelSetVotes(0.015, 0.0005)], ids=str)
def test_thousands_of_label_sets_and_hundreds_of_labels(decoder):
    theory = many_label_sets(300, 2500, decoder)
    X = pd.DataFrame({"x": [-1.0, 10.0, 100.0, 299.0, None]})
    expected = predict_rows(theory, X)
    assert len({tuple(row) for row in expected}) > 2
    assert run_python(theory, X) == expected


@pytest.mark.parametrize("threshold", [0.001, 0.333, 0.5, 0.9994])
def test_a_share_that_is_just_met_is_not_enough(threshold):
    # Two sets that fit alike have half of the votes each, whatever the threshold.
    decoder = LabelSetVotes(threshold, 0.0).fit(KnownLabelSets(((0,), (1,)), (2, 2)))
    labels = (Label("a"), Label("b"))
    theory = Theory((Feature("x"),), labels, (), SumOfVotes((3, 3)), decoder)
    X = pd.DataFrame({"x": [1.0]})
    assert run_python(theory, X) == predict_rows(theory, X) == [[int(threshold < 0.5)] * 2]


def test_sets_that_are_far_behind_have_no_vote():
    decoder = LabelSetVotes(0.4).fit(KnownLabelSets(((0,), (1,), ()), (2, 2, 1)))
    labels = (Label("a"), Label("b"))
    theory = Theory((Feature("x"),), labels, (), SumOfVotes((10**6, -(10**6))), decoder)
    X = pd.DataFrame({"x": [1.0]})
    assert run_python(theory, X) == predict_rows(theory, X) == [[1, 0]]


def test_equal_scores_give_the_first_class():
    labels = tuple(Label(name) for name in "abc")
    theory = Theory((Feature("x"),), labels, (), SumOfVotes((1, 7, 7)), BestLabel(), tuple("abc"))
    X = pd.DataFrame({"x": [1.0]})
    assert run_python(theory, X) == predict_rows(theory, X) == [["b"]]
