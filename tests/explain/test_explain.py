"""Explanations agree with the predictions they explain, and their advice works."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from steelyard.explain import Change, Explanation
from steelyard.model.combiners import FirstRule, SumOfVotes
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BestLabel, BestLabelSet, EachLabel, LabelSetVotes
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.label_sets import KnownLabelSets
from steelyard.model.log_odds import format_points
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from theories import (
    HOSTILE,
    LABEL_SET_PAIRS,
    PAIRS,
    VOTING_PAIRS,
    bound_theory,
    flu_theory,
    handmade_theory,
    random_cases,
)

SICK = {"fever": 39.0, "nose": "runs"}


@cache
def explain(pair, n_cases=10):
    """Theories of a kind with their evaluations and explanations, row by row."""
    return [
        (theory, X, evaluation, row, explanation)
        for theory, X in random_cases(*pair)[:n_cases]
        for evaluation in [theory.evaluate(X)]
        for row, explanation in enumerate(theory.explain(X.head(15)))
    ]


@pytest.mark.parametrize("combiner", ["any-rule", "first-rule"])
def test_a_class_that_loses_although_a_rule_fires_says_why(combiner):
    n_lost = 0
    for *_, explanation in explain((combiner, "best-label")):
        for label in explanation:
            if label.fired and not label.predicted:
                n_lost += 1
                assert ", but " in label.reason
    assert n_lost > 10


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
class TestAgreement:
    def test_the_answer_is_the_prediction(self, pair):
        for theory, _, evaluation, row, explanation in explain(pair):
            if theory.is_multilabel:
                names = [label.name for label in explanation if label.predicted]
                assert explanation.predicted == tuple(names)
                assert [e.predicted for e in explanation] == evaluation.predicted[row].tolist()
            else:
                assert explanation.predicted == evaluation.predicted[row]
                assert not isinstance(explanation.predicted, np.generic)

    def test_a_label_says_so_where_its_own_score_does_not_decide(self, pair):
        for theory, _, evaluation, row, explanation in explain(pair):
            for j, label in enumerate(explanation):
                own = theory.combiner.explain_label(
                    label.label, len(label.fired), evaluation.scores[row, j], label.predicted
                )
                is_overruled = label.predicted != (evaluation.scores[row, j] > 0)
                assert label.reason.startswith(own)
                assert (label.reason != own) == is_overruled

    def test_closest_rules_are_shown_only_where_one_could_change_the_prediction(self, pair):
        for theory, _, _, _, explanation in explain(pair):
            for label in explanation:
                assert not (label.fired and label.closest)
                assert not (label.closest and label.predicted == label.label.target_class)
                assert len(label.closest) <= 3
                n_changes = [len(near.changes) for near in label.closest]
                assert n_changes == sorted(n_changes)
                assert all(near.changes for near in label.closest)
                own = theory.rules_of(label.name)
                assert all(near.scored in own for near in label.closest)

    def test_the_changes_make_the_rule_fire(self, pair):
        n_tried = 0
        for theory, X, _, row, explanation in explain(pair):
            if row % 3:
                continue
            for label in explanation:
                for near in label.closest:
                    changed = X.iloc[row].to_dict()
                    changed |= {change.feature: change.nearest for change in near.changes}
                    assert near.scored in theory.explain(changed)[label.name].fired
                    n_tried += 1
        assert n_tried > 10

    def test_every_failing_condition_is_a_change(self, pair):
        for _, X, _, row, explanation in explain(pair)[:40]:
            for label in explanation:
                for near in label.closest:
                    body = near.scored.body
                    one = X.iloc[[row]]
                    failing = [c for c in body if not c.covers(one)[0]]
                    assert [change.condition for change in near.changes] == failing

    def test_the_frame_has_a_row_for_each_rule_shown(self, pair):
        for theory, _, _, _, explanation in explain(pair)[:40]:
            frame = explanation.to_frame()
            assert set(frame["label"]) == set(theory.label_names)
            shown = sum(max(len(label.fired) + len(label.closest), 1) for label in explanation)
            assert len(frame) == shown
            weights = [scored.weight for label in explanation for scored in label.fired]
            if explanation.has_weights:
                assert pair in VOTING_PAIRS
                assert frame[frame["fired"]]["weight"].tolist() == weights
            else:
                assert "weight" not in frame

    def test_the_notebook_table_shows_names_as_text_in_as_many_cells_as_columns(self, pair):
        for *_, row, explanation in explain(pair)[:40]:
            if row > 5:
                continue
            root = ET.fromstring(explanation._repr_html_().replace("<br>", "<br/>"))
            tags = {element.tag for element in root.iter()}
            assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "small", "br"}
            text = "".join(root.itertext())
            assert all(label.name in text and label.reason in text for label in explanation)
            assert explanation.note in text
            titles = [th.text or "" for th in root.findall("thead/tr/th")]
            weight = ["weight"] * explanation.has_weights
            assert titles == ["", "rule", *weight, "TP", "FP", "precision"]
            for table_row in root.findall("tbody/tr"):
                assert sum(int(cell.get("colspan", 1)) for cell in table_row) == len(titles)


class TestVotes:
    @pytest.mark.parametrize("pair", VOTING_PAIRS, ids="-".join)
    def test_votes_shown_come_to_the_score(self, pair):
        for theory, _, evaluation, row, explanation in explain(pair):
            for j, label in enumerate(explanation):
                votes, score = [s.vote for s in label.fired], evaluation.scores[row, j]
                start = theory.combiner.start[j]
                if pair[0] == "sum-of-votes":
                    assert start + sum(votes) == score
                    expected = ((format_points(start), "start"), (format_points(score), "total"))
                    assert label.sums == (expected if votes else ())
                else:
                    strongest = max if label.label.target_class else min
                    assert (strongest(votes) if votes else start) == score
                    assert label.sums == ()
                assert votes or f"the start of {format_points(start)}" in label.reason

    @pytest.mark.parametrize("pair", LABEL_SET_PAIRS, ids="-".join)
    def test_the_note_names_what_each_label_by_itself_would_give(self, pair):
        for theory, _, evaluation, row, explanation in explain(pair):
            positive = tuple(
                theory.label_names[j] for j in np.flatnonzero(evaluation.scores[row] > 0)
            )
            if "is new and fits" in explanation.note:
                assert explanation.predicted == positive
                continue
            same = positive == explanation.predicted
            names = "{" + ", ".join(positive) + "}" if positive else "the empty set"
            end = f"each label by itself would give {'the same' if same else names}"
            assert explanation.note.endswith(end)
            n_sets = len(theory.decoder.known.sets)
            assert f"{n_sets} label set{'s' * (n_sets > 1)} seen in training" in explanation.note

    @pytest.mark.parametrize("combiner", ["strongest-vote", "sum-of-votes"])
    def test_the_note_names_the_best_set_and_its_frequency(self, combiner):
        n_known = 0
        for theory, _, _, _, explanation in explain((combiner, "best-label-set")):
            known = theory.decoder.known
            names = [tuple(theory.label_names[j] for j in labels) for labels in known.sets]
            if explanation.predicted in names:
                n_known += 1
                count = known.counts[names.index(explanation.predicted)]
                assert f"({count} of {known.n_examples} examples) fits" in explanation.note
            else:
                assert "is new and fits the rules better than" in explanation.note
        assert n_known > 10

    @pytest.mark.parametrize("combiner", ["strongest-vote", "sum-of-votes"])
    def test_the_note_names_the_shares_of_the_predicted_labels_and_of_three_more(self, combiner):
        for theory, _, evaluation, row, explanation in explain((combiner, "label-set-votes")):
            for_label, of_all = evaluation.decoded.found
            shares = [Fraction(int(v), int(of_all[row])) for v in for_label[row]]
            needed = Fraction(theory.decoder.min_share, 1000)
            assert [share > needed for share in shares] == [e.predicted for e in explanation]
            listed = explanation.note.split("fits the rules: ")[1].split("; a label needs")[0]
            n_shown = min(len(shares), len(explanation.predicted) + 3)
            assert len(re.findall(r"\d%", listed)) == n_shown
            assert listed.endswith(", others no more") == (n_shown < len(shares))
            assert f"more than {float(needed):.1%}" in explanation.note


# -- words -------------------------------------------------------------------------------------------


@pytest.fixture
def flu() -> Theory:
    bodies = {
        (Condition("fever", "≥", 38.5), Condition("colour", "=", "red")): (9, 2),
        (Condition.interval("fever", 40, 42),): (3, 0),
        (Condition("age", "<", 5),): (2, 2),
    }
    return Theory(
        (Feature("fever"), Feature("colour", ("blue", "red")), Feature("age")),
        (Label("flu", 1, 12, 30, 1, 26), Label("well", 0, 10, 32, 0, 0)),
        tuple(
            ScoredRule(Rule(Head("flu"), body), Evidence(*counts), 0.5)
            for body, counts in bodies.items()
        ),
    )


class TestChanges:
    def test_the_closest_rules_need_the_fewest_attributes_changed(self, flu):
        explanation = flu.explain({"fever": 39.0, "colour": "blue", "age": 30.0}, n_closest=9)
        assert [len(near.changes) for near in explanation["flu"].closest] == [1, 1, 1]
        # All need one attribute, so the better evidence comes first.
        assert [near.scored.tp for near in explanation["flu"].closest] == [3, 9, 2]
        assert explanation["flu"].smallest_change == explanation["flu"].closest[0].changes

    def test_they_are_described_in_words(self, flu):
        a, b, c = flu.explain({"fever": 39.0, "colour": "blue", "age": 30.0})["flu"].closest
        assert str(a.changes[0]) == "raise fever from 39 to at least 40"
        assert str(b.changes[0]) == "change colour from blue to red"
        assert str(c.changes[0]) == "lower age from 30 to below 5"
        assert c.changes[0].nearest == np.nextafter(5.0, 0)
        assert str(b).endswith("colour = red; to fire: change colour from blue to red")

    def test_of_an_interval_only_the_bound_that_fails_is_named(self):
        change = Change(Condition.interval("fever", 40, 42), 43.0)
        assert change.failure == "fever < 42 fails: fever is 43"
        assert str(change) == "lower fever from 43 to below 42"
        assert (change.feature, change.failing) == ("fever", Condition("fever", "<", 42))

    def test_a_missing_value_needs_a_value(self, flu):
        explanation = flu.explain({"fever": None, "colour": None, "age": np.nan}, n_closest=9)
        texts = {str(change) for near in explanation["flu"].closest for change in near.changes}
        assert texts == {
            "give age a value: below 5",
            "give colour a value: red",
            "give fever a value: at least 38.5",
            "give fever a value: at least 40 and below 42",
        }
        assert "age < 5 fails: age is missing" in str(explanation)

    def test_a_bound_that_includes_its_value_is_reached_by_it(self):
        (near,) = bound_theory(2.0, "≤").explain([3.0])["y"].closest
        assert near.changes[0].nearest == 2.0
        assert str(near.changes[0]) == "lower x from 3 to at most 2"

    def test_rules_that_nothing_satisfies_are_not_advised(self):
        example = {"x": 0.0, "label": 1.0, "kind": "a"}
        never = handmade_theory().explain(example, n_closest=9)["never"]
        assert never.closest == ()

    @pytest.mark.parametrize("n_closest", [0, 1, 2])
    def test_there_are_as_many_as_asked_for(self, flu, n_closest):
        explanation = flu.explain([36.0, "blue", 30.0], n_closest=n_closest)
        assert len(explanation["flu"].closest) == n_closest
        assert bool(explanation["flu"].smallest_change) == (n_closest > 0)

    @pytest.mark.parametrize("wrong", [-1, 0.5, None, "3", True])
    def test_the_number_is_a_non_negative_integer(self, flu, wrong):
        with pytest.raises(ValueError, match="n_closest must be a non-negative integer, got"):
            flu.explain([36.0, "blue", 30.0], n_closest=wrong)


class TestWords:
    def test_a_label_without_a_firing_rule_says_how_often_silence_was_right(self, flu):
        assert str(flu.explain([36.0, "blue", 3.0])).splitlines()[:3] == [
            "predicted: flu, well",
            "",
            "flu: yes, 1 rule fires",
        ]
        silent = flu.explain([36.0, "blue", 30.0])
        assert silent["flu"].reason == (
            "no rule fires, which was right for 26 of 27 training examples"
        )
        well = silent["well"]
        assert (well.predicted, well.fired, well.closest, well.smallest_change) == (1, (), (), ())
        assert "no rule for its absence fires" in well.reason

    def test_a_class_that_wins_without_a_rule_says_why(self):
        labels = tuple(Label(name, 1, 5, 9, n, 9) for name, n in zip("abc", (0, 5, 4), strict=True))
        rule = ScoredRule(Rule(Head("a"), (Condition("x", "<", 1.5),)), Evidence(5, 0), 1.0)
        theory = Theory((Feature("x"),), labels, (rule,), decoder=BestLabel(), classes=tuple("abc"))
        explanation = theory.explain({"x": 2.0})
        assert explanation.predicted == "b"
        assert explanation["b"].reason.startswith(
            "no rule of any class fires; of the 14 training examples that its rules leave "
            "uncovered 5 were of this class"
        )
        # It is predicted already: there is nothing to change.
        assert explanation["b"].closest == ()
        assert explanation["a"].closest

    def test_a_class_after_the_first_with_a_firing_rule_says_why_it_loses(self):
        labels = tuple(Label(name, 1, 5, 9, 1, 8) for name in "abc")
        rules = tuple(
            ScoredRule(Rule(Head(name), (Condition("x", "<", 2),)), Evidence(5, 0), 1.0)
            for name in "ab"
        )
        theory = Theory(
            (Feature("x"),), labels, rules, FirstRule((1, 0, 2)), BestLabel(), tuple("abc")
        )
        explanation = theory.explain({"x": 1.0})
        assert explanation.predicted == "b"
        assert explanation["b"].reason == "1 rule fires"
        assert explanation["a"].reason == "1 rule fires, but a rule of an earlier class fires"

    def test_votes_are_listed_between_start_and_total(self):
        assert str(flu_theory().explain(SICK)["flu"]).splitlines() == [
            "flu: yes, 2 rules fire, votes sum to +0.02",
            "    -1.20  start",
            "  ✓ +1.52  fever ≥ 38.5  (TP 9, FP 2, precision 0.82)",
            "  ✓ -0.30  nose = runs  (¬flu: TP 8, FP 3, precision 0.73)",
            "    +0.02  total",
        ]

    def test_without_a_firing_rule_the_start_remains_and_the_closest_rules_are_shown(self):
        assert str(flu_theory().explain({"fever": 39.0, "nose": "dry"})["cold"]).splitlines() == [
            "cold: no, no rule fires, which leaves the start of -0.85",
            "  ✗ +1.10  nose = runs  (TP 6, FP 3, precision 0.67)",
            "      nose = runs fails: nose is dry",
            "      → change nose from dry to runs",
        ]

    def test_where_the_strongest_vote_counts_it_is_named(self):
        explanation = flu_theory("strongest-vote").explain(SICK)
        assert str(explanation["cold"]).splitlines() == [
            "cold: yes, 1 rule fires and says +1.10",
            "  ✓ +1.10  nose = runs  (TP 6, FP 3, precision 0.67)",
        ]

    def test_a_threshold_is_named_where_it_makes_a_difference(self):
        theory = flu_theory(decoder=EachLabel(0.25))
        # The log-odds of 25 % are -1.10; cold starts with -0.85.
        explanation = theory.explain({"fever": 39.0, "nose": "dry"})
        assert explanation.predicted == ("flu", "cold")
        assert explanation["flu"].reason == "1 rule fires, votes sum to +0.32"
        assert explanation["cold"].reason.endswith("start of -0.85, above the threshold of -1.10")

    def test_the_label_set_is_named_before_the_labels(self):
        explanation = seldom_both(BestLabelSet()).explain(SICK)
        assert str(explanation).splitlines()[:3] == [
            "predicted: cold",
            "of the 4 label sets seen in training, {cold} (11 of 40 examples) fits the rules best; "
            "each label by itself would give {flu, cold}",
            "",
        ]
        assert explanation["flu"].reason == (
            "2 rules fire, votes sum to +0.02, but the label set that fits best is without it"
        )

    def test_votes_of_label_sets_are_named_before_the_labels(self):
        explanation = seldom_both(LabelSetVotes(0.5)).explain(SICK)
        assert str(explanation).splitlines()[:3] == [
            "predicted: cold",
            "the 4 label sets seen in training vote, each as well as it fits the rules: cold 55.9%, "
            "flu 42.6%; a label needs more than 50.0%; each label by itself would give {flu, cold}",
            "",
        ]
        reason = "2 rules fire, votes sum to +0.02, but it has only 42.6% of the label sets' votes"
        assert explanation["flu"].reason == reason
        assert explanation["cold"].reason == "1 rule fires, votes sum to +0.25"

    def test_a_label_of_no_known_set_has_its_votes_from_the_new_one(self):
        known = KnownLabelSets.from_labels(np.array([[1, 0], [0, 0]], dtype=bool))
        theory = flu_theory(decoder=LabelSetVotes(0.4).fit(known))
        explanation = replace(theory, combiner=SumOfVotes((-300, 300))).explain(SICK)
        assert explanation.predicted == ("cold",)
        assert "the 2 label sets seen in training and that of each label by itself vote" in str(
            explanation
        )

    def test_a_new_set_is_called_new(self):
        known = KnownLabelSets(((),), (1,))
        explanation = flu_theory(decoder=BestLabelSet().fit(known)).explain(SICK)
        assert explanation.note == (
            "{flu, cold}, each label by itself, is new and fits the rules better than the 1 label "
            "set seen in training"
        )

    def test_no_label_at_all_is_the_empty_set(self):
        known = KnownLabelSets(((),), (40,))
        explanation = flu_theory(decoder=BestLabelSet().fit(known)).explain(
            {"fever": 37, "nose": ""}
        )
        assert explanation.title_lines() == [
            "predicted: no label",
            "of the 1 label set seen in training, the empty set (40 of 40 examples) fits the rules "
            "best; each label by itself would give the same",
        ]

    def test_without_votes_nothing_is_weighed(self):
        explanation = flu_theory("any-rule", EachLabel()).explain(SICK)
        assert "weight" not in explanation.to_frame()
        assert not re.search(r"[+-]\d\.\d\d", explanation._repr_html_())
        assert str(explanation) == (
            "predicted: flu, cold\n\nflu: yes, 1 rule fires\n"
            "  ✓ fever ≥ 38.5  (TP 9, FP 2, precision 0.82)\n\ncold: yes, 1 rule fires\n"
            "  ✓ nose = runs  (TP 6, FP 3, precision 0.67)"
        )


def seldom_both(decoder):
    """Flu and cold, which come together less often than by chance."""
    known = KnownLabelSets(((0,), (0, 1), (), (1,)), (20, 2, 7, 11))
    return flu_theory(decoder=decoder.fit(known))


# -- forms -------------------------------------------------------------------------------------------


class TestForms:
    def test_one_example_in_any_form_has_the_same_explanation(self, flu):
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

    def test_arrays_sparse_matrices_and_sparse_rows_are_the_same(self):
        rng = np.random.default_rng(0)
        X = (rng.random((30, 6)) < 0.3).astype(float)
        names = [f"x{j}" for j in range(6)]
        rules = tuple(
            ScoredRule(
                Rule(Head(label), (Condition(a, "≥", 0.5), Condition(b, "<", 0.5))),
                Evidence(3, 1),
                0.5,
            )
            for label, a, b in (("a", "x0", "x3"), ("a", "x1", "x2"), ("b", "x5", "x0"))
        )
        theory = Theory(tuple(map(Feature, names)), (Label("a"), Label("b")), rules)
        frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X), columns=names)
        expected = [str(e) for e in theory.explain(X)]
        assert [str(e) for e in theory.explain(sparse.csr_array(X))] == expected
        assert [str(e) for e in theory.explain(frame)] == expected
        for one in (frame.iloc[3], X[3], list(X[3])):
            assert str(theory.explain(one)) == expected[3]

    def test_an_explanation_knows_the_row_that_it_explains(self, flu):
        frame = pd.DataFrame({"fever": [36.0] * 2, "colour": "red", "age": 3.0}, index=["a", "b"])
        assert [e.row for e in flu.explain(frame)] == ["a", "b"]
        assert [e.row for e in flu.explain(frame.to_numpy(dtype=object))] == [0, 1]
        assert flu.explain(frame.iloc[[1]]).row == "b"

    def test_an_empty_table_has_no_explanations(self, flu):
        assert flu.explain(pd.DataFrame({"fever": [], "colour": [], "age": []})) == []

    def test_a_missing_attribute_is_named(self, flu):
        with pytest.raises(
            ValueError, match="the table has no column for 'fever', 'colour', 'age'"
        ):
            flu.explain({"nothing": 1})

    def test_a_label_is_found_by_name_or_position(self, flu):
        explanation = flu.explain([36.0, "red", 3.0])
        assert explanation[0] is explanation["flu"]
        assert len(explanation) == 2
        with pytest.raises(KeyError):
            explanation["nothing"]

    def test_explanations_are_plain_values(self, flu):
        a, b = (flu.explain([36.0, "red", 30.0]) for _ in range(2))
        assert a == b
        assert isinstance(a, Explanation)
        assert repr(a) == "<Explanation: ('well',) predicted, 2 labels>"

    @pytest.mark.parametrize("name", HOSTILE)
    def test_names_are_text_in_notebooks(self, name):
        rule = ScoredRule(Rule(Head(name), (Condition(name, "=", name),)), Evidence(2, 1), 0.5)
        theory = Theory((Feature(name, (name, "other")),), (Label(name),), (rule,))
        for value in (name, "other", None):
            html = theory.explain({name: value})._repr_html_()
            root = ET.fromstring(html.replace("<br>", "<br/>"))
            assert name.strip() in "".join(root.itertext())


class TestHeldOutEvidence:
    theory = replace(
        flu_theory("any-rule", EachLabel()),
        rules=tuple(
            replace(scored, held_out=held_out)
            for scored, held_out in zip(
                flu_theory("any-rule", EachLabel()), (Evidence(42, 29), None), strict=True
            )
        ),
    )

    def test_it_comes_first_and_says_what_it_is(self):
        text = str(self.theory.explain(SICK))
        assert (
            "✓ fever ≥ 38.5  (unseen: 42 of 71 right, precision 0.59; "
            "training: TP 9, FP 2, precision 0.82)"
        ) in text
        assert "✓ nose = runs  (TP 6, FP 3, precision 0.67)" in text

    def test_the_frame_and_the_notebook_show_it(self):
        explanation = self.theory.explain(SICK)
        frame = explanation.to_frame()
        assert frame["held_out_tp"].tolist()[0] == 42
        assert frame["held_out_tp"].isna().tolist() == [False, True]
        root = ET.fromstring(f"<div>{explanation._repr_html_()}</div>")
        assert "42 of 71 right" in "".join(root.itertext())
        widths = {len(row) for row in root.iter("tr") if row.find("td") is not None}
        assert widths == {len(root.find(".//thead/tr"))}

    def test_the_theory_prints_it_after_the_training_counts(self):
        assert "TP 9  FP 2  0.500  unseen: 42 of 71 right  flu ← fever ≥ 38.5" in str(self.theory)
        assert "TP 6  FP 3  0.500  cold ← nose = runs" in str(self.theory)
        assert "unseen: 42 of 71 right" in str(self.theory.rules[0])
        assert self.theory.to_frame()["held_out_fp"].tolist()[0] == 29

    def test_without_it_nothing_is_said(self):
        explanation = flu_theory("any-rule", EachLabel()).explain(SICK)
        assert "unseen" not in str(explanation)
        assert "held_out_tp" not in explanation.to_frame()
        assert "unseen" not in explanation._repr_html_()


class TestLabels:
    """Hundreds of labels do not fill hundreds of lines."""

    def test_of_many_labels_only_the_predicted_ones_are_shown(self):
        theory = theory_of_labels(227)
        explanation = theory.explain([1.0])
        assert [label.name for label in explanation] == ["y0", "y1"]
        assert len(str(explanation).splitlines()) < 12
        assert "225 other labels not shown: labels='all'" in str(explanation)
        assert "225 other labels" in explanation._repr_html_()

    def test_of_few_labels_all_are_shown(self):
        explanation = theory_of_labels(4).explain([1.0])
        assert len(explanation) == 4
        assert "not shown" not in str(explanation)

    @pytest.mark.parametrize(
        ("labels", "shown"),
        [
            ("predicted", ["y0", "y1"]),
            ("all", ["y0", "y1", "y2", "y3"]),
            ("y2", ["y2"]),
            (["y3", "y0"], ["y0", "y3"]),
            ([], []),
        ],
    )
    def test_labels_can_be_chosen(self, labels, shown):
        explanation = theory_of_labels(4).explain([1.0], labels=labels)
        assert [label.name for label in explanation] == shown
        assert explanation.predicted == ("y0", "y1")
        assert explanation.n_hidden == 4 - len(shown)

    @pytest.mark.parametrize("labels", ["y9", ["y0", "y9"], 3])
    def test_unknown_labels_are_rejected(self, labels):
        with pytest.raises(ValueError, match="no label 'y9'|labels must be"):
            theory_of_labels(4).explain([1.0], labels=labels)


def theory_of_labels(n_labels: int) -> Theory:
    """The first two labels are predicted where x is at least ½, the others where it is below 0."""
    conditions = [Condition("x", "≥", 0.5)] * 2 + [Condition("x", "<", 0)] * (n_labels - 2)
    rules = tuple(
        ScoredRule(Rule(Head(f"y{j}"), (condition,)), Evidence(3, 1), 0.8)
        for j, condition in enumerate(conditions)
    )
    labels = tuple(Label(f"y{j}", 1, 3, 9) for j in range(n_labels))
    return Theory((Feature("x"),), labels, rules)
