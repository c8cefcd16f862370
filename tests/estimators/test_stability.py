"""Stability: strong rules come back from nearly every sample, rules of noise do not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    rule_stability,
)

SMALL = {"n_candidates": 500, "random_state": 0}
ESTIMATORS = [
    RuleSetClassifier(preset="paper", **SMALL),
    RuleSetClassifier(preset="short", **SMALL),
    RuleSetClassifierCV("hamming", preset="short", phis=[0.5, 1.0], cv=2, **SMALL),
    BoostedRulesClassifier(max_rules=10, random_state=0),
    BoostedRulesClassifierCV("hamming", max_rules=10, cv=2, random_state=0),
    RipperClassifier(random_state=0),
]


@pytest.fixture(scope="module")
def planted():
    """A label that one attribute decides, and one that no attribute tells anything about."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.random((300, 4)), columns=list("abcd"))
    return X, pd.DataFrame({"clear": X["a"] > 0.7, "noise": random.random(300) < 0.3}).astype(int)


@pytest.fixture(scope="module")
def stability(planted):
    clf = RuleSetClassifier(preset="paper", phi=1.0, **SMALL)
    return rule_stability(clf, *planted, n_resamples=10, random_state=0)


def by_label(found):
    frame = found.to_frame()
    return {label: frame["share"][frame["label"] == label] for label in ("clear", "noise")}


def test_a_planted_rule_is_in_nearly_all_samples(stability):
    assert by_label(stability)["clear"].max() >= 0.9


def test_rules_of_noise_are_in_few_samples(stability):
    shares = by_label(stability)
    assert len(shares["noise"]) > 0
    assert shares["noise"].mean() < 0.5 < shares["clear"].max()


def test_the_value_is_the_mean_share_of_the_rules(stability):
    assert stability.value == pytest.approx(stability.to_frame()["share"].mean())
    assert (stability.same_share <= stability.share).all()


def test_the_similarity_is_that_of_the_covered_examples(planted):
    """Recomputed with sets, on the samples that a seed draws."""
    X, Y = planted
    clf = RipperClassifier(random_state=0)
    found = rule_stability(clf, X, Y, n_resamples=2, sample_fraction=0.5, random_state=3)
    random = np.random.default_rng(3)
    for similarity, is_same in zip(found.similarity, found.is_same, strict=True):
        rows = np.sort(random.permutation(300)[:150])
        other = clone(clf).fit(X.iloc[rows], Y.iloc[rows]).theory_
        for r, scored in enumerate(found.theory):
            mine = set(np.flatnonzero(scored.rule.covers(X)))
            alike = [0.0]
            for rule in (s.rule for s in other if s.head == scored.head):
                covered = set(np.flatnonzero(rule.covers(X)))
                alike.append(len(mine & covered) / len(mine | covered))
            assert similarity[r] == pytest.approx(max(alike))
            assert is_same[r] == (scored.rule in [s.rule for s in other])


def test_samples_of_all_examples_change_nothing(planted):
    found = rule_stability(
        RipperClassifier(random_state=0), *planted, n_resamples=2, sample_fraction=1.0
    )
    assert found.value == 1.0
    assert found.is_same.all()


def test_a_higher_limit_finds_fewer_rules(planted):
    clf = BoostedRulesClassifier(max_rules=10, random_state=0)
    shares = [
        rule_stability(clf, *planted, n_resamples=4, min_similarity=least, random_state=0).share
        for least in (0.2, 0.9)
    ]
    assert (shares[0] >= shares[1]).all()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__}")
def test_it_depends_on_the_seed_alone(planted, estimator):
    found = [
        rule_stability(estimator, *planted, n_resamples=3, random_state=1, n_jobs=n_jobs)
        for n_jobs in (None, 2)
    ]
    np.testing.assert_array_equal(found[0].similarity, found[1].similarity)
    np.testing.assert_array_equal(found[0].is_same, found[1].is_same)
    assert found[0].similarity.shape == (3, len(found[0].theory))
    assert not hasattr(estimator, "theory_")


def test_progress_counts_the_samples(planted):
    calls = []
    clf = RipperClassifier(random_state=0)
    rule_stability(clf, *planted, n_resamples=3, progress=lambda *done: calls.append(done))
    assert calls[-1] == (3, 3)


def test_it_prints_the_most_stable_rules_first(stability):
    lines = str(stability).splitlines()
    assert lines[0].endswith("learned again from 10 samples of 63% of the examples")
    shares = [float(line.split("%")[0]) for line in lines[3:]]
    assert shares == sorted(shares, reverse=True)
    assert f"{stability.value:.2f}" in repr(stability)


@pytest.mark.parametrize("wrong", [BoostedRulesClassifier, DummyClassifier(), None])
def test_other_estimators_are_rejected(planted, wrong):
    with pytest.raises(TypeError, match="must be an estimator of this library, such as Rule"):
        rule_stability(wrong, *planted)


def test_one_class_per_example(planted):
    X, Y = planted
    y = np.where(Y["clear"], "yes", "no")
    found = rule_stability(RipperClassifier(random_state=0), X, y, n_resamples=3, random_state=0)
    assert found.value >= 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be a positive integer, got 0"),
        ({"sample_fraction": 0}, "sample_fraction must be a number above 0 and at most 1"),
        ({"min_similarity": 1.5}, "min_similarity must be a number above 0 and at most 1"),
    ],
)
def test_wrong_parameters_are_rejected(planted, parameters, message):
    with pytest.raises(ValueError, match=message):
        rule_stability(RipperClassifier(), *planted, **parameters)
