"""The oracle itself is checked by hand, on examples small enough to work out on paper."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import heuristics
from reference.covering import cover
from reference.information_gain import best_numeric_split, entropy, midpoint, nominal_split_gain
from reference.prediction import predict
from reference.ranks import average_ranks
from reference.rules import confusion, coverage, covers
from reference.thresholding import keep
from reference.tree_rules import extract_rules, leaf_of, leaf_paths, merge

counts = st.tuples(*[st.integers(0, 30)] * 4)


class TestHeuristics:
    # P = 10, N = 90, and the rule covers 8 + 2 examples.
    MATRIX = (8, 2, 2, 88)

    @pytest.mark.parametrize(
        ("name", "parameters", "value"),
        [
            ("precision", {}, Fraction(8, 10)),
            ("recall", {}, Fraction(8, 10)),
            ("f_measure", {"beta": 1}, Fraction(8, 10)),
            ("m_estimate", {"m": 10}, Fraction(8 + 1, 10 + 10)),
            ("wra", {}, Fraction(1, 10) * (Fraction(8, 10) - Fraction(1, 10))),
            ("accuracy", {}, Fraction(96, 100)),
            ("laplace", {}, Fraction(9, 12)),
        ],
    )
    def test_worked_by_hand(self, name, parameters, value):
        assert getattr(heuristics, name)(*self.MATRIX, **parameters) == value

    def test_f_measure_leans_towards_recall_as_beta_grows(self):
        matrix = (1, 0, 3, 6)  # precision 1, recall 1/4
        assert heuristics.f_measure(*matrix, beta=1) == Fraction(2, 5)
        assert heuristics.f_measure(*matrix, beta=2) == Fraction(5, 17)
        assert heuristics.f_measure(*matrix, beta=0.5) == Fraction(5, 8)

    @given(counts)
    def test_the_ends_of_the_parameters(self, matrix):
        precision, recall = heuristics.precision(*matrix), heuristics.recall(*matrix)
        assert heuristics.m_estimate(*matrix, m=0) == precision
        assert heuristics.f_measure(*matrix, beta=0) == precision
        assert heuristics.f_measure(*matrix, beta=math.inf) == recall

    @given(counts, st.integers(0, 10), st.integers(0, 10))
    def test_a_huge_m_orders_rules_as_wra_does(self, matrix, tp, fp):
        n_positives, n_negatives = matrix[0] + matrix[2], matrix[1] + matrix[3]
        tp, fp = min(tp, n_positives), min(fp, n_negatives)
        other = (tp, fp, n_positives - tp, n_negatives - fp)
        wra, other_wra = heuristics.wra(*matrix), heuristics.wra(*other)
        if wra > other_wra:
            m = 10**9
            assert heuristics.m_estimate(*matrix, m=m) > heuristics.m_estimate(*other, m=m)

    @pytest.mark.parametrize("name", ["precision", "recall", "f_measure", "wra", "accuracy"])
    def test_nothing_over_nothing_is_zero(self, name):
        assert getattr(heuristics, name)(0, 0, 0, 0) == 0

    def test_m_estimate_of_a_rule_that_covers_nothing_is_the_prior(self):
        assert heuristics.m_estimate(0, 0, 1, 3, m=0) == 0
        assert heuristics.m_estimate(0, 0, 1, 3, m=2) == Fraction(1, 4)


class TestRules:
    def test_operators(self):
        row = [1.0, "red"]
        assert covers([(0, ">=", 1.0)], row)
        assert not covers([(0, "<", 1.0)], row)
        assert covers([(0, ">=", 0.5), (0, "<", 1.5), (1, "=", "red")], row)
        assert not covers([(0, ">=", 0.5), (1, "=", "blue")], row)

    @pytest.mark.parametrize("missing", [None, math.nan])
    @pytest.mark.parametrize("operator", ["<", ">=", "="])
    def test_a_missing_value_satisfies_no_condition(self, missing, operator):
        assert not covers([(0, operator, 0)], [missing, 1])
        assert covers([(1, "=", 1)], [missing, 1])

    def test_an_unknown_operator_is_rejected(self):
        with pytest.raises(ValueError, match="'>'"):
            covers([(0, ">", 1)], [2])

    def test_coverage_and_confusion(self):
        rows = [[0], [1], [2], [None]]
        assert coverage([[(0, "<", 2)], []], rows) == [[True, True, False, False], [True] * 4]
        assert confusion([True, True, False, False], [1, 0, 0, 1], target=1) == (1, 1, 1, 1)
        assert confusion([True, True, True, False], [1, 0, 0, 1], target=0) == (2, 1, 0, 1)


def masks(*covered, n):
    """Coverage lists from sets of covered examples."""
    return [[j in examples for j in range(n)] for examples in covered]


class TestCovering:
    def test_values_are_those_on_the_uncovered_examples(self):
        is_positive = [True] * 4 + [False] * 2
        coverages = masks({0, 1, 2, 4}, {1, 2, 3, 5}, {3, 4}, n=6)
        # Precision on all examples: 3/4, 3/4, 1/2. Rule 0 goes first, by its index. Of rule 1 that
        # leaves {3, 5}, precision 1/2; of rule 2 {3}, precision 1.
        assert cover(coverages, [1, 1, 1], is_positive, heuristics.precision) == [0, 2]
        # Ranked once on all examples, rule 1 stays ahead of rule 2.
        ranked_once = cover(
            coverages, [1, 1, 1], is_positive, heuristics.precision, revalidate=False
        )
        assert ranked_once == [0, 1]

    def test_ties_go_to_more_true_positives_then_fewer_conditions_then_the_lower_index(self):
        is_positive = [True] * 3
        coverages = masks({0}, {0, 1}, {1, 2}, {1, 2}, n=3)
        # All have precision 1; 1, 2, 3 have two true positives; 2 and 3 have fewer conditions.
        assert cover(coverages, [1, 5, 2, 2], is_positive, heuristics.precision) == [2, 0]

    def test_true_positives_are_counted_on_the_uncovered_examples(self):
        is_positive = [True] * 6
        coverages = masks({0, 1, 2, 3}, {1, 2, 3, 4}, {4, 5}, n=6)
        # Rule 1 has four true positives, but only one after rule 0.
        assert cover(coverages, [1, 1, 9], is_positive, heuristics.precision) == [0, 2]

    def test_it_stops_when_no_candidate_covers_an_uncovered_positive(self):
        is_positive = [True, True, False]
        coverages = masks({0}, {2}, {0, 2}, set(), n=3)
        assert cover(coverages, [1] * 4, is_positive, heuristics.accuracy) == [0]
        assert cover([], [], is_positive, heuristics.accuracy) == []
        assert cover(coverages, [1] * 4, [False] * 3, heuristics.accuracy) == []

    def test_without_revalidation_true_positives_are_those_on_all_examples(self):
        coverages = masks({0, 1, 2}, {1, 2, 3}, {3}, n=4)
        is_positive = [True] * 4
        # Precision 1 everywhere. After rule 0 the rules 1 and 2 both have one true positive, and
        # fewer conditions decide; on all examples rule 1 has three.
        assert cover(coverages, [1, 2, 1], is_positive, heuristics.precision) == [0, 2]
        selected = cover(coverages, [1, 2, 1], is_positive, heuristics.precision, revalidate=False)
        assert selected == [0, 1]

    def test_without_revalidation_a_rule_must_still_cover_an_uncovered_positive(self):
        coverages = masks({0, 1}, {0, 1}, {2, 3}, n=4)
        is_positive = [True, True, True, False]
        selected = cover(coverages, [1] * 3, is_positive, heuristics.precision, revalidate=False)
        assert selected == [0, 2]

    @given(st.data())
    def test_every_coverable_positive_is_covered_and_no_rule_is_idle(self, data):
        n_examples = data.draw(st.integers(1, 8))
        row = st.lists(st.booleans(), min_size=n_examples, max_size=n_examples)
        coverages = data.draw(st.lists(row, max_size=8))
        is_positive = data.draw(row)
        revalidate = data.draw(st.booleans())
        selected = cover(
            coverages, [1] * len(coverages), is_positive, heuristics.precision, revalidate
        )
        covered = set()
        for rule in selected:
            new = {j for j in range(n_examples) if coverages[rule][j]} - covered
            assert any(is_positive[j] for j in new)
            covered |= new
        for j in range(n_examples):
            if is_positive[j] and any(c[j] for c in coverages):
                assert j in covered


class TestThresholding:
    VALUES = (0.2, 0.9, 0.5, 0.5, 0.1)

    @pytest.mark.parametrize(
        ("phi", "kept"),
        [
            (1, [0, 1, 2, 3, 4]),
            (Fraction(4, 5), [0, 1, 2, 3]),
            (Decimal("0.6"), [1, 2, 3]),
            ("0.4", [1, 2, 3]),  # the second best is 0.5, and its equal stays with it
            (0.21, [1, 2, 3]),  # ⌈1.05⌉ = 2
            (0.2, [1]),
            (0.0001, [1]),
            (0, []),
        ],
    )
    def test_worked_by_hand(self, phi, kept):
        assert keep(self.VALUES, phi) == kept

    def test_phi_is_the_decimal_one_writes(self):
        # The binary number nearest to 0.55 lies above it: 0.55 · 100 rounds to 55.00000000000001.
        assert math.ceil(0.55 * 100) == 56
        assert len(keep(list(range(100)), 0.55)) == 55

    def test_nothing_selected_nothing_kept(self):
        assert keep([], 1) == []

    @pytest.mark.parametrize("phi", [-0.1, 1.1])
    def test_a_share_lies_between_zero_and_one(self, phi):
        with pytest.raises(ValueError, match="between 0 and 1"):
            keep([1], phi)


class TestPrediction:
    def test_target_class_if_any_rule_covers_else_the_other(self):
        rules = [(0, [(0, "<", 1)]), (0, [(0, ">=", 5)]), (1, [(1, "=", "red")])]
        rows = [[0, "red"], [3, "blue"], [9, None], [None, "red"]]
        expected = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]]
        assert predict(rows, rules, targets=[1, 0, 1]) == expected

    def test_an_empty_theory_predicts_the_majority(self):
        assert predict([[0]], [], targets=[1, 0]) == [[0, 1]]


TREE = {
    "feature": 0,
    "value": 5,
    "<": {
        "feature": 1,
        "branches": {
            "red": {"counts": [0, 3]},
            "blue": {
                "feature": 0,
                "value": 2,
                "<": {"counts": [1, 2]},
                ">=": {"counts": [2, 2]},  # a draw has no strict majority
            },
        },
    },
    ">=": {"feature": 0, "value": 8, "<": {"counts": [0, 1]}, ">=": {"counts": [4, 0]}},
}


class TestTreeRules:
    def test_worked_by_hand(self):
        assert extract_rules(TREE, target=1) == [
            [(0, "<", 5), (1, "=", "red")],
            [(0, "<", 2), (1, "=", "blue")],
            [(0, ">=", 5), (0, "<", 8)],
        ]
        assert extract_rules(TREE, target=0) == [[(0, ">=", 8)]]

    def test_conditions_merge_into_the_tightest_interval(self):
        path = [(0, "<", 9), (1, ">=", 1), (0, ">=", 2), (0, "<", 7), (1, ">=", 3), (0, ">=", 1)]
        assert merge(path) == [(0, ">=", 2), (0, "<", 7), (1, ">=", 3)]

    def test_a_single_leaf_gives_no_rule(self):
        assert extract_rules({"counts": [0, 7]}, target=1) == []

    @given(st.lists(st.tuples(st.integers(0, 10), st.sampled_from(["red", "blue"])), max_size=9))
    def test_a_rule_covers_exactly_its_leaf(self, rows):
        for row in rows:
            leaf = leaf_of(TREE, row)
            for index, (path, _) in enumerate(leaf_paths(TREE)):
                assert covers(merge(path), row) == (index == leaf)

    def test_a_row_without_a_value_or_a_branch_reaches_no_leaf(self):
        assert leaf_of(TREE, [None, "red"]) is None
        assert leaf_of(TREE, [1, "green"]) is None


class TestInformationGain:
    def test_entropy(self):
        assert entropy([4, 4]) == 1.0
        assert entropy([4, 0]) == 0.0
        assert entropy([]) == 0.0
        assert entropy([1, 3]) == pytest.approx(0.811278, abs=1e-6)

    def test_a_clean_boundary_gains_the_whole_entropy(self):
        assert best_numeric_split([1, 2, 5, 6], [0, 0, 1, 1]) == (1.0, 3.5)

    def test_worked_by_hand(self):
        # One of two zeros split off: 1 - 3/4 · H(1/3).
        gain, cut = best_numeric_split([1, 2, 3, 4], [0, 1, 1, 0])
        assert gain == pytest.approx(1 - 0.75 * 0.918296, abs=1e-6)
        assert cut == 1.5  # 3.5 gains as much; the lower one is taken

    def test_no_boundary(self):
        assert best_numeric_split([2, 2], [0, 1]) == (0.0, None)
        assert best_numeric_split([], []) == (0.0, None)
        assert best_numeric_split([None, 1], [0, 1]) == (0.0, None)

    def test_a_weight_is_a_number_of_copies_and_zero_is_absence(self):
        weighted = best_numeric_split([1, 2, 3, 4], [0, 1, 0, 1], [2, 0, 1, 3])
        assert weighted == pytest.approx(best_numeric_split([1, 1, 3, 4, 4, 4], [0, 0, 0, 1, 1, 1]))
        assert weighted[1] == 3.5

    def test_missing_values_scale_the_gain_by_the_known_share(self):
        gain, cut = best_numeric_split([1, 2, None, math.nan], [0, 1, 0, 1])
        assert (gain, cut) == (0.5, 1.5)
        gain, _ = best_numeric_split([1, 2, None], [0, 1, 0], [1, 1, 6])
        assert gain == 0.25

    def test_a_midpoint_tells_neighbours_apart(self):
        assert midpoint(1, 2) == 1.5
        assert midpoint(1.0, math.nextafter(1.0, 2.0)) == math.nextafter(1.0, 2.0)
        assert midpoint(1.7e308, 1.75e308) < math.inf

    def test_nominal(self):
        # Quinlan's weather data: the gain of outlook is 0.247 bits.
        outlook = ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5
        play = [0, 0, 0, 1, 1] + [1] * 4 + [1, 1, 1, 0, 0]
        assert nominal_split_gain(outlook, play) == pytest.approx(0.2467, abs=1e-4)
        # C4.5's own example: one of the fourteen outlooks unknown, 13/14 · 0.214.
        outlook[5] = None
        assert nominal_split_gain(outlook, play) == pytest.approx(0.199, abs=1e-3)

    def test_nothing_known_gains_nothing(self):
        assert nominal_split_gain([None, None], [0, 1]) == 0.0
        assert nominal_split_gain([], []) == 0.0


class TestRanks:
    def test_ties_share_the_average_of_their_places(self):
        assert average_ranks([0.9, 0.5, 0.9, 0.1]) == [1.5, 3.0, 1.5, 4.0]
        assert average_ranks([3, 3, 3]) == [2.0, 2.0, 2.0]

    def test_smaller_may_be_better(self):
        assert average_ranks([30, 10, 20], greater_is_better=False) == [3.0, 1.0, 2.0]

    @given(st.lists(st.integers(0, 5), min_size=1))
    def test_the_ranks_sum_to_that_of_the_places(self, values):
        n = len(values)
        assert sum(average_ranks(values)) == n * (n + 1) / 2
