"""Reading which fold of a cross validation each example belongs to."""

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from .errors import DataError, check_file_exists, error_at, shorten


def read_folds(path: str | PathLike[str], n_examples: int | None = None) -> NDArray[np.int64]:
    r"""Read the fold of every example from a file: the header ``fold``, then one number a line.

    Parameters
    ----------
    path : path-like
        The file; folds are numbered from 1.
    n_examples : int, optional
        How many examples the data set has; another number of lines is an error.

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
    lines = check_file_exists(path).read_text("utf-8-sig", errors="replace").splitlines()
    if not lines or lines[0].strip().strip('"') != "fold":
        found = f"found {shorten(lines[0])}" if lines else "the file is empty"
        raise error_at(path, 1, f"expected the header 'fold', {found}")
    while not lines[-1].strip():
        lines.pop()

    folds = []
    for line, text in enumerate(lines[1:], start=2):
        if not text.strip().isdecimal() or int(text) < 1:
            raise error_at(path, line, f"{shorten(text)} is not a fold number (1, 2, ...)")
        folds.append(int(text))
    if not folds:
        raise DataError(f"{path} has a header but no folds")
    if n_examples is not None and len(folds) != n_examples:
        raise DataError(
            f"{path} has {len(folds)} folds, but the data set has {n_examples} examples"
        )

    missing = sorted(set(range(1, max(folds) + 1)) - set(folds))
    if missing:
        raise DataError(f"{path} numbers folds up to {max(folds)}, but fold {missing[0]} is empty")
    return np.array(folds, dtype=np.int64)
