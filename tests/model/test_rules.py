"""Rules: merged when made, tested in tables as kernels test them, and read aloud."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings

from reference.rules import covers
from steelyard._text import format_number
from steelyard.model.coded_rules import code_rules
from steelyard.model.conditions import Condition, merge_conditions
from steelyard.model.coverage import unpack
from steelyard.model.evidence import Evidence, Provenance
from steelyard.model.rules import Head, Rule, ScoredRule
from strategies import body_to_oracle, random_generators, table_to_rows
from theories import FEATURES, random_body, random_table

FEVER = Rule(Head("flu"), (Condition("fever", "≥", 38.5),))


class TestBodies:
    @given(random_generators())
    def test_conditions_are_merged_when_the_rule_is_made(self, rng):
        body = random_body(rng)
        assert Rule(Head("a"), body).body == merge_conditions(body)
        assert Rule(Head("a"), list(body)) == Rule(Head("a"), body)

    @settings(max_examples=40)
    @given(random_generators())
    def test_a_table_is_covered_as_the_oracle_and_the_kernels_say(self, rng):
        rules = [Rule(Head("a"), random_body(rng)) for _ in range(6)]
        X = random_table(rng, 70)
        names, rows = list(X), table_to_rows(X.astype({"switch": str}))
        expected = [
            [covers(body_to_oracle(rule.body, names), row) for row in rows] for rule in rules
        ]
        assert [rule.covers(X).tolist() for rule in rules] == expected
        bits, n_rows = code_rules(FEATURES, [rule.body for rule in rules]).cover(X)
        assert unpack(bits, n_rows).tolist() == expected

    def test_an_empty_body_covers_every_row(self):
        X = random_table(np.random.default_rng(0))
        assert Rule(Head("a")).covers(X).all()

    def test_an_interval_with_two_bounds_counts_as_two_conditions(self):
        body = (Condition.interval("age", 18, 65), Condition("sex", "in", ["f", "x"]))
        assert len(Rule(Head("a"), body)) == 3
        assert len(Rule(Head("a"))) == 0


class TestPrinting:
    def test_a_rule_reads_head_then_conditions(self):
        body = (Condition("fever", "≥", 38.5), Condition("cough", "=", "dry"))
        assert str(Rule(Head("Flu"), body)) == "Flu ← fever ≥ 38.5 ∧ cough = dry"
        assert str(Rule(Head("Flu", target_class=0), body)).startswith("¬Flu ←")

    @pytest.mark.parametrize(
        ("number", "text"),
        [(3.0, "3"), (0.15, "0.15"), (-2.0, "-2"), (1e20, "1e+20"), (1 / 3, "0.333333")],
    )
    def test_numbers_read_as_people_write_them(self, number, text):
        assert format_number(number) == text

    @pytest.mark.parametrize(
        ("target_class", "points", "text"),
        [
            (1, None, "flu ← fever ≥ 38.5  (TP 9, FP 2, value 0.8)"),
            (1, 152, "flu ← fever ≥ 38.5  (TP 9, FP 2, value 0.8, weight +1.52)"),
            (0, 152, "¬flu ← fever ≥ 38.5  (TP 9, FP 2, value 0.8, weight -1.52)"),
        ],
    )
    def test_a_scored_rule_shows_its_evidence_and_its_weight(self, target_class, points, text):
        rule = Rule(Head("flu", target_class), FEVER.body)
        assert str(ScoredRule(rule, Evidence(9, 2), 0.8, points)) == text


class TestScoredRules:
    def test_it_gives_the_parts_of_its_rule_and_its_evidence(self):
        scored = ScoredRule(FEVER, Evidence(9, 3), 0.8)
        assert (scored.head, scored.body, len(scored)) == (FEVER.head, FEVER.body, 1)
        assert (scored.tp, scored.fp, scored.precision) == (9, 3, 0.75)

    def test_a_vote_is_for_presence_or_against_it(self):
        against = Rule(Head("flu", 0), FEVER.body)
        votes = [ScoredRule(rule, Evidence(1, 0), 1.0, 152).vote for rule in (FEVER, against)]
        assert votes == [152, -152]
        assert ScoredRule(against, Evidence(1, 0), 1.0, 152).weight == -1.52
        assert ScoredRule(FEVER, Evidence(1, 0), 1.0).weight == 0

    def test_rules_are_values_that_cannot_be_changed(self):
        scored = ScoredRule(FEVER, Evidence(9, 3), 0.8)
        assert scored == ScoredRule(FEVER, Evidence(9, 3), 0.8)
        assert len({scored, dataclasses.replace(scored, value=0.8)}) == 1
        for thing, name in ((FEVER, "head"), (scored, "value"), (FEVER.head, "label")):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(thing, name, None)

    @pytest.mark.parametrize(
        ("evidence", "confidence", "smoothed"),
        [(Evidence(9, 3), None, 10 / 14), (Evidence(9, 3), 0.25, 0.25), (None, None, 0.5)],
    )
    def test_its_confidence_is_that_of_its_evidence_unless_it_is_given(
        self, evidence, confidence, smoothed
    ):
        scored = ScoredRule(
            FEVER, evidence, None, provenance=Provenance("given"), confidence=confidence
        )
        assert scored.smoothed_precision == smoothed

    def test_without_evidence_it_counts_nothing_and_says_so(self):
        scored = ScoredRule(FEVER, None, None, provenance=Provenance("given", "2026-03-01", "so"))
        assert (scored.tp, scored.fp, scored.precision, scored.is_counted) == (0, 0, 0, False)
        assert str(scored) == "flu ← fever ≥ 38.5  (not counted, given 2026-03-01: so)"


class TestRejections:
    @pytest.mark.parametrize("wrong", [2, -1, None, "1", True, 1.0])
    def test_a_target_class_is_0_or_1(self, wrong):
        with pytest.raises(ValueError, match="target_class of a rule must be 0 or 1, got"):
            Head("flu", wrong)

    @pytest.mark.parametrize("wrong", [None, 3, ("flu",)])
    def test_a_label_is_a_name(self, wrong):
        with pytest.raises(ValueError, match="the label of a rule must be text, got"):
            Head(wrong)

    @pytest.mark.parametrize("wrong", [None, "0.5", math.nan, True])
    def test_a_value_is_a_number(self, wrong):
        with pytest.raises(ValueError, match=r"the value of 'flu ← fever ≥ 38\.5' must be"):
            ScoredRule(FEVER, Evidence(1, 0), wrong)

    @pytest.mark.parametrize("value", [math.inf, -math.inf, np.float32(0.5), 3])
    def test_an_infinite_value_is_a_number(self, value):
        assert ScoredRule(FEVER, Evidence(1, 0), value).value == value
