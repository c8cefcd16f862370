"""Heuristics: the values of the paper's formulas, to the last tie."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from reference import heuristics as oracle
from steelyard import (
    WRA,
    Accuracy,
    Cost,
    FMeasure,
    GeneralizedMEstimate,
    Heuristic,
    Klosgen,
    Laplace,
    MEstimate,
    Precision,
    Recall,
    RelativeCost,
)
from steelyard.heuristics import (
    BETA_GRID,
    HEURISTICS,
    M_GRID,
    ConfusionMatrix,
    describe,
    find_family,
    get_heuristic,
    heuristic_from_dict,
    heuristic_to_dict,
    heuristic_values,
    kernel_coefficients,
    refer_to,
)

count = st.integers(0, 3000)
matrices = st.tuples(count, count, count, count)


def pairs_of(heuristic):
    """The package's heuristic beside the oracle's function."""
    return partial(getattr(oracle, heuristic.name.replace("-", "_")), **heuristic.arguments)


PARAMETERLESS = [Precision(), Recall(), WRA(), Accuracy(), Laplace()]
M_ESTIMATES = [MEstimate(m) for m in M_GRID]
F_MEASURES = [FMeasure(beta) for beta in BETA_GRID]
FAMILIES = [find_family(name) for name in HEURISTICS]
BUILT_IN = [family.make(parameter) for family in FAMILIES for parameter in family.grid]


class TestValues:
    # By itself, so that a family of a single member is tested as often as one of twenty.
    @pytest.mark.parametrize("family", FAMILIES, ids=list(HEURISTICS))
    @settings(max_examples=30)
    @given(matrix=matrices, data=st.data())
    def test_a_value_is_the_exact_fraction(self, family, matrix, data):
        heuristic = family.make(data.draw(st.sampled_from(family.grid)))
        exact = Fraction(pairs_of(heuristic)(*matrix))
        assert abs(Fraction(heuristic(*matrix)) - exact) <= max(1, abs(exact)) / 10**11

    @given(matrices, st.floats(0, 1e6))
    def test_parameters_between_the_grid_points_are_exact_too(self, matrix, parameter):
        for heuristic in (MEstimate(parameter), FMeasure(parameter)):
            exact = pairs_of(heuristic)(*matrix)
            assert abs(Fraction(heuristic(*matrix)) - exact) <= Fraction(1, 10**12)

    @given(matrices)
    def test_the_ends_of_the_parameters(self, matrix):
        precision = Precision()(*matrix)
        assert MEstimate(0)(*matrix) == FMeasure(0)(*matrix) == precision
        assert FMeasure(math.inf)(*matrix) == Recall()(*matrix)

    @given(st.lists(matrices, min_size=1, max_size=5), st.sampled_from(BUILT_IN))
    @example([(1, 0, 0, 1138)], Klosgen(0.9))  # two functions of NumPy differ here
    def test_arrays_give_what_each_entry_gives(self, rules, heuristic):
        columns = [np.array(column) for column in zip(*rules, strict=True)]
        assert heuristic(*columns).tolist() == [heuristic(*rule) for rule in rules]

    @pytest.mark.parametrize("heuristic", BUILT_IN, ids=describe)
    def test_nothing_over_nothing_is_zero(self, heuristic):
        # 1/2 is no 0/0, and neither is what a constant was added to.
        added = {"laplace": 0.5, "generalized-m-estimate": 0.5, "odds-ratio": 1.0}
        expected = added.get(heuristic.name, 0.0) if heuristic.parameter != 0 else 0.0
        assert heuristic(0, 0, 0, 0) == expected

    def test_klosgens_share_of_nothing_is_worth_nothing_and_that_of_one_example_is_not(self):
        # 0⁰ is 1, but a rule that covers nothing has no precision to compare with the prior.
        assert Klosgen(0)(0, 0, 3, 5) == 0
        assert Klosgen(0)(1, 0, 2, 5) == 1 - 3 / 8
        assert Klosgen(1)(1, 0, 2, 5) == (1 - 3 / 8) / 8

    @pytest.mark.parametrize("family", FAMILIES, ids=list(HEURISTICS))
    def test_small_integers_do_not_overflow(self, family):
        heuristic = family.make(family.grid[-1])
        counts = (250_000, 100_000, 300_000, 150_000)  # their products need more than 32 bits
        in_32_bits = heuristic(*(np.array([count], dtype=np.int32) for count in counts))
        assert in_32_bits.tolist() == [heuristic(*map(float, counts))]

    def test_a_cost_of_nothing_or_all_is_a_cost(self):
        assert Cost(0)(3, 2, 1, 4) == -2
        assert Cost(1)(3, 2, 1, 4) == 3


def rules_of_one_label(n_rules, most=3000):
    """Rules judged on the same examples: (tp, fp) within common P and N."""

    def extend(totals):
        positives, negatives = totals
        rule = st.tuples(st.integers(0, positives), st.integers(0, negatives))
        return st.lists(rule, min_size=n_rules, max_size=n_rules).map(
            lambda rules: [(tp, fp, positives - tp, negatives - fp) for tp, fp in rules]
        )

    return st.one_of(
        st.tuples(st.integers(1, 6), st.integers(1, 6)),  # ties are common
        st.tuples(st.integers(1, most), st.integers(1, most)),  # ties are subtle
    ).flatmap(extend)


class TestOrder:
    @given(rules_of_one_label(2), st.sampled_from([*PARAMETERLESS, *M_ESTIMATES, FMeasure(1)]))
    def test_two_rules_compare_as_their_exact_fractions_do(self, rules, heuristic):
        exact = [pairs_of(heuristic)(*rule) for rule in rules]
        values = [heuristic(*rule) for rule in rules]
        assert (values[0] > values[1]) == (exact[0] > exact[1])
        assert (values[0] == values[1]) == (exact[0] == exact[1])

    @given(st.integers(1, 40), st.integers(1, 40), st.integers(2, 40), st.sampled_from(M_GRID))
    def test_rules_in_proportion_tie_exactly_in_precision(self, tp, fp, factor, m):
        total = (tp + fp) * factor
        small = (tp, fp, total - tp, total - fp)
        large = (tp * factor, fp * factor, total - tp * factor, total - fp * factor)
        assert Precision()(*small) == Precision()(*large)
        exact = [oracle.m_estimate(*rule, m=m) for rule in (small, large)]
        assert (MEstimate(m)(*small) == MEstimate(m)(*large)) == (exact[0] == exact[1])

    @given(rules_of_one_label(2, most=300))
    def test_a_large_m_orders_rules_as_wra_does(self, rules):
        wra = [oracle.wra(*rule) for rule in rules]
        assume(wra[0] != wra[1])
        # (tp + m·prior)/(tp + fp + m) - prior = (tp - prior·covered)/(covered + m): with m far above
        # what a rule can cover the denominators hardly differ, and what is left is WRA.
        values = [MEstimate(2.0**34)(*rule) for rule in rules]
        assert (values[0] > values[1]) == (wra[0] > wra[1])

    def test_the_largest_m_of_the_grid_still_tells_rules_apart_in_double_precision(self):
        better, worse = (4, 0, 96, 900), (3, 0, 97, 900)
        difference = MEstimate(M_GRID[-1])(*better) - MEstimate(M_GRID[-1])(*worse)
        assert 0 < difference < 1e-5


class TestGrids:
    def test_m_is_zero_and_then_the_powers_of_two_up_to_19(self):
        assert list(M_GRID) == [0, *(2**k for k in range(1, 20))]

    def test_beta_runs_from_precision_to_recall(self):
        assert len(BETA_GRID) == 20
        assert {0.2, 0.6, 0.8, 0.9} < set(BETA_GRID)  # as people write them
        rounded = [round(beta, 2) for beta in BETA_GRID[:8]]
        assert rounded == [0, 0.2, 0.43, 0.6, 0.72, 0.8, 0.86, 0.9]
        assert BETA_GRID[8:] == (*(2.0**k for k in range(11)), math.inf)


class TestFamilies:
    @pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
    def test_a_family_has_a_grid_and_every_member_says_which_it_is(self, family):
        members = [family.make(parameter) for parameter in family.grid]
        assert len({describe(member) for member in members}) == len(family.grid)
        assert {member.family for member in members} == {family.name}
        if family.symbol:
            assert [member.parameter for member in members] == list(family.grid)
            assert len(family.grid) == 20

    @pytest.mark.parametrize("heuristic", BUILT_IN, ids=describe)
    def test_plain_data_give_the_same_heuristic(self, heuristic):
        assert heuristic_from_dict(heuristic_to_dict(heuristic)) == heuristic

    @given(matrices)
    def test_the_families_meet_where_their_formulas_do(self, matrix):
        tp, fp, fn, tn = matrix
        assert Cost(0.5)(*matrix) == (tp - fp) / 2
        assert GeneralizedMEstimate(2, 0.5)(*matrix) == Laplace()(*matrix)
        assert math.isclose(Klosgen(1)(*matrix), WRA()(*matrix), abs_tol=1e-12)
        n_examples, product = sum(matrix), (tp + fn) * (fp + tn)
        if product:
            wra = 2 * RelativeCost(0.5)(*matrix) * product / n_examples**2
            assert math.isclose(wra, WRA()(*matrix), abs_tol=1e-12)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: Cost(1.5), "c must be a number from 0 to 1, got 1.5"),
            (lambda: RelativeCost(-1), "c must be a number from 0 to 1, got -1"),
            (lambda: Klosgen(-0.5), "omega must be a finite number of at least 0, got -0.5"),
            (lambda: Klosgen(math.inf), "omega must be a finite number of at least 0, got inf"),
            (lambda: GeneralizedMEstimate(math.inf), "m must be a finite number"),
            (lambda: GeneralizedMEstimate(2, 1.5), "^c must be a number from 0 to 1, got 1.5"),
            (lambda: find_family("klosgn"), r"'klosgn' \(did you mean 'klosgen'\?\); choose from"),
            (lambda: find_family("math:pi"), "'math:pi' is not a heuristic: it cannot be called"),
            (lambda: find_family("math:tau2"), "the module math has no 'tau2'"),
            (lambda: find_family("no.such:thing"), "cannot be imported: No module named 'no'"),
            (lambda: refer_to(lambda *counts: counts[0]), "at the top of a module"),
            (lambda: refer_to(MEstimate(4)), r"not m-estimate\(m=4\)"),
        ],
    )
    def test_what_cannot_be_is_rejected_in_one_sentence(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()

    def test_a_users_family_is_found_by_module_and_attribute(self):
        family = find_family("reference.heuristics:recall")
        assert family.name == "recall"
        assert family.grid == (0.0,)
        assert family.make(0.0)(3, 1, 2, 4) == Fraction(3, 5)


class TestUsersOwn:
    def test_a_function_is_accepted_where_a_heuristic_is(self):
        def youden(tp, fp, fn, tn):
            return tp / (tp + fn) - fp / (fp + tn)

        heuristic = get_heuristic(youden)
        assert heuristic(3, 1, 1, 3) == 0.5
        assert describe(heuristic) == "youden"

    def test_zero_over_zero_in_a_users_formula_counts_as_zero(self):
        def precision(tp, fp, fn, tn):
            return tp / (tp + fp)

        counts = ConfusionMatrix(
            tp=np.array([0, 1]), fp=np.array([0, 1]), fn=np.array([2, 1]), tn=np.array([3, 2])
        )
        assert heuristic_values(get_heuristic(precision), counts).tolist() == [0.0, 0.5]

    def test_a_formula_must_give_one_value_a_rule(self):
        def constant(tp, fp, fn, tn):
            return 1.0

        counts = ConfusionMatrix(*(np.arange(3) for _ in range(4)))
        with pytest.raises(ValueError, match=r"one value for each rule.*\(3,\).*\(\)"):
            heuristic_values(get_heuristic(constant), counts)

    def test_a_subclass_without_a_formula_says_what_it_lacks(self):
        class Lazy(Heuristic):
            pass

        with pytest.raises(NotImplementedError, match="Lazy must define __call__"):
            Lazy()(1, 1, 1, 1)

    def test_a_class_instead_of_an_instance_is_a_clear_error(self):
        with pytest.raises(TypeError, match=r"write MEstimate\(\)"):
            get_heuristic(MEstimate)

    @pytest.mark.parametrize("wrong", [3, None, 0.5])
    def test_what_is_no_heuristic_is_refused(self, wrong):
        with pytest.raises(TypeError, match=r"a Heuristic, a name or a function"):
            get_heuristic(wrong)


class TestNamesAndParameters:
    @pytest.mark.parametrize("name", HEURISTICS)
    def test_every_name_stands_for_its_class(self, name):
        assert type(get_heuristic(name)) is HEURISTICS[name]

    def test_an_unknown_name_lists_the_known_ones(self):
        with pytest.raises(ValueError, match=r"unknown heuristic 'gini'.*m-estimate.*laplace"):
            get_heuristic("gini")

    @pytest.mark.parametrize("m", [-1, math.inf, math.nan, "a", None, True, 10**400])
    def test_m_is_a_finite_number_of_at_least_zero(self, m):
        with pytest.raises(ValueError, match="m must be a finite number of at least 0"):
            MEstimate(m)

    def test_who_wants_an_infinite_m_is_told_of_wra(self):
        with pytest.raises(ValueError, match=r"for the limit of an infinite m use WRA\(\)$"):
            MEstimate(math.inf)

    @pytest.mark.parametrize("beta", [-0.1, math.nan, "a", None, True])
    def test_beta_is_a_number_from_zero_to_infinity(self, beta):
        with pytest.raises(ValueError, match="beta must be a number from 0 to infinity"):
            FMeasure(beta)

    @pytest.mark.parametrize("heuristic", BUILT_IN, ids=describe)
    def test_saved_and_read_again_it_is_the_same(self, heuristic):
        assert heuristic_from_dict(heuristic_to_dict(heuristic)) == heuristic

    def test_a_users_heuristic_is_saved_by_its_text(self):
        def lift(tp, fp, fn, tn):
            return tp / (tp + fp)

        saved = heuristic_from_dict(heuristic_to_dict(get_heuristic(lift)))
        assert describe(saved) == "lift"

    @pytest.mark.parametrize("heuristic", BUILT_IN, ids=describe)
    def test_heuristics_are_values(self, heuristic):
        assert hash(heuristic) == hash(heuristic_from_dict(heuristic_to_dict(heuristic)))
        with pytest.raises(AttributeError):
            heuristic.m = 3

    def test_all_parameters_are_named(self):
        assert str(GeneralizedMEstimate(m=2, c=0.25)) == "generalized-m-estimate(m=2, c=0.25)"

    @pytest.mark.parametrize("heuristic", BUILT_IN, ids=describe)
    def test_numbers_give_a_number_and_arrays_an_array_of_floats(self, heuristic):
        assert type(heuristic(3, 1, 2, 4)) is float
        assert heuristic(*np.array([[3], [1], [2], [4]])).dtype == np.float64

    def test_the_kernel_evaluates_fractions_and_calls_nothing_else(self):
        assert kernel_coefficients(WRA()).tolist() == WRA().coefficients().tolist()
        assert kernel_coefficients(Klosgen(1)) is None


class TestUsersFormulas:
    COUNTS = ConfusionMatrix(
        *np.array([[100_000, 2], [0, 1], [1, 1], [100_000, 3]], dtype=np.int32)
    )

    def test_the_counts_are_floats_which_do_not_overflow(self):
        found = heuristic_values(get_heuristic(lambda tp, _fp, _fn, tn: tp * tn), self.COUNTS)
        assert found.tolist() == [1e10, 6]

    def test_a_number_over_zero_is_infinite_without_a_warning(self):
        found = heuristic_values(get_heuristic(lambda tp, fp, _fn, _tn: tp / fp), self.COUNTS)
        assert found.tolist() == [math.inf, 2]

    def test_values_that_are_not_numbers_are_rejected(self):
        def speak(tp, fp, fn, tn):
            return ["good", "bad"]

        message = r"^heuristic speak must return numbers, got \['good', 'bad'\]$"
        with pytest.raises(ValueError, match=message):
            heuristic_values(get_heuristic(speak), self.COUNTS)

    def test_an_error_names_the_heuristic(self):
        def constant(tp, fp, fn, tn):
            return 1.0

        with pytest.raises(ValueError, match="^heuristic constant must return one value for each"):
            heuristic_values(get_heuristic(constant), self.COUNTS)
