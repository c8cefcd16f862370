"""Plain data: attributes and conditions as what JSON can hold, and the check of what a text is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from .features import Feature
from .rules import Condition


def check_format(
    text: str, name: str, schema_versions: tuple[int, ...], where: str
) -> dict[str, Any]:
    """The JSON object in a text, if it says that it is of the format and one of the versions."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where} is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != name:
        raise ValueError(f"{where} is not a {name}")
    if data.get("schema_version") not in schema_versions:
        raise ValueError(
            f"{where} has schema version {data.get('schema_version')!r}; "
            f"this version of Steelyard reads version {' and '.join(map(str, schema_versions))}"
        )
    return data


def features_to_dicts(features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Attributes as plain data."""
    return [
        {"name": f.name} | ({} if f.categories is None else {"categories": list(f.categories)})
        for f in features
    ]


def features_from_dicts(data: Sequence[dict[str, Any]]) -> tuple[Feature, ...]:
    """Attributes from plain data."""
    return tuple(
        Feature(f["name"], tuple(f["categories"]) if "categories" in f else None) for f in data
    )


def conditions_from_lists(body: Sequence[Sequence[Any]]) -> tuple[Condition, ...]:
    """A body from plain data: [feature, operator, value] each."""
    return tuple(Condition(name, operator, value) for name, operator, value in body)


def to_plain(value: Any) -> Any:
    """A number of numpy as Python's own; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value
