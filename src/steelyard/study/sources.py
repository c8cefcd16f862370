"""DATA arguments of a study → data sets with folds and a fingerprint."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard.data import (
    DataError,
    MultiLabelData,
    fetch_multilabel,
    load_mulan,
    load_segments,
    load_table,
    make_planted_rules,
    read_folds,
)
from steelyard.data.columns import ConstantLabels
from steelyard.data.errors import did_you_mean
from steelyard.data.openml import KNOWN_DATA_SETS
from steelyard.data.table import read_table
from steelyard.splitting import assign_folds

from .config import DEFAULT_FOLDS, StudyConfig, StudyError

EMBEDDED: dict[str, Callable[[], MultiLabelData]] = {
    "segments": load_segments,
    "planted": lambda: make_planted_rules(random_state=0),
}
_ARFF = (".arff", ".arff.gz")
_TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class StudyData:
    """A data set of a study.

    Parameters
    ----------
    name : str
        Unique in the study.
    X, Y : DataFrame
        Attributes, and labels as 0 and 1.
    folds : (n_repeats, n_examples) int
        The fold of every example, from 1.
    sha256 : str
        Of names, values and folds.
    has_own_folds : bool, default=False
        Whether the data brought the folds.
    """

    name: str
    X: pd.DataFrame
    Y: pd.DataFrame
    folds: NDArray[np.int64]
    sha256: str
    has_own_folds: bool = False

    @property
    def n_folds(self) -> int:
        """Number of folds of all repetitions together."""
        return int(self.folds.max(axis=1).sum())

    def locate(self, fold: int) -> tuple[int, NDArray[np.bool_]]:
        """The repetition (from 0) that a fold (from 1) belongs to, and which examples it tests."""
        repeat, k = divmod(fold - 1, int(self.folds[0].max()))
        return repeat, self.folds[repeat] == k + 1


def find_source(source: str) -> Path | None:
    """The path that a DATA argument means, or None if it is a name."""
    path = Path(source)
    if path.exists() and source not in EMBEDDED:
        return path
    looks_like_path = os.sep in source or source.lower().endswith((*_ARFF, *_TABLES))
    if looks_like_path:
        raise FileNotFoundError(f"there is no file or folder {source!r}")
    return None


def load_source(
    source: str,
    labels: tuple[str, ...] = (),
    *,
    ignore: str | Sequence[str] = (),
    nominal: str | Sequence[str] = (),
    constant: ConstantLabels = "raise",
) -> MultiLabelData:
    """Load what a DATA argument names: an embedded or OpenML data set, a file or a folder.

    `labels`, `ignore` and `nominal` are columns of a table; see `load_table`. Labels that are
    constant are an error, unless `constant` says to drop or to keep them.

    Examples
    --------
    >>> load_source("segments")
    segments: 1797 examples, 64 attributes (64 numeric), 7 labels, cardinality 2.11
    >>> load_source("segmnets")
    Traceback (most recent call last):
        ...
    steelyard.data.errors.DataError: there is no file or data set 'segmnets' (did you mean
    'segments' or 'scene'?)
    """
    path = find_source(source)
    if path is None:
        if source in EMBEDDED:
            return EMBEDDED[source]()
        known = {name.lower() for name in KNOWN_DATA_SETS}
        if source.lower() in known:
            return fetch_multilabel(source, constant_labels=constant)
        hint = did_you_mean(source, [*EMBEDDED, *KNOWN_DATA_SETS])
        raise DataError(f"there is no file or data set {source!r}{hint}")
    if path.is_dir():
        return load_mulan(_find_arff(path), constant_labels=constant)
    if path.name.lower().endswith(_ARFF):
        return load_mulan(path, constant_labels=constant)
    if path.name.lower().endswith(_TABLES):
        if not labels:
            raise DataError(f"{source}: say which columns are labels, with --labels a,b")
        # One string is split at its commas, unless it is a column's name as it stands.
        wanted = labels[0] if len(labels) == 1 else list(labels)
        return load_table(path, wanted, ignore=ignore, nominal=nominal, constant_labels=constant)
    raise DataError(f"{source} is neither a folder nor an ARFF, CSV or Parquet file")


def _find_arff(folder: Path) -> Path:
    """The ARFF file of a folder: the one that has the folder's name, or the only one."""
    found = sorted(p for p in folder.iterdir() if p.name.lower().endswith(_ARFF))
    named = [p for p in found if p.name.split(".")[0] == folder.resolve().name]
    if len(named or found) != 1:
        how_many = f"{len(found)} ARFF files" if found else "no ARFF file"
        raise DataError(f"the folder {str(folder)!r} holds {how_many}; expected one")
    return (named or found)[0]


def invert_majority_labels(Y: pd.DataFrame) -> pd.DataFrame:
    """Y with the labels that at least half of the examples have replaced by their opposites.

    Examples
    --------
    >>> invert_majority_labels(pd.DataFrame({"rare": [1, 0, 0], "common": [1, 1, 0]}))
       rare  ¬common
    0     1        0
    1     0        0
    2     0        1
    """
    is_major = (2 * Y.sum(axis=0) >= len(Y)).to_numpy()
    names = [f"¬{name}" if major else name for name, major in zip(Y.columns, is_major, strict=True)]
    return pd.DataFrame(np.where(is_major, 1 - Y, Y), index=Y.index, columns=names)


def load_study_data(config: StudyConfig) -> list[StudyData]:
    """All data sets of a study with their folds; names are made fit for file names."""
    loaded: list[StudyData] = []
    for source in config.data:
        data = load_source(source, config.labels)
        own_folds = _read_own_folds(source, data, config)
        folds = _make_folds(data, config) if own_folds is None else own_folds
        Y = invert_majority_labels(data.Y) if config.invert_majority_labels else data.Y
        name = re.sub(r"[^\w.+-]", "_", data.name).lstrip(".") or "data"
        if any(name == other.name for other in loaded):
            raise StudyError(f"two data sets are called {name!r}: rename a file or folder")
        sha256 = hash_data(data.X, Y, folds)
        loaded.append(StudyData(name, data.X, Y, folds, sha256, own_folds is not None))
    return loaded


def _read_own_folds(
    source: str, data: MultiLabelData, config: StudyConfig
) -> NDArray[np.int64] | None:
    """The folds that the data brings, if it does and no number is asked for."""
    path = find_source(source)
    if config.folds is not None or path is None or not path.is_dir():
        return None
    file = path / "folds.csv"
    if not file.exists():
        return None
    own = read_folds(file, n_examples=len(data))
    if own.max() < 2:
        raise DataError(f"{file} has a single fold; a study needs at least two")
    if config.repeats > 1:
        raise StudyError(f"{source} brings its own folds, which cannot be repeated")
    return own[None, :]


def _make_folds(data: MultiLabelData, config: StudyConfig) -> NDArray[np.int64]:
    """Stratified folds, for every repetition."""
    n_folds = config.folds or DEFAULT_FOLDS
    if n_folds > len(data):
        raise StudyError(f"{data.name} has {len(data)} examples, too few for {n_folds} folds")
    repeats = [
        assign_folds(data.Y, n_folds, random_state=fold_seed(config.seed + repeat)) + 1
        for repeat in range(config.repeats)
    ]
    folds = np.array(repeats, dtype=np.int64)
    for k in range(1, n_folds + 1):
        if not (folds == k).any(axis=1).all():
            raise StudyError(f"{data.name} is too small for {n_folds} folds: fold {k} is empty")
    return folds


def fold_seed(seed: int) -> int:
    """The seed of a splitter, which scikit-learn wants below 2³¹; as in `RuleSetClassifierCV`."""
    return seed % int(np.iinfo(np.int32).max)


def hash_data(X: pd.DataFrame, Y: pd.DataFrame, folds: NDArray[np.int64]) -> str:
    """SHA-256 of a data set as it was read: names, kinds and values of all columns, and the folds.

    Examples
    --------
    >>> X, Y = pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"y": [0, 1]})
    >>> folds = np.array([[1, 2]])
    >>> hash_data(X, Y, folds) == hash_data(X + 0, Y, folds) != hash_data(X + 1, Y, folds)
    True
    """
    digest = hashlib.sha256()
    for frame in (X, Y):
        for name, column in frame.items():
            digest.update(repr((str(name), len(column))).encode())
            if isinstance(column.dtype, pd.CategoricalDtype):
                digest.update(repr(list(map(str, column.cat.categories))).encode())
                values = column.cat.codes.to_numpy().astype("<i8")
            else:
                values = np.asarray(column).astype("<f8")
            digest.update(values.tobytes())
    digest.update(folds.astype("<i8").tobytes())
    return digest.hexdigest()


def read_attributes(source: str) -> pd.DataFrame:
    """The attributes of a DATA argument whose labels need not be known; labels may be among them."""
    path = find_source(source)
    if path is not None and path.name.lower().endswith(_TABLES):
        return read_table(path)
    return load_source(source).X
