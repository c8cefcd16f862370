"""Label sets of training examples: counted, sorted, and compared with independent labels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import decoding as oracle
from steelyard.model.label_sets import KnownLabelSets
from strategies import random_generators


@st.composite
def label_matrices(draw):
    """Labels of a few examples; sometimes no set is seen just once."""
    n_labels = draw(st.integers(1, 5))
    rng = draw(random_generators())
    examples = rng.random((rng.integers(1, 15), n_labels)) < rng.choice([0.1, 0.4, 0.8])
    return np.repeat(examples, 2, axis=0) if rng.random() < 0.3 else examples


@given(label_matrices())
def test_sets_are_counted_the_most_frequent_first(examples):
    known = KnownLabelSets.from_labels(examples)
    expected = oracle.count_sets(examples.tolist())
    assert dict(zip(map(frozenset, known.sets), known.counts, strict=True)) == expected
    assert list(known.counts) == sorted(known.counts, reverse=True)
    assert known.n_examples == len(examples)
    assert known.n_labels == 1 + max(np.flatnonzero(examples.any(axis=0)), default=-1)


@given(label_matrices())
def test_of_equally_frequent_sets_the_one_with_the_first_labels_comes_first(examples):
    known = KnownLabelSets.from_labels(examples)
    rows = known.matrix(examples.shape[1]).tolist()
    keys = [(count, row) for count, row in zip(known.counts, rows, strict=True)]
    assert keys == sorted(keys, reverse=True)


@given(label_matrices())
def test_the_matrix_has_a_row_per_set_and_may_have_further_labels(examples):
    known = KnownLabelSets.from_labels(examples)
    for n_labels in (examples.shape[1], examples.shape[1] + 2):
        matrix = known.matrix(n_labels)
        assert matrix.shape == (len(known.sets), n_labels)
        assert [tuple(np.flatnonzero(row)) for row in matrix] == list(known.sets)


@given(label_matrices())
def test_lifts_are_frequencies_relative_to_independent_labels(examples):
    known = KnownLabelSets.from_labels(examples)
    counts = oracle.count_sets(examples.tolist())
    points = np.rint(1e6 * known.log_lift)
    expected = [oracle.frequency_points(counts, frozenset(s), 1e4) for s in known.sets]
    np.testing.assert_allclose(points, expected, atol=2)


@given(random_generators())
def test_where_labels_are_independent_every_lift_is_nothing(rng):
    n_first, n_second = rng.integers(1, 4, 2)
    examples = [[a, b] for a in [1] * n_first + [0] * 2 for b in [1] * n_second + [0] * 3]
    known = KnownLabelSets.from_labels(np.array(examples, dtype=bool))
    np.testing.assert_allclose(known.log_lift, 0, atol=1e-12)


def test_new_sets_are_as_likely_as_sets_that_were_seen_just_once():
    twice = KnownLabelSets.from_labels(np.array([[1, 0]] * 2 + [[0, 1]] * 2, dtype=bool))
    assert twice.log_unseen is None
    one_of_four = KnownLabelSets.from_labels(np.array([[1, 0]] * 3 + [[0, 1]], dtype=bool))
    assert one_of_four.log_unseen == math.log(1 / 4)


@pytest.mark.parametrize(
    ("sets", "counts", "message"),
    [
        ((), (), "there must be at least one label set"),
        (((0,),), (1, 2), "1 label sets have 2 counts"),
        (((-1,),), (1,), "positions of labels, got"),
        (((0.5,),), (1,), "positions of labels, got"),
        (((True,),), (1,), "positions of labels, got"),
        (((1, 1),), (1,), "each label once"),
        (((0, 1), (1, 0)), (1, 1), "two label sets are equal"),
        (((0,),), (0,), "count of a label set must be a positive integer, got 0"),
        (((0,),), (True,), "count of a label set must be a positive integer, got True"),
    ],
)
def test_they_are_checked_however_they_are_made(sets, counts, message):
    with pytest.raises(ValueError, match=message):
        KnownLabelSets(sets, counts)
