"""Thresholds: the share φ keeps the rules that the oracle keeps, to the last tie."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.thresholding import keep
from steelyard.model.thresholding import (
    PHI_GRID,
    count_above,
    count_kept,
    count_quota,
    count_within,
    min_heuristic_value,
)

tied_values = st.lists(st.sampled_from([0.9, 0.5, 0.25, 0.0, -0.125]), max_size=45)


def descending(values):
    return np.array(sorted(values, reverse=True))


@pytest.mark.parametrize("phi", PHI_GRID)
@settings(max_examples=25)
@given(values=tied_values)
def test_the_same_rules_stay_as_in_the_oracle(phi, values):
    values = descending(values)
    kept = range(count_kept(values, phi))
    assert list(kept) == keep(values.tolist(), phi)


@given(tied_values, st.integers(1, 1000))
def test_a_share_between_the_grid_points_too(values, per_mille):
    values = descending(values)
    assert count_kept(values, per_mille / 1000) == len(keep(values.tolist(), per_mille / 1000))


@pytest.mark.parametrize("phi", PHI_GRID)
def test_a_share_is_meant_exactly(phi):
    # 0.55 · 20 is 11.000000000000002 in binary; ⌈11⌉ is 11.
    twentieths = round(phi * 20)
    for n_rules in range(1, 3000):
        assert count_quota(n_rules, phi) == -(-twentieths * n_rules // 20)


def test_the_grid_is_the_papers():
    assert [round(100 * phi) for phi in PHI_GRID] == list(range(100, 0, -5))


@given(tied_values, st.sampled_from(PHI_GRID))
def test_ties_at_the_cut_all_stay(values, phi):
    values = descending(values)
    n_kept = count_kept(values, phi)
    assert n_kept >= count_quota(len(values), phi)
    if n_kept:
        assert min_heuristic_value(values, phi) == values[n_kept - 1]
        assert (values[n_kept:] < values[n_kept - 1]).all()


@given(tied_values)
def test_fewer_rules_as_phi_falls(values):
    kept = [count_kept(descending(values), phi) for phi in PHI_GRID]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] == len(values)


@given(tied_values, st.floats(-1, 1))
def test_an_absolute_cut_keeps_what_is_not_below_it(values, cut):
    assert count_above(descending(values), cut) == sum(value >= cut for value in values)


def test_without_rules_there_is_no_cut():
    assert math.isnan(min_heuristic_value(np.empty(0), 0.5))
    assert count_kept(np.empty(0), 0.5) == 0


def test_infinite_values_are_values():
    assert count_kept(np.array([np.inf, 1.0, -np.inf]), 0.3) == 1
    assert count_kept(np.array([np.inf, 1.0, -np.inf]), 1.0) == 3


@given(tied_values, st.integers(0, 6), st.integers(0, 20))
def test_protected_rules_stay_and_count_for_the_cut_of_the_others(values, n_protected, twentieths):
    protected, others = values[:n_protected], sorted(values[n_protected:], reverse=True)
    mixed = [*protected, *others]
    kept = {*range(len(protected)), *keep(mixed, twentieths / 20)}
    assert count_kept(np.array(mixed), twentieths / 20, len(protected)) == len(kept)


@given(
    st.lists(st.integers(1, 5), max_size=12),
    st.none() | st.integers(0, 14),
    st.none() | st.integers(0, 40),
)
def test_a_theory_ends_before_the_first_rule_that_does_not_fit(lengths, max_rules, max_total):
    n_fitting, total = 0, 0
    for length in lengths:
        total += length
        if n_fitting == max_rules or (max_total is not None and total > max_total):
            break
        n_fitting += 1
    assert count_within(np.array(lengths, dtype=np.int64), max_rules, max_total) == n_fitting


def test_a_bound_that_is_just_met_is_kept():
    assert count_within(np.array([2, 3, 1, 2]), None, 5) == 2


def test_a_protected_rule_has_its_place_among_the_sorted_values():
    # Of 0.9, 0.8, 0.3 and 0.1 the second one is the cut.
    assert count_kept(np.array([0.1, 0.9, 0.8, 0.3]), 0.5, n_protected=1) == 3
