"""Folds may lack a class or a category that constraints name: then these have nothing to act on."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_val_score

from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    Constraints,
    ConstraintWarning,
    MEstimate,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    constraint_cost,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:constraints:steelyard.ConstraintWarning",
    "ignore:the constraints leave no rule:steelyard.ConstraintWarning",
    "ignore:given rules cover no examples:steelyard.ConstraintWarning",
)
N_ROWS = 90
QUICK = {"n_candidates": 100, "n_trees": 2, "max_depths": (None, 2), "random_state": 0}
GRID = {"heuristics": [MEstimate(1), MEstimate(30)], "phis": [1.0, 0.4]}
PLAIN = {
    "rule set": RuleSetClassifier(**QUICK),
    "boosted": BoostedRulesClassifier(max_rules=20, random_state=0),
    "Ripper": RipperClassifier(random_state=0),
}
TUNED = {
    "rule set": RuleSetClassifierCV(**QUICK, **GRID, cv=KFold(3)),
    "boosted": BoostedRulesClassifierCV(cv=KFold(3), max_rules=20, random_state=0),
}


@pytest.fixture
def table():
    """A category, and with `rare_class` a class, that only the first rows have: one fold lacks them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.random(N_ROWS), "skin": rng.choice(["rough", "smooth"], N_ROWS)})
    X["skin"] = X["skin"].astype(object)
    X.loc[:9, "skin"] = "golden"
    return X


@pytest.fixture
def labels(table):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "jam": (table["size"] > 0.5) ^ (rng.random(N_ROWS) < 0.1),
            "pie": (table["skin"] != "smooth") ^ (rng.random(N_ROWS) < 0.1),
        }
    ).astype(int)


@pytest.fixture
def classes(table):
    found = np.where(table["size"] > 0.5, "large", "small")
    found[:10] = "rare"
    return found


OF_CATEGORY = Constraints(
    given=["pie <- skin = golden"],
    for_label={"jam": Constraints(forbidden_conditions=["skin = golden"])},
)
OF_CLASS = Constraints(
    given=["rare <- size >= 0.99"], for_label={"rare": Constraints(max_conditions=2)}
)


@pytest.mark.parametrize("name", TUNED)
class TestTuning:
    def test_a_fold_may_lack_a_category(self, name, table, labels):
        clf = TUNED[name].set_params(constraints=OF_CATEGORY).fit(table, labels)
        assert OF_CATEGORY.violations(clf.theory_) == []

    def test_a_fold_may_lack_a_class(self, name, table, classes):
        clf = TUNED[name].set_params(constraints=OF_CLASS).fit(table, classes)
        assert OF_CLASS.violations(clf.theory_) == []


@pytest.mark.parametrize("name", PLAIN)
class TestCrossValidation:
    def test_a_fold_may_lack_a_category(self, name, table, labels):
        clf = PLAIN[name].set_params(constraints=OF_CATEGORY)
        scores = cross_val_score(clf, table, labels, cv=KFold(3), error_score="raise")
        assert np.isfinite(scores).all()

    def test_a_fold_may_lack_a_class(self, name, table, classes):
        clf = PLAIN[name].set_params(constraints=OF_CLASS)
        scores = cross_val_score(clf, table, classes, cv=KFold(3), error_score="raise")
        assert np.isfinite(scores).all()

    def test_the_cost_of_constraints_needs_no_complete_folds(self, name, table, labels, classes):
        for y, wanted in ((labels, OF_CATEGORY), (classes, OF_CLASS)):
            clf = PLAIN[name].set_params(constraints=None)
            cost = constraint_cost(clf, table, y, wanted, cv=KFold(3), each=True)
            assert wanted.violations(cost.theories["with"]) == []


@pytest.mark.parametrize("name", TUNED)
def test_what_constraints_cost_is_one_call_for_tuned_estimators(name, table, labels):
    clf = TUNED[name].set_params(constraints=Constraints(forbidden=["size"]))
    cost = constraint_cost(clf, table, labels, cv=2)
    frame = cost.to_frame()
    assert list(frame.columns) == ["without", "with", "change", "error"]
    assert frame.loc["f1_micro", "with"] < frame.loc["f1_micro", "without"]


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_left_out_is_told_in_one_sentence(name, table, classes):
    is_common = classes != "rare"
    clf = PLAIN[name].set_params(constraints=OF_CLASS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(table[is_common], classes[is_common])
    told = [str(w.message) for w in caught if issubclass(w.category, ConstraintWarning)]
    assert told[0] == "constraints: the training examples give no rules to the class 'rare'"


@pytest.mark.parametrize("estimator", [*PLAIN.values(), *TUNED.values()])
def test_a_label_without_rules_is_told_in_one_sentence(estimator, table, labels):
    clf = estimator.set_params(
        constraints=Constraints(for_label={"jam": Constraints(forbidden=["size", "skin"])})
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(table, labels)
    told = [str(w.message) for w in caught if issubclass(w.category, ConstraintWarning)]
    assert told == ["the constraints leave no rule for the label 'jam'"]
