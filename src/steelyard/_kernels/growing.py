"""Random trees on coded features: every leaf that predicts the target class becomes a rule.

One call grows the trees of a label: draw a bag, draw attributes at each node, take the split with the
largest information gain, descend with an explicit stack, write the body of the path at target leaves.

Counts are packed pairs: see `_counting`.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from ._compiling import BORROWING
from ._conditions import doubled, hash_body, merge_conditions
from ._counting import (
    HALF,
    NONE,
    ONE,
    OUTSIDE,
    POSITIVES,
    add_rows,
    clear_rows,
    count_codes,
    find_binary,
    make_counter,
    make_tally,
    sum_nondefault,
)
from ._random import next_below
from ._splitting import best_boundary, cut_code, multiway_gain, split_by_sorting, split_listed

# Gains below this (bits per example) count as none; Weka's tolerance.
_MIN_GAIN = 1e-6
# A tally walks over the entries of the node's rows; counting without one, over the lists of the drawn
# attributes. Of all entries, a row has 1/n_rows and an attribute 1/n_features. A tally may cost this
# many times the lists of n_drawn attributes, because small nodes draw many more attributes than that.
_TALLY_PRICE = 3

# What all trees of a call share: the data, memory that is used again, and a table of k·log₂(k).
_Forest = namedtuple(
    "_Forest",
    [
        "coded",
        "values",
        "values_indptr",
        "counter",
        "tally",
        "is_binary",  # features with the codes 0 and 1 and no missing value
        "window",  # attributes; the drawn ones move to the end
        "buffer",
        "branch",  # branch of each row of the node that is split
        "bounds",  # (n_branches, 2) the rows of each child, a range of the counter's members ...
        "child_counts",  # ... and its packed counts
        "xlogx",
    ],
)


@njit(cache=True, nogil=True)
def _make_forest(coded, values, values_indptr, n_rows, bag_size):
    counter = make_counter(coded.n_codes, n_rows)
    most_codes = len(counter.codes)
    xlogx = np.zeros(bag_size + 1)
    for k in range(2, bag_size + 1):
        xlogx[k] = k * np.log2(k)
    return _Forest(
        coded,
        values,
        values_indptr,
        counter,
        make_tally(coded, n_rows),
        find_binary(coded),
        np.empty(len(coded.n_codes), dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(n_rows, dtype=np.int32),
        np.empty((most_codes, 2), dtype=np.int64),
        np.empty(most_codes, dtype=np.uint64),
        xlogx,
    )


@njit(**BORROWING)
def _draw_bag(state, draw_order, bag_size, is_target, counter):
    """Draw a bag with replacement; return (number of distinct rows, packed counts of the bag)."""
    pair = counter.pair
    pair[:] = NONE
    n_rows = len(is_target)
    for _ in range(bag_size):
        row = draw_order[next_below(state, n_rows)]
        pair[row] += ONE + np.uint64(is_target[row])
    n_members = 0
    total = NONE
    for row in range(n_rows):
        is_drawn = pair[row] != NONE
        counter.members[n_members] = row  # the next row takes the place of one that is not drawn
        counter.position[row] = n_members if is_drawn else OUTSIDE
        total += pair[row]
        n_members += is_drawn
    return n_members, total


@njit(forceinline=True, **BORROWING)  # a call costs more than most counts
def _count_codes(f, start, end, total, is_tallied, forest):
    """Codes of a feature that occur in the node; return how many.

    If there are two or more, they are in `codes` and `counts`; fewer allow no split.
    """
    coded, counter = forest.coded, forest.counter
    if coded.n_codes[f] < 2:
        return 0
    is_listed = coded.column[f] < 0
    is_tallied = is_tallied and is_listed
    if is_tallied and forest.tally.counts[f] == NONE:
        return 1  # the default alone
    if not forest.is_binary[f]:
        return count_codes(coded, f, start, end, total, counter)
    if is_tallied:
        ones = forest.tally.counts[f]
    else:
        ones = sum_nondefault(coded, f, start, end, counter)
    if is_listed and coded.default_code[f] == 1:
        ones = total - ones
    counter.codes[0] = 0
    counter.codes[1] = 1
    counter.counts[0] = total - ones
    counter.counts[1] = ones
    return 1 if ones in (NONE, total) else 2


@njit(**BORROWING)
def _find_split(state, n_drawn, start, end, total, most_tallied, forest):
    """Draw attributes and return (feature, cut code) of the best split, or (-1, 0).

    It looks at `n_drawn` attributes at least, and then at more until one has a gain.
    """
    coded, counter, window = forest.coded, forest.counter, forest.window
    n_window = len(window)
    node = counter.members[start:end]
    is_tallied = len(node) <= most_tallied
    if is_tallied:
        add_rows(forest.tally, node, counter.pair)
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
        n = _count_codes(f, start, end, total, is_tallied, forest)
        if n < 2:
            continue
        boundary = -1
        if coded.is_nominal[f]:
            gain = multiway_gain(counter.counts, n, forest.xlogx)
        else:
            gain, boundary = best_boundary(counter.counts, n, forest.xlogx)
        # Of equal gains the lower attribute wins, whatever the order of the draws.
        if gain > best_gain or (gain == best_gain and np.int64(f) < best_feature):
            best_gain = gain
            best_feature = np.int64(f)
            if boundary >= 0:
                best_cut = cut_code(
                    forest.values[forest.values_indptr[f] : forest.values_indptr[f + 1]],
                    counter.codes[boundary],
                    counter.codes[boundary + 1],
                )
    if is_tallied:
        clear_rows(forest.tally, node)
    return best_feature, best_cut


@njit(**BORROWING)
def _split(feature, cut, start, end, total, forest):
    """Split a node; return its number of branches."""
    coded = forest.coded
    n_listed = coded.indptr[feature + 1] - coded.indptr[feature]
    if coded.is_nominal[feature]:
        n_branches = np.int64(coded.n_codes[feature])
    else:
        n_branches = np.int64(2)
        if coded.column[feature] < 0 and n_listed <= 4 * (end - start):
            split_listed(coded, feature, cut, start, end, total, forest)
            return n_branches
    split_by_sorting(coded, feature, cut, start, end, n_branches, forest)
    return n_branches


@njit(**BORROWING)
def _add_key(table, key):
    """Add a key to a hash set, where 0 is a free slot; return whether it is new."""
    mask = np.uint64(len(table) - 1)
    slot = key & mask
    while table[slot] != NONE:
        if table[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    table[slot] = key
    return True


@njit(cache=True, nogil=True)
def _make_table(keys):
    """A hash set of the keys that are not 0, at most a quarter full."""
    n_slots = 1 << 12
    while n_slots < 4 * len(keys):
        n_slots *= 2
    table = np.zeros(n_slots, dtype=np.uint64)
    for key in keys:
        if key != NONE:
            _add_key(table, key)
    return table


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
    forest = _make_forest(coded, values, values_indptr, n_rows, bag_size)
    most_tallied = _TALLY_PRICE * n_drawn_features * n_rows // max(n_features, 1)
    state = np.empty(1, dtype=np.uint64)
    # Open nodes: rows [start, end), packed counts, depth, the condition that leads there.
    stack = np.empty((1024, 7), dtype=np.int64)
    path = np.empty((256, 3), dtype=np.int32)
    slot_of_feature = np.full(n_features, -1, dtype=np.int32)
    table = _make_table(known_hashes)
    n_keys = len(known_hashes)
    conditions = np.empty((8192, 3), dtype=np.int32)
    n_conditions = 0
    indptr = np.zeros(1024, dtype=np.int64)
    tree_of_rule = np.empty(1024, dtype=np.int64)
    hashes = np.empty(1024, dtype=np.uint64)
    n_rules = 0
    n_passes, trees_per_pass = seeds.shape
    pass_ends = np.zeros(n_passes, dtype=np.int64)
    n_extracted = np.zeros(n_passes, dtype=np.int64)

    for tree in range(n_passes * trees_per_pass):
        pass_idx, tree_idx = divmod(tree, trees_per_pass)
        depth_limit = depth_limits[tree_idx // n_trees]
        state[0] = seeds[pass_idx, tree_idx]
        n_members, total = _draw_bag(state, draw_order, bag_size, is_target, forest.counter)
        for f in range(n_features):
            forest.window[f] = f
        stack[0, 0] = 0
        stack[0, 1] = n_members
        stack[0, 2] = total
        stack[0, 3] = 0
        n_open = 1
        while n_open > 0:
            n_open -= 1
            start, end, depth = stack[n_open, 0], stack[n_open, 1], stack[n_open, 3]
            total = np.uint64(stack[n_open, 2])
            if depth > len(path):
                path = doubled(path)
            if depth > 0:
                for k in range(3):
                    path[depth - 1, k] = stack[n_open, 4 + k]
            weight = np.int64(total >> HALF)
            positive = np.int64(total & POSITIVES)

            feature = -1
            if weight >= 2 and 0 < positive < weight and depth != depth_limit:
                feature, cut = _find_split(
                    state, n_drawn_features, start, end, total, most_tallied, forest
                )
            if feature >= 0:
                n_branches = _split(feature, cut, start, end, total, forest)
                while n_open + n_branches > len(stack):
                    stack = doubled(stack)
                for b in range(n_branches):
                    if forest.child_counts[b] == NONE:
                        continue  # no example: not a leaf
                    stack[n_open, 0] = forest.bounds[b, 0]
                    stack[n_open, 1] = forest.bounds[b, 1]
                    stack[n_open, 2] = forest.child_counts[b]
                    stack[n_open, 3] = depth + 1
                    stack[n_open, 4] = feature
                    if coded.is_nominal[feature]:
                        stack[n_open, 5] = b
                        stack[n_open, 6] = b + 1
                    else:
                        stack[n_open, 5] = cut if b == 1 else 0
                        stack[n_open, 6] = coded.n_codes[feature] if b == 1 else cut
                    n_open += 1
                continue

            # A leaf. The root as a leaf would give a rule without conditions, which is not a rule.
            if depth == 0 or 2 * positive <= weight:
                continue
            n_extracted[pass_idx] += 1
            while n_conditions + depth > len(conditions):
                conditions = doubled(conditions)
            body = conditions[n_conditions:]
            length = merge_conditions(path, depth, slot_of_feature, body)
            key = hash_body(body, length)
            if not _add_key(table, key):
                continue
            n_keys += 1
            if 2 * n_keys > len(table):
                table = _make_table(table)
            if n_rules + 2 > len(indptr):
                indptr, tree_of_rule = doubled(indptr), doubled(tree_of_rule)
                hashes = doubled(hashes)
            n_conditions += length
            hashes[n_rules] = key
            tree_of_rule[n_rules] = tree
            n_rules += 1
            indptr[n_rules] = n_conditions
        pass_ends[pass_idx] = n_rules
    return (
        indptr[: n_rules + 1].copy(),
        conditions[:n_conditions, 0].copy(),
        conditions[:n_conditions, 1].copy(),
        conditions[:n_conditions, 2].copy(),
        hashes[:n_rules].copy(),
        tree_of_rule[:n_rules].copy(),
        pass_ends,
        n_extracted,
    )
