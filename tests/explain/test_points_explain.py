"""Explanations of theories with points: votes add up to the total, and the total to the answer."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points_theories import KINDS, flu_theory, random_table, random_theory
from steelyard.model.decoding import count_label_sets

from steelyard.explain import ChosenSet, LabelPoints, LabelShare, VotingSets
from strategies import random_generators

SICK = {"fever": 39.0, "nose": "runs"}


@st.composite
def cases(draw, kinds=tuple(KINDS)):
    """A random theory with points, and a table."""
    kind = draw(st.sampled_from(kinds))
    rng = draw(random_generators())
    return random_theory(rng, *kind), random_table(rng)


WITH_SETS = tuple(kind for kind in KINDS if kind[2])


class TestAgreement:
    @settings(max_examples=80)
    @given(cases())
    def test_totals_are_the_points_that_the_theory_counts(self, case):
        theory, X = case
        counted = theory.count_points(X)
        for explanation, points in zip(theory.explain(X), counted, strict=True):
            assert [label.points.total for label in explanation] == points.tolist()
            assert tuple(label.points.start for label in explanation) == theory.start_points

    @settings(max_examples=80)
    @given(cases())
    def test_votes_shown_come_to_the_total(self, case):
        theory, X = case
        for explanation in theory.explain(X):
            for label in explanation:
                votes = [scored.vote for scored in label.fired]
                strongest = max if label.label.target_class else min
                if theory.combine == "weighted":
                    assert label.points.start + sum(votes) == label.points.total
                elif votes:
                    assert strongest(votes) == label.points.total
                else:
                    assert label.points.start == label.points.total

    @settings(max_examples=80)
    @given(cases())
    def test_predictions_are_the_theory_s(self, case):
        theory, X = case
        for explanation, row in zip(theory.explain(X), np.asarray(theory.predict(X)), strict=True):
            if theory.output == "multilabel":
                assert [label.predicted for label in explanation] == row.tolist()
            else:
                assert explanation.predicted == row

    @settings(max_examples=80)
    @given(cases())
    def test_a_label_says_so_where_its_own_points_do_not_decide(self, case):
        theory, X = case
        for explanation in theory.explain(X):
            for label in explanation:
                is_overruled = label.predicted != (label.points.total > 0)
                assert (", but " in label.reason) == is_overruled
                if is_overruled:
                    assert theory.output == "multiclass" or theory.label_sets is not None

    @settings(max_examples=80)
    @given(cases(WITH_SETS))
    def test_the_set_named_is_the_prediction_and_known_or_new(self, case):
        theory, X = case
        known = {
            tuple(theory.label_names[j] for j in labels): count
            for labels, count in zip(theory.label_sets.sets, theory.label_sets.counts, strict=True)
        }
        for explanation in theory.explain(X):
            chosen = explanation.label_set
            assert chosen.labels == explanation.predicted
            assert chosen.n_known == len(known)
            if theory.label_sets.min_share is None:
                assert chosen.count == known.get(chosen.labels, 0)
                assert chosen.n_examples == sum(known.values())
            assert chosen.by_itself == tuple(
                label.name for label in explanation if label.points.total > 0
            )

    @settings(max_examples=80)
    @given(cases(WITH_SETS))
    def test_shares_are_those_of_the_votes_and_enough_where_a_label_is_predicted(self, case):
        theory, X = case
        known = theory.label_sets
        votes, n_votes = known.share_votes(theory.count_points(X))
        for explanation, row, total in zip(theory.explain(X), votes, n_votes, strict=True):
            if known.min_share is None:
                assert all(label.points.share is None for label in explanation)
                continue
            for label, vote in zip(explanation, row.tolist(), strict=True):
                share = label.points.share
                assert (share.share, share.is_enough) == (
                    Fraction(vote, int(total)),
                    label.predicted,
                )
            said = explanation.label_set.shares
            assert dict(said) == {label.name: label.points.share for label in explanation}
            assert [s.share for _, s in said] == sorted((s.share for _, s in said), reverse=True)

    @settings(max_examples=40)
    @given(cases())
    def test_closest_rules_are_shown_only_where_none_fires(self, case):
        theory, X = case
        for explanation in theory.explain(X.head(10)):
            for label in explanation:
                assert not (label.fired and label.closest)
                assert all(near.scored.rule.head.label == label.name for near in label.closest)


def seldom_both(min_share=None):
    """Flu and cold, which come together more seldom than by chance."""
    theory = flu_theory()
    known = replace(theory.label_sets, counts=(20, 2, 7, 11), min_share=min_share)
    return replace(theory, label_sets=known)


class TestWords:
    def test_weighted_votes_are_listed_between_start_and_total(self):
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

    def test_where_one_rule_is_enough_the_strongest_speaks(self):
        explanation = flu_theory("any").explain(SICK)
        assert str(explanation["cold"]).splitlines() == [
            "cold: yes, 1 rule fires and says +1.10",
            "  ✓ +1.10  nose = runs  (TP 6, FP 3, precision 0.67)",
        ]

    def test_the_label_set_is_said_before_the_labels(self):
        explanation = seldom_both().explain(SICK)
        assert str(explanation).splitlines()[:3] == [
            "predicted: cold",
            "of the 4 label sets seen in training, {cold} (11 of 40 examples) fits the rules best; "
            "each label by itself would give {flu, cold}",
            "",
        ]
        assert explanation["flu"].reason == (
            "2 rules fire, votes sum to +0.02, but the label set that fits best is without it"
        )

    def test_votes_of_label_sets_are_said_before_the_labels(self):
        explanation = seldom_both(min_share=0.5).explain(SICK)
        assert str(explanation).splitlines()[:3] == [
            "predicted: cold",
            "the 4 label sets seen in training vote, each as well as it fits the rules: cold 56 %, "
            "flu 43 %; a label needs more than 50 %; each label by itself would give {flu, cold}",
            "",
        ]
        assert explanation["flu"].reason == (
            "2 rules fire, votes sum to +0.02, but of the label sets' votes it has only 43 %"
        )
        assert explanation["cold"].reason == "1 rule fires, votes sum to +0.25"

    def test_a_label_can_win_by_the_votes_of_sets(self):
        share = LabelShare(Fraction(62, 100), Fraction(2, 5))
        points = LabelPoints(-120, -3, is_sum=True, decided_by="label set", share=share)
        assert points.say_overruled(1) == ", but of the label sets' votes it has 62 %"

    @given(st.fractions(0, 1), st.integers(1, 999))
    def test_a_share_is_said_with_the_digits_that_tell_whether_it_is_enough(self, share, needed):
        said = LabelShare(share, Fraction(needed, 1000))
        number = re.fullmatch(r"(\d+(?:\.\d+)?) %", str(said))
        assert (Fraction(number[1]) > Fraction(needed, 10)) == said.is_enough

    def test_of_many_labels_those_that_fall_far_short_are_not_named(self):
        few = [
            (name, LabelShare(Fraction(1, n), Fraction(2, 5))) for n, name in enumerate("abcdef", 2)
        ]
        assert str(VotingSets(("a",), ("a",), tuple(few), 1, has_new=False)) == (
            "the 1 label set seen in training votes, each as well as it fits the rules: a 50 %, "
            "b 33 %, c 25 %, d 20 %, others no more; a label needs more than 40 %; "
            "each label by itself would give the same"
        )

    def test_a_share_that_is_just_what_is_needed_is_said_as_it_is(self):
        assert str(LabelShare(Fraction(2, 3), Fraction(2, 3))) == "66.6667 %"
        assert str(LabelShare(Fraction(2, 5), Fraction(2, 5))) == "40 %"

    def test_a_label_of_no_known_set_has_its_votes_from_the_new_one(self):
        theory = flu_theory()
        known = count_label_sets(np.array([[1, 0], [0, 0]], dtype=bool), 0.5, 0.4)
        explanation = replace(theory, label_sets=known, start_points=(-300, 300)).explain(SICK)
        assert explanation.predicted == ("cold",)
        assert "the 2 label sets seen in training and that of each label by itself vote" in str(
            explanation
        )

    def test_a_new_combination_is_called_new(self):
        assert str(ChosenSet(("a", "c"), ("a", "c"), 0, 391, 94)) == (
            "{a, c}, each label by itself, is new and fits the rules better than the 94 label sets "
            "seen in training"
        )

    def test_no_label_at_all_is_the_empty_set(self):
        text = str(ChosenSet((), (), 7, 40, 1))
        assert text == (
            "of the 1 label set seen in training, the empty set (7 of 40 examples) fits the rules "
            "best; each label by itself would give the same"
        )


class TestTables:
    @pytest.mark.parametrize("kind", KINDS)
    def test_the_frame_has_the_vote_of_each_rule_as_its_weight(self, kind):
        rng = np.random.default_rng(1)
        theory, X = random_theory(rng, *kind), random_table(rng)
        for explanation in theory.explain(X.head(5)):
            frame = explanation.to_frame()
            fired = frame[frame["fired"]]
            votes = [scored.vote / 100 for label in explanation for scored in label.fired]
            assert fired["weight"].tolist() == votes

    @pytest.mark.parametrize("kind", KINDS)
    def test_notebook_table_has_as_many_cells_as_columns_and_shows_names_as_text(self, kind):
        rng = np.random.default_rng(2)
        theory, X = random_theory(rng, *kind), random_table(rng)
        for explanation in theory.explain(X.head(5)):
            root = ET.fromstring(explanation._repr_html_().replace("<br>", "<br/>"))
            text = "".join(root.itertext())
            assert all(label.reason in text for label in explanation)
            assert explanation.label_set is None or str(explanation.label_set) in text
            titles = [th.text or "" for th in root.findall("thead/tr/th")]
            assert titles == ["", "rule", "weight", "TP", "FP", "precision"]
            for row in root.findall("tbody/tr"):
                cells = [int(cell.get("colspan", 1)) for cell in row]
                assert sum(cells) == len(titles)

    def test_without_points_nothing_is_weighed(self):
        theory = flu_theory("any", known=())
        plain = type(theory)(theory.features, theory.labels, theory.scored_rules)
        explanation = plain.explain(SICK)
        assert "weight" not in explanation.to_frame()
        assert explanation.label_set is None
        assert "+1.52" not in explanation._repr_html_()
        assert explanation["flu"].points is None
        assert str(explanation) == (
            "predicted: flu, cold\n\nflu: yes, 1 rule fires\n"
            "  ✓ fever ≥ 38.5  (TP 9, FP 2, precision 0.82)\n\ncold: yes, 1 rule fires\n"
            "  ✓ nose = runs  (TP 6, FP 3, precision 0.67)"
        )
