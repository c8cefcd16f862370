"""One Ripper rule at a time: split the examples, grow by FOIL's gain, prune from the end.

A body is an int32 array of shape (n_conditions, 3), in the order in which the conditions were added;
each row is a condition low ≤ code < high: feature, low, high.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .growing import _count_dense, _count_listed, _node_codes
from .random import next_below


class Workspace(NamedTuple):
    """Arrays that growing fills again and again, and the classes of the rows."""

    is_target: np.ndarray  # (n_rows,) uint8
    weight: np.ndarray  # (n_rows,) int32, all 1: a row is an example
    positive: np.ndarray  # (n_rows,) int32, 1 for the target class
    position: np.ndarray  # (n_rows,) int32, place in the node or -1
    row_codes: np.ndarray  # (n_rows,) int32
    histogram: tuple
    occupied: tuple
    log2: np.ndarray  # log₂ of 0 .. n_rows + 1


@njit(cache=True, nogil=True)
def make_workspace(n_codes, is_target):
    """Allocate once what every rule of a label needs."""
    n_rows = len(is_target)
    most_codes = 1
    for n in n_codes:
        most_codes = max(most_codes, n)
    log2 = np.zeros(n_rows + 2)
    for k in range(1, n_rows + 2):
        log2[k] = np.log2(k)
    return Workspace(
        is_target,
        np.ones(n_rows, dtype=np.int32),
        is_target.astype(np.int32),
        np.full(n_rows, -1, dtype=np.int32),
        np.empty(n_rows, dtype=np.int32),
        (
            np.zeros(most_codes, dtype=np.int32),
            np.zeros(most_codes, dtype=np.int32),
            np.zeros((most_codes + 63) >> 6, dtype=np.uint64),
        ),
        (
            np.empty(most_codes + 1, dtype=np.int32),
            np.empty(most_codes + 1, dtype=np.int32),
            np.empty(most_codes + 1, dtype=np.int32),
        ),
        log2,
    )


@njit(cache=True, nogil=True)
def split_rows(rows, is_target, n_folds, state):
    """Rows to grow on and rows to prune on, both ascending: of each class 1/n_folds is for pruning.

    The classes are shuffled apart and dealt out one after the other, target class first.
    """
    n_rows = len(rows)
    shuffled = np.empty(n_rows, dtype=np.int32)
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
    n_pruning = n_rows // n_folds
    growing = np.empty(n_rows - n_pruning, dtype=np.int32)
    pruning = np.empty(n_pruning, dtype=np.int32)
    for i in range(n_rows):
        if i % n_folds == n_folds - 1:
            pruning[i // n_folds] = shuffled[i]
        else:
            growing[i - (i + 1) // n_folds] = shuffled[i]
    # Ascending rows are read from memory in order: growing is a fifth faster.
    growing.sort()
    pruning.sort()
    return growing, pruning


@njit(cache=True, nogil=True)
def keep_satisfying(coded, condition, rows, row_codes):
    """Move the rows that satisfy the condition to the front, in order, and return their number."""
    feature, low, high = condition
    _node_codes(coded, feature, rows, row_codes)
    n_kept = 0
    for i in range(len(rows)):
        if low <= row_codes[i] < high:
            rows[n_kept] = rows[i]
            n_kept += 1
    return n_kept


@njit(cache=True, nogil=True)
def foil_gain(p, t, base, log2):
    """p·(log₂((p + 1)/(t + 1)) - base): FOIL's gain of covering p positives among t examples.

    `base` is the same logarithm for the rule without the new condition.
    """
    return p * (log2[p + 1] - log2[t + 1] - base)


@njit(cache=True, nogil=True)
def best_numeric_condition(occupied, n_occupied, n_codes, base, log2):
    """Best of ≥ and ≤ at all occupied codes: (gain, low, high, positives).

    Of equal gains the lowest code wins, and ≥ before ≤.
    """
    codes, weights, positives = occupied
    n_above = np.int64(0)
    n_positive_above = np.int64(0)
    for i in range(n_occupied):
        n_above += weights[i]
        n_positive_above += positives[i]
    n_below = np.int64(0)
    n_positive_below = np.int64(0)
    best = 0.0
    best_low = np.int32(0)
    best_high = np.int32(0)
    best_positives = np.int64(0)
    for i in range(n_occupied):
        n_below += weights[i]
        n_positive_below += positives[i]
        # A bound at a code without positives lets in negatives only: the next one is better.
        if positives[i] > 0:
            gain = foil_gain(n_positive_above, n_above, base, log2)
            if gain > best:
                best = gain
                best_low = codes[i]
                best_high = n_codes
                best_positives = n_positive_above
            gain = foil_gain(n_positive_below, n_below, base, log2)
            if gain > best:
                best = gain
                best_low = np.int32(0)
                best_high = np.int32(codes[i] + 1)
                best_positives = n_positive_below
        n_above -= weights[i]
        n_positive_above -= positives[i]
    return best, best_low, best_high, best_positives


@njit(cache=True, nogil=True)
def best_nominal_condition(occupied, n_occupied, base, log2):
    """Best of = at all occupied codes, the first one of equals: (gain, low, high, positives)."""
    codes, weights, positives = occupied
    best = 0.0
    best_code = np.int32(0)
    best_positives = np.int64(0)
    for i in range(n_occupied):
        gain = foil_gain(np.int64(positives[i]), np.int64(weights[i]), base, log2)
        if gain > best:
            best = gain
            best_code = codes[i]
            best_positives = np.int64(positives[i])
    return best, best_code, np.int32(best_code + 1), best_positives


@njit(cache=True, nogil=True)
def find_best_condition(coded, space, node, n_positives, used):
    """The condition with the highest gain on the node: (feature or -1, low, high, positives).

    Of equal gains the first attribute wins. Attributes in `used` are left out.
    """
    n_codes, is_nominal, column, dense, default_code, indptr, rows, codes = coded
    occupied = space.occupied
    base = space.log2[n_positives + 1] - space.log2[len(node) + 1]
    best = 0.0
    best_feature = -1
    best_low = np.int32(0)
    best_high = np.int32(0)
    best_positives = np.int64(0)
    for f in range(len(n_codes)):
        if used[f]:
            continue
        if column[f] >= 0:
            n_occupied = _count_dense(
                dense[column[f]],
                node,
                space.weight,
                space.positive,
                space.histogram,
                occupied,
                n_codes[f],
            )
        else:
            occupied[0][0] = -1
            n_occupied = _count_listed(
                rows,
                codes,
                indptr[f],
                indptr[f + 1],
                default_code[f],
                node,
                0,
                len(node),
                n_positives,
                space.position,
                space.weight,
                space.positive,
                space.histogram,
                occupied,
                n_codes[f],
            )
            if occupied[0][0] < 0:
                continue
        if is_nominal[f]:
            gain, low, high, positives = best_nominal_condition(
                occupied, n_occupied, base, space.log2
            )
        else:
            gain, low, high, positives = best_numeric_condition(
                occupied, n_occupied, n_codes[f], base, space.log2
            )
        if gain > best:
            best = gain
            best_feature = f
            best_low = low
            best_high = high
            best_positives = positives
    return best_feature, best_low, best_high, best_positives


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

    node = rows.copy()
    n_positives = 0
    for i in range(len(node)):
        space.position[node[i]] = i
        n_positives += space.positive[node[i]]
    while n_positives < len(node):
        feature, low, high, positives = find_best_condition(coded, space, node, n_positives, used)
        if feature < 0 or positives < min_weight:
            break
        if n_conditions == len(body):
            longer = np.empty((2 * len(body), 3), dtype=np.int32)
            longer[:n_conditions] = body
            body = longer
        body[n_conditions, 0] = feature
        body[n_conditions, 1] = low
        body[n_conditions, 2] = high
        # A numeric attribute may be bounded again, a nominal one has its value.
        used[feature] = is_nominal[feature]
        for row in node:
            space.position[row] = -1
        node = node[: keep_satisfying(coded, body[n_conditions], node, space.row_codes)]
        for i in range(len(node)):
            space.position[node[i]] = i
        n_positives = positives
        n_conditions += 1
    for row in node:
        space.position[row] = -1
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
        n_all_positives += space.positive[row]
    # The empty rule is judged by the first formula in either case; so does JRip.
    best = (n_all_positives + 1.0) / (n_rows + 2.0)
    n_kept = 0
    covered = rows.copy()
    for c in range(len(body)):
        covered = covered[: keep_satisfying(coded, body[c], covered, space.row_codes)]
        p = 0
        for row in covered:
            p += space.positive[row]
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
    covered = np.arange(len(space.is_target)).astype(np.int32)
    for c in range(len(body)):
        covered = covered[: keep_satisfying(coded, body[c], covered, space.row_codes)]
    mask = np.zeros(len(space.is_target), dtype=np.bool_)
    for row in covered:
        mask[row] = True
    return mask
