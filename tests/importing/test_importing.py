"""Imported theories predict what their learners predict: live for trees, recorded for the others."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from steelyard import BestLabel, SumOfVotes, Theory, import_theory
from steelyard.importing.parts import float32_test

RECORDED = Path(__file__).parent / "recorded"
TABLE = pd.read_csv(RECORDED / "patients.csv")
X, Y = TABLE.iloc[:, :4], TABLE.iloc[:, 4:]
PREDICTED = pd.read_csv(RECORDED / "predictions.csv")
FILES = {
    "wittgenstein.txt": Y[["cold"]],
    "rulekit.json": None,
    "boomer.txt": Y,
    "boomer_digits.txt": Y,
}
KINDS = ("two classes", "texts", "several classes", "labels", "constant labels", "several values")


def make_targets(rng, kind, n_rows):
    if kind == "two classes":
        return rng.integers(0, 2, n_rows)
    if kind == "texts":
        return rng.choice(["no", "yes"], n_rows, p=[0.8, 0.2])
    if kind == "several classes":
        return rng.choice(["a", "b", "c", "d"], n_rows)
    if kind == "labels":
        return (rng.random((n_rows, 3)) < [0.2, 0.5, 0.8]).astype(int)
    if kind == "constant labels":
        ones = np.ones(n_rows, dtype=int)
        return np.column_stack([ones, 0 * ones, rng.integers(0, 2, n_rows)])
    return np.column_stack([rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)])


def make_table(rng, n_rows):
    """Numbers of which 64 bits hold more than 32, and ties."""
    return np.column_stack(
        [rng.normal(size=(n_rows, 2)), rng.integers(0, 4, n_rows) / 10, rng.integers(0, 2, n_rows)]
    )


def put_on_thresholds(table, tree):
    """Values at the thresholds of a tree and within the rounding error of 32 bits around them."""
    is_inner = tree.tree_.feature >= 0
    pairs = zip(tree.tree_.feature[is_inner], tree.tree_.threshold[is_inner], strict=True)
    for i, (f, threshold) in enumerate(pairs):
        for k, error in enumerate((0, 1e-8, -1e-8, 3e-8, 6e-8, -6e-8)):
            table[(6 * i + k) % len(table), f] = threshold * (1 + error)


def expected_labels(tree, table):
    """What a tree predicts, with outputs of other values than 0 and 1 as one label per value."""
    predicted = tree.predict(table)
    if predicted.ndim == 1:
        return predicted
    columns = []
    for j, classes in enumerate(tree.classes_):
        if set(classes) <= {0, 1}:
            columns.append(predicted[:, j])
        else:
            columns += [(predicted[:, j] == value).astype(int) for value in classes]
    return np.column_stack(columns)


class TestTrees:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("learner", [DecisionTreeClassifier, ExtraTreeClassifier])
    def test_predictions_are_those_of_the_tree_also_at_its_thresholds(self, learner, kind):
        for seed in range(8):
            rng = np.random.default_rng(seed)
            table, others = make_table(rng, 150), make_table(rng, 400)
            depth = (None, 3, 1)[seed % 3]
            tree = learner(max_depth=depth, random_state=seed)
            tree.fit(table, make_targets(rng, kind, 150))
            put_on_thresholds(others, tree)
            theory = import_theory(tree)
            assert (theory.predict(others) == expected_labels(tree, others)).all()
            assert (theory.covers(others).sum(axis=1) <= len(theory.labels)).all()

    @pytest.mark.parametrize("kind", KINDS[:-1])
    def test_counts_are_those_of_a_recount(self, kind):
        rng = np.random.default_rng(1)
        table = make_table(rng, 150)
        y = make_targets(rng, kind, 150)
        tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table, y)
        saved, counted = import_theory(tree), import_theory(tree, table, y)
        assert saved.evidence_from.kind == "training"
        assert [(s.tp, s.fp) for s in saved] == [(s.tp, s.fp) for s in counted]
        for one, two in zip(saved.labels, counted.labels, strict=True):
            assert (one.n_positives, one.n_negatives) == (two.n_positives, two.n_negatives)
            assert one.uncovered_positives == two.uncovered_positives
            assert one.uncovered_negatives == two.uncovered_negatives

    def test_weights_leave_no_counts(self):
        tree = DecisionTreeClassifier(max_depth=2, class_weight="balanced", random_state=0)
        tree.fit(X[["fever", "the age"]], Y)
        theory = import_theory(tree)
        assert not any(scored.is_counted for scored in theory)
        assert str(theory).splitlines()[1] == (
            "The rules are not counted: recount(X, Y) counts them."
        )

    def test_names_come_from_the_tree_and_from_the_labels(self):
        numeric = X[["fever", "the age"]]
        tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(numeric, Y)
        theory = import_theory(tree, numeric, Y)
        assert theory.label_names == ("flu", "cold", "old one")
        assert {c.feature for s in theory for c in s.body} <= {"fever", "the age"}
        assert import_theory(tree, label_names=["a", "b", "c"]).label_names == ("a", "b", "c")
        with pytest.raises(ValueError, match="2 label names, but the tree has 3 outputs"):
            import_theory(tree, label_names=["a", "b"])

    def test_booleans_stay_booleans(self):
        table = pd.DataFrame({"ill": [True, False] * 20, "age": np.arange(40)})
        y = table["ill"] & (table["age"] < 20)
        tree = DecisionTreeClassifier(random_state=0).fit(table, y)
        theory = import_theory(tree, table)
        assert (theory.predict(table) == tree.predict(table)).all()
        assert any("ill = True" in str(scored.rule) for scored in theory)

    def test_only_classifiers_that_are_fitted_have_rules(self):
        regressor = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
        with pytest.raises(ValueError, match="not a DecisionTreeRegressor"):
            import_theory(regressor)
        with pytest.raises(ValueError, match="not fitted"):
            import_theory(DecisionTreeClassifier())

    @settings(max_examples=300)
    @given(st.floats(-1e30, 1e30), st.floats(-1e-6, 1e-6))
    def test_a_bound_is_met_by_the_numbers_that_32_bits_round_down(self, threshold, error):
        below, above = (float32_test("a", threshold, is_below=b) for b in (True, False))
        for x in (threshold, threshold * (1 + error), below.value, np.nextafter(below.value, 9e99)):
            rounds_down = float(np.float32(x)) <= threshold
            assert (below.sign, above.sign) == ("<=", ">")
            assert (x <= below.value, x > above.value) == (rounds_down, not rounds_down)


class TestRecorded:
    def test_ripper_of_wittgenstein_predicts_the_same(self):
        theory = import_theory(RECORDED / "wittgenstein.txt", X, Y[["cold"]])
        assert (theory.predict(X)["cold"] == PREDICTED["ripper"]).all()
        # Names and categories have their spaces again, which wittgenstein does not print.
        assert "cold ← the age ≤ 9.8" in [str(scored.rule) for scored in theory]

    def test_rulekit_predicts_the_same(self):
        theory = import_theory(RECORDED / "rulekit.json", X)
        assert (theory.predict(X) == PREDICTED["rulekit"]).all()
        assert theory.classes == ("well", "cold", "flu")  # the default class first
        assert isinstance(theory.combiner, SumOfVotes)
        assert isinstance(theory.decoder, BestLabel)
        ill = np.where(Y["flu"] == 1, "flu", np.where(Y["cold"] == 1, "cold", "well"))
        counted = theory.recount(X, ill)
        assert [(s.tp, s.fp) for s in theory] == [(s.tp, s.fp) for s in counted]

    @pytest.mark.parametrize("name", ["boomer", "boomer_digits"])
    def test_boomer_predicts_the_same(self, name):
        theory = import_theory(RECORDED / f"{name}.txt", X, Y)
        expected = PREDICTED[[f"{name} {label}" for label in Y]].to_numpy()
        assert (theory.predict(X).to_numpy() == expected).all()

    def test_votes_of_the_same_rule_are_added(self):
        text = "{} => (a = 0.1)\n{x <= 1.5} => (a = 0.25)\n{x <= 1.5} => (a = -1.0)\n"
        theory = import_theory(text + "{x > 3.0} => (a = 0.001)\n")
        assert [(str(s.rule), s.points) for s in theory] == [("¬a ← x ≤ 1.5000000596046448", 75)]
        assert theory.combiner.start == (10,)

    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("has_table", [True, False])
    def test_they_are_ordinary_theories(self, name, has_table):
        if not has_table and name.startswith("boomer"):
            with pytest.raises(ValueError, match="not all of its categories are known"):
                import_theory(RECORDED / name)
            return
        table = (X, FILES[name]) if has_table else ()
        theory = import_theory(RECORDED / name, *table, when="2026-03-01")
        is_squeezed = name == "wittgenstein.txt" and not has_table
        patients = X.rename(columns={"the age": "theage"}) if is_squeezed else X
        assert Theory.from_json(theory.to_json()) == theory
        assert {s.provenance.source for s in theory} == {"imported"}
        assert "[imported 2026-03-01: " in str(theory)
        assert str(theory.explain(patients.iloc[[0]]))
        assert theory.compare(theory.drop(0), patients).n_rows == len(X)
        for export in ("python", "sql", "markdown", "latex"):
            assert getattr(theory, f"to_{export}")()
        assert len(theory.to_frame()) == len(theory)
        assert "imported" in theory._repr_html_()

    def test_without_a_table_wittgenstein_keeps_the_names_that_it_prints(self):
        theory = import_theory("[[theage=<9.8 ^ nose=runs] V [days=2]]", label_names=["cold"])
        assert [str(scored.rule) for scored in theory] == [
            "cold ← theage ≤ 9.8 ∧ nose = runs",
            "cold ← 2 ≤ days ≤ 2",
        ]
        assert [feature.name for feature in theory.features] == ["theage", "nose", "days"]

    def test_without_counts_nothing_is_said_of_examples(self):
        theory = import_theory("[[days=2]]", X, label_names=["cold"])
        assert str(theory.explain({"days": 1})).splitlines()[3] == "cold: no, no rule fires"
        assert len(theory.drift(X).to_frame()) == 1
        assert theory.importances()["importance"].tolist() == [0.0]
        assert theory.plot() is not None
        assert "0 of 0" not in theory.to_html() + theory.to_markdown() + theory.to_latex()

    def test_positions_stand_for_names(self):
        theory = import_theory('{1 <= 20.0 & 2 != "dry"} => (1 = 0.5)', X, label_names=list(Y))
        (scored,) = theory
        assert [c.feature for c in scored.body] == ["the age", "nose"]
        assert scored.head.label == "cold"


def rulekit(change):
    """The recorded JSON with a change."""
    data = json.loads((RECORDED / "rulekit.json").read_text(encoding="utf-8"))
    change(data)
    return json.dumps(data)


def first_premise(data):
    return data["rules"][0]["premise"]


DAMAGED = {
    "{}": "the text: meta is missing",
    "{": "the text: this is not JSON: Expecting property name",
    '{"meta": 3, "rules": []}': "meta must be an object, got 3",
    rulekit(lambda d: d["rules"][1].pop("voting_weight")): "rule 2: voting_weight is missing: save",
    rulekit(
        lambda d: first_premise(d).update(type="attributes")
    ): "rule 1: conditions of type 'att",
    rulekit(
        lambda d: first_premise(d).update(operator="ALTERNATIVE")
    ): "rule 1: its conditions are",
    rulekit(lambda d: first_premise(d)["subconditions"][0].update(attributes=[9])): "rule 1: a con",
    rulekit(lambda d: d["rules"][0]["conclusion"].update(value=None)): "rule 1: a class must be",
    rulekit(lambda d: d["meta"].pop("decision_attribute_distribution")): "not a classification",
    "[[theage=<9.8] V [nose=runs]": r"must start with \[\[ and end with \]\]",
    "[[theage=<9.8] V [nose]]": "rule 2: expected attribute=value, got 'nose'",
    "[[theagee=<9.8]]": r"rule 1: unknown attribute 'theagee' \(did you mean 'theage'",
    "[[theage=old]]": "rule 1: the attribute 'the age' is numeric, but is tested for 'old'",
    "{} => (flu = 1)\n{fever > high} => (flu = 1)": "line 2: expected a number after 'fever'",
    "{} => (flu = 1)\n{fever 38} => (flu = 1)": "line 2: expected a condition, got 'fever 38'",
    "{} => (flu = 1)\n{fevr > 38.0} => (flu = 1)": r"line 2: unknown attribute 'fevr' \(did you",
    "{} => (flu = 1)\n{} => (flu)": r"line 2: expected a label with its score, got 'flu'",
    "{} => (flu = 1)\nnonsense": r"line 2: expected \{conditions\} => ",
    '{} => (flu = 1)\n{nose <= "dry"} => (flu = 1)': "line 2: the attribute 'nose' is ordinal",
    "{} => (flu = 1)\n{nose <= 2.0} => (flu = 1)": "tests 'nose' as a number, but the table has",
}


@pytest.mark.parametrize(("text", "message"), DAMAGED.items())
def test_damaged_text_is_one_sentence(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        import_theory(text, X)
    assert "\n" not in str(caught.value)


def test_other_things_are_rejected():
    with pytest.raises(ValueError, match="format must be one of decision-rules, wittgenstein"):
        import_theory("{} => (a = 1)", format="weka")
    with pytest.raises(ValueError, match="expected a fitted DecisionTreeClassifier, a model of wi"):
        import_theory(3)
    with pytest.raises(ValueError, match="give X and Y together"):
        import_theory("{} => (a = 1)", Y=Y)
    with pytest.raises(ValueError, match="the text is empty"):
        import_theory("")
    with pytest.raises(FileNotFoundError):
        import_theory("missing.txt")


def test_negated_conditions_exclude_what_they_name():
    def negate(data):
        data["rules"] = data["rules"][:1]
        premise = first_premise(data)
        premise["subconditions"] = [
            {"type": "elementary_nominal", "attributes": [2], "negated": True, "value": "dry"},
            {
                "type": "elementary_numerical",
                "attributes": [0],
                "negated": True,
                "left": None,
                "right": 38.0,
                "left_closed": False,
                "right_closed": True,
            },
        ]

    (scored,) = import_theory(rulekit(negate), X)
    expected = (X["nose"] != "dry") & ~(X["fever"] <= 38.0)
    assert (scored.rule.covers(X) == expected).all()


class TestLive:
    """Fitted models, if their libraries are there."""

    def test_wittgenstein(self):
        wittgenstein = pytest.importorskip("wittgenstein")
        model = wittgenstein.RIPPER(random_state=0)
        model.fit(X, Y["cold"], pos_class=1)
        theory = import_theory(model, X, Y[["cold"]])
        assert (theory.predict(X)["cold"] == np.array(model.predict(X))).all()

    def test_decision_rules(self):
        pytest.importorskip("decision_rules")
        from decision_rules.classification.ruleset import ClassificationRuleSet
        from decision_rules.serialization import JSONSerializer

        text = (RECORDED / "rulekit.json").read_text(encoding="utf-8")
        ruleset = JSONSerializer.deserialize(json.loads(text), ClassificationRuleSet)
        assert (import_theory(ruleset, X).predict(X) == ruleset.predict(X)).all()

    def test_boomer(self):
        boosting = pytest.importorskip("mlrl.boosting")
        numeric = X.drop(columns="nose").to_numpy(dtype=np.float64)
        model = boosting.BoomerClassifier(max_rules=30, binary_predictor="output-wise")
        model.fit(numeric.astype(np.float32), Y.to_numpy(dtype=np.uint8))
        theory = import_theory(model, X.drop(columns="nose"), Y)
        predicted = model.predict(numeric.astype(np.float32))
        predicted = predicted.toarray() if hasattr(predicted, "toarray") else predicted
        scores = model.predict(numeric.astype(np.float32), predict_scores=True)
        # Votes are rounded to hundredths.
        is_clear = np.abs(scores) > 0.01 * 30 / 2
        assert (theory.predict(X).to_numpy() == predicted)[is_clear].all()
        assert is_clear.mean() > 0.8


class TestLimits:
    def test_excluded_numbers_of_one_attribute_split_it_once_each(self):
        tests = " & ".join(f"x != {i}" for i in range(40))
        theory = import_theory(f"{{{tests} & x > -3 & x <= 38.5}} => (y = 1)")
        assert len(theory) == 40
        rows = pd.DataFrame({"x": [-4, -2, 0, 0.5, 7, 37.5, 38, 38.2, 39, 40]})
        assert theory.covers(rows).sum(axis=1).tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0, 0]

    @pytest.mark.parametrize(
        "tests", ["x == 3 & x != 3", "x != 3 & x > 5 & x <= 4", "x > 1e39", "x != 3 & x > 1e308"]
    )
    def test_contradictions_leave_no_rule(self, tests):
        assert len(import_theory(f"{{{tests}}} => (y = 1)\n{{z <= 1}} => (y = 1)")) == 1

    def test_combinations_of_excluded_numbers_are_bounded(self):
        tests = " & ".join(f"x{i} != 1" for i in range(18))
        with pytest.raises(
            ValueError, match="line 2: its conditions exclude so many numbers that "
        ):
            import_theory(f"{{}} => (y = 1)\n{{{tests}}} => (y = 1)")

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("{a <= 1} => (y = 1)\n{a <= 1} => (y = 1e308)", "line 2"),
            (f"{{a <= 1}} => (y = {'9' * 400})", "line 1"),
            ("{} => (y = 1e308)", "line 1"),
            ("{a <= 1} => (y = 2e7)\n{a <= 1} => (y = 2e7)", "line 2"),
            ("{} => (y = 2e7)\n{} => (y = 2e7)", "the start of 'y'"),
            (rulekit(lambda d: d["rules"][1].update(voting_weight=1e308)), "rule 2"),
        ],
    )
    def test_votes_are_bounded(self, text, place):
        with pytest.raises(
            ValueError, match=f"the text: {place}: a vote must be a number from -21"
        ):
            import_theory(text)

    @pytest.mark.parametrize(
        ("test", "expected"),
        [
            ("x <= 1e39", [1, 1, 1, 1, 1]),
            ("x > 1e39", [0, 0, 0, 0, 0]),
            ("x <= -1e39", [1, 0, 0, 0, 0]),
            ("x <= 3.4028235e38", [1, 1, 1, 1, 0]),
            ("x > 3.4028235e38", [0, 0, 0, 0, 1]),
        ],
    )
    @pytest.mark.filterwarnings("error")
    def test_numbers_beyond_32_bits_are_infinite(self, test, expected):
        theory = import_theory(f"{{{test}}} => (y = 1)\n{{x <= 0}} => (z = 1)")
        rows = pd.DataFrame({"x": [-1e40, -3.4e38, 0.0, 3.4e38, 1e40]})
        assert theory.predict(rows)["y"].tolist() == expected

    @pytest.mark.parametrize(
        "test", ["x <= 1e39", "x > 3 & x <= 1e39", f"x == {sys.float_info.max}"]
    )
    def test_a_file_keeps_the_largest_bounds(self, test):
        theory = import_theory(f"{{{test}}} => (y = 1)")
        assert Theory.from_json(theory.to_json()) == theory
        assert theory.covers(pd.DataFrame({"x": [sys.float_info.max]})).all()

    def test_an_integer_of_too_many_digits_is_rejected(self):
        with pytest.raises(ValueError, match="the text: the JSON has an integer with too many dig"):
            import_theory(f'{{"meta": {"9" * 5000}}}')

    def test_numbers_of_conditions_must_be_numbers(self):
        for value in ("nan", "1e999"):
            with pytest.raises(ValueError, match="line 1: expected a number after 'x'"):
                import_theory(f"{{x == {value}}} => (y = 1)")
        with pytest.raises(ValueError, match="expected a label with its score, got 'y = 1..2'"):
            import_theory("{x <= 1} => (y = 1..2)")

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("p", "rule 1: p is 1,000,000,000, but .* has 32 examples with the class 'cold'"),
            ("n", "rule 1: n is 1,000,000,000, but .* has 118 examples without the class 'cold'"),
        ],
    )
    def test_counts_of_rules_fit_those_of_their_class(self, name, message):
        with pytest.raises(ValueError, match=message):
            import_theory(rulekit(lambda d: d["rules"][0]["coverage"].update({name: 10**9})), X)
        with pytest.raises(ValueError, match=f"rule 1: {name} must be a count, got -1"):
            import_theory(rulekit(lambda d: d["rules"][0]["coverage"].update({name: -1})), X)

    def test_every_error_names_the_file(self, tmp_path):
        file = tmp_path / "rules.txt"
        for text in ("{a <= 1} => ()", '{a != "b"} => (y = 1)', "{a <= 1} => (y = 1e9)"):
            file.write_text(text, encoding="utf-8")
            with pytest.raises(ValueError, match="^" + re.escape(f"{file}: ")):
                import_theory(file)


def test_a_series_names_its_label():
    numeric = X[["fever", "the age"]]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(numeric, Y["flu"])
    # As estimators name one of two classes.
    assert import_theory(tree, numeric, Y["flu"]).label_names == ("flu=1",)
    assert import_theory(RECORDED / "wittgenstein.txt", X, Y["cold"]).label_names == ("cold",)
