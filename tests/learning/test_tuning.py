"""Tuning: the cell that is chosen from scores on folds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.learning.tuning import choose_cell, choose_thresholds, smooth_scores
from steelyard.measures import MEASURES
from steelyard.model.log_odds import probability_to_points
from strategies import random_generators


def choose_plainly(scores, n_conditions, tolerance):
    """One cell after the other: the fewest conditions, then the best mean, then the first."""
    n_folds, n_cells = scores.shape
    mean = [sum(scores[:, c]) / n_folds for c in range(n_cells)]
    best = min(range(n_cells), key=lambda c: (-mean[c], n_conditions[c], c))
    close = []
    for c in range(n_cells):
        difference = [scores[k, best] - scores[k, c] for k in range(n_folds)]
        centre = sum(difference) / n_folds
        variance = sum((d - centre) ** 2 for d in difference) / (n_folds - 1)
        if centre <= tolerance * (variance / n_folds) ** 0.5 + 1e-12:
            close.append(c)
    return min(close, key=lambda c: (n_conditions[c], -mean[c], c))


class TestChoosing:
    @settings(max_examples=150)
    @given(random_generators(), st.integers(2, 6), st.sampled_from([0.5, 1.0, 3.0]))
    def test_the_fewest_conditions_within_so_many_standard_errors(self, rng, n_folds, tolerance):
        scores = rng.random((n_folds, 9)) * 0.3
        n_conditions = rng.integers(0, 5, 9).astype(float)
        chosen = choose_cell(scores, n_conditions, tolerance)
        assert chosen == choose_plainly(scores, n_conditions, tolerance)

    def test_without_a_tolerance_the_best_mean_wins(self):
        scores = np.array([[0.5, 0.9], [0.5, 0.1 + 1e-9]])
        assert choose_cell(scores, np.array([1, 1000])) == 1
        assert choose_cell(scores, np.array([1, 1000]), 0.1) == 0

    def test_a_cell_that_is_worse_by_the_same_in_every_fold_is_out_of_reach(self):
        scores = np.array([[0.5, 0.625], [0.25, 0.375]])
        assert choose_cell(scores, np.array([1, 1000]), 1000.0) == 1

    def test_an_undefined_score_is_never_chosen(self):
        scores = np.array([[np.nan, 0.2, 0.1], [0.9, 0.2, 0.3]])
        assert choose_cell(scores, np.array([1, 5, 7]), 5.0) == 1

    def test_one_fold_tells_no_error(self):
        assert choose_cell(np.array([[0.5, 0.6]]), np.array([1, 9]), 5.0) == 1


class TestSmoothing:
    @settings(max_examples=30)
    @given(random_generators(), st.integers(1, 4), st.integers(1, 4))
    def test_a_score_becomes_the_mean_of_nine_cells(self, rng, n_rows, n_columns):
        scores = rng.random((2, 3 * n_rows * n_columns))
        smooth = smooth_scores(scores, (n_rows, n_columns)).reshape(2, 3, n_rows, n_columns)
        grids = scores.reshape(smooth.shape)
        for k, g, i, j in np.ndindex(smooth.shape):
            rows = [min(max(i + step, 0), n_rows - 1) for step in (-1, 0, 1)]
            columns = [min(max(j + step, 0), n_columns - 1) for step in (-1, 0, 1)]
            mean = np.mean([grids[k, g, r, c] for r in rows for c in columns])
            assert smooth[k, g, i, j] == pytest.approx(mean)

    def test_a_cell_that_is_good_alone_loses_to_one_among_good_cells(self):
        scores = np.array([[0.1, 0.9, 0.1, 0.6, 0.7, 0.6]] * 2)
        assert choose_cell(scores, np.ones(6)) == 1
        assert choose_cell(smooth_scores(scores, (1, 6)), np.ones(6)) == 4

    def test_an_undefined_score_stays_undefined_and_spreads_no_further(self):
        scores = np.array([[np.nan, 0.2, 0.5, 0.5]])
        smooth = smooth_scores(scores, (1, 4))
        assert np.isnan(smooth[0, 0])
        assert smooth[0, 1:].tolist() == pytest.approx([0.2, 0.4, 0.5])


class TestThresholds:
    @settings(max_examples=50)
    @given(random_generators(), st.sampled_from(["f1_macro", "jaccard_macro", "precision_macro"]))
    def test_labels_with_many_positives_get_their_best_threshold(self, rng, name):
        points = rng.integers(-20, 20, (30, 2)) * 10.0
        is_present = rng.random((30, 2)) < 1 / (1 + np.exp(-points / 100))
        many = np.repeat(points, 1000, axis=0), np.repeat(is_present, 1000, axis=0)
        measure = MEASURES[name]
        thresholds = choose_thresholds(*many, measure.formula)
        cuts = probability_to_points(thresholds)
        for j in range(2):
            truth = is_present[:, [j]]
            values = [measure(truth, points[:, [j]] > cut - 5) for cut in np.unique(points[:, j])]
            assert measure(truth, points[:, [j]] > cuts[j]) == max(values)

    def test_a_weight_is_a_number_of_copies(self):
        rng = np.random.default_rng(1)
        points = rng.normal(-100, 100, (60, 2)).round()
        is_present = rng.random((60, 2)) < 1 / (1 + np.exp(-points / 100))
        copies = rng.integers(1, 4, 60)
        rows, formula = np.repeat(np.arange(60), copies), MEASURES["f1_macro"].formula
        weighed = choose_thresholds(points, is_present, formula, copies / 1.0)
        assert weighed == choose_thresholds(points[rows], is_present[rows], formula)

    def test_a_label_with_few_positives_is_close_to_the_others(self):
        rng = np.random.default_rng(0)
        points = rng.normal(-100, 100, (2000, 3))
        is_present = rng.random((2000, 3)) < 1 / (1 + np.exp(-points / 100))
        is_present[:, 0] = False
        is_present[np.argmax(points[:, 0]), 0] = True  # its own best threshold is above all others
        rare, *others = choose_thresholds(points, is_present, MEASURES["f1_macro"].formula)
        assert abs(rare - np.mean(others)) < 0.1
