"""Random trees on coded features, emitting the rule of every leaf that predicts the target class.

One call grows the trees of a label: bootstrap, draw attributes at each node, take the split with the
best information gain, walk down with an explicit stack, write the body of the path at each target leaf.

Counts travel in packed pairs: see `counting`.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from .bodies import hash_body, merge_path
from .compiling import BORROWING
from .counting import (
    HALF,
    NONE,
    ONE,
    OUTSIDE,
    POSITIVES,
    count_dense,
    count_listed,
    find_binary,
    result_length,
    sum_dense,
    sum_listed,
)
from .gains import best_boundary, cut_code, multiway_gain
from .leaf_rules import Rules, add_key, make_table, with_room
from .partitioning import split_by_sorting, split_listed
from .random import next_below
from .tallying import add_rows, make_tally, remove_rows

# Gains below this (bits per example) count as none; Weka's tolerance.
_MIN_GAIN = 1e-6
# A tally walks over the entries of the node's rows; counting without one, over the lists of the drawn
# attributes. Of all entries, a row has 1/n_rows and an attribute 1/n_features. A tally may cost so
# many times as much as the lists of n_drawn attributes, for small nodes draw many more than those.
_TALLY_PRICE = 3

# What all trees of a call share: memory that is reused, and the table of k·log2(k).
_Space = namedtuple(
    "_Space",
    [
        "pair",  # (n_rows,) packed counts of each row in the bag; 0 is out of it
        "members",  # rows of the bag; every node is a range of it
        "position",  # where in `members` a row is, OUTSIDE if out of the bag
        "buffer",
        "branch",  # branch of each row of the node that is split
        "window",  # attributes; the drawn ones move to the end
        "histogram",  # packed counts by code
        "bitmap",  # which codes of the histogram are in use
        "codes",  # ascending codes that occur in a node ...
        "counts",  # ... and their packed counts
        "ends",  # (start of each child), its packed counts
        "child_counts",
        "is_binary",  # which features have the codes 0 and 1 and no missing value
        "xlogx",
    ],
)


@njit(cache=True, nogil=True)
def _make_space(coded, n_rows, bag_size):
    n_features = len(coded.n_codes)
    most_codes = result_length(coded.n_codes)
    xlogx = np.zeros(bag_size + 1)
    for k in range(2, bag_size + 1):
        xlogx[k] = k * np.log2(k)
    return _Space(
        np.zeros(n_rows, dtype=np.uint64),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(n_rows, dtype=np.int32),
        np.empty(n_features, dtype=np.uint32),
        np.zeros(most_codes, dtype=np.uint64),
        np.zeros((most_codes + 63) >> 6, dtype=np.uint64),
        np.empty(most_codes, dtype=np.int32),
        np.empty(most_codes, dtype=np.uint64),
        np.empty(most_codes, dtype=np.int64),
        np.empty(most_codes, dtype=np.uint64),
        find_binary(coded),
        xlogx,
    )


@njit(**BORROWING)
def _draw_bag(state, draw_order, bag_size, is_target, space):
    """Draw a bag with replacement; returns (number of distinct rows, packed counts of the bag)."""
    pair = space.pair
    pair[:] = NONE
    n_rows = len(is_target)
    for _ in range(bag_size):
        row = draw_order[next_below(state, n_rows)]
        pair[row] += ONE + np.uint64(is_target[row])
    n_members = 0
    total = NONE
    for row in range(n_rows):
        is_drawn = pair[row] != NONE
        space.members[n_members] = row  # of a row that is not drawn the next one takes the place
        space.position[row] = n_members if is_drawn else OUTSIDE
        total += pair[row]
        n_members += is_drawn
    return n_members, total


@njit(forceinline=True, **BORROWING)  # a call costs more than most counts
def _count_codes(coded, f, start, end, total, is_tallied, tally, space):
    """Codes of a feature that occur in the node; returns how many.

    If they are two or more, they are in `codes` and `counts`: fewer allow no split.
    """
    if coded.n_codes[f] < 2:
        return 0
    node = space.members[start:end]
    is_listed = coded.column[f] < 0
    first, last = coded.indptr[f], coded.indptr[f + 1]
    if is_listed and is_tallied and tally.counts[f] == NONE:
        return 1  # the default alone
    if not space.is_binary[f]:
        if is_listed:
            return count_listed(
                coded.rows[first:last],
                coded.codes[first:last],
                coded.default_code[f],
                start,
                end,
                total,
                coded.n_codes[f],
                space,
            )
        return count_dense(coded.dense[coded.column[f]], node, coded.n_codes[f], space)
    if not is_listed:
        ones = sum_dense(coded.dense[coded.column[f]], node, space)
    else:
        if is_tallied:
            ones = tally.counts[f]
        else:
            ones = sum_listed(coded.rows[first:last], start, end, space)
        if coded.default_code[f] == 1:
            ones = total - ones
    space.codes[0] = 0
    space.codes[1] = 1
    space.counts[0] = total - ones
    space.counts[1] = ones
    return 1 if ones in (NONE, total) else 2


@njit(**BORROWING)
def _find_split(
    state, coded, values, values_indptr, n_drawn, start, end, total, most_tallied, tally, space
):
    """Draw attributes and return (feature, cut code) of the best split, or (-1, 0).

    At least `n_drawn` attributes are looked at, and then more until one gives a gain.
    """
    window = space.window
    n_window = len(window)
    node = space.members[start:end]
    is_tallied = len(node) <= most_tallied
    if is_tallied:
        add_rows(tally, node, space.pair)
    best_feature = -1
    best_gain = _MIN_GAIN * (total >> HALF)
    best_cut = 0
    n_seen = 0
    while n_window > 0 and (n_seen < n_drawn or best_feature < 0):
        n_seen += 1
        j = next_below(state, n_window)
        n_window -= 1
        f = window[j]
        window[j] = window[n_window]
        window[n_window] = f
        n = _count_codes(coded, f, start, end, total, is_tallied, tally, space)
        if n < 2:
            continue
        boundary = -1
        if coded.is_nominal[f]:
            gain = multiway_gain(space.counts, n, space.xlogx)
        else:
            gain, boundary = best_boundary(space.counts, n, space.xlogx)
        # Equal gains go to the lower attribute, whatever the order of the draws.
        if gain > best_gain or (gain == best_gain and np.int64(f) < best_feature):
            best_gain = gain
            best_feature = np.int64(f)
            if boundary >= 0:
                best_cut = cut_code(
                    values[values_indptr[f] : values_indptr[f + 1]],
                    space.codes[boundary],
                    space.codes[boundary + 1],
                )
    if is_tallied:
        remove_rows(tally, node)
    return best_feature, best_cut


@njit(cache=True, nogil=True)
def grow_rules(
    coded,
    values,
    values_indptr,
    is_target,
    draw_order,
    bag_size,
    n_drawn_features,
    depth_limits,
    n_trees,
    seeds,
    known_hashes,
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
    n_rows = len(is_target)
    n_features = len(coded.n_codes)
    space = _make_space(coded, n_rows, bag_size)
    tally = make_tally(coded, n_rows)
    most_tallied = _TALLY_PRICE * n_drawn_features * n_rows // max(n_features, 1)
    state = np.empty(1, dtype=np.uint64)
    # Open nodes: rows [start, end), depth, the condition that leads there; packed counts beside.
    stack = np.empty((1024, 6), dtype=np.int32)
    stack_counts = np.empty(1024, dtype=np.uint64)
    path = np.empty((256, 3), dtype=np.int32)
    body = np.empty((256, 3), dtype=np.int32)
    slot_of_feature = np.full(n_features, -1, dtype=np.int32)
    table = make_table(known_hashes, 1 << 12)
    n_keys = len(known_hashes)
    rules = Rules(
        np.zeros(1024, dtype=np.int64),
        np.empty(8192, dtype=np.int32),
        np.empty(8192, dtype=np.int32),
        np.empty(8192, dtype=np.int32),
        np.empty(1024, dtype=np.uint64),
        np.empty(1024, dtype=np.int64),
    )
    n_rules = 0
    n_conditions = 0
    n_passes = seeds.shape[0]
    pass_ends = np.zeros(n_passes, dtype=np.int64)
    n_extracted = np.zeros(n_passes, dtype=np.int64)

    for pass_idx in range(n_passes):
        for tree in range(len(depth_limits) * n_trees):
            depth_limit = depth_limits[tree // n_trees]
            state[0] = seeds[pass_idx, tree]
            n_members, total = _draw_bag(state, draw_order, bag_size, is_target, space)
            for f in range(n_features):
                space.window[f] = f
            stack[0, 0] = 0
            stack[0, 1] = n_members
            stack[0, 2] = 0
            stack_counts[0] = total
            n_open = 1
            while n_open > 0:
                n_open -= 1
                start = stack[n_open, 0]
                end = stack[n_open, 1]
                depth = stack[n_open, 2]
                total = stack_counts[n_open]
                if depth > 0:
                    if depth > len(path):
                        longer = np.empty((2 * len(path), 3), dtype=np.int32)
                        longer[: len(path)] = path
                        path = longer
                        body = np.empty((len(path), 3), dtype=np.int32)
                    path[depth - 1] = stack[n_open, 3:]
                weight = np.int64(total >> HALF)
                positive = np.int64(total & POSITIVES)

                feature = -1
                if weight >= 2 and 0 < positive < weight and depth != depth_limit:
                    feature, cut = _find_split(
                        state,
                        coded,
                        values,
                        values_indptr,
                        n_drawn_features,
                        start,
                        end,
                        total,
                        most_tallied,
                        tally,
                        space,
                    )
                if feature >= 0:
                    nominal = coded.is_nominal[feature]
                    n_branches = coded.n_codes[feature] if nominal else 2
                    first, last = coded.indptr[feature], coded.indptr[feature + 1]
                    listed = coded.column[feature] < 0 and not nominal
                    if listed and last - first <= 4 * (end - start):
                        split_listed(
                            coded.rows[first:last],
                            coded.codes[first:last],
                            coded.default_code[feature],
                            cut,
                            start,
                            end,
                            total,
                            space,
                        )
                    else:
                        split_by_sorting(coded, feature, cut, start, end, n_branches, space)
                    if n_open + n_branches > len(stack):
                        deeper = np.empty((2 * (n_open + n_branches), 6), dtype=np.int32)
                        deeper[:n_open] = stack[:n_open]
                        stack = deeper
                        more_counts = np.empty(len(stack), dtype=np.uint64)
                        more_counts[:n_open] = stack_counts[:n_open]
                        stack_counts = more_counts
                    for b in range(n_branches):
                        if space.child_counts[b] == NONE:
                            continue  # no example: not a leaf
                        if n_branches == 2:
                            stack[n_open, 0] = space.ends[2 * b]
                            stack[n_open, 1] = space.ends[2 * b + 1]
                        else:
                            stack[n_open, 0] = space.ends[b]
                            stack[n_open, 1] = space.ends[b + 1]
                        stack[n_open, 2] = depth + 1
                        stack[n_open, 3] = feature
                        if nominal:
                            stack[n_open, 4] = b
                            stack[n_open, 5] = b + 1
                        else:
                            stack[n_open, 4] = cut if b == 1 else 0
                            stack[n_open, 5] = coded.n_codes[feature] if b == 1 else cut
                        stack_counts[n_open] = space.child_counts[b]
                        n_open += 1
                    continue

                # A leaf. The empty path would give a rule without conditions: that is no rule.
                if depth == 0 or 2 * positive <= weight:
                    continue
                n_extracted[pass_idx] += 1
                length = merge_path(path, depth, body, slot_of_feature)
                key = hash_body(body, length)
                if not add_key(table, key):
                    continue
                n_keys += 1
                if 2 * n_keys > len(table):
                    table = make_table(table, 4 * len(table))
                rules = with_room(rules, n_rules, n_conditions, length)
                for c in range(length):
                    rules.feature[n_conditions] = body[c, 0]
                    rules.low[n_conditions] = body[c, 1]
                    rules.high[n_conditions] = body[c, 2]
                    n_conditions += 1
                rules.hashes[n_rules] = key
                rules.tree[n_rules] = pass_idx * seeds.shape[1] + tree
                n_rules += 1
                rules.indptr[n_rules] = n_conditions
        pass_ends[pass_idx] = n_rules
    return (
        rules.indptr[: n_rules + 1].copy(),
        rules.feature[:n_conditions].copy(),
        rules.low[:n_conditions].copy(),
        rules.high[:n_conditions].copy(),
        rules.hashes[:n_rules].copy(),
        rules.tree[:n_rules].copy(),
        pass_ends,
        n_extracted,
    )
