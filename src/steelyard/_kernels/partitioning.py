"""Rows of a node → rows of its branches, each again a range of `members`."""

from numba import njit

from .compiling import BORROWING
from .counting import NONE, find_listed


@njit(**BORROWING)
def split_listed(rows, row_codes, default_code, cut, start, end, total, space):
    """Split a node on a number of a listed feature by moving only the rows that leave the default.

    Fills `ends` and `child_counts` for the branches below and from the cut on.
    """
    members, position, pair = space.members, space.position, space.pair
    default_branch = 1 if default_code >= cut else 0
    main_end = end
    moved = NONE
    gone = NONE
    # First the other branch to the end of the node, then the missing rows behind it.
    for missing in range(2):
        stop = main_end
        for e in range(len(rows)):
            row = rows[e]
            code = row_codes[e]
            if missing == 0:
                leaves = code < 0
            else:
                leaves = code >= 0 and (1 if code >= cut else 0) != default_branch
            p = position[row]
            if leaves and start <= p < stop:
                main_end -= 1
                other = members[main_end]
                members[main_end] = row
                members[p] = other
                position[row] = main_end
                position[other] = p
                if missing == 0:
                    gone += pair[row]
                else:
                    moved += pair[row]
        if missing == 0:
            known_end = main_end
    other_branch = 1 - default_branch
    space.ends[2 * default_branch] = start
    space.ends[2 * default_branch + 1] = main_end
    space.ends[2 * other_branch] = main_end
    space.ends[2 * other_branch + 1] = known_end
    space.child_counts[default_branch] = total - moved - gone
    space.child_counts[other_branch] = moved


@njit(**BORROWING)
def _branch_of_rows(coded, feature, cut, start, end, space):
    """Write the branch of every row of the node (-1 for missing)."""
    branch = space.branch
    if coded.column[feature] >= 0:
        column = coded.dense[coded.column[feature]]
        for i in range(start, end):
            branch[i - start] = column[space.members[i]]
    else:
        first, last = coded.indptr[feature], coded.indptr[feature + 1]
        rows = coded.rows[first:last]
        for i in range(start, end):
            e = find_listed(rows, space.members[i])
            branch[i - start] = coded.codes[first + e] if e >= 0 else coded.default_code[feature]
    if not coded.is_nominal[feature]:
        for i in range(end - start):
            if branch[i] >= 0:
                branch[i] = 1 if branch[i] >= cut else 0


@njit(**BORROWING)
def split_by_sorting(coded, feature, cut, start, end, n_branches, space):
    """Counting sort of the node's rows into branches; missing ones last, in none of them."""
    _branch_of_rows(coded, feature, cut, start, end, space)
    branch, ends, child_counts, pair = space.branch, space.ends, space.child_counts, space.pair
    members, position, buffer = space.members, space.position, space.buffer
    n = end - start
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
        ends[0] = start
        ends[1] = n_low
        ends[2] = n_low
        ends[3] = n_low + n_high
    else:
        ends[: n_branches + 2] = 0
        for i in range(n):
            if branch[i] >= 0:
                ends[branch[i] + 2] += 1
        ends[1] = start
        for b in range(n_branches):
            ends[b + 2] += ends[b + 1]
        free = ends[n_branches + 1]
        for i in range(n):
            row = members[start + i]
            b = branch[i]
            if b >= 0:
                buffer[ends[b + 1] - start] = row
                ends[b + 1] += 1
                child_counts[b] += pair[row]
            else:
                buffer[free - start] = row
                free += 1
        ends[0] = start
        for i in range(n):
            members[start + i] = buffer[i]
    for i in range(start, end):
        position[members[i]] = i
