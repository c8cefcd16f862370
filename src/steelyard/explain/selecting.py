"""Which labels of an explanation are shown: few of hundreds. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from steelyard.model.theory import Theory

from .explanation import Explanation

# More labels than this would fill screens: then only the predicted ones are shown.
MANY_LABELS = 20


def choose_labels(theory: Theory, labels: Any) -> frozenset[str] | None:
    """The names of the labels to show; None: those that are predicted."""
    if labels is None:
        labels = "all" if len(theory.labels) <= MANY_LABELS else "predicted"
    if isinstance(labels, str):
        if labels == "predicted":
            return None
        labels = theory.label_names if labels == "all" else [labels]
    if not isinstance(labels, Iterable):
        raise ValueError(f"labels must be 'predicted', 'all' or names of labels, got {labels!r}")
    names = frozenset(labels)
    for name in names:
        theory.rules_of(name)  # rejects an unknown name
    return names


def select_labels(explanation: Explanation, names: frozenset[str] | None) -> Explanation:
    """The explanation of some labels; it remembers how many others there are."""
    shown = tuple(
        label
        for label in explanation
        if (label.predicted if names is None else label.name in names)
    )
    return replace(explanation, labels=shown, n_hidden=len(explanation) - len(shown))
