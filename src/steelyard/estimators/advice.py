"""Advice on labels without a rule: a theory and bounds on its size → what to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.model.theory import Theory

# A rule that did not fit can be that much longer than the longest one that did.
_TIMES_LONGER = 4
NO_GOOD_RULE = "No rule that was found is good enough: the attributes hardly tell them."


class Room(NamedTuple):
    """What a bound on the size of a theory leaves for further rules.

    `n_used` is how much of the bound the theory uses, and `n_given` how much of that its given rules
    use. A rule uses at most `per_rule`; if that `is_known` it is a limit, else it is the most that a
    rule of the theory uses. `by` is the parameter that sets this limit, if one does.
    """

    name: str
    bound: int
    n_used: int
    n_given: int
    per_rule: int
    is_known: bool
    by: str | None = None

    @property
    def is_full(self) -> bool:
        """Whether the largest rule no longer fits."""
        return self.n_used + self.per_rule > self.bound

    @property
    def may_be_full(self) -> bool:
        """Whether the bound can be why there are no more rules: the next one can be the largest.

        If nothing limits them, it can be larger than all in the theory, but hardly by much.
        """
        times = 1 if self.is_known else _TIMES_LONGER
        return self.n_used + times * self.per_rule > self.bound

    def find_enough(self, n_rules: int) -> int:
        """The bound with room for this many rules beside the given ones."""
        return self.n_given + n_rules * self.per_rule

    def describe_enough(self, n_rules: int) -> str:
        """The bound with room for so many rules, in words."""
        if not self.is_known:
            return f"a larger {self.name}"
        # Tuning may have chosen the limit, and would choose again.
        limit = f" and {self.by}={self.per_rule}" if self.by else ""
        return f"{self.name}={self.find_enough(n_rules)}{limit}"


def list_rooms(
    theory: Theory,
    max_rules: int | None,
    max_total_conditions: int | None,
    max_conditions: int | None,
) -> list[Room]:
    """The room that each of the bounds leaves; None is no bound."""
    lengths = [len(scored) for scored in theory]
    given = [len(scored) for scored in theory if not scored.provenance.is_learned]
    rooms = []
    if max_rules is not None:
        used = (len(lengths), len(given))
        rooms.append(Room("max_rules", max_rules, *used, per_rule=1, is_known=True))
    if max_total_conditions is not None:
        # In an empty theory, the best rule was longer than the bound.
        longest = max_conditions or max(lengths, default=max_total_conditions + 1)
        is_known = max_conditions is not None
        about = (sum(lengths), sum(given), longest, is_known, "max_conditions")
        rooms.append(Room("max_total_conditions", max_total_conditions, *about))
    return rooms


def advise_on_labels(theory: Theory, rooms: Sequence[Room], min_rules_per_label: int) -> str:
    """What to do if labels have no rule: keep one for each, within larger bounds if these are full."""
    least = max(min_rules_per_label, 1)
    may_be_full = any(room.may_be_full for room in rooms)
    if min_rules_per_label and not (may_be_full and _ends_with_best(theory, least)):
        return NO_GOOD_RULE
    full = [f"{room.name}={room.bound}" for room in rooms if room.is_full]
    n_rules = least * len(theory.labels)
    larger = [
        room.describe_enough(n_rules) for room in rooms if room.find_enough(n_rules) > room.bound
    ]
    if full and larger:
        return (
            f"{' and '.join(full)} can be too small for their rules: min_rules_per_label={least} with "
            f"{' and '.join(larger)} has room for a rule of each of them."
        )
    keep = "" if min_rules_per_label else "min_rules_per_label=1 keeps a rule for each of them."
    return f"{keep} {advise_on_size(rooms)}".strip()


def advise_on_size(rooms: Sequence[Room]) -> str:
    """Which bounds can be why there are no more rules; empty if there are none."""
    names = [room.name for room in rooms if room.may_be_full]
    return f"A larger {' or '.join(names)} keeps more rules." if names else ""


def _ends_with_best(theory: Theory, least: int) -> bool:
    """Whether no label has more than the rules that each label keeps.

    These come first. So if a label has more of them, there was room for those of all labels.
    """
    for label in theory.labels:
        own = [scored.provenance.is_learned for scored in theory.rules_of(label.name)]
        n_learned = sum(own)
        if n_learned > max(least - (len(own) - n_learned), 0):
            return False
    return True
