import dataclasses

import numpy as np
import pandas as pd
import pytest

from steelyard.data import MultiLabelData


@pytest.fixture
def data():
    X = pd.DataFrame({"size": [1.0, 2.0], "kind": pd.Categorical(["a", "b"])})
    return MultiLabelData(X, pd.DataFrame({"l": [0, 1]}, dtype="int8"), name="two")


def test_the_repr_counts_everything(data):
    assert repr(data) == (
        "two: 2 examples, 2 attributes (1 numeric, 1 nominal), 1 label, cardinality 0.50"
    )


def test_names_follow_the_columns(data):
    assert data.feature_names == ["size", "kind"]
    assert data.label_names == ["l"]
    assert len(data) == 2


def test_the_labels_are_plain_integers(data):
    assert np.asarray(data.Y).dtype.kind == "i"


def test_it_is_frozen(data):
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"


def test_attributes_and_labels_must_have_as_many_examples(data):
    with pytest.raises(ValueError, match="X has 2 examples, but Y has 1"):
        MultiLabelData(data.X, data.Y[:1], name="odd")
