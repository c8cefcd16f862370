"""The nine data sets of the paper are read completely and as they are."""

import numpy as np
import pandas as pd
import pytest

from steelyard.data import load_mulan, read_folds

SHAPES = {  # examples, attributes, labels, nominal attributes
    "birds": (645, 260, 19, 2),
    "cal500": (502, 68, 174, 0),
    "emotions": (593, 72, 6, 0),
    "enron": (1702, 1001, 53, 0),
    "flags": (194, 19, 7, 9),
    "genbase": (662, 1186, 27, 1186),
    "medical": (1954, 1909, 45, 0),
    "scene": (2407, 294, 6, 0),
    "yeast": (2417, 103, 14, 0),
}


@pytest.fixture(scope="module")
def load(paper_data):
    cache = {}

    def load(name):
        if name not in cache:
            cache[name] = load_mulan(paper_data / name / f"{name}.arff")
        return cache[name]

    return load


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_folds(load, paper_data, name):
    data = load(name)
    n_examples, n_features, n_labels, n_nominal = SHAPES[name]
    assert data.X.shape == (n_examples, n_features)
    assert data.Y.shape == (n_examples, n_labels)
    assert data.X.select_dtypes("category").shape[1] == n_nominal
    assert data.name == name
    assert set(np.unique(data.Y)) == {0, 1}
    assert not data.X.isna().any(axis=None)
    folds = read_folds(paper_data / name / "folds.csv", n_examples=n_examples)
    assert set(folds) == set(range(1, 11))


def test_an_escaped_name_in_the_arff_meets_its_plain_form_in_the_xml(load):
    assert "Swainson's Thrush" in load("birds").label_names


def test_names_with_percent_signs_and_commas(load):
    medical = load("medical")
    assert "50%" in medical.feature_names
    assert "486:Pneumonia,_organism_unspecified" in medical.label_names


def test_labels_have_the_order_of_the_xml(load):
    assert load("yeast").label_names[:5] == ["Class1", "Class2", "Class3", "Class6", "Class4"]
    assert load("flags").label_names[0] == "red"


def test_spot_values_of_dense_rows(load):
    scene = load("scene")
    assert scene.X.iloc[0, :3].tolist() == [0.308518, 0.269113, 0.280189]
    flags = load("flags")
    assert flags.X.iloc[0, :4].tolist() == ["4", "1", 164, 7]
    assert flags.Y.iloc[0].tolist() == [1, 0, 0, 0, 1, 0, 0]
    assert load("genbase").X["protein"].nunique() == 662


def test_spot_values_of_sparse_rows(load):
    enron = load("enron")
    present = np.flatnonzero(enron.X.iloc[0])
    assert present.tolist() == [243, 437, 499, 622, 996]
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in enron.X.dtypes)
    assert enron.Y.iloc[0].sum() == 1


@pytest.mark.parametrize(("name", "cardinality"), [("emotions", 1.87), ("yeast", 4.24)])
def test_cardinalities_are_the_published_ones(load, name, cardinality):
    assert round(load(name).cardinality, 2) == cardinality


def test_sparse_and_dense_forms_of_medical_hold_the_same_numbers(load, paper_data):
    sparse = load("medical").X
    dense = load_mulan(paper_data / "medical" / "medical.arff", sparse=False).X
    assert (np.asarray(sparse) == np.asarray(dense)).all()
