"""OpenML's data sets, without a network: the answers of fetch_openml are made up here."""

import gzip
import hashlib
import json
from urllib.error import HTTPError, URLError

import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from steelyard.data import DataError, fetch_multilabel


@pytest.fixture
def openml(monkeypatch):
    """What fetch_openml answers (or raises), and the queries that it was asked."""

    class OpenML:
        answer = Bunch(
            data=pd.DataFrame(
                {"Att1": [0.5, 1.5], "word": pd.Categorical(["0", "1"]), "free": ["a", "b"]}
            ),
            target=pd.DataFrame(
                {
                    "Class1": pd.Categorical(["FALSE", "TRUE"]),
                    "Class2": pd.Categorical(["TRUE", "FALSE"], ["TRUE", "FALSE"]),
                }
            ),
            DESCR="what OpenML says",
        )

        def __init__(self):
            self.queries = []

        def __call__(self, **query):
            self.queries.append(query)
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    openml = OpenML()
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", openml)
    return openml


def test_true_and_false_become_one_and_zero(openml):
    data = fetch_multilabel("yeast")
    assert data.name == "yeast"
    assert data.description == "what OpenML says"
    assert data.Y.to_dict("list") == {"Class1": [0, 1], "Class2": [1, 0]}
    assert data.X["Att1"].tolist() == [0.5, 1.5]
    assert data.X.select_dtypes("category").columns.tolist() == ["word", "free"]


def test_a_name_is_asked_for_by_its_number(openml, tmp_path):
    fetch_multilabel("LANGLOG", data_home=tmp_path)
    assert openml.queries == [
        {"data_id": 40593, "data_home": tmp_path, "as_frame": True, "parser": "liac-arff"}
    ]


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DataError, match=r"'emotion' \(did you mean 'emotions'.*known are birds, "):
        fetch_multilabel("emotion")


@pytest.mark.parametrize(
    "failure",
    [
        URLError("no route to host"),
        TimeoutError("timed out"),
        HTTPError("http://openml", 503, "unavailable", None, None),
    ],
)
def test_a_network_failure_is_one_sentence(openml, failure):
    openml.answer = failure
    with pytest.raises(
        ConnectionError, match="could not download the data set 'birds' from OpenML"
    ):
        fetch_multilabel("birds")


def test_what_openml_rejects_is_passed_on(openml):
    openml.answer = ValueError("No known dataset with this number")
    with pytest.raises(DataError, match="has no usable data set 'birds': No known dataset"):
        fetch_multilabel("birds")


def test_a_single_target_is_rejected(openml):
    openml.answer = Bunch(data=openml.answer.data, target=pd.Series([0, 1]), DESCR="")
    with pytest.raises(DataError, match="has a single target"):
        fetch_multilabel("scene")


def test_scikit_learns_own_reader_and_cache_understand_such_a_data_set(tmp_path):
    """Nothing is replaced here: the files are where scikit-learn caches its downloads."""
    arff = (
        "@relation emotions\n@attribute loudness numeric\n@attribute genre {rock,folk}\n"
        "@attribute happy.pleased {TRUE,FALSE}\n@attribute sad.lonely {TRUE,FALSE}\n@data\n"
        "0.5,rock,TRUE,FALSE\n0.1,folk,FALSE,TRUE\n0.2,?,FALSE,FALSE\n"
    )
    features = [("loudness", "numeric"), ("genre", "nominal")]
    labels = [("happy.pleased", "nominal"), ("sad.lonely", "nominal")]
    answers = {
        "api/v1/json/data/40589": {
            "data_set_description": {
                "id": "40589",
                "name": "emotions",
                "version": "3",
                "status": "active",
                "format": "ARFF",
                "description": "music",
                "url": "https://www.openml.org/data/v1/download/4644182/emotions.arff",
                "file_id": "4644182",
                "default_target_attribute": ",".join(name for name, _ in labels),
                "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
            }
        },
        "api/v1/json/data/features/40589": {
            "data_features": {
                "feature": [
                    {
                        "index": str(i),
                        "name": name,
                        "data_type": data_type,
                        "is_target": str((name, data_type) in labels).lower(),
                        "number_of_missing_values": "1" if name == "genre" else "0",
                        "is_ignore": "false",
                        "is_row_identifier": "false",
                    }
                    for i, (name, data_type) in enumerate(features + labels)
                ]
            }
        },
        "api/v1/json/data/qualities/40589": {"data_qualities": {"quality": []}},
    }
    files = {path: json.dumps(answer) for path, answer in answers.items()}
    for name in ("4644182/emotions.arff", "4644182"):  # the latter before scikit-learn 1.7
        files[f"data/v1/download/{name}"] = arff
    for path, text in files.items():
        cached = tmp_path / "openml" / "openml.org" / f"{path}.gz"
        cached.parent.mkdir(parents=True, exist_ok=True)
        cached.write_bytes(gzip.compress(text.encode()))

    data = fetch_multilabel("emotions", data_home=tmp_path)
    assert data.Y.to_dict("list") == {"happy.pleased": [1, 0, 0], "sad.lonely": [0, 1, 0]}
    assert data.X["loudness"].tolist() == [0.5, 0.1, 0.2]
    assert data.X["genre"].isna().tolist() == [False, False, True]
