"""Edits give new theories that are checked, keep true evidence, and say what is stale."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from steelyard.model.combiners import AnyRule
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BestLabel, EachLabel
from steelyard.model.editing import find_rule
from steelyard.model.evidence import Evidence, EvidenceFrom, Label, Provenance
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from theories import PAIRS, flu_theory, random_cases, random_theory

STALE = "The evidence is from before the edit: recount(X, Y) renews it."
PATIENTS = pd.DataFrame(
    {"fever": [36.0, 37.0, 38.0, 39.0, 40.0, 41.0], "nose": ["dry", "runs"] * 3}
)
ILL = pd.DataFrame({"flu": [0, 0, 0, 1, 1, 1], "cold": [0, 1, 0, 1, 0, 1]})


def deciding() -> Theory:
    return flu_theory("any-rule", EachLabel())


def voting() -> Theory:
    return flu_theory("sum-of-votes", EachLabel())


def can_be_added(theory: Theory, scored: ScoredRule) -> bool:
    """Random rules may contradict themselves, and occur twice."""
    is_new = all(scored.rule != other.rule for other in theory)
    return is_new and not any(condition.is_empty for condition in scored.body)


class TestEveryCombiner:
    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_a_rule_that_is_dropped_and_added_again_predicts_the_same(self, pair):
        for theory, X in random_cases(*pair):
            for i, scored in enumerate(theory):
                less = theory.drop(i)
                assert [s.rule for s in less] == [s.rule for k, s in enumerate(theory) if k != i]
                if not can_be_added(less, scored):
                    continue
                more = less.add(scored)
                assert len(more) == len(theory)
                if pair != ("any-rule", "best-label"):  # where precisions decide between classes
                    assert np.array_equal(more.predict(X), theory.predict(X))
                assert Theory.from_json(more.to_json()) == more

    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_a_rule_that_replaces_itself_predicts_the_same(self, pair):
        for theory, X in random_cases(*pair):
            for i, scored in enumerate(theory):
                if not can_be_added(theory.drop(i), scored):
                    continue
                same = theory.replace(i, scored.rule, points=scored.points)
                assert [s.rule for s in same] == [s.rule for s in theory]
                assert np.array_equal(same.predict(X), theory.predict(X))
                assert np.array_equal(same.predict_proba(X), theory.predict_proba(X))

    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_every_view_of_an_edited_theory_works(self, pair):
        theory, X = next((t, X) for t, X in random_cases(*pair) if len(t) > 2)
        points = 7 if theory.combiner.gives_log_odds else None
        head = Head(theory.labels[0].name, theory.labels[0].target_class)
        rule = Rule(head, (Condition("x", "≥", 7.0),))
        edited = theory.drop(0).add(rule, points=points, note="<always>")
        assert STALE in str(edited)
        assert STALE in edited._repr_html_()
        assert "&lt;always&gt;" in edited._repr_html_()
        assert all(STALE in str(explanation) for explanation in edited.explain(X))
        assert edited.to_frame()["tp"].isna().sum() == 1
        for name in ("to_text", "to_markdown", "to_latex", "to_python"):
            assert isinstance(getattr(edited, name)(), str)
        assert "recount" in edited.to_markdown()

    def test_a_rule_that_was_not_counted_is_not_drawn(self):
        edited = deciding().add("flu ← nose = dry")
        panels = edited.plot().axes
        assert [len(panel.collections[0].get_offsets()) for panel in panels[:2]] == [1, 1]


class TestEvidence:
    def test_untouched_rules_keep_it_and_new_ones_have_none(self):
        theory = deciding()
        edited = theory.add("flu ← nose = dry")
        assert [s.evidence for s in edited] == [Evidence(9, 2), None, Evidence(6, 3)]
        assert edited.evidence_from == EvidenceFrom("stale")
        assert theory.evidence_from == EvidenceFrom("training")  # it is another theory
        assert len(theory) == 2

    def test_explanations_do_not_quote_what_an_edit_made_wrong(self):
        healthy = {"fever": 36.0, "nose": "dry"}
        before = deciding().explain(healthy)
        assert "right for 28 of 29 training examples" in before["flu"].reason
        after = deciding().drop(0).explain(healthy)
        assert after["flu"].reason == "no rule fires"
        # The rules of the other label are as they were.
        assert after["cold"].reason.startswith(before["cold"].reason.split(" training")[0])
        assert "before the edit" in after["cold"].reason

    def test_a_rule_without_counts_says_so(self):
        edited = deciding().replace(0, "flu ← fever ≥ 38")
        explanation = edited.explain({"fever": 39.0, "nose": "dry"})
        assert "fever ≥ 38  (not counted)" in str(explanation)
        assert explanation.to_frame()["tp"].isna().tolist()[0]
        assert "–" in explanation._repr_html_()
        assert "not counted" in str(edited)
        assert "# not counted" in edited.to_python()
        assert "-- not counted" in edited.to_sql()
        assert edited.to_pmml().count("recordCount") == 1

    def test_a_theory_with_a_rule_that_was_not_counted_is_stale(self):
        rules = (ScoredRule(Rule(Head("a")), None, None, provenance=Provenance("given")),)
        with pytest.raises(
            ValueError, match="rule 1 has no evidence, so that of the theory must be"
        ):
            Theory((), (Label("a"),), rules)

    def test_predictions_of_other_labels_and_their_probabilities_stay(self):
        edited = deciding().drop("flu ← fever ≥ 38.5")
        before, after = (t.predict_proba(PATIENTS) for t in (deciding(), edited))
        assert np.array_equal(before[:, 1], after[:, 1])
        assert (after[:, 0] == before[0, 0]).all()  # what silence was worth

    def test_examples_give_a_new_rule_its_counts_and_recount_all(self):
        edited = deciding().add("flu ← nose = dry", X=PATIENTS, Y=ILL)
        assert edited.evidence_from.n_rows == 6
        counts = [(s.tp, s.fp) for s in edited]
        assert counts == [(3, 0), (1, 2), (3, 0)]
        assert edited.rules[1].smoothed_precision == pytest.approx(2 / 5)
        assert edited.rules[0].smoothed_precision == pytest.approx(
            10 / 13
        )  # as it predicted before

    def test_a_changed_rule_decides_between_classes_as_the_old_one_did(self):
        def rule(name, text, tp):
            return ScoredRule(Rule.parse(f"{name} ← {text}"), Evidence(tp, 1), 0.5)

        theory = Theory(
            (Feature("x"),),
            (Label("a", 1, 5, 5), Label("b", 1, 5, 5)),
            (rule("a", "x ≥ 1", 8), rule("b", "x ≥ 0", 3)),
            AnyRule(),
            BestLabel(),
            ("a", "b"),
        )
        assert theory.replace(0, "a ← x ≥ 2").predict([[3.0], [1.5]]).tolist() == ["a", "b"]


class TestVotes:
    def test_a_rule_that_votes_needs_points_or_examples(self):
        with pytest.raises(ValueError, match="a rule that votes needs points=, or X and Y to fit"):
            voting().add("cold ← fever < 37")
        with pytest.raises(ValueError, match=r"points= \(152 to keep that of the old rule\), or X"):
            voting().replace(0, "flu ← fever ≥ 38")
        assert voting().add("cold ← fever < 37", points=40).rules[-1].points == 40

    def test_a_rule_that_decides_takes_none(self):
        with pytest.raises(ValueError, match="points are for rules that vote"):
            deciding().add("cold ← fever < 37", points=3)

    def test_fitted_votes_minimise_the_loss(self):
        edited = voting().add("cold ← fever ≥ 40.5 ∧ nose = runs", X=PATIENTS, Y=ILL)
        base = voting().predict_proba(PATIENTS.iloc[[5]])[0, 1]
        start = np.log(base / (1 - base))
        votes = np.arange(-300, 300)
        loss = np.log1p(np.exp(-(start + votes / 100))) + (votes / 100) ** 2 / 2
        assert edited.rules[-1].points == votes[np.argmin(loss)]

    def test_the_vote_of_a_rule_for_absence_counts_for_its_head(self):
        edited = voting().add("¬cold ← nose = dry", X=PATIENTS, Y=ILL)
        scored = next(s for s in edited if s.head == Head("cold", 0))
        assert scored.points > 0 > scored.weight

    def test_strongest_votes_are_fitted_as_in_learning(self):
        theory = flu_theory("strongest-vote", EachLabel())
        edited = theory.add("cold ← fever ≥ 38.5", X=PATIENTS, Y=ILL)
        expected = theory.combiner.strengths(2, 1, 0.5)
        assert edited.rules[-1].points == expected

    def test_a_vote_against_its_own_head_is_rejected(self):
        with pytest.raises(
            ValueError, match=r"give it a vote of -0\.\d\d, against its head: give p"
        ):
            voting().add("flu ← fever < 38.5", X=PATIENTS, Y=ILL)

    @pytest.mark.parametrize("text", ["flu ← fever < 38.5", "flu ← fever ≥ 90"])
    def test_points_that_are_given_are_not_fitted(self, text):
        edited = voting().add(text, points=5, X=PATIENTS, Y=ILL)
        scored = next(s for s in edited if str(s.rule) == text)
        assert (scored.points, edited.evidence_from.n_rows) == (5, 6)

    def test_a_rule_that_covers_nothing_has_no_vote(self):
        with pytest.raises(ValueError, match="covers none of the rows, so no vote can be fitted"):
            voting().add("flu ← fever ≥ 90", X=PATIENTS, Y=ILL)

    def test_a_fitted_vote_makes_the_loss_no_worse_on_random_theories(self):
        n_fitted = 0
        for seed in range(30):
            rng = np.random.default_rng(seed)
            theory = random_theory(rng, "sum-of-votes", "each-label", target="labels")
            _, X = random_cases("sum-of-votes", "each-label")[0]
            Y = rng.random((len(X), len(theory.labels))) < 0.4
            body = (Condition("x", "≥", 0.3),)
            for target_class in (0, 1):
                rule = Rule(Head(theory.label_names[0], target_class), body)
                try:
                    edited = theory.add(rule, X=X, Y=Y)
                except ValueError:
                    continue
                losses = [_log_loss(t.predict_proba(X)[:, 0], Y[:, 0]) for t in (theory, edited)]
                assert losses[1] <= losses[0]
                n_fitted += 1
        assert n_fitted > 15


def _log_loss(p, y):
    return -np.log(np.where(y, p, 1 - p)).sum()


class TestFinding:
    def test_a_rule_is_found_as_itself_as_text_and_by_its_position(self):
        theory = voting()
        for i, scored in enumerate(theory):
            ways = (scored, scored.rule, str(scored.rule), i, i - len(theory))
            assert {find_rule(theory, way) for way in ways} == {i}

    def test_the_text_that_the_theory_prints_is_enough(self):
        rule = Rule(Head("y"), (Condition("x", "≥", 1 / 3),))
        theory = Theory((Feature("x"),), (Label("y"),), (ScoredRule(rule, Evidence(1, 0), 1.0),))
        assert len(theory.drop("y ← x ≥ 0.333333")) == 0
        other = replace(theory.rules[0], rule=Rule(Head("y"), (Condition("x", "≥", 0.33333301),)))
        two = replace(theory, rules=(*theory.rules, other))
        with pytest.raises(ValueError, match=r"2 rules of the theory print as 'y ← x ≥ 0\.333333'"):
            two.drop("y ← x ≥ 0.333333")

    def test_an_unknown_rule_is_named_with_the_nearest_one(self):
        with pytest.raises(ValueError, match=r"no rule 'flu ← fever ≥ 38' \(did you mean 'flu ← f"):
            deciding().drop("flu ← fever ≥ 38")

    @pytest.mark.parametrize("wrong", [2, -3])
    def test_a_position_without_a_rule_is_named(self, wrong):
        with pytest.raises(
            ValueError, match=f"no rule at position {wrong}; it has positions 0 to 1"
        ):
            deciding().drop(wrong)

    @pytest.mark.parametrize("wrong", [1.0, None, True])
    def test_what_is_no_rule_is_rejected(self, wrong):
        with pytest.raises(ValueError, match="a rule must be a Rule or its text, got"):
            deciding().drop(wrong)

    def test_several_rules_are_dropped_at_once(self):
        assert len(voting().drop(0, "cold ← nose = runs")) == 1
        assert voting().drop().rules == voting().rules


class TestChecks:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("flue ← fever ≥ 3", r"unknown label 'flue' \(did you mean 'flu'\?\)"),
            ("pox ← fever ≥ 3", "unknown label 'pox'; known are 'flu', 'cold'"),
            ("flu ← fevr ≥ 3", r"tests an unknown attribute 'fevr' \(did you mean 'fever'\?\)"),
            ("flu ← qqq ≥ 3", "tests an unknown attribute 'qqq'; known are 'fever', 'nose'"),
            ("flu ← nose ≥ 1", "'nose' is nominal and needs categories, got 'nose ≥ 1'"),
            ("flu ← fever = high", "'fever' is numeric and needs bounds, got 'fever = high'"),
            (
                "flu ← nose = run",
                r"no category 'run' \(did you mean 'runs'\?\); it has 'dry', 'runs'",
            ),
            ("¬flu ← fever ≥ 3", "the rules of the label 'flu' predict 'flu', not '¬flu'"),
            ("flu ← 5 ≤ fever < 3", "no value satisfies the condition '5 ≤ fever < 3'"),
            ("flu ← nose in {}", "no value satisfies the condition"),
            ("flu ← fever ≥ 38.5", "the theory has the rule 'flu ← fever ≥ 38.5' already"),
        ],
    )
    def test_a_rule_that_does_not_fit_is_rejected_in_one_sentence(self, text, message):
        for edit in (lambda t: t.add(text), lambda t: t.replace("cold ← nose = runs", text)):
            with pytest.raises(ValueError, match=message) as caught:
                edit(deciding())
            assert "\n" not in str(caught.value)

    def test_excluded_categories_are_those_of_the_theory(self):
        assert str(deciding().add("flu ← nose != dry").rules[1].rule) == "flu ← nose = runs"

    def test_x_and_y_come_together(self):
        with pytest.raises(ValueError, match="give X and Y together"):
            deciding().add("flu ← nose = dry", X=PATIENTS)
        with pytest.raises(ValueError, match="X has 6 rows, but Y has 5"):
            deciding().add("flu ← nose = dry", X=PATIENTS, Y=ILL[:5])


class TestProvenance:
    def test_an_edit_says_who_made_the_rule_and_when(self):
        edited = (
            deciding().replace(0, "flu ← fever ≥ 38", note="too strict").add("cold ← fever < 37")
        )
        today = datetime.date.today().isoformat()
        assert [s.provenance for s in edited] == [
            Provenance("edited", today, "too strict"),
            Provenance(),
            Provenance("given", today),
        ]
        assert f"flu ← fever ≥ 38  [edited {today}: too strict]" in str(edited)
        assert edited.to_frame()["source"].tolist() == ["edited", "learned", "given"]
        assert "source" not in deciding().to_frame()
        assert Theory.from_json(edited.to_json()) == edited

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"source": "stolen"}, "the source of a rule must be one of learned, edited, given"),
            ({"when": "yesterday"}, "the date of a rule must be written as 2026-03-01"),
            ({"when": 3}, "the date of a rule must be written as 2026-03-01"),
            ({"note": None}, "the note of a rule must be text"),
        ],
    )
    def test_it_is_checked(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            Provenance(**wrong)
