"""The training table: cut points that separate its values, and the codes that follow from them."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.learning.training_table import (
    MOST_SPREAD_CUTS,
    code_training_table,
    mid_points,
    spread_mid_points,
    value_cuts,
)
from steelyard.model.coding import CodedFeatures
from steelyard.model.tables import MISSING
from strategies import rows_of_codes, tables, to_csr, to_sparse_frame

finite = st.floats(allow_nan=False, allow_infinity=False)
distinct_values = st.lists(finite.map(lambda x: x + 0.0), min_size=1, max_size=12, unique=True).map(
    lambda values: np.array(sorted(values))
)


class TestCutPoints:
    @given(distinct_values)
    def test_a_cut_separates_neighbouring_values(self, values):
        for (lower, upper), cut in zip(pairwise(values), mid_points(values), strict=True):
            assert lower < cut <= upper

    def test_neighbouring_floats_are_separated_too(self):
        values = np.array([1.0, np.nextafter(1.0, 2.0)])
        assert mid_points(values) == values[1]

    def test_huge_values_do_not_overflow(self):
        largest = np.finfo(float).max
        assert mid_points(np.array([-largest, largest])) == 0
        assert np.isfinite(mid_points(np.array([0.9 * largest, largest]))).all()

    def test_a_cut_reads_as_a_person_would_write_it(self):
        assert mid_points(np.array([0.1, 0.2])).tolist() == [0.15]

    @given(distinct_values)
    def test_few_cut_points_need_not_be_spread(self, values):
        assert spread_mid_points(values).tolist() == mid_points(values).tolist()

    @pytest.mark.parametrize("n_values", [63, 64, 65, 66, 127, 128, 129, 1000, 10_000])
    def test_spread_cut_points_have_the_same_number_of_values_between_them(self, n_values):
        values = np.cumsum(np.random.default_rng(n_values).exponential(size=n_values))
        cuts = spread_mid_points(values)
        assert len(cuts) == min(n_values - 1, MOST_SPREAD_CUTS)
        assert set(cuts) <= set(mid_points(values))
        n_values_of_code = np.bincount(np.searchsorted(cuts, values, side="right"))
        assert len(n_values_of_code) == len(cuts) + 1
        assert n_values_of_code.max() - n_values_of_code.min() <= 1

    @given(distinct_values)
    def test_cuts_at_the_values_give_every_value_and_every_gap_a_code(self, values):
        codes = np.searchsorted(value_cuts(values), values, side="right")
        assert codes.tolist() == [2 * i + 1 for i in range(len(values))]


class TestCodes:
    @given(tables())
    def test_numbers_are_coded_by_rank_and_text_by_category(self, X):
        training = code_training_table(X)
        codes = rows_of_codes(training.coded)
        for f, name in enumerate(X):
            known = X[name].notna().to_numpy()
            assert (codes[~known, f] == MISSING).all()
            values = X[name][known]
            if training.coder.features[f].is_nominal:
                expected = [training.coder.features[f].categories.index(v) for v in values]
            else:
                expected = np.searchsorted(np.unique(values), values)
            assert codes[known, f].tolist() == list(expected)

    @given(tables())
    def test_encoding_the_training_table_gives_the_training_codes(self, X):
        coder, coded, *_ = code_training_table(X)
        assert_same_codes(coded, coder.encode(X))

    @given(tables())
    def test_distinct_training_values_are_kept_for_growing(self, X):
        _, _, values, indptr = code_training_table(X)
        for f, name in enumerate(X):
            expected = np.unique(X[name].dropna()) if X[name].dtype != object else []
            assert values[indptr[f] : indptr[f + 1]].tolist() == list(expected)

    @pytest.mark.parametrize("column", [[np.nan] * 3, [None] * 3, pd.Categorical([None] * 3)])
    def test_a_column_without_any_value_is_missing_everywhere(self, column):
        coded = code_training_table(pd.DataFrame({"empty": column})).coded
        assert rows_of_codes(coded)[:, 0].tolist() == [MISSING] * 3
        assert coded.n_codes[0] < 2  # nothing to split on


def assert_same_codes(known: CodedFeatures, other: CodedFeatures):
    for field, a, b in zip(CodedFeatures._fields, known, other, strict=True):
        assert a.tolist() == b.tolist(), field


def cast_text(X, dtype):
    return X.astype(dict.fromkeys(X.select_dtypes(object).columns, dtype))


class TestForms:
    @given(tables(nominal=False))
    def test_every_form_of_a_numeric_table_has_the_same_codes(self, X):
        coder, coded, *_ = code_training_table(X)
        forms = [X.to_numpy(), to_csr(X), to_csr(X).tocsc(), to_csr(X).tocoo(), to_sparse_frame(X)]
        for form in forms:
            other = code_training_table(form, tuple(X))
            assert_same_codes(coded, other.coded)
            assert [c.tolist() for c in other.coder.cuts] == [c.tolist() for c in coder.cuts]

    @given(tables(), st.permutations(["blue", "green", "red", "4", "never seen"]))
    def test_the_declared_order_of_categories_does_not_matter(self, X, order):
        declared = cast_text(X, pd.CategoricalDtype(order))
        assert_same_codes(code_training_table(X).coded, code_training_table(declared).coded)

    @given(tables(), st.randoms(use_true_random=False))
    def test_the_order_of_rows_does_not_matter(self, X, random):
        order = list(range(len(X)))
        random.shuffle(order)
        codes = rows_of_codes(code_training_table(X).coded)
        shuffled = rows_of_codes(code_training_table(X.iloc[order]).coded)
        assert shuffled.tolist() == codes[order].tolist()

    def test_names_are_pythons_own_text(self):
        (feature,) = code_training_table(np.ones((2, 1)), np.array(["x"])).coder.features
        assert type(feature.name) is str

    def test_booleans_are_nominal_dense_or_sparse(self):
        dense = pd.DataFrame({"flag": [True, False, False]})
        expected = code_training_table(dense)
        assert expected.coder.features[0].categories == ("False", "True")
        other = code_training_table(dense.astype("Sparse[bool]"))
        assert other.coder.features == expected.coder.features
        assert_same_codes(other.coded, expected.coded)

    @pytest.mark.parametrize("fill_value", [0.0, 3.0, np.nan])
    def test_a_sparse_column_may_be_filled_with_any_number(self, fill_value):
        values = pd.Series([0.0, 3.0, np.nan, 3.0, 1.0])
        expected = code_training_table(pd.DataFrame({"x": values}))
        column = values.astype(pd.SparseDtype(float, fill_value))
        other = code_training_table(pd.DataFrame({"x": column}))
        assert_same_codes(expected.coded, other.coded)
