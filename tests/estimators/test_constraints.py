"""No theory of any estimator violates a constraint, on small random data full of ties."""

import math
import warnings
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from reference.constraints import violates
from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    Condition,
    Constraints,
    ConstraintWarning,
    Head,
    MEstimate,
    RipperClassifier,
    Rule,
    RuleSetClassifier,
    RuleSetClassifierCV,
)
from steelyard.model.tables import NominalColumn, column_names, table_to_columns
from strategies import data_sets, tables

QUICK = {"n_candidates": 60, "n_trees": 2, "max_depths": (None, 2)}
GRID = {"heuristics": [MEstimate(1), MEstimate(30)], "phis": [1.0, 0.4], "cv": 2}
ESTIMATORS = {
    "rule set": RuleSetClassifier(phi=1.0, **QUICK),
    "rule set, each time the best half": RuleSetClassifier("wra", revalidate=False, **QUICK),
    "pruned rule set that votes": RuleSetClassifier(prune="oob", decode="best-label-set", **QUICK),
    "tuned rule set": RuleSetClassifierCV(**QUICK, **GRID),
    "boosted": BoostedRulesClassifier(max_rules=30, m=1, n_tries=3),
    "boosted, rules chosen again": BoostedRulesClassifier(max_rules=6, m=0.1, max_features=1.0),
    "tuned boosted": BoostedRulesClassifierCV(cv=2, max_rules=20, n_tries=3),
    "Ripper": RipperClassifier(),
    "unpruned Ripper": RipperClassifier(prune=False, check_error=False, min_weight=0.0),
}


def fit(estimator, X, y, constraints, seed=0):
    """The estimator with the constraints, fitted; labels without rules are allowed."""
    model = clone(estimator).set_params(constraints=constraints, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "no rule for")
        return model.fit(X, y)


def features_of(X):
    """Names of the numeric attributes, and the nominal ones with their categories."""
    numeric, nominal = [], {}
    for name, column in zip(column_names(X), table_to_columns(X), strict=True):
        if isinstance(column, NominalColumn):
            nominal[name] = column.categories
        else:
            numeric.append(name)
    return numeric, nominal


@st.composite
def conditions(draw, X):
    """A condition on an attribute of a table, at bounds that need not be among its values."""
    numeric, nominal = features_of(X)
    name = draw(
        st.sampled_from([*numeric, *(n for n, known in nominal.items() if known)] or [None])
    )
    if name in nominal:
        known = nominal[name]
        return Condition(name, "in", draw(st.lists(st.sampled_from(known), min_size=1)))
    bounds = st.sampled_from([-1.5, -0.3, 0.0, 0.05, 0.1, 0.15, 0.2, 1.0, 3.0, 7.0])
    return Condition(name, draw(st.sampled_from(["<", "≤", "≥"])), draw(bounds))


def some(names, most=3):
    return st.lists(st.sampled_from(names), max_size=most, unique=True) if names else st.just([])


@st.composite
def label_constraints(draw, X):
    """Constraints of all kinds but given rules and single labels, few of each."""
    numeric, nominal = features_of(X)
    names = [*numeric, *nominal]
    forbidden = draw(some(names, 1))
    preferred = [name for name in draw(some(names)) if name not in forbidden]
    increasing = draw(some(numeric))
    decreasing = [name for name in draw(some(numeric)) if name not in increasing]
    pairs = st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True)
    can_test = numeric or any(nominal.values())
    return Constraints(
        forbidden=forbidden,
        preferred=preferred,
        preference=draw(st.sampled_from([0.05, 0.5, 1.0])),
        increasing=draw(st.sampled_from([[], increasing])),
        decreasing=draw(st.sampled_from([[], decreasing])),
        apart=draw(st.lists(pairs, max_size=2)) if len(names) > 1 else [],
        forbidden_conditions=draw(st.lists(conditions(X), max_size=2)) if can_test else [],
        max_conditions=draw(st.sampled_from([None, 1, 2])),
        min_covered=draw(st.sampled_from([0, 0, 2, 5])),
        min_tp=draw(st.sampled_from([0, 0, 2, 4])),
    )


@st.composite
def problems(draw):
    """A data set and constraints on all labels and on one of them."""
    X, Y = draw(data_sets(min_rows=6, max_rows=40))
    constraints = draw(label_constraints(X))
    try:
        one = {draw(st.sampled_from(list(Y))): draw(label_constraints(X))}
        constraints = Constraints(**vars(constraints) | {"for_label": one})
    except ValueError:  # they exclude each other
        pass
    return X, Y, constraints


class TestEveryEstimator:
    @pytest.mark.parametrize("name", ESTIMATORS)
    @settings(max_examples=15)
    @given(problem=problems(), seed=st.integers(0, 99))
    def test_learns_no_rule_that_violates_a_constraint(self, name, problem, seed):
        X, Y, constraints = problem
        theory = fit(ESTIMATORS[name], X, Y, constraints, seed).theory_
        assert [str(scored) for scored in theory if violates(constraints, scored)] == []
        assert constraints.violations(theory) == []

    @pytest.mark.parametrize("name", ESTIMATORS)
    @settings(max_examples=10)
    @given(X=tables(min_rows=9, max_rows=40), data=st.data())
    def test_learns_no_such_rule_for_classes(self, name, X, data):
        n_classes = data.draw(st.integers(2, 3))
        y = np.array(["a", "b", "c"])[np.arange(len(X)) % n_classes]
        constraints = data.draw(label_constraints(X))
        estimator = clone(ESTIMATORS[name])
        if hasattr(estimator, "decode"):
            estimator.set_params(decode=None)  # classes have no label sets
        theory = fit(estimator, X, y, constraints).theory_
        assert constraints.violations(theory) == []

    @pytest.mark.parametrize("name", ESTIMATORS)
    @settings(max_examples=7)
    @given(data_set=data_sets(min_rows=6, max_rows=30), data=st.data())
    def test_keeps_given_rules(self, name, data_set, data):
        X, Y = data_set
        numeric, nominal = features_of(X)
        if not numeric and not any(nominal.values()):
            return
        classes = {label: data.draw(st.integers(0, 1)) for label in Y}
        bodies = data.draw(st.lists(st.tuples(conditions(X), conditions(X)), max_size=3))
        rules = []
        for body in bodies:
            label = data.draw(st.sampled_from(list(Y)))
            rules.append(Rule(Head(label, classes[label]), body))
        can_fire = [rule for rule in rules if not any(c.is_empty for c in rule.body)]
        constraints = Constraints(given=list(dict.fromkeys(can_fire)), min_tp=2)
        theory = fit(ESTIMATORS[name], X, Y, constraints).theory_
        assert constraints.violations(theory) == []
        for scored in theory:
            covered = scored.rule.covers(X)
            has_head = Y[scored.head.label] == scored.head.target_class
            assert scored.tp == (covered & has_head).sum()
            assert scored.tp + scored.fp == covered.sum()

    @pytest.mark.parametrize("name", ESTIMATORS)
    @settings(max_examples=5)
    @given(data_set=data_sets(min_rows=6, max_rows=30))
    def test_without_a_demand_constraints_change_nothing(self, name, data_set):
        X, Y = data_set
        free, empty = (fit(ESTIMATORS[name], X, Y, c).theory_ for c in (None, Constraints()))
        assert free == empty


# -- constraints that the free theory violates -----------------------------------------------------


@lru_cache
def make_problem(seed):
    """Labels that depend on several attributes, with noise: every method learns longer rules."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{j}": rng.integers(0, 6, 80) / 2 for j in range(3)})
    X["n"] = rng.choice(["blue", "green", "red"], 80)
    Y = {
        "a": (X["x0"] >= 1.5) & (X["x1"] < 2) & (X["n"] != "red"),
        "b": ((X["x1"] < 1) & (X["x2"] >= 1)) | (X["n"] == "blue") & (X["x0"] < 1),
    }
    noise = rng.random((80, 2)) < 0.05
    return X, pd.DataFrame(np.column_stack(list(Y.values())) ^ noise, columns=list(Y)).astype(int)


def forbid_attribute(scored):
    return {"forbidden": [scored.body[0].feature]}


def forbid_condition(scored):
    return {"forbidden_conditions": [scored.body[-1]]}


def keep_apart(scored):
    return {"apart": [[condition.feature for condition in scored.body[:2]]]}


def reverse_direction(scored):
    """The direction that a bound of the rule does not have."""
    bounds = [condition for condition in scored.body if not condition.is_nominal]
    is_lower = bounds[0].low > -math.inf
    is_against = is_lower == (scored.head.target_class == 1)
    return {"decreasing" if is_against else "increasing": [bounds[0].feature]}


VIOLATED = {
    "forbidden": forbid_attribute,
    "forbidden_conditions": forbid_condition,
    "apart": keep_apart,
    "directions": reverse_direction,
    "max_conditions": lambda scored: {"max_conditions": len(scored) - 1},
    "min_covered": lambda scored: {"min_covered": scored.tp + scored.fp + 1},
    "min_tp": lambda scored: {"min_tp": scored.tp + 1},
}


def is_long(scored):
    """Whether a rule tests two attributes, one of them numeric, so that all kinds can forbid it."""
    is_numeric = [not condition.is_nominal for condition in scored.body]
    return len(scored.body) > 1 and any(is_numeric)


@lru_cache
def list_long_rules(name):
    """The first long rule of each of two free theories, with the seed that learns it."""
    found = []
    for seed in range(4):
        theory = fit(ESTIMATORS[name], *make_problem(seed), None, seed).theory_
        found += [(seed, scored) for scored in theory if is_long(scored)][:1]
        if len(found) == 2:
            return found
    raise AssertionError(f"{name} learns no long rules")


@pytest.mark.parametrize("kind", VIOLATED)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_rule_that_a_constraint_forbids_is_not_learned_again(name, kind):
    """The same seed learns the rule without the constraint, so a learner that ignores it is caught."""
    for is_for_label, (seed, scored) in enumerate(list_long_rules(name)):
        wanted = Constraints(**VIOLATED[kind](scored))
        if is_for_label:
            wanted = Constraints(for_label={scored.head.label: wanted})
        assert violates(wanted, scored)
        theory = fit(ESTIMATORS[name], *make_problem(seed), wanted, seed).theory_
        assert [str(found) for found in theory if violates(wanted, found)] == []
