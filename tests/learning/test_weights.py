"""Weights: an integer is a number of copies for every kernel, and fractions of them add up exactly."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import heuristics as oracle
from reference.covering import cover
from reference.growing import code_table, grow_tree, path_to_ranges
from reference.pruning import prune, rows_outside_bag
from reference.rules import coverage
from reference.tree_rules import extract_rules
from steelyard import WRA, FMeasure, MEstimate, Precision
from steelyard._kernels.boosting import boost_rules
from steelyard._kernels.growing import grow_rules
from steelyard._kernels.held_out import remove_bags
from steelyard.learning.candidates import prune_table
from steelyard.learning.covering import prepare_candidates, select_for_label, select_rules
from steelyard.learning.rule_sets import learn_rule_sets
from steelyard.learning.settings import ForestSettings
from steelyard.learning.targets import encode_targets
from steelyard.learning.training_table import code_training_table
from steelyard.learning.weights import (
    LabelWeights,
    find_draw_ends,
    round_for_sums,
    to_small_integers,
    weigh_classes,
)
from steelyard.model.coverage import index_rows, order_bits, rows_to_bits
from steelyard.model.rule_table import RuleTable
from strategies import (
    FORMS,
    body_to_oracle,
    kept_as,
    masks,
    random_generators,
    rule_tables,
    table_to_rows,
    tables,
)

seeds = st.integers(0, 2**64 - 1)
HEURISTICS = {
    Precision(): oracle.precision,
    WRA(): oracle.wra,
    MEstimate(2): lambda *counts: oracle.m_estimate(*counts, m=2),
    FMeasure(1): lambda *counts: oracle.f_measure(*counts, beta=1),
}


def ranges(table):
    triples = np.column_stack([table.feature, table.low, table.high]).tolist()
    return [triples[a:b] for a, b in zip(table.indptr[:-1], table.indptr[1:], strict=True)]


@st.composite
def weighed_tables(draw, most=4, max_rows=20):
    """A table, its codes, a mask of positives and an integer weight of at least 1 per row."""
    X = draw(tables(max_rows=max_rows))
    weights = draw(st.lists(st.integers(1, most), min_size=len(X), max_size=len(X)))
    return X, code_training_table(X), draw(masks(len(X))), np.array(weights, dtype=float)


def copies(weights):
    return np.repeat(np.arange(len(weights)), weights.astype(int)).tolist()


class TestCovering:
    @settings(max_examples=60)
    @given(weighed_tables(), st.data(), st.sampled_from(list(HEURISTICS)), st.booleans())
    def test_quarters_select_as_the_oracle_does_on_copies(self, rows, draw, heuristic, revalidate):
        X, training, is_target, weights = rows
        table = draw.draw(rule_tables(training.coded, max_rules=14))
        index, own = index_rows(training.coded), LabelWeights.combine(weights / 4, None)
        bodies = [body_to_oracle(table.body(i, training.coder), list(X)) for i in range(len(table))]
        repeated = copies(weights)

        def exact(*counts):  # of copies that weigh a quarter each
            return HEURISTICS[heuristic](*(Fraction(count, 4) for count in counts))

        expected = cover(
            [[covered[row] for row in repeated] for covered in coverage(bodies, table_to_rows(X))],
            [len(body) for body in bodies],
            is_target[repeated].tolist(),
            exact,
            revalidate=revalidate,
        )
        for form in FORMS:
            with kept_as(form):
                candidates = prepare_candidates(
                    *(table, index, is_target),
                    tree_of_rule=np.zeros(len(table), dtype=np.int64),
                    weights=own,
                )
            (found,) = select_rules(candidates, [heuristic], revalidate=revalidate)
            assert ranges(candidates.table.take(found)) == [ranges(table)[i] for i in expected]

    @settings(max_examples=50)
    @given(weighed_tables(), st.data())
    def test_the_scale_of_the_weights_does_not_matter_to_shares(self, rows, draw):
        _, training, is_target, weights = rows
        table, index = draw.draw(rule_tables(training.coded)), index_rows(training.coded)
        chosen = [
            select_for_label(
                *(index, [WRA(), Precision(), FMeasure(1)], True, table, is_target),
                weights=LabelWeights.combine(scaled, None),
            )
            for scaled in (weights, weights * 2.0**-30, weights * 2.0**20)
        ]
        for other in chosen[1:]:
            for pair in zip(chosen[0].choices, other.choices, strict=True):
                np.testing.assert_array_equal(*pair)

    def test_evidence_counts_examples_and_values_count_weights(self):
        X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
        training = code_training_table(X)
        is_target = np.array([False, False, True, True])
        table = RuleTable.from_ranges([np.array([(0, 1, 4)])])  # the three largest numbers
        own = LabelWeights.combine(np.array([1.0, 0.5, 0.25, 2.0]), None)
        rules = select_for_label(
            index_rows(training.coded), [Precision()], True, table, is_target, weights=own
        )
        assert (rules.tp.tolist(), rules.fp.tolist()) == ([2], [1])
        assert rules.weighed.tolist() == [[2.25], [0.5]]


class TestBags:
    @given(st.lists(st.integers(1, 9), min_size=1, max_size=30), seeds, st.integers(1, 40))
    def test_a_bag_is_that_of_the_copies(self, weights, seed, size):
        weights = np.array(weights, dtype=float)
        order = np.random.default_rng(seed).permutation(len(weights))
        bits = order_bits(np.arange(len(weights)) % 2 == 0)
        every = rows_to_bits(np.ones(len(weights), dtype=bool), bits)
        about = (every, bits.bit_of_row, np.arange(len(weights)), order, size)
        ends = find_draw_ends(weights, order)
        (left,) = remove_bags(*about, np.array([seed], dtype=np.uint64), ends)
        repeated = [row for row in order.tolist() for _ in range(int(weights[row]))]
        outside = np.isin(np.arange(len(weights)), rows_outside_bag(repeated, size, seed))
        assert left.tolist() == rows_to_bits(outside, bits).tolist()

    @given(st.integers(1, 300), seeds)
    def test_equal_weights_draw_as_no_weights_do(self, n_rows, seed):
        order = np.random.default_rng(seed).permutation(n_rows)
        bits = order_bits(np.ones(n_rows, dtype=bool))
        every = rows_to_bits(np.ones(n_rows, dtype=bool), bits)
        about = (every, bits.bit_of_row, np.arange(n_rows), order, n_rows)
        state = np.array([seed], dtype=np.uint64)
        weighed = remove_bags(*about, state, find_draw_ends(np.full(n_rows, 0.5), order))
        assert weighed.tolist() == remove_bags(*about, state).tolist()


class TestTrees:
    @settings(max_examples=50)
    @given(weighed_tables(), seeds, st.data())
    def test_a_tree_is_the_oracles_tree(self, rows, seed, draw):
        X, training, is_target, weights = rows
        order = np.array(draw.draw(st.permutations(range(len(X)))), dtype=np.int64)
        bag_size = draw.draw(st.integers(1, 2 * len(X)))
        counted = np.where(is_target, *draw.draw(st.tuples(st.integers(1, 5), st.integers(1, 5))))
        indptr, feature, low, high, *_ = grow_rules(
            *training[1:],
            is_target.astype(np.uint8),
            *(order, bag_size, 2, np.array([-1]), 1),
            np.array([[seed]], dtype=np.uint64),
            np.empty(0, dtype=np.uint64),
            draw_ends=find_draw_ends(weights, order),
            weights=counted.astype(np.uint32),
        )
        table = code_table(table_to_rows(X), training.coded.is_nominal.tolist())
        repeated = [row for row in order.tolist() for _ in range(int(weights[row]))]
        about = (is_target.tolist(), repeated, bag_size, 2, None, seed, counted.tolist())
        tree = grow_tree(table, *about)
        expected = {frozenset(path_to_ranges(path, table)) for path in extract_rules(tree, 1)}
        triples = np.column_stack([feature, low, high]).tolist()
        found = {frozenset(map(tuple, triples[a:b])) for a, b in pairwise(indptr)}
        assert found == expected


class TestPruning:
    @settings(max_examples=50)
    @given(weighed_tables(), seeds, st.data(), st.sampled_from(["oob", "prefix"]))
    def test_the_conditions_stay_that_pay_on_copies(self, rows, seed, draw, way):
        X, training, is_target, weights = rows
        table = draw.draw(rule_tables(training.coded))
        order = np.array(draw.draw(st.permutations(range(len(X)))), dtype=np.int64)
        of_class = np.where(is_target, 2.0, 1.0)
        own = LabelWeights.combine(weights, of_class)
        options = ForestSettings(prune=way, sample_fraction=0.3)
        one_tree = (np.zeros(len(table), dtype=np.int64), np.array([seed], dtype=np.uint64))
        about = (index_rows(training.coded), table, *one_tree, is_target, order)
        pruned = prune_table(options, *about, weights=own)
        repeated = [row for row in order.tolist() for _ in range(int(weights[row]))]
        outside = rows_outside_bag(repeated, options.bag_size(len(X)), seed)
        judged = [row for row in outside for _ in range(int(weights[row] * of_class[row]))]
        values = table_to_rows(X)
        for i, found in enumerate(ranges(pruned)):
            body = [
                body_to_oracle([condition], list(X)) for condition in table.body(i, training.coder)
            ]
            kept = prune(
                body,
                [values[row] for row in judged],
                is_target[judged].tolist(),
                only_last=way == "prefix",
            )
            assert found == [ranges(table)[i][k] for k in kept]


class TestBoosting:
    @pytest.mark.parametrize("seed", range(3))
    def test_weights_are_copies(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 4))
        is_present = X[:, 0] + rng.normal(size=60) > 0
        weights = rng.integers(1, 4, 60).astype(float)
        rows = copies(weights)
        order = np.arange(60)
        weighed = {
            "draw_ends": find_draw_ends(weights, order),
            "weights": weights,
            "drawn_weights": np.ones(60),
        }
        prior = is_present[rows].mean()
        found = boost(code_training_table(X), is_present, order, prior, seed, **weighed)
        expected = boost(
            code_training_table(X[rows]), is_present[rows], np.arange(len(rows)), prior, seed
        )
        assert found[:2] == expected[:2]
        np.testing.assert_allclose(found[2], expected[2], rtol=1e-6)

    def test_no_sum_overflows(self):
        for scale in (1e-12, 1.0, 1e12):
            own = LabelWeights.combine(np.array([1.0, 1e6, 3.0]) * scale, None)
            unit = own.find_unit(bag_size=100)
            assert max(own.total.sum(), 100 * own.drawn_weights().max()) * unit < 2**62
            assert own.total.mean() * unit >= 2**29
        assert LabelWeights.combine(np.ones(5), None).find_unit(5) == 2**30

    @pytest.mark.parametrize("most_bits", [53, 62])
    @pytest.mark.parametrize("n_rows", [5, 2**22 + 1])
    def test_no_sum_of_the_loss_has_more_bits(self, most_bits, n_rows):
        own = LabelWeights(np.ones(n_rows))
        unit = own.find_unit(bag_size=3 * n_rows, most_bits=most_bits)
        assert 3 * n_rows * unit <= 2.0 ** (most_bits - 1)
        assert unit == 2**30 or 6 * n_rows * unit > 2.0 ** (most_bits - 1)


def boost(training, is_present, order, prior, seed, **weighed):
    """Rules with their points and gains of ten rounds."""
    rule, points = np.empty((2, 10), dtype=np.int64)
    gain, length = np.empty(10), np.empty(10, dtype=np.int64)
    body = np.empty((10, 3, 3), dtype=np.int32)
    start = np.full(len(is_present), math.log(prior / (1 - prior)))
    of_rules = (np.empty(10, dtype=np.uint64), np.empty(10, dtype=np.uint8))
    window = np.flatnonzero(training.coded.n_codes > 1).astype(np.int64)
    out = (rule, points, gain, length, body, *of_rules, window, start)
    settings = (order, 40, 2, 3, 0.5, 0.3, 4.0, 100, math.inf, np.uint64(seed))
    n_choices, n_rules, _ = boost_rules(training.coded, is_present, *settings, *out, **weighed)
    bodies = [sorted(map(tuple, body[r, : length[r]].tolist())) for r in range(n_rules)]
    return bodies, points[:n_choices].tolist(), gain[:n_choices]


class TestRuleSets:
    def test_integers_learn_the_theory_of_the_copies(self):
        """Given bags of the same size, all that differs is the evidence, which counts examples."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(80, 3)).round(1), columns=list("abc"))
        Y = pd.DataFrame({"p": X["a"] > X["b"], "q": X["c"] > 0.7}).astype(int)
        weights = rng.integers(1, 4, len(X)).astype(float)
        rows = copies(weights)
        heuristics, options = [MEstimate(4), WRA()], {"n_trees": 3, "max_depths": (2, None)}
        found = learn_rule_sets(
            *(X, encode_targets(Y, of_row=weights).weigh(weights), heuristics, [1.0]),
            ForestSettings(300, **options),
        )
        expected = learn_rule_sets(
            *(X.iloc[rows], encode_targets(Y.iloc[rows]), heuristics, [1.0]),
            ForestSettings(300, sample_fraction=len(X) / len(rows), **options),
        )
        for h in range(2):
            one, other = found.theory(h), expected.theory(h)
            assert [s.rule for s in one] == [s.rule for s in other]
            assert [s.value for s in one] == [s.value for s in other]
            assert [s.smoothed_precision for s in one] == [s.smoothed_precision for s in other]
        assert found.tp.sum() < expected.tp.sum()


class TestNumbers:
    @given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=50), random_generators())
    def test_sums_do_not_depend_on_their_order(self, weights, rng):
        rounded = round_for_sums(weights)
        np.testing.assert_allclose(rounded, weights, atol=2e-15 * sum(weights))
        total, part = 0.0, rng.permutation(rounded)
        for weight in part:
            total += weight
        for weight in rng.permutation(rounded)[:-1]:
            total -= weight
        assert total in rounded
        assert sum(part) == rounded.sum()

    @given(st.lists(st.floats(0.1, 10), min_size=1, max_size=4))
    def test_small_integers_keep_proportions(self, weights):
        found = to_small_integers(np.array(weights), bag_size=100)
        wanted = np.array(weights) / max(weights) * found.max()
        np.testing.assert_allclose(found, wanted, rtol=0.01)
        assert to_small_integers(np.array(weights), bag_size=10**7).max() <= 8

    def test_balanced_classes_weigh_the_same(self):
        rng = np.random.default_rng(0)
        is_present, weights = rng.random((3, 50)) < 0.2, rng.random(50)
        found = weights * weigh_classes("balanced", list("abc"), (), is_present, weights)
        positive, negative = (found * is_present).sum(axis=1), (found * ~is_present).sum(axis=1)
        np.testing.assert_allclose(positive, negative)
        np.testing.assert_allclose(positive + negative, weights.sum())

    def test_classes_of_one_y_as_in_scikit_learn(self):
        from sklearn.utils.class_weight import compute_sample_weight

        y = np.array(list("aabbbbccccccc"))
        targets = encode_targets(y)
        for class_weight in ("balanced", {"a": 2.0, "c": 0.5}):
            own = targets.weigh(None, class_weight).weights
            assert len(own) == 3
            for weights in own:
                np.testing.assert_allclose(weights.total, compute_sample_weight(class_weight, y))
