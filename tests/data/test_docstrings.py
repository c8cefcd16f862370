"""The embedded texts: documentation strings of the standard library, and their words."""

import numpy as np
import pandas as pd
import pytest

from steelyard.data import load_docstrings
from steelyard.data.docstrings import STOP_WORDS


@pytest.fixture(scope="module")
def data():
    return load_docstrings()


@pytest.fixture(scope="module")
def texts():
    return load_docstrings(words=False)


def test_an_attribute_says_whether_the_text_has_the_word(data, texts):
    for word in ("file", "socket", "message"):
        expected = texts.X["text"].str.lower().str.contains(rf"(?<![a-z]){word}(?![a-z])")
        assert data.X[word].to_numpy().tolist() == expected.astype(int).tolist()


def test_words_are_frequent_enough_and_say_something(data):
    assert (np.asarray(data.X).sum(axis=0) >= 10).all()
    assert not STOP_WORDS & set(data.feature_names)
    assert len(load_docstrings(min_count=40).feature_names) < len(data.feature_names)


@pytest.mark.parametrize(
    ("name", "topics"),
    [
        ("ftplib.FTP.dir", ["files", "network"]),
        ("shutil.copytree", ["files"]),
        ("smtplib.SMTP.sendmail", ["network", "e-mail"]),
    ],
)
def test_labels_are_the_topics_of_the_module(data, name, topics):
    assert [label for label, has in data.Y.loc[name].items() if has] == topics


def test_every_text_has_a_label_and_occurs_once(data, texts):
    assert data.Y.sum(axis=1).ge(1).all()
    assert data.Y.sum().ge(50).all()
    assert texts.X["text"].is_unique
    pd.testing.assert_frame_equal(data.Y, texts.Y)
