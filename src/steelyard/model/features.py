"""Attributes: a name, categories if nominal, and how numbers read. Knows single values, not tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steelyard._text import as_text, find_repeated

from .moments import SECOND_KINDS
from .words import WORD_KINDS

# How tables and databases write booleans, in lower case.
BOOLEAN_WORDS = {"True": ("true", "1", "1.0"), "False": ("false", "0", "0.0")}

# Categories of attributes that something has or has not.
PRESENT_CATEGORIES = ("1", "True")
_PRESENCE_CATEGORIES = ({"0", "1"}, {"False", "True"})


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
    """One attribute: its name, its categories as text if it is nominal, and how its numbers read.

    Parameters
    ----------
    name : str
    categories : tuple of str or None, default=None
        None for a numeric attribute.
    kind : str or None, default=None
        What the numbers of a numeric attribute stand for; None for plain numbers. ``"presence"``: 1 if
        something is present, else 0. ``"word"``: how often a word occurs, in a sparse table. ``"date"``
        and ``"datetime"``: seconds since 1970. ``"time"`` and ``"duration"``: seconds. A kind changes
        how conditions read and which values a table may have, but not what is learned: attributes that
        differ in nothing else are equal, so that a sparse table and a dense one give equal theories.

    Examples
    --------
    >>> from steelyard import Feature
    >>> Feature("colour", ("red", "green")).is_nominal
    True
    >>> Feature("ordered", kind="date").is_temporal
    True
    """

    name: str
    categories: tuple[str, ...] | None = None
    kind: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", as_text(self.name, "the name of an attribute"))
        if self.categories is not None:
            object.__setattr__(self, "categories", read_categories(self.categories, self.name))
            twice = find_repeated(self.categories)
            if twice is not None:
                raise ValueError(f"the attribute {self.name!r} has the category {twice!r} twice")
        known = () if self.is_nominal else (*WORD_KINDS, *SECOND_KINDS)
        if self.kind is not None and self.kind not in known:
            choices = f"None or one of {', '.join(known)}" if known else "None if it is nominal"
            raise ValueError(
                f"the kind of the attribute {self.name!r} must be {choices}, got {self.kind!r}"
            )

    @property
    def is_nominal(self) -> bool:
        """Whether conditions on it test categories instead of order."""
        return self.categories is not None

    @property
    def is_boolean(self) -> bool:
        """Whether its categories are True and False, which other tables write as 1 and 0."""
        return bool(self.categories) and set(self.categories or ()) <= set(BOOLEAN_WORDS)

    @property
    def is_temporal(self) -> bool:
        """Whether its numbers are seconds: dates, times or durations."""
        return self.kind in SECOND_KINDS

    @property
    def reading(self) -> str | None:
        """How conditions on it read: its kind, or presence if its categories are 0/1 or booleans."""
        if self.categories is not None and set(self.categories) in _PRESENCE_CATEGORIES:
            return "presence"
        return self.kind

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
