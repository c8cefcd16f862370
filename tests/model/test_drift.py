"""Drift is found where there is some, not found where there is none, and compared honestly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from steelyard.model.decoders import EachLabel
from steelyard.model.evidence import Evidence
from steelyard.model.significance import adjust_holm, compare_shares, wilson_interval
from theories import flu_theory

THEORY = flu_theory("any-rule", EachLabel())


def patients(n_rows: int, p_fever: float, p_flu: float, seed: int = 0):
    """Fever with one probability, and then flu with another one; cold follows the nose."""
    rng = np.random.default_rng(seed)
    fever, nose = rng.random(n_rows) < p_fever, rng.random(n_rows) < 0.5
    X = pd.DataFrame({"fever": np.where(fever, 39.0, 37.0), "nose": np.where(nose, "runs", "dry")})
    return X, pd.DataFrame({"flu": fever & (rng.random(n_rows) < p_flu), "cold": nose}).astype(int)


class TestDrift:
    before = THEORY.recount(*patients(600, 0.3, 0.9))

    def test_more_of_the_same_is_no_drift(self):
        found = self.before.drift(*patients(600, 0.3, 0.9, seed=1))
        assert found.changed == ()
        assert str(found) == (
            "600 new examples, 2 rules; fire more often than before: 0, less often: 0, "
            "right less often: 0"
        )

    @pytest.mark.parametrize(("p_fever", "how"), [(0.6, "more"), (0.1, "less")])
    def test_a_rule_that_fires_more_or_less_often_is_found(self, p_fever, how):
        flu, cold = self.before.drift(patients(600, p_fever, 0.9, seed=1)[0])
        assert (flu.fires, cold.fires) == (how, "")
        assert not flu.falls
        assert np.isnan(flu.precision)

    def test_a_rule_that_is_right_less_often_is_found(self):
        found = self.before.drift(*patients(600, 0.3, 0.6, seed=1))
        flu, cold = found
        assert flu.falls
        assert not cold.falls
        assert not flu.fires
        assert "precision fell: 0." in str(found)
        assert "(recount)" in str(found)

    def test_a_rule_that_is_right_more_often_is_no_alarm(self):
        worse = THEORY.recount(*patients(600, 0.3, 0.6))
        assert not any(rule.falls for rule in worse.drift(*patients(600, 0.3, 0.9, seed=1)))

    def test_held_out_counts_are_the_fair_comparison(self):
        flu, cold = self.before
        flu = replace(flu, held_out=Evidence(60, 40))
        theory = replace(self.before, rules=(flu, cold))
        found = next(iter(theory.drift(*patients(600, 0.3, 0.6, seed=1))))
        assert (found.before, found.before_precision, found.falls) == ("unseen", 0.6, False)

    def test_the_numbers_are_shares_and_adjusted_p_values(self):
        X, Y = patients(200, 0.5, 0.5, seed=2)
        found = self.before.drift(X, Y).to_frame()
        counted = self.before.recount(X, Y)
        p_values = []
        for row, old, new in zip(found.itertuples(), self.before, counted, strict=True):
            n_old, n_new = old.tp + old.fp, new.tp + new.fp
            assert (row.before_share, row.share) == (n_old / 600, n_new / 200)
            assert (row.before_precision, row.precision) == (old.precision, new.precision)
            p_values.append(fisher_exact([[n_new, 200 - n_new], [n_old, 600 - n_old]]).pvalue)
        expected = [min(1, p * (2 if p == min(p_values) else 1)) for p in p_values]
        assert found["p_fires"].tolist() == pytest.approx(np.maximum(expected, min(expected)))

    def test_without_labels_there_are_no_precisions(self):
        found = self.before.drift(patients(50, 0.3, 0.9)[0])
        assert list(found.to_frame()) == [
            *("label", "target_class", "rule", "before_share", "share", "p_fires", "fires")
        ]
        assert "right less often" not in str(found)
        assert len(found) == 2

    def test_a_rule_that_was_not_counted_has_not_drifted(self):
        edited = self.before.replace(0, "flu ← fever ≥ 36")
        flu, _ = edited.drift(*patients(600, 0.3, 0.1, seed=1))
        assert np.isnan([flu.before_share, flu.p_fires, flu.p_falls]).all()
        assert flu.describe() == ""

    def test_html_says_the_same(self):
        html = self.before.drift(*patients(600, 0.6, 0.4, seed=1))._repr_html_()
        assert "fires more often" in html
        assert "steelyard-drift" in html

    def test_no_rows_are_rejected(self):
        with pytest.raises(ValueError, match="no rows"):
            self.before.drift(patients(50, 0.3, 0.9)[0][:0])


class TestStatistics:
    @pytest.mark.parametrize(("tp", "n"), [(0, 5), (5, 5), (3, 10), (900, 1000)])
    def test_a_wilson_interval_holds_the_shares_that_a_test_accepts(self, tp, n):
        low, high = wilson_interval(tp, n)
        for bound in (low, high):
            if 0 < bound < 1:  # where the score test has z = 1.96
                z = (tp / n - bound) / np.sqrt(bound * (1 - bound) / n)
                assert abs(z) == pytest.approx(1.959964, abs=1e-6)
        assert low <= tp / n <= high

    def test_no_examples_say_nothing(self):
        assert [float(x) for x in wilson_interval(0, 0)] == pytest.approx([0, 1])
        assert np.isnan(compare_shares(0, 0, 1, 2))

    def test_holm_is_monotone_and_at_most_one(self):
        rng = np.random.default_rng(0)
        p = rng.random(20) ** 3
        adjusted = adjust_holm(p)
        assert (adjusted >= p).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
        assert adjusted.min() == pytest.approx(20 * p.min())
        assert adjust_holm([]).tolist() == []
