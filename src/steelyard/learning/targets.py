"""Targets: y in any of its forms → labels with target classes and one mask of positives per label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from steelyard._text import check_text, find_repeated
from steelyard.model.evidence import Label

from .weights import LabelWeights, round_for_sums, weigh_classes

TargetChoice = Literal["minority", "present"]
Output = Literal["multilabel", "binary", "multiclass"]


@dataclass(frozen=True)
class Targets:
    """Labels of a training set and which of its rows are positive, i.e. have the target class.

    Parameters
    ----------
    names : tuple of str
    target_class : (n_labels,) int
        1 if the rules predict that the label is present, 0 if that it is absent.
    is_target : (n_labels, n_rows) bool
    output : {"multilabel", "binary", "multiclass"}
    classes : tuple
        Of a one-dimensional y: (other class, class with rules) if binary, else one class per label.
    weights : tuple of LabelWeights, optional
        What the examples count for each label; None: every example counts 1.
    """

    names: tuple[str, ...]
    target_class: NDArray[np.int64]
    is_target: NDArray[np.bool_]
    output: Output
    classes: tuple[Any, ...] = ()
    weights: tuple[LabelWeights, ...] | None = None

    @property
    def is_present(self) -> NDArray[np.bool_]:
        """Which rows have the label, shape (n_labels, n_rows)."""
        return np.asarray(self.is_target == (self.target_class == 1)[:, None])

    def weigh(
        self,
        of_row: NDArray[np.float64] | None,
        class_weight: Any = None,
        target: TargetChoice = "minority",
    ) -> Targets:
        """The same targets with weights of the rows and of classes; see `weigh_classes`.

        If the other classes have almost no weight, this class becomes the one without rules.
        """
        about = (self.names, self.classes, self.is_present, of_row)
        of_class = weigh_classes(class_weight, *about)
        if of_row is None and of_class is None:
            return self
        of_labels = [None] * len(self.names) if of_class is None else of_class
        weights = tuple(LabelWeights.combine(of_row, of_label) for of_label in of_labels)
        for name, label in zip(self.names, weights, strict=True):
            if not label.total.any():
                raise ValueError(f"class_weight leaves no example of the label {name!r}")
        pairs = zip(weights, self.is_target, strict=True)
        is_certain = np.array([own.outweighs(mask) for own, mask in pairs])
        may_turn = self.output == "binary" or (self.output == "multilabel" and target == "minority")
        return replace(self, weights=weights)._turn(is_certain & may_turn)

    def _turn(self, labels: NDArray[np.bool_]) -> Targets:
        """The other class as the target class of some labels."""
        if not labels.any():
            return self
        is_target = self.is_target ^ labels[:, None]
        if self.output == "multilabel":
            target_class = np.where(labels, 1 - self.target_class, self.target_class)
            return replace(self, is_target=is_target, target_class=target_class)
        other, own = self.classes
        about = self.names[0].removesuffix(_name_class("", own))
        names = (_name_class(about, other),)
        return replace(self, is_target=is_target, names=names, classes=(own, other))

    @property
    def label_weights(self) -> tuple[LabelWeights | None, ...]:
        """The weights of each label; None: every example counts 1."""
        return self.weights or (None,) * len(self.names)

    @property
    def sizes(self) -> NDArray[Any]:
        """What the positives and all examples of each label count, shape (2, n_labels)."""
        if self.weights is None:
            n_rows = np.full(len(self.names), self.is_target.shape[1])
            return np.array([self.is_target.sum(axis=1), n_rows])
        pairs = zip(self.is_target, self.weights, strict=True)
        sums = [(own.total[mask].sum(), own.total.sum()) for mask, own in pairs]
        return np.array(sums).T

    @property
    def mean_weights(self) -> NDArray[np.float64]:
        """What a positive and a negative of each label count on average, shape (2, n_labels)."""
        positives, totals = self.sizes
        n_positives, n_rows = self.is_target.sum(axis=1), self.is_target.shape[1]
        sums = np.array([positives, totals - positives])
        return np.asarray(sums / np.maximum([n_positives, n_rows - n_positives], 1))

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each label's target class among the examples, without weights of classes.

        A class that hardly counts has the share of its weight.
        """
        if self.weights is None:
            return np.asarray(self.is_target.mean(axis=1))
        shares = np.average(self.is_target, axis=1, weights=self.weights[0].of_row)
        pairs = zip(self.weights, self.is_target, strict=True)
        is_certain = [own.outweighs(mask) or own.outweighs(~mask) for own, mask in pairs]
        return np.where(is_certain, self.priors, shares)

    @property
    def priors(self) -> NDArray[np.float64]:
        """The share of each label's target class by all weights."""
        positives, totals = self.sizes
        return np.asarray(positives / totals)

    @property
    def totals(self) -> NDArray[np.float64] | None:
        """What each row counts for each label, shape (n_rows, n_labels); None: 1."""
        if self.weights is None:
            return None
        return np.column_stack([own.total for own in self.weights])

    def take(self, rows: NDArray[np.intp]) -> Targets:
        """The targets of some rows."""
        is_target = np.ascontiguousarray(self.is_target[:, rows])
        weights = self.weights and tuple(own.take(rows) for own in self.weights)
        return replace(self, is_target=is_target, weights=weights)

    def for_presence(self) -> Targets:
        """The same labels with presence as the target class of each."""
        ones = np.ones_like(self.target_class)
        return replace(self, target_class=ones, is_target=self.is_present)

    def count_labels(self, is_uncovered: Any = True) -> tuple[Label, ...]:
        """The labels with their counts, given the rows that no rule covers."""
        positive, negative = self.is_target, ~self.is_target
        masks = (positive, negative, positive & is_uncovered, negative & is_uncovered)
        counts = [mask.sum(axis=1).tolist() for mask in masks]
        return tuple(map(Label, self.names, self.target_class.tolist(), *counts))


def flatten_column(y: Any) -> Any:
    """An array of shape (n, 1) as a vector, with scikit-learn's warning; a DataFrame names a label."""
    if y is None or isinstance(y, pd.DataFrame | pd.Series) or sparse.issparse(y):
        return y
    try:
        y = np.asarray(y)
    except ValueError:
        raise ValueError("the rows of y differ in length") from None
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def encode_targets(
    y: Any, target: TargetChoice = "minority", of_row: NDArray[np.float64] | None = None
) -> Targets:
    """Read y: a 0/1 indicator (array, DataFrame, sparse) or one class per example.

    Rules are learned for the target class of a label. The minority value is 1 if less than half of the
    examples have the label, else 0; `of_row` are the weights of the examples.

    Examples
    --------
    >>> targets = encode_targets(pd.DataFrame({"hot": [1, 0, 0], "dry": [1, 1, 0]}))
    >>> targets.names, targets.target_class
    (('hot', 'dry'), array([1, 0]))
    >>> print(*encode_targets(["cat", "dog", "dog"]).classes)
    dog cat
    """
    if target not in ("minority", "present"):
        raise ValueError(f"target must be 'minority' or 'present', got {target!r}")
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None")
    if isinstance(y, pd.DataFrame):
        return _encode_indicator(y.to_numpy(), tuple(map(str, y.columns)), target, of_row)
    name = str(y.name) if isinstance(y, pd.Series) and y.name is not None else "y"
    y = np.asarray(y.toarray() if sparse.issparse(y) else flatten_column(y))
    if y.ndim == 2:
        return _encode_indicator(y, name_positions(y.shape[1]), target, of_row)
    if y.ndim != 1:
        raise ValueError(f"y must have one or two dimensions, got shape {y.shape}")
    check_text(name, f"the label {name!r}")
    return _encode_classes(y, name, target, of_row)


def name_positions(n_labels: int) -> tuple[str, ...]:
    """The names of labels that have none.

    Examples
    --------
    >>> name_positions(3)
    ('y0', 'y1', 'y2')
    """
    return tuple(f"y{j}" for j in range(n_labels))


def _encode_indicator(
    Y: NDArray[Any],
    names: tuple[str, ...],
    target: TargetChoice,
    of_row: NDArray[np.float64] | None,
) -> Targets:
    if Y.shape[1] == 0:
        raise ValueError("y has no label: it has 0 columns")
    twice = find_repeated(names)
    if twice is not None:
        raise ValueError(f"two labels have the same name {twice!r}")
    for name in names:
        check_text(name, f"the label {name!r}")
    is_missing = pd.isna(Y)
    if is_missing.any():
        label, row = np.argwhere(is_missing.T)[0]
        raise ValueError(f"Input y contains NaN: label {names[label]!r}, row {row}")
    is_present = Y == 1
    is_wrong = ~(is_present | (Y == 0))
    if is_wrong.any():
        label, row = np.argwhere(is_wrong.T)[0]
        raise ValueError(
            f"Unknown label type: labels must be 0 or 1, but label {names[label]!r} is "
            f"{Y[row, label]!r} in row {row}"
        )
    is_rare = _is_rare(is_present.T, of_row)
    target_class = np.asarray(is_rare | (target == "present"), dtype=np.int64)
    is_target = np.ascontiguousarray(is_present.T) == target_class[:, None]
    return Targets(names, target_class, is_target, "multilabel")


def _is_rare(
    is_present: NDArray[np.bool_], of_row: NDArray[np.float64] | None
) -> NDArray[np.bool_]:
    """Which labels (rows of an array) less than half of the examples have."""
    if of_row is None:
        return np.asarray(2 * is_present.sum(axis=-1) < is_present.shape[-1])
    weights = round_for_sums(of_row)
    return np.asarray(2 * (is_present @ weights) < weights.sum())


def _name_class(name: str, value: Any) -> str:
    """The label of a class: text is its own name."""
    # Python's own text, since an export writes names as they print themselves.
    return str(value) if isinstance(value, str) else f"{name}={value}"


def _encode_classes(
    y: NDArray[Any], name: str, target: TargetChoice, of_row: NDArray[np.float64] | None
) -> Targets:
    missing = pd.isna(y)
    if missing.any():
        raise ValueError(f"Input y contains NaN: row {int(np.argmax(missing))}")
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError(f"Input y contains infinity: row {int(np.argmax(np.isinf(y)))}")
    check_classification_targets(y)
    classes = np.unique(y)
    for value in classes:
        check_text(str(value), f"the class {str(value)!r}")
    names = [_name_class(name, c) for c in classes]
    if len(classes) > 2:
        # Exactly one class is right, so every class needs rules for its presence.
        is_target = y == classes[:, None]
        ones = np.ones(len(classes), dtype=np.int64)
        return Targets(tuple(names), ones, is_target, "multiclass", tuple(classes))
    positive = len(classes) - 1
    if target == "minority" and positive and not _is_rare(y == classes[1], of_row):
        positive = 0
    pair = (classes[positive - 1], classes[positive])  # with one class both are that class
    is_target = (y == classes[positive])[None, :]
    return Targets((names[positive],), np.ones(1, dtype=np.int64), is_target, "binary", pair)
