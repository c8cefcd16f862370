"""Votes that are fitted together: a logistic regression on the rules that keeps their signs."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from planted_targets import make_three_labels
from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    Constraints,
    Rule,
    make_planted_rules,
)
from steelyard.learning.boosting import learn_boosted_rules
from steelyard.learning.refitting import refit_votes
from steelyard.learning.settings import BoostingSettings
from steelyard.learning.targets import encode_targets

pytestmark = pytest.mark.filterwarnings("ignore:no rule can test")

SMALL = {"max_rules": 40, "n_tries": 3, "random_state": 0}
M = 4.0


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.1)


def boosted(**options):
    return BoostedRulesClassifier(M, **(SMALL | options))


def votes_of(theory):
    return {str(scored.rule): scored.vote for scored in theory}


def loss(theory, X, Y, weights=None):
    """The penalised logistic loss of each label, and its gradient in the votes of its rules."""
    fires = theory.evaluate(X).fires
    weights = np.ones(len(X)) if weights is None else weights
    found = []
    for j, name in enumerate(theory.label_names):
        own = [r for r, scored in enumerate(theory) if scored.head.label == name]
        votes = np.array([list(theory)[r].vote for r in own]) / 100
        y = np.asarray(Y)[:, j]
        share = np.average(y, weights=weights)
        l2 = M * share * (1 - share)
        z = fires[:, own] @ votes + theory.combiner.start[j] / 100
        total = weights @ np.logaddexp(0, np.where(y, -z, z)) + l2 / 2 * votes @ votes
        slope = fires[:, own].T @ (weights * (1 / (1 + np.exp(-z)) - y)) + l2 * votes
        found.append((total, slope))
    return found


def test_no_other_votes_have_a_smaller_loss(data):
    X, Y = data
    before, after = (boosted(refit_votes=refit).fit(X, Y).theory_ for refit in (False, True))
    for (old, _), (new, slope) in zip(loss(before, X, Y), loss(after, X, Y), strict=True):
        assert new < old
        # Votes are rounded to hundredths, and the curvature is at most a quarter per example.
        assert np.abs(slope).max() < 0.005 * len(X) / 4 * len(slope) ** 0.5


def test_they_are_those_of_a_general_optimiser(data):
    X, Y = data
    theory = boosted(refit_votes=True).fit(X, Y).theory_
    fires = theory.evaluate(X).fires
    own = [r for r, scored in enumerate(theory) if scored.head.label == theory.label_names[0]]
    y, start = np.asarray(Y)[:, 0], theory.combiner.start[0] / 100
    l2 = M * y.mean() * (1 - y.mean())

    def penalised(votes):
        z = fires[:, own] @ votes + start
        return np.logaddexp(0, np.where(y, -z, z)).sum() + l2 / 2 * votes @ votes

    wanted = minimize(penalised, np.zeros(len(own)), method="BFGS").x
    found = [list(theory)[r].vote / 100 for r in own]
    assert found == pytest.approx(wanted, abs=0.0051 + 1e-3)


def test_no_vote_changes_its_sign(data):
    before, after = (votes_of(boosted(refit_votes=r).fit(*data).theory_) for r in (False, True))
    assert set(after) <= set(before)
    assert all(vote * before[rule] > 0 for rule, vote in after.items())


def twins(n_rows=200):
    """A label that x tells, and an attribute that agrees with x nearly everywhere."""
    rng = np.random.default_rng(0)
    x = rng.random(n_rows)
    y = (x > 0.5) ^ (rng.random(n_rows) < 0.1)
    return pd.DataFrame({"x": x, "twin": x + 0.05 * rng.standard_normal(n_rows)}), y.astype(int)


def learned(X, y, **options):
    settings = BoostingSettings(**({"max_rules": 60, "n_tries": 3} | options))
    return learn_boosted_rules(X, encode_targets(y), [M], settings), encode_targets(y)


def test_a_rule_that_would_turn_is_left_out_or_kept_with_one_point():
    X, y = twins()
    path, targets = learned(X, y)
    dropped = refit_votes(path, X, targets, [M]).theory()
    kept = refit_votes(path, X, targets, [M], keeps_rules=True).theory()
    before = votes_of(path.theory())
    left_out = set(before) - set(votes_of(dropped))
    assert left_out
    assert set(votes_of(kept)) == set(before)
    assert all(abs(votes_of(kept)[rule]) == 1 for rule in left_out)


def test_labels_keep_the_rules_that_they_are_promised(data):
    theory = boosted(max_rules=6, min_rules_per_label=2, refit_votes=True).fit(*data).theory_
    assert all(len(theory.rules_of(name)) >= 2 for name in theory.label_names)


def test_a_given_rule_stays_and_votes_for_its_head():
    data = make_planted_rules(200, random_state=0)
    label = data.Y.columns[0]
    wrong = Rule.parse(f"{label} ← diameter < 100")  # it covers everything, so it says nothing
    constraints = Constraints(given=[wrong])
    clf = boosted(constraints=constraints, refit_votes=True).fit(data.X, data.Y)
    (given,) = [scored for scored in clf.theory_ if scored.provenance.source == "given"]
    assert given.points >= 1


def test_integer_weights_are_copies(data):
    X, Y = (part.reset_index(drop=True) for part in map(pd.DataFrame, data))
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    path, targets = learned(X, Y)
    copies = refit_votes(path, X.iloc[rows], encode_targets(Y.iloc[rows]), [M])
    weighed = refit_votes(path, X, targets.weigh(weights.astype(float)), [M])
    for of_copies, of_weights in zip(copies.ranked, weighed.ranked, strict=True):
        assert of_weights.rule_idx.tolist() == of_copies.rule_idx.tolist()
        assert of_weights.votes.tolist() == of_copies.votes.tolist()


def test_tuning_grows_the_rules_once_and_finds_the_same(data):
    X, Y = data
    options = {"cv": 3, "calibrate": False, "decode": "each-label", "ms": [M]} | SMALL
    both = BoostedRulesClassifierCV("hamming", **options).fit(X, Y)
    scores = dict(
        zip(both.cv_results_["refit_votes"], both.cv_results_["mean_test_score"], strict=True)
    )
    for refit in (False, True):
        one = BoostedRulesClassifierCV("hamming", refit_votes=refit, **options).fit(X, Y)
        assert one.best_score_ == scores[refit]
        if refit == both.best_params_["refit_votes"]:
            assert one.theory_.to_json() == both.theory_.to_json()


@pytest.mark.parametrize("kind", [BoostedRulesClassifier, BoostedRulesClassifierCV])
def test_anything_but_true_and_false_is_rejected(kind, data):
    with pytest.raises(ValueError, match="refit_votes must be True or False, got 'yes'"):
        kind(refit_votes="yes").fit(*data)
