"""Theories and paths as JSON text: what is written, and what a text must contain to be read.

A text may come from anywhere, and kernels trust what they are given. So everything that is read is
checked: fields here, values by the objects that are made of them.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import is_integer, is_number
from steelyard.heuristics import heuristic_from_dict, heuristic_to_dict

from .combiners import AnyRule, Combiner, FirstRule, StrongestVote, SumOfVotes, combiner_from_plain
from .conditions import Condition
from .decoders import BestLabel, BestLabelSet, EachLabel, LabelSetVotes, decoder_from_plain
from .evidence import Evidence, Label
from .features import Feature
from .label_sets import KnownLabelSets
from .rules import Head, Rule, ScoredRule

# Format and newest schema version. Theories: 1 rules that decide; 2 points and label sets; 3 a combiner
# and a decoder. Paths: 1 rules that decide; 2 a combiner, votes and label sets.
THEORY = ("steelyard theory", 3)
PATH = ("steelyard path", 2)

_KINDS = {str: "text", list: "a list", dict: "an object", int: "an integer", float: "a number"}
_MOST = 2**31 - 1


# -- writing -------------------------------------------------------------------------------------


def to_json_text(value: Any) -> str:
    """JSON that every language reads: text as it is, no NaN and no infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=lambda x: x.item())


def _number_to_plain(value: float) -> float | str:
    """A number, or the text of an infinite one, which JSON lacks."""
    return str(value) if math.isinf(value) else value


def condition_to_plain(condition: Condition) -> list[list[Any]]:
    """A condition as [attribute, operator, value], twice for an interval with two bounds."""
    name = condition.feature
    if condition.categories is not None:
        if len(condition.categories) == 1:
            return [[name, "=", condition.categories[0]]]
        return [[name, "in", condition.categories]]
    lower = [[name, "≥", condition.low]] if condition.low > -math.inf else []
    operator = "≤" if condition.includes_high else "<"
    upper = [[name, operator, condition.high]] if condition.high < math.inf else []
    return lower + upper


def _rule_to_plain(rule: Rule, tp: int, fp: int) -> dict[str, Any]:
    return {
        "label": rule.head.label,
        "target_class": rule.head.target_class,
        "body": [item for condition in rule.body for item in condition_to_plain(condition)],
        "tp": tp,
        "fp": fp,
    }


def _shared_to_plain(features: Sequence[Feature], labels: Sequence[Label]) -> dict[str, Any]:
    return {
        "features": [
            {"name": f.name} | ({} if f.categories is None else {"categories": f.categories})
            for f in features
        ],
        "labels": [vars(label) for label in labels],
    }


def _label_sets_to_plain(known: KnownLabelSets | None) -> list[dict[str, Any]]:
    pairs = () if known is None else zip(known.sets, known.counts, strict=True)
    return [{"labels": labels, "count": count} for labels, count in pairs]


def theory_to_text(theory: Any) -> str:
    """A theory as JSON, one rule per line."""
    head = {
        "format": THEORY[0],
        "schema_version": THEORY[1],
        "heuristic": theory.heuristic,
        "phi": theory.phi,
        "classes": theory.classes,
        "combiner": theory.combiner.to_plain(),
        "decoder": theory.decoder.to_plain(),
    }
    rules = [
        _rule_to_plain(s.rule, s.tp, s.fp)
        | {"value": _number_to_plain(s.value)}
        | ({} if s.points is None else {"points": s.points})
        for s in theory.rules
    ]
    lists = _shared_to_plain(theory.features, theory.labels)
    lists |= {"rules": rules, "label_sets": _label_sets_to_plain(theory.decoder.known)}
    lines = [f' "{key}": {to_json_text(value)}' for key, value in head.items()]
    for key, items in lists.items():
        rows = ",\n".join("  " + to_json_text(item) for item in items)
        lines.append(f' "{key}": [\n{rows}\n ]' if items else f' "{key}": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def path_to_text(path: Any) -> str:
    """A path as JSON: every rule once, and the ranking of each heuristic."""
    rankings = [
        {
            "heuristic": heuristic_to_dict(heuristic),
            "rules": ranked.rule_idx.tolist(),
            "values": list(map(_number_to_plain, ranked.values.tolist())),
            "new_tp": ranked.new_tp.tolist(),
            "new_fp": ranked.new_fp.tolist(),
        }
        | ({} if ranked.votes is None else {"votes": ranked.votes.tolist()})
        for heuristic, ranked in zip(path.heuristics, path.ranked, strict=True)
    ]
    data = {
        "format": PATH[0],
        "schema_version": PATH[1],
        "classes": path.classes,
        "phis": path.phis,
        "combiner": path.combiner.to_plain(),
        **_shared_to_plain(path.coded.features, path.labels),
        "rules": [
            _rule_to_plain(path.rule(r), int(path.tp[r]), int(path.fp[r]))
            for r in range(len(path.coded))
        ],
        "heuristics": rankings,
        "label_sets": _label_sets_to_plain(path.label_sets),
    }
    return to_json_text(data)


# -- checking ------------------------------------------------------------------------------------


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


def _check_format(text: str, expected: tuple[str, int], where: str) -> dict[str, Any]:
    data, (name, newest) = _parse(text, where), expected
    if not isinstance(data, dict) or data.get("format") != name:
        raise ValueError(f"{where} is not a {name}")
    if data.get("schema_version") not in range(1, newest + 1):
        raise ValueError(
            f"{where} has schema version {data.get('schema_version')!r}; this version of Steelyard "
            f"reads versions 1 to {newest}"
        )
    return data


@contextmanager
def reject_damage(what: str) -> Iterator[None]:
    """Say in one sentence what is damaged, and where."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{what}: {error}") from None


def _get(data: Any, name: str, kind: type) -> Any:
    """A field of an object, if it is of a kind: str, list, dict, int or float."""
    if not isinstance(data, dict):
        raise ValueError(f"expected an object, got {reprlib.repr(data)}")
    if name not in data:
        raise ValueError(f"{name} is missing")
    value = data[name]
    is_right = {int: is_integer(value, -_MOST, _MOST), float: is_number(value)}
    if not is_right.get(kind, isinstance(value, kind)):
        raise ValueError(f"{name} must be {_KINDS[kind]}, got {reprlib.repr(value)}")
    return value


def _read_each(data: Any, name: str, noun: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The items of a list, each read by a function; an error says which item it is."""
    found = []
    for i, item in enumerate(_get(data, name, list), start=1):
        with reject_damage(f"{noun} {i}"):
            found.append(read(item))
    return tuple(found)


def _integers(data: Any, name: str, least: float = 0, most: float = _MOST) -> NDArray[np.int64]:
    values = _get(data, name, list)
    wrong = [value for value in values if not is_integer(value, least, most)]  # type: ignore[arg-type]
    if wrong:
        raise ValueError(f"{name} must be integers from {least:,} to {most:,}, got {wrong[0]!r}")
    return np.array(values, dtype=np.int64)


# -- reading -------------------------------------------------------------------------------------


def _read_value(value: Any) -> float:
    """A number that may be infinite, then written as text."""
    return (
        float(value) if value in ("inf", "-inf") else float(_get({"value": value}, "value", float))
    )


def _read_feature(data: Any) -> Feature:
    return Feature(
        _get(data, "name", str), _get(data, "categories", list) if "categories" in data else None
    )


def _read_label(data: Any) -> Label:
    counts = [name for name in Label.__dataclass_fields__ if name != "name"]
    return Label(_get(data, "name", str), *(_get(data, name, int) for name in counts))


def _read_rule(data: Any, value: Any = None) -> ScoredRule:
    head = Head(_get(data, "label", str), _get(data, "target_class", int))
    body = []
    for item in _get(data, "body", list):
        if not isinstance(item, list) or len(item) != 3:
            raise ValueError(
                "a condition must be an attribute, an operator and a value, "
                f"got {reprlib.repr(item)}"
            )
        body.append(Condition(*item))
    evidence = Evidence(_get(data, "tp", int), _get(data, "fp", int))
    points = _get(data, "points", int) if "points" in data else None
    number = _read_value(data.get("value") if value is None else value)
    return ScoredRule(Rule(head, tuple(body)), evidence, number, points)


def _read_classes(data: Any) -> tuple[Any, ...]:
    classes = _get(data, "classes", list)
    is_text = all(isinstance(value, str) for value in classes)
    if not is_text and not all(isinstance(v, bool) or is_number(v) for v in classes):
        raise ValueError(f"classes must be texts or numbers, got {reprlib.repr(classes)}")
    return tuple(classes)


def _read_label_sets(data: Any) -> KnownLabelSets | None:
    pairs = _read_each(
        data,
        "label_sets",
        "label set",
        lambda item: (tuple(_get(item, "labels", list)), _get(item, "count", int)),
    )
    sets, counts = zip(*pairs, strict=True) if pairs else ((), ())
    return KnownLabelSets(sets, counts) if pairs else None


def theory_parts(text: str, where: str) -> dict[str, Any]:
    """The parts of the theory that `theory_to_text` wrote."""
    data = _check_format(text, THEORY, where)
    with reject_damage(f"{where} is a damaged theory"):
        if data["schema_version"] < THEORY[1]:
            data = _upgrade_theory(data)
        return {
            "features": _read_each(data, "features", "attribute", _read_feature),
            "labels": _read_each(data, "labels", "label", _read_label),
            "rules": _read_each(data, "rules", "rule", _read_rule),
            "combiner": combiner_from_plain(data.get("combiner")),
            "decoder": decoder_from_plain(data.get("decoder"), _read_label_sets(data)),
            "classes": _read_classes(data),
            "heuristic": _get(data, "heuristic", str),
            "phi": _get(data, "phi", float),
        }


def path_parts(text: str, where: str) -> dict[str, Any]:
    """The parts of the path that `path_to_text` wrote; a ranking is a dict."""
    data = _check_format(text, PATH, where)
    with reject_damage(f"{where} is a damaged path"):
        if data["schema_version"] < PATH[1]:
            data = _upgrade_path(data)
        phis = _get(data, "phis", list)
        if not all(is_number(phi) and 0 < phi <= 1 for phi in phis):
            raise ValueError(f"phis must be numbers above 0 and at most 1, got {phis!r}")
        rules = _read_each(data, "rules", "rule", lambda rule: _read_rule(rule, 0.0))
        return {
            "heuristics": _read_each(
                data,
                "heuristics",
                "heuristic",
                lambda item: heuristic_from_dict(_get(item, "heuristic", dict)),
            ),
            "phis": tuple(map(float, phis)),
            "features": _read_each(data, "features", "attribute", _read_feature),
            "labels": _read_each(data, "labels", "label", _read_label),
            "rules": rules,
            "ranked": _read_each(
                data, "heuristics", "heuristic", lambda item: _read_ranking(item, len(rules))
            ),
            "combiner": combiner_from_plain(data.get("combiner")),
            "classes": _read_classes(data),
            "label_sets": _read_label_sets(data),
        }


def _read_ranking(data: Any, n_rules: int) -> dict[str, Any]:
    """The ranking of a heuristic over so many rules."""
    ranking: dict[str, Any] = {
        "rule_idx": _integers(data, "rules", 0, n_rules - 1).astype(np.intp),
        "values": np.array([_read_value(value) for value in _get(data, "values", list)], float),
        "new_tp": _integers(data, "new_tp"),
        "new_fp": _integers(data, "new_fp"),
        "votes": _integers(data, "votes", -_MOST) if "votes" in data else None,
    }
    lengths = {name: len(part) for name, part in ranking.items() if part is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the lists have different lengths: {lengths}")
    if (ranking["values"][1:] > ranking["values"][:-1]).any():
        raise ValueError("the values are not sorted")
    return ranking


# -- older versions ------------------------------------------------------------------------------


def _get_output(data: Any) -> str:
    output: str = _get(data, "output", str)
    if output not in ("multilabel", "binary", "multiclass", "ordered"):
        raise ValueError(
            f"output must be multilabel, binary, multiclass or ordered, got {output!r}"
        )
    return output


def _upgrade_theory(data: dict[str, Any]) -> dict[str, Any]:
    """Versions 1 and 2, which had `output`, `combine`, `start_points` and `min_share`."""
    output = _get_output(data)
    combiner: Combiner = AnyRule()
    if output == "ordered":
        sizes = [label.n_positives for label in _read_each(data, "labels", "label", _read_label)]
        combiner = FirstRule(tuple(sorted(range(len(sizes)), key=lambda j: sizes[j])))
    if data["schema_version"] == 2:
        start = tuple(_integers(data, "start_points", -_MOST).tolist())
        combine = _get(data, "combine", str)
        if combine not in ("any", "weighted"):
            raise ValueError(f"combine must be any or weighted, got {combine!r}")
        combiner = SumOfVotes(start) if combine == "weighted" else StrongestVote(start)
    elif "start_points" in data or "label_sets" in data:
        raise ValueError("schema version 1 has neither start points nor label sets")
    decoder: Any = BestLabel() if output in ("multiclass", "ordered") else EachLabel()
    if "min_share" in data:
        share, weight = (_get(data, name, float) for name in ("min_share", "frequency_weight"))
        decoder = LabelSetVotes(share, weight)
    elif "label_sets" in data:
        decoder = BestLabelSet(_get(data, "frequency_weight", float))
    plain = {"combiner": combiner.to_plain(), "decoder": decoder.to_plain()}
    return {"label_sets": [], **data, **plain}


def _upgrade_path(data: dict[str, Any]) -> dict[str, Any]:
    """Version 1, whose rules had the position of their label."""
    _get_output(data)
    labels = _read_each(data, "labels", "label", _read_label)

    def name_label(rule: Any) -> Any:
        j = _get(rule, "label", int)
        if not 0 <= j < len(labels):
            raise ValueError(f"there is no label {j}; there are {len(labels)}")
        return rule | {"label": labels[j].name, "target_class": labels[j].target_class}

    rules = list(_read_each(data, "rules", "rule", name_label))
    return {**data, "rules": rules, "label_sets": [], "combiner": AnyRule().to_plain()}
