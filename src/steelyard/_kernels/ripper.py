"""Ripper for one target class: build a list of rules, optimise it, delete what does not pay.

A list of rules is two parallel lists: bodies (see `ripper_growing`) and masks of the rows they cover.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .bodies import add_condition
from .description_length import delete_costly_rules, exception_bits, rule_bits
from .ripper_growing import (
    cover_body,
    grow_body,
    make_workspace,
    prune_body,
    rows_in_mask,
    split_rows,
)

# Rules are added until the description length is this far above its minimum; Cohen's constant.
_SURPLUS_BITS = 64.0


class Settings(NamedTuple):
    """What the user chose, and what is known of the data before the first rule."""

    prune: bool
    n_folds: int
    min_weight: float
    check_error: bool
    n_possible: int  # conditions that a rule could have
    fp_share: float  # expected share of false positives among the errors
    order: np.ndarray  # (n_rows,) int32: the order in which rows are met before shuffling


class LearnedRules(NamedTuple):
    """Rules of a target class, in order, and what they cover."""

    indptr: np.ndarray  # (n_rules + 1,) int64
    conditions: (
        np.ndarray
    )  # (n_conditions, 3) int32: feature, low, high, once an attribute of a rule
    tp: np.ndarray  # (n_rules,) int64: positives that a rule covers, among all rows
    fp: np.ndarray  # (n_rules,) int64: negatives that a rule covers, among all rows
    rest: np.ndarray  # (n_rows,) bool: the rows to learn from that no rule covers


@njit(cache=True, nogil=True)
def _no_rules(every):
    """Empty lists of bodies and masks, of which numba learns the types from what is sliced away."""
    return [np.empty((0, 3), dtype=np.int32)][:0], [every][:0]


@njit(cache=True, nogil=True)
def _rows_in(mask, order):
    """Rows of a mask, in the given order."""
    rows = np.empty(len(order), dtype=np.uint32)
    n = 0
    for row in order:
        if mask[row]:
            rows[n] = row
            n += 1
    return rows[:n]


@njit(cache=True, nogil=True)
def _count(mask, is_target):
    """(positives, negatives) of a mask."""
    n = 0
    p = 0
    for row in range(len(mask)):
        if mask[row]:
            n += 1
            p += is_target[row]
    return p, n - p


@njit(cache=True, nogil=True)
def _count_in_turn(masks, rest, is_target):
    """Positives and negatives in `rest` that each rule covers and no earlier one does."""
    tp = np.zeros(len(masks), dtype=np.int64)
    fp = np.zeros(len(masks), dtype=np.int64)
    left = rest.copy()
    for r in range(len(masks)):
        tp[r], fp[r] = _count(masks[r] & left, is_target)
        left &= ~masks[r]
    return tp, fp


@njit(cache=True, nogil=True)
def _bits_of_rules(bodies, n_possible):
    bits = np.empty(len(bodies))
    for r in range(len(bodies)):
        bits[r] = rule_bits(len(bodies[r]), n_possible)
    return bits


@njit(cache=True, nogil=True)
def _add_rules(coded, space, settings, every, bodies, masks, state):
    """Append rules for the positives that are left, until a stopping criterion holds.

    It ends when no positive is left, when the description length has risen too far above its
    minimum, or when the new rule covers no positive or (with `check_error`) mostly negatives.
    """
    nothing = np.empty((0, 3), dtype=np.int32)
    n_positives, n_negatives = _count(every, space.is_target)
    n_examples = n_positives + n_negatives
    rest = every.copy()
    for mask in masks:
        rest &= ~mask
    n_missed, n_rest = _count(rest, space.is_target)
    n_rest += n_missed
    # The surplus counts from the empty theory, also where rules are added to an optimised one.
    bits = exception_bits(settings.fp_share, 0, n_examples, 0, n_positives)
    least_bits = bits
    false_alarms = n_negatives - (n_rest - n_missed)
    before = exception_bits(settings.fp_share, n_examples - n_rest, n_rest, false_alarms, n_missed)
    while n_missed > 0:
        if settings.prune:
            rows = _rows_in(rest, settings.order)
            growing, pruning = split_rows(rows, space.is_target, settings.n_folds, state)
            body = grow_body(coded, space, growing, nothing, settings.min_weight)
            body = prune_body(coded, space, pruning, body, False)
        else:
            body = grow_body(coded, space, rows_in_mask(rest), nothing, settings.min_weight)
        mask = cover_body(coded, space, body)
        tp, fp = _count(mask & rest, space.is_target)
        n_missed -= tp
        n_rest -= tp + fp
        false_alarms += fp
        after = exception_bits(
            settings.fp_share, n_examples - n_rest, n_rest, false_alarms, n_missed
        )
        bits += after - before + rule_bits(len(body), settings.n_possible)
        before = after
        least_bits = min(bits, least_bits)
        if bits > least_bits + _SURPLUS_BITS or tp == 0 or (settings.check_error and fp >= tp):
            break
        bodies.append(body)
        masks.append(mask)
        rest &= ~mask


@njit(cache=True, nogil=True)
def _bits_with_rule(body, mask, position, rest, tp, fp, space, settings, totals, bodies, masks):
    """Description length with this rule at a position, after deleting later ones that then cost.

    `tp` and `fp` are known for the rules before the position; `rest` is what these leave.
    """
    tp = tp.copy()
    fp = fp.copy()
    left = rest.copy()
    for r in range(position, len(bodies)):
        covering = mask if r == position else masks[r]
        tp[r], fp[r] = _count(covering & left, space.is_target)
        left &= ~covering
    deleted = np.zeros(len(bodies), dtype=np.bool_)
    return rule_bits(len(body), settings.n_possible) + delete_costly_rules(
        tp,
        fp,
        _bits_of_rules(bodies, settings.n_possible),
        np.arange(position + 1, len(bodies)),
        totals,
        settings.fp_share,
        settings.check_error,
        deleted,
    )


@njit(cache=True, nogil=True)
def _grow_variants(coded, space, settings, rest, position, bodies, masks, state):
    """A replacement and a revision of a rule: grown from nothing, and from the rule itself.

    Both are pruned for the accuracy of the whole theory, i.e. on rows that no later rule covers.
    """
    nothing = np.empty((0, 3), dtype=np.int32)
    rows = _rows_in(rest, settings.order)
    growing, pruning = split_rows(rows, space.is_target, settings.n_folds, state)
    later = np.zeros(len(rest), dtype=np.bool_)
    for r in range(position + 1, len(bodies)):
        later |= masks[r]
    pruning = pruning[~later[pruning]]
    replacement = grow_body(coded, space, growing, nothing, settings.min_weight)
    covered = growing[masks[position][growing]]
    revision = grow_body(coded, space, covered, bodies[position], settings.min_weight)
    return (
        prune_body(coded, space, pruning, replacement, True),
        prune_body(coded, space, pruning, revision, True),
    )


@njit(cache=True, nogil=True)
def _optimise(coded, space, settings, every, bodies, masks, state):
    """Let each rule in turn compete with two variants; the least description length wins.

    Returns the new list. It ends with the last positive: rules after it could only be wrong.
    """
    new_bodies, new_masks = _no_rules(every)
    totals = _count(every, space.is_target)
    n_missed = totals[0]
    tp = np.zeros(len(bodies), dtype=np.int64)
    fp = np.zeros(len(bodies), dtype=np.int64)
    rest = every.copy()
    for position in range(len(bodies)):
        if n_missed == 0:
            break
        best, best_mask = bodies[position], masks[position]
        if np.any(best_mask & rest):
            replacement, revision = _grow_variants(
                coded, space, settings, rest, position, bodies, masks, state
            )
            context = (position, rest, tp, fp, space, settings, totals, bodies, masks)
            least_bits = _bits_with_rule(best, best_mask, *context)
            # Of equals the old rule stays, and the revision is preferred to the replacement.
            for body in (revision, replacement):
                mask = cover_body(coded, space, body)
                bits = _bits_with_rule(body, mask, *context)
                if bits < least_bits:
                    least_bits, best, best_mask = bits, body, mask
        new_bodies.append(best)
        new_masks.append(best_mask)
        tp[position], fp[position] = _count(best_mask & rest, space.is_target)
        n_missed -= tp[position]
        rest &= ~best_mask
    return new_bodies, new_masks


@njit(cache=True, nogil=True)
def _reduce(space, settings, every, bodies, masks):
    """The list without the rules that raise the description length, asked from the last to the first."""
    tp, fp = _count_in_turn(masks, every, space.is_target)
    deleted = np.zeros(len(bodies), dtype=np.bool_)
    delete_costly_rules(
        tp,
        fp,
        _bits_of_rules(bodies, settings.n_possible),
        np.arange(len(bodies) - 1, -1, -1),
        _count(every, space.is_target),
        settings.fp_share,
        settings.check_error,
        deleted,
    )
    new_bodies, new_masks = _no_rules(every)
    for r in range(len(bodies)):
        if not deleted[r]:
            new_bodies.append(bodies[r])
            new_masks.append(masks[r])
    return new_bodies, new_masks


@njit(cache=True, nogil=True)
def _merge_conditions(bodies):
    """Bodies as a CSR with one range an attribute: the bounds that hold together."""
    indptr = np.zeros(len(bodies) + 1, dtype=np.int64)
    n_conditions = 0
    for body in bodies:
        n_conditions += len(body)
    conditions = np.empty((n_conditions, 3), dtype=np.int32)
    end = 0
    for r in range(len(bodies)):
        begin = end
        for c in range(len(bodies[r])):
            feature, low, high = bodies[r][c, 0], bodies[r][c, 1], bodies[r][c, 2]
            end = begin + add_condition(conditions[begin:], end - begin, feature, low, high)
        indptr[r + 1] = end
    return indptr, conditions[:end]


@njit(cache=True, nogil=True)
def learn_rules(coded, is_target, every, settings, n_optimizations, seed):
    """Rules that tell the target class from the rest, in order.

    Parameters
    ----------
    coded : CodedFeatures
    is_target : (n_rows,) uint8
    every : (n_rows,) bool
        The rows to learn from.
    settings : Settings
    n_optimizations : int
    seed : uint64

    Returns
    -------
    LearnedRules
        Without rules if all rows are of one class: there is nothing to tell apart.
    """
    space = make_workspace(coded.n_codes, is_target)
    state = np.array([seed], dtype=np.uint64)
    bodies, masks = _no_rules(every)
    if min(_count(every, is_target)) > 0:
        _add_rules(coded, space, settings, every, bodies, masks, state)
        for _ in range(n_optimizations if settings.prune else 0):
            bodies, masks = _optimise(coded, space, settings, every, bodies, masks, state)
            _add_rules(coded, space, settings, every, bodies, masks, state)
            bodies, masks = _reduce(space, settings, every, bodies, masks)

    tp = np.empty(len(masks), dtype=np.int64)
    fp = np.empty(len(masks), dtype=np.int64)
    rest = every.copy()
    for r in range(len(masks)):
        tp[r], fp[r] = _count(masks[r], is_target)
        rest &= ~masks[r]
    indptr, conditions = _merge_conditions(bodies)
    return LearnedRules(indptr, conditions, tp, fp, rest)
