"""Codes: the same for every form of a table, and ranges of codes are what conditions say."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from steelyard._kernels.coding import list_features, take_columns
from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.features import Feature
from steelyard.model.tables import MISSING
from strategies import code_table, rows_of_codes, tables, to_csr, to_sparse_frame

finite = st.floats(allow_nan=False, allow_infinity=False)


def coder_of(feature, *cuts):
    return FeatureCoder((feature,), (np.array(cuts, dtype=float),))


def codes_of(coder, X):
    return rows_of_codes(coder.encode(X))[:, 0].tolist()


def assert_same_codes(known: CodedFeatures, other: CodedFeatures):
    for field, a, b in zip(CodedFeatures._fields, known, other, strict=True):
        assert a.tolist() == b.tolist(), field


def cast_text(X, dtype):
    return X.astype(dict.fromkeys(X.select_dtypes(object).columns, dtype))


class TestCodes:
    @given(tables())
    def test_they_are_ranks_of_numbers_and_positions_of_categories(self, X):
        coder, coded = code_table(X)
        codes = rows_of_codes(coded)
        for f, name in enumerate(X):
            known = X[name].notna().to_numpy()
            assert (codes[~known, f] == MISSING).all()
            values = X[name][known]
            if coder.features[f].is_nominal:
                expected = [coder.features[f].categories.index(v) for v in values]
            else:
                expected = np.searchsorted(np.unique(values), values)
            assert codes[known, f].tolist() == list(expected)
            assert (codes[:, f] < coder.n_codes(f)).all()

    @given(st.lists(finite, max_size=5), st.lists(finite, max_size=5))
    def test_the_code_of_a_number_is_the_count_of_cuts_that_are_not_above_it(self, cuts, numbers):
        cuts = sorted(set(cuts))
        numbers = [*numbers, *cuts, *(math.nextafter(cut, 0) for cut in cuts)]
        expected = [sum(cut <= number for cut in cuts) for number in numbers]
        assert codes_of(coder_of(Feature("x0"), *cuts), np.array(numbers)[:, None]) == expected

    def test_a_zero_that_is_not_stored_is_above_a_cut_at_zero(self):
        X = np.array([[0.0], [-0.5], [0.0], [2.0]])
        for form in (X, sparse.csr_array(X)):
            assert codes_of(coder_of(Feature("x0"), 0.0), form) == [1, 0, 1, 1]

    def test_an_unknown_category_has_no_code(self):
        coder = coder_of(Feature("c", ("blue", "red")))
        X = pd.DataFrame({"c": ["green", "red", None]})
        assert codes_of(coder, X) == [MISSING, 1, MISSING]

    @pytest.mark.parametrize("column", [[np.nan] * 3, [None] * 3, pd.Categorical([None] * 3)])
    def test_a_column_without_any_value_is_missing_everywhere(self, column):
        X = pd.DataFrame({"empty": column})
        assert codes_of(coder_of(Feature("empty"), 1.0), X) == [MISSING] * 3
        assert codes_of(coder_of(Feature("empty", ("a",))), X) == [MISSING] * 3

    @pytest.mark.parametrize(
        "values", [[True, False], [1, 0], [1.0, 0.0], ["1", "0"], ["TRUE", "0"]]
    )
    def test_booleans_may_be_written_as_numbers_or_words(self, values):
        coder = coder_of(Feature("b", ("False", "True")))
        assert codes_of(coder, pd.DataFrame({"b": values})) == [1, 0]


class TestStorage:
    def test_a_column_of_almost_one_value_is_kept_as_a_list(self):
        X = pd.DataFrame({"rare": [7.0, *[0.0] * 15], "common": [7.0, 0.0] * 8})
        _, coded = code_table(X)
        assert (coded.column >= 0).tolist() == [False, True]
        assert coded.rows.tolist() == [0]
        assert coded.codes.tolist() == [1]

    def test_random_tables_hold_both_kinds_of_storage(self):
        X = pd.DataFrame({"x": [1.0] + [0.0] * 31, "z": np.arange(32.0), "c": ["a"] * 31 + ["b"]})
        _, coded = code_table(X)
        assert (coded.column >= 0).tolist() == [False, True, False]
        assert rows_of_codes(coded)[:, 0].tolist() == [1] + [0] * 31


class TestForms:
    @settings(max_examples=50)
    @given(tables(nominal=False))
    def test_every_form_of_a_numeric_table_has_the_same_codes(self, X):
        coder, coded = code_table(X)
        forms = [X.to_numpy(), X.to_numpy(dtype=object), to_sparse_frame(X)]
        forms += [to_csr(X), to_csr(X).tocsc(), to_csr(X).tocoo()]
        for form in forms:
            assert_same_codes(coded, coder.encode(form))

    @settings(max_examples=50)
    @given(tables())
    def test_text_may_come_as_object_string_or_category(self, X):
        coder, coded = code_table(X)
        for dtype in ("category", "string", "str"):
            assert_same_codes(coded, coder.encode(cast_text(X, dtype)))
        assert_same_codes(coded, coder.encode(to_sparse_frame(X)))
        assert_same_codes(coded, coder.encode(X.to_numpy(dtype=object)))

    @settings(max_examples=50)
    @given(tables(), st.permutations(["blue", "green", "red", "4", "never seen"]))
    def test_the_declared_order_of_categories_does_not_matter(self, X, order):
        coder, coded = code_table(X)
        assert_same_codes(coded, coder.encode(cast_text(X, pd.CategoricalDtype(order))))

    @pytest.mark.parametrize("fill_value", [0.0, 3.0, np.nan])
    def test_a_sparse_column_may_be_filled_with_any_number(self, fill_value):
        values = pd.Series([0.0, 3.0, np.nan, 3.0, 1.0])
        coder, coded = code_table(pd.DataFrame({"x": values}))
        column = values.astype(pd.SparseDtype(float, fill_value))
        assert_same_codes(coded, coder.encode(pd.DataFrame({"x": column})))

    def test_repeated_entries_of_a_sparse_matrix_add_up_and_the_matrix_is_left_alone(self):
        indices, indptr = np.array([2, 0, 2]), np.array([0, 3])
        X = sparse.csc_array((np.array([1.0, 5.0, 1.0]), indices, indptr), shape=(3, 1))
        assert codes_of(coder_of(Feature("x0"), 1.5, 3.0), X) == [2, 0, 1]
        assert X.data.tolist() == [1.0, 5.0, 1.0]
        assert X.indices.tolist() == [2, 0, 2]
        assert X.indptr.tolist() == [0, 3]

    def test_numbers_may_come_as_text(self):
        X = pd.DataFrame({"x": ["2", "1.0", None]})
        assert codes_of(coder_of(Feature("x"), 1.5), X) == [1, 0, MISSING]

    def test_missing_values_of_pandas_are_missing_numbers_in_an_array_of_objects(self):
        X = np.array([[2.0], [pd.NA], [None]], dtype=object)
        assert codes_of(coder_of(Feature("x"), 1.5), X) == [1, MISSING, MISSING]


class TestRowLists:
    @given(tables(), st.booleans())
    def test_they_have_what_each_row_departs_from(self, X, with_dense):
        _, coded = code_table(X)
        codes = rows_of_codes(coded)
        lists = list_features(coded, with_dense)
        is_dense = coded.column >= 0
        usual = np.where(is_dense, 0, coded.default_code)
        departs = (codes != usual) & lists.is_listed
        for row, (start, end) in enumerate(zip(lists.indptr, lists.indptr[1:], strict=False)):
            assert lists.features[start:end].tolist() == np.flatnonzero(departs[row]).tolist()
        assert lists.n_departing.tolist() == departs.sum(axis=0).tolist()
        for f, (start, end) in enumerate(
            zip(lists.dense_indptr, lists.dense_indptr[1:], strict=False)
        ):
            rows = np.flatnonzero(departs[:, f]) if is_dense[f] else []
            assert lists.dense_rows[start:end].tolist() == list(rows)

    @given(tables())
    def test_dense_columns_are_listed_if_they_are_binary_and_few_rows_depart(self, X):
        _, coded = code_table(X)
        codes = rows_of_codes(coded)
        is_binary = (coded.n_codes == 2) & (codes >= 0).all(axis=0)
        few = is_binary & ((codes != 0).mean(axis=0) <= 0.25)
        lists = list_features(coded, with_dense=True)
        assert lists.is_binary.tolist() == is_binary.tolist()
        assert lists.is_listed.tolist() == ((coded.column < 0) | few).tolist()


def test_taken_columns_are_those_of_the_table():
    for n_rows in (0, 1, 7, 8, 9, 30):
        table = np.random.default_rng(0).normal(size=(n_rows, 6))
        out = np.empty((3, n_rows))
        take_columns(table, np.array([4, 0, 5]), out)
        assert out.tolist() == table[:, [4, 0, 5]].T.tolist()
