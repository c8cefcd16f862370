"""Splits of a tree's node: their information gain, their cut point and the rows of their branches.

Counts are packed pairs: see `_counting`. A gain is in bits, times the weight of the known rows.
"""

import numpy as np
from numba import njit

from ._compiling import BORROWING
from ._counting import HALF, NONE, POSITIVES, codes_of_rows, search


@njit(**BORROWING)
def _impurity(weight, positive, xlogx):
    """Entropy times weight."""
    return xlogx[weight] - xlogx[positive] - xlogx[weight - positive]


@njit(**BORROWING)
def best_boundary(counts, n, xlogx):
    """Best numeric split of the packed counts of ascending codes.

    Returns (gain, index i): the split lies between the i-th code and the next, -1 if none has a gain.
    """
    total = NONE
    for i in range(n):
        total += counts[i]
    weight, positive = total >> HALF, total & POSITIVES
    impurity = _impurity(weight, positive, xlogx)
    best = 0.0
    best_i = -1
    passed = NONE
    for i in range(n - 1):
        passed += counts[i]
        left, left_positive = passed >> HALF, passed & POSITIVES
        gain = impurity - (
            _impurity(left, left_positive, xlogx)
            + _impurity(weight - left, positive - left_positive, xlogx)
        )
        if gain > best:
            best = gain
            best_i = i
    return best, best_i


@njit(**BORROWING)
def multiway_gain(counts, n, xlogx):
    """Gain of the split into one branch per code."""
    total = NONE
    children = 0.0
    for i in range(n):
        total += counts[i]
        children += _impurity(counts[i] >> HALF, counts[i] & POSITIVES, xlogx)
    return _impurity(total >> HALF, total & POSITIVES, xlogx) - children


@njit(**BORROWING)
def cut_code(values, lower, upper):
    """First code at or above the mid-point of two values, given by their codes."""
    middle = values[lower] / 2 + values[upper] / 2
    return search(values, np.int64(lower) + 1, np.int64(upper), middle)


@njit(**BORROWING)
def split_listed(coded, feature, cut, start, end, total, forest):
    """Split a node on a listed numeric feature by moving only the rows that leave the default.

    Fills `bounds` and `child_counts` for the branches below the cut and from it on.
    """
    members, position, pair = forest.counter.members, forest.counter.position, forest.counter.pair
    default_branch = np.int64(coded.default_code[feature] >= cut)
    main_end = known_end = end
    moved = NONE
    # First move the missing rows to the end of the node, then the other branch in front of them.
    for leaving in (np.int64(-1), 1 - default_branch):
        known_end = main_end
        moved = NONE
        for e in range(coded.indptr[feature], coded.indptr[feature + 1]):
            row = coded.rows[e]
            code = coded.codes[e]
            p = position[row]
            branch = np.int64(code >= cut) if code >= 0 else -1
            if branch == leaving and start <= p < known_end:
                main_end -= 1
                other = members[main_end]
                members[main_end] = row
                members[p] = other
                position[row] = main_end
                position[other] = p
                moved += pair[row]
        total -= moved
    for branch in range(2):
        is_default = branch == default_branch
        forest.bounds[branch, 0] = start if is_default else main_end
        forest.bounds[branch, 1] = main_end if is_default else known_end
        forest.child_counts[branch] = total if is_default else moved


@njit(**BORROWING)
def split_by_sorting(coded, feature, cut, start, end, n_branches, forest):
    """Sort the node's rows by branch; missing rows come last and belong to no branch."""
    members, position, pair = forest.counter.members, forest.counter.position, forest.counter.pair
    branch, buffer = forest.branch, forest.buffer
    bounds, child_counts = forest.bounds, forest.child_counts
    n = end - start
    codes_of_rows(coded, feature, members[start:end], branch)
    if not coded.is_nominal[feature]:
        for i in range(n):
            if branch[i] >= 0:
                branch[i] = 1 if branch[i] >= cut else 0
    child_counts[:n_branches] = NONE
    if n_branches == 2:
        # The common case in one sweep: low rows stay in front, high ones wait in the buffer.
        n_low = start
        n_high = 0
        n_missing = 0
        for i in range(n):
            row = members[start + i]
            b = branch[i]
            if b == 0:
                members[n_low] = row
                n_low += 1
                child_counts[0] += pair[row]
            elif b == 1:
                buffer[n_high] = row
                n_high += 1
                child_counts[1] += pair[row]
            else:
                n_missing += 1
                buffer[n - n_missing] = row
        for i in range(n_high):
            members[n_low + i] = buffer[i]
        for i in range(n_missing):
            members[n_low + n_high + i] = buffer[n - 1 - i]
        bounds[0, 0] = start
        bounds[0, 1] = n_low
        bounds[1, 0] = n_low
        bounds[1, 1] = n_low + n_high
    else:
        bounds[:n_branches, 1] = 0
        for i in range(n):
            if branch[i] >= 0:
                bounds[branch[i], 1] += 1
        free = start
        for b in range(n_branches):
            bounds[b, 0] = free
            free += bounds[b, 1]
            bounds[b, 1] = bounds[b, 0]  # moves to the end as rows arrive
        for i in range(n):
            row = members[start + i]
            b = branch[i]
            if b >= 0:
                buffer[bounds[b, 1] - start] = row
                bounds[b, 1] += 1
                child_counts[b] += pair[row]
            else:
                buffer[free - start] = row
                free += 1
        for i in range(n):
            members[start + i] = buffer[i]
    for i in range(start, end):
        position[members[i]] = i
