"""Plain data: attributes and conditions as what JSON can hold, and the checks of what a text says.

A text may come from anywhere, and kernels trust what they are given: all that is read is checked here.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from steelyard._numbers import is_number, is_whole

from .features import Feature
from .rules import Condition

# As many rows as a table can have, whose numbers are kept in 32 bits; sums of points of this size are
# exact even as floating point numbers.
_MOST = 2**31 - 1


class Kind(NamedTuple):
    """What a value must be, in words and as a test."""

    text: str
    holds: Callable[[Any], bool]


Fields = Mapping[str, Kind]


def _is_whole(value: Any) -> bool:
    return is_whole(value, -_MOST, _MOST)


def _is_finite(value: Any) -> bool:
    return is_number(value) and not math.isinf(value)


def _is_list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def one_of(*values: str) -> Kind:
    """One of some texts."""
    return Kind(
        f"one of {', '.join(values)}", lambda value: isinstance(value, str) and value in values
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


TEXT = Kind("text", _is_text)
TEXTS = Kind("a list of texts", _is_list_of(_is_text))
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
LIST = Kind("a list", lambda value: isinstance(value, list))
FILLED_LIST = Kind(
    "a list that is not empty", lambda value: isinstance(value, list) and value != []
)
CLASS = Kind("0 or 1", lambda value: _is_whole(value) and value in (0, 1))
WHOLE = Kind("a whole number", _is_whole)
WHOLES = Kind("a list of whole numbers", _is_list_of(_is_whole))
COUNT = Kind("a whole number of at least 0", lambda value: _is_whole(value) and value >= 0)
COUNTS = Kind("a list of whole numbers of at least 0", _is_list_of(COUNT.holds))
NUMBER = Kind("a number", _is_finite)
SHARE = Kind("a number from 0 to 1", lambda value: _is_finite(value) and 0 <= value <= 1)
SHARES = Kind("a list of numbers from 0 to 1", _is_list_of(SHARE.holds))
# The numbers that a heuristic gives can be infinite, which older versions wrote as such.
VALUE = Kind(
    "a number",
    lambda value: (
        _is_finite(value)
        or (isinstance(value, float) and math.isinf(value))
        or value in ("inf", "-inf")
    ),
)
VALUES = Kind("a list of numbers", _is_list_of(VALUE.holds))
CLASSES = Kind(
    "a list of texts or of numbers",
    lambda value: (
        _is_list_of(_is_text)(value)
        or _is_list_of(lambda item: isinstance(item, bool) or _is_finite(item))(value)
    ),
)
OUTPUT = one_of("multilabel", "binary", "multiclass", "ordered")

FEATURE_FIELDS: Fields = {"name": TEXT}
LABEL_FIELDS: Fields = {
    "name": TEXT,
    "target_class": CLASS,
    "n_positives": COUNT,
    "n_negatives": COUNT,
    "uncovered_positives": COUNT,
    "uncovered_negatives": COUNT,
}


def check_fields(data: Any, fields: Fields, what: str = "") -> dict[str, Any]:
    """The object itself, if it has all fields and each of them is of its kind.

    Examples
    --------
    >>> check_fields({"tp": -1}, {"tp": COUNT}, "rule 3")
    Traceback (most recent call last):
    ...
    ValueError: tp of rule 3 must be a whole number of at least 0, got -1
    """
    if not isinstance(data, dict):
        raise ValueError(f"{what} must be an object, got {reprlib.repr(data)}")
    of_what = f" of {what}" if what else ""
    for name, kind in fields.items():
        if name not in data:
            raise ValueError(f"{name}{of_what} is missing")
        if not kind.holds(data[name]):
            raise ValueError(f"{name}{of_what} must be {kind.text}, got {reprlib.repr(data[name])}")
    return data


def check_items(items: Sequence[Any], fields: Fields, what: str) -> None:
    """Check the fields of each of several objects, which are numbered from 1."""
    for i, item in enumerate(items, start=1):
        check_fields(item, fields, f"{what} {i}")


def find_format(text: str, where: str) -> Any:
    """What a JSON text says that it is; None if it says nothing."""
    data = _parse(text, "steelyard theory", where)
    return data.get("format") if isinstance(data, dict) else None


def _parse(text: str, name: str, where: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"{where} is not a {name}: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{where} is not JSON: {error}") from None


def check_format(
    text: str, name: str, schema_versions: tuple[int, ...], where: str
) -> dict[str, Any]:
    """The JSON object in a text, if it says that it is of the format and one of the versions."""
    data = _parse(text, name, where)
    if not isinstance(data, dict) or data.get("format") != name:
        raise ValueError(f"{where} is not a {name}")
    if data.get("schema_version") not in schema_versions:
        raise ValueError(
            f"{where} has schema version {data.get('schema_version')!r}; "
            f"this version of Steelyard reads version {' and '.join(map(str, schema_versions))}"
        )
    return data


def check_labels(data: dict[str, Any]) -> None:
    """Check the labels of a theory or a path, and that there are as many classes as they need."""
    check_items(data["labels"], LABEL_FIELDS, "label")
    names = [label["name"] for label in data["labels"]]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"two labels have the same name {twice!r}")
    n_labels, n_classes = len(names), len(data["classes"])
    if data["output"] == "binary" and n_labels != 1:
        raise ValueError(f"{n_labels} labels for a binary output, which has 1")
    if n_classes != {"multilabel": 0, "binary": 2}.get(data["output"], n_labels):
        raise ValueError(f"{n_classes} classes for {n_labels} labels and output {data['output']}")


def features_to_dicts(features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Attributes as plain data."""
    return [
        {"name": f.name} | ({} if f.categories is None else {"categories": list(f.categories)})
        for f in features
    ]


def features_from_dicts(data: Sequence[dict[str, Any]]) -> tuple[Feature, ...]:
    """Attributes from plain data."""
    return tuple(_features(data))


def _features(data: Sequence[dict[str, Any]]) -> Iterator[Feature]:
    for i, feature in enumerate(data, start=1):
        check_fields(feature, FEATURE_FIELDS, f"attribute {i}")
        if "categories" in feature:
            check_fields(feature, {"categories": TEXTS}, f"attribute {i}")
            yield Feature(feature["name"], tuple(feature["categories"]))
        else:
            yield Feature(feature["name"])


def bodies_from_dicts(
    rules: Sequence[dict[str, Any]], features: Sequence[Feature]
) -> list[tuple[Condition, ...]]:
    """The bodies of rules, each a list of [attribute, operator, value].

    A category that the attribute does not have is no damage: no example meets such a condition.
    """
    is_nominal = {feature.name: feature.is_nominal for feature in features}
    return [
        tuple(_condition(item, is_nominal, f"rule {i}") for item in rule["body"])
        for i, rule in enumerate(rules, start=1)
    ]


def _condition(item: Any, is_nominal: Mapping[str, bool], where: str) -> Condition:
    if not isinstance(item, list) or len(item) != 3:
        raise ValueError(
            f"a condition of {where} must be an attribute, an operator and a value, "
            f"got {reprlib.repr(item)}"
        )
    name, operator, value = item
    if not isinstance(name, str) or name not in is_nominal:
        raise ValueError(f"{where} tests an attribute that is not listed: {reprlib.repr(name)}")
    operators, kind = (("=",), TEXT) if is_nominal[name] else (("<", "≤", "≥"), NUMBER)
    if operator not in operators:
        raise ValueError(
            f"the operator of {name!r} in {where} must be {' or '.join(operators)}, "
            f"got {reprlib.repr(operator)}"
        )
    if not kind.holds(value):
        raise ValueError(
            f"the value of {name!r} in {where} must be {kind.text}, got {reprlib.repr(value)}"
        )
    return Condition(name, operator, value)


def to_json_text(value: Any) -> str:
    """JSON as every language reads it: with letters as they are, and without NaN and infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def to_plain(value: Any) -> Any:
    """A number of numpy as Python's own; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def value_to_plain(value: float) -> float | str:
    """A number, or the text of an infinite one: JSON has no infinity.

    Examples
    --------
    >>> value_to_plain(0.5), value_to_plain(-math.inf)
    (0.5, '-inf')
    """
    return str(value) if math.isinf(value) else value


def value_from_plain(value: float | str) -> float:
    """The number that `value_to_plain` wrote."""
    return float(value) if isinstance(value, str) else value
