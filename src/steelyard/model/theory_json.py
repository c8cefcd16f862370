"""Theory ⇄ JSON text: what is written, and what a text must say to be read.

Reading gives the parts of a theory, each checked: a text may come from anywhere, and kernels trust
what they are given.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .decoding import Combine, KnownLabelSets, LabelSets
from .evidence import Label, ScoredRule
from .json_fields import (
    CLASS,
    CLASSES,
    COUNT,
    COUNTS,
    FILLED_LIST,
    LABEL_FIELDS,
    LIST,
    NUMBER,
    OUTPUT,
    SHARE,
    TEXT,
    VALUE,
    WHOLE,
    WHOLES,
    bodies_from_dicts,
    check_fields,
    check_format,
    check_items,
    check_labels,
    features_from_dicts,
    features_to_dicts,
    one_of,
    to_json_text,
    to_plain,
    value_from_plain,
    value_to_plain,
)
from .rules import Head, Rule

if TYPE_CHECKING:
    from .theory import Theory

# Version 2 has what version 1 cannot say: points of rules and sets of labels. A theory is written in
# the oldest version that can say it, so that older readers understand as much as they can.
SCHEMA_VERSION = 1
POINTS_SCHEMA_VERSION = 2

_FIELDS = {
    "heuristic": TEXT,
    "phi": SHARE,
    "output": OUTPUT,
    "classes": CLASSES,
    "features": LIST,
    "labels": FILLED_LIST,
    "rules": LIST,
}
_POINTS_FIELDS = {"combine": one_of("any", "weighted"), "start_points": WHOLES}
_RULE_FIELDS = {
    "label": TEXT,
    "target_class": CLASS,
    "body": LIST,
    "tp": COUNT,
    "fp": COUNT,
    "value": VALUE,
}
_LABEL_SETS_FIELDS = {"label_sets": LIST, "frequency_weight": NUMBER}
_LABEL_SET_FIELDS = {"labels": COUNTS, "count": COUNT}


def theory_to_text(theory: Theory) -> str:
    """A theory as JSON, one rule a line."""
    head = {
        "format": "steelyard theory",
        "schema_version": POINTS_SCHEMA_VERSION if theory.has_points else SCHEMA_VERSION,
        "heuristic": theory.heuristic,
        "phi": theory.phi,
        "output": theory.output,
        "classes": [to_plain(value) for value in theory.classes],
    }
    if theory.start_points is not None:
        head |= {"combine": theory.combine, "start_points": theory.start_points}
    if theory.label_sets is not None:
        head["frequency_weight"] = to_plain(theory.label_sets.frequency_weight)
        if theory.label_sets.min_share is not None:
            head["min_share"] = to_plain(theory.label_sets.min_share)
    lists = {
        "features": features_to_dicts(theory.features),
        "labels": [vars(label) for label in theory.labels],
        "rules": [
            {
                "label": s.rule.head.label,
                "target_class": s.rule.head.target_class,
                "body": [[c.feature, c.operator, c.value] for c in s.rule.body],
                "tp": s.tp,
                "fp": s.fp,
                "value": value_to_plain(s.value),
            }
            | ({} if s.points is None else {"points": s.points})
            for s in theory.scored_rules
        ],
    }
    if theory.label_sets is not None:
        pairs = zip(theory.label_sets.sets, theory.label_sets.counts, strict=True)
        lists["label_sets"] = [{"labels": labels, "count": count} for labels, count in pairs]
    lines = [f" {json.dumps(k)}: {to_json_text(v)}" for k, v in head.items()]
    for key, items in lists.items():
        rows = ",\n".join("  " + to_json_text(item) for item in items)
        lines.append(f' "{key}": [\n{rows}\n ]' if items else f' "{key}": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def theory_from_text(text: str, where: str) -> dict[str, Any]:
    """The parts of the theory that `theory_to_text` wrote; errors name where the text is from."""
    versions = (SCHEMA_VERSION, POINTS_SCHEMA_VERSION)
    data = check_format(text, "steelyard theory", versions, where)
    try:
        return _read_parts(data)
    except ValueError as error:
        raise ValueError(f"{where} is a damaged theory: {error}") from None


def _read_parts(data: dict[str, Any]) -> dict[str, Any]:
    """What a theory is made of; whatever does not fit together is refused."""
    check_fields(data, _FIELDS)
    check_labels(data)
    has_points = data["schema_version"] == POINTS_SCHEMA_VERSION
    if has_points:
        check_fields(data, _POINTS_FIELDS)
        check_start_points(data["start_points"], data["labels"])
    elif "start_points" in data or "label_sets" in data:
        raise ValueError(f"schema version {SCHEMA_VERSION} has neither start points nor label sets")
    combine: Combine = data["combine"] if has_points else "any"
    _check_rules(data, combine, has_points)
    features = features_from_dicts(data["features"])
    return {
        "features": features,
        "labels": tuple(
            Label(**{name: label[name] for name in LABEL_FIELDS}) for label in data["labels"]
        ),
        "scored_rules": tuple(
            ScoredRule(
                Rule(Head(r["label"], r["target_class"]), body),
                tp=r["tp"],
                fp=r["fp"],
                value=value_from_plain(r["value"]),
                points=r.get("points"),
            )
            for r, body in zip(
                data["rules"], bodies_from_dicts(data["rules"], features), strict=True
            )
        ),
        "heuristic": data["heuristic"],
        "phi": data["phi"],
        "output": data["output"],
        "classes": tuple(data["classes"]),
        "combine": combine,
        "start_points": tuple(data["start_points"]) if has_points else None,
        "label_sets": _label_sets_from_dict(data),
    }


def check_start_points(start_points: Sequence[int], labels: Sequence[Any]) -> None:
    """Refuse another number of starts than of labels: a kernel would write beyond the end."""
    if len(start_points) != len(labels):
        raise ValueError(f"{len(start_points)} start points for {len(labels)} labels")


def _check_rules(data: dict[str, Any], combine: Combine, has_points: bool) -> None:
    targets = {label["name"]: label["target_class"] for label in data["labels"]}
    for i, rule in enumerate(data["rules"], start=1):
        check_fields(rule, _RULE_FIELDS, f"rule {i}")
        if has_points or "points" in rule:
            check_fields(rule, {"points": WHOLE}, f"rule {i}")
        if rule["label"] not in targets:
            raise ValueError(f"rule {i} is for a label that is not listed: {rule['label']!r}")
        if combine == "any" and rule["target_class"] != targets[rule["label"]]:
            raise ValueError(
                f"rule {i} is for class {rule['target_class']} of {rule['label']!r}, "
                f"whose target class is {targets[rule['label']]}"
            )


def _label_sets_from_dict(data: dict[str, Any]) -> KnownLabelSets | None:
    if "label_sets" not in data:
        return None
    if data["output"] != "multilabel":
        raise ValueError(f"label sets are for the output multilabel, not for {data['output']}")
    check_fields(data, _LABEL_SETS_FIELDS)
    check_items(data["label_sets"], _LABEL_SET_FIELDS, "label set")
    decoding = LabelSets(data["frequency_weight"], min_share=data.get("min_share"))
    known = KnownLabelSets(
        tuple(tuple(known["labels"]) for known in data["label_sets"]),
        tuple(known["count"] for known in data["label_sets"]),
        decoding.frequency_weight,
        decoding.min_share,
    )
    if known.n_labels > len(data["labels"]):
        raise ValueError(
            f"a label set has label {known.n_labels - 1}, but the last of the "
            f"{len(data['labels'])} labels is {len(data['labels']) - 1}"
        )
    return known
