"""TheoryPath ⇄ JSON text: what is written, and what a text must say to be read, as in `saved_theory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.heuristics import heuristic_from_dict, heuristic_to_dict

from .coded_rules import compile_rules
from .evidence import Label
from .json_fields import (
    CLASSES,
    COUNT,
    COUNTS,
    FILLED_LIST,
    LABEL_FIELDS,
    LIST,
    OBJECT,
    OUTPUT,
    SHARES,
    VALUES,
    bodies_from_dicts,
    check_fields,
    check_format,
    check_items,
    check_labels,
    features_from_dicts,
    features_to_dicts,
    to_json_text,
    to_plain,
    value_from_plain,
    value_to_plain,
)

if TYPE_CHECKING:
    from .path import TheoryPath

SCHEMA_VERSION = 1

_FIELDS = {
    "output": OUTPUT,
    "classes": CLASSES,
    "phis": SHARES,
    "features": LIST,
    "labels": FILLED_LIST,
    "rules": LIST,
    "heuristics": LIST,
}
_RULE_FIELDS = {"label": COUNT, "tp": COUNT, "fp": COUNT, "body": LIST}
_RANKING_FIELDS = {
    "heuristic": OBJECT,
    "rules": COUNTS,
    "values": VALUES,
    "new_tp": COUNTS,
    "new_fp": COUNTS,
}


def path_to_text(path: TheoryPath) -> str:
    """A path as JSON: every rule once, and the ranking of each heuristic."""
    table, coder = path.program.table, path.program.coder
    data = {
        "format": "steelyard path",
        "schema_version": SCHEMA_VERSION,
        "output": path.output,
        "classes": [to_plain(value) for value in path.classes],
        "phis": path.phis,
        "features": features_to_dicts(path.program.features),
        "labels": [vars(label) for label in path.labels],
        "rules": [
            {
                "label": int(path.label_of_rule[r]),
                "tp": int(path.tp[r]),
                "fp": int(path.fp[r]),
                "body": [[c.feature, c.operator, c.value] for c in table.body(r, coder)],
            }
            for r in range(len(table))
        ],
        "heuristics": [
            {
                "heuristic": heuristic_to_dict(heuristic),
                "rules": ranked.rule_idx.tolist(),
                "values": list(map(value_to_plain, ranked.values.tolist())),
                "new_tp": ranked.new_tp.tolist(),
                "new_fp": ranked.new_fp.tolist(),
            }
            for heuristic, ranked in zip(path.heuristics, path.ranked, strict=True)
        ],
    }
    return to_json_text(data)


def path_from_text(text: str) -> dict[str, Any]:
    """The parts of the path that `path_to_text` wrote; those of a ranking are a dict."""
    data = check_format(text, "steelyard path", (SCHEMA_VERSION,), "the text")
    try:
        return _read_parts(data)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the text is a damaged path: {error}") from None


def _read_parts(data: dict[str, Any]) -> dict[str, Any]:
    """What a path is made of; whatever does not fit together is refused."""
    check_fields(data, _FIELDS)
    check_labels(data)
    rules, features = data["rules"], features_from_dicts(data["features"])
    check_items(rules, _RULE_FIELDS, "rule")
    check_items(data["heuristics"], _RANKING_FIELDS, "heuristic")
    _check_positions([rule["label"] for rule in rules], len(data["labels"]), "label")
    bodies = bodies_from_dicts(rules, features)
    return {
        "heuristics": tuple(heuristic_from_dict(h["heuristic"]) for h in data["heuristics"]),
        "phis": tuple(data["phis"]),
        "program": compile_rules(features, bodies),
        "label_of_rule": np.array([rule["label"] for rule in rules], dtype=np.intp),
        "tp": np.array([rule["tp"] for rule in rules], dtype=np.int64),
        "fp": np.array([rule["fp"] for rule in rules], dtype=np.int64),
        "n_conditions": np.array([len(body) for body in bodies], dtype=np.int64),
        "ranked": [_read_ranking(h, len(rules)) for h in data["heuristics"]],
        "labels": tuple(
            Label(**{name: label[name] for name in LABEL_FIELDS}) for label in data["labels"]
        ),
        "output": data["output"],
        "classes": tuple(data["classes"]),
    }


def _read_ranking(data: dict[str, Any], n_rules: int) -> dict[str, Any]:
    """The ranking of a heuristic over so many rules."""
    lengths = {name: len(data[name]) for name in ("rules", "values", "new_tp", "new_fp")}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{n} {name}" for name, n in lengths.items())
        raise ValueError(f"a ranking has lists of different lengths: {listed}")
    _check_positions(data["rules"], n_rules, "rule")
    values = np.array([value_from_plain(value) for value in data["values"]], dtype=np.float64)
    if (values[1:] > values[:-1]).any():
        raise ValueError("a ranking is not sorted by its values")
    return {
        "rule_idx": np.array(data["rules"], dtype=np.intp),
        "values": values,
        "new_tp": np.array(data["new_tp"], dtype=np.int64),
        "new_fp": np.array(data["new_fp"], dtype=np.int64),
    }


def _check_positions(positions: Sequence[int], n: int, what: str) -> None:
    # Otherwise a kernel would read and write beyond the end of its arrays.
    if max(positions, default=-1) >= n:
        raise ValueError(f"there is no {what} {max(positions)}: the last of {n} is {n - 1}")
