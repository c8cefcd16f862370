"""One Ripper rule at a time: split the examples, grow by FOIL's gain, prune from the end.

A body is an int32 array of shape (n_conditions, 3), in the order in which the conditions were added;
each row is a condition low ≤ code < high: feature, low, high.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .compiling import BORROWING
from .counting import (
    HALF,
    NONE,
    ONE,
    OUTSIDE,
    POSITIVES,
    codes_of_rows,
    count_dense,
    count_listed,
    result_length,
)
from .random import next_below


class Workspace(NamedTuple):
    """Arrays that growing fills again and again, the first seven as `counting` wants them."""

    pair: np.ndarray  # (n_rows,) one example; one positive if it is of the target class
    position: np.ndarray
    members: np.ndarray
    histogram: np.ndarray
    bitmap: np.ndarray
    codes: np.ndarray
    counts: np.ndarray
    row_codes: np.ndarray  # (n_rows,) int32
    is_target: np.ndarray  # (n_rows,) uint8
    log2_next: np.ndarray  # log₂(k + 1) for every k up to n_rows


@njit(cache=True, nogil=True)
def make_workspace(n_codes, is_target):
    """Allocate once what every rule of a label needs."""
    n_rows = len(is_target)
    most_codes = result_length(n_codes)
    log2_next = np.empty(n_rows + 1)
    for k in range(n_rows + 1):
        log2_next[k] = np.log2(k + 1)
    return Workspace(
        ONE + is_target,
        np.full(n_rows, OUTSIDE, dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.zeros(most_codes, dtype=np.uint64),
        np.zeros((most_codes + 63) >> 6, dtype=np.uint64),
        np.empty(most_codes, dtype=np.int32),
        np.empty(most_codes, dtype=np.uint64),
        np.empty(n_rows, dtype=np.int32),
        is_target,
        log2_next,
    )


@njit(cache=True, nogil=True)
def rows_in_mask(mask):
    """Rows of a mask, ascending."""
    rows = np.empty(len(mask), dtype=np.uint32)
    n = 0
    for row in range(len(mask)):
        if mask[row]:
            rows[n] = row
            n += 1
    return rows[:n]


@njit(cache=True, nogil=True)
def split_rows(rows, is_target, n_folds, state):
    """Rows to grow on and rows to prune on, both ascending: of each class 1/n_folds is for pruning.

    The classes are shuffled apart and dealt out one after the other, target class first.
    """
    n_rows = len(rows)
    shuffled = np.empty(n_rows, dtype=np.uint32)
    n_dealt = 0
    for in_target in (True, False):
        begin = n_dealt
        for row in rows:
            if (is_target[row] != 0) == in_target:
                shuffled[n_dealt] = row
                n_dealt += 1
        for i in range(n_dealt - 1, begin, -1):
            j = begin + next_below(state, i - begin + 1)
            shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    is_growing = np.zeros(len(is_target), dtype=np.bool_)
    is_pruning = np.zeros(len(is_target), dtype=np.bool_)
    for row in rows:
        is_growing[row] = True
    for i in range(n_folds - 1, n_rows, n_folds):
        is_growing[shuffled[i]] = False
        is_pruning[shuffled[i]] = True
    # Ascending rows are read from memory in order: growing is a fifth faster. To read them off a mask
    # takes a fraction of the time of sorting them.
    return rows_in_mask(is_growing), rows_in_mask(is_pruning)


@njit(**BORROWING)
def keep_satisfying(coded, condition, rows, row_codes):
    """Move the rows that satisfy the condition to the front, in order, and return their number."""
    feature, low, high = condition
    codes_of_rows(coded, feature, rows, row_codes)
    n_kept = 0
    for i in range(len(rows)):
        if low <= row_codes[i] < high:
            rows[n_kept] = rows[i]
            n_kept += 1
    return n_kept


@njit(**BORROWING)
def foil_gain(p, t, base, log2_next):
    """p·(log₂((p + 1)/(t + 1)) - base): FOIL's gain of covering p positives among t examples.

    `base` is the same logarithm for the rule without the new condition.
    """
    return p * (log2_next[p] - log2_next[t] - base)


@njit(**BORROWING)
def best_numeric_condition(codes, counts, n, n_codes, base, log2_next):
    """Best of ≥ and ≤ at n ascending codes with packed counts: (gain, low, high, positives).

    Of equal gains the lowest code wins, and ≥ before ≤.
    """
    above = NONE
    for i in range(n):
        above += counts[i]
    below = NONE
    best = 0.0
    best_low = np.int32(0)
    best_high = np.int32(0)
    best_positives = NONE
    for i in range(n):
        below += counts[i]
        # A bound at a code without positives lets in negatives only: the next one is better.
        if counts[i] & POSITIVES != NONE:
            gain = foil_gain(above & POSITIVES, above >> HALF, base, log2_next)
            if gain > best:
                best = gain
                best_low = codes[i]
                best_high = n_codes
                best_positives = above & POSITIVES
            gain = foil_gain(below & POSITIVES, below >> HALF, base, log2_next)
            if gain > best:
                best = gain
                best_low = np.int32(0)
                best_high = np.int32(codes[i] + 1)
                best_positives = below & POSITIVES
        above -= counts[i]
    return best, best_low, best_high, best_positives


@njit(**BORROWING)
def best_nominal_condition(codes, counts, n, base, log2_next):
    """Best of = at n ascending codes, the first one of equals: (gain, low, high, positives)."""
    best = 0.0
    best_code = np.int32(0)
    best_positives = NONE
    for i in range(n):
        gain = foil_gain(counts[i] & POSITIVES, counts[i] >> HALF, base, log2_next)
        if gain > best:
            best = gain
            best_code = codes[i]
            best_positives = counts[i] & POSITIVES
    return best, best_code, np.int32(best_code + 1), best_positives


@njit(**BORROWING)
def find_best_condition(coded, space, n_members, n_positives, used):
    """The condition with the highest gain on the first members: (feature or -1, low, high, positives).

    Of equal gains the first attribute wins. Attributes in `used` are left out.
    """
    n_codes, is_nominal, column, dense, default_code, indptr, rows, row_codes = coded
    codes, counts, log2_next = space.codes, space.counts, space.log2_next
    node = space.members[:n_members]
    total = (np.uint64(n_members) << HALF) + np.uint64(n_positives)
    base = log2_next[n_positives] - log2_next[n_members]
    best = 0.0
    best_feature = -1
    best_low = np.int32(0)
    best_high = np.int32(0)
    best_positives = NONE
    for f in range(len(n_codes)):
        if used[f]:
            continue
        if column[f] >= 0:
            n = count_dense(dense[column[f]], node, n_codes[f], space)
        else:
            listed = slice(indptr[f], indptr[f + 1])
            n = count_listed(
                rows[listed],
                row_codes[listed],
                default_code[f],
                0,
                n_members,
                total,
                n_codes[f],
                space,
            )
        if is_nominal[f]:
            gain, low, high, positives = best_nominal_condition(codes, counts, n, base, log2_next)
        else:
            gain, low, high, positives = best_numeric_condition(
                codes, counts, n, n_codes[f], base, log2_next
            )
        if gain > best:
            best = gain
            best_feature = f
            best_low = low
            best_high = high
            best_positives = positives
    return best_feature, best_low, best_high, np.int64(best_positives)


@njit(**BORROWING)
def _place(members, position):
    for i in range(len(members)):
        position[members[i]] = i


@njit(cache=True, nogil=True)
def grow_body(coded, space, rows, start, min_weight):
    """Add conditions to the body `start`, which covers all `rows`, until no negative is covered.

    Also ends when no condition has a gain, or the best one covers fewer positives than `min_weight`.
    """
    is_nominal = coded.is_nominal
    used = np.zeros(len(is_nominal), dtype=np.bool_)
    for c in range(len(start)):
        used[start[c, 0]] = is_nominal[start[c, 0]]
    body = np.empty((len(start) + 16, 3), dtype=np.int32)
    body[: len(start)] = start
    n_conditions = len(start)

    members, position = space.members, space.position
    n_members = len(rows)
    members[:n_members] = rows
    n_positives = 0
    for row in rows:
        n_positives += space.is_target[row]
    while n_positives < n_members:
        _place(members[:n_members], position)
        feature, low, high, positives = find_best_condition(
            coded, space, n_members, n_positives, used
        )
        position[members[:n_members]] = OUTSIDE
        if feature < 0 or positives < min_weight:
            break
        if n_conditions == len(body):
            longer = np.empty((2 * len(body), 3), dtype=np.int32)
            longer[:n_conditions] = body
            body = longer
        body[n_conditions, 0] = feature
        body[n_conditions, 1] = low
        body[n_conditions, 2] = high
        n_members = keep_satisfying(coded, body[n_conditions], members[:n_members], space.row_codes)
        n_positives = positives
        # A numeric attribute may be bounded again, a nominal one has its value.
        used[feature] = is_nominal[feature]
        n_conditions += 1
    return body[:n_conditions].copy()


@njit(cache=True, nogil=True)
def prune_body(coded, space, rows, body, whole_theory):
    """Delete the final sequence of conditions whose absence is worth most on the pruning rows.

    A rule that covers p positives and n negatives is worth (p + 1)/(p + n + 2), which orders rules
    as (p - n)/(p + n) does but distrusts small numbers. With `whole_theory` it is worth the share
    of rows that are classified correctly, (p + true negatives)/all. Of equals the shortest stays.
    """
    n_rows = len(rows)
    if n_rows == 0:
        return body
    n_all_positives = 0
    for row in rows:
        n_all_positives += space.is_target[row]
    # The empty rule is judged by the first formula in either case; so does JRip.
    best = (n_all_positives + 1.0) / (n_rows + 2.0)
    n_kept = 0
    covered = rows.copy()
    for c in range(len(body)):
        covered = covered[: keep_satisfying(coded, body[c], covered, space.row_codes)]
        p = 0
        for row in covered:
            p += space.is_target[row]
        if whole_theory:
            n_true_negatives = (n_rows - n_all_positives) - (len(covered) - p)
            worth = (p + n_true_negatives) / n_rows
        else:
            worth = (p + 1.0) / (len(covered) + 2.0)
        if worth > best:
            best = worth
            n_kept = c + 1
    return body[:n_kept].copy()


@njit(cache=True, nogil=True)
def cover_body(coded, space, body):
    """Mask (n_rows,) of the rows that a body covers."""
    covered = np.arange(len(space.is_target)).astype(np.uint32)
    for c in range(len(body)):
        covered = covered[: keep_satisfying(coded, body[c], covered, space.row_codes)]
    mask = np.zeros(len(space.is_target), dtype=np.bool_)
    for row in covered:
        mask[row] = True
    return mask
