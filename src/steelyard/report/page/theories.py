"""Theories and examples of one data set → compact plain data: every name and every rule once.

Knows theory paths; only `_merge_conditions` and `_list_rules` know what is inside their rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.model.features import Feature, category_text
from steelyard.model.path import TheoryPath
from steelyard.model.rules import Condition
from steelyard.report.titles import format_parameter

# Categories that mean that something is present or absent.
_PRESENT, _ABSENT = {"1", "yes", "True", "true", "y", "t"}, {"0", "no", "False", "false", "n", "f"}

# What a rule requires of one feature: the keys low, high and includes_high, or categories.
Requirement = dict[str, Any]


def _list_rules(path: TheoryPath) -> Iterator[tuple[int, int, int, dict[str, Requirement]]]:
    """Label index, TP, FP and requirements of every rule of a path."""
    table, coder = path.program.table, path.program.coder
    counts = zip(path.label_of_rule.tolist(), path.tp.tolist(), path.fp.tolist(), strict=True)
    for r, (label, tp, fp) in enumerate(counts):
        yield label, tp, fp, _merge_conditions(table.body(r, coder))


def _merge_conditions(body: Sequence[Condition]) -> dict[str, Requirement]:
    """Feature name → requirement."""
    merged: dict[str, Requirement] = {}
    for condition in body:
        requirement = merged.setdefault(condition.feature, {})
        if condition.operator == "=":
            requirement["categories"] = [condition.value]
        elif condition.operator == "≥":
            requirement["low"] = condition.value
        else:
            requirement["high"] = condition.value
            requirement["includes_high"] = condition.operator == "≤"
    return merged


def path_to_payload(path: TheoryPath, examples: dict[str, Any] | None, fold: int) -> dict[str, Any]:
    """All theories of a fold, and its held-out examples if there are any."""
    features = [path.program.features[f] for f in path.program.used_idx]
    position = {feature.name: i for i, feature in enumerate(features)}
    rules = list(_list_rules(path))
    columns = _read_columns(examples, features)
    ranked = zip(path.heuristics, path.ranked, path.n_kept.tolist(), strict=True)
    return {
        "fold": fold,
        "labels": [
            [label.name, label.target_class, label.n_positives, label.n_negatives]
            for label in path.labels
        ],
        "features": [[feature.name, feature.categories] for feature in features],
        "binary": _find_binary(features, [body for *_, body in rules], columns),
        "rules": [
            [*counts, *(_compact(position[name], features, body[name]) for name in body)]
            for *counts, body in rules
        ],
        "rankings": [
            {
                "family": heuristic.name,
                "parameter": format_parameter(heuristic.parameter),
                "rules": ranking.rule_idx.tolist(),
                "new_tp": ranking.new_tp.tolist(),
                "new_fp": ranking.new_fp.tolist(),
                "kept": list(zip(path.phis, n_kept, strict=True)),
            }
            for heuristic, ranking, n_kept in ranked
        ],
        "examples": examples and _compact_examples(examples, columns, path),
    }


def _compact(f: int, features: Sequence[Feature], requirement: Requirement) -> list[Any]:
    """[feature, low, high], [feature, low, high, 1] if high is included, or [feature, [codes]]."""
    if "categories" in requirement:
        known = features[f].categories or ()
        return [f, [known.index(c) if c in known else -1 for c in requirement["categories"]]]
    ends = [_shorten(requirement.get(end)) for end in ("low", "high")]
    return [f, *ends, 1] if requirement.get("includes_high") else [f, *ends]


def _shorten(value: float | None) -> float | int | None:
    return value if value is None or value != int(value) else int(value)


def _read_columns(examples: dict[str, Any] | None, features: Sequence[Feature]) -> list[list[Any]]:
    """The values of the examples per feature: numbers or category codes; None is missing."""
    rows = [] if examples is None else examples["rows"]
    names = {} if examples is None else {name: j for j, name in enumerate(examples["features"])}

    def read(feature: Feature, value: Any) -> Any:
        if value is None or feature.categories is None:
            return _shorten(None if value is None else float(value))
        text = category_text(value)
        return feature.categories.index(text) if text in feature.categories else None

    return [
        [read(feature, row[names[feature.name]]) if feature.name in names else None for row in rows]
        for feature in features
    ]


def _compact_examples(
    examples: dict[str, Any], columns: list[list[Any]], path: TheoryPath
) -> dict[str, Any]:
    """The most frequent value per feature; each row lists only the values that differ from it."""
    usual = [Counter(column).most_common(1)[0][0] if column else None for column in columns]
    n_rows = len(examples["rows"])
    rows = [
        [x for f, column in enumerate(columns) if column[i] != usual[f] for x in (f, column[i])]
        for i in range(n_rows)
    ]
    order = {name: i for i, name in enumerate(examples["labels"])}
    labels = [order.get(label.name) for label in path.labels]
    truth = [[None if i is None else row[i] for i in labels] for row in examples["truth"]]
    return {"usual": usual, "rows": rows, "truth": truth}


def _find_binary(
    features: Sequence[Feature], bodies: Sequence[dict[str, Requirement]], columns: list[list[Any]]
) -> list[int]:
    """Per feature: 0 if it is not binary, 1 if it is a binary number, 2 if it has two categories.

    A word of a text is 0 or 1, and every cut point is 0.5. If all examples at hand are 0, the feature
    is taken for a word if the other features with such cut points have no other values.
    """
    cuts: dict[str, set[Any]] = {feature.name: set() for feature in features}
    for body in bodies:
        for name, requirement in body.items():
            cuts[name] |= {requirement.get("low"), requirement.get("high")} - {None}
    is_word = [cuts[feature.name] == {0.5} for feature in features]
    fits = [set(column) <= {0, 1, None} for column in columns]
    all_words = any(columns) and all(f for f, word in zip(fits, is_word, strict=True) if word)
    kinds = []
    for f, feature in enumerate(features):
        if feature.categories is not None:
            known = set(feature.categories)
            kinds.append(2 if len(known) == 2 and known & _PRESENT and known & _ABSENT else 0)
        else:
            kinds.append(int(is_word[f] and (all_words or (fits[f] and 1 in columns[f]))))
    return kinds
