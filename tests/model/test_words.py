"""0/1 attributes and counts read like words; the text of a rule stays symbols."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from steelyard import BoostedRulesClassifier, RipperClassifier
from steelyard.model.conditions import Condition
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.tables import NumericColumn
from steelyard.model.theory import Theory
from steelyard.model.words import count_range

FEATURES = (
    Feature("gpl", kind="word"),
    Feature("fever", kind="presence"),
    Feature("smoker", ("0", "1")),
    Feature("ok", ("False", "True")),
    Feature("grade", ("1", "2", "3")),
    Feature("age"),
)


def words(condition: Condition) -> str:
    (feature,) = (feature for feature in FEATURES if feature.name == condition.feature)
    return condition.read_as(feature.reading).words


def theory_of(*conditions: Condition) -> Theory:
    scored = ScoredRule(Rule(Head("y"), conditions), Evidence(9, 2), 0.8)
    return Theory(FEATURES, (Label("y", 1, 10, 30, 1, 28),), (scored,))


class TestWords:
    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (Condition("gpl", "≥", 0.5), "has gpl"),
            (Condition("gpl", "<", 0.5), "no gpl"),
            (Condition("gpl", "≤", 0), "no gpl"),
            (Condition("gpl", "≥", 2.5), "gpl at least 3 times"),
            (Condition("gpl", "<", 1.5), "gpl at most once"),
            (Condition("gpl", "≤", 2), "gpl at most 2 times"),
            (Condition.interval("gpl", 0.5, 1.5), "gpl exactly once"),
            (Condition.interval("gpl", 1.5, 4.5), "gpl 2 to 4 times"),
            (Condition("fever", "≥", 0.5), "has fever"),
            (Condition("fever", "<", 0.5), "no fever"),
            (Condition("smoker", "=", "1"), "has smoker"),
            (Condition("smoker", "=", "0"), "no smoker"),
            (Condition("ok", "=", "False"), "no ok"),
            (Condition("grade", "=", "1"), "grade = 1"),
            (Condition("age", "≥", 0.5), "age ≥ 0.5"),
            (Condition("gpl", "≥", -1), "gpl ≥ -1"),
            (Condition.interval("gpl", 0.2, 0.8), "0.2 ≤ gpl < 0.8"),
        ],
    )
    def test_of_a_condition(self, condition, expected):
        assert words(condition) == expected

    @given(st.floats(-3, 5), st.floats(-3, 5), st.booleans())
    def test_counts_in_words_are_those_that_satisfy_the_condition(self, low, high, includes_high):
        condition = Condition.interval("gpl", low, high, includes_high=includes_high)
        first, last = count_range(condition.low, condition.cut)
        assert [n for n in range(9) if condition.test(n)] == [
            n for n in range(9) if first <= n <= last
        ]


class TestAdvice:
    @pytest.mark.parametrize(
        ("condition", "value", "expected"),
        [
            (Condition("gpl", "≥", 0.5), 0.0, "add the word gpl"),
            (Condition("gpl", "<", 0.5), 2.0, "remove the word gpl"),
            (Condition("gpl", "≥", 2.5), 1.0, "use the word gpl at least 3 times instead of once"),
            (Condition("gpl", "<", 1.5), 3.0, "use the word gpl at most once instead of 3 times"),
            (Condition("fever", "≥", 0.5), 0.0, "add fever"),
            (Condition("smoker", "=", "0"), "1", "remove smoker"),
            (Condition("smoker", "=", "1"), "0", "add smoker"),
            (Condition("smoker", "=", "1"), None, "give smoker a value: 1"),
            (Condition("age", "≥", 18), 12.0, "raise age from 12 to at least 18"),
        ],
    )
    def test_it_says_what_to_add_or_to_remove(self, condition, value, expected):
        (feature,) = (feature for feature in FEATURES if feature.name == condition.feature)
        assert condition.read_as(feature.reading).describe_change(value) == expected


class TestWhereWordsShow:
    THEORY = theory_of(Condition("gpl", "≥", 0.5), Condition("fever", "<", 0.5))

    def test_people_read_words(self):
        assert "y ← has gpl ∧ no fever" in str(self.THEORY)
        for text in (self.THEORY.to_markdown(), self.THEORY._repr_html_(), self.THEORY.to_latex()):
            assert "has gpl" in text

    def test_explanations_use_words(self):
        example = {"gpl": 0, "fever": 0, "smoker": "0", "ok": False, "grade": "1", "age": 3}
        text = str(self.THEORY.explain(example))
        assert "✗ has gpl ∧ no fever" in text
        assert "has gpl fails: gpl is 0" in text
        assert "→ add the word gpl" in text

    def test_the_text_of_a_rule_and_the_frame_stay_symbols(self):
        (scored,) = self.THEORY
        assert str(scored.rule) == "y ← gpl ≥ 0.5 ∧ fever < 0.5"
        assert self.THEORY.to_frame()["rule"].tolist() == ["gpl ≥ 0.5 ∧ fever < 0.5"]

    def test_a_saved_theory_reads_the_same(self):
        read = Theory.from_json(self.THEORY.to_json())
        assert read == self.THEORY
        assert str(read) == str(self.THEORY)

    def test_an_unknown_kind_is_rejected(self):
        with pytest.raises(
            ValueError, match="the kind of the attribute 'a' must be None or one of"
        ):
            Feature("a", kind="wrod")
        with pytest.raises(ValueError, match="must be None if it is nominal, got 'word'"):
            Feature("a", ("x",), "word")


class TestFinding:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [([0, 1], "presence"), ([0, 2], None), ([1, 2], None), ([0.5, 1], None), ([1], None)],
    )
    def test_zeros_and_ones_are_a_presence(self, values, expected):
        values = np.array(values, dtype=float)
        assert NumericColumn(values).find_kind(values) == expected

    @pytest.mark.parametrize(
        ("values", "expected"),
        [([0, 1], "word"), ([0, 1, 7], "word"), ([0, 0.3], None), ([-1, 0], None)],
    )
    def test_integers_of_a_sparse_column_count_words(self, values, expected):
        values = np.array(values, dtype=float)
        assert NumericColumn(values, np.arange(len(values))).find_kind(values) == expected

    def test_learned_rules_read_words_without_being_told(self):
        rng = np.random.default_rng(0)
        X = rng.poisson(0.3, (200, 5))
        Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1]).astype(int)
        clf = RipperClassifier(random_state=0).fit(sparse.csr_array(X), Y)
        text = str(clf.theory_)
        assert "y0 ← has x0" in text
        assert "y1 ← x1 at least 2 times" in text

    def test_so_do_pandas_sparse_columns_and_votes(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"gpl": rng.integers(0, 2, 100), "b": rng.integers(0, 2, 100)})
        Y = pd.DataFrame({"free": X["gpl"], "other": 1 - X["b"]})
        sparse_X = X.astype(pd.SparseDtype(int, 0))
        clf = BoostedRulesClassifier(max_rules=4, random_state=0).fit(sparse_X, Y)
        assert [feature.kind for feature in clf.theory_.features] == ["word", "word"]
        assert "free ← has gpl" in str(clf.theory_)


def test_counts_without_an_end_are_infinite():
    assert count_range(0.5, math.inf) == (1, math.inf)
