"""Coverage: the bits are what a row-by-row check of the conditions says."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.rules import coverage
from steelyard._kernels.coverage import find_distinct_rows
from steelyard.model.coverage import cover, index_rows, n_words, order_bits, unpack
from strategies import (
    bodies_to_table,
    body_to_oracle,
    code_table,
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


def test_a_range_of_all_codes_leaves_missing_values_out():
    _, coded = code_table(pd.DataFrame({"x": [1.0, np.nan, 2.0], "c": ["a", "b", None]}))
    bits = cover(bodies_to_table([[(0, 0, 2)], [(1, 0, 2)]]), index_rows(coded))
    assert unpack(bits, 3).tolist() == [[True, False, True], [True, True, False]]


@given(random_generators(), st.integers(0, 40))
def test_of_rules_that_cover_the_same_rows_the_shortest_stays_then_the_first(rng, n_rules):
    bits = rng.integers(2, size=(n_rules, 3), dtype=np.uint64)
    n_conditions = rng.integers(3, size=n_rules)
    kept, position = find_distinct_rows(bits, n_conditions)
    best = {}
    for rule, key in sorted(enumerate(map(bytes, bits)), key=lambda pair: n_conditions[pair[0]]):
        best.setdefault(key, rule)
    assert kept.tolist() == sorted(best.values())
    assert kept[position].tolist() == [best[bytes(row)] for row in bits]
