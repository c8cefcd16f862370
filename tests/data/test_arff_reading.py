"""What the reader understands of ARFF, each feature of the format on its own."""

import gzip

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from steelyard.data import DataError, DataWarning, load_mulan

HEADER = "@relation toy\n@attribute y {0,1}\n"


def test_nominal_attributes_become_categories_in_the_order_of_the_file(load_arff):
    data = load_arff(HEADER + "@attribute size {small, large}\n@data\n0,large\n1,small\n")
    assert data.X["size"].dtype == pd.CategoricalDtype(["small", "large"])
    assert data.X["size"].tolist() == ["large", "small"]
    assert data.Y["y"].tolist() == [0, 1]
    assert data.Y["y"].dtype == np.int8


@pytest.mark.parametrize("type_name", ["numeric", "real", "integer", "NUMERIC", "Real"])
def test_numeric_types_become_floats(load_arff, type_name):
    data = load_arff(HEADER + f"@attribute a {type_name}\n@data\n0,-1.5e3\n1, 7 \n")
    assert data.X["a"].dtype == np.float64
    assert data.X["a"].tolist() == [-1500.0, 7.0]


def test_keywords_in_any_case_comments_blank_lines_and_tabs(load_arff):
    data = load_arff(
        "% a comment\n\n@RELATION toy % another\n@Attribute\ty\t{0,1} % the label\n"
        "@ATTRIBUTE a real\n@attribute\t'b c'\t{u,\tv}\n\n@DATA\n% no row\n\n"
        "0,1,u % a remark\n1,\t2,\tv\n0\t3\tu\n"
    )
    assert data.X["a"].tolist() == [1, 2, 3]
    assert data.X["b c"].tolist() == ["u", "v", "u"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_all_line_ends(load_arff, line_end):
    text = HEADER + "@attribute a numeric\n@data\n0,1\n1,2\n"
    assert load_arff(text.replace("\n", line_end)).X["a"].tolist() == [1, 2]


def test_a_question_mark_is_missing_unless_it_is_quoted(load_arff):
    data = load_arff(
        HEADER + "@attribute a numeric\n@attribute b {'?', u}\n@data\n0,?,?\n1,1,'?'\n0, ? , u\n"
    )
    assert data.X["a"].isna().tolist() == [True, False, True]
    assert data.X["b"].isna().tolist() == [True, False, False]
    assert data.X["b"][1] == "?"


def test_quotes_and_escapes_in_names_and_values(load_arff):
    data = load_arff(
        HEADER
        + r"""@attribute 'it\'s, 50\% {x}' {'a b', "c\"d", 'e,f', g%h, 'back\\slash', 'tab\there'}
@data
0,'a b'
1,"c\"d"
0,"e,f"
1,g%h
0,'back\\slash'
1,'tab\there'
0,'\u0061 b'
"""
    )
    column = data.X["it's, 50% {x}"]
    assert column.tolist() == ["a b", 'c"d', "e,f", "g%h", "back\\slash", "tab\there", "a b"]


def test_a_sparse_row_leaves_out_zeros_and_first_values(load_arff):
    data = load_arff(
        HEADER
        + "@attribute a numeric\n@attribute b {u, v}\n@data\n"
        + "{0 1, 2 v}\n{1 2.5}\n{}\n{ 1 ? , 2 ?}\n"
    )
    assert data.Y["y"].tolist() == [1, 0, 0, 0]
    assert_array_equal(data.X["a"], [0, 2.5, 0, np.nan])
    assert data.X["b"].astype(object).fillna("missing").tolist() == ["v", "u", "u", "missing"]


def test_the_first_value_of_a_sparse_label_may_be_one(load_arff):
    data = load_arff("@attribute y {1,0}\n@attribute a numeric\n@data\n{0 0}\n{1 3}\n")
    assert data.Y["y"].tolist() == [0, 1]


def test_dense_and_sparse_rows_mix(load_arff):
    data = load_arff(HEADER + "@attribute a numeric\n@attribute b {u,v}\n@data\n{2 v}\n1,5,u\n")
    assert data.Y["y"].tolist() == [0, 1]
    assert data.X["a"].tolist() == [0, 5]
    assert data.X["b"].tolist() == ["v", "u"]


def test_quoted_values_in_sparse_rows(load_arff):
    data = load_arff(
        HEADER + "@attribute b {u, 'v, w}'}\n@attribute a numeric\n@data\n{1 'v, w}', 2 3}\n{0 1}\n"
    )
    assert data.X["b"].tolist() == ["v, w}", "u"]
    assert data.X["a"].tolist() == [3, 0]


def test_the_line_of_a_bad_cell_is_known_in_a_longer_file(load_arff):
    rows = "".join(f"{i % 2},{i}\n" for i in range(50))
    data = load_arff(HEADER + "@attribute a numeric\n@data\n" + rows)
    assert data.X["a"].tolist() == list(range(50))
    with pytest.raises(ValueError, match="line 54: attribute 'a': 'x' is not a number"):
        load_arff(HEADER + "@attribute a numeric\n@data\n" + rows.replace(",49", ",x"))


def wide_sparse_text(n_columns=200, binary="{0,1}"):
    attributes = "".join(f"@attribute w{i} {binary}\n" for i in range(n_columns))
    return (
        HEADER + attributes + "@attribute kind {u,v}\n@data\n"
        "{0 1, 1 1, 3 1}\n{200 1, 201 v}\n{3 ?}\n{}\n"
    )


def test_wide_sparse_files_give_sparse_columns_of_numbers(load_arff):
    data = load_arff(wide_sparse_text())
    assert data.X.dtypes.iloc[:200].unique().tolist() == [pd.SparseDtype(np.float64, 0)]
    assert isinstance(data.X["kind"].dtype, pd.CategoricalDtype)
    assert data.X["w0"].tolist() == [1, 0, 0, 0]
    assert_array_equal(data.X["w2"], [1, 0, np.nan, 0])
    assert data.X.columns.tolist() == [f"w{i}" for i in range(200)] + ["kind"]


def test_sparse_columns_can_be_masked_and_keep_their_names(load_arff):
    X = load_arff(wide_sparse_text()).X
    part = X[np.array([True, False, True, False])]
    assert part.shape == (2, 201)
    assert part["w0"].tolist() == [1, 0]


def test_sparse_and_dense_results_have_the_same_numbers(load_arff):
    text = wide_sparse_text(binary="numeric")
    sparse, dense = load_arff(text, sparse=True).X, load_arff(text, sparse=False).X
    assert dense["w0"].dtype == np.float64
    assert_array_equal(sparse.drop(columns="kind"), dense.drop(columns="kind"))


def test_sparse_columns_on_request_also_from_dense_rows(load_arff):
    data = load_arff(HEADER + "@attribute a {1,0}\n@data\n0,1\n1,0\n0,?\n", sparse=True)
    assert_array_equal(data.X["a"], [1, 0, np.nan])
    assert data.X["a"].dtype == pd.SparseDtype(np.float64, 0)


def test_sparse_columns_on_request_if_no_column_has_numbers(load_arff):
    data = load_arff(HEADER + "@attribute a {u,v}\n@data\n0,u\n1,v\n", sparse=True)
    assert data.X["a"].tolist() == ["u", "v"]


def test_a_narrow_sparse_file_stays_nominal(load_arff):
    data = load_arff(HEADER + "@attribute a {0,1}\n@data\n{0 1}\n{1 1}\n")
    assert data.X["a"].tolist() == ["0", "1"]


@pytest.mark.parametrize(
    ("declaration", "rows"),
    [
        ("{0,1}", "01"),
        ("{1,0}", "01"),
        ("numeric", "01"),
        ("{false,true}", ["false", "true"]),
        ("{TRUE,FALSE}", ["FALSE", "TRUE"]),
        ("{no,yes}", ["no", "yes"]),
    ],
)
def test_labels_in_their_spellings(load_arff, declaration, rows):
    data = load_arff(
        f"@attribute y {declaration}\n@attribute a numeric\n@data\n{rows[0]},1\n{rows[1]},2\n"
    )
    assert data.Y["y"].tolist() == [0, 1]


def test_labels_have_the_order_of_the_xml_and_attributes_that_of_the_file(load_arff):
    text = "".join(f"@attribute {name} numeric\n" for name in "pqrs") + "@data\n0,1,1,9\n1,2,0,8\n"
    data = load_arff(text, labels=("r", "p"))
    assert data.label_names == ["r", "p"]
    assert data.Y.to_numpy().tolist() == [[1, 0], [0, 1]]
    assert data.feature_names == ["q", "s"]


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("'toy: -C 2'", ["a", "b"]),
        ("'toy: -C -1 -split-percentage 50'", ["c"]),
        ('"-C 1"', ["a"]),
        ("toy: -C 2", ["a", "b"]),
    ],
)
def test_meka_counts_its_labels_in_the_relation_name(load_arff, relation, labels):
    text = f"@relation {relation}\n" + "".join(f"@attribute {name} {{0,1}}\n" for name in "abc")
    data = load_arff(text + "@data\n0,1,1\n1,0,0\n", labels=())
    assert data.label_names == labels


def test_compressed_files_and_the_xml_beside_them(tmp_path, load_arff):
    load_arff(HEADER + "@attribute a numeric\n@data\n0,1\n1,2\n")
    packed = tmp_path / "toy.arff.gz"
    packed.write_bytes(gzip.compress((tmp_path / "toy.arff").read_bytes()))
    data = load_mulan(str(packed))
    assert data.name == "toy"
    assert data.X["a"].tolist() == [1, 2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_encodings(tmp_path, load_arff, encoding):
    load_arff(HEADER + "@attribute a numeric\n@data\n0,1\n1,2\n")
    text = HEADER + "@attribute größe {groß, klein}\n@data\n0,groß\n1,klein\n"
    (tmp_path / "toy.arff").write_text(text, encoding=encoding)
    assert load_mulan(tmp_path / "toy.arff").X["größe"].tolist() == ["groß", "klein"]


UNSUPPORTED = (
    HEADER
    + """@attribute note string
@attribute day date "EEE, d MMM"
@attribute a numeric
@data
0,'some, text','Wed, 1 Jan',4
1,?,?,5
"""
)


def test_unsupported_attributes_are_dropped_with_a_warning_that_names_them(load_arff):
    with pytest.warns(UserWarning, match=r"'note' \(string\), 'day' \(date\)"):
        data = load_arff(UNSUPPORTED, on_unsupported="drop")
    assert data.feature_names == ["a"]
    assert data.X["a"].tolist() == [4, 5]


def test_unsupported_attributes_are_rejected_by_name_and_line(load_arff):
    with pytest.raises(ValueError, match=r"line 3: attribute 'note' has the type string"):
        load_arff(UNSUPPORTED)


@pytest.mark.parametrize("rows", ["0,1,{2}\n1,2, {0.5}\n0,3\n", "{1 1}, {2}\n{0 1, 1 2},{3}\n{}\n"])
def test_instance_weights_are_ignored_with_a_warning(load_arff, rows):
    with pytest.warns(UserWarning, match="the weights of 2 examples are ignored"):
        data = load_arff(HEADER + "@attribute a numeric\n@data\n" + rows)
    assert data.Y["y"].tolist() == [0, 1, 0]


def test_constant_labels_can_be_kept_or_dropped(load_arff):
    text = "".join(f"@attribute {name} {{0,1}}\n" for name in "yza") + "@data\n0,0,1\n0,1,0\n"
    with pytest.warns(DataWarning, match=r"no rule can be learned for labels .*: 'y' \(constant"):
        assert load_arff(text, labels=("y", "z")).label_names == ["y", "z"]
    with pytest.raises(DataError, match="label 'y' is 0 in every example"):
        load_arff(text, labels=("y", "z"), constant_labels="raise")
    with pytest.warns(UserWarning, match="dropped the constant labels 'y'"):
        data = load_arff(text, labels=("y", "z"), constant_labels="drop")
    assert data.label_names == ["z"]
    assert data.feature_names == ["a"]


@pytest.mark.parametrize(
    ("declaration", "cells"),
    [
        ("date", ["2024-02-29T18:30:00", "2024-03-01T00:00:00"]),
        ('date "yyyy-MM-dd HH:mm"', ["'2024-02-29 18:30'", "'2024-03-01 00:00'"]),
        ("DATE dd.MM.yyyy-HH:mm:ss", ["29.02.2024-18:30:00", "01.03.2024-00:00:00"]),
    ],
)
def test_dates_are_read_in_their_format(load_arff, declaration, cells):
    rows = "".join(f"{i},{cell}\n" for i, cell in enumerate([*cells]))
    data = load_arff(HEADER + f"@attribute day {declaration}\n@data\n{rows}0,?\n")
    assert data.X["day"].isna().tolist() == [False, False, True]
    assert data.X["day"].astype(str).tolist()[:2] == ["2024-02-29 18:30:00", "2024-03-01 00:00:00"]


def test_a_bad_date_is_named_with_its_line(load_arff):
    text = HEADER + "@attribute day date yyyy-MM-dd\n@data\n0,2024-02-30\n"
    with pytest.raises(
        DataError, match=r"line \d: attribute 'day': '2024-02-30' is not a date like"
    ):
        load_arff(text)


class TestMissingLabels:
    TEXT = HEADER + "@attribute a numeric\n@data\n0,1\n?,2\n1,3\n"

    def test_examples_can_be_left_out(self, load_arff):
        with pytest.warns(UserWarning, match="dropped 1 example with missing labels"):
            data = load_arff(self.TEXT, missing_labels="drop")
        assert data.X["a"].tolist() == [1, 3]
        assert data.Y["y"].tolist() == [0, 1]

    def test_a_missing_label_can_be_absent(self, load_arff):
        assert load_arff(self.TEXT, missing_labels="absent").Y["y"].tolist() == [0, 0, 1]

    def test_some_example_must_have_its_labels(self, load_arff):
        text = HEADER + "@attribute a numeric\n@data\n?,2\n"
        with pytest.raises(DataError, match="every example lacks a label"):
            load_arff(text, missing_labels="drop")


class TestMultiValuedTargets:
    TEXT = """@relation 'music: -C 2'
@attribute genre {rock, jazz, folk}
@attribute live {0,1}
@attribute loudness numeric
@data
rock,1,3
folk,0,1
?,0,2
rock,0,5
"""

    def test_they_can_be_split_into_one_label_per_value(self, load_arff):
        data = load_arff(self.TEXT, (), multi_valued="split", missing_labels="absent")
        assert data.label_names == ["genre=rock", "genre=folk", "live"]
        assert data.Y["genre=rock"].tolist() == [1, 0, 0, 1]

    def test_a_missing_target_is_missing_in_each_label(self, load_arff):
        with pytest.raises(DataError, match="line 8: label 'genre=rock' is missing"):
            load_arff(self.TEXT, (), multi_valued="split")
        with pytest.warns(UserWarning, match="dropped 1 example"):
            data = load_arff(self.TEXT, (), multi_valued="split", missing_labels="drop")
        assert data.Y["genre=folk"].tolist() == [0, 1, 0]
