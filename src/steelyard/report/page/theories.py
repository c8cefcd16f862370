"""Theories and examples of one data set → compact plain data: every name and every rule once.

Knows theory paths and what the scripts of the page read.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from steelyard.model.conditions import Condition
from steelyard.model.features import Feature, category_text
from steelyard.model.path import TheoryPath
from steelyard.report.titles import format_parameter

Table = list[list[Any]]

# Categories that mean that something is present or absent.
_PRESENT, _ABSENT = {"1", "yes", "True", "true", "y", "t"}, {"0", "no", "False", "false", "n", "f"}


def path_to_payload(path: TheoryPath, examples: dict[str, Any] | None, fold: int) -> dict[str, Any]:
    """All theories of a fold, and its held-out examples if there are any."""
    features = path.coded.used_features
    position = {feature.name: i for i, feature in enumerate(features)}
    bodies = [path.coded.body(r) for r in range(len(path.coded))]
    counts = zip(path.label_of_rule.tolist(), path.tp.tolist(), path.fp.tolist(), strict=True)
    rows, names = (examples["rows"], examples["features"]) if examples else ([], [])
    values = dict(zip(names, zip(*rows, strict=True), strict=False))
    missing = [None] * len(rows)
    columns = [_read_column(values.get(feature.name, missing), feature) for feature in features]
    ranked = zip(path.heuristics, path.ranked, path.n_kept.tolist(), strict=True)
    return {
        "fold": fold,
        "labels": [[y.name, y.target_class, y.n_positives, y.n_negatives] for y in path.labels],
        "features": [[feature.name, feature.categories] for feature in features],
        "binary": _find_binary(features, bodies, columns),
        "rules": [
            [*numbers, *(_compact(position[c.feature], features, c) for c in body)]
            for numbers, body in zip(counts, bodies, strict=True)
        ],
        "origins": _list_origins(path),
        "rankings": [
            {
                "family": heuristic.family,
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


def _list_origins(path: TheoryPath) -> dict[int, str]:
    """Rule → who made it, when and why, for the rules that were not learned."""
    origins = {r: path.provenance(r).describe() for r in range(len(path.coded))}
    return {r: text for r, text in origins.items() if text}


def _compact(f: int, features: Sequence[Feature], condition: Condition) -> list[Any]:
    """[feature, low, high], [feature, low, high, 1] if high is included, or [feature, [codes]]."""
    if condition.categories is not None:
        known = features[f].categories or ()
        return [f, [known.index(text) for text in condition.categories]]
    bounds = [_shorten(bound) for bound in (condition.low, condition.high)]
    return [f, *bounds, 1] if condition.includes_high else [f, *bounds]


def _shorten(value: float) -> float | int | None:
    """None if a bound is infinite, an integer if possible."""
    return None if math.isinf(value) else int(value) if float(value).is_integer() else value


def _read_column(values: Iterable[Any], feature: Feature) -> list[Any]:
    """Numbers or category codes of the examples; None is missing."""
    if feature.categories is None:
        return [None if value is None else _shorten(float(value)) for value in values]
    codes = {text: code for code, text in enumerate(feature.categories)}
    return [None if value is None else codes.get(category_text(value)) for value in values]


def _compact_examples(examples: dict[str, Any], columns: Table, path: TheoryPath) -> dict[str, Any]:
    """The most frequent value per feature; each row lists only the values that differ from it."""
    usual = [Counter(column).most_common(1)[0][0] if column else None for column in columns]
    rows: Table = [[] for _ in examples["rows"]]
    for f, column in enumerate(columns):
        for row, value in zip(rows, column, strict=True):
            row += [f, value] if value != usual[f] else []
    order = {name: i for i, name in enumerate(examples["labels"])}
    labels = [order.get(label.name) for label in path.labels]
    truth = [[None if i is None else row[i] for i in labels] for row in examples["truth"]]
    return {"usual": usual, "rows": rows, "truth": truth}


def _find_binary(
    features: Sequence[Feature], bodies: Sequence[Sequence[Condition]], columns: Table
) -> list[int]:
    """Per feature: 0 if it is not binary, 1 if it is a binary number, 2 if it has two categories.

    A word of a text is 0 or 1, and every cut point is 0.5. If all examples at hand are 0, the feature
    is taken for a word if the other features with such cut points have no other values.
    """
    cuts: dict[str, set[Any]] = {feature.name: set() for feature in features}
    for condition in itertools.chain.from_iterable(bodies):
        cuts[condition.feature] |= {condition.low, condition.high} - {-math.inf, math.inf}
    is_word = [cuts[feature.name] == {0.5} for feature in features]
    fits = [set(column) <= {0, 1, None} for column in columns]
    all_words = any(columns) and all(f for f, word in zip(fits, is_word, strict=True) if word)
    kinds = []
    for f, feature in enumerate(features):
        known = set(feature.categories or ())
        is_pair = len(known) == 2 and known & _PRESENT and known & _ABSENT
        is_number = is_word[f] and (all_words or (fits[f] and 1 in columns[f]))
        kinds.append(2 if is_pair else int(is_number and feature.categories is None))
    return kinds
