"""Boosting against theory: it lowers the logistic loss and ends at logistic regression on its rules.

Nothing here knows how the rules are grown: losses and optima come from formulas and scikit-learn.
"""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from planted_targets import make_three_labels
from steelyard.learning.boosted_rules import REUSE
from steelyard.learning.boosting import STEP, Budget, LabelTask, finish_label, grow_label
from steelyard.learning.sampling import draw_orders
from steelyard.learning.settings import BoostingSettings
from steelyard.learning.training_table import code_training_table
from steelyard.model.coverage import cover, index_rows, unpack


def logit(p):
    return math.log(p / (1 - p))


def logistic_loss(log_odds, is_present):
    """-Σ log P(y), in which P is that of the log-odds."""
    return np.logaddexp(0, np.where(is_present, -log_odds, log_odds)).sum()


class Boosted:
    """Rules of one label: what they cover, and the votes in the order in which they were given."""

    def __init__(self, X, is_present, budget, m=16.0, **settings):
        training = code_training_table(X)
        index = index_rows(training.coded)
        (order,) = draw_orders(training.coded, is_present[None])
        settings = BoostingSettings(**settings)
        label = LabelTask(is_present, order)
        grown = grow_label(index, m, settings, 0, budget, label)
        rules = finish_label(index, [m], settings, None, label, [grown])
        self.is_present = is_present
        self.start = logit(is_present.mean())
        self.covered = unpack(cover(rules.table, index), len(X)).T.astype(float)
        (self.votes,) = rules.choices

    def weights_after(self, n_votes):
        """Log-odds that each rule has been given by the first votes."""
        idx, points = self.votes.rule_idx[:n_votes], self.votes.points[:n_votes]
        return np.bincount(idx, points / 100, minlength=self.covered.shape[1])

    def loss_after(self, n_votes):
        log_odds = self.start + self.covered @ self.weights_after(n_votes)
        return logistic_loss(log_odds, self.is_present)


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.1)


@pytest.fixture(scope="module")
def half():
    """A table of noisy attributes, and a label that exactly half of the examples have."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 4, (600, 5)), columns=list("abcde"))
    strength = X["a"] - X["b"] * (X["c"] > 1) + 3 * rng.random(600)
    return X, np.asarray(strength.rank(method="first") > 300)


class TestLoss:
    @pytest.mark.parametrize("budget", [Budget(15, 45, REUSE), Budget(100, 100, math.inf)])
    @pytest.mark.parametrize("m", [0.0, 16.0, 256.0])
    @pytest.mark.parametrize("label", range(3))
    def test_every_vote_lowers_it(self, data, label, m, budget):
        X, Y = data
        boosted = Boosted(X, Y.iloc[:, label].to_numpy(dtype=bool), budget, m)
        n_votes = len(boosted.votes.points)
        assert n_votes > 5
        losses = [boosted.loss_after(n) for n in range(n_votes + 1)]
        assert losses[0] == pytest.approx(-120 * _entropy(boosted.is_present.mean()))
        assert (np.diff(losses) < 0).all()


def _entropy(p):
    return p * math.log(p) + (1 - p) * math.log(1 - p)


class TestOneRule:
    """An attribute of two values and room for one rule: every vote goes to the same indicator."""

    def boost(self, n_covered, n_right, m, n_choices=10_000):
        X = pd.DataFrame({"x": [1.0] * n_covered + [np.nan] * 60 + [0.0]})
        is_present = np.r_[np.arange(n_covered) < n_right, np.arange(61) < 20]
        boosted = Boosted(X, is_present, Budget(1, n_choices, REUSE), m, max_conditions=1)
        (column,) = boosted.covered.T
        assert column.tolist() == [1.0] * n_covered + [0.0] * 61
        return boosted

    @pytest.mark.parametrize("m", [0.0, 4.0, 64.0])
    @pytest.mark.parametrize(("n_covered", "n_right"), [(40, 30), (50, 5), (200, 150), (8, 7)])
    def test_its_weight_ends_at_its_own_log_odds(self, n_covered, n_right, m):
        boosted = self.boost(n_covered, n_right, m)
        (weight,) = boosted.weights_after(None)
        precision = n_right / n_covered
        # The maximum-likelihood weight of the rule's indicator, beside a fixed intercept.
        optimum = logit(precision) - boosted.start
        # It stops when the next vote rounds to no point: half a point, in steps of STEP, of a slope
        # that m further examples dampen.
        curvature = n_covered * precision * (1 - precision)
        prior = boosted.is_present.mean()
        rounding = 0.005 / STEP * (1 + m * prior * (1 - prior) / curvature)
        assert abs(weight - optimum) < 1.1 * rounding + 0.005
        assert abs(optimum) > 2 * rounding

    @pytest.mark.parametrize("m", [0.0, 4.0, 64.0])
    @pytest.mark.parametrize(("n_covered", "n_right"), [(40, 30), (50, 5), (200, 150)])
    def test_a_vote_is_a_share_of_newtons_step(self, n_covered, n_right, m):
        boosted = self.boost(n_covered, n_right, m, n_choices=1)
        prior = boosted.is_present.mean()
        is_present = boosted.is_present[:n_covered]

        def loss(weight):
            """Of what the rule covers, and of m examples of the prior distribution."""
            log_odds = boosted.start + weight
            pseudo = prior * np.logaddexp(0, -log_odds) + (1 - prior) * np.logaddexp(0, log_odds)
            return logistic_loss(np.full(n_covered, log_odds), is_present) + m * pseudo

        h = 1e-4
        slope = (loss(h) - loss(-h)) / (2 * h)
        curvature = (loss(h) - 2 * loss(0) + loss(-h)) / h**2
        step = -slope / curvature
        assert abs(step) < 4  # below the bound of a weight
        assert boosted.votes.points.tolist() == [round(100 * STEP * step)]


class TestSeveralRules:
    @pytest.mark.parametrize("n_rules", [2, 5, 9])
    def test_votes_end_at_logistic_regression_on_the_rules(self, half, n_rules):
        # With as many positives as negatives the votes start at 0, so that scikit-learn needs no offset.
        X, is_present = half
        boosted = Boosted(X, is_present, Budget(n_rules, 5000, REUSE), 1.0)
        assert boosted.start == 0
        assert boosted.covered.shape[1] == n_rules
        assert n_rules < len(boosted.votes.points) < 5000
        regression = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
        regression.fit(boosted.covered, is_present)
        best = logistic_loss(boosted.covered @ regression.coef_[0], is_present)
        losses = [boosted.loss_after(n) for n in (0, n_rules, None)]
        assert losses[-1] >= best - 1e-6
        assert losses[-1] - best < 0.002 * (losses[0] - best)
        assert losses[1] - best > 0.02 * (losses[0] - best)  # one vote per rule is not enough
        np.testing.assert_allclose(boosted.weights_after(None), regression.coef_[0], atol=0.1)
