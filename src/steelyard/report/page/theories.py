"""Theories and examples of one data set → compact plain data: every name and every rule once."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from steelyard.model.features import category_text
from steelyard.model.thresholding import count_kept
from steelyard.report.titles import format_parameter

OPERATORS = ("<", "≥", "=", "≤")

# How a condition on a category says that something is there, or is not.
_PRESENT, _ABSENT = {"1", "yes", "True", "true", "y", "t"}, {"0", "no", "False", "false", "n", "f"}


def find_theories(folder: Path, dataset: str) -> Path | None:
    """The theories of a data set's first fold, the one whose held-out examples are kept."""
    examples = folder / "examples" / f"{dataset}.json"
    fold = json.loads(examples.read_text(encoding="utf-8"))["fold"] if examples.exists() else 1
    file = folder / "theories" / dataset / f"fold-{fold}.json.gz"
    return file if file.exists() else None


def read_theories(file: Path, folder: Path, dataset: str) -> dict[str, Any]:
    """All theories of a fold and the examples to ask them about."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        path = json.load(stream)
    used = _used_features(path)
    position = {feature["name"]: i for i, feature in enumerate(used)}
    codes = [
        {text: code for code, text in enumerate(feature.get("categories", ()))} for feature in used
    ]
    example_file = folder / "examples" / f"{dataset}.json"
    examples = None
    if example_file.exists():
        examples = _compact_examples(
            json.loads(example_file.read_text(encoding="utf-8")), position, codes, path["labels"]
        )
    return {
        "fold": int(file.name.removeprefix("fold-").partition(".")[0]),
        "labels": [
            [label["name"], label["target_class"], label["n_positives"], label["n_negatives"]]
            for label in path["labels"]
        ],
        "features": [[feature["name"], feature.get("categories")] for feature in used],
        "binary": _find_binary(path, position, used, examples),
        "rules": [_compact_rule(rule, position, codes) for rule in path["rules"]],
        "rankings": [_compact_ranking(ranking, path["phis"]) for ranking in path["heuristics"]],
        "examples": examples,
    }


def _used_features(path: dict[str, Any]) -> list[dict[str, Any]]:
    tested = {name for rule in path["rules"] for name, _, _ in rule["body"]}
    return [feature for feature in path["features"] if feature["name"] in tested]


def _compact_rule(
    rule: dict[str, Any], position: dict[str, int], codes: list[dict[str, int]]
) -> list[Any]:
    """[label, tp, fp, feature, operator, value, feature, operator, value, ...]."""
    flat: list[Any] = [rule["label"], rule["tp"], rule["fp"]]
    for name, operator, value in rule["body"]:
        feature = position[name]
        flat += [
            feature,
            OPERATORS.index(operator),
            codes[feature].get(value, -1) if isinstance(value, str) else _short(value),
        ]
    return flat


def _short(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _compact_ranking(ranking: dict[str, Any], phis: list[float]) -> dict[str, Any]:
    """A heuristic's rules, best first, how many each φ keeps, and what each covers anew."""
    import numpy as np

    heuristic = dict(ranking["heuristic"])
    family = heuristic.pop("name")
    (parameter,) = heuristic.values()
    values = np.asarray(ranking["values"], dtype=np.float64)
    return {
        "family": family,
        "parameter": format_parameter(float(parameter)),
        "rules": ranking["rules"],
        "new_tp": ranking["new_tp"],
        "new_fp": ranking["new_fp"],
        "kept": [[phi, count_kept(values, phi)] for phi in phis],
    }


def _compact_examples(
    examples: dict[str, Any],
    position: dict[str, int],
    codes: list[dict[str, int]],
    labels: list[dict[str, Any]],
) -> dict[str, Any]:
    """Values as the rules see them; each row lists where it differs from the most frequent values."""
    names = examples["features"]
    columns: list[list[Any]] = [[None] * len(examples["rows"]) for _ in position]
    for j, name in enumerate(names):
        if name in position:
            feature = position[name]
            columns[feature] = [_to_code(row[j], codes[feature]) for row in examples["rows"]]
    usual = [Counter(column).most_common(1)[0][0] if column else None for column in columns]
    rows = [
        [x for f, column in enumerate(columns) if column[i] != usual[f] for x in (f, column[i])]
        for i in range(len(examples["rows"]))
    ]
    order = {name: i for i, name in enumerate(examples["labels"])}
    truth = [
        [row[order[label["name"]]] if label["name"] in order else None for label in labels]
        for row in examples["truth"]
    ]
    return {"usual": usual, "rows": rows, "truth": truth}


def _to_code(value: Any, codes: dict[str, int]) -> Any:
    """A number, or the code of a category; None is missing, and so is a category no rule can know."""
    if value is None or not codes:
        return None if value is None else _short(float(value))
    return codes.get(category_text(value))


def _find_binary(
    path: dict[str, Any],
    position: dict[str, int],
    used: list[dict[str, Any]],
    examples: dict[str, Any] | None,
) -> list[int]:
    """Per attribute: 0 if it is no yes-or-no attribute, 1 if numbers say it, 2 if categories do.

    A word of a text is 0 or 1 and every cut point lies between. Where the examples at hand are all 0,
    the attribute is taken for a word if no other attribute with such cut points has other values.
    """
    cuts: list[set[Any]] = [set() for _ in used]
    for rule in path["rules"]:
        for name, _, value in rule["body"]:
            cuts[position[name]].add(value)
    seen = _values_seen(examples, len(used))
    is_word = [f for f, values in enumerate(cuts) if values == {0.5}]
    all_words = bool(examples) and all(seen[f] <= {0, 1, None} for f in is_word)
    kinds = []
    for f, feature in enumerate(used):
        categories = feature.get("categories")
        if categories is not None:
            is_binary = len(categories) == 2 and bool(
                _PRESENT & set(categories) and _ABSENT & set(categories)
            )
            kinds.append(2 if is_binary else 0)
        else:
            is_binary = f in is_word and (all_words or (seen[f] <= {0, 1, None} and 1 in seen[f]))
            kinds.append(1 if is_binary else 0)
    return kinds


def _values_seen(examples: dict[str, Any] | None, n_features: int) -> list[set[Any]]:
    if examples is None:
        return [set() for _ in range(n_features)]
    seen = [{value} for value in examples["usual"]]
    for row in examples["rows"]:
        for f, value in zip(row[::2], row[1::2], strict=True):
            seen[f].add(value)
    return seen
