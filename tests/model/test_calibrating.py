"""Calibration: a sigmoid per label, and theories whose scores are the calibrated ones."""

from dataclasses import replace

import numpy as np
import pytest

from reference.calibration import differentiate, fit_sigmoid, measure_share_loss
from steelyard import EachLabel, KnownLabelSets, LabelSetVotes
from steelyard.measures import SCORE_MEASURES
from steelyard.model import label_set_decoders
from steelyard.model import sigmoids as module
from steelyard.model.calibrating import apply_calibration, find_points
from steelyard.model.combiner import Calibration
from steelyard.model.sigmoids import Unseen, descend, fit_sigmoids
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
        slope, shift = fit_sigmoids(points, is_present)
        for j in range(points.shape[1]):
            expected = fit_sigmoid(points[:, j] / 100, is_present[:, j], *shared, *strengths)
            assert (slope[j], shift[j] / 100) == pytest.approx(expected, abs=2e-3)

    def test_many_examples_are_as_often_positive_as_their_probability_says(self):
        points, is_present = draw(0, n_rows=20_000)
        slope, shift = fit_sigmoids(points, is_present)
        p = 1 / (1 + np.exp(-(slope * points + shift) / 100))
        assert p.mean(axis=0) == pytest.approx(is_present.mean(axis=0), abs=1e-3)

    def test_calibrated_scores_order_examples_as_before(self):
        points, _ = draw(0)
        slope, _ = fit_sigmoids(points, points < 0)  # the other way round
        assert slope.tolist() == pytest.approx([module.LEAST_SLOPE] * 4)

    def test_few_positives_give_the_slope_of_the_other_labels(self):
        points, is_present = draw(1, n_rows=3000)
        points[:, 0], is_present[:, 0] = points[:, 1], False
        slope, shift = fit_sigmoids(points, is_present)
        shared, _ = fit_sigmoids(points, is_present, is_shared=True)
        assert abs(slope[0] - shared[0]) < abs(slope - shared)[1:].max()
        assert np.isfinite(shift).all()

    def test_a_weight_is_a_number_of_copies(self):
        points, is_present = draw(2)
        copies = np.random.default_rng(0).integers(0, 4, len(points))
        rows = np.repeat(np.arange(len(points)), copies)
        weights = np.repeat(copies[:, None], points.shape[1], axis=1)
        weighed = fit_sigmoids(points, is_present, weights=weights)
        copied = fit_sigmoids(points[rows], is_present[rows])
        assert np.allclose(weighed, copied, atol=1e-3)

    def test_no_examples_change_nothing(self):
        slope, shift = fit_sigmoids(np.empty((0, 2)), np.empty((0, 2), dtype=bool))
        assert slope.tolist() == [1, 1]
        assert shift.tolist() == [0, 0]


def draw_unseen(seed, n_rows=300, n_labels=4, sure=2.0):
    """Labels that depend on each other, with log-odds that are surer than they should be."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(2 * n_rows, 1))
    log_odds = 1.5 * hidden + rng.normal(size=(2 * n_rows, n_labels)) - 0.5
    is_present = rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))
    known = KnownLabelSets.from_labels(is_present[n_rows:])
    points = 100 * (sure * log_odds + rng.normal(size=log_odds.shape))[:n_rows]
    return Unseen(points, is_present[:n_rows], label_sets=known)


class TestShares:
    """Votes of label sets: the shares are to fit, not the log-odds that they are computed from."""

    @pytest.mark.parametrize("weight", [0.0, 0.5])
    @pytest.mark.parametrize("has_new_sets", [True, False])
    def test_the_loss_is_that_of_the_definition_and_so_is_its_derivative(
        self, weight, has_new_sets
    ):
        unseen = draw_unseen(0, n_rows=12)
        known = unseen.label_sets
        if not has_new_sets:
            known = KnownLabelSets(known.sets, tuple(1 + count for count in known.counts))
        decoder = LabelSetVotes(frequency_weight=weight).fit(known)
        new_sets = unseen.points > 0
        loss, error = decoder._find_loss(unseen, new_sets)

        def measure(log_odds):
            return measure_share_loss(log_odds, unseen.is_present, known, weight)

        # What the frequency of a set adds is rounded to a hundredth.
        assert loss == pytest.approx(measure(unseen.points / 100), rel=0.02)
        by_differences = differentiate(
            lambda s: decoder._find_loss(unseen._replace(points=100 * s), new_sets)[0],
            unseen.points / 100,
        )
        assert error == pytest.approx(by_differences, abs=1e-5)

    def test_unseen_shares_become_frequencies(self):
        unseen, later = draw_unseen(1), draw_unseen(2)
        decoder = LabelSetVotes().fit(unseen.label_sets)
        brier, error = SCORE_MEASURES["brier"], SCORE_MEASURES["ece"]

        def find_shares(calibration):
            points = np.rint(calibration.slope * later.points + calibration.shift).astype(np.int64)
            return decoder.to_probability(decoder.decode(points, None), None)

        own = find_shares(decoder.fit_calibration([unseen]))
        of_each_label = find_shares(EachLabel().fit_calibration([unseen]))
        assert brier(later.is_present, own) < brier(later.is_present, of_each_label)
        assert error(later.is_present, own) < error(later.is_present, of_each_label)

    def test_a_threshold_does_not_matter_and_the_weight_of_sets_does(self):
        votes = [LabelSetVotes(0.5), LabelSetVotes(0.2), LabelSetVotes(0.5, 1.0)]
        assert votes[0].calibration_key == votes[1].calibration_key != votes[2].calibration_key
        assert EachLabel(0.5).calibration_key == EachLabel(0.1).calibration_key

    def test_a_weight_is_a_number_of_copies(self):
        unseen = draw_unseen(3, n_rows=60)
        copies = np.random.default_rng(0).integers(0, 4, len(unseen.points))
        rows = np.repeat(np.arange(len(copies)), copies)
        weights = np.repeat(copies[:, None], unseen.points.shape[1], axis=1).astype(float)
        copied = Unseen(unseen.points[rows], unseen.is_present[rows], None, unseen.label_sets)
        fit = LabelSetVotes().fit_calibration
        weighed = fit([unseen._replace(weights=weights)])
        assert np.allclose(weighed, fit([copied]), atol=0.05)

    def test_parts_with_the_same_label_sets_count_as_one(self):
        unseen = draw_unseen(4, n_rows=80)
        parts = [
            Unseen(unseen.points[rows], unseen.is_present[rows], None, unseen.label_sets)
            for rows in (slice(0, 30), slice(30, None))
        ]
        fit = LabelSetVotes().fit_calibration
        assert np.allclose(fit(parts), fit([unseen]), atol=0.05)

    def test_the_last_digits_of_scores_do_not_matter(self):
        unseen = draw_unseen(7)
        nearly = unseen._replace(points=unseen.points * (1 + 1e-13))
        fit = LabelSetVotes().fit_calibration
        assert np.allclose(fit([unseen]), fit([nearly]), rtol=1e-7, atol=1e-5)

    def test_of_many_rows_a_part_is_taken(self, monkeypatch):
        unseen = draw_unseen(5, n_rows=2000)
        whole = LabelSetVotes().fit_calibration([unseen])
        seen = []
        monkeypatch.setattr(label_set_decoders, "_MOST_FITTED", 500 * len(unseen.label_sets.sets))
        find_loss = LabelSetVotes._find_loss
        monkeypatch.setattr(
            LabelSetVotes,
            "_find_loss",
            lambda *a: (seen.append(len(a[1].points)), find_loss(*a))[1],
        )
        part = LabelSetVotes().fit_calibration([unseen])
        assert set(seen) == {500}
        assert part.slope == pytest.approx(whole.slope, abs=0.2)

    def test_descending_finds_the_sigmoids_of_labels_by_themselves(self):
        points, is_present = draw(6)
        x = points / 100

        def measure(slope, shift):
            p = 1 / (1 + np.exp(-(slope * x + shift)))
            error = p - is_present
            loss = -np.log(np.where(is_present, p, 1 - p)).sum()
            return loss, (error * x).sum(axis=0), error.sum(axis=0)

        for is_shared in (True, False):
            expected = fit_sigmoids(points, is_present, is_shared=is_shared)
            found = descend(measure, points.shape[1], is_shared=is_shared)
            assert np.allclose(found, expected, rtol=0.01, atol=0.5)


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
