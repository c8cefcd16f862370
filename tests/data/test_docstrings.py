"""The embedded texts: documentation strings of the standard library, and their words."""

import sysconfig
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from steelyard.data import DataError, docstrings, load_docstrings
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


@pytest.fixture
def other_library(tmp_path, monkeypatch):
    """A standard library of which only one module is left, with a text that was changed."""
    library = Path(sysconfig.get_path("stdlib"))
    text = (library / "queue.py").read_text(encoding="utf-8")
    changed = text.replace("Remove and return an item from the queue.", "Take an item.", 1)
    (tmp_path / "queue.py").write_text(changed, encoding="utf-8")
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    docstrings._read_texts.cache_clear()
    yield tmp_path
    docstrings._read_texts.cache_clear()


def test_texts_that_this_python_lacks_are_left_out_and_counted(other_library, data):
    with pytest.warns(UserWarning, match="texts are other ones in the standard library of Python"):
        other = load_docstrings(words=False)
    names = [name for name in data.X.index if name.startswith("queue.")]
    assert 0 < len(set(names) - set(other.X.index)) < len(names)
    assert set(other.X.index) < set(names)


def test_a_python_without_files_is_one_sentence(other_library):
    (other_library / "queue.py").unlink()
    with pytest.raises(DataError, match="has no files with texts"):
        load_docstrings()
