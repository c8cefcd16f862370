"""An embedded data set of texts: what functions of Python's standard library are for.

The texts are in docstrings.csv, which docs/make_docstrings.py wrote from the documentation strings of
Python 3.11 to 3.13. They are under the licence of the Python Software Foundation (LICENSES/PSF-2.0.txt).
"""

import re
from collections import Counter
from importlib.resources import files

import numpy as np
import pandas as pd

from .multilabel import MultiLabelData

# Words that say nothing about a topic. A list of our own, so that the data set does not change with
# the version of another package.
_STOP_WORDS = """
a about after all also an and any are as at be been before being both but by can could did do
does done each either else for from had has have here how however if in into is it its itself
like may might must neither no nor not of on once one only or other others our out over own
same should since so some such than that the their them then there these they this those
though thus to too under until up upon used uses using very via was we were what when where
whether which while who whose why will with within without would yet you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
TOPICS = (
    "files",
    "network",
    "e-mail",
    "web",
    "concurrency",
    "compression",
    "markup",
    "numbers",
    "testing",
)
_WORD = re.compile(r"[a-z]{3,}")


def load_docstrings(*, words: bool = True, min_count: int = 10) -> MultiLabelData:
    """Load documentation strings of Python's standard library, labelled by what their modules are for.

    An example is a function, method or class whose text is the same in Python 3.11, 3.12 and 3.13. A
    label is a topic of its module, such as ``"files"`` or ``"network"``; ``ftplib`` has both. Nothing is
    imported or downloaded: the texts come with Steelyard.

    Parameters
    ----------
    words : bool, default=True
        Whether attributes are words: 1 if the text has it, else 0. If False, the only attribute is the
        ``"text"`` itself, for a vectorizer of your choice.
    min_count : int, default=10
        Number of texts that have to have a word for it to be an attribute.

    Returns
    -------
    data : MultiLabelData
        X has shape (n_texts, n_words), or (n_texts, 1) without `words`. Its index has the names of the
        functions. Y has shape (n_texts, 9).

    See Also
    --------
    load_patients : an embedded table of numbers.

    Examples
    --------
    >>> from steelyard import load_docstrings
    >>> data = load_docstrings()
    >>> data
    docstrings: 1142 examples, 429 attributes (429 numeric and sparse), 9 labels, cardinality 1.37
    >>> data.label_names
    ['files', 'network', 'e-mail', 'web', 'concurrency', 'compression', 'markup', 'numbers', 'testing']
    >>> texts = load_docstrings(words=False)
    >>> print(texts.X.loc["ftplib.FTP.dir", "text"])
    List a directory in long form. By default list current directory to stdout. ...
    """
    with (files("steelyard.data") / "docstrings.csv").open(encoding="utf-8") as file:
        rows = pd.read_csv(file, index_col="name", keep_default_na=False)
    topics = [topics.split(";") for topics in rows.pop("topics")]
    labels = {label: [label in own for own in topics] for label in TOPICS}
    return MultiLabelData(
        X=_count_words(rows["text"], min_count) if words else rows,
        Y=pd.DataFrame(labels, index=rows.index).astype(np.int8),
        name="docstrings",
        description="documentation strings of Python's standard library, labelled by topic",
    )


def _count_words(texts: pd.Series, min_count: int) -> pd.DataFrame:
    """One sparse column of 0 and 1 per word that enough texts have."""
    found = [set(_WORD.findall(text.lower())) - STOP_WORDS for text in texts]
    count_of = Counter(word for own in found for word in own)
    words = sorted(word for word, count in count_of.items() if count >= min_count)
    columns = {word: np.array([word in own for own in found], np.uint8) for word in words}
    return pd.DataFrame(columns, index=texts.index).astype(pd.SparseDtype(np.uint8, 0))
