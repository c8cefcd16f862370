"""Bodies of rules → Python expressions."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from steelyard.model.features import TRUTH_WORDS

from .decisions import Requirement, body_to_requirements

if TYPE_CHECKING:
    from steelyard.model.rules import Condition


def body_to_python(body: tuple[Condition, ...], truth_values: Container[str]) -> str:
    """An expression that is true where the rule fires, given which attributes are truth values."""
    tests = (_test(requirement, truth_values) for requirement in body_to_requirements(body))
    return " and ".join(tests) or "True"


def _test(requirement: Requirement, truth_values: Container[str]) -> str:
    if requirement.category is not None:
        text = f"_text(row[{requirement.feature!r}])"
        if requirement.feature in truth_values and requirement.category in TRUTH_WORDS:
            return f"str({text}).lower() in {TRUTH_WORDS[requirement.category]!r}"
        return f"{text} == {requirement.category!r}"
    value = f"_number(row[{requirement.feature!r}])"
    operator = "<=" if requirement.includes_upper else "<"
    if requirement.lower is None:
        return f"{value} {operator} {requirement.upper!r}"
    if requirement.upper is None:
        return f"{value} >= {requirement.lower!r}"
    return f"{requirement.lower!r} <= {value} {operator} {requirement.upper!r}"
