"""Two theories side by side: shared, similar and other rules, and where predictions differ."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from steelyard.model.decoders import EachLabel
from steelyard.model.rules import Rule
from theories import HOSTILE, PAIRS, flu_theory, handmade_theory, random_cases

THEORY = flu_theory("any-rule", EachLabel())
PATIENTS = pd.DataFrame(
    {"fever": [36.0, 37.0, 38.2, 39.0], "nose": ["dry", "runs", "dry", "runs"]},
    index=["Ann", "Bob", "Cy", "Di"],
)


class TestRules:
    def test_a_theory_is_the_same_as_itself(self):
        for pair in PAIRS:
            theory, X = random_cases(*pair)[0]
            found = theory.compare(theory, X)
            assert found.same == tuple(scored.rule for scored in theory)
            assert (found.only_first, found.only_second, found.similar, found.votes) == ((),) * 4
            assert found.rows == ()
            assert sum(difference.n_rows for difference in found.differences) == 0

    def test_rules_of_one_theory_only_are_listed(self):
        found = THEORY.compare(THEORY.drop(0))
        assert found.only_first == (Rule.parse("flu ← fever ≥ 38.5"),)
        assert (found.only_second, found.similar, len(found.same)) == ((), (), 1)
        assert str(found).splitlines() == [
            "1 rule in both, 0 similar, 1 only in the first, 0 only in the second",
            "− flu ← fever ≥ 38.5",
        ]

    def test_rules_with_the_same_attributes_are_similar_if_they_overlap(self):
        found = THEORY.compare(THEORY.replace(0, "flu ← fever ≥ 38"), PATIENTS)
        (pair,) = found.similar
        assert (str(pair.first), str(pair.second)) == ("flu ← fever ≥ 38.5", "flu ← fever ≥ 38")
        assert pair.overlap == 0.5
        assert "+ flu ← fever ≥ 38  (overlap 0.50)" in str(found)
        apart = THEORY.compare(THEORY.replace(0, "flu ← fever < 37"), PATIENTS)
        assert (apart.similar, len(apart.only_first), len(apart.only_second)) == ((), 1, 1)

    def test_without_a_table_rules_are_similar_if_they_can_meet(self):
        near, apart = (THEORY.replace(0, f"flu ← fever {x}") for x in ("≥ 40", "< 38"))
        (pair,) = THEORY.compare(near).similar
        assert math.isnan(pair.overlap)
        assert THEORY.compare(apart).similar == ()

    def test_each_rule_has_at_most_one_similar_one_the_closest(self):
        first = THEORY.add("flu ← fever ≥ 37.5")
        second = THEORY.replace(0, "flu ← fever ≥ 38")
        found = first.compare(second, PATIENTS)
        assert [str(pair.first) for pair in found.similar] == ["flu ← fever ≥ 37.5"]
        assert [str(rule) for rule in found.only_first] == ["flu ← fever ≥ 38.5"]

    def test_other_votes_are_shown(self):
        theory = flu_theory("sum-of-votes", EachLabel())
        other = theory.replace(0, theory.rules[0].rule, points=99)
        assert theory.compare(other).votes == ((theory.rules[0].rule, 1.52, 0.99),)
        assert "= flu ← fever ≥ 38.5  (weight +1.52 → +0.99)" in str(theory.compare(other))


class TestPredictions:
    def test_examples_whose_labels_differ_are_counted_per_label(self):
        found = THEORY.compare(THEORY.replace(0, "flu ← fever < 36.5"), PATIENTS)
        assert (found.n_rows, found.rows) == (4, ("Ann", "Di"))
        flu, cold = found.differences
        assert (flu.label, flu.only_first, flu.only_second, flu.n_rows) == ("flu", 1, 1, 2)
        assert cold.n_rows == 0
        assert "predictions differ for 2 of 4 examples" in str(found)
        assert "flu: 2 examples, 1 only by the first, 1 only by the second" in str(found)

    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_they_are_those_of_predict(self, pair):
        cases = [(t, X) for t, X in random_cases(*pair) if len(t)]
        for theory, X in cases:
            other = theory.drop(0)
            one, two = (np.asarray(t.predict(X)) for t in (theory, other))
            differ = one != two if one.ndim == 1 else (one != two).any(axis=1)
            assert theory.compare(other, X).rows == tuple(np.flatnonzero(differ))

    def test_arrays_have_positions(self):
        found = THEORY.compare(THEORY.drop(0), [[39.0, "dry"], [36.0, "dry"]])
        assert found.rows == (0,)

    def test_labels_of_one_theory_only_are_named(self):
        other = handmade_theory()
        found = THEORY.compare(other)
        assert found.labels_first == ("flu", "cold")
        assert "labels only in the first: 'flu', 'cold'" in str(found)

    def test_something_else_is_rejected(self):
        with pytest.raises(ValueError, match="a theory can be compared with a theory, not with 3"):
            THEORY.compare(3)


class TestViews:
    found = THEORY.compare(THEORY.replace(0, "flu ← fever ≥ 38").add("cold ← fever < 1"), PATIENTS)

    def test_the_frame_has_every_rule(self):
        frame = self.found.to_frame()
        assert list(frame) == ["status", "label", "target_class", "rule", "other", "overlap"]
        assert frame["status"].tolist() == ["both", "similar", "second"]
        assert frame["other"].tolist() == ["", "fever ≥ 38", ""]

    def test_html_escapes_names(self):
        theory, _ = random_cases("any-rule", "each-label")[0]
        html = theory.compare(theory.drop(*range(len(theory))))._repr_html_()
        assert "steelyard-comparison" in html
        assert HOSTILE[0] not in html
        assert "overlap 0.50" in self.found._repr_html_()

    def test_long_lists_are_cut(self):
        rules = tuple(Rule.parse(f"a ← x ≥ {i}") for i in range(150))
        found = type(self.found)((), rules, (), ())
        assert "… and 50 more; see to_frame()" in str(found)
        assert "… and 50 more" in found._repr_html_()
        assert len(found.to_frame()) == 150
