"""Bodies of rules → Python expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .decisions import Requirement, body_to_requirements

if TYPE_CHECKING:
    from ..rules import Condition


def body_to_python(body: tuple[Condition, ...]) -> str:
    """An expression that is true where the rule fires."""
    return " and ".join(_test(requirement) for requirement in body_to_requirements(body)) or "True"


def _test(requirement: Requirement) -> str:
    if requirement.category is not None:
        return f"_text(row[{requirement.feature!r}]) == {requirement.category!r}"
    value = f"_number(row[{requirement.feature!r}])"
    operator = "<=" if requirement.includes_upper else "<"
    if requirement.lower is None:
        return f"{value} {operator} {requirement.upper!r}"
    if requirement.upper is None:
        return f"{value} >= {requirement.lower!r}"
    return f"{requirement.lower!r} <= {value} {operator} {requirement.upper!r}"
