"""Rules as text for an editor: unchanged text is no edit, and every change is found."""

from __future__ import annotations

import pandas as pd
import pytest

from steelyard.model.decoders import EachLabel
from steelyard.model.rule_lists import apply_text, write_rules
from theories import PAIRS, flu_theory, random_cases

DECIDING = flu_theory("any-rule", EachLabel())
VOTING = flu_theory("sum-of-votes", EachLabel())
PATIENTS = pd.DataFrame(
    {"fever": [36.0, 37.0, 38.0, 39.0, 40.0, 41.0], "nose": ["dry", "runs"] * 3}
)
ILL = pd.DataFrame({"flu": [0, 0, 0, 1, 1, 1], "cold": [0, 1, 0, 1, 0, 1]})


def texts(theory):
    return [str(scored.rule) for scored in theory]


class TestText:
    def test_rules_are_numbered_and_votes_have_their_weight(self):
        lines = [x for x in write_rules(VOTING).splitlines() if x and not x.startswith("#")]
        assert lines == [
            "1: [+1.52] flu ← fever ≥ 38.5",
            "2: [-0.30] ¬flu ← nose = runs",
            "3: [+1.10] cold ← nose = runs",
        ]
        assert "1: flu ← fever ≥ 38.5\n" in write_rules(DECIDING)

    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_unchanged_text_is_no_edit(self, pair):
        for theory, _ in random_cases(*pair):
            if any(c.is_empty for s in theory for c in s.body):
                continue
            assert apply_text(theory, write_rules(theory)) is theory


class TestEdits:
    def test_a_changed_line_replaces_its_rule(self):
        text = write_rules(DECIDING).replace("38.5", "38")
        edited = apply_text(DECIDING, text, note="lower")
        assert texts(edited) == ["flu ← fever ≥ 38", "cold ← nose = runs"]
        assert [s.provenance.source for s in edited] == ["edited", "learned"]
        assert edited.rules[0].provenance.note == "lower"

    def test_a_deleted_line_drops_its_rule_and_a_new_line_adds_one(self):
        edited = apply_text(DECIDING, "2: cold ← nose = runs\n# comment\n\nflu <- fever >= 40")
        assert texts(edited) == ["flu ← fever ≥ 40", "cold ← nose = runs"]
        assert edited.rules[0].provenance.source == "given"

    def test_a_list_without_numbers_keeps_the_rules_it_repeats(self):
        edited = apply_text(DECIDING, "cold <- nose = runs\ncold <- fever < 36")
        assert texts(edited) == ["cold ← nose = runs", "cold ← fever < 36"]
        assert edited.rules[0].evidence == DECIDING.rules[1].evidence

    def test_a_weight_can_be_changed_alone(self):
        edited = apply_text(VOTING, write_rules(VOTING).replace("+1.10", "+0.70"))
        assert [s.points for s in edited] == [152, 30, 70]
        against = apply_text(VOTING, write_rules(VOTING).replace("-0.30", "-0.90"))
        assert [s.vote for s in against] == [152, -90, 110]

    def test_with_data_votes_are_fitted_and_all_is_recounted(self):
        text = write_rules(VOTING) + "cold ← fever ≥ 40.5\n"
        edited = apply_text(VOTING, text, X=PATIENTS, Y=ILL)
        assert edited.rules[-1].points > 0
        assert edited.evidence_from.n_rows == 6
        dropped = apply_text(VOTING, "1: [+1.52] flu ← fever ≥ 38.5", X=PATIENTS, Y=ILL)
        assert dropped.evidence_from.n_rows == 6


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "flu ← fever ≥ 38.5\nflu ← fever ≥ x",
                "line 2: cannot read the rule 'flu ← fever ≥ x'",
            ),
            ("1: flu ← fevr ≥ 3", "line 1: the rule tests an unknown attribute 'fevr'"),
            (
                "9: flu ← fever ≥ 3",
                "line 1: the theory has 2 rules, but this line has the number 9",
            ),
            ("1: flu ← fever ≥ 3\n1: flu ← fever ≥ 4", "line 2: rule 1 stands in line 1 already"),
            ("flu ← fever ≥ 3\nflu ← fever ≥ 3", "line 2: the theory has the rule"),
        ],
    )
    def test_a_mistake_is_named_with_its_line(self, text, message):
        with pytest.raises(ValueError, match=message):
            apply_text(DECIDING, text)

    def test_a_weight_that_no_number_holds_is_rejected(self):
        with pytest.raises(ValueError, match="line 1: the rule predicts an unknown label"):
            apply_text(VOTING, f"1: [{400 * '9'}] flu ← fever ≥ 38.5")

    def test_a_vote_without_weight_and_data_is_named_too(self):
        with pytest.raises(ValueError, match="line 1: a rule that votes needs points="):
            apply_text(VOTING, "flu ← fever ≥ 3")
