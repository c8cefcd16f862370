"""Edits that made a theory what it is. Knows rules; `editing` makes them, `json` saves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from steelyard._numbers import is_integer
from steelyard._text import as_text, shorten_repr

from .evidence import check_date
from .rules import Rule

#: What was done → whether there was a rule before, and whether there is a new one.
ACTIONS = {
    "drop": (True, False),
    "replace": (True, True),
    "add": (False, True),
    "keep": (True, False),
    "note": (True, False),
}
_VERBS = {"drop": "dropped", "replace": "replaced", "add": "added", "keep": "kept", "note": "noted"}


@dataclass(frozen=True)
class Edit:
    """One step of the history of a theory.

    Parameters
    ----------
    action : {"drop", "replace", "add", "keep", "note"}
        A rule was kept if a person looked at it and agreed.
    rule : Rule, optional
        The rule before the edit; None if one was added.
    new : Rule, optional
        The rule after it, if one was added or replaced another one.
    when : str, optional
        The ISO date of the edit.
    note : str, default=""
        Why.
    points : int, optional
        The vote of the new rule, if the rules vote.

    Examples
    --------
    >>> from steelyard import Edit, Rule
    >>> print(Edit("drop", Rule.parse("flu ← fever ≥ 39"), when="2026-03-01", note="too strict"))
    2026-03-01 dropped flu ← fever ≥ 39: too strict
    """

    action: str
    rule: Rule | None = None
    new: Rule | None = None
    when: str | None = None
    note: str = ""
    points: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.action, str) or self.action not in ACTIONS:
            raise ValueError(
                f"an edit must be one of {', '.join(ACTIONS)}, got {shorten_repr(self.action)}"
            )
        for name, is_needed in zip(("rule", "new"), ACTIONS[self.action], strict=True):
            if isinstance(getattr(self, name), Rule) is not is_needed:
                needs = "needs" if is_needed else "has no"
                raise ValueError(f"an edit {self.action!r} {needs} {name}")
        object.__setattr__(self, "note", as_text(self.note, "the note of an edit"))
        if self.when is not None:
            check_date(self.when)
        if self.points is not None and not is_integer(self.points, -(2**31), 2**31 - 1):
            raise ValueError(f"points of an edit must be an integer, got {self.points!r}")

    def read_as(self, kinds: Mapping[str, str | None]) -> Edit:
        """The same edit, whose rules read as their attributes do."""
        before, after = (rule and rule.read_as(kinds) for rule in (self.rule, self.new))
        return replace(self, rule=before, new=after)

    def __str__(self) -> str:
        rules = " by ".join(rule.describe() for rule in (self.rule, self.new) if rule is not None)
        head = " ".join(filter(None, [self.when, _VERBS[self.action], rules]))
        return f"{head}: {self.note}" if self.note else head
