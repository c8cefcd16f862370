"""Planted rules: the data follows from them, and everything follows from the seed."""

import numpy as np
import pandas as pd
import pytest

from steelyard.data import make_planted_rules

CONFIGURATIONS = [
    {},
    {"n_examples": 30, "n_labels": 2},
    {"missing": 0.2},
    {"n_labels": 12, "n_numeric": 12, "n_nominal": 9},
    {"n_conditions": 1, "n_rules_per_label": 1, "n_nominal": 0},
    {"n_conditions": 3, "n_rules_per_label": 4, "n_numeric": 0},
]


def rules_to_labels(data):
    return {
        label: np.any([r.covers(data.X) for r in data.rules if r.head.label == label], axis=0)
        for label in data.label_names
    }


@pytest.mark.parametrize("options", CONFIGURATIONS)
def test_without_noise_the_rules_are_a_theory_without_error(options):
    data = make_planted_rules(**options, random_state=1)
    for label, present in rules_to_labels(data).items():
        assert data.Y[label].tolist() == present.tolist()


@pytest.mark.parametrize("options", [*CONFIGURATIONS, {"noise": 0.1}, {"noise": 0.4}])
def test_every_label_is_present_in_a_minority(options):
    shares = make_planted_rules(**options, random_state=2).Y.mean()
    assert (shares > 0).all()
    assert (shares < 0.5).all()


def test_the_counts_are_as_asked_for():
    data = make_planted_rules(
        n_examples=200,
        n_labels=3,
        n_numeric=2,
        n_nominal=3,
        n_rules_per_label=2,
        n_conditions=3,
        random_state=0,
    )
    assert data.X.shape == (200, 5)
    assert data.Y.shape == (200, 3)
    assert data.X.select_dtypes("category").shape[1] == 3
    assert len(data.rules) == len(set(data.rules)) == 6
    for rule in data.rules:
        assert len({condition.feature for condition in rule.body}) == 3


def test_no_rule_is_superfluous():
    data = make_planted_rules(n_rules_per_label=3, random_state=5)
    for label in data.label_names:
        covered = np.array([r.covers(data.X) for r in data.rules if r.head.label == label])
        assert (covered & (covered.sum(axis=0) == 1)).any(axis=1).all()


def test_noise_flips_the_given_share_of_labels_and_nothing_else():
    data = make_planted_rules(n_examples=5000, noise=0.1, random_state=3)
    flipped = np.mean([data.Y[label] != want for label, want in rules_to_labels(data).items()])
    assert flipped == pytest.approx(0.1, abs=0.01)


def test_the_given_share_of_values_is_missing():
    data = make_planted_rules(n_examples=5000, missing=0.1, random_state=3)
    assert data.X.isna().mean().to_numpy() == pytest.approx(0.1, abs=0.02)


def test_the_seed_decides_everything():
    first, same, other = (make_planted_rules(noise=0.1, random_state=s) for s in (7, 7, 8))
    pd.testing.assert_frame_equal(first.X, same.X)
    pd.testing.assert_frame_equal(first.Y, same.Y)
    assert first.rules == same.rules
    assert first.rules != other.rules


def test_a_generator_is_a_seed_too():
    by_generator = make_planted_rules(random_state=np.random.default_rng(7))
    assert by_generator.rules == make_planted_rules(random_state=7).rules


def test_conditions_use_the_operators_of_the_method():
    data = make_planted_rules(random_state=0)
    for rule in data.rules:
        for condition in rule.body:
            is_nominal = isinstance(data.X[condition.feature].dtype, pd.CategoricalDtype)
            assert condition.is_nominal == is_nominal
            assert condition.n_bounds == 1
            assert not condition.includes_high


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_examples": 2}, "n_examples must be at least 3, not 2"),
        ({"n_labels": 0}, "n_labels must be at least 1, not 0"),
        ({"noise": 0.5}, "noise must be at least 0 and below 0.5, not 0.5"),
        ({"missing": 1}, "missing must be at least 0 and below 1, not 1"),
        ({"n_conditions": 11}, "n_conditions=11 needs as many attributes"),
        ({"n_examples": 5, "n_rules_per_label": 9}, "could not plant 9 rules of 2 conditions"),
    ],
)
def test_what_cannot_be_planted_is_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        make_planted_rules(**options, random_state=0)
