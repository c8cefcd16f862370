"""Explanations agree with the predictions they explain, and their advice works."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from steelyard import Condition, RuleSetClassifier, Theory, make_planted_rules
from steelyard.explain import Explanation, FailingCondition
from steelyard.model.evidence import Label, ScoredRule
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule
from theories import HOSTILE, every_kind_of_theory, handmade_theory

KINDS = every_kind_of_theory()


@pytest.fixture(params=KINDS)
def case(request):
    return KINDS[request.param]


@pytest.fixture
def flu() -> Theory:
    rules = [
        ((Condition("fever", "≥", 38.5), Condition("colour", "=", "red")), 9, 2),
        ((Condition("fever", "≥", 40.0), Condition("fever", "<", 42.0)), 3, 0),
        ((Condition("age", "<", 5.0),), 2, 2),
    ]
    return Theory(
        (Feature("fever"), Feature("colour", ("blue", "red")), Feature("age")),
        (Label("flu", 1, 12, 30, 1, 26), Label("well", 0, 10, 32, 0, 0)),
        tuple(ScoredRule(Rule(Head("flu"), body), tp, fp, 0.5) for body, tp, fp in rules),
    )


def explain_all(theory, X) -> list[Explanation]:
    return theory.explain(X)


def test_predictions_and_firing_rules_are_the_theory_s(case):
    theory, X = case
    predicted = np.asarray(theory.predict(X))
    fires = theory.covers(X)
    for i, explanation in enumerate(explain_all(theory, X)):
        if theory.output == "multilabel":
            assert [label.predicted for label in explanation] == list(predicted[i])
        else:
            assert explanation.predicted == predicted[i]
        fired = [scored for label in explanation for scored in label.fired]
        assert fired == [s for s, fired in zip(theory.scored_rules, fires[i], strict=True) if fired]


def test_a_label_without_a_firing_rule_shows_the_closest_ones(case):
    theory, X = case
    for explanation in explain_all(theory, X):
        for label in explanation:
            assert not (label.fired and label.closest)
            n_changes = [len(near.changes) for near in label.closest]
            assert n_changes == sorted(n_changes)
            assert all(near.failing for near in label.closest)


def test_the_smallest_change_makes_the_rule_fire(case):
    theory, X = case
    for explanation in explain_all(theory, X.head(40)):
        for label in explanation:
            for near in label.closest:
                row = X.loc[explanation.row].to_dict()
                row |= {change.feature: change.nearest for change in near.changes}
                if row.get(HOSTILE[7]) in ("True", "False"):
                    row[HOSTILE[7]] = row[HOSTILE[7]] == "True"
                (fired,) = [e.fired for e in theory.explain(row) if e.name == label.name]
                assert near.scored in fired


def test_no_rule_needs_fewer_attributes_changed_than_the_closest(flu):
    explanation = flu.explain({"fever": 39.0, "colour": "blue", "age": 30.0}, n_closest=9)
    assert [len(near.changes) for near in explanation["flu"].closest] == [1, 1, 1]
    # All need one attribute, so the better evidence comes first.
    assert [near.scored.tp for near in explanation["flu"].closest] == [3, 9, 2]


def test_changes_are_said_in_words(flu):
    (a, b, c) = flu.explain({"fever": 39.0, "colour": "blue", "age": 30.0})["flu"].closest
    assert str(a.changes[0]) == "raise fever from 39 to at least 40"
    assert str(b.changes[0]) == "change colour from blue to red"
    assert str(c.changes[0]) == "lower age from 30 to below 5"
    assert c.changes[0].nearest == np.nextafter(5.0, 0)
    assert str(b).endswith("colour = red; to fire: change colour from blue to red")


def test_a_missing_value_needs_a_value(flu):
    explanation = flu.explain({"fever": None, "colour": None, "age": np.nan}, n_closest=9)
    texts = {str(change) for near in explanation["flu"].closest for change in near.changes}
    assert texts == {
        "give age a value: below 5",
        "give colour a value: red",
        "give fever a value: at least 38.5",
        "give fever a value: at least 40 and below 42",
    }
    assert "age < 5 fails: age is missing" in str(explanation)


def test_a_bound_that_includes_its_value_is_reached_by_it():
    theory = Theory(
        (Feature("x"),),
        (Label("y", 1, 1, 1, 0, 1),),
        (ScoredRule(Rule(Head("y"), (Condition("x", "≤", 2.0),)), 1, 0, 1.0),),
    )
    (near,) = theory.explain([3.0])["y"].closest
    assert near.changes[0].nearest == 2.0
    assert str(near.changes[0]) == "lower x from 3 to at most 2"


def test_rules_that_nothing_meets_are_not_advised():
    never = handmade_theory().explain({"x": 0.0, "label": 1.0, "kind": "a"})["never"]
    assert all("b" not in str(near.changes) for near in never.closest)


def test_a_class_that_no_rule_speaks_for_is_not_called_denied():
    X = pd.DataFrame({"x": np.repeat([1.0, 2.0, 3.0], [5, 5, 4])})
    y = np.repeat(["a", "b", "c"], [5, 5, 4])
    theory = RuleSetClassifier(n_candidates=4, random_state=0).fit(X, y).theory_
    kept = tuple(scored for scored in theory.scored_rules if scored.rule.head.label == "a")
    labels = tuple(
        replace(label, uncovered_positives=label.n_positives, uncovered_negatives=label.n_negatives)
        for label in theory.labels
    )
    silent = replace(theory, scored_rules=kept, labels=(theory.labels[0], *labels[1:]))
    explanation = silent.explain({"x": 2.0})
    assert explanation.predicted == "b"
    assert explanation["b"].reason == (
        "no rule of any class fires; of the 14 training examples that its rules leave out 5 were of "
        "this class"
    )
    # It is predicted already: there is nothing to change.
    assert explanation["b"].closest == ()
    assert explanation["a"].closest


def test_labels_without_rules_say_so(flu):
    explanation = flu.explain({"fever": 36.0, "colour": "red", "age": 30.0})
    well = explanation["well"]
    assert (well.predicted, well.fired, well.closest, well.smallest_change) == (1, (), (), ())
    assert explanation.predicted == ("well",)
    assert "no rule for its absence fires" in well.reason


def test_one_row_in_any_form_gives_the_same_explanation(flu):
    row = {"fever": 39.0, "colour": "red", "age": None}
    expected = str(flu.explain(row))
    frame = pd.DataFrame([row])
    for one in (
        frame,
        frame.iloc[0],
        pd.Series(row),
        [39.0, "red", None],
        np.array([39.0, "red", None], dtype=object),
        frame.astype({"colour": "category"}).iloc[0],
    ):
        assert str(flu.explain(one)) == expected
    assert [str(e) for e in flu.explain(pd.concat([frame, frame]))] == [expected] * 2


def test_arrays_sparse_matrices_and_sparse_rows_are_the_same():
    rng = np.random.default_rng(0)
    X = (rng.random((80, 6)) < 0.3).astype(float)
    Y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2]]).astype(int)
    clf = RuleSetClassifier(n_candidates=50, random_state=0).fit(X, Y)
    names = [f"x{j}" for j in range(6)]
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X), columns=names)
    expected = [str(e) for e in clf.explain(X)]
    assert [str(e) for e in clf.explain(sparse.csr_array(X))] == expected
    assert [str(e) for e in clf.explain(frame)] == expected
    assert str(clf.explain(frame.iloc[3])) == expected[3]
    assert str(clf.explain(X[3])) == expected[3]
    assert str(clf.explain(list(X[3]))) == expected[3]


def test_an_empty_table_has_no_explanations(flu):
    assert flu.explain(pd.DataFrame({"fever": [], "colour": [], "age": []})) == []


def test_estimators_explain_once_they_are_fitted():
    data = make_planted_rules(150, random_state=0)
    clf = RuleSetClassifier(n_candidates=300, random_state=0)
    with pytest.raises(NotFittedError):
        clf.explain(data.X.iloc[0])
    explanation = clf.fit(data.X, data.Y).explain(data.X.iloc[[7]])
    assert explanation.row == data.X.index[7]
    with pytest.raises(ValueError, match="lacks the attribute"):
        clf.explain({"nothing": 1})


def test_an_item_is_found_by_name_or_position(flu):
    explanation = flu.explain([36.0, "red", 3.0])
    assert explanation[0] is explanation["flu"]
    assert len(explanation) == 2
    with pytest.raises(KeyError):
        explanation["nothing"]


def test_the_frame_has_a_row_for_each_rule_shown(case):
    theory, X = case
    explanation = theory.explain(X.iloc[0])
    frame = explanation.to_frame()
    assert set(frame["label"]) == set(theory.label_names)
    shown = sum(max(len(label.fired) + len(label.closest), 1) for label in explanation)
    assert len(frame) == shown


def test_notebook_table_shows_names_as_text(case):
    theory, X = case
    for explanation in explain_all(theory, X.head(5)):
        root = ET.fromstring(explanation._repr_html_().replace("<br>", "<br/>"))
        tags = {element.tag for element in root.iter()}
        assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "small", "br"}
        text = "".join(root.itertext())
        assert all(label.name in text for label in explanation)


def test_explanations_are_plain_values(flu):
    a, b = (flu.explain([36.0, "red", 30.0]) for _ in range(2))
    assert a == b
    assert isinstance(a["flu"].closest[0].failing[0], FailingCondition)
    assert repr(a) == "<Explanation: ('well',) predicted, 2 labels>"
