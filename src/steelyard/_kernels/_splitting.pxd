"""Splits of a tree's node: their information gain, their cut point and the rows of their branches.

Counts are packed pairs: see `_counting`. A gain is in bits, times the weight of the known rows.
"""

from libc.math cimport log2
from libc.stdint cimport int32_t, uint32_t, uint64_t

from ._coded cimport Coded
from ._counting cimport (
    Counter,
    codes_of_rows,
    examples,
    is_in_node,
    most_codes,
    pack,
    positives,
    search,
)
from ._memory cimport allocate

cdef enum:
    # The codes of a node are looked at in runs of this many ...
    RUN = 16
    # ... if there are at least so many.
    LEAST_CODES = 64


cdef struct Branch:
    Py_ssize_t start  # its rows: a range of the counter's members ...
    Py_ssize_t end
    uint64_t counts  # ... and their packed counts


# Memory of all splits, and the result of the last one.
cdef struct Splitter:
    Branch* branches
    int32_t* branch_of_row  # branch of each row of the node that is split
    uint32_t* buffer
    double* xlogx  # k·log₂(k)


cdef inline Splitter make_splitter(const Coded* coded, Py_ssize_t bag_size, list owner) except *:
    """A splitter for nodes of at most `bag_size` examples; its memory belongs to `owner`."""
    cdef Splitter splitter
    cdef Py_ssize_t k
    splitter.branches = <Branch*> allocate(owner, most_codes(coded) * sizeof(Branch))
    splitter.branch_of_row = <int32_t*> allocate(owner, coded.n_rows * sizeof(int32_t))
    splitter.buffer = <uint32_t*> allocate(owner, coded.n_rows * sizeof(uint32_t))
    splitter.xlogx = <double*> allocate(owner, (bag_size + 1) * sizeof(double))
    for k in range(2, bag_size + 1):
        splitter.xlogx[k] = k * log2(k)
    return splitter


cdef inline double _impurity(
    uint64_t weight, uint64_t positive, const double* xlogx
) noexcept nogil:
    """Entropy times weight."""
    return xlogx[weight] - xlogx[positive] - xlogx[weight - positive]


cdef inline double impurity(uint64_t counts, const double* xlogx) noexcept nogil:
    """Entropy times weight, of packed counts."""
    return _impurity(examples(counts), positives(counts), xlogx)


cdef inline double split_gain(
    uint64_t low, uint64_t total, double whole, const double* xlogx
) noexcept nogil:
    """Gain of the split of packed counts into `low` and the rest; `whole` is their impurity."""
    return whole - (impurity(low, xlogx) + impurity(total - low, xlogx))


cdef inline bint may_gain(
    uint64_t below, uint64_t within, uint64_t total, double whole, double least, const double* xlogx
) noexcept nogil:
    """Whether a boundary inside a run of codes may gain so much, given the counts below and within it.

    The gain is convex in the positives and the negatives on one side. So inside the run it is at most
    that at its ends, or that of a boundary with all its positives on one side and all its negatives on
    the other.
    """
    cdef uint64_t n_positives = positives(within)
    cdef uint64_t pure = pack(n_positives, n_positives)
    if n_positives == 0 or pure == within:
        return False  # of one class: an end is better
    least -= 1e-7 * (whole + 1)  # more than any error of rounding
    return (
        split_gain(below + pure, total, whole, xlogx) >= least
        or split_gain(below + within - pure, total, whole, xlogx) >= least
    )


cdef inline double best_boundary(
    const uint64_t* counts, Py_ssize_t n, double least, const double* xlogx, Py_ssize_t* boundary
) noexcept nogil:
    """Gain of the best numeric split of the packed counts of n ascending codes.

    It lies between the code at `boundary` and the next; `boundary` is -1 if no split has a gain. A split
    that gains less than `least` need not be the best one.
    """
    cdef uint64_t total = 0, passed = 0, below
    cdef double whole, gain, best = 0.0
    cdef Py_ssize_t i, run, start, end
    for i in range(n):
        total += counts[i]
    whole = impurity(total, xlogx)
    boundary[0] = -1
    if n < LEAST_CODES:
        for i in range(n - 1):
            passed += counts[i]
            gain = split_gain(passed, total, whole, xlogx)
            if gain > best:
                best = gain
                boundary[0] = i
        return best
    # First the ends of runs of codes, then the runs that may have a better boundary inside.
    for run in range((n - 1) // RUN):
        for i in range(run * RUN, (run + 1) * RUN):
            passed += counts[i]
        gain = split_gain(passed, total, whole, xlogx)
        if gain > best:
            best = gain
            boundary[0] = i
    passed = 0
    for run in range((n + RUN - 1) // RUN):
        start = run * RUN
        end = min(start + RUN, n)
        below = passed
        for i in range(start, end):
            passed += counts[i]
        if not may_gain(below, passed - below, total, whole, max(best, least), xlogx):
            continue
        for i in range(start, end - 1):
            below += counts[i]
            gain = split_gain(below, total, whole, xlogx)
            # Of equal gains the lowest boundary wins.
            if gain > best or (gain == best and i < boundary[0]):
                best = gain
                boundary[0] = i
    return best


cdef inline double multiway_gain(
    const uint64_t* counts, Py_ssize_t n, const double* xlogx
) noexcept nogil:
    """Gain of the split into one branch per code."""
    cdef uint64_t total = 0
    cdef double children = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        total += counts[i]
        children += impurity(counts[i], xlogx)
    return impurity(total, xlogx) - children


cdef inline int32_t cut_code(const double* values, int32_t lower, int32_t upper) noexcept nogil:
    """First code at or above the mid-point of two values, given by their codes."""
    cdef double middle = values[lower] / 2 + values[upper] / 2
    return <int32_t> search[double](values, lower + 1, upper, middle)


cdef inline void split_listed(
    const Coded* coded,
    Py_ssize_t feature,
    int32_t cut,
    Py_ssize_t start,
    Py_ssize_t end,
    uint64_t total,
    bint may_be_missing,
    const Counter* counter,
    const Splitter* splitter,
) noexcept nogil:
    """Split a node on a listed numeric feature by moving only the rows that leave the default.

    The branches are the rows below the cut and from it on.
    """
    cdef uint32_t* members = counter.members
    cdef uint32_t* position = counter.position
    cdef int default_branch = coded.default_code[feature] >= cut
    cdef Py_ssize_t main_end = end, known_end = end
    cdef uint64_t moved = 0
    cdef int[2] leaving
    cdef int branch, i
    cdef Py_ssize_t e
    cdef uint32_t row, other
    # First move the missing rows to the end of the node, then the other branch in front of them.
    leaving[0] = -1
    leaving[1] = 1 - default_branch
    for i in range(0 if may_be_missing else 1, 2):
        known_end = main_end
        moved = 0
        for e in range(coded.indptr[feature], coded.indptr[feature + 1]):
            row = coded.rows[e]
            branch = coded.codes[e] >= cut if coded.codes[e] >= 0 else -1
            if branch == leaving[i] and is_in_node(counter, row, start, known_end):
                main_end -= 1
                other = members[main_end]
                members[main_end] = row
                members[position[row]] = other
                position[other] = position[row]
                position[row] = main_end
                moved += counter.pair[row]
        total -= moved
    splitter.branches[default_branch] = Branch(start, main_end, total)
    splitter.branches[1 - default_branch] = Branch(main_end, known_end, moved)


cdef inline void split_by_sorting(
    const Coded* coded,
    Py_ssize_t feature,
    int32_t cut,
    Py_ssize_t start,
    Py_ssize_t end,
    Py_ssize_t n_branches,
    const Counter* counter,
    const Splitter* splitter,
) noexcept nogil:
    """Sort the node's rows by branch; missing rows come last and belong to no branch."""
    cdef Py_ssize_t i
    cdef int32_t* branch = splitter.branch_of_row
    codes_of_rows(coded, feature, counter.members + start, end - start, branch)
    if not coded.is_nominal[feature]:
        for i in range(end - start):
            if branch[i] >= 0:
                branch[i] = branch[i] >= cut
    if n_branches == 2:
        _sort_two_branches(start, end, counter, splitter)
    else:
        _sort_branches(start, end, n_branches, counter, splitter)
    for i in range(start, end):
        counter.position[counter.members[i]] = i


cdef inline void _sort_two_branches(
    Py_ssize_t start, Py_ssize_t end, const Counter* counter, const Splitter* splitter
) noexcept nogil:
    """The common case in one sweep: low rows stay in front, high ones wait in the buffer."""
    cdef uint32_t* members = counter.members
    cdef uint32_t* buffer = splitter.buffer
    cdef Py_ssize_t n = end - start, low_end = start, n_high = 0, n_missing = 0
    cdef uint64_t low_counts = 0, high_counts = 0
    cdef Py_ssize_t i
    cdef int32_t branch
    cdef uint32_t row
    for i in range(n):
        row = members[start + i]
        branch = splitter.branch_of_row[i]
        # It is written to all three places and stays where the end moves on: no condition to mispredict.
        members[low_end] = row
        buffer[n_high] = row
        buffer[n - 1 - n_missing] = row
        low_end += branch == 0
        n_high += branch == 1
        n_missing += branch < 0
        low_counts += counter.pair[row] & -<uint64_t> (branch == 0)
        high_counts += counter.pair[row] & -<uint64_t> (branch == 1)
    for i in range(n_high):
        members[low_end + i] = buffer[i]
    for i in range(n_missing):
        members[low_end + n_high + i] = buffer[n - 1 - i]
    splitter.branches[0] = Branch(start, low_end, low_counts)
    splitter.branches[1] = Branch(low_end, low_end + n_high, high_counts)


cdef inline void _sort_branches(
    Py_ssize_t start,
    Py_ssize_t end,
    Py_ssize_t n_branches,
    const Counter* counter,
    const Splitter* splitter,
) noexcept nogil:
    """Any number of branches: count the rows of each, then place them."""
    cdef uint32_t* members = counter.members
    cdef uint32_t* buffer = splitter.buffer
    cdef Branch* branches = splitter.branches
    cdef Py_ssize_t n = end - start, free = start, size
    cdef Py_ssize_t i, b
    cdef uint32_t row
    for b in range(n_branches):
        branches[b] = Branch(0, 0, 0)
    for i in range(n):
        if splitter.branch_of_row[i] >= 0:
            branches[splitter.branch_of_row[i]].end += 1
    for b in range(n_branches):
        size = branches[b].end
        branches[b].start = free
        branches[b].end = free  # moves to the end as rows arrive
        free += size
    for i in range(n):
        row = members[start + i]
        b = splitter.branch_of_row[i]
        if b >= 0:
            buffer[branches[b].end - start] = row
            branches[b].end += 1
            branches[b].counts += counter.pair[row]
        else:
            buffer[free - start] = row
            free += 1
    for i in range(n):
        members[start + i] = buffer[i]
