"""Settings of the learners: what is not a setting is rejected in one sentence that names it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.learning.settings import (
    PAPER_DEPTHS,
    BoostingSettings,
    ForestSettings,
    RipperSettings,
    SamplingSettings,
)


def test_the_defaults_of_the_forests_are_the_papers():
    settings = ForestSettings()
    assert (settings.n_candidates, settings.n_trees) == (300_000, 10)
    assert settings.max_depths == PAPER_DEPTHS == (None, 1, 2, 3, 4, 5, 6, 7, 8)
    assert (settings.sample_fraction, settings.max_features) == (1.0, "log2")
    assert settings.prune is False


class TestNumberOfAttributes:
    @given(st.integers(2, 5000))
    def test_log2_is_the_floor_of_the_logarithm_of_l_minus_1_plus_1(self, n):
        expected = math.floor(math.log2(n - 1)) + 1
        assert SamplingSettings().n_drawn_features(n) == expected
        assert expected == (n - 1).bit_length()

    @pytest.mark.parametrize(
        ("max_features", "drawn"),
        [("sqrt", 10), (0.25, 25), (0.01, 7), (2, 2), (7, 7), (1000, 100), (1.0, 100)],
    )
    def test_a_name_a_number_or_a_share(self, max_features, drawn):
        assert SamplingSettings(max_features=max_features).n_drawn_features(100) == drawn

    def test_one_attribute_is_always_drawn(self):
        for max_features in ("log2", "sqrt", 0.1, 1):
            assert SamplingSettings(max_features=max_features).n_drawn_features(1) == 1


INTEGERS = [
    (ForestSettings, "n_candidates", 1),
    (ForestSettings, "n_trees", 1),
    (BoostingSettings, "max_rules", 1),
    (BoostingSettings, "max_conditions", 1),
    (BoostingSettings, "n_tries", 1),
    (RipperSettings, "optimizations", 0),
    (RipperSettings, "folds", 2),
]


class TestRejections:
    @pytest.mark.parametrize(("kind", "name", "least"), INTEGERS)
    @pytest.mark.parametrize("wrong", [-1, 2.5, "many", True, math.nan])
    def test_integers_within_bounds(self, kind, name, least, wrong):
        with pytest.raises(ValueError, match=rf"^{name} must be an integer .*{least}.*, got "):
            kind(**{name: wrong})
        with pytest.raises(ValueError, match=rf"^{name} must be an integer"):
            kind(**{name: least - 1})
        for integer in (int, np.int64, np.uint8):
            assert getattr(kind(**{name: integer(least)}), name) == least

    def test_a_million_trees_are_the_most(self):
        with pytest.raises(ValueError, match="n_trees must be an integer from 1 to 1,000,000"):
            ForestSettings(n_trees=10**12)

    @pytest.mark.parametrize("wrong", [(), (0,), (-1,), (None, 2.5), ("deep",)])
    def test_depths_are_none_or_at_least_one(self, wrong):
        with pytest.raises(ValueError, match="max_depths must be one or more depth limits"):
            ForestSettings(max_depths=wrong)

    @pytest.mark.parametrize("kind", [ForestSettings, BoostingSettings])
    @pytest.mark.parametrize("wrong", [0, -0.5, math.nan, math.inf, 1e9, "all", None, True])
    def test_the_bag_is_a_share_above_zero(self, kind, wrong):
        with pytest.raises(ValueError, match="sample_fraction must be a number above 0"):
            kind(sample_fraction=wrong)

    @pytest.mark.parametrize("kind", [ForestSettings, BoostingSettings])
    @pytest.mark.parametrize("wrong", [0, -1, 0.0, 1.5, math.nan, "auto", None, True, np.ones(2)])
    def test_attributes_are_drawn_by_name_number_or_share(self, kind, wrong):
        with pytest.raises(ValueError, match="max_features must be 'log2', 'sqrt', an integer"):
            kind(max_features=wrong)

    @pytest.mark.parametrize("kind", [ForestSettings, BoostingSettings])
    def test_sets_of_categories(self, kind):
        with pytest.raises(ValueError, match="category_sets must be True or False, got 'all'"):
            kind(category_sets="all")

    @pytest.mark.parametrize("wrong", [True, None, "all", 1])
    def test_a_way_to_prune(self, wrong):
        with pytest.raises(ValueError, match="prune must be False, 'oob' or 'prefix', got"):
            ForestSettings(prune=wrong)

    @pytest.mark.parametrize("wrong", [-1, math.nan, "two", None])
    def test_the_weight_that_ripper_asks_of_a_condition(self, wrong):
        with pytest.raises(ValueError, match="min_weight must be a number of at least 0, got"):
            RipperSettings(min_weight=wrong)
