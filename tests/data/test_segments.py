"""The embedded digits and the display's dark segments."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from steelyard.data import load_segments

# Which segments of a display are lit for the digits 0 to 9, by their usual letters.
LIT = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]
LETTER_OF = {
    "top dark": "a",
    "upper right dark": "b",
    "lower right dark": "c",
    "bottom dark": "d",
    "lower left dark": "e",
    "upper left dark": "f",
    "middle dark": "g",
}


@pytest.fixture(scope="module")
def data():
    return load_segments()


@pytest.fixture(scope="module")
def digits():
    return load_digits().target


def test_a_label_is_a_segment_that_is_not_lit(data, digits):
    for name, letter in LETTER_OF.items():
        dark = [letter not in LIT[digit] for digit in digits]
        assert data.Y[name].tolist() == dark
    assert set(data.label_names) == set(LETTER_OF)


def test_the_labels_tell_all_digits_apart(data, digits):
    assert pd.Series(digits).groupby([data.Y[name] for name in data.Y]).nunique().eq(1).all()


def test_one_label_has_target_class_0_and_the_others_are_minorities(data):
    majority = data.Y.mean() >= 0.5
    assert majority[majority].index.tolist() == ["lower left dark"]


def test_attributes_are_named_by_row_and_column(data):
    assert data.X.shape == (1797, 64)
    images = data.X.to_numpy().reshape(-1, 8, 8)
    np.testing.assert_array_equal(data.X["row3_col5"], images[:, 2, 4])
    assert all(dtype == np.float64 for dtype in data.X.dtypes)


def test_it_is_the_same_every_time(data):
    pd.testing.assert_frame_equal(load_segments().X, data.X)
