"""Importance: how much attributes and conditions decide, from counts or on a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from .coded_rules import code_rules
from .conditions import Condition
from .coverage import Bits
from .rule_text import write_condition
from .tables import as_table
from .theory import Theory

Key = Callable[[Condition], Any]

_KEYS: dict[str, Key] = {
    "attribute": lambda condition: condition.feature,
    "condition": lambda condition: condition,
}


def find_importances(theory: Theory, X: Any = None, per: str = "attribute") -> pd.DataFrame:
    """See `Theory.importances`."""
    if per not in _KEYS:
        raise ValueError(f"per must be 'attribute' or 'condition', got {per!r}")
    key = _KEYS[per]
    n_rules: dict[Any, int] = {}
    for scored in theory:
        for found in {key(condition) for condition in scored.body}:
            n_rules[found] = n_rules.get(found, 0) + 1
    values = _share_counts(theory, key) if X is None else _count_changes(theory, X, key, n_rules)
    keys = sorted(n_rules, key=lambda found: (-values[found], -n_rules[found], str(found)))
    columns: dict[str, Any] = {"attribute": keys}
    if per == "condition":
        columns["attribute"] = [condition.feature for condition in keys]
        columns["condition"] = list(map(write_condition, keys))
    columns["n_rules"] = [n_rules[found] for found in keys]
    columns["importance"] = [values[found] for found in keys]
    return pd.DataFrame(columns)


def _share_counts(theory: Theory, key: Key) -> dict[Any, float]:
    """What each rule covers beyond chance, times its vote, shared among its conditions."""
    labels = {label.name: label for label in theory.labels}
    values: dict[Any, float] = {}
    for scored in theory:
        label = labels[scored.head.label]
        chance = label.count(scored.head.target_class) / max(label.n_examples, 1)
        excess = abs(scored.tp - (scored.tp + scored.fp) * chance)
        weight = excess * scored.size_of_vote
        for condition in scored.body:
            share = weight * condition.n_bounds / len(scored)
            values[key(condition)] = values.get(key(condition), 0.0) + share
    total = sum(values.values()) or 1.0
    return {found: value / total for found, value in values.items()}


def _count_changes(theory: Theory, X: Any, key: Key, keys: dict[Any, int]) -> dict[Any, float]:
    """The share of the predicted labels that change without the conditions of each key."""
    bits, n_rows, of_rule = _cover_conditions(theory, X)

    def fire(conditions: list[int]) -> Bits:
        # The last row covers all examples, and no bit beyond them: kernels would count it.
        fires: Bits = np.bitwise_and.reduce(bits[[*conditions, -1]], axis=0)
        return fires

    fires = np.array([fire(list(found.values())) for found in of_rule], dtype=np.uint64)
    fires = fires.reshape(-1, bits.shape[1])
    before = theory._predict_block(fires, n_rows)
    rules_with: dict[Any, list[int]] = {found: [] for found in keys}
    for r, scored in enumerate(theory):
        for found in {key(condition) for condition in scored.body}:
            rules_with[found].append(r)
    values = {}
    for found, rules in rules_with.items():
        changed = fires.copy()
        for r in rules:
            changed[r] = fire([i for c, i in of_rule[r].items() if key(c) != found])
        after = theory._predict_block(changed, n_rows)
        values[found] = float((before != after).mean()) if before.size else 0.0
    return values


def _cover_conditions(theory: Theory, X: Any) -> tuple[Bits, int, list[dict[Condition, int]]]:
    """Bits of every condition and of none, the number of rows, and where each rule's conditions are."""
    known: dict[Condition, int] = {}
    for scored in theory:
        for condition in scored.body:
            known.setdefault(condition, len(known))
    bits, n_rows = code_rules(theory.features, [*((c,) for c in known), ()]).cover(as_table(X))
    return bits, n_rows, [{c: known[c] for c in scored.body} for scored in theory]
