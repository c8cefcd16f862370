"""The catalogue: well-known multi-label data sets, with their size, statistics, sources and hashes.

Owns catalogue.csv and the local folder of data sets. Numbers were counted on the file with the given
hash, or are those that a package or repository publishes; what nobody counted is missing.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

# The folder with data sets that commands find by name.
FOLDER_VARIABLE = "STEELYARD_DATA"
_INTEGERS = ("n_examples", "n_features", "n_labels", "n_label_sets", "openml")
_FLOATS = ("cardinality", "density", "mean_imbalance")


class CatalogueEntry(NamedTuple):
    """A data set of the catalogue; a number that is not known is None, a text empty.

    Parameters
    ----------
    name, topic : str
    n_examples, n_features, n_labels, n_label_sets : int or None
    cardinality, density, mean_imbalance : float or None
        See `LabelStatistics`.
    numbers : str
        "counted" on the file of the hash, or who publishes them.
    sha256 : str
        The hash of the ARFF file.
    openml : int or None
        Its number on OpenML.
    download, download_sha256 : str
        If OpenML lacks it: the name of its files in a public repository, and the hash of the ARFF file
        there, which may be another version than the one that was counted.
    """

    name: str
    topic: str
    n_examples: int | None
    n_features: int | None
    n_labels: int | None
    cardinality: float | None
    density: float | None
    n_label_sets: int | None
    mean_imbalance: float | None
    numbers: str
    sha256: str
    openml: int | None
    download: str
    download_sha256: str


@cache
def read_catalogue() -> dict[str, CatalogueEntry]:
    """All entries by name.

    Examples
    --------
    >>> entry = read_catalogue()["flags"]
    >>> entry.n_examples, entry.n_labels, entry.numbers
    (194, 7, 'counted')
    """
    text = files(__package__).joinpath("catalogue.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        values: dict[str, Any] = dict(row)
        for name in _INTEGERS:
            values[name] = int(row[name]) if row[name] else None
        for name in _FLOATS:
            values[name] = float(row[name]) if row[name] else None
        found[row["name"]] = CatalogueEntry(**values)
    return found


def find_entry(name: str) -> CatalogueEntry | None:
    """The entry of a name, in any case."""
    return read_catalogue().get(name.lower())


def find_local(name: str) -> Path | None:
    """The folder of a data set in the folder that the variable STEELYARD_DATA names, if it is there."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder or not name or Path(name).name != name:
        return None
    path = Path(folder, name)
    return path if path.is_dir() and _list_arff(path) else None


def list_local(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """The data sets in a folder: each subfolder with an ARFF file."""
    for path in sorted(Path(folder).iterdir()):
        if path.is_dir() and _list_arff(path):
            yield path


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _list_arff(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if ".arff" in file.suffixes]
