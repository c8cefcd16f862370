"""Theories: all views agree with one evaluation, on every kind of table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from steelyard.model import coded_rules
from steelyard.model.combiners import FirstRule
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BestLabel, Decoder, EachLabel, LabelSetVotes
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from theories import (
    FEATURES,
    LABEL_SET_PAIRS,
    LABELS,
    PAIRS,
    VOTING_PAIRS,
    flu_theory,
    handmade_theory,
    random_cases,
    random_table,
    random_theory,
    rule,
    theory_of,
)

PATIENTS = pd.DataFrame({"fever": [39.0, 37.0, None], "nose": ["runs", "dry", None]})


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
class TestViewsAgree:
    def test_predict(self, pair):
        for theory, X in random_cases(*pair):
            evaluation = theory.evaluate(X)
            assert np.asarray(theory.predict(X)).tolist() == evaluation.predicted.tolist()
            present = evaluation.is_present
            if theory.is_multilabel:
                assert evaluation.predicted.tolist() == present.astype(int).tolist()
            else:
                position = (
                    present[:, 0].astype(int) if len(theory.labels) == 1 else present.argmax(1)
                )
                assert evaluation.predicted.tolist() == [theory.classes[i] for i in position]

    def test_covers(self, pair):
        for theory, X in random_cases(*pair):
            fires = theory.evaluate(X).fires
            assert theory.covers(X).tolist() == fires.tolist()
            assert fires.T.tolist() == [scored.rule.covers(X).tolist() for scored in theory]

    def test_probabilities_and_decisions(self, pair):
        for theory, X in random_cases(*pair):
            decoded = theory.evaluate(X).decoded
            probability = theory.decoder.to_probability(decoded, theory.combiner)
            decision = theory.decoder.to_decision(decoded, theory.combiner)
            assert theory.predict_proba(X).tolist() == probability.tolist()
            assert theory.decision_function(X).tolist() == decision.tolist()
            assert ((probability > 0) & (probability < 1)).all()
            if pair[1] in ("each-label", "label-set-votes"):
                assert ((decision > 0) == decoded.is_present).all()
            elif pair[1] == "best-label":  # the first of equals
                assert (decision.argmax(axis=1) == decoded.is_present.argmax(axis=1)).all()

    def test_explain(self, pair):
        for theory, X in random_cases(*pair):
            evaluation = theory.evaluate(X)
            for i, explanation in enumerate(theory.explain(X)):
                predicted = [label.predicted for label in explanation]
                assert predicted == evaluation.is_present[i].tolist()
                fired = [scored for label in explanation for scored in label.fired]
                assert fired == [s for s, f in zip(theory, evaluation.fires[i], strict=True) if f]

    def test_values_are_those_that_conditions_see(self, pair):
        for theory, X in random_cases(*pair):
            evaluation = theory.evaluate(X)
            for r, scored in enumerate(theory):
                values = [evaluation.values[c.feature] for c in scored.body]
                for i, row in enumerate(zip(*values, strict=True)):
                    holds = [c.test(value) for c, value in zip(scored.body, row, strict=True)]
                    assert evaluation.fires[i, r] == all(holds)

    def test_one_example_is_evaluated_as_a_row_of_its_table(self, pair):
        for theory, X in random_cases(*pair)[:4]:
            evaluation = theory.evaluate(X)
            for i in (0, len(X) - 1):
                for form in (X.iloc[i], X.iloc[i].to_dict(), list(X.iloc[i]), X.iloc[[i]]):
                    alone = theory.evaluate(form)
                    assert alone.fires.tolist() == [evaluation.fires[i].tolist()]
                    assert alone.predicted.tolist() == evaluation.predicted[[i]].tolist()

    def test_many_rows_are_predicted_in_blocks(self, pair, monkeypatch):
        theory, X = random_cases(*pair)[0]
        expected = [
            np.asarray(view(X)).tolist()
            for view in (theory.predict, theory.predict_proba, theory.covers)
        ]
        monkeypatch.setattr(coded_rules, "_BLOCK_ROWS", 7)
        assert [
            np.asarray(view(X)).tolist()
            for view in (theory.predict, theory.predict_proba, theory.covers)
        ] == expected

    def test_no_rows_give_no_predictions(self, pair):
        theory, X = random_cases(*pair)[0]
        none = X.iloc[:0]
        assert len(theory.predict(none)) == 0
        assert theory.predict_proba(none).shape == (0, len(theory.labels))
        assert theory.covers(none).shape == (0, len(theory))
        assert theory.evaluate(none).fires.shape == (0, len(theory))
        assert theory.explain(none) == []

    def test_an_explanation_covers_the_table_and_decodes_its_scores_once(self, pair, monkeypatch):
        theory, X = random_cases(*pair)[0]
        calls = []

        def count(kind, name):
            method = getattr(kind, name)

            def counted(self, *arguments):
                calls.append(name)
                return method(self, *arguments)

            monkeypatch.setattr(kind, name, counted)

        count(coded_rules.CodedRules, "cover_columns")
        count(coded_rules.CodedRules, "read_columns")
        count(type(theory.decoder), "decode")
        for view in (theory.evaluate, theory.explain):
            calls.clear()
            view(X)
            assert sorted(calls) == ["cover_columns", "decode", "read_columns"]

    def test_random_theories_are_not_trivial(self, pair):
        presences, n_tied = set(), 0
        for theory, X in random_cases(*pair):
            evaluation = theory.evaluate(X)
            presences |= set(evaluation.is_present.ravel().tolist())
            ranked = np.sort(evaluation.scores, axis=1)
            n_tied += (ranked[:, -1:] == ranked[:, -2:-1]).sum()
        assert presences == {False, True}
        if pair[1] != "each-label" and pair[0] != "first-rule":
            assert n_tied > 0


@pytest.mark.parametrize(
    "pair", [("sum-of-votes", "each-label"), ("sum-of-votes", "label-set-votes")], ids="-".join
)
def test_a_threshold_moves_predictions_not_probabilities(pair):
    n_moved = 0
    for theory, X in random_cases(*pair):
        low, high = (
            replace(theory, decoder=replace(theory.decoder, threshold=t)) for t in (0.2, 0.7)
        )
        assert low.predict_proba(X).tolist() == high.predict_proba(X).tolist()
        few, many = high.evaluate(X).is_present, low.evaluate(X).is_present
        assert (many >= few).all()
        assert (low.decision_function(X) >= high.decision_function(X)).all()
        n_moved += (many != few).sum()
    assert n_moved > 10


def test_label_sets_overrule_scores_and_new_sets_win_in_random_theories():
    n_new = n_overruled = 0
    for pair in LABEL_SET_PAIRS:
        for theory, X in random_cases(*pair):
            evaluation = theory.evaluate(X)
            n_overruled += (evaluation.is_present != (evaluation.scores > 0)).any(axis=1).sum()
            if pair[1] == "best-label-set":
                n_new += (evaluation.decoded.found < 0).sum()
    assert min(n_new, n_overruled) > 50


# -- tables ------------------------------------------------------------------------------------------


class TestTables:
    def test_a_frame_gives_a_frame_with_its_index_and_the_names_of_the_labels(self):
        X = PATIENTS.set_axis(["a", "b", "c"])
        predicted = flu_theory().predict(X)
        assert predicted.index.tolist() == ["a", "b", "c"]
        assert predicted.columns.tolist() == ["flu", "cold"]

    def test_a_theory_of_classes_gives_a_series(self):
        theory, X = random_cases("any-rule", "best-label")[0]
        predicted = theory.predict(X.set_axis(np.arange(len(X)) + 7))
        assert isinstance(predicted, pd.Series)
        assert predicted.index[0] == 7

    def test_columns_are_found_by_name_and_others_do_not_matter(self):
        theory = flu_theory()
        expected = theory.predict(PATIENTS)
        assert theory.predict(PATIENTS[["nose", "fever"]].assign(further=1)).equals(expected)
        values = PATIENTS.to_numpy(dtype=object)
        for form in (values, values.tolist()):
            assert theory.predict(form).tolist() == expected.to_numpy().tolist()

    def test_attributes_that_no_rule_tests_may_be_missing(self):
        theory, X = random_cases("sum-of-votes", "each-label")[3]
        used = {condition.feature for scored in theory for condition in scored.body}
        expected = np.asarray(theory.predict(X)).tolist()
        assert len(used) < len(FEATURES)
        assert np.asarray(theory.predict(X[sorted(used)])).tolist() == expected
        for name in used:
            with pytest.raises(ValueError, match="the table has no column for"):
                theory.predict(X.drop(columns=name))

    def test_an_array_has_as_many_columns_as_the_training_table(self):
        with pytest.raises(ValueError, match="expected a table with 2 attributes"):
            flu_theory().predict(np.ones((3, 1)))

    def test_sparse_and_dense_tables_are_read_alike(self):
        rng = np.random.default_rng(0)
        X = rng.random((40, 6)) * (rng.random((40, 6)) < 0.2)
        bodies = [
            (Condition("x1", "≥", 0.5),),
            (Condition("x0", "<", 0.1), Condition("x4", "≤", 0)),
        ]
        theory = Theory(
            tuple(Feature(f"x{j}") for j in range(6)),
            (Label("a"), Label("b", 0)),
            (
                ScoredRule(Rule(Head("a"), bodies[0]), Evidence(1, 0), 1.0),
                ScoredRule(Rule(Head("b", 0), bodies[1]), Evidence(1, 0), 1.0),
            ),
        )
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
        expected = theory.predict(X).tolist()
        assert 0 < np.mean(expected) < 1
        for form in (
            sparse.csr_array(X),
            sparse.csc_array(X),
            frame,
            frame.astype("Sparse[float]"),
        ):
            assert np.asarray(theory.predict(form)).tolist() == expected
            fires = theory.evaluate(form).fires.tolist()
            assert fires == theory.covers(X).tolist()

    @pytest.mark.parametrize(
        "form", [bool, int, float, "Int64", "boolean", str, "category"], ids=str
    )
    def test_booleans_may_be_given_as_0_and_1(self, form):
        theory = Theory(
            (Feature("d", ("False", "True")),),
            (Label("y"),),
            (ScoredRule(Rule(Head("y"), (Condition("d", "=", "True"),)), Evidence(1, 0), 1.0),),
        )
        X = pd.DataFrame({"d": [True, False, True]})
        assert theory.predict(X.astype({"d": form}))["y"].tolist() == [1, 0, 1]


# -- reading -----------------------------------------------------------------------------------------


class TestReading:
    def test_an_unknown_label_lists_the_known_ones_or_a_similar_one(self):
        theory = flu_theory()
        with pytest.raises(ValueError, match="no label 'nothing'; it has 'flu', 'cold'"):
            theory.rules_of("nothing")
        with pytest.raises(ValueError, match=r"no label 'fluu' \(did you mean 'flu'\?\)"):
            theory.rules_of("fluu")

    def test_printed_it_shows_every_rule_with_its_counts(self):
        rules = (rule(), rule("cold", condition=("nose", "=", "runs")))
        theory = theory_of(*rules, heuristic="m-estimate(m=16)", phi=0.5)
        assert str(theory).splitlines() == [
            "2 rules for 2 labels, 1.0 conditions per rule; m-estimate(m=16), φ = 0.5",
            "",
            "flu: 1 of 2 (50%)",
            "  TP 1  FP 0  1.000  flu ← fever ≥ 38.5",
            "",
            "cold: 1 of 2 (50%)",
            "  TP 1  FP 0  1.000  cold ← nose = runs",
        ]
        assert repr(theory) == "<Theory: 2 rules with 2 conditions for 2 labels>"
        assert theory.to_text() == f"{theory}\n"

    def test_with_votes_it_shows_the_start_and_the_weight_of_each_rule(self):
        assert str(flu_theory()).splitlines() == [
            "3 rules for 2 labels, 1.0 conditions per rule; votes are summed; label sets: 4 known, "
            "frequency weight 0.5",
            "",
            "flu: 10 of 40 (25%), start -1.20",
            "  TP 9  FP 2  0.500  +1.52  flu ← fever ≥ 38.5",
            "  TP 8  FP 3  0.500  -0.30  ¬flu ← nose = runs",
            "",
            "cold: 12 of 40 (30%), start -0.85",
            "  TP 6  FP 3  0.500  +1.10  cold ← nose = runs",
        ]

    @pytest.mark.parametrize(
        ("combiner", "decoder", "clauses"),
        [
            ("any-rule", EachLabel(), []),
            ("strongest-vote", EachLabel(), ["the strongest vote counts"]),
            ("sum-of-votes", EachLabel(), ["votes are summed"]),
            (
                "sum-of-votes",
                EachLabel(0.3),
                ["votes are summed", "a label needs a probability above 30 %"],
            ),
            (
                "sum-of-votes",
                LabelSetVotes(0.375),
                [
                    "votes are summed",
                    "label sets: 4 known, frequency weight 0.5, "
                    "a label needs more than 37.5 % of the votes",
                ],
            ),
        ],
        ids=str,
    )
    def test_the_first_line_says_how_rules_decide(self, combiner, decoder, clauses):
        theory = flu_theory(combiner, decoder)
        about, *others = theory.summary.split("; ")
        assert about == f"{len(theory)} rules for 2 labels, 1.0 conditions per rule"
        assert others == clauses

    def test_labels_of_a_list_of_rules_are_shown_in_the_order_in_which_they_are_asked(self):
        theory = theory_of(
            rule(), combiner=FirstRule((1, 0)), decoder=BestLabel(), classes=("flu", "cold")
        )
        titles = [
            line for line in str(theory).splitlines() if line.endswith("fires") or "50%" in line
        ]
        assert titles == ["cold: 1 of 2 (50%)", "flu: 1 of 2 (50%), predicted where no rule fires"]

    def test_values_and_weights_stand_below_each_other(self):
        theory = flu_theory()
        flu, *others = theory.rules
        heavy = replace(theory, rules=(replace(flu, value=103.75, points=1152), *others))
        assert str(heavy).splitlines()[3:5] == [
            "  TP 9  FP 2  103.750  +11.52  flu ← fever ≥ 38.5",
            "  TP 8  FP 3    0.500   -0.30  ¬flu ← nose = runs",
        ]

    def test_a_label_without_rules_says_what_is_predicted(self):
        assert str(theory_of()).splitlines()[-1] == "  no rule: never predicted"
        theory = theory_of()
        absent = replace(theory, labels=tuple(replace(y, target_class=0) for y in theory.labels))
        assert str(absent).splitlines()[-1] == "  no rule: always predicted"
        assert absent.predict(np.zeros((2, len(absent.features)))).all()

    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_what_a_label_without_rules_gets_is_what_is_predicted(self, pair):
        for theory, X in random_cases(*pair):
            for j, name in enumerate(theory.label_names):
                if theory.rules_of(name):
                    continue
                said, column = theory.describe_silence(j), theory.evaluate(X).is_present[:, j]
                assert said != "always predicted" or column.all()
                assert said != "never predicted" or not column.any()

    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_as_a_frame_it_has_one_row_per_rule(self, pair):
        for theory, _ in random_cases(*pair):
            frame = theory.to_frame()
            assert frame.n_conditions.tolist() == [len(scored) for scored in theory]
            assert frame.n_conditions.sum() == theory.n_conditions
            assert frame.label.tolist() == [scored.head.label for scored in theory]
            assert frame.precision.tolist() == [scored.precision for scored in theory]
            assert ("weight" in frame) == (pair in VOTING_PAIRS)
            if "weight" in frame:
                assert frame.weight.tolist() == [scored.weight for scored in theory]

    def test_weights_add_up_to_the_scores(self):
        theory = flu_theory()
        frame, fires = theory.to_frame(), theory.covers(PATIENTS)
        scores = theory.evaluate(PATIENTS).scores
        for j, label in enumerate(theory.label_names):
            own = (frame["label"] == label).to_numpy()
            total = theory.combiner.start[j] + 100 * fires[:, own] @ frame["weight"][own]
            np.testing.assert_allclose(total, scores[:, j])


class TestEquality:
    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_theories_are_equal_if_they_say_the_same(self, pair):
        for seed, (theory, _) in enumerate(random_cases(*pair)):
            again = random_theory(np.random.default_rng(seed), *pair)
            assert again == theory
            assert hash(again) == hash(theory)
            assert replace(theory, heuristic="other") != theory

    def test_another_decoder_is_another_theory(self):
        assert flu_theory(decoder=EachLabel(0.3)) != flu_theory(decoder=EachLabel(0.4))
        assert flu_theory() != "a theory"


def test_a_decoder_without_an_implementation_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        Decoder()


def test_names_of_labels_and_attributes_may_be_equal():
    assert set(LABELS) & {feature.name for feature in FEATURES}
    X = random_table(np.random.default_rng(0))
    theory = handmade_theory()
    assert "label" in theory.label_names
    assert len(theory.features) < X.shape[1]
