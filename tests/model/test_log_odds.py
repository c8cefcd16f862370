"""Points: hundredths of log-odds, as integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.log_odds import (
    confidence_to_points,
    format_points,
    points_to_probability,
    probability_to_points,
)


@given(st.integers(-900, 900))
def test_a_probability_knows_its_points(points):
    # Probabilities closer to 0 or 1 than 1e-4 all count alike.
    assert probability_to_points(points_to_probability(points)) == points


def test_sure_is_as_sure_as_a_few_thousand_examples_allow():
    assert probability_to_points([0.0, 1e-4, 1 - 1e-4, 1.0]).tolist() == [-921, -921, 921, 921]


def test_a_rule_without_examples_says_what_the_prior_says():
    assert confidence_to_points(0, 0, 0.3) == probability_to_points(0.3)


def test_more_examples_of_the_same_precision_say_more():
    points = confidence_to_points(np.array([1, 10, 100]), 0, 0.1)
    assert (np.diff(points) > 0).all()


def test_any_number_of_points_is_a_probability():
    # The largest points that a theory may have, without a warning about overflow.
    extreme = points_to_probability([-(2**31), -100_000, 0, 100_000, 2**31])
    assert extreme.tolist() == pytest.approx([0, 0, 0.5, 1, 1])
    assert (np.diff(extreme) >= 0).all()


@pytest.mark.parametrize(("points", "text"), [(152, "+1.52"), (-7, "-0.07"), (0, "+0.00")])
def test_points_read_as_log_odds(points, text):
    assert format_points(points) == text
