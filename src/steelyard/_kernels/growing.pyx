# distutils: language = c++
"""Random trees on coded features: every leaf that predicts the target class becomes a rule.

One call grows the trees of a label: draw a bag, draw attributes at each node, take the split with the
largest information gain, descend with an explicit stack, write the body of the path at target leaves.

Counts are packed pairs: see `_counting`.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from .coding import block_codes, list_features

from ._bags cimport draw_row
from ._blocks cimport Blocks, Bound, best_bound, find_codes, has_blocks, make_blocks
from ._coded cimport Coded, borrow
from ._conditions cimport Condition, hash_body, merge_conditions
from ._counting cimport (
    Counter,
    Tally,
    add_rows,
    clear_rows,
    count_codes,
    examples,
    make_counter,
    make_tally,
    pack,
    positives,
    subtract_rows,
    sum_nondefault,
)
from ._limits cimport (
    PRESENCE,
    Limits,
    borrow_limits,
    count_apart,
    is_apart,
    is_banned,
    relax_body,
)
from ._memory cimport allocate
from ._node_bits cimport NodeBits, count_rows, make_node_bits, take_bag, take_rows
from ._random cimport next_below
from ._splitting cimport (
    Branch,
    Splitter,
    best_boundary,
    cut_code,
    impurity,
    make_splitter,
    multiway_gain,
    split_by_sorting,
    split_gain,
    split_listed,
)

# Gains below this (bits per example) count as none; Weka's tolerance.
cdef double MIN_GAIN = 1e-6
# A tally walks over the entries of the node's rows; counting without one, over the lists or the words of
# the drawn attributes. A tally may cost this many times as much, because the children use it as well,
# and small nodes draw many more than n_drawn attributes.
cdef double TALLY_PRICE = 3

cdef enum:
    # Bits of a node's rows are worth making if this many attributes are drawn from it.
    LEAST_DRAWN = 32
    # Attributes that are passed on or left out together.
    BATCH = 32
    # Tallies that exist at a time: one per node of the current path that has one.
    MOST_TALLIES = 32


# What all trees of a call share: the data, the settings, and memory that is used again.
cdef struct Forest:
    Coded coded
    const double* values
    const int64_t* values_indptr
    const uint8_t* is_target
    const int64_t* draw_order
    const uint64_t* draw_ends  # NULL: all rows are drawn with the same probability
    uint64_t* drawn_once  # (n_rows,) packed counts of a row for each time that it is drawn
    Py_ssize_t bag_size
    Py_ssize_t n_drawn
    Py_ssize_t most_tallied  # rows of the largest node that is counted by a tally
    Counter counter
    Tally tally  # its counts are those of all slots, one after the other
    Py_ssize_t many_rows  # have more entries than there are attributes
    Py_ssize_t* free_slots  # tallies that no node has; their counts are 0 ...
    Py_ssize_t* n_free_slots  # ... and their number
    Blocks blocks
    Splitter splitter
    const uint8_t* is_binary  # features with the codes 0 and 1 and no missing value
    # Features of which one side of every split has only rows that depart from it, and these rows of both
    # classes; all rows for other features.
    const uint8_t* is_split_off
    uint32_t* positives
    uint32_t* negatives
    uint64_t* most_draws  # (n_rows + 1,) draws that so many rows can have in the bag
    uint32_t* most_positives  # (n_features,) draws that the positives of a feature can have ...
    uint32_t* most_negatives  # ... and its negatives
    uint32_t* rows_by_draws  # (bag_size + 3,) number of rows with so many draws; 0 between calls
    NodeBits* node_bits  # NULL if too few attributes are drawn at a node, or with weights
    bint is_weighed
    Py_ssize_t n_usable
    uint32_t* window  # usable attributes; the drawn ones move to the end; renewed for each tree
    Limits limits
    uint8_t target  # the class of the rules, as in the limits
    uint8_t* is_tested  # (n_features,) attributes on the path to a node; 0 between calls
    uint64_t min_examples  # in a bag
    uint64_t min_positives


cdef struct Node:
    Py_ssize_t start  # its rows: a range of the counter's members ...
    Py_ssize_t end
    uint64_t counts  # ... and their packed counts
    Py_ssize_t depth
    Py_ssize_t slot  # of its tally, -1 if it has none
    Condition condition  # leads here from the parent


# What one side of a split needs for a gain that is larger than the best one: at least so many positives
# or at least so many negatives. The gain is convex in both, so between these it is smaller.
cdef struct Needed:
    uint64_t positives
    uint64_t negatives


cdef struct Split:
    Py_ssize_t feature  # -1: no split has a gain
    int32_t cut


# The search for the split of a node, and the best one so far.
cdef struct Search:
    const Node* node
    const uint64_t* tallied  # counts of listed features, if the node has a tally
    double whole  # impurity of the node
    double gain
    Needed needed
    Split best


cdef Node _draw_bag(uint64_t* state, const Forest* forest) noexcept nogil:
    """Draw a bag with replacement; return the root of its tree."""
    cdef const Counter* counter = &forest.counter
    cdef Py_ssize_t n_rows = forest.coded.n_rows
    cdef Node root
    cdef Py_ssize_t row, _
    cdef uint64_t random = state[0]  # a copy: after each write, the compiler would read it again
    cdef bint is_drawn
    cdef uint64_t most
    root.start = root.end = root.depth = 0
    root.counts = 0
    root.slot = -1
    memset(counter.pair, 0, n_rows * sizeof(uint64_t))
    for _ in range(forest.bag_size):
        row = draw_row(&random, forest.draw_order, forest.draw_ends, n_rows)
        counter.pair[row] += forest.drawn_once[row]
    state[0] = random
    for row in range(n_rows):
        is_drawn = counter.pair[row] != 0
        counter.members[root.end] = row  # the next row takes the place of one that is not drawn
        # All bits are set for a row that is not drawn, which is `outside()`, without a condition.
        counter.position[row] = <uint32_t> root.end | (<uint32_t> is_drawn - 1)
        root.counts += counter.pair[row]
        root.end += is_drawn
    if not forest.is_weighed:
        most = _find_most_draws(forest)
        if forest.node_bits != NULL:
            take_bag(forest.node_bits, counter.pair, n_rows, most)
    return root


cdef uint64_t _find_most_draws(const Forest* forest) noexcept nogil:
    """How many draws of the bag so many rows can have together; return how many one row can have.

    Where many attributes are drawn at a node, it is noted how many the rows of each can have.
    """
    cdef uint32_t* rows_by_draws = forest.rows_by_draws
    cdef uint64_t draws, most = 2, total = 0
    cdef Py_ssize_t row, f, n = 0, n_once = 0, n_twice = 0
    for row in range(forest.coded.n_rows):
        draws = examples(forest.counter.pair[row])
        # Most rows are drawn at most twice. One counter in memory would wait for its last write.
        n_once += draws == 1
        n_twice += draws == 2
        if draws > 2:
            rows_by_draws[draws] += 1
            most = max(most, draws)
    for draws in range(most, 0, -1):
        if draws <= 2:
            rows_by_draws[draws] = n_once if draws == 1 else n_twice
        for _ in range(rows_by_draws[draws]):
            n += 1
            total += draws
            forest.most_draws[n] = total
        rows_by_draws[draws] = 0
    for row in range(n + 1, forest.coded.n_rows + 1):
        forest.most_draws[row] = total
    if forest.node_bits != NULL:
        for f in range(forest.coded.n_features):
            forest.most_positives[f] = forest.most_draws[forest.positives[f]]
            forest.most_negatives[f] = forest.most_draws[forest.negatives[f]]
    return most


cdef void _count_departing(Forest* forest, const uint32_t* n_departing) noexcept nogil:
    """Count the rows of both classes that depart from each feature, given those of both together."""
    cdef const Tally* tally = &forest.tally
    cdef Py_ssize_t n_rows = forest.coded.n_rows
    cdef Py_ssize_t f, e, row
    for row in range(n_rows):
        if forest.is_target[row]:
            for e in range(tally.indptr[row], tally.indptr[row + 1]):
                forest.positives[tally.features[e]] += 1
    for f in range(forest.coded.n_features):
        forest.negatives[f] = n_departing[f] - forest.positives[f]
        if not forest.is_split_off[f]:
            forest.positives[f] = forest.negatives[f] = n_rows


cdef Py_ssize_t _find_most_tallied(
    const Forest* forest, const uint32_t* n_departing
) noexcept nogil:
    """Rows of the largest node for which a tally pays."""
    cdef Py_ssize_t n_rows = forest.coded.n_rows
    cdef Py_ssize_t f, n_read = 0, n_entries = forest.tally.indptr[n_rows]
    for f in range(forest.coded.n_features):
        if not forest.tally.is_listed[f]:
            continue
        if forest.node_bits != NULL and forest.node_bits.place[f] >= 0:
            n_read += forest.node_bits.n_words // 2  # faster than to look for rows in a list
        else:
            n_read += n_departing[f]
    return <Py_ssize_t> (
        TALLY_PRICE * <double> forest.n_drawn / forest.coded.n_features * n_read
        / max(n_entries, 1) * n_rows
    )


cdef inline Tally _tally_of(const Node* node, const Forest* forest) noexcept nogil:
    cdef Tally tally = forest.tally
    tally.counts += node.slot * forest.coded.n_features
    return tally


cdef void _make_tally(Node* node, const Forest* forest) noexcept nogil:
    """Tally a node if it is small enough, unless it has a tally."""
    cdef Py_ssize_t n_members = node.end - node.start
    cdef Tally tally
    if node.slot >= 0 or n_members > forest.most_tallied or forest.n_free_slots[0] == 0:
        return
    forest.n_free_slots[0] -= 1
    node.slot = forest.free_slots[forest.n_free_slots[0]]
    tally = _tally_of(node, forest)
    add_rows(&tally, forest.counter.members + node.start, n_members, forest.counter.pair)


cdef void _drop_tally(Node* node, const Forest* forest) noexcept nogil:
    cdef Tally tally
    if node.slot < 0:
        return
    tally = _tally_of(node, forest)
    if node.end - node.start >= forest.many_rows:
        memset(tally.counts, 0, forest.coded.n_features * sizeof(uint64_t))
    else:
        clear_rows(&tally, forest.counter.members + node.start, node.end - node.start)
    forest.free_slots[forest.n_free_slots[0]] = node.slot
    forest.n_free_slots[0] += 1
    node.slot = -1


cdef void _hand_tally_on(
    Node* node, Node* child, Node* other, const Forest* forest
) noexcept nogil:
    """Take the rows that are not in a child from the tally of a node and give it to the child.

    Only the rows of the smaller children are looked at, not those of the largest again and again. If
    `other` has all the rest, its tally is made now: then one difference per attribute is enough.
    """
    cdef const uint32_t* members = forest.counter.members
    cdef const uint64_t* pair = forest.counter.pair
    cdef Tally tally = _tally_of(node, forest), part
    cdef Py_ssize_t f
    child.slot = node.slot
    if other != NULL and other.end - other.start >= forest.many_rows:
        _make_tally(other, forest)
    if other != NULL and other.slot >= 0:
        part = _tally_of(other, forest)
        for f in range(forest.coded.n_features):
            tally.counts[f] -= part.counts[f]
    else:
        subtract_rows(&tally, members + node.start, child.start - node.start, pair)
        subtract_rows(&tally, members + child.end, node.end - child.end, pair)
    node.slot = -1


cdef inline uint64_t _raise_least(
    uint64_t least, uint64_t most, uint64_t one, double gain, uint64_t counts, const double* xlogx
) noexcept nogil:
    """The least of [least, most] rows of one class that have such a gain if they leave a node.

    `one` are the packed counts of such a row, `counts` those of the node.
    """
    cdef uint64_t middle
    cdef double whole = impurity(counts, xlogx)
    gain -= 1e-9 * (whole + 1)  # more than any error of rounding
    while least < most:
        middle = (least + most) >> 1
        if whole - impurity(counts - middle * one, xlogx) < gain:
            least = middle + 1
        else:
            most = middle
    return least


cdef inline void _raise_needed(
    Needed* needed, double gain, uint64_t counts, const double* xlogx
) noexcept nogil:
    """What a gain at least as large as this one needs, in a node with these packed counts."""
    cdef uint64_t n_positives = positives(counts)
    cdef uint64_t n_negatives = examples(counts) - n_positives
    needed.positives = _raise_least(
        needed.positives, n_positives, pack(1, 1), gain, counts, xlogx
    )
    needed.negatives = _raise_least(
        needed.negatives, n_negatives, pack(1, 0), gain, counts, xlogx
    )


cdef inline bint _is_too_small(uint64_t branch, const Needed* needed) noexcept nogil:
    """Whether no split with this branch, or a part of it, has a larger gain."""
    cdef uint64_t n_positives = positives(branch)
    return (
        n_positives < needed.positives and examples(branch) - n_positives < needed.negatives
    )


cdef inline uint64_t _count_branch(
    Py_ssize_t f, const Search* search, const Forest* forest
) noexcept nogil:
    """Packed counts of the rows without the default code of a binary feature, without a tally.

    Only the positives may be counted if they tell that the split is not better.
    """
    cdef uint64_t least_positives
    if forest.node_bits != NULL and forest.node_bits.place[f] >= 0:
        least_positives = search.needed.positives
        if forest.most_negatives[f] >= search.needed.negatives:
            least_positives = 0
        return count_rows(forest.node_bits, f, least_positives)
    return sum_nondefault(
        &forest.coded, f, search.node.start, search.node.end, &forest.counter
    )


cdef inline Py_ssize_t _count_codes(
    Py_ssize_t f, const Node* node, const Forest* forest
) noexcept nogil:
    """Codes of a feature that occur in the node; return how many.

    If there are two or more, they are in `codes` and `counts`; fewer allow no split.
    """
    cdef const Coded* coded = &forest.coded
    if coded.n_codes[f] < 2:
        return 0
    return count_codes(coded, f, node.start, node.end, node.counts, &forest.counter)


cdef inline bint _may_be_better(
    Py_ssize_t f, const Search* search, const Forest* forest
) noexcept nogil:
    """Whether an attribute may have a better split, as far as one can tell without counting it."""
    cdef const Needed* needed = &search.needed
    cdef uint64_t branch
    cdef uint64_t n_positives, n_negatives
    cdef bint is_tallied, is_large
    if forest.node_bits != NULL:
        n_positives = forest.most_positives[f]
        n_negatives = forest.most_negatives[f]
    else:
        n_positives = forest.most_draws[forest.positives[f]]
        n_negatives = forest.most_draws[forest.negatives[f]]
    is_large = (n_positives >= needed.positives) | (n_negatives >= needed.negatives)
    if search.tallied == NULL:
        return is_large
    # Which attributes these are is hard to predict, so nothing here depends on a condition.
    branch = search.tallied[f]
    n_positives = positives(branch)
    n_negatives = examples(branch) - n_positives
    is_tallied = forest.tally.is_listed[f]
    return (is_large & (1 - is_tallied)) | (
        is_tallied
        & (branch != 0)
        & (
            (1 - forest.is_split_off[f])
            | (n_positives >= needed.positives)
            | (n_negatives >= needed.negatives)
        )
    )


cdef inline Py_ssize_t _pass_on(
    const uint32_t* drawn, Py_ssize_t n, const Search* search, const Forest* forest, uint32_t* out
) noexcept nogil:
    """Write the drawn attributes that may have a better split to `out`; return their number.

    With hundreds of attributes per node, most are left out, and conditions would be mispredicted.
    """
    cdef Py_ssize_t i, n_out = 0
    for i in range(n):
        out[n_out] = drawn[i]
        n_out += _may_be_better(drawn[i], search, forest)
    return n_out


cdef inline double _gain_of_binary(
    Py_ssize_t f, const Search* search, const Forest* forest
) noexcept nogil:
    """Gain of the split of a binary attribute, 0 if it is too small to count."""
    cdef const Needed* needed = &search.needed
    cdef uint64_t branch, counts = search.node.counts
    if search.tallied != NULL and forest.tally.is_listed[f]:
        branch = search.tallied[f]
    else:
        branch = _count_branch(f, search, forest)
    if _is_too_small(branch, needed) or _is_too_small(counts - branch, needed):
        return 0.0
    return split_gain(branch, counts, search.whole, forest.splitter.xlogx)


cdef inline double _gain_of_codes(
    Py_ssize_t f, double least, const Search* search, const Forest* forest, Bound* bound
) noexcept nogil:
    """Gain of the best split of an attribute by all its codes; sets the bound of a numeric one."""
    cdef const Counter* counter = &forest.counter
    cdef const double* xlogx = forest.splitter.xlogx
    cdef Py_ssize_t boundary, n = _count_codes(f, search.node, forest)
    cdef double gain
    if n < 2:
        return 0.0
    if forest.coded.is_nominal[f]:
        return multiway_gain(counter.counts, n, xlogx)
    gain = best_boundary(counter.counts, n, least, xlogx, &boundary)
    if boundary >= 0:
        bound.lower = counter.codes[boundary]
        bound.upper = counter.codes[boundary + 1]
    return gain


cdef inline int32_t _find_cut(
    Py_ssize_t f, Bound* bound, const Node* node, const Forest* forest
) noexcept nogil:
    """First code above a bound."""
    cdef const uint32_t* members = forest.counter.members + node.start
    if forest.is_binary[f] or forest.coded.is_nominal[f]:
        return 1
    find_codes(&forest.coded, f, members, node.end - node.start, &forest.blocks, bound)
    return cut_code(forest.values + forest.values_indptr[f], bound.lower, bound.upper)


cdef inline void _consider(Py_ssize_t f, Search* search, const Forest* forest) noexcept nogil:
    """Take the best split of an attribute if it gains more than that of all before."""
    cdef const Node* node = search.node
    cdef const double* xlogx = forest.splitter.xlogx
    cdef bint is_limited = forest.limits.is_active
    cdef double gain, least = 0.0 if is_limited else search.gain
    cdef Bound bound
    if not _may_be_better(f, search, forest):
        return  # the best split may be another one than when the attribute was passed on
    if forest.is_binary[f]:
        gain = _gain_of_binary(f, search, forest)
    elif has_blocks(&forest.coded, f, node.end - node.start):
        bound = best_bound(
            &forest.coded,
            f,
            forest.counter.members + node.start,
            node.end - node.start,
            least,
            &forest.blocks,
            &forest.counter,
            xlogx,
        )
        gain = bound.gain
    else:
        gain = _gain_of_codes(f, least, search, forest, &bound)
    if is_limited:
        gain *= forest.limits.share[f]
    # Of equal gains the lower attribute wins, whatever the order of the draws.
    if gain > search.gain or (gain == search.gain and f < search.best.feature):
        search.gain = gain
        search.best = Split(f, _find_cut(f, &bound, node, forest))
        if not forest.is_weighed:  # with weights, nobody knows how much some rows can count
            _raise_needed(&search.needed, gain, node.counts, xlogx)


cdef Split _find_split(uint64_t* state, const Node* node, const Forest* forest) noexcept nogil:
    """Draw attributes and return the best split.

    It looks at `n_drawn` attributes at least, and then at more until one has a gain.
    """
    # Copies: after each write to the window, the compiler would read the members of the forest again.
    cdef uint32_t* window = forest.window
    cdef Py_ssize_t n_window = forest.n_usable
    cdef Py_ssize_t n_drawn = forest.n_drawn
    cdef const Limits* limits = &forest.limits
    cdef Py_ssize_t n_left  # those from here on have been looked at
    cdef Py_ssize_t i, j, n, n_seen = 0, _
    cdef uint64_t random = state[0]
    cdef uint32_t[BATCH] batch
    cdef const uint32_t* drawn
    cdef uint32_t f
    cdef Search search
    search.node = node
    search.tallied = NULL
    search.whole = impurity(node.counts, forest.splitter.xlogx)
    search.gain = MIN_GAIN * <double> examples(node.counts)
    search.needed = Needed(1, 1)
    search.best = Split(-1, 0)
    if node.slot >= 0:
        search.tallied = forest.tally.counts + node.slot * forest.coded.n_features
    if forest.node_bits != NULL:
        take_rows(
            forest.node_bits, forest.counter.members + node.start, node.end - node.start
        )
    while n_window > 0 and (n_seen < n_drawn or search.best.feature < 0):
        n_left = n_window
        # Draw all that are needed at once: a mispredicted test below would delay the next draw.
        for _ in range(max(1, min(n_drawn - n_seen, n_window))):
            j = next_below(&random, n_window)
            n_window -= 1
            f = window[j]
            window[j] = window[n_window]
            window[n_window] = f
        while n_left > n_window:
            n = min(n_left - n_window, BATCH)
            n_left -= n
            n_seen += n
            if limits.is_active:
                n_seen -= count_apart(limits, window + n_left, n, forest.is_tested)
            drawn = window + n_left
            if forest.node_bits != NULL:
                n = _pass_on(drawn, n, &search, forest, batch)
                drawn = batch
            for i in range(n):
                if not (limits.is_active and is_apart(limits, drawn[i], forest.is_tested)):
                    _consider(drawn[i], &search, forest)
    state[0] = random
    return search.best


cdef Py_ssize_t _sort_rows(Split split, const Node* node, const Forest* forest) noexcept nogil:
    """Sort the rows of a node by branch; return the number of branches."""
    cdef const Coded* coded = &forest.coded
    cdef Py_ssize_t f = split.feature
    cdef Py_ssize_t n_listed = coded.indptr[f + 1] - coded.indptr[f]
    cdef Py_ssize_t n_branches = coded.n_codes[f] if coded.is_nominal[f] else 2
    if (
        not coded.is_nominal[f]
        and coded.column[f] < 0
        and n_listed <= 4 * (node.end - node.start)
    ):
        split_listed(
            coded,
            f,
            split.cut,
            node.start,
            node.end,
            node.counts,
            not forest.is_binary[f],
            &forest.counter,
            &forest.splitter,
        )
    else:
        split_by_sorting(
            coded,
            f,
            split.cut,
            node.start,
            node.end,
            n_branches,
            &forest.counter,
            &forest.splitter,
        )
    return n_branches


cdef int _push_children(
    Split split, const Node* node, const Forest* forest, vector[Node]& stack
) except -1 nogil:
    """Split a node and push its children that have enough examples; return how many these are."""
    cdef Py_ssize_t n_branches = _sort_rows(split, node, forest)
    cdef const Branch* branch
    cdef Node child
    cdef Py_ssize_t b
    cdef int n_pushed = 0
    child.depth = node.depth + 1
    child.slot = -1
    child.condition.feature = split.feature
    for b in range(n_branches):
        branch = &forest.splitter.branches[b]
        if branch.counts == 0:
            continue  # no example: not a leaf
        if (
            examples(branch.counts) < forest.min_examples
            or positives(branch.counts) < forest.min_positives
        ):
            continue  # its rules would cover too little
        child.start = branch.start
        child.end = branch.end
        child.counts = branch.counts
        if forest.coded.is_nominal[split.feature]:
            child.condition.low = b
            child.condition.high = b + 1
        elif b == 0:
            child.condition.low = 0
            child.condition.high = split.cut
        else:
            child.condition.low = split.cut
            child.condition.high = forest.coded.n_codes[split.feature]
        if (
            forest.limits.is_active
            and forest.coded.is_nominal[split.feature]
            and is_banned(&forest.limits, child.condition)
        ):
            continue
        stack.push_back(child)
        n_pushed += 1
    return n_pushed


cdef bint _is_open(const Node* node, Py_ssize_t depth_limit) noexcept nogil:
    """Whether a node may be split: it has both classes and is not at the depth limit."""
    cdef uint64_t weight = examples(node.counts)
    return weight >= 2 and 0 < positives(node.counts) < weight and node.depth != depth_limit


cdef int _split_node(
    Split split, Node* node, Py_ssize_t depth_limit, const Forest* forest, vector[Node]& stack
) except -1 nogil:
    """Push the children of a node, the largest with its tally; return their number."""
    cdef int n_pushed = _push_children(split, node, forest, stack)
    cdef Node* child
    cdef Node* largest = NULL
    cdef Node* other = NULL
    cdef Py_ssize_t i, n_rest = 0
    if node.slot < 0:
        return n_pushed
    for i in range(n_pushed):
        child = &stack[stack.size() - 1 - i]
        if not _is_open(child, depth_limit):
            continue
        if largest == NULL or child.end - child.start > largest.end - largest.start:
            child, largest = largest, child
        if child != NULL:
            other = child
    if largest == NULL:
        _drop_tally(node, forest)
        return n_pushed
    if other != NULL:
        n_rest = node.end - node.start - (largest.end - largest.start)
    _hand_tally_on(
        node, largest, other if n_rest and other.end - other.start == n_rest else NULL, forest
    )
    return n_pushed


cdef class _RuleBodies:
    """The distinct bodies that were found, as the columns of a CSR."""

    cdef vector[int64_t] indptr
    cdef vector[int32_t] feature
    cdef vector[int32_t] low
    cdef vector[int32_t] high
    cdef vector[uint64_t] hashes
    cdef vector[uint64_t] table  # all hashes, known ones included; 0 is a free slot
    cdef Py_ssize_t n_keys

    def __cinit__(self, const uint64_t[::1] known_hashes):
        cdef Py_ssize_t i
        self.indptr.push_back(0)
        self.n_keys = known_hashes.shape[0]
        self.table.resize(1 << 12)
        while <Py_ssize_t> self.table.size() < 4 * self.n_keys:
            self.table.resize(2 * self.table.size())
        for i in range(self.n_keys):
            self._add_key(known_hashes[i])

    cdef bint _add_key(self, uint64_t key) noexcept nogil:
        """Add a hash to the table; return whether it is new."""
        cdef uint64_t mask = self.table.size() - 1
        cdef uint64_t slot = key & mask
        while self.table[slot] != 0:
            if self.table[slot] == key:
                return False
            slot = (slot + 1) & mask
        self.table[slot] = key
        return True

    cdef int _enlarge_table(self) except -1 nogil:
        cdef vector[uint64_t] keys
        cdef size_t i
        keys.swap(self.table)
        self.table.resize(4 * keys.size())
        for i in range(keys.size()):
            if keys[i] != 0:
                self._add_key(keys[i])
        return 0

    cdef int add(self, const Condition* body, Py_ssize_t length) except -1 nogil:
        """Add a body; return 1 if it is new, else 0."""
        cdef uint64_t key = hash_body(body, length)
        cdef Py_ssize_t c
        if not self._add_key(key):
            return 0
        self.n_keys += 1
        if 2 * self.n_keys > <Py_ssize_t> self.table.size():
            self._enlarge_table()
        for c in range(length):
            self.feature.push_back(body[c].feature)
            self.low.push_back(body[c].low)
            self.high.push_back(body[c].high)
        self.indptr.push_back(self.feature.size())
        self.hashes.push_back(key)
        return 1


cdef object _to_array(const void* entries, Py_ssize_t n, object dtype):
    array = np.empty(n, dtype=dtype)
    memcpy(<void*> <size_t> array.ctypes.data, entries, array.nbytes)
    return array


def grow_rules(
    coded,
    const double[::1] values,
    const int64_t[::1] values_indptr,
    const uint8_t[::1] is_target,
    const int64_t[::1] draw_order,
    Py_ssize_t bag_size,
    Py_ssize_t n_drawn_features,
    const int64_t[::1] depth_limits,
    Py_ssize_t n_trees,
    const uint64_t[:, ::1] seeds,
    const uint64_t[::1] known_hashes,
    limits=None,
    uint8_t target=PRESENCE,
    const uint64_t[::1] draw_ends=None,
    const uint32_t[::1] weights=None,
    lists=None,
    blocks=None,
):
    """Grow the trees of one label and return the rules that are not known yet.

    Parameters
    ----------
    coded : CodedFeatures
    values, values_indptr : arrays
        Distinct training values of each numeric feature, ascending, as a CSR.
    is_target : (n_rows,) uint8
    draw_order : (n_rows,) int64
        Rows in an order that does not depend on how the table was sorted; bags are drawn from it.
    bag_size : int
        Rows drawn with replacement for each tree.
    n_drawn_features : int
        K, the attributes drawn at each node.
    depth_limits : (n_depths,) int64
        A negative limit is none.
    n_trees : int
        Trees per depth limit and pass.
    seeds : (n_passes, n_depths * n_trees) uint64
    known_hashes : (n_known,) uint64
        Hashes of rules that were emitted before.
    limits : Limits, optional
        What the rules may test. Trees test only usable attributes; rules leave out the bounds on their
        path that they may not have. Nodes that would cover too little are not grown.
    target : {1, 2}
        The class of the rules: presence (1) or absence (2) of the label.
    draw_ends : (n_rows,) uint64, optional
        Position i of the order is drawn with probability (ends[i] - ends[i - 1])/2³².
    weights : (n_rows,) uint32, optional
        What each row counts in a node; together at most 2³² in a bag.
    lists : RowLists, optional
        What `list_features` makes of the table, if there are several calls.
    blocks : CodeBlocks, optional
        What `block_codes` makes of it.

    Returns
    -------
    indptr : (n_rules + 1,) int64
    feature, low, high : (n_conditions,) int32
        The body of each rule: low ≤ code < high on a feature, in the order of the path.
    hashes : (n_rules,) uint64
    tree_of_rule : (n_rules,) int64
        Position of the seed, counted over all passes, of the tree that gave the rule first.
    pass_ends : (n_passes,) int64
        Number of new rules after each pass.
    n_extracted : (n_passes,) int64
        Number of target leaves in each pass, repeated rules included.
    """
    cdef list owner = []
    cdef Forest forest
    lists = list_features(coded, with_dense=True) if lists is None else lists
    forest.coded = borrow(coded)
    forest.values = &values[0]
    forest.values_indptr = &values_indptr[0]
    forest.is_target = &is_target[0]
    forest.draw_order = &draw_order[0]
    forest.draw_ends = NULL
    if draw_ends is not None:
        forest.draw_ends = &draw_ends[0]
    forest.bag_size = bag_size
    forest.n_drawn = n_drawn_features
    cdef Py_ssize_t n_rows = forest.coded.n_rows
    cdef Py_ssize_t n_features = forest.coded.n_features
    forest.counter = make_counter(&forest.coded, owner)
    forest.drawn_once = <uint64_t*> allocate(owner, n_rows * sizeof(uint64_t))
    cdef Py_ssize_t row
    cdef uint64_t weight
    for row in range(n_rows):
        weight = 1 if weights is None else weights[row]
        forest.drawn_once[row] = pack(weight, weight * is_target[row])
    forest.blocks = make_blocks(block_codes(coded) if blocks is None else blocks, owner)
    forest.tally = make_tally(lists, MOST_TALLIES, owner)
    # Attributes are passed over in order, several at a time; entries are not.
    forest.many_rows = n_features * n_rows // (4 * forest.tally.indptr[n_rows] + 1) + 1
    forest.free_slots = <Py_ssize_t*> allocate(owner, MOST_TALLIES * sizeof(Py_ssize_t))
    forest.n_free_slots = <Py_ssize_t*> allocate(owner, sizeof(Py_ssize_t))
    cdef Py_ssize_t most = 1 if weights is None else max(1, np.max(weights))
    forest.splitter = make_splitter(&forest.coded, bag_size * most, owner)
    cdef const uint8_t[::1] is_binary = lists.is_binary.view("u1")
    cdef const uint8_t[::1] is_split_off = lists.is_split_off.view("u1")
    cdef const uint32_t[::1] n_departing = lists.n_departing
    forest.is_binary = &is_binary[0]
    forest.is_split_off = &is_split_off[0]
    forest.positives = <uint32_t*> allocate(owner, n_features * sizeof(uint32_t))
    forest.negatives = <uint32_t*> allocate(owner, n_features * sizeof(uint32_t))
    _count_departing(&forest, &n_departing[0])
    forest.window = <uint32_t*> allocate(owner, n_features * sizeof(uint32_t))
    forest.most_positives = <uint32_t*> allocate(owner, n_features * sizeof(uint32_t))
    forest.most_negatives = <uint32_t*> allocate(owner, n_features * sizeof(uint32_t))
    forest.limits = borrow_limits(limits)
    forest.target = target
    forest.is_tested = <uint8_t*> allocate(owner, n_features)
    cdef uint32_t* usable = <uint32_t*> allocate(owner, n_features * sizeof(uint32_t))
    cdef Py_ssize_t f
    forest.n_usable = 0
    for f in range(n_features):
        if not forest.limits.is_active or forest.limits.lower[f] | forest.limits.upper[f]:
            usable[forest.n_usable] = f
            forest.n_usable += 1
    # A rule that covers n rows is expected to cover this many draws of a bag.
    forest.min_examples = forest.limits.min_covered * bag_size // n_rows
    forest.min_positives = forest.limits.min_tp * bag_size // n_rows
    if draw_ends is not None or weights is not None:
        # What a node counts does not tell how many rows there are.
        forest.min_examples = forest.min_positives = 0
    forest.most_draws = <uint64_t*> allocate(owner, (n_rows + 1) * sizeof(uint64_t))
    memset(forest.most_draws + 1, 0xFF, n_rows * sizeof(uint64_t))
    forest.rows_by_draws = <uint32_t*> allocate(owner, (bag_size + 3) * sizeof(uint32_t))
    cdef NodeBits node_bits
    forest.node_bits = NULL
    # With weights, a row can count more than a bag has draws.
    forest.is_weighed = weights is not None
    if n_drawn_features >= LEAST_DRAWN and not forest.is_weighed:
        node_bits = make_node_bits(lists, is_target, bag_size, owner)
        forest.node_bits = &node_bits
    forest.most_tallied = _find_most_tallied(&forest, &n_departing[0])
    cdef int32_t* slot_of_feature = <int32_t*> allocate(owner, n_features * sizeof(int32_t))
    memset(slot_of_feature, 0xFF, n_features * sizeof(int32_t))

    cdef Py_ssize_t slot
    for slot in range(MOST_TALLIES):
        forest.free_slots[slot] = slot
    forest.n_free_slots[0] = MOST_TALLIES
    cdef Py_ssize_t n_passes = seeds.shape[0]
    cdef Py_ssize_t trees_per_pass = seeds.shape[1]
    pass_ends = np.zeros(n_passes, dtype=np.int64)
    n_extracted = np.zeros(n_passes, dtype=np.int64)
    cdef int64_t[::1] pass_ends_view = pass_ends
    cdef int64_t[::1] n_extracted_view = n_extracted
    cdef _RuleBodies rules = _RuleBodies(known_hashes)
    cdef vector[int64_t] tree_of_rule
    cdef vector[Node] stack
    cdef vector[Condition] path, body
    cdef Py_ssize_t tree, c, length, depth_limit
    cdef uint64_t state, positive
    cdef Node node
    cdef Split split
    with nogil:
        for tree in range(n_passes * trees_per_pass):
            with gil:
                PyErr_CheckSignals()
            depth_limit = depth_limits[tree % trees_per_pass // n_trees]
            state = seeds[tree // trees_per_pass, tree % trees_per_pass]
            stack.push_back(_draw_bag(&state, &forest))
            memcpy(forest.window, usable, forest.n_usable * sizeof(uint32_t))
            while not stack.empty():
                node = stack.back()
                stack.pop_back()
                path.resize(node.depth)
                if node.depth > 0:
                    path[node.depth - 1] = node.condition
                weight = examples(node.counts)
                positive = positives(node.counts)
                split.feature = -1
                if _is_open(&node, depth_limit):
                    _make_tally(&node, &forest)
                    if forest.limits.is_active:
                        for c in range(node.depth):
                            forest.is_tested[path[c].feature] = True
                    split = _find_split(&state, &node, &forest)
                    if forest.limits.is_active:
                        for c in range(node.depth):
                            forest.is_tested[path[c].feature] = False
                if (
                    split.feature >= 0
                    and _split_node(split, &node, depth_limit, &forest, stack) > 0
                ):
                    continue
                _drop_tally(&node, &forest)
                # The root as a leaf would give a rule without conditions, which is not a rule.
                if node.depth > 0 and 2 * positive > weight:
                    body.resize(node.depth)
                    length = merge_conditions(
                        path.data(), node.depth, slot_of_feature, body.data()
                    )
                    if forest.limits.is_active:
                        length = relax_body(
                            &forest.limits, &forest.coded, target, body.data(), length
                        )
                        if length == 0:
                            continue
                    n_extracted_view[tree // trees_per_pass] += 1
                    if rules.add(body.data(), length):
                        tree_of_rule.push_back(tree)
            pass_ends_view[tree // trees_per_pass] = tree_of_rule.size()
    cdef Py_ssize_t n_rules = rules.hashes.size()
    cdef Py_ssize_t n_conditions = rules.feature.size()
    return (
        _to_array(rules.indptr.data(), n_rules + 1, np.int64),
        _to_array(rules.feature.data(), n_conditions, np.int32),
        _to_array(rules.low.data(), n_conditions, np.int32),
        _to_array(rules.high.data(), n_conditions, np.int32),
        _to_array(rules.hashes.data(), n_rules, np.uint64),
        _to_array(tree_of_rule.data(), n_rules, np.int64),
        pass_ends,
        n_extracted,
    )
