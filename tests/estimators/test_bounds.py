"""Bounds on rules and conditions hold for every estimator, and labels without a rule are reported."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    Constraints,
    MEstimate,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    TheoryPath,
    make_planted_rules,
    theory_path,
)
from steelyard.model.json import condition_to_plain

# Few conditions allow few candidates.
pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")

FOREST = {"n_candidates": 600, "random_state": 0}
GRID = {"heuristics": [MEstimate(1), MEstimate(16)], "phis": [1.0, 0.5, 0.05], "cv": 2}

ESTIMATORS = [
    RuleSetClassifier(phi=1.0, **FOREST),
    RuleSetClassifier(phi=1.0, preset="short", **FOREST),
    RuleSetClassifierCV(**GRID, **FOREST),
    BoostedRulesClassifier(random_state=0),
    BoostedRulesClassifierCV(cv=2, random_state=0),
    RipperClassifier(prune=False, random_state=0),
]
NAMES = ["paper", "short", "paper-cv", "boosted", "boosted-cv", "ripper"]


@pytest.fixture(scope="module")
def data():
    return make_planted_rules(200, random_state=0)


@pytest.fixture(params=ESTIMATORS, ids=NAMES)
def estimator(request):
    return type(request.param)(**request.param.get_params(deep=False))


@pytest.mark.parametrize("max_rules", [1, 6])
def test_no_theory_has_more_than_max_rules(estimator, data, max_rules):
    theory = estimator.set_params(max_rules=max_rules).fit(data.X, data.Y).theory_
    assert len(theory) <= max_rules


@pytest.mark.parametrize("max_conditions", [1, 2])
def test_no_rule_has_more_than_max_conditions(estimator, data, max_conditions):
    theory = estimator.set_params(max_conditions=max_conditions).fit(data.X, data.Y).theory_
    # An interval with two bounds counts twice.
    n_bounds = [sum(len(condition_to_plain(c)) for c in scored.body) for scored in theory]
    assert max(n_bounds, default=0) <= max_conditions


def test_bounds_hold_for_classes_too(estimator, data):
    y = data.Y.iloc[:, 0] + 2 * data.Y.iloc[:, 1]
    theory = estimator.set_params(max_rules=3, max_conditions=2).fit(data.X, y).theory_
    assert len(theory) <= 3
    assert max(map(len, theory), default=0) <= 2


@pytest.mark.parametrize("most", [3, 14])
def test_no_theory_has_more_than_max_total_conditions(estimator, data, most):
    theory = estimator.set_params(max_total_conditions=most).fit(data.X, data.Y).theory_
    assert 0 < theory.n_conditions <= most


def test_every_cell_of_a_budget_is_within_it(data):
    tuned = RuleSetClassifierCV(
        max_rules=5, max_conditions=3, max_total_conditions=9, **GRID, **FOREST
    )
    tuned.fit(data.X, data.Y)
    sizes = tuned.cv_results_
    assert (sizes["mean_n_rules"] <= 5).all()
    assert (sizes["mean_n_rules"] * sizes["mean_n_conditions"] <= 9 + 1e-9).all()
    assert tuned.path_.total_conditions.max() <= 9
    again = TheoryPath.from_json(tuned.path_.to_json())
    assert (again.total_conditions == tuned.path_.total_conditions).all()


@pytest.mark.parametrize("kind", [RuleSetClassifier, BoostedRulesClassifier, RipperClassifier])
def test_a_larger_total_keeps_the_rules_of_a_smaller_one(data, kind):
    """A theory ends at the first rule that does not fit, whatever fits after it."""
    options = FOREST | {"phi": 1.0} if kind is RuleSetClassifier else {"random_state": 0}
    small, large = (
        kind(max_total_conditions=most, **options).fit(data.X, data.Y).theory_ for most in (8, 12)
    )
    assert {scored.rule for scored in small} <= {scored.rule for scored in large}


def test_the_total_must_fit_the_other_bounds(data):
    least = {"min_rules_per_label": 2, "max_total_conditions": 7}
    for kind in (RuleSetClassifier, BoostedRulesClassifier):
        with pytest.raises(ValueError, match="max_total_conditions=7 is less than .* at least 8"):
            kind(**least).fit(data.X, data.Y)
    given = Constraints(given=["for juice ← weight ≥ 250 ∧ weight < 260"])
    for kind in (RuleSetClassifier, BoostedRulesClassifier, RipperClassifier):
        with pytest.raises(ValueError, match="less than the 2 conditions of the given rules"):
            kind(max_total_conditions=1, constraints=given).fit(data.X, data.Y)
        few = FOREST if kind is RuleSetClassifier else {}
        clf = kind(max_total_conditions=2, constraints=given, **few).fit(data.X, data.Y)
        assert clf.theory_.n_conditions == 2


@pytest.mark.parametrize("name", ["max_rules", "max_conditions", "max_total_conditions"])
def test_bounds_must_be_positive_integers(estimator, data, name):
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1, got 0"):
        estimator.set_params(**{name: 0}).fit(data.X, data.Y)


def test_max_rules_keeps_the_rules_with_the_best_values(data):
    every = RuleSetClassifier(phi=1.0, **FOREST).fit(data.X, data.Y).theory_
    best = RuleSetClassifier(phi=1.0, max_rules=4, **FOREST).fit(data.X, data.Y).theory_
    values = sorted((scored.value for scored in every), reverse=True)
    assert sorted((scored.value for scored in best), reverse=True) == values[:4]


def test_max_rules_of_ripper_leaves_examples_uncovered_that_the_deleted_rules_covered(data):
    theory = RipperClassifier(prune=False, max_rules=3).fit(data.X, data.Y).theory_
    fires = theory.covers(data.X)
    for j, label in enumerate(theory.labels):
        own = [i for i, scored in enumerate(theory) if scored.head.label == label.name]
        is_positive = data.Y.iloc[:, j].to_numpy() == label.target_class
        uncovered = ~fires[:, own].any(axis=1)
        assert label.uncovered_positives == (is_positive & uncovered).sum()
        assert label.uncovered_negatives == (~is_positive & uncovered).sum()


class TestLeastRules:
    @pytest.mark.parametrize(
        "estimator",
        [
            RuleSetClassifier(phi=0.05, **FOREST),
            RuleSetClassifier(min_value=0.99, **FOREST),
            RuleSetClassifierCV(phis=[0.1, 0.05], cv=2, **FOREST),
            BoostedRulesClassifier(max_rules=4, random_state=0),
        ],
        ids=["phi", "min-value", "tuned", "boosted"],
    )
    def test_every_label_keeps_a_rule(self, data, estimator):
        theory = estimator.set_params(min_rules_per_label=1).fit(data.X, data.Y).theory_
        assert all(theory.rules_of(name) for name in theory.label_names)

    def test_it_keeps_the_best_rules_of_each_label_and_all_that_phi_keeps(self, data):
        wide = RuleSetClassifier(phi=1.0, **FOREST).fit(data.X, data.Y).theory_
        thin = RuleSetClassifier(phi=0.3, **FOREST).fit(data.X, data.Y).theory_
        both = RuleSetClassifier(phi=0.3, min_rules_per_label=2, **FOREST).fit(data.X, data.Y)
        for name in wide.label_names:
            n_rules = max(len(thin.rules_of(name)), min(2, len(wide.rules_of(name))))
            assert both.theory_.rules_of(name) == wide.rules_of(name)[:n_rules]

    def test_a_path_evaluates_and_saves_what_it_keeps(self, data):
        path = theory_path(data.X, data.Y, min_rules_per_label=1, max_rules=9, **FOREST)
        again = TheoryPath.from_json(path.to_json())
        assert (again.n_kept == path.n_kept).all()
        assert path.n_kept.max() <= 9
        for h, j, predicted in again.predict_cells(data.X):
            theory = path.theory(h, path.phis[j])
            assert all(theory.rules_of(name) for name in theory.label_names)
            assert (np.asarray(theory.predict(data.X)) == predicted).all()

    @pytest.mark.parametrize("estimator", [RuleSetClassifier(), BoostedRulesClassifier()])
    def test_it_must_fit_into_max_rules(self, data, estimator):
        with pytest.raises(ValueError, match="max_rules=7 is less than .* at least 8"):
            estimator.set_params(min_rules_per_label=2, max_rules=7).fit(data.X, data.Y)


class TestWarning:
    def test_fit_names_labels_without_a_rule_what_they_get_and_what_to_do(self, data):
        Y = data.Y.assign(**{"for juice": 1 - data.Y["for juice"]})
        with pytest.warns(UserWarning, match="^no rule for 3 of 4 labels") as caught:
            clf = RuleSetClassifier(max_rules=1, **FOREST).fit(data.X, Y)
        (message,) = (str(w.message) for w in caught)
        silent = [name for name in Y if not clf.theory_.rules_of(name)]
        predicted = clf.theory_.predict(data.X)
        for name in silent:
            assert repr(name) in message
            assert len(set(predicted[name])) == 1
        assert "never predicted" in message
        assert "min_rules_per_label=1 with max_rules=4 has room" in message
        with pytest.warns(UserWarning, match="A larger phi keeps more rules"):
            RuleSetClassifier(phi=0.05, **FOREST).fit(data.X, Y)

    def test_a_bound_with_much_room_is_not_named(self, data):
        with pytest.warns(UserWarning, match="A larger phi keeps more rules") as caught:
            RuleSetClassifier(phi=0.05, max_total_conditions=100_000, **FOREST).fit(data.X, data.Y)
        (message,) = (str(w.message) for w in caught)
        assert "max_total_conditions" not in message

    def test_what_a_tuned_fit_advises_gives_each_label_a_rule(self, data):
        options = {"decode": "each-label", "condense": False, "cv": 2, "random_state": 0}
        clf = BoostedRulesClassifierCV(max_total_conditions=2, **options)
        with pytest.warns(UserWarning, match="^no rule for") as caught:
            clf.fit(data.X, data.Y)
        (message,) = (str(w.message) for w in caught)
        advised = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", message)}
        assert advised.keys() == {"min_rules_per_label", "max_total_conditions", "max_conditions"}
        theory = clf.set_params(**advised).fit(data.X, data.Y).theory_
        assert all(theory.rules_of(name) for name in theory.label_names)

    @pytest.mark.parametrize("least", [0, 1])
    @pytest.mark.parametrize("condense", [False, "predictions"])
    def test_a_total_below_what_the_labels_need_says_what_is_enough(self, data, least, condense):
        # Four labels with a rule of at most four conditions each.
        clf = BoostedRulesClassifier(min_rules_per_label=least, condense=condense, random_state=0)
        advice = (
            r"max_total_conditions=4 can be too small for their rules: min_rules_per_label=1 with "
            r"max_total_conditions=16 and max_conditions=4 has room for a rule of each of them\.$"
        )
        with pytest.warns(UserWarning, match=rf"^no rule for 2 of 4 labels: .*\)\. {advice}"):
            clf.set_params(max_total_conditions=4).fit(data.X, data.Y)
        clf.set_params(max_total_conditions=16, min_rules_per_label=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            theory = clf.fit(data.X, data.Y).theory_
        assert all(theory.rules_of(name) for name in theory.label_names)

    def test_all_bounds_that_are_too_small_are_named_and_given_rules_are_counted(self, data):
        given = Constraints(given=["for juice ← weight ≥ 250 ∧ weight < 260"])
        small = {"max_rules": 1, "max_total_conditions": 2, "constraints": given}
        message = (
            r"max_rules=1 and max_total_conditions=2 can be too small .* with max_rules=5 and "
            r"max_total_conditions=18 and max_conditions=4 has room"
        )
        with pytest.warns(UserWarning, match=message):
            BoostedRulesClassifier(**small).fit(data.X, data.Y)

    @pytest.mark.parametrize("least", [0, 1])
    def test_what_is_enough_is_not_known_if_rules_have_any_length(self, data, least):
        message = (
            r"max_total_conditions=4 can be too small for their rules: min_rules_per_label=1 with "
            r"a larger max_total_conditions has room for a rule of each of them\.$"
        )
        clf = RuleSetClassifier(max_total_conditions=4, min_rules_per_label=least, **FOREST)
        with pytest.warns(UserWarning, match=message):
            clf.fit(data.X, data.Y)

    def test_a_bound_with_room_for_all_labels_is_only_said_to_keep_more_rules(self):
        # Both rules are those of the label that the attribute tells best.
        X = pd.DataFrame({"x": [0.0, 1.0] * 50})
        Y = pd.DataFrame({"well": [0, 1] * 50, "badly": [0, 1, 1, 1, 0, 0, 0, 1, 0, 1] * 10})
        message = (
            r"^no rule for 1 of 2 labels: 'badly' .*\)\. min_rules_per_label=1 keeps a rule for each of "
            r"them\. A larger max_rules keeps more rules\.$"
        )
        with pytest.warns(UserWarning, match=message):
            BoostedRulesClassifier(max_rules=2, random_state=0).fit(X, Y)

    @pytest.mark.parametrize("bounds", [{}, {"max_total_conditions": 5, "min_rules_per_label": 1}])
    def test_no_bound_is_named_if_no_rule_was_found(self, bounds):
        # The attribute tells one of the labels.
        X = pd.DataFrame({"x": [0.0, 1.0] * 50})
        Y = pd.DataFrame({"told": [0, 1] * 50, "untold": [0, 0, 1, 1] * 25})
        with pytest.warns(UserWarning, match="^no rule for 1 of 2 labels: 'untold'") as caught:
            BoostedRulesClassifier(random_state=0, **bounds).fit(X, Y)
        (message,) = (str(w.message) for w in caught)
        assert message.endswith(
            "). No rule that was found is good enough: the attributes hardly tell them."
        )

    @pytest.mark.parametrize(
        "tuned",
        [RuleSetClassifierCV(**GRID, **FOREST), BoostedRulesClassifierCV(cv=2, random_state=0)],
    )
    def test_the_tuned_estimators_warn_once(self, data, tuned):
        with pytest.warns(UserWarning, match="^no rule for") as caught:
            tuned.set_params(max_rules=1).fit(data.X, data.Y)
        assert sum("no rule for" in str(w.message) for w in caught) == 1

    def test_nothing_is_said_if_every_label_has_a_rule_or_could_have_none(self, data):
        Y = data.Y.assign(never=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            RuleSetClassifier(min_rules_per_label=1, **FOREST).fit(data.X, Y)
            RipperClassifier().fit(data.X, data.Y.iloc[:, 0])
