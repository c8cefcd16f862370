"""The data sets of a study: folds, fingerprints and inverted labels.

Owns what a study does to data before it learns. Knows sources of data and the study's config.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard.data import DataError, MultiLabelData, read_folds
from steelyard.data.sources import find_source, load_source
from steelyard.splitting import assign_folds

from .config import DEFAULT_FOLDS, StudyConfig, StudyError

Folds = NDArray[np.int64]


class StudyData(NamedTuple):
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
        The hash of names, values and folds.
    has_own_folds : bool, default=False
        Whether the folds come with the data.
    """

    name: str
    X: pd.DataFrame
    Y: pd.DataFrame
    folds: Folds
    sha256: str
    has_own_folds: bool = False

    @property
    def n_folds(self) -> int:
        """Number of folds in all repetitions."""
        return int(self.folds.max(axis=1).sum())

    def locate(self, fold: int) -> tuple[int, NDArray[np.bool_]]:
        """Return the repetition (from 0) of a fold (from 1) and a mask of its test examples."""
        repeat, k = divmod(fold - 1, int(self.folds[0].max()))
        return repeat, self.folds[repeat] == k + 1


def invert_majority_labels(Y: pd.DataFrame) -> pd.DataFrame:
    """Replace the labels that at least half of the examples have by their opposites.

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


def clean_name(name: str) -> str:
    """The name of a data set as a name of files and folders.

    Examples
    --------
    >>> clean_name("../my data"), clean_name("flags"), clean_name("-1+1")
    ('_my_data', 'flags', '1+1')
    """
    # Spreadsheets read a text that starts with + or - as a formula.
    return re.sub(r"[^\w.+-]", "_", name).lstrip(".+-") or "data"


def load_study_data(config: StudyConfig) -> list[StudyData]:
    """Load all data sets of a study with their folds; names become valid file names."""
    loaded: list[StudyData] = []
    for source in config.data:
        columns: Any = {"ignore": config.ignore, "nominal": config.nominal}
        data = load_source(source, config.labels, **columns)
        _reject_dates(source, data.X)
        folds, is_own = _assign_folds(source, data, config)
        Y = invert_majority_labels(data.Y) if config.invert_majority_labels else data.Y
        name = clean_name(data.name)
        if any(name == other.name for other in loaded):
            raise StudyError(f"two data sets are called {name!r}: rename a file or folder")
        # Further repetitions follow from the seed; without them a study can get more of them later.
        sha256 = hash_data(data.X, Y, folds[:1])
        loaded.append(StudyData(name, data.X, Y, folds, sha256, is_own))
    return loaded


def _reject_dates(source: str, X: pd.DataFrame) -> None:
    """Reject dates and times before the work: a study's page shows numbers and categories only."""
    for name, dtype in X.dtypes.items():
        if dtype.kind in "mM" or (isinstance(dtype, np.dtype) and dtype.kind == "O"):
            raise DataError(
                f"{source}: a study does not support dates and times, such as {str(name)!r}; convert "
                "them to numbers, such as days since a first day"
            )


def _assign_folds(source: str, data: MultiLabelData, config: StudyConfig) -> tuple[Folds, bool]:
    """The folds of every repetition, and whether they come with the data.

    New stratified folds are drawn if the data has none or if the config gives a number of folds. If
    the data has folds, they are those of the first repetition, and the others get as many new ones.
    """
    path = find_source(source)
    if config.folds is None and path is not None and (path / "folds.csv").exists():
        own = read_folds(path / "folds.csv", n_examples=len(data))
        if own.max() < 2:
            raise DataError(
                f"{path / 'folds.csv'} has a single fold; a study needs at least two folds"
            )
        new = _draw_folds(data, int(own.max()), range(1, config.repeats), config.seed)
        return np.array([own, *new], dtype=np.int64), True
    n_folds = config.folds or DEFAULT_FOLDS
    return np.array(_draw_folds(data, n_folds, range(config.repeats), config.seed)), False


def _draw_folds(
    data: MultiLabelData, n_folds: int, repeats: Sequence[int], seed: int
) -> list[Folds]:
    """New stratified folds for each of some repetitions."""
    if repeats and n_folds > len(data):
        raise StudyError(f"{data.name} has {len(data)} examples, too few for {n_folds} folds")
    drawn = []
    for repeat in repeats:
        folds = assign_folds(data.Y, n_folds, random_state=fold_seed(seed + repeat)) + 1
        for k in range(1, n_folds + 1):
            if not (folds == k).any():
                raise StudyError(f"{data.name} is too small for {n_folds} folds: fold {k} is empty")
        drawn.append(folds.astype(np.int64))
    return drawn


def fold_seed(seed: int) -> int:
    """Reduce a seed to the range that scikit-learn accepts, as `RuleSetClassifierCV` does."""
    return seed % int(np.iinfo(np.int32).max)


def hash_data(X: pd.DataFrame, Y: pd.DataFrame, folds: Folds) -> str:
    """Return the SHA-256 of a data set: names, kinds and values of all columns, and the folds.

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
