"""Coverage: the bits are what a row-by-row check of the conditions says."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.rules import coverage
from steelyard.model.coded_rules import compile_rules, reduce_program
from steelyard.model.coverage import cover, index_rows, n_words, unpack
from steelyard.model.features import code_training_table
from strategies import (
    bodies_to_table,
    body_to_oracle,
    rows_of_codes,
    rule_tables,
    table_to_rows,
    tables,
    to_csr,
    to_sparse_frame,
)


def oracle_bodies(table, coder):
    names = [feature.name for feature in coder.features]
    return [body_to_oracle(table.body(i, coder), names) for i in range(len(table))]


@st.composite
def tables_with_rules(draw, **options):
    X = draw(tables(**options))
    training = code_training_table(X)
    return X, training, draw(rule_tables(training.coded))


@settings(max_examples=200)
@given(tables_with_rules(max_rows=70))
def test_bits_equal_a_check_row_by_row(data):
    X, training, table = data
    bits = cover(table, index_rows(training.coded))
    assert bits.shape == (len(table), n_words(len(X)))
    expected = coverage(oracle_bodies(table, training.coder), table_to_rows(X))
    assert unpack(bits, len(X)).tolist() == expected


@given(tables_with_rules())
def test_other_rows_are_covered_as_the_conditions_say(data):
    X, training, table = data
    values = {"x": [-7.0, 0.15, np.nan], "n": ["violet", "red", None]}  # partly never seen before
    unseen = pd.DataFrame({name: values[name[0]] for name in X})
    rows = pd.concat([X, unseen.astype(X.dtypes)], ignore_index=True)
    program = reduce_program(table, training.coder)
    bits = program.cover(program.select_columns(rows))
    expected = coverage(oracle_bodies(table, training.coder), table_to_rows(rows))
    assert unpack(bits, len(rows)).tolist() == expected


@given(tables_with_rules(nominal=False, max_rows=40))
def test_lists_and_columns_cover_the_same_rows(data):
    X, training, table = data
    program = reduce_program(table, training.coder)
    expected = program.cover(program.select_columns(X)).tolist()
    for form in (X.to_numpy(), to_csr(X), to_csr(X).tocsc(), to_sparse_frame(X)):
        assert program.cover(program.select_columns(form)).tolist() == expected


@given(tables_with_rules(max_rows=70))
def test_rules_read_from_their_text_cover_the_same_rows(data):
    X, training, table = data
    bodies = [table.body(i, training.coder) for i in range(len(table))]
    program = compile_rules(training.coder.features, bodies)
    again = program.cover(program.select_columns(X))
    assert again.tolist() == cover(table, index_rows(training.coded)).tolist()


@given(tables_with_rules(max_rows=70), st.randoms(use_true_random=False))
def test_bits_may_be_numbered_in_another_order(data, random):
    X, training, table = data
    order = list(range(len(X)))
    random.shuffle(order)
    index = index_rows(training.coded)
    bits = cover(table, index, np.array(order), n_words(len(X)))
    assert unpack(bits, len(X))[:, order].tolist() == unpack(cover(table, index), len(X)).tolist()


def test_more_than_one_word_of_bits():
    X = pd.DataFrame({"x": np.arange(200.0)})
    training = code_training_table(X)
    bits = cover(bodies_to_table([[(0, 60, 131)], []]), index_rows(training.coded))
    mask = unpack(bits, 200)
    assert np.flatnonzero(mask[0]).tolist() == list(range(60, 131))
    assert mask[1].all()  # a rule without conditions covers every row
    assert int(sum(int(word).bit_count() for word in bits[1])) == 200  # and no bit beyond the rows


def test_random_tables_hold_both_kinds_of_storage():
    X = pd.DataFrame({"x": [1.0] + [0.0] * 31, "z": np.arange(32.0), "c": ["a"] * 31 + ["b"]})
    coded = code_training_table(X).coded
    assert (coded.column >= 0).tolist() == [False, True, False]
    assert rows_of_codes(coded)[:, 0].tolist() == [1] + [0] * 31
