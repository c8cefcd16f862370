"""Candidates: the rules of random trees, all of them and nothing else, whoever computes them."""

import _thread
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from reference.growing import code_table, grow_tree, path_to_ranges
from reference.rules import covers
from reference.tree_rules import extract_rules, leaf_of, leaf_paths
from steelyard import make_planted_rules
from steelyard._kernels.coding import block_codes
from steelyard._kernels.growing import grow_rules
from steelyard.learning.candidates import MIN_NEW_SHARE, grow_candidates
from steelyard.learning.sampling import draw_orders
from steelyard.learning.settings import ForestSettings
from steelyard.learning.training_table import code_training_table
from steelyard.model.rule_table import RuleTable
from strategies import (
    body_to_oracle,
    masks,
    random_generators,
    table_to_rows,
    tables,
    to_csr,
    to_sparse_frame,
)


def grow(
    training, is_target, seeds, depths=(None,), n_trees=1, bag_size=None, n_drawn=1, order=None
):
    """Rules of the trees with these seeds (n_passes, n_depths · n_trees), passes one after another.

    Returns the table, the number of rules after each pass and the number of leaves read.
    """
    n_rows = len(is_target)
    indptr, feature, low, high, _, _, pass_ends, n_extracted = grow_rules(
        training.coded,
        training.values,
        training.values_indptr,
        np.asarray(is_target, dtype=np.uint8),
        np.arange(n_rows) if order is None else np.asarray(order, dtype=np.int64),
        n_rows if bag_size is None else bag_size,
        n_drawn,
        np.array([-1 if depth is None else depth for depth in depths], dtype=np.int64),
        n_trees,
        np.asarray(seeds, dtype=np.uint64).reshape(-1, len(depths) * n_trees),
        np.empty(0, dtype=np.uint64),
    )
    return RuleTable(indptr, feature, low, high), pass_ends, n_extracted


def table_to_ranges(table):
    """The bodies of a RuleTable as lists of (feature, low, high)."""
    triples = np.column_stack([table.feature, table.low, table.high])
    return [
        [tuple(map(int, c)) for c in triples[start:end]]
        for start, end in zip(table.indptr[:-1], table.indptr[1:], strict=True)
    ]


def generate(X, is_target, n_candidates, seed=0, n_jobs=None, **options):
    """Candidates of all labels; that the data may yield fewer is not the point here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        grown = grow_candidates(
            code_training_table(X),
            np.atleast_2d(np.asarray(is_target, dtype=bool)),
            ForestSettings(n_candidates=n_candidates, **options),
            entropy=seed,
            n_jobs=n_jobs,
        )
    return [found.table for found in grown]


@st.composite
def labelled_tables(draw, **options):
    X = draw(tables(**options))
    return X, draw(masks(len(X))).tolist()


@st.composite
def labelled_sparse_tables(draw, min_columns=5, max_columns=30):
    """Like words in texts: many columns that are almost always 0, some with other gaps or numbers."""
    n_rows = draw(st.integers(20, 100))
    rng = draw(random_generators())
    columns = {}
    for j in range(draw(st.integers(min_columns, max_columns))):
        others = [[1.0], [1.0], [1.0, np.nan], [1.0, 2.0, 3.0]][rng.integers(4)]
        is_other = rng.random(n_rows) < rng.choice([0.02, 0.1, 0.3])
        usual = float(rng.random() < 0.2)  # a few columns are almost always 1
        other = np.abs(usual - rng.choice(others, n_rows))
        columns[f"x{j}"] = np.where(is_other, other, usual)
    return pd.DataFrame(columns), draw(masks(n_rows)).tolist()


seeds = st.integers(0, 2**64 - 1)


def check_tree(X, is_target, seed, n_drawn, draw, most_draws=2):
    """The rules of a tree are those of the oracle's tree."""
    n_rows = len(X)
    bag_size = draw.draw(st.integers(1, most_draws * n_rows), label="bag_size")
    depth = draw.draw(st.sampled_from([None, 1, 2, 3]), label="depth")
    order = draw.draw(st.permutations(range(n_rows)), label="order")
    training = code_training_table(X)
    table = code_table(table_to_rows(X), training.coded.is_nominal)

    tree = grow_tree(table, is_target, order, bag_size, n_drawn, depth, seed)
    expected = [path_to_ranges(body, table) for body in extract_rules(tree, target=1)]

    grown, *_ = grow(training, is_target, seed, (depth,), 1, bag_size, n_drawn, order)
    # Different leaves may test the same ranges: once is enough. Leaves come in any order.
    unique = {tuple(sorted(body)) for body in expected}
    assert sorted(tuple(sorted(body)) for body in table_to_ranges(grown)) == sorted(unique)


class TestTrees:
    @settings(max_examples=300)
    @given(labelled_tables(max_rows=30, max_columns=5) | labelled_sparse_tables(), seeds, st.data())
    def test_a_tree_is_the_oracles_tree(self, data, seed, draw):
        n_drawn = draw.draw(st.integers(1, data[0].shape[1]), label="n_drawn")
        check_tree(*data, seed, n_drawn, draw)

    # So many are counted by their bits if they are binary; large bags draw rows more than seven times.
    @settings(max_examples=40)
    @given(labelled_sparse_tables(min_columns=32, max_columns=50), seeds, st.data())
    def test_a_tree_of_many_drawn_attributes_is_the_oracles_tree(self, data, seed, draw):
        check_tree(*data, seed, 32, draw, most_draws=20)

    # Some processors count eight words of 64 rows at a time; the last ones may have to be filled up.
    @pytest.mark.parametrize("n_rows", [500, 512, 513, 700, 1_100])
    def test_a_tree_on_bits_in_many_words_is_the_oracles_tree(self, n_rows):
        rng = np.random.default_rng(n_rows)
        X = pd.DataFrame((rng.random((n_rows, 36)) < rng.uniform(0.02, 0.7, 36)).astype(float))
        is_target = (X[0] + X[1] + X[2] > 1).to_numpy() ^ (rng.random(n_rows) < 0.1)
        X.columns = [f"x{j}" for j in X]
        training = code_training_table(X)
        table = code_table(table_to_rows(X), training.coded.is_nominal)
        tree = grow_tree(table, is_target, range(n_rows), n_rows, 32, 5, 3)
        expected = {
            tuple(sorted(path_to_ranges(body, table))) for body in extract_rules(tree, target=1)
        }
        grown, *_ = grow(training, is_target, 3, (5,), 1, n_rows, 32)
        assert {tuple(sorted(body)) for body in table_to_ranges(grown)} == expected
        assert len(expected) > 3

    # Bounds of so many values are looked for in blocks, unless a node has few rows.
    @pytest.mark.parametrize("bag_size", [12, 20, 40, 300, 1_500])
    @pytest.mark.parametrize("n_values", [1_100, 5_000])
    @pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
    def test_a_tree_on_very_many_values_is_the_oracles_tree(self, bag_size, n_values, noise):
        rng = np.random.default_rng(bag_size)
        X = rng.normal(size=(n_values, 2))
        X = np.vstack([X, X[: n_values // 10]])  # some values occur twice, also in both classes
        is_target = (X[:, 0] + X[:, 1] > 1) ^ (rng.random(len(X)) < noise)
        X[rng.random(X.shape) < 0.02] = np.nan
        X = pd.DataFrame(X, columns=["a", "b"])
        training = code_training_table(X)
        assert training.coded.n_codes.min() > 1_024
        table = code_table(table_to_rows(X), training.coded.is_nominal)
        for seed, n_drawn in ((5, 1), (6, 2)):
            tree = grow_tree(table, is_target, range(len(X)), bag_size, n_drawn, 6, seed)
            expected = {
                tuple(sorted(path_to_ranges(body, table))) for body in extract_rules(tree, target=1)
            }
            grown, *_ = grow(training, is_target, seed, (6,), 1, bag_size, n_drawn)
            assert {tuple(sorted(body)) for body in table_to_ranges(grown)} == expected
            assert expected

    @pytest.mark.parametrize("share_missing", [0.0, 0.3, 1.0])
    @pytest.mark.parametrize("n_repeated", [0, 900])
    def test_blocks_are_ranges_of_codes_that_follow_each_other(self, share_missing, n_repeated):
        rng = np.random.default_rng(0)
        values = rng.permutation(np.append(np.arange(5_000.0), np.full(n_repeated, 17.5)))
        few = rng.integers(3, size=len(values)).astype(float)
        a = np.where(rng.random(len(values)) < share_missing, np.nan, values)
        coded = code_training_table(pd.DataFrame({"a": a, "few": few, "b": values})).coded
        blocks = block_codes(coded)
        for column in coded.column[coded.n_codes >= 1_024]:
            codes, block = coded.dense[column], blocks.block[column].astype(int)
            first = blocks.first_code[column]
            is_known = codes >= 0
            assert (block[~is_known] == 0).all()
            assert (first[block[is_known]] <= codes[is_known]).all()
            assert (codes[is_known] < first[block[is_known] + 1]).all()
            assert (np.bincount(block[is_known])[1:] > 0).all()
            assert block.max() == 255

    @given(labelled_tables(max_rows=30), seeds)
    def test_a_rule_covers_exactly_the_rows_that_reach_its_leaf(self, data, seed):
        X, is_target = data
        rows = table_to_rows(X)
        training = code_training_table(X)
        table = code_table(rows, training.coded.is_nominal)
        tree = grow_tree(table, is_target, range(len(X)), len(X), 1, None, seed)
        coded_rows = list(zip(*(codes for codes, _ in table), strict=True))
        # In the tree of codes missing is -1: say it in the oracle's way.
        reached = [
            leaf_of(tree, [None if code < 0 else code for code in row]) for row in coded_rows
        ]
        of_leaf = {
            tuple(sorted(path_to_ranges(path, table))): leaf
            for leaf, (path, counts) in enumerate(leaf_paths(tree))
            if path and counts[1] > counts[0]
        }
        grown, *_ = grow(training, is_target, seed)
        assert len(grown) == len(of_leaf)
        for i, body in enumerate(table_to_ranges(grown)):
            oracle_body = body_to_oracle(grown.body(i, training.coder), list(X))
            leaf = of_leaf[tuple(sorted(body))]
            assert [covers(oracle_body, row) for row in rows] == [r == leaf for r in reached]

    @given(labelled_tables(), seeds)
    def test_the_rules_of_a_tree_exclude_each_other(self, data, seed):
        X, is_target = data
        training = code_training_table(X)
        grown, *_ = grow(training, is_target, seed)
        bodies = [body_to_oracle(grown.body(i, training.coder), list(X)) for i in range(len(grown))]
        assert all(sum(covers(body, row) for body in bodies) <= 1 for row in table_to_rows(X))

    @given(labelled_tables(), st.lists(seeds, min_size=4, max_size=4), st.integers(1, 4))
    def test_a_depth_limit_bounds_the_conditions(self, data, seeds, depth):
        X, is_target = data
        training = code_training_table(X)
        grown, *_ = grow(training, is_target, seeds, (depth,), n_trees=4)
        assert grown.count_conditions(training.coded.n_codes, training.coded.is_nominal).max(
            initial=0
        ) <= (depth)

    def test_a_tree_that_has_seen_every_row_often_predicts_its_own_training_set(self):
        # With fifty draws a row every row is in the bag, and an unlimited tree separates the classes.
        X = pd.DataFrame({"x": np.arange(12.0), "c": list("abc") * 4})
        is_target = [row % 5 in (0, 3) for row in range(12)]
        training = code_training_table(X)
        grown, *_ = grow(training, is_target, 1, bag_size=600, n_drawn=2)
        bodies = [body_to_oracle(grown.body(i, training.coder), list(X)) for i in range(len(grown))]
        predicted = [any(covers(body, row) for body in bodies) for row in table_to_rows(X)]
        assert predicted == is_target

    def test_no_rule_without_a_condition(self):
        # Nothing can be told apart, so the tree is its root, and the root is no rule.
        training = code_training_table(pd.DataFrame({"x": [1.0] * 4}))
        grown, _, n_extracted = grow(training, [True, True, True, False], [1, 2, 3], n_trees=3)
        assert len(grown) == 0
        assert n_extracted.tolist() == [0]

    def test_a_cut_is_a_midpoint_of_the_rows_in_the_node_and_not_of_all_rows(self):
        # A bag without the middle row cuts at the mid-point of 0 and 10, whose first value is 8.
        training = code_training_table(pd.DataFrame({"x": [0.0, 8.0, 10.0]}))
        is_target = [False, True, True]
        cuts = {
            grown.body(0, training.coder)[0].low
            for seed in range(40)
            if len(grown := grow(training, is_target, seed)[0])
        }
        assert cuts == {4.0}
        training = code_training_table(pd.DataFrame({"x": [0.0, 3.0, 10.0]}))
        cuts = {
            grown.body(0, training.coder)[0].low
            for seed in range(40)
            if len(grown := grow(training, is_target, seed)[0])
        }
        assert cuts == {1.5, 6.5}


class TestPasses:
    @given(labelled_tables(), st.lists(seeds, min_size=12, max_size=12))
    def test_duplicates_count_once(self, data, seeds):
        X, is_target = data
        training = code_training_table(X)
        grown, pass_ends, n_extracted = grow(training, is_target, seeds, (None, 1), n_trees=2)
        bodies = [tuple(sorted(body)) for body in table_to_ranges(grown)]
        assert len(set(bodies)) == len(bodies)
        one_by_one = [
            tuple(sorted(body))
            for i, seed in enumerate(seeds)
            for body in table_to_ranges(
                grow(training, is_target, seed, ((None, 1)[i // 2 % 2],))[0]
            )
        ]
        assert set(bodies) == set(one_by_one)
        assert n_extracted.sum() == len(one_by_one)
        assert pass_ends[-1] == len(bodies)

    @pytest.mark.parametrize("n_candidates", [1, 7, 50, 400])
    def test_whole_passes_until_gamma_is_reached(self, n_candidates):
        data = make_planted_rules(60, random_state=0)
        is_target = data.Y.to_numpy(dtype=bool).T
        options = {"n_trees": 2, "max_depths": (None, 2)}
        found = sum(map(len, generate(data.X, is_target, n_candidates, **options)))
        assert found >= n_candidates
        # One candidate fewer asked for, or as many as were found: the same passes, the same rules.
        assert sum(map(len, generate(data.X, is_target, found, **options))) == found
        more = sum(map(len, generate(data.X, is_target, found + 1, **options)))
        assert more > found

    @pytest.mark.parametrize("seed", range(4))
    def test_rounds_are_invisible(self, seed):
        """Passes are grown in rounds, but the result is that of one pass after the other.

        After each of them there are two reasons to stop: enough rules, or hardly a new one.
        """
        X = pd.DataFrame({"x": np.arange(8.0), "y": [0, 1, 1, 0, 1, 0, 0, 1.0]})
        is_target = np.array([[0, 1, 0, 0, 1, 1, 0, 0]], dtype=bool)
        training = code_training_table(X)
        (order,) = draw_orders(training.coded, is_target)
        n_trees = 5
        seeds = [
            np.random.SeedSequence(seed, spawn_key=(0, p)).generate_state(n_trees, np.uint64)
            for p in range(100)
        ]
        known, ends, extracted = grow(
            training, is_target[0], seeds, (2,), n_trees, n_drawn=1, order=order
        )
        new = np.diff(ends, prepend=0)
        exhausted = ends[np.argmax((new < MIN_NEW_SHARE * extracted) | (new == 0))]
        for n_candidates in range(1, int(ends[-1]) + 10):
            (table,) = generate(X, is_target, n_candidates, seed, n_trees=n_trees, max_depths=(2,))
            enough = next((end for end in ends if end >= n_candidates), exhausted)
            expected = min(enough, exhausted)
            assert table_to_ranges(table) == table_to_ranges(known)[:expected], n_candidates

    def test_exhausted_data_is_a_warning(self):
        X = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
        with pytest.warns(ConvergenceWarning, match=r"yields only [1-9] distinct .* 1,000 asked"):
            (found,) = grow_candidates(
                code_training_table(X),
                np.array([[False, True, False]]),
                ForestSettings(n_candidates=1000),
                entropy=0,
            )
        assert 1 <= len(found.table) <= 3

    def test_a_label_of_one_class_has_no_candidates_and_disturbs_no_other(self):
        data = make_planted_rules(60, n_labels=1, random_state=0)
        present = data.Y.to_numpy(dtype=bool).T[0]
        constant = np.zeros_like(present)
        both = generate(data.X, [present, constant], 100)
        assert len(both[0]) >= 100
        assert len(both[1]) == 0
        (none,) = generate(data.X, [constant], 100)
        assert len(none) == 0

    def test_progress_is_told_and_ends_at_what_was_wanted(self):
        data = make_planted_rules(60, random_state=0)
        calls = []
        grow_candidates(
            code_training_table(data.X),
            data.Y.to_numpy(dtype=bool).T,
            ForestSettings(n_candidates=500),
            entropy=0,
            progress=lambda done, total: calls.append((done, total)),
        )
        assert calls[-1] == (500, 500)
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)


class TestReproducibility:
    data = make_planted_rules(80, missing=0.1, random_state=3)
    is_target = data.Y.to_numpy(dtype=bool).T

    def test_the_seed_decides(self):
        first, again, other = (
            generate(self.data.X, self.is_target, 300, seed=seed) for seed in (0, 0, 1)
        )
        assert [table_to_ranges(t) for t in first] == [table_to_ranges(t) for t in again]
        assert [table_to_ranges(t) for t in first] != [table_to_ranges(t) for t in other]

    def test_the_number_of_workers_does_not(self):
        one, two = (generate(self.data.X, self.is_target, 300, n_jobs=n) for n in (1, 2))
        assert [table_to_ranges(t) for t in one] == [table_to_ranges(t) for t in two]

    @settings(max_examples=30)
    @given(labelled_tables(min_rows=4), st.randoms(use_true_random=False))
    def test_nor_does_the_order_of_the_rows(self, data, random):
        X, is_target = data
        order = list(range(len(X)))
        random.shuffle(order)
        (known,) = generate(X, is_target, 30, n_trees=2)
        (other,) = generate(X.iloc[order], np.array(is_target)[order], 30, n_trees=2)
        assert table_to_ranges(known) == table_to_ranges(other)

    @settings(max_examples=30)
    @given(labelled_tables(min_rows=8, nominal=False))
    def test_nor_does_the_form_of_the_table(self, data):
        X, is_target = data
        (known,) = generate(X, is_target, 30, n_trees=2)
        for form in (X.to_numpy(), to_csr(X), to_sparse_frame(X)):
            (other,) = generate(form, is_target, 30, n_trees=2)
            assert table_to_ranges(known) == table_to_ranges(other)

    def test_a_label_has_its_own_seeds_by_its_place(self):
        # The same label twice: other trees, but the same trees whoever its neighbours are.
        X, y = self.data.X, self.is_target[0]
        first, second = generate(X, [y, y], 200)
        assert table_to_ranges(first) != table_to_ranges(second)

    def test_passes_are_prefixes_of_each_other(self):
        small = generate(self.data.X, self.is_target, 100, n_trees=2)
        large = generate(self.data.X, self.is_target, 1000, n_trees=2)
        for few, many in zip(small, large, strict=True):
            assert table_to_ranges(many)[: len(few)] == table_to_ranges(few)


def test_growing_can_be_interrupted():
    data = make_planted_rules(200, random_state=0)
    seeds = np.arange(1_000_000)  # takes a minute
    threading.Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        grow(code_training_table(data.X), data.Y.to_numpy()[:, 0], [seeds])


def test_bags_of_one_row_give_no_rules():
    # They are pure: no split, no rule.
    with pytest.warns(ConvergenceWarning, match="only 0 distinct"):
        (none,) = grow_candidates(
            code_training_table(pd.DataFrame({"x": np.arange(10.0)})),
            np.arange(10)[None] < 3,
            ForestSettings(n_candidates=10, sample_fraction=0.1),
            entropy=0,
        )
    assert len(none.table) == 0


def test_growing_stops_soon_where_few_rules_exist():
    """Iris has far fewer than 300,000 rules; all of its passes would take 13 seconds."""
    X, y = load_iris(return_X_y=True)
    training = code_training_table(X, None)
    is_target = y == np.arange(3)[:, None]
    done = []
    with pytest.warns(ConvergenceWarning, match="mostly repeat known ones"):
        grow_candidates(
            training, is_target, ForestSettings(), 0, progress=lambda n, _: done.append(n)
        )
    assert 2_000 < done[-1] < 20_000


def test_no_tree_is_deeper_than_max_conditions():
    X = np.random.default_rng(0).random((60, 4))
    tables = generate(X, [X[:, 0] > X[:, 1]], 300, max_conditions=2, max_depths=(None, 1, 5))
    assert 0 < np.diff(tables[0].indptr).max() <= 2
