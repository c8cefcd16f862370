"""Folds for cross validation that keep the labels' proportions: Y → fold of every example.

Owns iterative stratification and its scikit-learn splitters; knows label indicators only.

References
----------
K. Sechidis, G. Tsoumakas, I. Vlahavas: On the Stratification of Multi-label Data. ECML PKDD 2011.
"""

import warnings
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.model_selection._split import _BaseKFold
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from steelyard._numbers import to_booleans

__all__ = ["IterativeStratifiedKFold", "assign_folds"]

# ndarray, DataFrame, scipy sparse or nested lists, which have no common type.
LabelsLike: TypeAlias = Any
# What scikit-learn takes as a seed: an int, a RandomState or None.
RandomState: TypeAlias = Any
IntArray: TypeAlias = npt.NDArray[np.intp]


class IterativeStratifiedKFold(_BaseKFold):
    r"""Cross-validation folds that keep the proportions of all labels, for multi-label data.

    Each of the k folds should get :math:`|D| / k` examples and, of label i,
    :math:`|D_i| / k` positives. Iterative stratification [1]_ takes the label with the fewest
    examples not yet assigned, gives each of them to the fold that lacks most positives of this
    label (ties: the fold that lacks most examples, then any), and goes on with the next label.
    Rare labels come first because they are the ones that plain folds lose; a label with fewer
    positives than folds is spread over as many folds as it has positives, unless rarer labels
    have already claimed its examples.
    Examples without labels fill up the folds at the end.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Whether examples are taken in random order and remaining ties are broken at random.
        Otherwise both go by position.
    random_state : int, RandomState instance or None, default=None
        Seed. Pass an int for the same folds in every call; with None every call to `split` draws
        others.

    See Also
    --------
    RepeatedIterativeStratifiedKFold : The same several times, with different randomisation.
    assign_folds : The fold of every example as one array.

    Notes
    -----
    The sizes of the folds are the second concern, after the labels: they may differ by more than
    one (in ten folds of the paper's data sets the smallest and the largest differ by 1 to 20
    examples, up to a fifth of a fold on the smallest data set). Only presence is balanced; absence
    follows from the fold's size. A label with fewer positives than folds is ordinary in
    multi-label data and gives no warning.

    A vector y of classes is accepted as well, each class being one label. Labels may be sparse.
    Of X, only the length is used. Groups are ignored with a warning.

    References
    ----------
    .. [1] K. Sechidis, G. Tsoumakas, I. Vlahavas: On the Stratification of Multi-label Data.
       ECML PKDD 2011.

    Examples
    --------
    Four examples have a rare label; each of two folds gets two of them:

    >>> from steelyard import IterativeStratifiedKFold
    >>> import numpy as np
    >>> Y = np.zeros((12, 2), dtype=int)
    >>> Y[:4, 0] = 1
    >>> Y[2:10, 1] = 1
    >>> cv = IterativeStratifiedKFold(n_splits=2, random_state=0)
    >>> for train, test in cv.split(np.zeros((12, 1)), Y):
    ...     print(len(train), len(test), Y[test].sum(axis=0))
    6 6 [2 4]
    6 6 [2 4]

    It goes wherever scikit-learn takes a splitter:

    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> cross_val_score(DecisionTreeClassifier(random_state=0), X, Y, cv=cv).shape
    (2,)
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: RandomState = None
    ) -> None:
        super().__init__(n_splits=n_splits, shuffle=shuffle, random_state=random_state)

    def _iter_test_masks(
        self, X: Any = None, y: LabelsLike = None, groups: Any = None
    ) -> Iterator[npt.NDArray[np.bool_]]:
        del X  # the signature is scikit-learn's
        if groups is not None:
            warnings.warn(f"{type(self).__name__} ignores groups", UserWarning, stacklevel=2)
        if y is None:
            raise ValueError("stratification needs the labels: pass y")
        fold = assign_folds(y, self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        for k in range(self.n_splits):
            yield fold == k


def assign_folds(
    Y: LabelsLike, n_splits: int = 5, *, shuffle: bool = True, random_state: RandomState = None
) -> IntArray:
    """Assign every example to a fold by iterative stratification.

    Parameters
    ----------
    Y : array-like or sparse of shape (n_examples, n_labels) or (n_examples,)
        Labels as 0 and 1, or one class per example.
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=True
        Whether order and remaining ties are random or go by position.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    ndarray of shape (n_examples,)
        Fold of every example, from 0 to ``n_splits - 1``.

    See Also
    --------
    IterativeStratifiedKFold : The method, and a splitter for scikit-learn.

    Examples
    --------
    >>> assign_folds([[1, 1], [1, 0], [0, 1], [0, 0]], n_splits=2, shuffle=False)
    array([0, 1, 1, 0])
    """
    labels = _to_indicator(Y)
    n_examples, n_labels = labels.shape
    if not 1 <= n_splits <= n_examples:
        raise ValueError(f"cannot make {n_splits} folds of {n_examples} examples")
    rng = check_random_state(random_state) if shuffle else None
    # Columns find a label's examples, rows find the labels of these examples.
    examples_by_label, labels_by_example = labels, labels.tocsr()

    # All folds have the same target, so the fold with the largest deficit has the smallest count:
    # counts are integers, and ties are exact.
    n_per_fold = np.zeros(n_splits, dtype=np.intp)
    n_per_fold_and_label = np.zeros((n_splits, n_labels), dtype=np.intp)
    n_left = np.diff(examples_by_label.indptr)
    fold = np.full(n_examples, -1, dtype=np.intp)

    while np.any(n_left > 0):
        label = _pick_rarest(n_left, rng)
        start, stop = examples_by_label.indptr[label : label + 2]
        examples = examples_by_label.indices[start:stop]
        examples = examples[fold[examples] < 0]
        fold[examples] = _fill(n_per_fold_and_label[:, label], n_per_fold, len(examples), rng)
        n_per_fold += np.bincount(fold[examples], minlength=n_splits)
        of_examples = labels_by_example[examples].tocoo()
        np.add.at(n_per_fold_and_label, (fold[examples][of_examples.row], of_examples.col), 1)
        n_left -= np.bincount(of_examples.col, minlength=n_labels)

    examples = np.flatnonzero(fold < 0)
    fold[examples] = _fill(n_per_fold, n_per_fold, len(examples), rng)
    return fold


def _pick_rarest(n_left: IntArray, rng: RandomState) -> int:
    """The label with the fewest remaining examples, at least one."""
    rarest = np.flatnonzero(n_left == n_left[n_left > 0].min())
    return int(rarest[0] if rng is None else rng.choice(rarest))


def _fill(
    n_of_label: IntArray, n_per_fold: IntArray, n_examples: int, rng: RandomState
) -> IntArray:
    """Folds for a label's examples, in the order in which the folds ask for them.

    One by one, an example goes to the fold with the fewest positives of the label, then with the
    fewest examples. Either number grows by one with each example that a fold gets, whatever its
    other labels are. So the t-th request of a fold has the key (n_of_label + t, n_per_fold + t)
    before any example is looked at, and the greedy choice is nothing but all requests sorted by
    key: one sort instead of a loop over examples.
    """
    t = np.arange(n_examples)
    shape = (len(n_per_fold), n_examples)
    # Without a tie breaker, lexsort keeps the order of the folds.
    tie_breaker = np.zeros(shape) if rng is None else rng.random_sample(shape)
    keys = (tie_breaker, n_per_fold[:, None] + t, n_of_label[:, None] + t)
    order = np.lexsort([key.ravel() for key in keys])
    folds: IntArray = order[:n_examples] // max(n_examples, 1)
    return folds if rng is None else rng.permutation(folds)


def _to_indicator(Y: LabelsLike) -> Any:
    """Bring labels or classes to a CSC array whose stored cells are the ones."""
    if not sparse.issparse(Y):
        Y = np.asarray(Y)
        if Y.ndim == 1:
            check_classification_targets(Y)
            Y = Y[:, None] == np.unique(Y)
        if Y.ndim != 2:
            raise ValueError(f"y must have one or two dimensions, got {Y.ndim}")
    labels = sparse.csc_array(to_booleans(Y, "y"), dtype=np.int8)
    labels.eliminate_zeros()
    return labels
