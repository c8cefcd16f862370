"""Ripper for one target class: build a list of rules, optimise it, delete the rules that do not pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.description_length import delete_costly_rules, exception_bits, rule_bits
from steelyard._kernels.ripper import (
    Workspace,
    count_in_turn,
    cover_body,
    grow_body,
    prune_body,
    split_rows,
)
from steelyard.model.coding import CodedFeatures

from .limits import PRESENCE, Limits
from .settings import RipperSettings

Mask = NDArray[np.bool_]
Body = NDArray[np.int32]

# Rules are added until the description length is this far above its minimum; Cohen's constant.
_SURPLUS_BITS = 64.0
_NOTHING: Body = np.empty((0, 3), dtype=np.int32)


class GrownRule(NamedTuple):
    """A rule and the rows that it covers.

    `body` has the shape (n_conditions, 3): feature, low and high of each condition, in the order in
    which they were added.
    """

    body: Body
    mask: Mask


@dataclass
class RuleListLearner:
    """Learns rules that tell the target class from the rest, in order.

    Parameters
    ----------
    coded : CodedFeatures
    settings : RipperSettings
    is_target, every : (n_rows,) bool
        The rows of the target class, and the rows to learn from.
    order : (n_rows,) int64
        The order of the rows before they are shuffled.
    fp_share : float
        Expected share of false positives among the errors.
    state : (1,) uint64
        State of the random numbers.
    limits : Limits, optional
    target : {1, 2}
        The class of the rules, as in the limits.
    """

    coded: CodedFeatures
    settings: RipperSettings
    is_target: Mask
    every: Mask
    order: NDArray[np.int64]
    fp_share: float
    state: NDArray[np.uint64]
    limits: Limits | None = None
    target: int = PRESENCE

    def __post_init__(self) -> None:
        is_target = self.is_target.view(np.uint8)
        self.space = Workspace(self.coded, is_target, self.limits, self.target)
        self.n_possible = count_possible_conditions(self.coded, self.limits)
        self.max_conditions = self.settings.max_conditions
        if self.limits is not None:
            self.max_conditions = self.limits.least_conditions(self.max_conditions)
        self.totals = self._count(self.every)

    def learn(self) -> list[GrownRule]:
        """The rules; none if all rows belong to one class."""
        if min(self.totals) == 0:
            return []
        rules = self._add_rules([])
        for _ in range(self.settings.optimizations if self.settings.prune else 0):
            rules = self._optimise(rules)
            rules = self._add_rules(rules)
            rules = self._reduce(rules)
        return rules

    def _count(self, mask: Mask) -> tuple[int, int]:
        """(positives, negatives) of the rows in a mask."""
        n_positives = int(np.count_nonzero(mask & self.is_target))
        return n_positives, int(np.count_nonzero(mask)) - n_positives

    def _rule_bits(self, body: Body) -> float:
        return float(rule_bits(len(body), self.n_possible))

    def _rows_in(self, mask: Mask) -> NDArray[np.uint32]:
        return self.order[mask[self.order]].astype(np.uint32)

    def _split(self, rest: Mask) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Rows of the rest to grow on, and rows to prune on."""
        is_target, n_folds = self.is_target.view(np.uint8), int(self.settings.folds)
        growing, pruning = split_rows(self._rows_in(rest), is_target, n_folds, self.state)
        return growing, pruning

    def _grow(self, rows: NDArray[np.uint32], start: Body = _NOTHING) -> Body:
        limits = (float(self.settings.min_weight), int(self.max_conditions or 0))
        body: Body = grow_body(self.space, rows, start, *limits)
        return body

    def _widen(self, body: Body) -> GrownRule:
        """The rule without the last conditions that leave it too few examples, of all training rows."""
        mask = cover_body(self.space, body)
        while self.limits is not None and len(body) and not self._covers_enough(mask):
            body = body[:-1]
            mask = cover_body(self.space, body)
        return GrownRule(body, mask)

    def _covers_enough(self, mask: Mask) -> bool:
        if self.limits is None:
            return True
        tp, fp = self._count(mask)
        return tp >= self.limits.min_tp and tp + fp >= self.limits.min_covered

    def _add_rules(self, rules: Sequence[GrownRule]) -> list[GrownRule]:
        """Append rules for the positives that are left, until a stopping criterion holds.

        Stops when no positive is left, when the description length is too far above its minimum, or
        when the new rule covers no positive or (with `check_error`) at least as many negatives as
        positives.
        """
        rules = list(rules)
        n_positives, n_negatives = self.totals
        n_examples = n_positives + n_negatives
        rest = remove_covered(rules, self.every)
        n_missed, n_right = self._count(rest)

        def error_bits() -> float:
            n_rest, false_alarms = n_missed + n_right, n_negatives - n_right
            n_covered = n_examples - n_rest
            return float(exception_bits(self.fp_share, n_covered, n_rest, false_alarms, n_missed))

        # The surplus counts from the empty theory, also where rules are added to an optimised one.
        bits = least_bits = float(exception_bits(self.fp_share, 0, n_examples, 0, n_positives))
        before = error_bits()
        while n_missed > 0:
            if self.settings.prune:
                growing, pruning = self._split(rest)
                body = self._grow(growing)
                body = prune_body(self.space, pruning, body, False)
            else:
                body = self._grow(np.flatnonzero(rest).astype(np.uint32))
            body, mask = self._widen(body)
            tp, fp = self._count(mask & rest)
            n_missed -= tp
            n_right -= fp
            after = error_bits()
            bits += after - before + self._rule_bits(body)
            before = after
            least_bits = min(bits, least_bits)
            is_wrong = tp == 0 or (self.settings.check_error and fp >= tp)
            is_wrong |= not self._covers_enough(mask)
            if bits > least_bits + _SURPLUS_BITS or is_wrong:
                break
            rules.append(GrownRule(body, mask))
            rest &= ~mask
        return rules

    def _optimise(self, rules: Sequence[GrownRule]) -> list[GrownRule]:
        """Let each rule in turn compete with two variants; the smallest description length wins.

        The list ends with the last positive: rules after it can only be wrong.
        """
        rules = list(rules)
        rest = self.every.copy()
        for position, rule in enumerate(rules):
            if not (rest & self.is_target).any():
                return rules[:position]
            if (rule.mask & rest).any():
                variants = self._grow_variants(rest, rule, rules[position + 1 :])
                # Of equals the old rule stays, and the revision is preferred to the replacement.
                costs = [self._cost(rules, position, variant) for variant in (rule, *variants)]
                rules[position] = (rule, *variants)[int(np.argmin(costs))]
            rest &= ~rules[position].mask
        return rules

    def _grow_variants(
        self, rest: Mask, rule: GrownRule, later: Sequence[GrownRule]
    ) -> list[GrownRule]:
        """A revision and a replacement of a rule: grown from the rule itself, and from nothing.

        Both are pruned for the accuracy of the whole theory, i.e. on rows that no later rule covers.
        """
        growing, pruning = self._split(rest)
        pruning = pruning[remove_covered(later, rest)[pruning]]
        revision = self._grow(growing[rule.mask[growing]], rule.body)
        replacement = self._grow(growing)
        bodies = [prune_body(self.space, pruning, body, True) for body in (revision, replacement)]
        variants = [self._widen(body) for body in bodies]
        return [variant for variant in variants if self._covers_enough(variant.mask)]

    def _cost(self, rules: Sequence[GrownRule], position: int, variant: GrownRule) -> float:
        """Description length of the list with a variant at a position."""
        changed = [*rules[:position], variant, *rules[position + 1 :]]
        bits, _ = self._delete_costly(changed, np.arange(position + 1, len(rules)))
        return bits + self._rule_bits(variant.body)

    def _reduce(self, rules: Sequence[GrownRule]) -> list[GrownRule]:
        """Delete the rules that raise the description length, from the last to the first."""
        _, deleted = self._delete_costly(rules, np.arange(len(rules))[::-1].copy())
        return [rule for rule, is_deleted in zip(rules, deleted, strict=True) if not is_deleted]

    def _delete_costly(
        self, rules: Sequence[GrownRule], order: NDArray[np.int64]
    ) -> tuple[float, Mask]:
        """(description length without the costly rules, which rules these are)."""
        masks = [rule.mask for rule in rules]
        tp, fp = count_in_turn(masks, self.every, self.is_target.view(np.uint8))
        bits_of_rule = np.array([self._rule_bits(rule.body) for rule in rules])
        deleted = np.zeros(len(rules), dtype=np.bool_)
        expected = (self.totals, self.fp_share, self.settings.check_error)
        bits = delete_costly_rules(tp, fp, bits_of_rule, order, *expected, deleted)
        return float(bits), deleted


def remove_covered(rules: Sequence[GrownRule], rows: Mask) -> Mask:
    """The rows that no rule covers."""
    rest = rows.copy()
    for rule in rules:
        rest &= ~rule.mask
    return rest


def count_possible_conditions(coded: CodedFeatures, limits: Limits | None = None) -> int:
    """Conditions that tell examples apart: = each category, ≤ and ≥ each value but one extreme.

    Forbidden attributes do not count.

    JRip counts two more per numeric attribute, the bounds that all examples meet. Without them an
    attribute of the numbers 0 and 1 counts as much as the same attribute read as nominal.
    """
    # A numeric attribute with d values has 2d + 1 codes: see `value_cuts`.
    n_possible = np.where(coded.is_nominal, coded.n_codes, np.maximum(coded.n_codes - 3, 0))
    if limits is not None:
        n_possible = n_possible[limits.is_usable]
    return max(1, int(n_possible.sum()))
