"""Coded rules: bodies with names and values cover what their conditions say, in every form of table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.rules import coverage
from steelyard.model import coded_rules as module
from steelyard.model.coded_rules import code_rules, drop_unused
from steelyard.model.conditions import Condition, merge_conditions
from steelyard.model.coverage import cover, index_rows, unpack
from steelyard.model.features import Feature
from steelyard.model.firing import find_bounds, fire
from steelyard.model.tables import table_to_columns
from strategies import (
    body_to_oracle,
    code_table,
    random_generators,
    rule_tables,
    table_to_rows,
    tables,
    to_csr,
    to_sparse_frame,
)
from theories import FEATURES, random_body, random_table


@st.composite
def tables_with_rules(draw, **options):
    X = draw(tables(**options))
    coder, coded = code_table(X)
    return X, coder, coded, draw(rule_tables(coded))


def bodies_of(coded):
    return [coded.body(i) for i in range(len(coded))]


def mask_of(coded, X):
    return unpack(*coded.cover(X)).tolist()


class TestCovering:
    @settings(max_examples=50)
    @given(random_generators())
    def test_random_bodies_cover_what_a_check_row_by_row_says(self, rng):
        bodies = [merge_conditions(random_body(rng)) for _ in range(rng.integers(8))]
        X = random_table(rng, int(rng.integers(1, 70)))
        rows = table_to_rows(X.astype({"switch": str}))
        expected = coverage([body_to_oracle(body, list(X)) for body in bodies], rows)
        assert mask_of(code_rules(FEATURES, bodies), X) == expected

    @settings(max_examples=50)
    @given(tables_with_rules(max_rows=150), st.sampled_from([pd.DataFrame, to_sparse_frame]))
    def test_testing_each_bound_is_the_same_as_looking_it_up_in_sorted_codes(self, data, to_form):
        X, coder, coded, table = data
        columns = list(table_to_columns(to_form(X), coder.features))
        fired = fire(find_bounds(table, coder), coder, columns, len(X))
        assert fired.tolist() == cover(table, index_rows(coded)).tolist()

    @settings(max_examples=50)
    @given(tables_with_rules())
    def test_values_and_categories_never_seen_before_are_covered_as_conditions_say(self, data):
        X, coder, _, table = data
        values = {"x": [-7.0, 0.15, np.nan], "n": ["violet", "red", None]}
        unseen = pd.DataFrame({name: values[name[0]] for name in X})
        rows = pd.concat([X, unseen.astype(X.dtypes)], ignore_index=True)
        bodies = [body_to_oracle(table.body(i, coder), list(X)) for i in range(len(table))]
        expected = coverage(bodies, table_to_rows(rows))
        assert mask_of(drop_unused(table, coder), rows) == expected

    @settings(max_examples=50)
    @given(tables_with_rules(max_rows=70))
    def test_rules_coded_from_their_conditions_cover_the_same_rows(self, data):
        X, coder, coded, table = data
        bodies = [table.body(i, coder) for i in range(len(table))]
        again, _ = code_rules(coder.features, bodies).cover(X)
        assert again.tolist() == cover(table, index_rows(coded)).tolist()

    @settings(max_examples=50)
    @given(tables_with_rules(nominal=False, max_rows=40))
    def test_every_form_of_a_table_is_covered_alike(self, data):
        X, coder, _, table = data
        coded = drop_unused(table, coder)
        expected = mask_of(coded, X)
        for form in (X.to_numpy(), to_csr(X), to_csr(X).tocsc(), to_sparse_frame(X)):
            assert mask_of(coded, form) == expected

    @pytest.mark.parametrize("n_rows", [0, 1, 64, 65, 200])
    def test_blocks_of_rows_are_invisible(self, n_rows, monkeypatch):
        rng = np.random.default_rng(n_rows)
        coded = code_rules(FEATURES, [random_body(rng)[:1] for _ in range(5)])
        X = random_table(rng, n_rows)
        expected = mask_of(coded, X)
        monkeypatch.setattr(module, "_BLOCK_ROWS", 64)
        blocks = list(coded.cover_blocks(X))
        assert len(blocks) == max(1, -(-n_rows // 64))
        found = [unpack(bits, n_in_block) for bits, n_in_block in blocks]
        assert np.hstack([np.empty((5, 0)), *found]).astype(bool).tolist() == expected


class TestBodies:
    @settings(max_examples=50)
    @given(tables_with_rules())
    def test_without_unused_attributes_rules_say_the_same(self, data):
        _, coder, _, table = data
        coded = drop_unused(table, coder)
        assert bodies_of(coded) == [table.body(i, coder) for i in range(len(table))]
        assert len(coded.used_idx) == len(coded.used_features) == len(set(table.feature.tolist()))

    @settings(max_examples=50)
    @given(tables_with_rules())
    def test_coded_from_their_conditions_they_say_the_same(self, data):
        _, coder, _, table = data
        bodies = [table.body(i, coder) for i in range(len(table))]
        assert bodies_of(code_rules(coder.features, bodies)) == bodies

    @settings(max_examples=100)
    @given(random_generators())
    def test_random_bodies_are_read_back_but_for_how_they_contradict_themselves(self, rng):
        bodies = [merge_conditions(random_body(rng)) for _ in range(rng.integers(8))]
        for found, body in zip(bodies_of(code_rules(FEATURES, bodies)), bodies, strict=True):
            for again, condition in zip(found, body, strict=True):
                assert again.is_empty == condition.is_empty
                if not condition.is_empty:  # x < 0.30000000000000004 may be read as x ≤ 0.3
                    assert (again.feature, again.low, again.cut, again.categories) == (
                        condition.feature,
                        condition.low,
                        condition.cut,
                        condition.categories,
                    )

    def test_a_set_of_categories_with_gaps_has_an_order_of_its_own(self):
        features = (Feature("c", tuple("abcde")), Feature("x"))
        body = (Condition("c", "in", list("ace")), Condition("x", "≥", 1))
        coded = code_rules(features, [body, body[1:]])
        assert (len(coded), coded.sources.tolist()) == (2, [0, 1, 0])
        assert coded.coder.features[2].categories == tuple("acebd")
        assert coded.used_features == features
        assert bodies_of(coded) == [body, body[1:]]
        X = pd.DataFrame({"c": list("abcde"), "x": [1.0, 1.0, 0.0, 1.0, 1.0]})
        assert mask_of(coded, X) == [
            [True, False, False, False, True],
            [True, True, False, True, True],
        ]

    def test_no_rules_are_no_rules(self):
        coded = code_rules(FEATURES, [])
        assert (len(coded), bodies_of(coded)) == (0, [])
        assert mask_of(coded, random_table(np.random.default_rng(0), 5)) == []
