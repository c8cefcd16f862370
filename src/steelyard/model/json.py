"""Theories and paths as JSON text: what is written, and what a text must contain to be read.

A text may come from anywhere, and kernels trust what they are given. So everything that is read is
checked: fields here, values by the objects that are made of them.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import is_number, is_whole
from steelyard.heuristics import heuristic_from_dict, heuristic_to_dict

from .combiners import AnyRule, Combiner, FirstRule, StrongestVote, SumOfVotes, combiner_from_plain
from .conditions import Condition
from .decoders import BestLabel, BestLabelSet, EachLabel, LabelSetVotes, decoder_from_plain
from .evidence import Evidence, Label
from .features import Feature
from .label_sets import KnownLabelSets
from .rules import Head, Rule, ScoredRule

THEORY, PATH = "steelyard theory", "steelyard path"

# Theories: 1 rules that decide; 2 with points and label sets; 3 a combiner and a decoder.
THEORY_VERSION = 3
# Paths: 1 rules that decide; 2 a combiner, votes and label sets.
PATH_VERSION = 2


# -- writing -------------------------------------------------------------------------------------


def to_json_text(value: Any) -> str:
    """JSON that every language reads: text as it is, no NaN and no infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_to_plain)


def _to_plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cannot write {value!r} as JSON")


def _number_to_plain(value: float) -> float | str:
    """A number, or the text of an infinite one, which JSON lacks."""
    return str(value) if math.isinf(value) else value


def condition_to_plain(condition: Condition) -> list[list[Any]]:
    """A condition as [attribute, operator, value], twice for an interval with two bounds."""
    if condition.categories is not None:
        if len(condition.categories) == 1:
            return [[condition.feature, "=", condition.categories[0]]]
        return [[condition.feature, "in", list(condition.categories)]]
    plain: list[list[Any]] = []
    if condition.low > -math.inf:
        plain.append([condition.feature, "≥", condition.low])
    if condition.high < math.inf:
        plain.append([condition.feature, "≤" if condition.includes_high else "<", condition.high])
    return plain


def _body_to_plain(body: Sequence[Condition]) -> list[list[Any]]:
    return [item for condition in body for item in condition_to_plain(condition)]


def _features_to_plain(features: Sequence[Feature]) -> list[dict[str, Any]]:
    return [
        {"name": f.name} | ({} if f.categories is None else {"categories": f.categories})
        for f in features
    ]


def _label_sets_to_plain(known: KnownLabelSets | None) -> list[dict[str, Any]]:
    if known is None:
        return []
    pairs = zip(known.sets, known.counts, strict=True)
    return [{"labels": labels, "count": count} for labels, count in pairs]


def theory_to_text(theory: Any) -> str:
    """A theory as JSON, one rule per line."""
    head = {
        "format": THEORY,
        "schema_version": THEORY_VERSION,
        "heuristic": theory.heuristic,
        "phi": theory.phi,
        "classes": theory.classes,
        "combiner": theory.combiner.to_plain(),
        "decoder": theory.decoder.to_plain(),
    }
    lists: dict[str, list[dict[str, Any]]] = {
        "features": _features_to_plain(theory.features),
        "labels": [vars(label) for label in theory.labels],
        "rules": [
            {
                "label": s.head.label,
                "target_class": s.head.target_class,
                "body": _body_to_plain(s.body),
                "tp": s.tp,
                "fp": s.fp,
                "value": _number_to_plain(s.value),
            }
            | ({} if s.points is None else {"points": s.points})
            for s in theory.rules
        ],
        "label_sets": _label_sets_to_plain(theory.decoder.known),
    }
    lines = [f' "{key}": {to_json_text(value)}' for key, value in head.items()]
    for key, items in lists.items():
        rows = ",\n".join("  " + to_json_text(item) for item in items)
        lines.append(f' "{key}": [\n{rows}\n ]' if items else f' "{key}": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def path_to_text(path: Any) -> str:
    """A path as JSON: every rule once, and the ranking of each heuristic."""
    data = {
        "format": PATH,
        "schema_version": PATH_VERSION,
        "classes": path.classes,
        "phis": path.phis,
        "combiner": path.combiner.to_plain(),
        "features": _features_to_plain(path.coded.features),
        "labels": [vars(label) for label in path.labels],
        "rules": [
            {
                "label": int(path.label_of_rule[r]),
                "tp": int(path.tp[r]),
                "fp": int(path.fp[r]),
                "body": _body_to_plain(path.coded.body(r)),
            }
            for r in range(len(path.coded))
        ],
        "heuristics": [
            {
                "heuristic": heuristic_to_dict(heuristic),
                "rules": ranked.rule_idx.tolist(),
                "values": list(map(_number_to_plain, ranked.values.tolist())),
                "new_tp": ranked.new_tp.tolist(),
                "new_fp": ranked.new_fp.tolist(),
            }
            | ({} if ranked.votes is None else {"votes": ranked.votes.tolist()})
            for heuristic, ranked in zip(path.heuristics, path.ranked, strict=True)
        ],
        "label_sets": _label_sets_to_plain(path.label_sets),
    }
    return to_json_text(data)


# -- reading -------------------------------------------------------------------------------------


def find_format(text: str, where: str) -> Any:
    """What a JSON text says that it is; None if it says nothing."""
    data = _parse(text, where)
    return data.get("format") if isinstance(data, dict) else None


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"{where} is nested too deeply to be read as JSON") from None
    except ValueError as error:
        raise ValueError(f"{where} is not JSON: {error}") from None


def _check_format(text: str, name: str, newest: int, where: str) -> dict[str, Any]:
    data = _parse(text, where)
    if not isinstance(data, dict) or data.get("format") != name:
        raise ValueError(f"{where} is not a {name}")
    if data.get("schema_version") not in range(1, newest + 1):
        raise ValueError(
            f"{where} has schema version {data.get('schema_version')!r}; this version of Steelyard "
            f"reads versions 1 to {newest}"
        )
    return data


@contextmanager
def reject_damage(where: str, what: str) -> Iterator[None]:
    """Say in one sentence where a text is damaged."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{where} is a damaged {what}: {error}") from None


def _get(data: Any, name: str, kind: type, what: str = "") -> Any:
    """A field of an object, of a kind: str, list, dict, int or float."""
    of_what = f" of {what}" if what else ""
    if not isinstance(data, dict):
        raise ValueError(f"{what or 'the content'} must be an object, got {reprlib.repr(data)}")
    if name not in data:
        raise ValueError(f"{name}{of_what} is missing")
    value = data[name]
    words = {str: "text", list: "a list", dict: "an object", int: "an integer", float: "a number"}
    is_right = {int: is_whole(value, least=-math.inf), float: is_number(value)}  # type: ignore[arg-type]
    if not is_right.get(kind, isinstance(value, kind)):
        raise ValueError(f"{name}{of_what} must be {words[kind]}, got {reprlib.repr(value)}")
    return value


def _read_value(data: Any, what: str) -> float:
    """A number that may be infinite, then written as text."""
    if isinstance(data, dict) and data.get("value") in ("inf", "-inf"):
        return float(data["value"])
    return float(_get(data, "value", float, what))


def _read_body(rule: Any, what: str) -> Iterator[Condition]:
    for item in _get(rule, "body", list, what):
        if not isinstance(item, list) or len(item) != 3:
            raise ValueError(
                f"a condition of {what} must be an attribute, an operator and a value, "
                f"got {reprlib.repr(item)}"
            )
        with _naming(what):
            yield Condition(*item)


@contextmanager
def _naming(what: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def _read_features(data: Any) -> tuple[Feature, ...]:
    features = []
    for i, item in enumerate(_get(data, "features", list), start=1):
        what = f"attribute {i}"
        name, categories = _get(item, "name", str, what), None
        if "categories" in item:
            categories = tuple(_get(item, "categories", list, what))
        features.append(Feature(name, categories))
    return tuple(features)


def _read_labels(data: Any) -> tuple[Label, ...]:
    labels = []
    for i, item in enumerate(_get(data, "labels", list), start=1):
        counts = {
            name: _get(item, name, int, f"label {i}")
            for name in Label.__dataclass_fields__
            if name != "name"
        }
        labels.append(Label(_get(item, "name", str, f"label {i}"), **counts))
    return tuple(labels)


def _read_classes(data: Any) -> tuple[Any, ...]:
    classes = _get(data, "classes", list)
    is_text = all(isinstance(value, str) for value in classes)
    if not is_text and not all(isinstance(v, bool) or is_number(v) for v in classes):
        raise ValueError(f"classes must be texts or numbers, got {reprlib.repr(classes)}")
    return tuple(classes)


def _read_label_sets(data: Any) -> KnownLabelSets | None:
    items = _get(data, "label_sets", list)
    if not items:
        return None
    return KnownLabelSets(
        tuple(tuple(_get(s, "labels", list, f"label set {i}")) for i, s in enumerate(items, 1)),
        tuple(_get(s, "count", int, f"label set {i}") for i, s in enumerate(items, 1)),
    )


def _read_rule(data: Any, what: str) -> ScoredRule:
    with _naming(what):
        head = Head(_get(data, "label", str, what), _get(data, "target_class", int, what))
        evidence = Evidence(_get(data, "tp", int, what), _get(data, "fp", int, what))
    points = _get(data, "points", int, what) if "points" in data else None
    rule = Rule(head, tuple(_read_body(data, what)))
    return ScoredRule(rule, evidence, _read_value(data, what), points)


def theory_parts(text: str, where: str) -> dict[str, Any]:
    """The parts of the theory that `theory_to_text` wrote."""
    data = _check_format(text, THEORY, THEORY_VERSION, where)
    with reject_damage(where, "theory"):
        if data["schema_version"] < THEORY_VERSION:
            data = _upgrade_theory(data)
        return {
            "features": _read_features(data),
            "labels": _read_labels(data),
            "rules": tuple(
                _read_rule(rule, f"rule {i}")
                for i, rule in enumerate(_get(data, "rules", list), start=1)
            ),
            "combiner": combiner_from_plain(data.get("combiner")),
            "decoder": decoder_from_plain(data.get("decoder"), _read_label_sets(data)),
            "classes": _read_classes(data),
            "heuristic": _get(data, "heuristic", str),
            "phi": _get(data, "phi", float),
        }


def _upgrade_theory(data: dict[str, Any]) -> dict[str, Any]:
    """Versions 1 and 2, which said `output`, `combine`, `start_points` and `min_share`."""
    output = _upgrade_output(data)
    combiner: Combiner = AnyRule()
    if output == "ordered":
        labels = _read_labels(data)
        order = sorted(range(len(labels)), key=lambda j: labels[j].n_positives)
        combiner = FirstRule(tuple(order))
    if data["schema_version"] == 2:
        start = tuple(_get(data, "start_points", list))
        combine = _get(data, "combine", str)
        if combine not in ("any", "weighted"):
            raise ValueError(f"combine must be any or weighted, got {combine!r}")
        combiner = SumOfVotes(start) if combine == "weighted" else StrongestVote(start)
    elif "start_points" in data or "label_sets" in data:
        raise ValueError("schema version 1 has neither start points nor label sets")
    decoder: Any = BestLabel() if output in ("multiclass", "ordered") else EachLabel()
    if "label_sets" in data:
        weight = _get(data, "frequency_weight", float)
        decoder = BestLabelSet(weight)
        if "min_share" in data:
            decoder = LabelSetVotes(_get(data, "min_share", float), weight)
    return {
        "label_sets": [],
        **data,
        "combiner": combiner.to_plain(),
        "decoder": decoder.to_plain(),
    }


def _upgrade_output(data: dict[str, Any]) -> str:
    output = _get(data, "output", str)
    if output not in ("multilabel", "binary", "multiclass", "ordered"):
        raise ValueError(f"output must be multilabel, binary, multiclass or ordered, got {output!r}")
    return output


def path_parts(text: str, where: str) -> dict[str, Any]:
    """The parts of the path that `path_to_text` wrote; a ranking is a dict."""
    data = _check_format(text, PATH, PATH_VERSION, where)
    with reject_damage(where, "path"):
        if data["schema_version"] == 1:
            _upgrade_output(data)
            data = {"label_sets": [], **data, "combiner": AnyRule().to_plain()}
        rules = _get(data, "rules", list)
        labels = _read_labels(data)
        rankings = _get(data, "heuristics", list)
        return {
            "heuristics": tuple(
                heuristic_from_dict(_get(h, "heuristic", dict, f"heuristic {i}"))
                for i, h in enumerate(rankings, start=1)
            ),
            "phis": tuple(_read_phis(data)),
            "features": _read_features(data),
            "bodies": [
                Rule(Head(""), tuple(_read_body(rule, f"rule {i}"))).body
                for i, rule in enumerate(rules, start=1)
            ],
            "label_of_rule": _read_integers(rules, "label", len(labels) - 1),
            "tp": _read_integers(rules, "tp"),
            "fp": _read_integers(rules, "fp"),
            "ranked": [
                _read_ranking(ranking, f"heuristic {i}", len(rules))
                for i, ranking in enumerate(rankings, start=1)
            ],
            "labels": labels,
            "classes": _read_classes(data),
            "combiner": combiner_from_plain(data.get("combiner")),
            "label_sets": _read_label_sets(data),
        }


def _read_phis(data: Any) -> Iterator[float]:
    for phi in _get(data, "phis", list):
        if not is_number(phi) or not 0 < phi <= 1:
            raise ValueError(f"phis must be numbers above 0 and at most 1, got {phi!r}")
        yield float(phi)


def _read_integers(rules: Sequence[Any], name: str, most: float = 2**31 - 1) -> NDArray[np.int64]:
    """A field of every rule; kernels trust that positions exist."""
    values = []
    for i, rule in enumerate(rules, start=1):
        value = _get(rule, name, int, f"rule {i}")
        if not 0 <= value <= most:
            raise ValueError(f"{name} of rule {i} must be from 0 to {most:,}, got {value!r}")
        values.append(value)
    return np.array(values, dtype=np.int64)


def _read_list(data: Any, name: str, what: str, least: float, most: float) -> NDArray[np.int64]:
    values = _get(data, name, list, what)
    wrong = [value for value in values if not is_whole(value, least, most)]  # type: ignore[arg-type]
    if wrong:
        raise ValueError(
            f"{name} of {what} must be integers from {least:,} to {most:,}, got {wrong[0]!r}"
        )
    return np.array(values, dtype=np.int64)


def _read_ranking(data: Any, what: str, n_rules: int) -> dict[str, Any]:
    """The ranking of a heuristic over so many rules."""
    most = 2**31 - 1
    values = [
        _read_value({"value": value}, what) for value in _get(data, "values", list, what)
    ]
    ranking: dict[str, Any] = {
        "rule_idx": _read_list(data, "rules", what, 0, n_rules - 1).astype(np.intp),
        "values": np.array(values, dtype=np.float64),
        "new_tp": _read_list(data, "new_tp", what, 0, most),
        "new_fp": _read_list(data, "new_fp", what, 0, most),
        "votes": _read_list(data, "votes", what, -most, most) if "votes" in data else None,
    }
    lengths = {name: len(part) for name, part in ranking.items() if part is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the lists of {what} have different lengths: {lengths}")
    if (ranking["values"][1:] > ranking["values"][:-1]).any():
        raise ValueError(f"the values of {what} are not sorted")
    return ranking
