"""Theories: what the rules say is what is predicted, printed and saved."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.prediction import predict as oracle_predict
from reference.rules import covers
from steelyard import Condition, MEstimate, Rule, RuleSetClassifier, Theory, make_planted_rules
from steelyard.model.evidence import Label, ScoredRule, smoothed_precision
from steelyard.model.features import Feature
from steelyard.model.rules import Head
from strategies import body_to_oracle, data_sets, table_to_rows, to_csr

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")


def fit(X, y, **options):
    options = {"n_candidates": 60, "n_trees": 2, "phi": 1.0, "random_state": 0} | options
    return RuleSetClassifier(**options).fit(X, y).theory_


def oracle_rules(theory):
    names = [feature.name for feature in theory.features]
    return [
        (theory.label_names.index(rule.head.label), body_to_oracle(rule.body, names))
        for rule in theory
    ]


@pytest.fixture(scope="module")
def data():
    return make_planted_rules(150, n_labels=3, missing=0.1, random_state=0)


@pytest.fixture(scope="module")
def theory(data):
    return fit(data.X, data.Y, n_candidates=500)


def by_hand(output="multilabel", classes=(), target_classes=(1, 0)):
    """Two labels: `warm` if x ≥ 1 or c = red, `dry` (by default its absence) if x < 3."""
    labels = tuple(
        Label(name, t, 4, 6, 1, 5) for name, t in zip(("warm", "dry"), target_classes, strict=True)
    )
    rules = (
        ScoredRule(Rule(Head("warm"), (Condition("x", "≥", 1.0),)), tp=3, fp=1, value=0.75),
        ScoredRule(Rule(Head("warm"), (Condition("c", "=", "red"),)), tp=1, fp=0, value=1.0),
        ScoredRule(
            Rule(Head("dry", target_classes[1]), (Condition("x", "<", 3.0),)), 3, 1, value=0.75
        ),
    )
    features = (Feature("x"), Feature("c", ("blue", "red")))
    return Theory(features, labels, rules, output=output, classes=classes)


class TestPredicting:
    @settings(max_examples=60)
    @given(data_sets(max_rows=30), st.sampled_from(["minority", "present"]))
    def test_a_label_gets_its_target_class_where_any_of_its_rules_fires(self, data, target):
        X, Y = data
        theory = fit(X, Y, target=target)
        targets = [label.target_class for label in theory.labels]
        expected = oracle_predict(table_to_rows(X), oracle_rules(theory), targets)
        predicted = theory.predict(X)
        assert predicted.to_numpy().tolist() == expected
        assert predicted.columns.tolist() == Y.columns.tolist()

    @settings(max_examples=60)
    @given(data_sets(max_rows=30))
    def test_counts_are_those_of_the_training_set(self, data):
        X, Y = data
        theory = fit(X, Y)
        fires = theory.covers(X)
        for mask, scored in zip(fires.T, theory.scored_rules, strict=True):
            head = scored.rule.head
            positive = (Y[head.label] == head.target_class).to_numpy()
            assert (scored.tp, scored.fp) == ((mask & positive).sum(), (mask & ~positive).sum())
        for label in theory.labels:
            positive = (Y[label.name] == label.target_class).to_numpy()
            own = [rule.head.label == label.name for rule in theory]
            silent = ~fires[:, own].any(axis=1)
            assert label.n_positives == positive.sum()
            assert label.n_negatives == (~positive).sum()
            assert label.uncovered_positives == (silent & positive).sum()
            assert label.uncovered_negatives == (silent & ~positive).sum()

    @settings(max_examples=40)
    @given(data_sets(max_rows=30))
    def test_covers_is_the_row_by_row_check(self, data):
        X, Y = data
        theory = fit(X, Y)
        bodies = [body for _, body in oracle_rules(theory)]
        expected = [[covers(body, row) for body in bodies] for row in table_to_rows(X)]
        assert theory.covers(X).tolist() == expected

    def test_by_hand(self):
        theory = by_hand()
        X = pd.DataFrame({"x": [0.0, 1.0, 3.0, np.nan], "c": ["red", "blue", "blue", None]})
        assert theory.predict(X).to_numpy().tolist() == [[1, 0], [1, 0], [1, 1], [0, 1]]

    def test_scores_by_hand(self):
        # Silent labels: one of six uncovered examples is positive, (1 + 1)/(6 + 2) - 1 = -3/4.
        X = pd.DataFrame({"x": [0.0, 1.0, 5.0, 5.0], "c": ["red", "blue", "red", None]})
        warm = [2 / 3, 4 / 6, max(4 / 6, 2 / 3), 4 / 6]
        dry = [-4 / 6, -4 / 6, 3 / 4, 3 / 4]
        np.testing.assert_allclose(by_hand().decision_function(X), np.column_stack([warm, dry]))

    @settings(max_examples=40)
    @given(data_sets(max_rows=30))
    def test_the_sign_of_the_score_is_the_prediction(self, data):
        X, Y = data
        theory = fit(X, Y)
        scores = theory.decision_function(X)
        assert ((scores > 0) == theory.predict(X).to_numpy(dtype=bool)).all()
        assert (np.abs(scores) < 1).all()
        assert (scores != 0).all()

    def test_the_best_supported_class_wins_among_several(self):
        theory = by_hand("multiclass", ("summer", "desert"), target_classes=(1, 1))
        X = pd.DataFrame({"x": [0.0, 2.0, 9.0], "c": ["blue", "blue", "blue"]})
        # x = 2 fires for both with equal support: the first class.
        assert theory.predict(X).tolist() == ["desert", "summer", "summer"]

    def test_many_rows_are_predicted_in_blocks(self, theory, data):
        copies = pd.concat([data.X] * 500, ignore_index=True)
        once = theory.predict(data.X).to_numpy()
        assert len(copies) > 65_536
        assert (theory.predict(copies).to_numpy() == np.tile(once, (500, 1))).all()

    def test_no_rows_give_no_predictions(self, theory, data):
        assert theory.predict(data.X.iloc[:0]).shape == (0, 3)
        assert theory.covers(data.X.iloc[:0]).shape == (0, len(theory))

    def test_smoothed_precision_trusts_few_examples_less(self):
        assert smoothed_precision(1, 0) < smoothed_precision(10, 0) < 1
        assert smoothed_precision(0, 0) == 0.5


class TestTables:
    def test_columns_are_found_by_name(self, theory, data):
        shuffled = data.X.iloc[:, ::-1].assign(further="no matter")
        assert theory.predict(shuffled).equals(theory.predict(data.X))

    def test_the_index_of_a_frame_is_kept(self, theory, data):
        labelled = data.X.set_axis([f"row {i}" for i in range(len(data.X))])
        assert theory.predict(labelled).index.equals(labelled.index)

    def test_a_lacking_attribute_is_named(self, theory, data):
        used = next(iter(theory)).body[0].feature
        with pytest.raises(ValueError, match=f"the table lacks the attribute.*{used!r}"):
            theory.predict(data.X.drop(columns=used))

    def test_attributes_that_no_rule_tests_may_be_absent(self, theory, data):
        used = {condition.feature for rule in theory for condition in rule.body}
        assert theory.predict(data.X[sorted(used)]).equals(theory.predict(data.X))

    def test_an_array_must_have_as_many_columns_as_the_training_table(self, theory, data):
        values = data.X.to_numpy(dtype=object)
        assert (theory.predict(values) == theory.predict(data.X).to_numpy()).all()
        with pytest.raises(
            ValueError, match=r"knows 10 attributes, the table has shape \(150, 9\)"
        ):
            theory.predict(values[:, 1:])

    def test_a_theory_of_an_array_reads_a_frame_with_any_names_by_position(self):
        X = np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0], [0.0, 5.0]])
        theory = fit(X, ["a", "b", "a", "b", "a"])
        named = pd.DataFrame(X, columns=["first", "second"])
        assert theory.predict(named).tolist() == theory.predict(X).tolist()

    def test_sparse_and_dense_tables_are_read_alike(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.random((40, 6)) * (rng.random((40, 6)) < 0.2))
        y = (X[0] + X[1] > 0.5).astype(int)
        theory = fit(X, y)
        assert len(theory) > 0
        for form in (to_csr(X), to_csr(X).tocsc(), X.to_numpy(), X.astype("Sparse[float]")):
            assert np.asarray(theory.predict(form)).tolist() == theory.predict(X).tolist()

    @pytest.mark.parametrize("category", ["1.50", "01", "nan", "inf", "1e3"])
    def test_what_is_predicted_for_a_row_does_not_depend_on_the_rows_beside_it(self, category):
        # A category may look like a number: alone in its column it must still be that category.
        X = np.array([[category, 1.0], ["a", 1.0], ["a", 2.0]] * 5, dtype=object)
        y = [int(c == category) for c in X[:, 0]]
        classifier = RuleSetClassifier(n_candidates=20, n_trees=2, random_state=0).fit(X, y)
        assert classifier.predict(X).tolist() == y
        assert classifier.predict(X[[0]]).tolist() == [1]
        assert classifier.theory_.predict(X[[0]]).tolist() == [1]


class TestReading:
    def test_a_theory_iterates_over_its_rules_grouped_by_label_best_first(self, theory, data):
        labels = [rule.head.label for rule in theory]
        assert len(labels) == len(theory)
        assert labels == sorted(labels, key=data.label_names.index)
        for label in data.label_names:
            values = [scored.value for scored in theory.rules_of(label)]
            assert values == sorted(values, reverse=True)

    def test_an_unknown_label_lists_the_known_ones(self, theory):
        with pytest.raises(ValueError, match="no label 'colour'; it has 'for juice', 'for jam'"):
            theory.rules_of("colour")

    def test_printed_it_shows_every_rule_with_its_counts(self):
        assert str(by_hand()).splitlines() == [
            "3 rules for 2 labels, 1.0 conditions a rule",
            "",
            "warm: 4 of 10 (40%)",
            "  TP 3  FP 1  0.750  warm ← x ≥ 1",
            "  TP 1  FP 0  1.000  warm ← c = red",
            "",
            "¬dry: 4 of 10 (40%)",
            "  TP 3  FP 1  0.750  ¬dry ← x < 3",
        ]
        assert repr(by_hand()) == "<Theory: 3 rules with 3 conditions for 2 labels>"

    def test_a_label_without_rules_says_so(self):
        theory = Theory((Feature("x"),), (Label("rare", 1, 1, 9, 1, 9),), ())
        assert "no rule: never predicted" in str(theory)

    def test_as_a_frame_it_has_one_row_a_rule(self, theory):
        frame = theory.to_frame()
        assert len(frame) == len(theory)
        assert frame.n_conditions.tolist() == [len(rule) for rule in theory]
        assert frame.n_conditions.sum() == theory.n_conditions
        np.testing.assert_allclose(frame.precision, frame.tp / (frame.tp + frame.fp))


class TestSaving:
    @settings(max_examples=40)
    @given(data_sets(max_rows=20))
    def test_read_again_it_is_equal_and_predicts_the_same(self, data):
        X, Y = data
        theory = fit(X, Y)
        again = Theory.from_json(theory.to_json())
        assert again == theory
        assert hash(again) == hash(theory)
        assert again.to_json() == theory.to_json()
        assert again.predict(X).equals(theory.predict(X))
        assert again.decision_function(X).tolist() == theory.decision_function(X).tolist()

    @pytest.mark.parametrize(
        "classes", [("a", "b"), (0, 1), (True, False), ("a", "b", "c"), (1, 5, 9)]
    )
    def test_classes_survive(self, classes):
        X = np.arange(30.0)[:, None]
        theory = fit(X, np.array(classes)[np.arange(30) // 3 % len(classes)])
        again = Theory.from_json(theory.to_json())
        assert again == theory
        assert again.predict(X).tolist() == theory.predict(X).tolist()

    def test_a_file_is_written_and_read(self, theory, tmp_path):
        theory.to_json(tmp_path / "theory.json")
        assert Theory.from_json(tmp_path / "theory.json") == theory
        assert Theory.from_json(str(tmp_path / "theory.json")) == theory

    def test_it_is_json_with_one_rule_a_line(self, theory):
        text = theory.to_json()
        assert len(json.loads(text)["rules"]) == len(theory)
        assert sum('"body"' in line for line in text.splitlines()) == len(theory)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "the text is not JSON"),
            ("{}", "the text is not a steelyard theory"),
            ('{"format": "steelyard theory", "schema_version": 99}', "schema version 99"),
            ('{"format": "steelyard theory", "schema_version": 1}', "is a damaged theory"),
        ],
    )
    def test_what_is_no_theory_is_said_in_one_sentence(self, text, message):
        with pytest.raises(ValueError, match=message):
            Theory.from_json(text)


def test_two_theories_are_equal_if_they_say_the_same(data):
    assert fit(data.X, data.Y) == fit(data.X, data.Y)
    assert fit(data.X, data.Y) != fit(data.X, data.Y, heuristic=MEstimate(2))
    assert fit(data.X, data.Y) != "a theory"
