"""Calibration: a sigmoid per label, and theories whose scores are the calibrated ones."""

from dataclasses import replace

import numpy as np
import pytest

from reference.calibration import fit_sigmoid
from steelyard.measures import SCORE_MEASURES
from steelyard.model import calibrating as module
from steelyard.model.calibrating import apply_calibration, find_points, fit_calibration
from steelyard.model.combiner import Calibration
from steelyard.model.theory import Theory
from theories import DECIDING_PAIRS, VOTING_PAIRS, random_cases


def draw(seed, n_rows=300, n_labels=4):
    """Log-odds and labels that they order, each label in its own way."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(rng.uniform(-3, 1, n_labels), rng.uniform(0.2, 3), (n_rows, n_labels))
    sure = rng.uniform(-0.5, 2, n_labels)
    p = 1 / (1 + np.exp(-(sure * log_odds + rng.normal(size=n_labels))))
    return 100 * log_odds, rng.random((n_rows, n_labels)) < p


def random_calibration(rng, n_labels):
    return Calibration(rng.uniform(0.2, 2, n_labels), rng.uniform(-150, 150, n_labels))


class TestFitting:
    @pytest.mark.parametrize("seed", range(5))
    def test_it_is_the_penalised_sigmoid_of_each_label(self, seed):
        points, is_present = draw(seed)
        strengths = (module.SLOPE_STRENGTH, module.SHIFT_STRENGTH, module.LEAST_SLOPE)
        shared = fit_sigmoid(points.ravel() / 100, is_present.ravel(), 1, 0, *strengths)
        slope, shift = fit_calibration(points, is_present)
        for j in range(points.shape[1]):
            expected = fit_sigmoid(points[:, j] / 100, is_present[:, j], *shared, *strengths)
            assert (slope[j], shift[j] / 100) == pytest.approx(expected, abs=2e-3)

    def test_many_examples_are_as_often_positive_as_their_probability_says(self):
        points, is_present = draw(0, n_rows=20_000)
        slope, shift = fit_calibration(points, is_present)
        p = 1 / (1 + np.exp(-(slope * points + shift) / 100))
        assert p.mean(axis=0) == pytest.approx(is_present.mean(axis=0), abs=1e-3)

    def test_calibrated_scores_order_examples_as_before(self):
        points, _ = draw(0)
        slope, _ = fit_calibration(points, points < 0)  # the other way round
        assert slope.tolist() == pytest.approx([module.LEAST_SLOPE] * 4)

    def test_few_positives_give_the_slope_of_the_other_labels(self):
        points, is_present = draw(1, n_rows=3000)
        points[:, 0], is_present[:, 0] = points[:, 1], False
        slope, shift = fit_calibration(points, is_present)
        shared, _ = fit_calibration(points, is_present, is_shared=True)
        assert abs(slope[0] - shared[0]) < abs(slope - shared)[1:].max()
        assert np.isfinite(shift).all()

    def test_a_weight_is_a_number_of_copies(self):
        points, is_present = draw(2)
        copies = np.random.default_rng(0).integers(0, 4, len(points))
        rows = np.repeat(np.arange(len(points)), copies)
        weights = np.repeat(copies[:, None], points.shape[1], axis=1)
        weighed = fit_calibration(points, is_present, weights=weights)
        copied = fit_calibration(points[rows], is_present[rows])
        assert np.allclose(weighed, copied, atol=1e-3)

    def test_no_examples_change_nothing(self):
        slope, shift = fit_calibration(np.empty((0, 2)), np.empty((0, 2), dtype=bool))
        assert slope.tolist() == [1, 1]
        assert shift.tolist() == [0, 0]


class TestTheories:
    @pytest.mark.parametrize("pair", VOTING_PAIRS, ids="-".join)
    def test_votes_give_the_calibrated_scores_but_for_rounding(self, pair):
        for theory, X in random_cases(*pair):
            calibration = random_calibration(np.random.default_rng(0), len(theory.labels))
            expected = calibration.slope * find_points(theory, X) + calibration.shift
            made = apply_calibration(theory, calibration)
            # A vote is rounded, and is at least one point.
            assert (abs(find_points(made, X) - expected) <= 0.5 + len(theory)).all()
            assert Theory.from_json(made.to_json()) == made

    @pytest.mark.parametrize("pair", DECIDING_PAIRS[:2], ids="-".join)
    def test_rules_that_decide_predict_as_before(self, pair):
        n_changed = 0
        for theory, X in random_cases(*pair):
            rng = np.random.default_rng(0)
            calibration = random_calibration(rng, len(theory.labels))
            if theory.decoder.is_single_label:
                calibration = Calibration(*(np.full_like(part, part[0]) for part in calibration))
            made = apply_calibration(theory, calibration)
            assert made.predict(X).equals(theory.predict(X))
            n_changed += (made.predict_proba(X) != theory.predict_proba(X)).sum()
            assert Theory.from_json(made.to_json()) == made
        assert n_changed > 100

    def test_a_probability_that_fits_the_prediction_is_the_calibrated_one(self):
        n_kept = 0
        for theory, X in random_cases("any-rule", "each-label"):
            calibration = random_calibration(np.random.default_rng(1), len(theory.labels))
            points = calibration.slope * find_points(theory, X) + calibration.shift
            wanted = 1 / (1 + np.exp(-points / 100))
            made = apply_calibration(theory, calibration)
            fits = (wanted > 0.501) == theory.evaluate(X).is_present
            fits &= abs(wanted - 0.5) > 0.001
            assert made.predict_proba(X)[fits] == pytest.approx(wanted[fits])
            n_kept += fits.sum()
        assert n_kept > 100

    def test_classes_that_are_asked_in_turn_are_rejected(self):
        theory, X = random_cases("first-rule", "best-label")[0]
        with pytest.raises(ValueError, match="the combiner first-rule cannot be calibrated"):
            theory.calibrate(X, theory.predict(X))

    def test_given_rules_still_speak_for_their_heads(self):
        theory = next(t for t, _ in random_cases("strongest-vote", "each-label") if len(t) > 3)
        origin = replace(theory.rules[0].provenance, source="given")
        rules = tuple(replace(scored, points=5, provenance=origin) for scored in theory)
        n = len(theory.labels)
        low = Calibration(
            np.full(n, 0.5), np.where([y.target_class for y in theory.labels], -90, 90)
        )
        made = apply_calibration(replace(theory, rules=rules), low)
        assert {scored.points for scored in made} == {1}

    def test_examples_make_probabilities_fit(self):
        theory, X = random_cases("sum-of-votes", "each-label")[1]
        rng = np.random.default_rng(0)
        Y = rng.random((len(X), len(theory.labels))) < 0.2
        y = Y if theory.is_multilabel else np.array(theory.classes)[Y[:, 0].astype(int)]
        before, after = theory.predict_proba(X), theory.calibrate(X, y).predict_proba(X)
        brier = SCORE_MEASURES["brier"]
        assert brier(Y, after) < brier(Y, before)
        with pytest.raises(ValueError, match=r"X has 3 rows, but Y has \d+"):
            theory.calibrate(X[:3], y)
