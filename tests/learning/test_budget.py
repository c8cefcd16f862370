"""Budgets: limits of memory as people write them, and warnings before work that takes hours."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
)
from steelyard.learning import boosted_rules, budget
from steelyard.learning.budget import (
    MemoryLimitError,
    SlowWarning,
    machine_memory,
    read_memory,
)

ESTIMATORS = [
    RuleSetClassifier,
    RuleSetClassifierCV,
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    RipperClassifier,
]


class TestMemory:
    @pytest.mark.parametrize(
        ("text", "n_bytes"),
        [
            ("4GB", 4 * 10**9),
            ("500 MiB", 500 * 2**20),
            ("1.5k", 1500),
            ("12", 12),
            (2.5e6, 2_500_000),
        ],
    )
    def test_sizes_are_read_as_they_are_written(self, text, n_bytes):
        assert read_memory(text) == n_bytes

    def test_the_default_is_a_quarter_of_the_machine(self):
        assert read_memory(None) == machine_memory() // 4

    @pytest.mark.parametrize(
        "wrong", ["", "GB", "4XB", "1.2.3GB", "-1GB", "i", 0, -5, True, [1], "inf"]
    )
    @pytest.mark.parametrize("kind", ESTIMATORS)
    def test_other_values_are_rejected(self, kind, wrong):
        with pytest.raises(ValueError, match="max_memory must be"):
            kind(max_memory=wrong).fit([[0], [1], [2]], [0, 1, 1])

    def test_the_limit_of_a_container_counts(self, tmp_path, monkeypatch):
        (tmp_path / "memory.max").write_text("1000000\n")
        monkeypatch.setattr(budget, "_LIMITS", [str(tmp_path / "memory.max")])
        assert machine_memory() == 1_000_000


class TestFits:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3000, 5)), (rng.random((3000, 2)) < 0.4).astype(int)

    def test_too_many_candidates_are_rejected_before_they_are_grown(self):
        model = RuleSetClassifier(preset="paper", n_candidates=10**9, max_memory="100MB")
        with pytest.raises(MemoryLimitError, match=r"would take about .* n_candidates=[\d,]+ fits"):
            model.fit(self.X, self.Y)

    def test_too_much_coverage_names_what_helps(self):
        model = RuleSetClassifier(preset="paper", n_candidates=100, max_memory="0.1MB")
        with pytest.raises(MemoryLimitError, match=r"sample_fraction.*max_depths"):
            model.fit(self.X, self.Y)

    @pytest.mark.parametrize(
        ("model", "work"),
        [
            (BoostedRulesClassifier(max_rules=5), "boosting"),
            (BoostedRulesClassifier(max_rules=5, max_labels_per_rule=2), "boosting"),
            (BoostedRulesClassifierCV(max_rules=5, cv=2), "boosting"),
            (RipperClassifier(), "Ripper"),
        ],
    )
    @pytest.mark.parametrize("is_given", [True, False])
    def test_other_estimators_say_what_helps(self, model, work, is_given, monkeypatch):
        model = clone(model)
        if is_given:
            model.set_params(max_memory="2.5kB")
        else:
            monkeypatch.setattr(budget, "machine_memory", lambda: 10_000)
        with pytest.raises(
            MemoryLimitError, match=rf"^{work} takes up to .*max_memory .*: fewer .* less"
        ):
            model.fit(self.X, self.Y)

    def test_boosting_is_rejected_before_the_table_is_coded(self, monkeypatch):
        monkeypatch.setattr(boosted_rules, "code_training_table", lambda *_: pytest.fail("coded"))
        with pytest.raises(MemoryLimitError):
            BoostedRulesClassifier(max_memory=1000).fit(self.X, self.Y)

    @pytest.mark.parametrize(
        "model",
        [
            RuleSetClassifier(n_candidates=500, random_state=0),
            BoostedRulesClassifier(max_rules=5, random_state=0),
            RipperClassifier(random_state=0),
        ],
    )
    def test_the_limit_does_not_change_the_theory(self, model):
        limits = (None, "1GB")
        fits = [clone(model).set_params(max_memory=limit).fit(self.X, self.Y) for limit in limits]
        assert fits[0].theory_ == fits[1].theory_

    @pytest.mark.parametrize(("max_rules", "n_bytes"), [(100, 8 + 8 + 1), (10, 8 + 8 + 11)])
    def test_boosting_counts_orders_and_the_rows_of_rules(self, max_rules, n_bytes):
        # Per row: 8 bytes for each of two labels, and one for the rule that is grown. If rules are few,
        # they are chosen again, and each of them takes a byte, with one more that ends the votes.
        model = BoostedRulesClassifier(max_rules=max_rules, random_state=0)
        with pytest.raises(MemoryLimitError, match=r"boosting takes up to .*: fewer .*n_jobs"):
            model.set_params(max_memory=3000 * n_bytes - 1).fit(self.X, self.Y)
        model.set_params(max_memory=3000 * n_bytes).fit(self.X, self.Y)


class TestSlowWork:
    def start(self, monkeypatch, **options):
        clock = [0.0]
        monkeypatch.setattr(budget.time, "monotonic", lambda: clock[0])
        return SlowWarning("growing", "grow less", **options), clock

    def test_hours_are_announced_once_with_advice(self, monkeypatch):
        watch, clock = self.start(monkeypatch)
        clock[0] = 10.0
        with pytest.warns(UserWarning, match=r"growing will take about 2\.8 hours: grow less"):
            watch(1, 1000)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            watch(2, 1000)

    def test_minutes_are_not(self, monkeypatch):
        calls = []
        watch, clock = self.start(monkeypatch, progress=lambda *args: calls.append(args))
        clock[0] = 10.0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            watch(10, 1000)
        assert calls == [(10, 1000)]


def test_a_theory_that_nobody_reads_says_so(monkeypatch):
    monkeypatch.setattr("steelyard.estimators.base._MOST_READ_RULES", 5)
    with pytest.warns(UserWarning, match=r"has \d+ rules, more than people read: max_rules"):
        RuleSetClassifier(n_candidates=500, random_state=0).fit(TestFits.X, TestFits.Y)
