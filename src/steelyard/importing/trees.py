"""Decision trees of scikit-learn → rules: one rule per leaf and label. Knows fitted trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from steelyard.model.decoders import default_decoder
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import category_text

from .parts import ForeignRule, ForeignTheory, Test, float32_test, uncounted_label

_NO_CHILD = -1


class _Leaf(NamedTuple):
    """The tests on the path to a leaf, and its position in the arrays of the tree."""

    tests: tuple[Test, ...]
    node: int


class _Output(NamedTuple):
    """An output of a tree: its classes, and the number of training examples per node and class.

    `counts` is None if weights make them unknown.
    """

    name: str
    classes: list[Any]
    chosen: NDArray[np.intp]
    counts: NDArray[np.int64] | None


def read_tree(tree: Any, label_names: Sequence[str] | None = None) -> ForeignTheory:
    """The rules of a fitted DecisionTreeClassifier or ExtraTreeClassifier."""
    check_is_fitted(tree)
    names = getattr(tree, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(tree.n_features_in_)]
    names = [str(name) for name in names]
    leaves = list(_list_leaves(tree.tree_, names))
    learner = f"{type(tree).__name__} of scikit-learn"
    outputs = list(_list_outputs(tree, label_names))
    if tree.n_outputs_ == 1:
        rules, labels, classes = _read_classes(outputs[0], leaves)
        decoder = default_decoder(len(labels) > 1)
        return ForeignTheory(learner, rules, labels, names, None, decoder, classes)
    rules, labels = [], []
    for output in outputs:
        for position, name in _name_labels(output):
            of_label, label = _read_label(output, position, name, leaves)
            rules += of_label
            labels.append(label)
    return ForeignTheory(learner, rules, labels, names)


def _list_leaves(tree: Any, names: Sequence[str]) -> Iterator[_Leaf]:
    """The leaves from left to right."""
    stack: list[_Leaf] = [_Leaf((), 0)]
    while stack:
        tests, node = stack.pop()
        if tree.children_left[node] == _NO_CHILD:
            yield _Leaf(tests, node)
            continue
        name, threshold = names[tree.feature[node]], float(tree.threshold[node])
        for child, is_below in ((tree.children_right, False), (tree.children_left, True)):
            test = float32_test(name, threshold, is_below=is_below)
            stack.append(_Leaf((*tests, test), int(child[node])))


def _list_outputs(tree: Any, label_names: Sequence[str] | None) -> Iterator[_Output]:
    classes = [tree.classes_] if tree.n_outputs_ == 1 else tree.classes_
    if label_names is None:
        label_names = ["y"] if tree.n_outputs_ == 1 else [f"y{j}" for j in range(tree.n_outputs_)]
    if len(label_names) != tree.n_outputs_:
        raise ValueError(
            f"there are {len(label_names)} label names, but the tree has {tree.n_outputs_} outputs"
        )
    arrays = tree.tree_
    is_weighted = not np.array_equal(arrays.weighted_n_node_samples, arrays.n_node_samples)
    for j, name in enumerate(label_names):
        shares = arrays.value[:, j, : len(classes[j])]
        exact = shares * arrays.weighted_n_node_samples[:, None]
        counts = np.rint(exact).astype(np.int64)
        is_known = not is_weighted and np.allclose(exact, counts, atol=1e-3)
        values = [value.item() if isinstance(value, np.generic) else value for value in classes[j]]
        yield _Output(str(name), values, shares.argmax(axis=1), counts if is_known else None)


def _name_classes(output: _Output) -> list[str]:
    """The names of classes as labels, as the estimators of this library name them."""
    return [c if isinstance(c, str) else f"{output.name}={c}" for c in output.classes]


def _read_classes(
    output: _Output, leaves: Sequence[_Leaf]
) -> tuple[list[ForeignRule], list[Label], tuple[Any, ...]]:
    """The rules of a tree with one output; of two classes the rarer one has rules."""
    names, classes = _name_classes(output), output.classes
    if len(classes) > 2:
        pairs = [_read_class(output, k, name, leaves) for k, name in enumerate(names)]
        return [rule for rules, _ in pairs for rule in rules], [y for _, y in pairs], tuple(classes)
    last = len(classes) - 1
    target = last
    if last and output.counts is not None and output.counts[0, 0] <= output.counts[0, 1]:
        target = 0
    rules, label = _read_class(output, target, names[target], leaves)
    if not last:
        rules = []  # with one class there is nothing to decide
    return rules, [label], (classes[last - target], classes[target])


def _name_labels(output: _Output) -> list[tuple[int, str]]:
    """The labels of one of several outputs: itself, if it is 0 or 1, else one per class."""
    if set(output.classes) <= {0, 1}:
        return [(output.classes.index(1) if 1 in output.classes else -1, output.name)]
    texts = [category_text(value) for value in output.classes]
    return [(k, f"{output.name}={text}") for k, text in enumerate(texts)]


def _read_label(
    output: _Output, position: int, name: str, leaves: Sequence[_Leaf]
) -> tuple[list[ForeignRule], Label]:
    """The rules for the rarer value of a label, which is present where its class is chosen."""
    if len(output.classes) == 1:  # constant: no rule, and the other value is the target class
        target_class = int(position != 0)
        if output.counts is None:
            return [], uncounted_label(name, target_class)
        n_examples = int(output.counts[0, 0])
        return [], Label(name, target_class, 0, n_examples, 0, n_examples)
    if output.counts is not None:
        n_present = int(output.counts[0, position])
        if 2 * n_present >= output.counts[0].sum():
            return _read_class(output, position, name, leaves, target_class=0)
    return _read_class(output, position, name, leaves)


def _read_class(
    output: _Output, k: int, name: str, leaves: Sequence[_Leaf], target_class: int = 1
) -> tuple[list[ForeignRule], Label]:
    """The rules of the leaves that choose a class, or that choose another one, and their label."""
    rules, counts = [], output.counts
    covered = np.zeros(2, dtype=np.int64)
    for leaf in leaves:
        if (output.chosen[leaf.node] == k) != bool(target_class):
            continue
        evidence = None
        if counts is not None:
            right, wrong = _count_target(counts[leaf.node], k, target_class)
            evidence = Evidence(right, wrong)
            covered += (right, wrong)
        rules.append(ForeignRule(name, leaf.tests, None, evidence, target_class))
    if counts is None:
        return rules, uncounted_label(name, target_class)
    total = _count_target(counts[0], k, target_class)
    return rules, Label(name, target_class, *total, *(total - covered).tolist())


def _count_target(counts: NDArray[np.int64], k: int, target_class: int) -> tuple[int, int]:
    """Examples with and without the target class, given those of each class."""
    of_class, others = int(counts[k]), int(counts.sum() - counts[k])
    return (of_class, others) if target_class else (others, of_class)
