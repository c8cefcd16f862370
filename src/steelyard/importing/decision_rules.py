"""Rule sets of decision-rules, which RuleKit's become, as JSON → rules that vote for classes."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Sequence
from typing import Any

from steelyard._numbers import is_integer, is_number
from steelyard.model.decoders import BestLabel
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import category_text
from steelyard.model.json import get_field

from .parts import ForeignRule, ForeignTheory, Test, name_place, to_points

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def read_json(text: str) -> ForeignTheory:
    """The rules of the JSON that ``JSONSerializer.serialize(ruleset)`` gives."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    except ValueError:  # the only other one that Python raises
        raise ValueError("the JSON has an integer with too many digits") from None
    return read_plain(data)


def read_plain(data: Any) -> ForeignTheory:
    """The rules of a rule set as plain data.

    Rules vote with their voting weight for a class, and the class with the largest sum wins. The default
    class comes first: it wins if no rule fires.
    """
    meta, items = get_field(data, "meta", dict), get_field(data, "rules", list)
    attributes = [str(name) for name in get_field(meta, "attributes", list)]
    if "decision_attribute_distribution" not in meta:
        raise ValueError("this is not a classification: decision_attribute_distribution is missing")
    counts = get_field(meta, "decision_attribute_distribution", dict)
    name = str(get_field(meta, "decision_attribute", str))
    rules = []
    for i, item in enumerate(items, start=1):
        with name_place(f"rule {i}"):
            value, rule = _read_rule(item, attributes)
        rules.append((value, rule._replace(where=f"rule {i}")))
    default = _read_default(meta, counts)
    classes = _list_classes(default, [value for value, _ in rules], counts)
    names = [c if isinstance(c, str) else f"{name}={c}" for c in classes]
    label_of = {category_text(c): label for c, label in zip(classes, names, strict=True)}
    total = sum(counts.values())
    labels = []
    for value, label in zip(classes, names, strict=True):
        n_positives = counts.get(_find_key(value, counts), 0)
        labels.append(Label(label, 1, n_positives, total - n_positives, None, None))
    found = [rule._replace(label=label_of[category_text(value)]) for value, rule in rules]
    _check_counts(found, labels)
    start = [0.0] * len(classes)
    options: Any = {"start": start, "decoder": BestLabel(), "classes": tuple(classes)}
    return ForeignTheory("RuleKit or decision-rules", found, labels, attributes, **options)


def _check_counts(rules: Sequence[ForeignRule], labels: Sequence[Label]) -> None:
    """Reject rules that cover more examples of their class, or of the others, than there are."""
    by_name = {label.name: label for label in labels}
    for rule in rules:
        if rule.evidence is None:
            continue
        label = by_name[rule.label]
        pairs = (
            ("p", rule.evidence.tp, label.n_positives, f"with the class {label.name!r}"),
            ("n", rule.evidence.fp, label.n_negatives, f"without the class {label.name!r}"),
        )
        for name, count, most, which in pairs:
            if count > most:
                raise ValueError(
                    f"{rule.where}: {name} is {count:,}, but decision_attribute_distribution has "
                    f"{most:,} examples {which}"
                )


def _read_default(meta: dict[str, Any], counts: dict[str, Any]) -> Any:
    """The class where no rule fires: the most frequent one, unless another one is named."""
    for value in counts.values():
        if not is_integer(value, 0):
            raise ValueError(f"decision_attribute_distribution must hold counts, got {value!r}")
    if meta.get("default_conclusion") is not None:
        return _read_class(get_field(meta, "default_conclusion", dict))
    if not counts:
        raise ValueError("decision_attribute_distribution is empty")
    return max(sorted(counts), key=lambda key: counts[key])


def _read_class(conclusion: dict[str, Any]) -> Any:
    value = conclusion.get("value")
    if not isinstance(value, str | bool) and not is_number(value):
        raise ValueError(f"a class must be a text or a number, got {reprlib.repr(value)}")
    return value


def _find_key(value: Any, counts: dict[str, Any]) -> str:
    """The key of a class in an object of JSON, whose keys are texts."""
    return next((k for k in counts if category_text(k) == category_text(value)), str(value))


def _list_classes(default: Any, used: Sequence[Any], counts: dict[str, Any]) -> list[Any]:
    """The default class and all others, with the types that the rules give them."""
    known = {category_text(value): value for value in (default, *used)}
    for key in counts:
        known.setdefault(category_text(key), key)
    default_text = category_text(default)
    others = sorted((t for t in known if t != default_text), key=lambda t: _sort_key(known[t]))
    classes = [known[text] for text in (default_text, *others)]
    if any(not isinstance(value, str) for value in classes):
        return [_to_number(value) for value in classes]
    return classes


def _sort_key(value: Any) -> tuple[int, Any]:
    return (1, value) if isinstance(value, str) else (0, value)


def _to_number(value: Any) -> Any:
    """A class that is a text among numbers, because keys of JSON are texts."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"classes must be all texts or all numbers, got {value!r}") from None
    return int(number) if number.is_integer() else number


def _read_rule(item: Any, attributes: Sequence[str]) -> tuple[Any, ForeignRule]:
    """The class and the tests of a rule, its weight and its counts."""
    value = _read_class(get_field(item, "conclusion", dict))
    tests = _read_premise(get_field(item, "premise", dict), attributes)
    weight = item.get("voting_weight")
    if not is_number(weight) or math.isinf(weight):
        raise ValueError(
            "voting_weight is missing: save the rule set with SerializationModes.FULL"
            if weight is None
            else f"voting_weight must be a number, got {reprlib.repr(weight)}"
        )
    to_points(float(weight))  # rejects one that is too large
    return value, ForeignRule("", tuple(tests), float(weight), _read_counts(item.get("coverage")))


def _read_counts(coverage: Any) -> Evidence | None:
    """The counts of a rule, if they were saved."""
    if not isinstance(coverage, dict) or coverage.get("p") is None or coverage.get("n") is None:
        return None
    for name in ("p", "n"):
        if not is_integer(coverage[name], 0):
            raise ValueError(f"{name} must be a count, got {reprlib.repr(coverage[name])}")
    return Evidence(coverage["p"], coverage["n"])


def _read_premise(premise: Any, attributes: Sequence[str]) -> list[Test]:
    kind = get_field(premise, "type", str)
    if kind == "compound":
        parts = get_field(premise, "subconditions", list)
        if len(parts) > 1 and premise.get("operator") != "CONJUNCTION":
            raise ValueError("its conditions are joined by 'or': write two rules")
        if len(parts) > 1 and premise.get("negated"):
            raise ValueError("it negates several conditions together: write them as rules")
        tests = [test for part in parts for test in _read_premise(part, attributes)]
        return _negate(tests) if premise.get("negated") else tests
    if kind not in _READERS:
        known = ", ".join(["compound", *_READERS])
        raise ValueError(f"conditions of type {kind!r} cannot be read; those of {known} can")
    tests = _READERS[kind](premise, _find_attribute(premise, attributes))
    return _negate(tests) if premise.get("negated") else tests


def _negate(tests: list[Test]) -> list[Test]:
    if len(tests) != 1:
        raise ValueError("it excludes an interval with two bounds: write two rules")
    return [tests[0]._replace(sign=_NEGATED[tests[0].sign])]


def _find_attribute(premise: dict[str, Any], attributes: Sequence[str]) -> str:
    idx = get_field(premise, "attributes", list)
    if len(idx) != 1 or not is_integer(idx[0], 0, len(attributes) - 1):
        raise ValueError(
            f"a condition must have the position of one of {len(attributes)} attributes, "
            f"got {reprlib.repr(idx)}"
        )
    return attributes[idx[0]]


def _read_interval(premise: dict[str, Any], attribute: str) -> list[Test]:
    tests = []
    for side, signs in (("left", (">", ">=")), ("right", ("<", "<="))):
        bound = premise.get(side)
        if bound is None or bound == (-math.inf if side == "left" else math.inf):
            continue
        if not is_number(bound) or math.isinf(bound):
            raise ValueError(f"{side} must be a number, got {reprlib.repr(bound)}")
        tests.append(Test(attribute, signs[bool(premise.get(f"{side}_closed"))], float(bound)))
    return tests


def _read_category(premise: dict[str, Any], attribute: str) -> list[Test]:
    return [Test(attribute, "==", (_normalize(get_field(premise, "value", str)),))]


def _read_categories(premise: dict[str, Any], attribute: str) -> list[Test]:
    values = get_field(premise, "values_set", list)
    return [Test(attribute, "==", tuple(sorted({_normalize(str(value)) for value in values})))]


def _normalize(text: str) -> str:
    """A category as this library writes it: 1.0 is 1."""
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


_READERS: dict[str, Callable[[dict[str, Any], str], list[Test]]] = {
    "elementary_numerical": _read_interval,
    "elementary_nominal": _read_category,
    "discrete_set": _read_categories,
}
