"""One Ripper rule at a time: split the examples, grow by FOIL's gain, prune from the end.

A body holds its conditions in the order in which they were added: see `_conditions`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ._compiling import BORROWING
from ._conditions import cover_mask, doubled, filter_rows
from ._counting import HALF, NONE, ONE, OUTSIDE, POSITIVES, Counter, count_codes, make_counter
from ._random import next_below


class Workspace(NamedTuple):
    """What all rules of a label share: the classes, and memory that is used again."""

    counter: Counter
    row_codes: np.ndarray  # (n_rows,) int32
    is_target: np.ndarray  # (n_rows,) uint8
    log2_next: np.ndarray  # log₂(k + 1) for every k up to n_rows


@njit(cache=True, nogil=True)
def make_workspace(n_codes, is_target):
    """Allocate the memory that every rule of a label needs."""
    n_rows = len(is_target)
    counter = make_counter(n_codes, n_rows)
    log2_next = np.empty(n_rows + 1)
    for k in range(n_rows + 1):
        log2_next[k] = np.log2(k + 1)
    for row in range(n_rows):
        counter.pair[row] = ONE + np.uint64(is_target[row])
    return Workspace(counter, np.empty(n_rows, dtype=np.int32), is_target, log2_next)


@njit(cache=True, nogil=True)
def rows_in(mask, rows):
    """Those of the rows that are in the mask, in the same order."""
    kept = np.empty(len(rows), dtype=np.uint32)
    n = 0
    for row in rows:
        kept[n] = row  # the next row takes the place of one that is not in the mask
        n += mask[row]
    return kept[:n]


@njit(cache=True, nogil=True)
def split_rows(rows, is_target, n_folds, state):
    """Rows to grow on and rows to prune on, both ascending: 1/n_folds of each class is for pruning.

    The classes are shuffled apart and dealt one after the other, target class first.
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
    # Growing is a fifth faster on ascending rows, because it reads memory in order. Masks give them
    # in a fraction of the time of sorting.
    ascending = np.arange(len(is_target))
    return rows_in(is_growing, ascending), rows_in(is_pruning, ascending)


@njit(**BORROWING)
def foil_gain(p, t, base, log2_next):
    """p·(log₂((p + 1)/(t + 1)) - base): FOIL's gain of covering p positives among t examples.

    `base` is the same logarithm for the rule without the new condition.
    """
    return p * (log2_next[p] - log2_next[t] - base)


@njit(**BORROWING)
def _find_range(counter, n, n_codes, is_nominal, base, log2_next):
    """Best range of a feature with n codes in the counter: (gain, low, high, positives).

    A range is = a code of a nominal feature, ≥ or ≤ a code of a numeric one. Of equal gains the lowest
    code wins, and ≥ before ≤.
    """
    codes, counts = counter.codes, counter.counts
    above = NONE
    for i in range(n):
        above += counts[i]
    below = NONE
    best = 0.0
    low = high = np.int64(0)
    positives = NONE
    for i in range(n):
        below += counts[i]
        code = np.int64(codes[i])
        if is_nominal:
            gain = foil_gain(counts[i] & POSITIVES, counts[i] >> HALF, base, log2_next)
            if gain > best:
                best, low, high, positives = gain, code, code + 1, counts[i] & POSITIVES
        # A bound at a code without positives adds negatives only: the next code is better.
        elif counts[i] & POSITIVES != NONE:
            gain = foil_gain(above & POSITIVES, above >> HALF, base, log2_next)
            if gain > best:
                best, low, high, positives = gain, code, np.int64(n_codes), above & POSITIVES
            gain = foil_gain(below & POSITIVES, below >> HALF, base, log2_next)
            if gain > best:
                best, low, high, positives = gain, np.int64(0), code + 1, below & POSITIVES
        above -= counts[i]
    return best, low, high, np.int64(positives)


@njit(**BORROWING)
def _find_condition(coded, space, n_members, n_positives, used):
    """The condition with the largest gain on the first members: (feature or -1, low, high, positives).

    Of equal gains the first attribute wins. Attributes in `used` are left out.
    """
    counter, log2_next = space.counter, space.log2_next
    total = (np.uint64(n_members) << HALF) + np.uint64(n_positives)
    base = log2_next[n_positives] - log2_next[n_members]
    best = 0.0
    feature = low = high = positives = np.int64(-1)
    for f in range(len(used)):
        if used[f]:
            continue
        n = count_codes(coded, f, np.int64(0), n_members, total, counter)
        found = _find_range(counter, n, coded.n_codes[f], coded.is_nominal[f], base, log2_next)
        if found[0] > best:
            feature = f
            best, low, high, positives = found
    return feature, low, high, positives


@njit(cache=True, nogil=True)
def grow_body(coded, space, rows, start, min_weight, max_conditions):
    """Add conditions to the body `start`, which covers all `rows`, until no negative is covered.

    Also stops at `max_conditions`, when no condition has a gain, or when the best one covers fewer
    positives than `min_weight`.
    """
    members, position = space.counter.members, space.counter.position
    # A numeric attribute may be bounded again, a nominal one has its value.
    used = np.zeros(len(coded.is_nominal), dtype=np.bool_)
    body = np.empty((len(start) + 16, 3), dtype=np.int32)
    length = len(start)
    for c in range(length):
        used[start[c, 0]] = coded.is_nominal[start[c, 0]]
        for k in range(3):
            body[c, k] = start[c, k]
    n_members = len(rows)
    n_positives = np.int64(0)
    for i in range(n_members):
        members[i] = rows[i]
        n_positives += space.is_target[rows[i]]
    while n_positives < n_members and length < max_conditions:
        for i in range(n_members):
            position[members[i]] = i
        feature, low, high, positives = _find_condition(coded, space, n_members, n_positives, used)
        for i in range(n_members):
            position[members[i]] = OUTSIDE
        if feature < 0 or positives < min_weight:
            break
        if length == len(body):
            body = doubled(body)
        body[length, 0] = feature
        body[length, 1] = low
        body[length, 2] = high
        n_members = filter_rows(coded, body, length, members[:n_members], space.row_codes)
        n_positives = positives
        used[feature] = coded.is_nominal[feature]
        length += 1
    return body[:length].copy()


@njit(cache=True, nogil=True)
def prune_body(coded, space, rows, body, whole_theory):
    """Delete the final sequence of conditions whose absence is worth most on the pruning rows.

    A rule that covers p positives and n negatives is worth (p + 1)/(p + n + 2). This orders rules as
    (p - n)/(p + n) does but distrusts small numbers. With `whole_theory` a rule is worth the share of
    rows that are classified correctly, (p + true negatives)/all. Of equals the shortest stays.
    """
    n_rows = len(rows)
    if n_rows == 0:
        return body
    n_positives = 0
    for row in rows:
        n_positives += space.is_target[row]
    # The first formula judges the empty rule in either case, as in JRip.
    best = (n_positives + 1.0) / (n_rows + 2.0)
    n_kept = 0
    covered = rows.copy()
    for c in range(len(body)):
        covered = covered[: filter_rows(coded, body, c, covered, space.row_codes)]
        p = 0
        for row in covered:
            p += space.is_target[row]
        if whole_theory:
            n_true_negatives = (n_rows - n_positives) - (len(covered) - p)
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
    mask = np.empty(len(space.is_target), dtype=np.bool_)
    cover_mask(coded, body, len(body), mask)
    return mask
