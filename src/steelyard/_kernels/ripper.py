"""Ripper for one target class: build a list of rules, optimise it, delete the rules that do not pay.

A list of rules is two parallel lists: bodies (see `_conditions`) and masks of the rows they cover. Lists
are shortened by slicing only: `del` and `pop` corrupt lists of arrays (numba issue 8753).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ._conditions import merge_conditions
from ._description_length import delete_costly_rules, exception_bits, rule_bits
from ._ripper_growing import cover_body, grow_body, make_workspace, prune_body, rows_in, split_rows

# Rules are added until the description length is this far above its minimum; Cohen's constant.
_SURPLUS_BITS = 64.0


class Settings(NamedTuple):
    """The user's parameters, and properties of the data that are known before the first rule."""

    prune: bool
    n_folds: int
    min_weight: float
    check_error: bool
    max_conditions: int
    n_possible: int  # conditions that a rule could have
    fp_share: float  # expected share of false positives among the errors
    order: np.ndarray  # (n_rows,) int64: the order of the rows before they are shuffled


class LearnedRules(NamedTuple):
    """Rules of a target class, in order, and what they cover."""

    indptr: np.ndarray  # (n_rules + 1,) int64
    conditions: np.ndarray  # (n_conditions, 3) int32: one range per feature of a rule
    tp: np.ndarray  # (n_rules,) int64: positives that a rule covers, among all rows
    fp: np.ndarray  # (n_rules,) int64: negatives that a rule covers, among all rows
    rest: np.ndarray  # (n_rows,) bool: the rows to learn from that no rule covers


@njit(cache=True, nogil=True)
def _count(mask, rest, is_target):
    """(positives, negatives) of the rows in both masks."""
    n = 0
    p = 0
    for row in range(len(mask)):
        is_both = mask[row] & rest[row]
        n += is_both
        p += is_both & is_target[row]
    return p, n - p


@njit(cache=True, nogil=True)
def _remove(mask, rest):
    """Remove the rows of a mask from the rest."""
    for row in range(len(mask)):
        rest[row] &= not mask[row]


@njit(cache=True, nogil=True)
def _count_in_turn(masks, position, rest, is_target, tp, fp):
    """Positives and negatives in `rest` that each rule covers and no earlier one from a position on."""
    left = rest.copy()
    for r in range(position, len(masks)):
        tp[r], fp[r] = _count(masks[r], left, is_target)
        _remove(masks[r], left)


@njit(cache=True, nogil=True)
def _delete_costly(bodies, tp, fp, order, totals, settings):
    """(description length without the costly rules, which rules these are)."""
    bits_of_rule = np.empty(len(bodies))
    for r in range(len(bodies)):
        bits_of_rule[r] = rule_bits(len(bodies[r]), settings.n_possible)
    deleted = np.zeros(len(bodies), dtype=np.bool_)
    fp_share, check_error = settings.fp_share, settings.check_error
    bits = delete_costly_rules(tp, fp, bits_of_rule, order, totals, fp_share, check_error, deleted)
    return bits, deleted


@njit(cache=True, nogil=True)
def _add_rules(coded, space, settings, every, bodies, masks, state):
    """Append rules for the positives that are left, until a stopping criterion holds.

    Stops when no positive is left, when the description length is too far above its minimum, or when
    the new rule covers no positive or (with `check_error`) at least as many negatives as positives.
    """
    nothing = np.empty((0, 3), dtype=np.int32)
    limits = (settings.min_weight, settings.max_conditions)
    n_positives, n_negatives = _count(every, every, space.is_target)
    n_examples = n_positives + n_negatives
    rest = every.copy()
    for mask in masks:
        _remove(mask, rest)
    n_missed, n_right = _count(rest, rest, space.is_target)
    n_rest = n_missed + n_right
    # The surplus counts from the empty theory, also where rules are added to an optimised one.
    none = np.int64(0)
    bits = exception_bits(settings.fp_share, none, n_examples, none, n_positives)
    least_bits = bits
    false_alarms = n_negatives - n_right
    before = exception_bits(settings.fp_share, n_examples - n_rest, n_rest, false_alarms, n_missed)
    while n_missed > 0:
        if settings.prune:
            rows = rows_in(rest, settings.order)
            growing, pruning = split_rows(rows, space.is_target, settings.n_folds, state)
            body = grow_body(coded, space, growing, nothing, *limits)
            body = prune_body(coded, space, pruning, body, np.bool_(False))
        else:
            rows = rows_in(rest, np.arange(len(rest)))
            body = grow_body(coded, space, rows, nothing, *limits)
        mask = cover_body(coded, space, body)
        tp, fp = _count(mask, rest, space.is_target)
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
        _remove(mask, rest)


@njit(cache=True, nogil=True)
def _grow_variants(coded, space, settings, rest, position, bodies, masks, state):
    """A revision and a replacement of a rule: grown from the rule itself, and from nothing.

    Both are pruned for the accuracy of the whole theory, i.e. on rows that no later rule covers.
    """
    nothing = np.empty((0, 3), dtype=np.int32)
    limits = (settings.min_weight, settings.max_conditions)
    rows = rows_in(rest, settings.order)
    growing, pruning = split_rows(rows, space.is_target, settings.n_folds, state)
    alone = rest.copy()
    for r in range(position + 1, len(masks)):
        _remove(masks[r], alone)
    pruning = rows_in(alone, pruning)
    covered = rows_in(masks[position], growing)
    revision = grow_body(coded, space, covered, bodies[position], *limits)
    replacement = grow_body(coded, space, growing, nothing, *limits)
    return (
        prune_body(coded, space, pruning, revision, np.bool_(True)),
        prune_body(coded, space, pruning, replacement, np.bool_(True)),
    )


@njit(cache=True, nogil=True)
def _optimise(coded, space, settings, every, bodies, masks, state):
    """Let each rule in turn compete with two variants; the smallest description length wins.

    The list ends with the last positive: rules after it can only be wrong.
    """
    totals = _count(every, every, space.is_target)
    n_missed = totals[0]
    tp = np.zeros(len(bodies), dtype=np.int64)
    fp = np.zeros(len(bodies), dtype=np.int64)
    rest = every.copy()
    for position in range(len(bodies)):
        if n_missed == 0:
            return bodies[:position], masks[:position]
        if max(_count(masks[position], rest, space.is_target)) > 0:
            variants = _grow_variants(coded, space, settings, rest, position, bodies, masks, state)
            later = np.arange(position + 1, len(bodies))
            best, best_mask = bodies[position], masks[position]
            least_bits = np.inf
            # Of equals the old rule stays, and the revision is preferred to the replacement.
            for body in (best, *variants):
                mask = cover_body(coded, space, body)
                bodies[position], masks[position] = body, mask
                _count_in_turn(masks, position, rest, space.is_target, tp, fp)
                bits, _ = _delete_costly(bodies, tp, fp, later, totals, settings)
                bits += rule_bits(len(body), settings.n_possible)
                if bits < least_bits:
                    least_bits, best, best_mask = bits, body, mask
            bodies[position], masks[position] = best, best_mask
        tp[position], fp[position] = _count(masks[position], rest, space.is_target)
        n_missed -= tp[position]
        _remove(masks[position], rest)
    return bodies, masks


@njit(cache=True, nogil=True)
def _reduce(space, settings, every, bodies, masks):
    """Delete the rules that raise the description length, from the last to the first."""
    tp = np.zeros(len(bodies), dtype=np.int64)
    fp = np.zeros(len(bodies), dtype=np.int64)
    _count_in_turn(masks, np.int64(0), every, space.is_target, tp, fp)
    totals = _count(every, every, space.is_target)
    order = np.arange(len(bodies) - 1, -1, -1)
    _, deleted = _delete_costly(bodies, tp, fp, order, totals, settings)
    n_kept = 0
    for r in range(len(bodies)):
        if not deleted[r]:
            bodies[n_kept], masks[n_kept] = bodies[r], masks[r]
            n_kept += 1
    return bodies[:n_kept], masks[:n_kept]


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
        Without rules if all rows belong to one class.
    """
    space = make_workspace(coded.n_codes, is_target)
    state = np.array([seed], dtype=np.uint64)
    # Numba infers the types of the empty lists from what is sliced away.
    bodies, masks = [np.empty((0, 3), dtype=np.int32)][:0], [every][:0]
    if min(_count(every, every, is_target)) > 0:
        _add_rules(coded, space, settings, every, bodies, masks, state)
        for _ in range(n_optimizations if settings.prune else 0):
            bodies, masks = _optimise(coded, space, settings, every, bodies, masks, state)
            _add_rules(coded, space, settings, every, bodies, masks, state)
            bodies, masks = _reduce(space, settings, every, bodies, masks)

    tp = np.empty(len(masks), dtype=np.int64)
    fp = np.empty(len(masks), dtype=np.int64)
    rest = every.copy()
    indptr = np.zeros(len(masks) + 1, dtype=np.int64)
    n_conditions = 0
    for body in bodies:
        n_conditions += len(body)
    conditions = np.empty((n_conditions, 3), dtype=np.int32)
    slot_of_feature = np.full(len(coded.n_codes), -1, dtype=np.int32)
    end = 0
    for r in range(len(masks)):
        tp[r], fp[r] = _count(masks[r], masks[r], is_target)
        _remove(masks[r], rest)
        end += merge_conditions(bodies[r], len(bodies[r]), slot_of_feature, conditions[end:])
        indptr[r + 1] = end
    return LearnedRules(indptr, conditions[:end], tp, fp, rest)
