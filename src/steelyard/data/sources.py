"""What a DATA argument means: the name of a data set, a file or a folder.

Owns the choice of the loader. Knows all loaders, but no learner and no study.
"""

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from steelyard._text import did_you_mean, list_names

from .catalogue import find_entry, find_local, read_catalogue
from .columns import ConstantLabels, MissingLabels, MultiValued
from .docstrings import load_docstrings
from .downloading import download_data
from .errors import DataError, DataWarning
from .mulan import load_mulan
from .multilabel import MultiLabelData
from .openml import KNOWN_DATA_SETS, fetch_multilabel
from .patients import load_patients
from .planted import make_planted_rules
from .segments import load_segments
from .table import TABLE_SUFFIXES, load_table, read_table
from .text_files import strip_gz

# The loader and the topic of every embedded data set.
EMBEDDED: dict[str, tuple[Callable[[], MultiLabelData], str]] = {
    "patients": (load_patients, "findings of diabetes patients, from five measurements"),
    "docstrings": (load_docstrings, "topics of documentation strings of Python, from their words"),
    "segments": (load_segments, "dark segments of a display that shows handwritten digits"),
    "planted": (lambda: make_planted_rules(random_state=0), "generated from known rules"),
}


def find_source(source: str) -> Path | None:
    """Return the path that a DATA argument means, or None if it is a name.

    A name means the folder of this name in the folder STEELYARD_DATA, if it is there.
    """
    path = Path(source)
    if path.exists() and source not in EMBEDDED:
        return path
    local = None if source in EMBEDDED else find_local(source)
    if local is not None:
        return local
    if os.sep in source or _suffix(path) in (".arff", *TABLE_SUFFIXES):
        raise FileNotFoundError(f"there is no file or folder {source!r}")
    return None


def brings_labels(source: str) -> bool:
    """Return whether DATA says itself which labels it has; a table does not."""
    path = find_source(source)
    return path is None or path.is_dir() or _suffix(path) == ".arff"


def load_source(
    source: str,
    labels: tuple[str, ...] = (),
    *,
    ignore: str | Sequence[str] = (),
    nominal: str | Sequence[str] = (),
    constant: ConstantLabels = "keep",
    missing: MissingLabels = "raise",
    multi_valued: MultiValued = "raise",
) -> MultiLabelData:
    """Load what a DATA argument means: an embedded data set, one of the catalogue, a file or a folder.

    `labels`, `ignore` and `nominal` are columns of a table; see `load_table`. `constant`, `missing`
    and `multi_valued` say what to do with labels that are constant, missing or have several values;
    see `load_mulan`.

    Examples
    --------
    >>> from steelyard.data.sources import load_source
    >>> load_source("segments")
    segments: 1797 examples, 64 attributes (64 numeric), 7 labels, cardinality 2.11
    >>> load_source("segmnets")
    Traceback (most recent call last):
        ...
    steelyard.data.errors.DataError: there is no file or data set 'segmnets' (did you mean
    'segments' or 'scene'?)
    """
    path = find_source(source)
    if source in EMBEDDED:
        return EMBEDDED[source][0]()
    if path is None:
        if source.lower() in map(str.lower, KNOWN_DATA_SETS):
            return fetch_multilabel(source, constant_labels=constant)
        entry = find_entry(source)
        if entry is not None:
            return load_mulan(download_data(entry), constant_labels=constant)
        hint = did_you_mean(source, [*EMBEDDED, *KNOWN_DATA_SETS, *read_catalogue()])
        raise DataError(f"there is no file or data set {source!r}{hint}")
    options: Any = {"constant_labels": constant, "missing_labels": missing}
    options["multi_valued"] = multi_valued
    if path.is_dir() or _suffix(path) == ".arff":
        return load_mulan(find_arff(path), **options)
    if _suffix(path) not in TABLE_SUFFIXES:
        raise DataError(f"{source} is neither a folder nor an ARFF, CSV or Parquet file")
    if not labels:
        raise DataError(f"{source}: say which columns are labels, with --labels a,b")
    wanted = _take_single(labels)
    ignore, nominal = _take_single(ignore), _take_single(nominal)
    return load_table(path, wanted, ignore=ignore, nominal=nominal, **options)


def _take_single(columns: str | Sequence[str]) -> str | Sequence[str]:
    """A single text may be a list with commas, or the name of a column with commas."""
    return columns[0] if not isinstance(columns, str) and len(columns) == 1 else columns


def read_attributes(source: str) -> pd.DataFrame:
    """Read the attributes of a DATA argument; in a table, labels may be among them."""
    path = find_source(source)
    if path is not None and _suffix(path) in TABLE_SUFFIXES:
        return read_table(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # which is about learning
        return load_source(source, missing="absent").X


def _suffix(path: Path) -> str:
    return strip_gz(path).suffix.lower()


def find_arff(path: Path) -> Path:
    """Return the ARFF file of a folder: the one with the folder's name, or the only one."""
    if not path.is_dir():
        return path
    found = sorted(file for file in path.iterdir() if _suffix(file) == ".arff")
    named = [file for file in found if file.name.split(".")[0] == path.resolve().name]
    if len(named or found) != 1:
        names = f": pass one of {list_names([file.name for file in found])}" if found else ""
        raise DataError(
            f"the folder {str(path)!r} holds {len(found)} ARFF files; expected one{names}"
        )
    return (named or found)[0]
