"""Attributes: a name and, if nominal, categories. Knows single values, not tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard._text import as_text, find_repeated

# How tables and databases write booleans, in lower case.
BOOLEAN_WORDS = {"True": ("true", "1", "1.0"), "False": ("false", "0", "0.0")}


def category_text(value: object) -> str:
    """Text of a category: 4, 4.0 and "4" from different readers are the same category.

    Examples
    --------
    >>> category_text(4.0), category_text("red"), category_text(True)
    ('4', 'red', 'True')
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_categories(values: Any, name: str) -> tuple[str, ...]:
    """The categories of an attribute, if they are a list of texts."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"the categories of {name!r} must be a list, got {values!r}")
    return tuple(as_text(value, f"the categories of {name!r}") for value in values)


@dataclass(frozen=True)
class Feature:
    """One attribute: its name and, if it is nominal, its categories as text.

    Examples
    --------
    >>> Feature("colour", ("red", "green")).is_nominal
    True
    """

    name: str
    categories: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", as_text(self.name, "the name of an attribute"))
        if self.categories is not None:
            object.__setattr__(self, "categories", read_categories(self.categories, self.name))
            twice = find_repeated(self.categories)
            if twice is not None:
                raise ValueError(f"the attribute {self.name!r} has the category {twice!r} twice")

    @property
    def is_nominal(self) -> bool:
        """Whether conditions on it test categories instead of order."""
        return self.categories is not None

    @property
    def is_boolean(self) -> bool:
        """Whether its categories are True and False, which other tables write as 1 and 0."""
        return bool(self.categories) and set(self.categories or ()) <= set(BOOLEAN_WORDS)

    def read_category(self, text: str) -> str:
        """The category that a text stands for: "1" is True for a boolean attribute.

        Examples
        --------
        >>> Feature("ill", ("False", "True")).read_category("1")
        'True'
        >>> Feature("grade", ("1", "2")).read_category("1")
        '1'
        """
        if self.is_boolean:
            for category, words in BOOLEAN_WORDS.items():
                if text.lower() in words:
                    return category
        return text
