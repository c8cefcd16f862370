"""Random trees on coded features, emitting the rule of every leaf that predicts the target class.

One call grows the trees of a label: bootstrap, draw attributes at each node, take the split with the
best information gain, walk down with an explicit stack, write the body of the path at each target leaf.

Counts travel in packed pairs: see `counting`.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from .counting import SMALL_NODE, count_dense, count_listed, find_listed
from .random import mix, next_below

# Gains below this (bits per example) count as none; Weka's tolerance.
_MIN_GAIN = 1e-6
_POSITIVES = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1 << 32)
_NONE = np.uint64(0)
_OUTSIDE = np.uint32(0xFFFFFFFF)

# What all trees of a call share: memory that is reused, and the table of k·log2(k).
_Space = namedtuple(
    "_Space",
    [
        "pair",  # (n_rows,) packed counts of each row in the bag; 0 is out of it
        "members",  # rows of the bag; every node is a range of it
        "position",  # where in `members` a row is, _OUTSIDE if out of the bag
        "buffer",
        "branch",  # branch of each row of the node that is split
        "window",  # attributes; the drawn ones move to the end
        "histogram",  # packed counts by code
        "bitmap",  # which codes of the histogram are in use
        "codes",  # ascending codes that occur in a node ...
        "counts",  # ... and their packed counts
        "ends",  # (start of each child), its packed counts
        "child_counts",
        "xlogx",
    ],
)

_Rules = namedtuple("_Rules", ["indptr", "feature", "low", "high", "hashes", "tree"])


@njit(cache=True, nogil=True)
def _make_space(n_rows, n_features, most_codes, bag_size):
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
        np.empty(max(most_codes, SMALL_NODE) + 1, dtype=np.int32),
        np.empty(max(most_codes, SMALL_NODE) + 1, dtype=np.uint64),
        np.empty(most_codes + 4, dtype=np.int64),
        np.empty(most_codes + 2, dtype=np.uint64),
        xlogx,
    )


@njit(cache=True, nogil=True)
def _draw_bag(state, draw_order, bag_size, is_target, space):
    """Draw a bag with replacement; returns (number of distinct rows, packed counts of the bag)."""
    pair = space.pair
    pair[:] = _NONE
    n_rows = len(is_target)
    for _ in range(bag_size):
        row = draw_order[next_below(state, n_rows)]
        pair[row] += _ONE + np.uint64(is_target[row])
    n_members = 0
    total = _NONE
    for row in range(n_rows):
        if pair[row] != _NONE:
            space.members[n_members] = row
            space.position[row] = n_members
            total += pair[row]
            n_members += 1
        else:
            space.position[row] = _OUTSIDE
    return n_members, total


@njit(cache=True, nogil=True)
def best_boundary(counts, n, xlogx):
    """Best numeric split of the packed counts of ascending codes.

    Returns (gain times known weight, index i): the split lies between the i-th code and the next.
    """
    total = _NONE
    for i in range(n):
        total += counts[i]
    weight = total >> _HALF
    positive = total & _POSITIVES
    impurity = xlogx[weight] - xlogx[positive] - xlogx[weight - positive]
    best = 0.0
    best_i = -1
    passed = _NONE
    for i in range(n - 1):
        passed += counts[i]
        left = passed >> _HALF
        left_positive = passed & _POSITIVES
        right = weight - left
        right_positive = positive - left_positive
        gain = impurity - (
            (xlogx[left] - xlogx[left_positive] - xlogx[left - left_positive])
            + (xlogx[right] - xlogx[right_positive] - xlogx[right - right_positive])
        )
        if gain > best:
            best = gain
            best_i = i
    return best, best_i


@njit(cache=True, nogil=True)
def multiway_gain(counts, n, xlogx):
    """Gain times known weight of the split into one branch per code."""
    total = _NONE
    children = 0.0
    for i in range(n):
        total += counts[i]
        weight = counts[i] >> _HALF
        positive = counts[i] & _POSITIVES
        children += xlogx[weight] - xlogx[positive] - xlogx[weight - positive]
    weight = total >> _HALF
    positive = total & _POSITIVES
    return xlogx[weight] - xlogx[positive] - xlogx[weight - positive] - children


@njit(cache=True, nogil=True)
def cut_code(values, lower, upper):
    """First code at or above the mid-point of two values, given by their codes."""
    middle = values[lower] / 2 + values[upper] / 2
    low = lower + 1
    high = upper
    while low < high:
        half = (low + high) >> 1
        if values[half] < middle:
            low = half + 1
        else:
            high = half
    return low


@njit(cache=True, nogil=True)
def _find_split(state, coded, values, values_indptr, n_drawn, start, end, total, space):
    """Draw attributes and return (feature, cut code) of the best split, or (-1, 0).

    At least `n_drawn` attributes are looked at, and then more until one gives a gain.
    """
    window = space.window
    n_window = len(window)
    node = space.members[start:end]
    best_feature = -1
    best_gain = _MIN_GAIN * (total >> _HALF)
    best_cut = 0
    n_seen = 0
    while n_window > 0 and (n_seen < n_drawn or best_feature < 0):
        n_seen += 1
        j = next_below(state, n_window)
        n_window -= 1
        f = window[j]
        window[j] = window[n_window]
        window[n_window] = f
        n_codes = coded.n_codes[f]
        if n_codes < 2:
            continue
        if coded.column[f] >= 0:
            n = count_dense(coded.dense[coded.column[f]], node, n_codes, space)
        else:
            first, last = coded.indptr[f], coded.indptr[f + 1]
            n = count_listed(
                coded.rows[first:last],
                coded.codes[first:last],
                coded.default_code[f],
                start,
                end,
                total,
                n_codes,
                space,
            )
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
    return best_feature, best_cut


@njit(cache=True, nogil=True)
def _split_listed(rows, row_codes, default_code, cut, start, end, total, space):
    """Split a node on a number of a listed feature by moving only the rows that leave the default.

    Fills `ends` and `child_counts` for the branches below and from the cut on.
    """
    members, position, pair = space.members, space.position, space.pair
    default_branch = 1 if default_code >= cut else 0
    main_end = end
    moved = _NONE
    gone = _NONE
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _split_by_sorting(coded, feature, cut, start, end, n_branches, space):
    """Counting sort of the node's rows into branches; missing ones last, in none of them."""
    _branch_of_rows(coded, feature, cut, start, end, space)
    branch, ends, child_counts, pair = space.branch, space.ends, space.child_counts, space.pair
    members, position, buffer = space.members, space.position, space.buffer
    n = end - start
    child_counts[:n_branches] = _NONE
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
        members[start:end] = buffer[:n]
    for i in range(start, end):
        position[members[i]] = i


@njit(cache=True, nogil=True)
def _merge_path(path, depth, body, slot_of_feature):
    """Conditions of the path, one range an attribute in order of appearance; returns their number."""
    length = 0
    for d in range(depth):
        f = path[d, 0]
        slot = slot_of_feature[f]
        if slot < 0:
            slot_of_feature[f] = length
            body[length] = path[d]
            length += 1
        else:
            body[slot, 1] = max(body[slot, 1], path[d, 1])
            body[slot, 2] = min(body[slot, 2], path[d, 2])
    for c in range(length):
        slot_of_feature[body[c, 0]] = -1
    return length


@njit(cache=True, nogil=True)
def _hash_body(body, length):
    """A key of the conditions that does not depend on their order; never 0."""
    key = np.uint64(0)
    for c in range(length):
        word = mix(np.uint64(body[c, 0]) + np.uint64(0x9E3779B97F4A7C15))
        word = mix(word ^ np.uint64(body[c, 1]))
        key += mix(word + (np.uint64(body[c, 2]) << np.uint64(20)))
    return key if key != np.uint64(0) else np.uint64(1)


@njit(cache=True, nogil=True)
def _add_key(table, key):
    """Put a key into a hash set (0 is a free slot); False if it was there."""
    mask = np.uint64(len(table) - 1)
    slot = key & mask
    while table[slot] != np.uint64(0):
        if table[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    table[slot] = key
    return True


@njit(cache=True, nogil=True)
def _make_table(keys, n_slots):
    while n_slots < 4 * len(keys):
        n_slots *= 2
    table = np.zeros(n_slots, dtype=np.uint64)
    for key in keys:
        if key != np.uint64(0):
            _add_key(table, key)
    return table


@njit(cache=True, nogil=True)
def _with_room(rules, n_rules, n_conditions, length):
    """The rule arrays, doubled where one more rule of `length` conditions would not fit."""
    indptr, feature, low, high, hashes, tree = rules
    if n_rules + 1 >= len(indptr):
        larger = np.empty(2 * len(indptr), dtype=np.int64)
        larger[: n_rules + 1] = indptr[: n_rules + 1]
        indptr = larger
        keys = np.empty(2 * len(hashes), dtype=np.uint64)
        keys[:n_rules] = hashes[:n_rules]
        hashes = keys
        trees = np.empty(len(keys), dtype=np.int64)
        trees[:n_rules] = tree[:n_rules]
        tree = trees
    if n_conditions + length > len(feature):
        size = 2 * (n_conditions + length)
        larger_feature = np.empty(size, dtype=np.int32)
        larger_low = np.empty(size, dtype=np.int32)
        larger_high = np.empty(size, dtype=np.int32)
        larger_feature[:n_conditions] = feature[:n_conditions]
        larger_low[:n_conditions] = low[:n_conditions]
        larger_high[:n_conditions] = high[:n_conditions]
        feature, low, high = larger_feature, larger_low, larger_high
    return _Rules(indptr, feature, low, high, hashes, tree)


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
    both_classes,
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
    both_classes : bool
        Whether every leaf gives a rule, not only those that predict the target class.

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
    n_features = len(coded.n_codes)
    most_codes = 2
    for f in range(n_features):
        most_codes = max(most_codes, coded.n_codes[f])
    space = _make_space(len(is_target), n_features, most_codes, bag_size)
    state = np.empty(1, dtype=np.uint64)
    # Open nodes: rows [start, end), depth, the condition that leads there; packed counts beside.
    stack = np.empty((1024, 6), dtype=np.int32)
    stack_counts = np.empty(1024, dtype=np.uint64)
    path = np.empty((256, 3), dtype=np.int32)
    body = np.empty((256, 3), dtype=np.int32)
    slot_of_feature = np.full(n_features, -1, dtype=np.int32)
    table = _make_table(known_hashes, 1 << 12)
    n_keys = len(known_hashes)
    rules = _Rules(
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
                weight = np.int64(total >> _HALF)
                positive = np.int64(total & _POSITIVES)

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
                        space,
                    )
                if feature >= 0:
                    nominal = coded.is_nominal[feature]
                    n_branches = coded.n_codes[feature] if nominal else 2
                    first, last = coded.indptr[feature], coded.indptr[feature + 1]
                    listed = coded.column[feature] < 0 and not nominal
                    if listed and last - first <= 4 * (end - start):
                        _split_listed(
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
                        _split_by_sorting(coded, feature, cut, start, end, n_branches, space)
                    if n_open + n_branches > len(stack):
                        deeper = np.empty((2 * (n_open + n_branches), 6), dtype=np.int32)
                        deeper[:n_open] = stack[:n_open]
                        stack = deeper
                        more_counts = np.empty(len(stack), dtype=np.uint64)
                        more_counts[:n_open] = stack_counts[:n_open]
                        stack_counts = more_counts
                    for b in range(n_branches):
                        if space.child_counts[b] == _NONE:
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
                if depth == 0 or (2 * positive <= weight and not both_classes):
                    continue
                n_extracted[pass_idx] += 1
                length = _merge_path(path, depth, body, slot_of_feature)
                key = _hash_body(body, length)
                if not _add_key(table, key):
                    continue
                n_keys += 1
                if 2 * n_keys > len(table):
                    table = _make_table(table, 4 * len(table))
                rules = _with_room(rules, n_rules, n_conditions, length)
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
