"""Features: values become codes and come back as conditions, whatever the table is made of."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from steelyard.model.features import (
    MISSING,
    MOST_SPREAD_CUTS,
    CodedFeatures,
    category_text,
    code_training_table,
    mid_points,
    spread_mid_points,
    value_cuts,
)
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
        for known, again in zip(coded, coder.encode(X), strict=True):
            assert known.tolist() == again.tolist()

    @given(tables())
    def test_distinct_training_values_are_kept_for_growing(self, X):
        _, _, values, indptr = code_training_table(X)
        for f, name in enumerate(X):
            expected = np.unique(X[name].dropna()) if X[name].dtype != object else []
            assert values[indptr[f] : indptr[f + 1]].tolist() == list(expected)

    def test_a_column_of_almost_one_value_is_kept_as_a_list(self):
        X = pd.DataFrame({"rare": [7.0, *[0.0] * 15], "common": [7.0, 0.0] * 8})
        coded = code_training_table(X).coded
        assert (coded.column >= 0).tolist() == [False, True]
        assert coded.rows.tolist() == [0]
        assert coded.codes.tolist() == [1]

    def test_a_number_beyond_the_training_values_has_the_outermost_code(self):
        coder = code_training_table(pd.DataFrame({"x": [1.0, 2.0, 3.0]})).coder
        codes = rows_of_codes(coder.encode(pd.DataFrame({"x": [-9.0, 9.0, 1.49, 1.5]})))
        assert codes[:, 0].tolist() == [0, 2, 0, 1]

    @given(distinct_values, st.lists(finite, max_size=5))
    def test_the_code_of_a_number_is_how_many_cuts_are_not_above_it(self, values, numbers):
        coder = code_training_table(values[:, None]).coder
        numbers = np.array([*numbers, *values, *coder.cuts[0]])
        codes = rows_of_codes(coder.encode(numbers[:, None]))[:, 0]
        assert codes.tolist() == [int((coder.cuts[0] <= number).sum()) for number in numbers]

    def test_a_zero_that_is_not_stored_lies_on_the_upper_side_of_a_cut_at_zero(self):
        # The mid-point of the two training values is 0 itself, and x ≥ 0 holds for 0.
        coder = code_training_table(sparse.csr_array(np.array([[-1.0], [1.0]]))).coder
        new = np.array([[0.0], [-0.5], [0.0], [2.0]])
        for form in (new, sparse.csr_array(new)):
            assert rows_of_codes(coder.encode(form))[:, 0].tolist() == [1, 0, 1, 1]

    def test_an_unseen_category_has_no_code(self):
        coder = code_training_table(pd.DataFrame({"c": ["red", "blue"]})).coder
        codes = rows_of_codes(coder.encode(pd.DataFrame({"c": ["green", "red", None]})))
        assert codes[:, 0].tolist() == [MISSING, 1, MISSING]

    @pytest.mark.parametrize("column", [[np.nan] * 3, [None] * 3, pd.Categorical([None] * 3)])
    def test_a_column_without_any_value_is_missing_everywhere(self, column):
        coded = code_training_table(pd.DataFrame({"empty": column})).coded
        assert rows_of_codes(coded)[:, 0].tolist() == [MISSING] * 3
        assert coded.n_codes[0] < 2  # nothing to split on


def cast_text(X, dtype):
    return X.astype(dict.fromkeys(X.select_dtypes(object).columns, dtype))


def assert_same_codes(known: CodedFeatures, other: CodedFeatures):
    for field, a, b in zip(CodedFeatures._fields, known, other, strict=True):
        assert a.tolist() == b.tolist(), field


class TestForms:
    @given(tables(nominal=False))
    def test_every_form_of_a_numeric_table_has_the_same_codes(self, X):
        coder, coded, *_ = code_training_table(X)
        forms = [X.to_numpy(), to_csr(X), to_csr(X).tocsc(), to_csr(X).tocoo(), to_sparse_frame(X)]
        for form in forms:
            other = code_training_table(form, tuple(X))
            assert_same_codes(coded, other.coded)
            assert [c.tolist() for c in other.coder.cuts] == [c.tolist() for c in coder.cuts]
            assert_same_codes(coded, coder.encode(form))

    @given(tables())
    def test_a_mixed_frame_may_have_sparse_columns(self, X):
        assert_same_codes(
            code_training_table(X).coded, code_training_table(to_sparse_frame(X)).coded
        )

    @given(tables())
    def test_text_may_come_as_object_string_or_category(self, X):
        coded = code_training_table(X).coded
        for dtype in ("category", "string", "str"):
            assert_same_codes(coded, code_training_table(cast_text(X, dtype)).coded)

    @given(tables(), st.permutations(["blue", "green", "red", "4", "never seen"]))
    def test_the_declared_order_of_categories_does_not_matter(self, X, order):
        declared = cast_text(X, pd.CategoricalDtype(order))
        coder, coded, *_ = code_training_table(X)
        assert_same_codes(coded, code_training_table(declared).coded)
        assert_same_codes(coded, coder.encode(declared))

    @given(tables(), st.randoms(use_true_random=False))
    def test_the_order_of_rows_does_not_matter(self, X, random):
        order = list(range(len(X)))
        random.shuffle(order)
        codes = rows_of_codes(code_training_table(X).coded)
        shuffled = rows_of_codes(code_training_table(X.iloc[order]).coded)
        assert shuffled.tolist() == codes[order].tolist()

    @pytest.mark.parametrize("value", [4, 4.0, "4", np.int8(4), np.float32(4)])
    def test_a_category_is_its_text(self, value):
        assert category_text(value) == "4"

    def test_names_are_pythons_own_text(self):
        (feature,) = code_training_table(np.ones((2, 1)), np.array(["x"])).coder.features
        assert type(feature.name) is str

    def test_a_mixed_object_array_is_read_column_by_column(self):
        X = np.array([[1.5, "red"], [None, None], [2, "blue"]], dtype=object)
        coder, coded, *_ = code_training_table(X)
        assert [f.is_nominal for f in coder.features] == [False, True]
        assert rows_of_codes(coded).tolist() == [[0, 1], [MISSING, MISSING], [1, 0]]

    def test_truth_values_are_nominal_dense_or_sparse(self):
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

    def test_repeated_entries_of_a_sparse_matrix_add_up_and_the_matrix_is_left_alone(self):
        indices, indptr = np.array([2, 0, 2]), np.array([0, 3])
        X = sparse.csc_array((np.array([1.0, 5.0, 1.0]), indices, indptr), shape=(3, 1))
        codes = rows_of_codes(code_training_table(X).coded)
        assert codes[:, 0].tolist() == [2, 0, 1]
        assert X.data.tolist() == [1.0, 5.0, 1.0]
        assert X.indices.tolist() == [2, 0, 2]
        assert X.indptr.tolist() == [0, 3]


class TestRefusals:
    @pytest.mark.parametrize(
        "column",
        [
            pd.Series(pd.date_range("2020-01-01", periods=2)),
            pd.Series(pd.to_timedelta([1, 2], unit="D")),
            pd.Series(pd.period_range("2020", periods=2, freq="Y")),
        ],
        ids=["date", "duration", "period"],
    )
    def test_dates_are_refused_by_name(self, column):
        with pytest.raises(ValueError, match=r"attribute 'when' has type .*convert or drop it"):
            code_training_table(pd.DataFrame({"x": [1.0, 2.0], "when": column}))

    def test_complex_numbers_are_refused_by_name(self):
        with pytest.raises(ValueError, match="Complex data not supported: attribute 'z'"):
            code_training_table(pd.DataFrame({"z": [1j, 2j]}))

    @pytest.mark.parametrize("infinity", [np.inf, -np.inf])
    def test_infinity_is_refused_by_name(self, infinity):
        with pytest.raises(ValueError, match="attribute 'x' contains infinity"):
            code_training_table(pd.DataFrame({"x": [1.0, infinity]}))

    def test_text_in_a_numeric_attribute_is_refused_by_name(self):
        coder = code_training_table(pd.DataFrame({"x": [1.0, 2.0]})).coder
        with pytest.raises(ValueError, match=r"attribute 'x' is numeric, but one of .* 'much'"):
            coder.encode(pd.DataFrame({"x": ["much", "1.5"]}))

    def test_numbers_may_come_as_text(self):
        coder = code_training_table(pd.DataFrame({"x": [1.0, 2.0]})).coder
        codes = rows_of_codes(coder.encode(pd.DataFrame({"x": ["2", "1.0", None]})))
        assert codes[:, 0].tolist() == [1, 0, MISSING]

    def test_a_nominal_attribute_as_a_sparse_column_is_refused_by_name(self):
        coder = code_training_table(pd.DataFrame({"c": ["red", "blue"]})).coder
        with pytest.raises(ValueError, match=r"attribute 'c' is nominal and cannot be .* sparse"):
            coder.encode(sparse.csr_array(np.ones((2, 1))))

    @pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, {3}, (1, [2])], ids=str)
    def test_a_list_in_a_cell_is_refused_by_name_wherever_it_is(self, cell):
        values = np.empty((2, 2), dtype=object)
        values[:] = [[1.0, "a"], [2.0, "b"]]
        frame = pd.DataFrame({"x0": [1.0, 2.0], "x1": ["a", "b"]}).astype({"x1": object})
        coder = code_training_table(frame).coder
        message = rf"attribute 'x1' holds a {type(cell).__name__}, .*number or a category"
        values[1, 1] = cell
        frame["x1"] = pd.Series(["a", cell], dtype=object)
        for form in (values, frame):
            with pytest.raises(ValueError, match=message):
                code_training_table(form)
            with pytest.raises(ValueError, match=message):
                coder.encode(form)

    def test_a_long_list_is_not_quoted_in_full(self):
        frame = pd.DataFrame({"x": pd.Series([list(range(1000))], dtype=object)})
        with pytest.raises(ValueError, match=r"\[0, 1, .*\.\.\.,") as error:
            code_training_table(frame)
        assert len(str(error.value)) < 150

    @pytest.mark.parametrize("infinity", [np.inf, -np.inf])
    def test_infinity_is_refused_in_every_form_of_a_known_attribute(self, infinity):
        coder = code_training_table(pd.DataFrame({"size": [1.0, 2.0]})).coder
        X = np.array([[1.0], [infinity]])
        objects = X.astype(object)
        forms = [X, objects, X.astype(str), sparse.csr_array(X), sparse.csc_array(X)]
        forms += [pd.DataFrame(form, columns=["size"]) for form in (X, objects, X.astype(str))]
        forms += [pd.DataFrame({"size": ["1", "1e999"]}), to_sparse_frame(forms[5])]
        for form in forms:
            with pytest.raises(ValueError, match="attribute 'size' contains infinity"):
                coder.encode(form)

    def test_missing_values_of_pandas_are_missing_numbers_in_an_array_of_objects(self):
        coder = code_training_table(pd.DataFrame({"size": [1.0, 2.0]})).coder
        X = np.array([[2.0], [pd.NA], [None]], dtype=object)
        assert rows_of_codes(coder.encode(X))[:, 0].tolist() == [1, MISSING, MISSING]
