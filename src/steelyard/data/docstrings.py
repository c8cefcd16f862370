"""A data set of texts that every machine has: what functions of Python's standard library are for.

The texts are read from the files of the running Python. docstrings.csv has the names of those that are
the same in Python 3.11, 3.12 and 3.13 with a digest of each text, so the data set is the same in all.
"""

import ast
import csv
import hashlib
import platform
import re
import sysconfig
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from .errors import DataError
from .multilabel import MultiLabelData

# What the modules of the standard library are for. A module may be for several things; a name stands for
# its submodules, too.
_MODULES = {
    "files": "pathlib tarfile zipfile shutil os tempfile fileinput glob fnmatch posixpath genericpath "
    "ntpath gzip bz2 lzma filecmp stat mailbox ftplib netrc mimetypes importlib.resources linecache "
    "shelve dbm zipimport",
    "network": "socket socketserver ssl smtplib imaplib poplib ftplib http urllib xmlrpc ipaddress "
    "asyncio.transports asyncio.streams asyncio.protocols asyncio.sslproto "
    "multiprocessing.connection wsgiref selectors",
    "e-mail": "email mailbox smtplib imaplib poplib",
    "web": "http urllib wsgiref webbrowser html xmlrpc",
    "concurrency": "threading asyncio multiprocessing queue concurrent.futures subprocess sched "
    "selectors",
    "compression": "tarfile zipfile gzip bz2 lzma zipimport",
    "markup": "xml html xmlrpc plistlib",
    "numbers": "statistics random fractions numbers colorsys ipaddress",
    "testing": "unittest doctest pdb bdb timeit trace tracemalloc pstats",
}
MODULES_OF_TOPIC = {topic: frozenset(names.split()) for topic, names in _MODULES.items()}
MIN_WORDS = 12
MAX_LENGTH = 320  # characters; what matters is said first

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
_WORD = re.compile(r"[a-z]{3,}")


def load_docstrings(*, words: bool = True, min_count: int = 10) -> MultiLabelData:
    """Load documentation strings of Python's standard library, labelled by what their modules are for.

    An example is a function, method or class whose text is the same in Python 3.11, 3.12 and 3.13. A
    label is a topic of its module, such as ``"files"`` or ``"network"``; ``ftplib`` has both. Nothing is
    imported or downloaded: the files of the running Python are parsed.

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
    docstrings: 1132 examples, 425 attributes (425 numeric and sparse), 9 labels, cardinality 1.37
    >>> data.label_names
    ['files', 'network', 'e-mail', 'web', 'concurrency', 'compression', 'markup', 'numbers', 'testing']
    >>> texts = load_docstrings(words=False)
    >>> print(texts.X.loc["ftplib.FTP.dir", "text"])
    List a directory in long form. By default list current directory to stdout. ...
    """
    rows = _read_texts().copy()
    topics = [find_topics(name) for name in rows.index]
    labels = {label: [label in own for own in topics] for label in MODULES_OF_TOPIC}
    return MultiLabelData(
        X=_count_words(rows["text"], min_count) if words else rows,
        Y=pd.DataFrame(labels, index=rows.index).astype(np.int8),
        name="docstrings",
        description="documentation strings of Python's standard library, labelled by topic",
    )


@cache
def _read_texts() -> pd.DataFrame:
    """The texts of the running Python that are those of the data set."""
    with (files("steelyard.data") / "docstrings.csv").open(encoding="utf-8") as file:
        digests = {row["name"]: row["digest"] for row in csv.DictReader(file)}
    found = dict(read_library(Path(sysconfig.get_path("stdlib"))))
    texts = {n: found[n] for n, known in digests.items() if digest(found.get(n, "")) == known}
    python = f"Python {platform.python_version()}"
    if not texts:
        raise DataError(f"the standard library of {python} has no files with texts to read")
    n_missing = len(digests) - len(texts)
    if n_missing:
        warnings.warn(
            f"{n_missing} of {len(digests)} texts are other ones in the standard library of {python} "
            "and are left out of the data set",
            stacklevel=3,
        )
    return pd.DataFrame({"text": texts}).rename_axis("name")


def digest(text: str) -> str:
    """A few characters that tell whether a text is another one."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_library(folder: Path) -> Iterator[tuple[str, str]]:
    """The name and the text of all that is public and documented in the modules with a topic."""
    for name in sorted(frozenset.union(*MODULES_OF_TOPIC.values())):
        base = folder.joinpath(*name.split("."))
        for path in [base.with_suffix(".py"), *sorted(base.rglob("*.py"))]:
            parts = path.relative_to(folder).with_suffix("").parts
            is_private = any(part.startswith("_") or part == "test" for part in parts)
            if path.exists() and not is_private:
                tree = ast.parse(path.read_text(encoding="utf-8"))
                yield from _read_definitions(tree, ".".join(parts))


def _read_definitions(tree: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, str]]:
    """The same of one module or class."""
    for node in tree.body:
        kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
        if not isinstance(node, kinds) or node.name.startswith("_"):
            continue
        name = f"{prefix}.{node.name}"
        text = " ".join((ast.get_docstring(node) or "").split(">>>")[0].split())
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= MIN_WORDS:
            yield name, textwrap.shorten(text, MAX_LENGTH, placeholder="")
        if isinstance(node, ast.ClassDef):
            yield from _read_definitions(node, name)


def find_topics(name: str) -> list[str]:
    """The topics of a module, or of something in it."""
    parts = name.split(".")
    prefixes = {".".join(parts[: n + 1]) for n in range(len(parts))}
    return [topic for topic, modules in MODULES_OF_TOPIC.items() if prefixes & modules]


def _count_words(texts: pd.Series, min_count: int) -> pd.DataFrame:
    """One sparse column of 0 and 1 per word that enough texts have."""
    found = [set(_WORD.findall(text.lower())) - STOP_WORDS for text in texts]
    count_of = Counter(word for own in found for word in own)
    words = sorted(word for word, count in count_of.items() if count >= min_count)
    columns = {word: np.array([word in own for own in found], np.uint8) for word in words}
    return pd.DataFrame(columns, index=texts.index).astype(pd.SparseDtype(np.uint8, 0))
