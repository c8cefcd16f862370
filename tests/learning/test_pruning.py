"""Pruning: conditions go exactly as long as the rows outside a tree's bag do not speak against it."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from reference.pruning import prune, rows_outside_bag
from steelyard import make_planted_rules
from steelyard._kernels.growing import grow_rules
from steelyard.learning.candidates import grow_candidates, prune_table
from steelyard.learning.sampling import draw_orders
from steelyard.learning.settings import ForestSettings
from steelyard.learning.training_table import code_training_table
from steelyard.model.coverage import cover, index_rows, unpack
from steelyard.model.rule_table import RuleTable
from strategies import (
    bodies_to_table,
    body_to_oracle,
    masks,
    rule_tables,
    table_to_rows,
    tables,
    to_csr,
    to_sparse_frame,
)

seeds = st.integers(0, 2**64 - 1)
ways = st.sampled_from(["oob", "prefix"])


def table_to_ranges(table):
    """The bodies of a RuleTable as lists of (feature, low, high)."""
    triples = np.column_stack([table.feature, table.low, table.high])
    return [
        [tuple(map(int, c)) for c in triples[start:end]]
        for start, end in zip(table.indptr[:-1], table.indptr[1:], strict=True)
    ]


def group_by_attribute(table, i, training):
    """What a rule says of each of its attributes, as the oracle reads it."""
    names = [feature.name for feature in training.coder.features]
    conditions = body_to_oracle(table.body(i, training.coder), names)
    return [list(group) for _, group in itertools.groupby(conditions, key=lambda c: c[0])]


def expect(table, tree_of_rule, tree_seeds, training, rows, is_target, order, options):
    """The ranges that the oracle leaves of every rule."""
    bag_size = options.bag_size(len(rows))
    expected = []
    for i, ranges in enumerate(table_to_ranges(table)):
        seed = int(tree_seeds[tree_of_rule[i]])
        outside = rows_outside_bag([int(row) for row in order], bag_size, seed)
        kept = prune(
            group_by_attribute(table, i, training),
            [rows[row] for row in outside],
            [bool(is_target[row]) for row in outside],
            only_last=options.prune == "prefix",
        )
        expected.append([ranges[k] for k in kept])
    return expected


@st.composite
def problems(draw, max_rows=20, **options):
    """Rules from a few trees, their trees' seeds and what judges them."""
    X = draw(tables(max_rows=max_rows, **options))
    training = code_training_table(X)
    table = draw(rule_tables(training.coded))
    is_target = draw(masks(len(X)))
    tree_seeds = np.array(draw(st.lists(seeds, min_size=3, max_size=3)), dtype=np.uint64)
    trees = draw(st.lists(st.integers(0, 2), min_size=len(table), max_size=len(table)))
    order = np.array(draw(st.permutations(range(len(X)))), dtype=np.int64)
    return X, training, table, np.array(sorted(trees), np.int64), tree_seeds, is_target, order


fractions = st.sampled_from([0.05, 0.3, 1.0, 2.0, 50.0])


def prune_problem(problem, options, training=None):
    _, own_training, table, trees, tree_seeds, is_target, order = problem
    coded = (training or own_training).coded
    return prune_table(options, index_rows(coded), table, trees, tree_seeds, is_target, order)


class TestAgainstTheOracle:
    @settings(max_examples=200)
    @given(problems(), ways, fractions)
    def test_the_same_conditions_stay(self, problem, way, fraction):
        X, training, table, trees, tree_seeds, is_target, order = problem
        options = ForestSettings(prune=way, sample_fraction=fraction)
        pruned = prune_problem(problem, options)
        rows = table_to_rows(X)
        assert table_to_ranges(pruned) == expect(
            table, trees, tree_seeds, training, rows, is_target, order, options
        )

    @settings(max_examples=20)
    @given(problems(max_rows=150), ways)
    def test_more_rows_than_a_word_has_bits(self, problem, way):
        X, training, table, trees, tree_seeds, is_target, order = problem
        options = ForestSettings(prune=way)
        pruned = prune_problem(problem, options)
        rows = table_to_rows(X)
        assert table_to_ranges(pruned) == expect(
            table, trees, tree_seeds, training, rows, is_target, order, options
        )

    @settings(max_examples=40)
    @given(problems(nominal=False), ways)
    def test_the_form_of_the_table_does_not_matter(self, problem, way):
        options = ForestSettings(prune=way)
        known = table_to_ranges(prune_problem(problem, options))
        for form in (to_csr(problem[0]), to_sparse_frame(problem[0])):
            other = prune_problem(problem, options, code_training_table(form))
            assert table_to_ranges(other) == known


def generate(X, is_target, n_candidates, n_jobs=None, **options):
    """Candidates of all labels; that the data may yield fewer is not the point here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        grown = grow_candidates(
            code_training_table(X),
            np.atleast_2d(np.asarray(is_target, dtype=bool)),
            ForestSettings(n_candidates=n_candidates, **options),
            entropy=5,
            n_jobs=n_jobs,
        )
    return [found.table for found in grown]


def first_tree_of_each(table, trees):
    """Which of the trees, each given by its rules, is the first with the ranges of each rule."""
    of_tree = [{tuple(sorted(body)) for body in table_to_ranges(tree)} for tree in trees]
    return [
        next(t for t, bodies in enumerate(of_tree) if tuple(sorted(body)) in bodies)
        for body in table_to_ranges(table)
    ]


class TestOfCandidates:
    DEPTHS = (None, 2)
    N_TREES = 2
    MOST_PASSES = 20

    def grow_trees(self, training, is_target, order, label, options):
        """The rules of every tree by itself, and the seeds of the trees."""
        tree_seeds = np.concatenate(
            [
                np.random.SeedSequence(5, spawn_key=(label, p)).generate_state(4, np.uint64)
                for p in range(self.MOST_PASSES)
            ]
        )
        trees = []
        for t, seed in enumerate(tree_seeds):
            depth = self.DEPTHS[t % 4 // self.N_TREES]
            indptr, feature, low, high, *_ = grow_rules(
                training.coded,
                training.values,
                training.values_indptr,
                is_target.astype(np.uint8),
                order,
                options.bag_size(len(is_target)),
                options.n_drawn_features(training.coded.n_features),
                np.array([-1 if depth is None else depth], dtype=np.int64),
                1,
                np.array([[seed]]),
                np.empty(0, dtype=np.uint64),
            )
            trees.append(RuleTable(indptr, feature, low, high))
        return trees, tree_seeds

    @settings(max_examples=60)
    @given(
        tables(min_rows=6, max_rows=25),
        st.data(),
        ways,
        st.sampled_from([1, 12]),
        st.sampled_from([0.5, 1.0]),
    )
    def test_each_is_judged_outside_the_bag_of_the_first_tree_that_gave_it(
        self, X, data, way, n_candidates, fraction
    ):
        is_target = np.array([data.draw(masks(len(X))) for _ in range(2)])
        forest = {
            "n_trees": self.N_TREES,
            "max_depths": self.DEPTHS,
            "sample_fraction": fraction,
        }
        grown = generate(X, is_target, n_candidates, **forest)
        pruned = generate(X, is_target, n_candidates, prune=way, **forest)
        training = code_training_table(X)
        options = ForestSettings(prune=way, **forest)
        orders = draw_orders(training.coded, is_target)
        for label, (mask, order) in enumerate(zip(is_target, orders, strict=True)):
            trees, tree_seeds = self.grow_trees(training, mask, order, label, options)
            expected = expect(
                grown[label],
                first_tree_of_each(grown[label], trees),
                tree_seeds,
                training,
                table_to_rows(X),
                mask,
                order,
                options,
            )
            assert table_to_ranges(pruned[label]) == expected

    data = make_planted_rules(80, missing=0.1, random_state=3)
    is_target = data.Y.to_numpy(dtype=bool).T

    @pytest.mark.parametrize("way", ["oob", "prefix"])
    def test_a_pruned_rule_covers_what_the_whole_rule_covers_and_more(self, way):
        index = index_rows(code_training_table(self.data.X).coded)
        n_more = 0
        for whole, pruned in zip(
            generate(self.data.X, self.is_target, 300),
            generate(self.data.X, self.is_target, 300, prune=way),
            strict=True,
        ):
            assert len(pruned) == len(whole)
            before, after = (unpack(cover(t, index), len(self.data.X)) for t in (whole, pruned))
            assert not (before & ~after).any()
            n_more += int((after & ~before).sum())
        assert n_more > 0

    def test_the_first_conditions_stay_where_only_the_last_may_go(self):
        for whole, pruned in zip(
            generate(self.data.X, self.is_target, 300),
            generate(self.data.X, self.is_target, 300, prune="prefix"),
            strict=True,
        ):
            for body, rest in zip(table_to_ranges(whole), table_to_ranges(pruned), strict=True):
                assert len(rest) >= 1
                assert body[: len(rest)] == rest

    @pytest.mark.parametrize("way", ["oob", "prefix"])
    def test_the_number_of_workers_does_not_matter(self, way):
        one, two = (generate(self.data.X, self.is_target, 300, n, prune=way) for n in (1, 2))
        assert [table_to_ranges(t) for t in one] == [table_to_ranges(t) for t in two]

    def test_labels_of_one_class_have_nothing_to_prune(self):
        tables = generate(self.data.X, [self.is_target[0], np.zeros(80, bool)], 50, prune="oob")
        assert [len(table) > 0 for table in tables] == [True, False]


class TestByHand:
    """Ten rows of which a bag of one leaves nine; the first five have the target class."""

    SEED = 7
    is_target = np.arange(10) < 5

    def prune(self, columns, body, way="oob", fraction=0.1):
        training = code_training_table(pd.DataFrame(columns))
        pruned = prune_table(
            ForestSettings(prune=way, sample_fraction=fraction),
            index_rows(training.coded),
            bodies_to_table([body]),
            np.zeros(1, dtype=np.int64),
            np.array([self.SEED], dtype=np.uint64),
            self.is_target,
            np.arange(10),
        )
        return table_to_ranges(pruned)[0]

    def test_a_condition_that_tells_nothing_goes_and_the_telling_one_stays(self):
        columns = {"noise": [0.0, 1.0] * 5, "signal": [1.0] * 5 + [0.0] * 5}
        assert self.prune(columns, [(0, 1, 2), (1, 1, 2)]) == [(1, 1, 2)]
        # From the end nothing can go: without the signal the value falls.
        assert self.prune(columns, [(0, 1, 2), (1, 1, 2)], "prefix") == [(0, 1, 2), (1, 1, 2)]
        assert self.prune(columns, [(1, 1, 2), (0, 1, 2)], "prefix") == [(1, 1, 2)]

    @pytest.mark.parametrize("way", ["oob", "prefix"])
    def test_of_two_conditions_that_say_the_same_the_later_one_goes(self, way):
        signal = [1.0] * 5 + [0.0] * 5
        columns = {"a": signal, "b": signal}
        assert self.prune(columns, [(1, 1, 2), (0, 1, 2)], way) == [(1, 1, 2)]
        assert self.prune(columns, [(0, 1, 2), (1, 1, 2)], way) == [(0, 1, 2)]

    def test_one_condition_stays_though_it_does_harm(self):
        columns = {"a": [0.0] * 5 + [1.0] * 5}
        assert self.prune(columns, [(0, 1, 2)]) == [(0, 1, 2)]

    def test_an_interval_goes_as_a_whole(self):
        columns = {"x": np.arange(10.0) % 5, "signal": [1.0] * 5 + [0.0] * 5}
        assert self.prune(columns, [(0, 1, 4), (1, 1, 2)]) == [(1, 1, 2)]

    @pytest.mark.parametrize("way", ["oob", "prefix"])
    def test_where_the_bag_holds_every_row_rules_stay_as_they_are(self, way):
        # Without a row that judges, every deletion would tie and one condition be left.
        signal = [1.0] * 5 + [0.0] * 5
        body = [(0, 1, 2), (1, 1, 2), (2, 0, 1)]
        columns = {"a": signal, "b": signal, "noise": [0.0, 1.0] * 5}
        assert rows_outside_bag(range(10), 1000, self.SEED) == []
        assert self.prune(columns, body, way, fraction=100.0) == body
        assert self.prune(columns, body, way) == body[:1]

    def test_a_rule_that_covers_no_row_outside_is_shortened_where_that_does_no_harm(self):
        # No row has a = 1 and b = 1, so the rule is worth 1/2. Without b it covers positives only,
        # without a negatives only.
        columns = {"a": [1.0] * 5 + [0.0] * 5, "b": [0.0] * 5 + [1.0] * 5}
        a, b = (0, 1, 2), (1, 1, 2)
        assert self.prune(columns, [a, b]) == [a]
        assert self.prune(columns, [a, b], "prefix") == [a]
        assert self.prune(columns, [b, a], "prefix") == [b, a]
