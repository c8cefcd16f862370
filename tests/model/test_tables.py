"""Tables: columns are found, read in every form, and rejected by name where they cannot be read."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy import sparse

from steelyard.model.coding import FeatureCoder
from steelyard.model.features import Feature
from steelyard.model.tables import (
    NominalColumn,
    NumericColumn,
    as_array,
    as_table,
    column_names,
    column_to_values,
    select_columns,
    table_to_columns,
)
from strategies import code_table, table_to_rows, tables, to_csr, to_sparse_frame

NOTHING = np.empty(0)


def read(X, *features):
    """All columns of a table in the form of its attributes."""
    coder = FeatureCoder(features, (NOTHING,) * len(features))
    return coder.encode(X)


class TestColumns:
    def test_numbers_are_numeric_and_text_booleans_and_categories_nominal(self):
        X = pd.DataFrame(
            {
                "int": [1, 2],
                "float": [0.5, None],
                "nullable": pd.array([1, None], dtype="Int64"),
                "bool": [True, False],
                "text": ["b", "a"],
                "category": pd.Categorical(["a", None], categories=["b", "a"]),
            }
        )
        columns = list(table_to_columns(X))
        assert [isinstance(column, NumericColumn) for column in columns] == [True] * 3 + [False] * 3
        assert [column.categories for column in columns[3:]] == [
            ("False", "True"),
            ("a", "b"),
            ("a",),
        ]

    def test_a_mixed_object_array_is_read_column_by_column(self):
        X = np.array([[1.5, "red"], [None, None], [2, "blue"]], dtype=object)
        size, colour = table_to_columns(X)
        assert isinstance(size, NumericColumn)
        assert colour == NominalColumn(colour.codes, ("blue", "red"))
        assert colour.codes.tolist() == [1, -1, 0]

    @pytest.mark.parametrize("category", ["1.50", "01", "nan", "inf", "1e3"])
    def test_a_known_category_may_look_like_a_number(self, category):
        # Alone in its column it must still be that category: rows do not depend on each other.
        feature = Feature("x0", tuple(sorted([category, "a"])))
        (column,) = table_to_columns(np.array([[category]], dtype=object), [feature])
        assert column_to_values(column, 1) == [category]

    @settings(max_examples=50)
    @given(tables())
    def test_values_are_those_of_the_table_in_every_form(self, X):
        coder, _ = code_table(X)
        expected = [
            [None if v != v else v for v in column] for column in map(list, X.to_numpy(object).T)
        ]
        for form in (X, to_sparse_frame(X), X.astype("category"), X.to_numpy(dtype=object)):
            columns = table_to_columns(form, coder.features)
            found = [column_to_values(column, len(X)) for column in columns]
            assert found == expected

    @settings(max_examples=50)
    @given(tables(nominal=False))
    def test_those_of_a_sparse_matrix_too(self, X):
        coder, _ = code_table(X)
        columns = table_to_columns(to_csr(X), coder.features)
        found = [column_to_values(column, len(X)) for column in columns]
        rows = [[None if v != v else v for v in row] for row in table_to_rows(X)]
        assert [list(row) for row in zip(*found, strict=True)] == rows

    def test_names_of_an_array_are_x0_x1(self):
        assert column_names(np.ones((3, 2))) == ("x0", "x1")
        assert column_names(pd.DataFrame({"a": [1], 7: [2]})) == ("a", "7")


class TestSelecting:
    FEATURES = (Feature("a"), Feature("b"), Feature("c"))
    UNNAMED = (Feature("x0"), Feature("x1"), Feature("x2"))
    USED = np.array([0, 2])

    def test_columns_of_a_frame_are_found_by_name_in_any_order(self):
        X = pd.DataFrame({"further": [0], "c": [3], "a": [1]})
        assert select_columns(X, self.FEATURES, self.USED).to_numpy().tolist() == [[1, 3]]

    def test_attributes_that_no_rule_tests_may_be_missing(self):
        with pytest.raises(ValueError, match="the table has no column for 'c'"):
            select_columns(pd.DataFrame({"a": [1], "b": [2]}), self.FEATURES, self.USED)

    def test_columns_of_an_array_are_found_by_position(self):
        X = np.array([[1, 2, 3]])
        for form in (X, X.tolist(), sparse.csr_array(X), sparse.coo_array(X)):
            selected = select_columns(form, self.FEATURES, self.USED)
            selected = selected.toarray() if sparse.issparse(selected) else selected
            assert selected.tolist() == [[1, 3]]

    @pytest.mark.parametrize("shape", [(1, 2), (1, 4), (3,), (1, 3, 1)], ids=str)
    def test_an_array_has_as_many_columns_as_the_training_table(self, shape):
        with pytest.raises(ValueError, match=r"expected a table with 3 attributes, got shape \("):
            select_columns(np.ones(shape), self.FEATURES, self.USED)

    def test_a_frame_with_other_names_than_those_of_an_array_is_read_by_position(self):
        X = pd.DataFrame([[1, 2, 3]], columns=["first", "second", "third"])
        assert select_columns(X, self.UNNAMED, self.USED).to_numpy().tolist() == [[1, 3]]

    def test_a_frame_with_the_names_of_an_array_is_read_by_name(self):
        for names in (["x2", "x0", "x1"], ["x2", "x0"], ["x2", "x0", "x1", "further"]):
            X = pd.DataFrame([[3, 1, 2, 9][: len(names)]], columns=names)
            assert select_columns(X, self.UNNAMED, self.USED).to_numpy().tolist() == [[1, 3]]

    def test_names_counted_from_1_are_rejected(self):
        X = pd.DataFrame([[1, 2, 3]], columns=["x1", "x2", "x3"])
        with pytest.raises(ValueError, match="the table has 'x3' but not 'x0'"):
            select_columns(X, self.UNNAMED, self.USED)

    @pytest.mark.parametrize("wrong", [None, 3, "text", {"a": 1}], ids=str)
    def test_what_is_no_table_is_rejected(self, wrong):
        with pytest.raises(
            TypeError, match="X must be a DataFrame, an array, a sparse matrix or a"
        ):
            select_columns(wrong, self.FEATURES, self.USED)

    def test_rows_of_different_lengths_are_rejected(self):
        with pytest.raises(ValueError, match="the rows of the table differ in length"):
            as_array([[1, 2], [3]])


ROW = {"size": 3.0, "colour": "red", "weight": None}


class TestExamples:
    @pytest.mark.parametrize(
        "form",
        [
            dict,
            pd.Series,
            lambda row: list(row.values()),
            lambda row: np.array(list(row.values()), dtype=object),
            lambda row: pd.DataFrame([row]).iloc[0],
            lambda row: pd.DataFrame([row]).astype({"colour": "category"}).iloc[0],
        ],
    )
    def test_an_example_in_any_form_is_a_table_with_one_row(self, form):
        table = as_table(form(ROW))
        assert table.shape == (1, 3)
        features = (Feature("size"), Feature("colour", ("red",)), Feature("weight"))
        columns = table_to_columns(table, features)
        values = [column_to_values(column, 1) for column in columns]
        assert values == [[3.0], ["red"], [None]]

    def test_tables_stay_as_they_are(self):
        for X in (pd.DataFrame({"a": [1]}), sparse.csr_array(np.eye(2)), np.eye(2)):
            assert as_table(X) is X

    @pytest.mark.parametrize("wrong", [3, "red", None])
    def test_what_is_neither_is_rejected(self, wrong):
        with pytest.raises(TypeError, match=r"expected an example .* or a table, got"):
            as_table(wrong)


class TestRejections:
    def test_periods_are_rejected_by_name(self):
        column = pd.Series(pd.period_range("2020", periods=2, freq="Y"))
        with pytest.raises(ValueError, match=r"attribute 'when' has type .*convert or drop it"):
            list(table_to_columns(pd.DataFrame({"x": [1.0, 2.0], "when": column})))

    def test_complex_numbers_are_rejected_by_name(self):
        with pytest.raises(ValueError, match="Complex data not supported: attribute 'z'"):
            list(table_to_columns(pd.DataFrame({"z": [1j, 2j]})))

    @pytest.mark.parametrize("infinity", [np.inf, -np.inf])
    def test_infinity_is_rejected_by_name_in_every_form(self, infinity):
        X = np.array([[1.0], [infinity]])
        objects = X.astype(object)
        forms = [X, objects, X.astype(str), sparse.csr_array(X), sparse.csc_array(X)]
        forms += [pd.DataFrame(form, columns=["size"]) for form in (X, objects, X.astype(str))]
        forms += [pd.DataFrame({"size": ["1", "1e999"]}), to_sparse_frame(forms[5])]
        for form in forms:
            with pytest.raises(ValueError, match="attribute 'size' contains infinity"):
                read(form, Feature("size"))

    def test_text_in_a_numeric_attribute_is_rejected_by_name(self):
        with pytest.raises(ValueError, match=r"attribute 'x' is numeric, but one of .* 'much'"):
            read(pd.DataFrame({"x": ["much", "1.5"]}), Feature("x"))

    def test_a_nominal_attribute_as_a_sparse_column_is_rejected_by_name(self):
        with pytest.raises(ValueError, match=r"attribute 'c' is nominal.* sparse"):
            read(sparse.csr_array(np.ones((2, 1))), Feature("c", ("blue", "red")))

    @pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, {3}, (1, [2])], ids=str)
    def test_a_list_in_a_cell_is_rejected_by_name(self, cell):
        values = np.empty((2, 2), dtype=object)
        values[:] = [[1.0, "a"], [2.0, "b"]]
        values[1, 1] = cell
        frame = pd.DataFrame({"x0": [1.0, 2.0], "x1": pd.Series(["a", cell], dtype=object)})
        for form in (values, frame):
            with pytest.raises(
                ValueError, match=rf"attribute 'x1' holds a {type(cell).__name__}, .* a category"
            ):
                list(table_to_columns(form))

    def test_a_long_list_is_not_quoted_in_full(self):
        frame = pd.DataFrame({"x": pd.Series([list(range(1000))], dtype=object)})
        with pytest.raises(ValueError, match=r"\[0, 1, .*\.\.\.,") as error:
            list(table_to_columns(frame))
        assert len(str(error.value)) < 150
