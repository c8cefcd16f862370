"""Fold files: the fold of each example in a cross validation."""

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from steelyard._text import shorten_repr

from .errors import DataError, error_at
from .text_files import read_text

_MOST_DIGITS = 18


def read_folds(path: str | PathLike[str], n_examples: int | None = None) -> NDArray[np.int64]:
    r"""Read the fold of every example from a file: the header ``fold``, then one number per line.

    Parameters
    ----------
    path : path-like
        The file. Folds are numbered from 1.
    n_examples : int, optional
        The number of examples of the data set; any other number of folds is an error.

    Returns
    -------
    folds : ndarray of shape (n_examples,)
        The fold of each example, in the order of the data set.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.data import read_folds
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "folds.csv")
    ...     _ = path.write_text("fold\n1\n2\n1\n")
    ...     folds = read_folds(path, n_examples=3)
    >>> folds
    array([1, 2, 1])
    >>> folds != 1  # the training examples of the first fold
    array([False,  True, False])
    """
    lines = [text.strip() for text in read_text(Path(path)).rstrip().splitlines()]
    if lines[0].strip('"') != "fold":
        raise error_at(path, 1, f"expected the header 'fold', found {shorten_repr(lines[0])}")
    for line, text in enumerate(lines[1:], start=2):
        # A longer number is not a fold, and Python rejects numbers with thousands of digits.
        if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
            raise error_at(path, line, f"{shorten_repr(text)} is not a fold number (1, 2, ...)")
    folds = np.array(lines[1:], dtype=np.int64)
    if not len(folds):
        raise DataError(f"{path} has a header but no folds")
    if n_examples not in (None, len(folds)):
        found = f"{path} has {len(folds)} folds"
        raise DataError(f"{found}, but the data set has {n_examples} examples")
    used = np.unique(folds)
    if len(used) < used[-1]:
        empty = np.argmax(used != np.arange(1, len(used) + 1)) + 1
        raise DataError(f"{path} numbers folds up to {used[-1]}, but fold {empty} is empty")
    return folds
