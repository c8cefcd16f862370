"""Condensing: a few of many rules that vote, with votes that predict nearly what all rules predict."""

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
from steelyard.learning.condensing import GROWN_PER_KEPT
from steelyard.learning.paths import Bounds
from steelyard.learning.settings import BoostingSettings
from steelyard.learning.targets import encode_targets

pytestmark = pytest.mark.filterwarnings("ignore:no rule can test")

N_RULES = 20
SMALL = {"max_rules": N_RULES, "n_tries": 3, "random_state": 0}
M = 4.0


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.1)


def boosted(**options):
    return BoostedRulesClassifier(M, **(SMALL | {"decode": "each-label"} | options))


@pytest.fixture(scope="module")
def theories(data):
    """A condensed theory, all rules that it was condensed from, and one that was not condensed."""
    condensed = boosted(condense=True).fit(*data).theory_
    every = boosted(max_rules=GROWN_PER_KEPT * N_RULES).fit(*data).theory_
    return condensed, every, boosted().fit(*data).theory_


def votes_of(theory):
    return {str(scored.rule): scored.vote for scored in theory}


def probabilities(theory, X):
    return 1 / (1 + np.exp(-theory.evaluate(X).scores / 100))


def distance(theory, every, X):
    """Mean cross-entropy between the probabilities of all rules and those of a theory."""
    wanted, found = probabilities(every, X), theory.evaluate(X).scores / 100
    return (np.logaddexp(0, found) - wanted * found).mean()


def test_the_rules_are_some_of_those_that_were_grown_and_keep_their_signs(theories):
    condensed, every, _ = theories
    before, after = votes_of(every), votes_of(condensed)
    assert len(every) == GROWN_PER_KEPT * N_RULES
    assert len(condensed) == N_RULES
    assert set(after) < set(before)
    assert all(vote * before[rule] > 0 for rule, vote in after.items())


def test_they_predict_nearly_what_all_rules_predict(data, theories):
    condensed, every, plain = theories
    least = distance(every, every, data[0])
    assert distance(condensed, every, data[0]) - least < (
        0.5 * (distance(plain, every, data[0]) - least)
    )


def test_the_votes_are_those_of_a_general_optimiser(data, theories):
    condensed, every, _ = theories
    X, Y = data
    fires, wanted = condensed.evaluate(X).fires, probabilities(every, X)
    for j, name in enumerate(condensed.label_names):
        own = [r for r, scored in enumerate(condensed) if scored.head.label == name]
        start, share = condensed.combiner.start[j] / 100, np.asarray(Y)[:, j].mean()
        l2 = M * share * (1 - share)

        def penalised(votes, own=own, start=start, l2=l2, q=wanted[:, j]):
            z = fires[:, own] @ votes + start
            return (np.logaddexp(0, z) - q * z).sum() + l2 / 2 * votes @ votes

        best = minimize(penalised, np.zeros(len(own)), method="BFGS").x
        found = [list(condensed)[r].vote / 100 for r in own]
        assert found == pytest.approx(best, abs=0.0051 + 1e-3)


def test_the_rule_that_is_worth_least_is_the_one_whose_loss_costs_least(data, theories):
    """Of the rules of one label, leaving out the one with the smallest value raises the loss least."""
    condensed, every, _ = theories
    X, Y = data
    name = condensed.label_names[0]
    own = [r for r, scored in enumerate(condensed) if scored.head.label == name]
    fires, q = condensed.evaluate(X).fires, probabilities(every, X)[:, 0]
    start, share = condensed.combiner.start[0] / 100, np.asarray(Y)[:, 0].mean()
    l2 = M * share * (1 - share)

    def loss_of(rules):
        def penalised(votes):
            z = fires[:, rules] @ votes + start
            return (np.logaddexp(0, z) - q * z).sum() + l2 / 2 * votes @ votes

        return minimize(penalised, np.zeros(len(rules)), method="BFGS").fun

    costs = [loss_of([r for r in own if r != left_out]) for left_out in own]
    values = [list(condensed)[r].value for r in own]
    # The worth is that of a quadratic loss, so the order need not be the same all the way.
    assert np.corrcoef(costs, values)[0, 1] > 0.9
    assert 2 * (np.array(costs) - loss_of(own)) == pytest.approx(values, rel=0.5)


def test_a_theory_within_the_bounds_stays_as_it_is():
    """Two labels that one attribute tells need fewer rules than they may have."""
    x = np.linspace(0, 1, 60)
    X, Y = pd.DataFrame({"x": x}), np.column_stack((x > 0.5, x < 0.2)).astype(int)
    condensed = boosted(max_rules=200, condense=True).fit(X, Y).theory_
    every = boosted(max_rules=GROWN_PER_KEPT * 200).fit(X, Y).theory_
    assert len(every) < 200
    assert votes_of(every) == votes_of(condensed)


@pytest.mark.parametrize("bound", [12, 30])
def test_the_conditions_of_all_rules_are_bounded(data, bound):
    theory = boosted(max_total_conditions=bound, condense=True).fit(*data).theory_
    assert 0.6 * bound <= theory.n_conditions <= bound


def test_labels_keep_the_rules_that_they_are_promised(data):
    theory = boosted(max_rules=6, min_rules_per_label=2, condense=True).fit(*data).theory_
    assert all(len(theory.rules_of(name)) == 2 for name in theory.label_names)


def test_a_given_rule_stays_and_votes_for_its_head():
    data = make_planted_rules(200, random_state=0)
    label = data.Y.columns[0]
    wrong = Rule.parse(f"{label} ← diameter < 100")  # it covers everything, so it says nothing
    constraints = Constraints(given=[wrong])
    clf = boosted(constraints=constraints, condense=True).fit(data.X, data.Y)
    (given,) = [scored for scored in clf.theory_ if scored.provenance.source == "given"]
    assert given.points >= 1
    assert len(clf.theory_) <= N_RULES


def test_weights_count(data):
    """A weight of two for all examples and twice the prior is the same task."""
    X, Y = data
    settings = BoostingSettings(max_rules=N_RULES, n_tries=3, condense=True)
    one = learn_boosted_rules(X, encode_targets(Y), [M], settings)
    weights = np.full(len(X), 2.0)
    two = learn_boosted_rules(X, encode_targets(Y).weigh(weights), [2 * M], settings)
    assert votes_of(one.theory()) == votes_of(two.theory())


def test_the_result_does_not_depend_on_the_order_of_rows_or_on_jobs(data):
    X, Y = (pd.DataFrame(part) for part in data)
    theory = boosted(condense=True).fit(X, Y).theory_
    order = np.random.default_rng(3).permutation(len(X))
    assert boosted(condense=True).fit(X.iloc[order], Y.iloc[order]).theory_ == theory
    assert boosted(condense=True, n_jobs=2).fit(X, Y).theory_ == theory


def test_tuning_tries_both_and_finds_the_theory_of_the_better_one(data):
    options = {"cv": 3, "calibrate": False, "decode": "each-label", "ms": [M]} | SMALL
    both = BoostedRulesClassifierCV("hamming", **options).fit(*data)
    scores = dict(
        zip(both.cv_results_["condense"], both.cv_results_["mean_test_score"], strict=True)
    )
    assert set(scores) == {False, True}
    for condense in (False, True):
        one = BoostedRulesClassifierCV("hamming", condense=condense, **options).fit(*data)
        assert one.best_score_ == scores[condense]
        if condense == both.best_params_["condense"]:
            assert one.theory_.to_json() == both.theory_.to_json()


def test_it_does_not_apply_to_rules_for_several_labels(data):
    with pytest.raises(ValueError, match="condense does not apply to rules for several labels"):
        boosted(max_labels_per_rule=2, condense=True).fit(*data)
    cells = BoostedRulesClassifierCV(max_labels_per_rule=2).list_cells()
    assert {cell["condense"] for cell in cells} == {False}


@pytest.mark.parametrize("kind", [BoostedRulesClassifier, BoostedRulesClassifierCV])
def test_anything_but_true_and_false_is_rejected(kind, data):
    with pytest.raises(ValueError, match="condense must be True or False, got 'yes'"):
        kind(condense="yes").fit(*data)


def test_wider_bounds_have_more_of_everything_but_promised_rules():
    assert Bounds(10, 2, 40).widen(3) == Bounds(30, 2, 120)
    assert Bounds().widen(3) == Bounds()
