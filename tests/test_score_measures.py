"""Measures of scores agree with a slow oracle, and with scikit-learn where it defines them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from reference import ranking
from steelyard.measures import SCORE_MEASURES, RankedScores, expand_measures

ORACLES = {
    "ranking_loss": ranking.ranking_loss,
    "coverage_error": ranking.coverage_error,
    "lrap": ranking.lrap,
    "dcg_5": ranking.dcg,
    "ndcg_5": ranking.ndcg,
    "auc_macro": ranking.auc_macro,
    "auc_micro": ranking.auc_micro,
    "brier": ranking.brier,
    "ece": ranking.ece,
}


@st.composite
def predictions(draw):
    """Labels and scores with many ties, with empty and full rows and constant labels."""
    n, q = draw(st.integers(1, 5)), draw(st.integers(1, 7))
    size = {"min_size": n * q, "max_size": n * q}
    cells = st.lists(st.integers(0, 1), **size)
    scores = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.95, 1.0]), **size)
    return np.reshape(draw(cells), (n, q)), np.reshape(draw(scores), (n, q))


def test_every_measure_has_an_oracle():
    assert set(ORACLES) == set(SCORE_MEASURES)


@pytest.mark.parametrize("name", ORACLES)
@given(predictions())
def test_a_measure_is_what_the_oracle_counts(name, prediction):
    Y, S = prediction
    found = SCORE_MEASURES[name](Y, S)
    assert found == pytest.approx(ORACLES[name](Y.tolist(), S.tolist()), abs=1e-12)


@pytest.mark.parametrize("name", ORACLES)
def test_many_predictions_at_once_are_the_same_as_one_by_one(name):
    rng = np.random.default_rng(0)
    Y, S = rng.integers(0, 2, (8, 6)), rng.integers(0, 5, (2, 3, 8, 6)) / 4
    expected = [[SCORE_MEASURES[name](Y, scores) for scores in row] for row in S]
    np.testing.assert_array_equal(SCORE_MEASURES[name].of_many(RankedScores(Y, S)), expected)


def test_the_measures_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    Y, S = rng.integers(0, 2, (40, 9)), rng.integers(0, 8, (40, 9)) / 7
    Y[:, 0], Y[0] = rng.permutation(np.arange(40) % 2), 0  # an example without labels
    expected = {
        "ranking_loss": metrics.label_ranking_loss(Y, S),
        "coverage_error": metrics.coverage_error(Y, S),
        "lrap": metrics.label_ranking_average_precision_score(Y, S),
        # scikit-learn counts 0 for examples without labels, which are left out here.
        "dcg_5": metrics.dcg_score(Y[1:], S[1:], k=5),
        "ndcg_5": metrics.ndcg_score(Y[1:], S[1:], k=5),
        "auc_macro": metrics.roc_auc_score(Y, S, average="macro"),
        "auc_micro": metrics.roc_auc_score(Y, S, average="micro"),
        "brier": metrics.brier_score_loss(Y.ravel(), S.ravel()),
    }
    for name, value in expected.items():
        assert SCORE_MEASURES[name](Y, S) == pytest.approx(value, abs=1e-12), name


def test_scores_that_say_nothing_have_the_values_of_chance():
    Y, S = np.ones((3, 2)), np.zeros((3, 2))
    found = {
        name: SCORE_MEASURES[name](Y, S) for name in ("auc_macro", "auc_micro", "ranking_loss")
    }
    assert found == {"auc_macro": 0.5, "auc_micro": 0.5, "ranking_loss": 0.0}
    assert SCORE_MEASURES["ndcg_5"](0 * Y, S) == 0


def test_wrong_scores_are_rejected():
    with pytest.raises(ValueError, match="brier needs probabilities"):
        SCORE_MEASURES["brier"]([[0, 1]], [[0.5, 1.5]])
    with pytest.raises(ValueError, match="finite"):
        SCORE_MEASURES["lrap"]([[0, 1]], [[0.5, np.nan]])
    with pytest.raises(ValueError, match="shape"):
        SCORE_MEASURES["lrap"]([[0, 1]], [[0.5]])


def test_groups_stand_for_their_measures():
    assert set(expand_measures(["ranking", "calibration"])) == set(SCORE_MEASURES)
    assert expand_measures(["jaccard_micro", "lrap", "jaccard_micro"]) == ("jaccard_micro", "lrap")
