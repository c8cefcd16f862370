"""Coverage: the bits are what a row-by-row check of the conditions says."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.rules import coverage
from steelyard._kernels.row_store import RowStore
from steelyard.learning.candidates import grow_candidates
from steelyard.learning.settings import ForestSettings
from steelyard.learning.training_table import code_training_table
from steelyard.model.coverage import (
    collect,
    cover,
    index_rows,
    n_words,
    order_bits,
    rows_to_bits,
    unpack,
)
from strategies import (
    FORMS,
    bodies_to_table,
    body_to_oracle,
    code_table,
    kept_as,
    random_generators,
    rule_tables,
    table_to_rows,
    tables,
)


@st.composite
def tables_with_rules(draw, **options):
    X = draw(tables(**options))
    coder, coded = code_table(X)
    return X, coder, coded, draw(rule_tables(coded))


@settings(max_examples=100)
@given(tables_with_rules(max_rows=70))
def test_bits_equal_a_check_row_by_row(data):
    X, coder, coded, table = data
    bits = cover(table, index_rows(coded))
    assert bits.shape == (len(table), n_words(len(X)))
    bodies = [body_to_oracle(table.body(i, coder), list(X)) for i in range(len(table))]
    assert unpack(bits, len(X)).tolist() == coverage(bodies, table_to_rows(X))


@settings(max_examples=50)
@given(tables_with_rules(max_rows=70), st.randoms(use_true_random=False))
def test_bits_may_be_numbered_in_another_order(data, random):
    X, _, coded, table = data
    order = list(range(len(X)))
    random.shuffle(order)
    index = index_rows(coded)
    bits = cover(table, index, np.array(order), n_words(len(X)))
    assert unpack(bits, len(X))[:, order].tolist() == unpack(cover(table, index), len(X)).tolist()


@given(random_generators())
def test_positives_and_negatives_have_words_of_their_own(rng):
    is_target = rng.random(rng.integers(1, 200)) < rng.choice([0.0, 0.3, 1.0])
    order = order_bits(is_target)
    assert len(set(order.bit_of_row.tolist())) == len(is_target)
    assert (order.bit_of_row < 64 * order.n_words).all()
    assert ((order.bit_of_row < 64 * order.n_positive_words) == is_target).all()


def test_more_than_one_word_of_bits():
    _, coded = code_table(pd.DataFrame({"x": np.arange(200.0)}))
    bits = cover(bodies_to_table([[(0, 60, 131)], []]), index_rows(coded))
    mask = unpack(bits, 200)
    assert np.flatnonzero(mask[0]).tolist() == list(range(60, 131))
    assert mask[1].all()  # a rule without conditions covers every row
    assert int(sum(int(word).bit_count() for word in bits[1])) == 200  # and no bit beyond the rows


# Up to 64 codes have a set of rows each; of more codes, some rows are looked at one by one.
@pytest.mark.parametrize("n_codes", [2, 3, 64, 65, 66, 400])
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_ranges_of_few_and_of_many_codes(n_codes, share_missing):
    rng = np.random.default_rng(n_codes)
    values = np.append(np.arange(n_codes), rng.integers(n_codes, size=300)).astype(float)
    x = np.where(rng.random(len(values)) < share_missing, np.nan, values)
    _, coded = code_table(pd.DataFrame({"x": x, "y": values}))
    bodies, expected = [], []
    for f in range(2):
        assert coded.column[f] >= 0
        codes = coded.dense[coded.column[f]]
        for _ in range(20):
            low, high = np.sort(rng.integers(coded.n_codes[f] + 1, size=2)).tolist()
            bodies.append([(f, low, high)])
            expected.append((low <= codes) & (codes < high))
    mask = unpack(cover(bodies_to_table(bodies), index_rows(coded)), len(values))
    assert mask.tolist() == np.array(expected).tolist()


def test_a_range_of_all_codes_leaves_missing_values_out():
    _, coded = code_table(pd.DataFrame({"x": [1.0, np.nan, 2.0], "c": ["a", "b", None]}))
    bits = cover(bodies_to_table([[(0, 0, 2)], [(1, 0, 2)]]), index_rows(coded))
    assert unpack(bits, 3).tolist() == [[True, False, True], [True, True, False]]


def random_store(rng, n_rules):
    """A store of random rules beside their masks and the rows of the target class."""
    n_rows = int(rng.integers(1, 200))
    is_target = rng.random(n_rows) < rng.choice([0.0, 0.3, 1.0])
    masks = rng.random((n_rules, n_rows)) < rng.random((n_rules, 1))
    bits = order_bits(is_target)
    store = RowStore(bits.n_positive_words, bits.n_words, int(rng.integers(0, n_rows + 1)))
    store.add_bits(mask_to_bits(masks, bits))
    return store, masks, is_target


def mask_to_bits(masks, bits):
    words = [rows_to_bits(mask, bits) for mask in masks]
    return np.array(words, dtype=np.uint64).reshape(len(masks), bits.n_words)


class TestKeptRows:
    @settings(max_examples=50)
    @given(tables_with_rules(max_rows=70), random_generators(), st.sampled_from(list(FORMS)))
    def test_they_are_the_covered_rows_of_the_best_of_equal_rules(self, data, rng, form):
        X, _, coded, table = data
        index, bits = index_rows(coded), order_bits(rng.random(len(X)) < 0.4)
        key = rng.integers(3, size=len(table))
        tree_of_rule = np.sort(rng.integers(2, size=len(table)))
        with kept_as(form):
            store, kept, position = collect(table, index, bits, key, tree_of_rule)
        expected = cover(table, index, bits.bit_of_row, bits.n_words)
        best = {}
        for rule, row in sorted(enumerate(map(bytes, expected)), key=lambda pair: key[pair[0]]):
            best.setdefault(row, rule)
        assert kept.tolist() == sorted(best.values())
        assert kept[position].tolist() == [best[bytes(row)] for row in expected]
        assert store.to_bits().tolist() == expected[kept].tolist()

    @pytest.mark.parametrize("form", FORMS)
    def test_routed_rules_of_trees_that_split_an_attribute_again_and_again(self, form):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(
            {
                "x": rng.normal(size=300),
                "y": rng.integers(5, size=300) * 1.0,
                "z": rng.choice(list("abc"), 300),
            }
        )
        X.loc[rng.integers(300, size=40), "x"] = np.nan
        is_target = rng.random((1, 300)) < 0.4
        training = code_training_table(X)
        (grown,) = grow_candidates(training, is_target, ForestSettings(500), 0)
        index, bits = index_rows(training.coded), order_bits(is_target[0])
        with kept_as(form):
            store, *_ = collect(grown.table, index, bits, None, grown.tree_of_rule)
        expected = cover(grown.table, index, bits.bit_of_row, bits.n_words)
        assert store.to_bits().tolist() == expected.tolist()

    @given(random_generators())
    def test_rows_are_counted_by_their_class(self, rng):
        store, masks, is_target = random_store(rng, 5)
        among = rng.random((2, len(is_target))) < 0.5
        set_of_rule = rng.integers(2, size=5)
        tp, fp = store.count_among(mask_to_bits(among, order_bits(is_target)), set_of_rule)
        seen = masks & among[set_of_rule]
        assert tp.tolist() == (seen & is_target).sum(axis=1).tolist()
        assert fp.tolist() == (seen & ~is_target).sum(axis=1).tolist()
        tp, fp = store.counts()
        assert tp.tolist() == (masks & is_target).sum(axis=1).tolist()
        assert fp.tolist() == (masks & ~is_target).sum(axis=1).tolist()

    @given(random_generators())
    def test_a_row_is_new_for_the_first_rule_that_covers_it(self, rng):
        store, masks, is_target = random_store(rng, 5)
        order = rng.integers(5, size=7)
        new_tp, new_fp = store.count_new(order)
        covered = np.zeros_like(is_target)
        for position, rule in enumerate(order):
            new = masks[rule] & ~covered
            assert (new & is_target).sum() == new_tp[position]
            assert (new & ~is_target).sum() == new_fp[position]
            covered |= new

    @given(random_generators())
    def test_a_store_survives_pickling_and_taking(self, rng):
        store, *_ = random_store(rng, 4)
        chosen = rng.integers(4, size=3)
        assert store.take(chosen).to_bits().tolist() == store.to_bits()[chosen].tolist()
        again = pickle.loads(pickle.dumps(store))
        assert again.to_bits().tolist() == store.to_bits().tolist()
        assert np.array(again.counts()).tolist() == np.array(store.counts()).tolist()

    def test_no_more_memory_than_allowed(self):
        store = RowStore(0, 1000, max_bytes=100_000)
        with pytest.raises(MemoryError):
            store.add_bits(np.ones((100, 1000), dtype=np.uint64))
        assert store.n_bytes <= 100_000
