"""Random trees on coded features, emitting the rule of every leaf that predicts the target class.

One call grows all trees of a label's pass: bootstrap, draw attributes, take the split with the best
information gain, walk down with an explicit stack, write the body of the path at each target leaf.
"""

import numpy as np
from numba import njit

from .bits import trailing_zeros
from .random import mix, next_below

# Gains below this (bits per example) count as none; Weka's tolerance.
_MIN_GAIN = 1e-6
# Nodes up to this many examples are sorted by insertion; above it a histogram over codes is cheaper.
_SMALL_NODE = 24


@njit(cache=True, nogil=True, inline="always")
def _find_listed(rows, start, end, row):
    """Position of `row` in the ascending rows[start:end], or -1."""
    stop = end
    while start < end:
        middle = (start + end) >> 1
        if rows[middle] < row:
            start = middle + 1
        else:
            end = middle
    if start < stop and rows[start] == row:
        return start
    return -1


@njit(cache=True, nogil=True)
def _insert(occupied, n_occupied, code, weight, positive):
    """Add an example to the ascending list of occupied codes; returns its new length."""
    codes, weights, positives = occupied
    i = n_occupied
    while i > 0 and codes[i - 1] > code:
        i -= 1
    if i > 0 and codes[i - 1] == code:
        weights[i - 1] += weight
        positives[i - 1] += positive
        return n_occupied
    for j in range(n_occupied, i, -1):
        codes[j] = codes[j - 1]
        weights[j] = weights[j - 1]
        positives[j] = positives[j - 1]
    codes[i] = code
    weights[i] = weight
    positives[i] = positive
    return n_occupied + 1


@njit(cache=True, nogil=True)
def _drain_histogram(histogram, occupied, n_codes):
    """Move the occupied codes of the histogram, ascending, into the list and leave it empty."""
    weights, positives, bitmap = histogram
    out_codes, out_weights, out_positives = occupied
    n = 0
    for w in range((n_codes + 63) >> 6):
        word = bitmap[w]
        bitmap[w] = np.uint64(0)
        while word != np.uint64(0):
            code = (w << 6) + trailing_zeros(word)
            word &= word - np.uint64(1)
            out_codes[n] = code
            out_weights[n] = weights[code]
            out_positives[n] = positives[code]
            weights[code] = 0
            positives[code] = 0
            n += 1
    return n


@njit(cache=True, nogil=True)
def _count_dense(codes, node, weight, positive, histogram, occupied, n_codes):
    """List the codes of a dense feature that occur in the node, ascending, with their counts."""
    n = 0
    if len(node) <= _SMALL_NODE:
        for row in node:
            code = codes[row]
            if code >= 0:
                n = _insert(occupied, n, code, weight[row], positive[row])
        return n
    weights, positives, bitmap = histogram
    for row in node:
        code = codes[row]
        if code >= 0:
            weights[code] += weight[row]
            positives[code] += positive[row]
            bitmap[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return _drain_histogram(histogram, occupied, n_codes)


@njit(cache=True, nogil=True)
def _count_listed(
    rows,
    codes,
    first,
    last,
    default_code,
    node,
    node_start,
    node_weight,
    node_positive,
    position,
    weight,
    positive,
    histogram,
    occupied,
    n_codes,
):
    """List the codes of a listed feature that occur in the node, ascending, with their counts."""
    weights, positives, bitmap = histogram
    rest_weight = node_weight
    rest_positive = node_positive
    found = False
    # Walk over whichever is shorter: the listed rows, or the node's rows with a search in the list.
    if last - first <= 8 * len(node):
        for e in range(first, last):
            row = rows[e]
            p = position[row] - node_start
            if 0 <= p < len(node):
                rest_weight -= weight[row]
                rest_positive -= positive[row]
                code = codes[e]
                if code >= 0:
                    found = True
                    weights[code] += weight[row]
                    positives[code] += positive[row]
                    bitmap[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    else:
        for row in node:
            e = _find_listed(rows, first, last, row)
            if e >= 0:
                rest_weight -= weight[row]
                rest_positive -= positive[row]
                code = codes[e]
                if code >= 0:
                    found = True
                    weights[code] += weight[row]
                    positives[code] += positive[row]
                    bitmap[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    if not found:
        return 1  # one code only: nothing to split
    if rest_weight > 0:
        weights[default_code] += rest_weight
        positives[default_code] += rest_positive
        bitmap[default_code >> 6] |= np.uint64(1) << np.uint64(default_code & 63)
    return _drain_histogram(histogram, occupied, n_codes)


@njit(cache=True, nogil=True)
def best_boundary(occupied, n_occupied, xlogx):
    """Best numeric split of a list of occupied codes.

    Returns (gain times known weight, index i): the split lies between the i-th and the next code.
    `xlogx[k]` is k·log2(k).
    """
    _, weights, positives = occupied
    total = np.int64(0)
    total_positive = np.int64(0)
    for i in range(n_occupied):
        total += weights[i]
        total_positive += positives[i]
    impurity = xlogx[total] - xlogx[total_positive] - xlogx[total - total_positive]
    best = 0.0
    best_i = -1
    left = np.int64(0)
    left_positive = np.int64(0)
    for i in range(n_occupied - 1):
        left += weights[i]
        left_positive += positives[i]
        right = total - left
        right_positive = total_positive - left_positive
        gain = impurity - (
            (xlogx[left] - xlogx[left_positive] - xlogx[left - left_positive])
            + (xlogx[right] - xlogx[right_positive] - xlogx[right - right_positive])
        )
        if gain > best:
            best = gain
            best_i = i
    return best, best_i


@njit(cache=True, nogil=True)
def multiway_gain(occupied, n_occupied, xlogx):
    """Gain times known weight of the split into one branch per occupied code."""
    _, weights, positives = occupied
    total = np.int64(0)
    total_positive = np.int64(0)
    children = 0.0
    for i in range(n_occupied):
        total += weights[i]
        total_positive += positives[i]
        children += xlogx[weights[i]] - xlogx[positives[i]] - xlogx[weights[i] - positives[i]]
    impurity = xlogx[total] - xlogx[total_positive] - xlogx[total - total_positive]
    return impurity - children


@njit(cache=True, nogil=True, inline="always")
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
def _node_codes(coded, feature, node, out):
    """Code of every row of the node on a feature."""
    n_codes, is_nominal, column, dense, default_code, indptr, rows, codes = coded
    if column[feature] >= 0:
        source = dense[column[feature]]
        for i in range(len(node)):
            out[i] = source[node[i]]
    else:
        first = indptr[feature]
        last = indptr[feature + 1]
        for i in range(len(node)):
            e = _find_listed(rows, first, last, node[i])
            out[i] = codes[e] if e >= 0 else default_code[feature]


@njit(cache=True, nogil=True)
def _grow_int32(array, size):
    larger = np.empty(size, dtype=np.int32)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True)
def _rehash(table, n_slots):
    larger = np.zeros(n_slots, dtype=np.uint64)
    mask = np.uint64(n_slots - 1)
    for key in table:
        if key != np.uint64(0):
            slot = key & mask
            while larger[slot] != np.uint64(0):
                slot = (slot + np.uint64(1)) & mask
            larger[slot] = key
    return larger


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
    pass_ends : (n_passes,) int64
        Number of new rules after each pass.
    n_extracted : (n_passes,) int64
        Number of target leaves in each pass, repeated rules included.
    """
    n_codes, is_nominal, column, dense, default_code, list_indptr, list_rows, list_codes = coded
    n_rows = len(is_target)
    n_features = len(n_codes)
    most_codes = 1
    for f in range(n_features):
        most_codes = max(most_codes, n_codes[f])

    xlogx = np.zeros(bag_size + 1)
    for k in range(2, bag_size + 1):
        xlogx[k] = k * np.log2(k)

    # Work space, reused by all trees.
    weight = np.zeros(n_rows, dtype=np.int32)
    positive = np.zeros(n_rows, dtype=np.int32)
    members = np.empty(n_rows, dtype=np.int32)
    buffer = np.empty(n_rows, dtype=np.int32)
    row_codes = np.empty(n_rows, dtype=np.int32)
    position = np.empty(n_rows, dtype=np.int32)
    window = np.empty(n_features, dtype=np.int32)
    histogram = (
        np.zeros(most_codes, dtype=np.int32),
        np.zeros(most_codes, dtype=np.int32),
        np.zeros((most_codes + 63) >> 6, dtype=np.uint64),
    )
    occupied = (
        np.empty(most_codes + 1, dtype=np.int32),
        np.empty(most_codes + 1, dtype=np.int32),
        np.empty(most_codes + 1, dtype=np.int32),
    )
    child_start = np.empty(most_codes + 1, dtype=np.int64)
    state = np.empty(1, dtype=np.uint64)
    # Stack of open nodes: rows [start, end), depth, and the condition that leads there. A split
    # leaves at most `most_codes` children and each level keeps its siblings, so it is grown on need.
    stack = np.empty((1024, 6), dtype=np.int32)
    path = np.empty((256, 3), dtype=np.int32)
    body = np.empty((256, 3), dtype=np.int32)
    slot_of_feature = np.full(n_features, -1, dtype=np.int32)

    n_slots = 1 << 12
    while n_slots < 4 * len(known_hashes):
        n_slots <<= 1
    table = np.zeros(n_slots, dtype=np.uint64)
    n_keys = len(known_hashes)
    mask = np.uint64(n_slots - 1)
    for key in known_hashes:
        slot = key & mask
        while table[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        table[slot] = key

    n_passes = seeds.shape[0]
    n_rules = 0
    n_conditions = 0
    hashes = np.empty(1024, dtype=np.uint64)
    indptr = np.zeros(1025, dtype=np.int64)
    out_feature = np.empty(8192, dtype=np.int32)
    out_low = np.empty(8192, dtype=np.int32)
    out_high = np.empty(8192, dtype=np.int32)
    pass_ends = np.zeros(n_passes, dtype=np.int64)
    n_extracted = np.zeros(n_passes, dtype=np.int64)

    for pass_idx in range(n_passes):
        for tree in range(len(depth_limits) * n_trees):
            depth_limit = depth_limits[tree // n_trees]
            state[0] = seeds[pass_idx, tree]

            # Bootstrap: members are the distinct drawn rows, weight says how often.
            weight[:] = 0
            for _ in range(bag_size):
                weight[draw_order[next_below(state, n_rows)]] += 1
            n_members = 0
            for row in range(n_rows):
                positive[row] = weight[row] if is_target[row] else 0
                if weight[row] > 0:
                    members[n_members] = row
                    position[row] = n_members
                    n_members += 1
                else:
                    position[row] = -1
            for f in range(n_features):
                window[f] = f

            stack[0, 0] = 0
            stack[0, 1] = n_members
            stack[0, 2] = 0
            n_open = 1
            while n_open > 0:
                n_open -= 1
                start = stack[n_open, 0]
                end = stack[n_open, 1]
                depth = stack[n_open, 2]
                if depth > 0:
                    if depth > len(path):
                        longer = np.empty((2 * len(path), 3), dtype=np.int32)
                        longer[: len(path)] = path
                        path = longer
                        body = np.empty((len(path), 3), dtype=np.int32)
                    path[depth - 1, 0] = stack[n_open, 3]
                    path[depth - 1, 1] = stack[n_open, 4]
                    path[depth - 1, 2] = stack[n_open, 5]
                node = members[start:end]
                node_weight = np.int64(0)
                node_positive = np.int64(0)
                for row in node:
                    node_weight += weight[row]
                    node_positive += positive[row]

                best_feature = -1
                best_gain = _MIN_GAIN * node_weight
                best_cut = 0
                pure = node_positive == 0 or node_positive == node_weight
                if node_weight >= 2 and not pure and depth != depth_limit:
                    n_window = n_features
                    drawn = 0
                    while n_window > 0 and (drawn < n_drawn_features or best_feature < 0):
                        drawn += 1
                        j = next_below(state, n_window)
                        n_window -= 1
                        f = window[j]
                        window[j] = window[n_window]
                        window[n_window] = f
                        if n_codes[f] < 2:
                            continue
                        if column[f] >= 0:
                            n_occupied = _count_dense(
                                dense[column[f]],
                                node,
                                weight,
                                positive,
                                histogram,
                                occupied,
                                n_codes[f],
                            )
                        else:
                            n_occupied = _count_listed(
                                list_rows,
                                list_codes,
                                list_indptr[f],
                                list_indptr[f + 1],
                                default_code[f],
                                node,
                                start,
                                node_weight,
                                node_positive,
                                position,
                                weight,
                                positive,
                                histogram,
                                occupied,
                                n_codes[f],
                            )
                        if n_occupied < 2:
                            continue
                        boundary = -1
                        if is_nominal[f]:
                            gain = multiway_gain(occupied, n_occupied, xlogx)
                        else:
                            gain, boundary = best_boundary(occupied, n_occupied, xlogx)
                        # Equal gains go to the lower attribute, whatever the order of the draws.
                        if gain > best_gain or (gain == best_gain and f < best_feature):
                            best_gain = gain
                            best_feature = f
                            if boundary >= 0:
                                best_cut = cut_code(
                                    values[values_indptr[f] : values_indptr[f + 1]],
                                    occupied[0][boundary],
                                    occupied[0][boundary + 1],
                                )

                if best_feature >= 0:
                    _node_codes(coded, best_feature, node, row_codes)
                    if is_nominal[best_feature]:
                        n_branches = n_codes[best_feature]
                    else:
                        n_branches = 2
                        for i in range(end - start):
                            if row_codes[i] >= 0:
                                row_codes[i] = 1 if row_codes[i] >= best_cut else 0
                    # Counting sort of the rows into branches; missing ones last, in no branch.
                    child_start[: n_branches + 1] = 0
                    for i in range(end - start):
                        if row_codes[i] >= 0:
                            child_start[row_codes[i] + 1] += 1
                    for b in range(n_branches):
                        child_start[b + 1] += child_start[b]
                    n_known = child_start[n_branches]
                    if n_open + n_branches > len(stack):
                        deeper = np.empty((2 * (n_open + n_branches), 6), dtype=np.int32)
                        deeper[:n_open] = stack[:n_open]
                        stack = deeper
                    for b in range(n_branches):
                        first = child_start[b]
                        last = child_start[b + 1]
                        if last == first:
                            continue  # no example: not a leaf
                        stack[n_open, 0] = start + first
                        stack[n_open, 1] = start + last
                        stack[n_open, 2] = depth + 1
                        stack[n_open, 3] = best_feature
                        if is_nominal[best_feature]:
                            stack[n_open, 4] = b
                            stack[n_open, 5] = b + 1
                        else:
                            stack[n_open, 4] = best_cut if b == 1 else 0
                            stack[n_open, 5] = n_codes[best_feature] if b == 1 else best_cut
                        n_open += 1
                    n_missing = 0
                    for i in range(end - start):
                        b = row_codes[i]
                        if b >= 0:
                            buffer[child_start[b]] = node[i]
                            child_start[b] += 1
                        else:
                            buffer[n_known + n_missing] = node[i]
                            n_missing += 1
                    for i in range(end - start):
                        row = buffer[i]
                        members[start + i] = row
                        position[row] = start + i
                    continue

                # A leaf. The body of the empty path would be a rule without conditions: not a rule.
                if 2 * node_positive <= node_weight or depth == 0:
                    continue
                n_extracted[pass_idx] += 1
                length = 0
                for d in range(depth):
                    f = path[d, 0]
                    slot_in_body = slot_of_feature[f]
                    if slot_in_body < 0:
                        slot_of_feature[f] = length
                        body[length, 0] = f
                        body[length, 1] = path[d, 1]
                        body[length, 2] = path[d, 2]
                        length += 1
                    else:
                        body[slot_in_body, 1] = max(body[slot_in_body, 1], path[d, 1])
                        body[slot_in_body, 2] = min(body[slot_in_body, 2], path[d, 2])
                # A sum of scrambled conditions does not depend on their order.
                key = np.uint64(0)
                for c in range(length):
                    slot_of_feature[body[c, 0]] = -1
                    word = mix(np.uint64(body[c, 0]) + np.uint64(0x9E3779B97F4A7C15))
                    word = mix(word ^ np.uint64(body[c, 1]))
                    key += mix(word + (np.uint64(body[c, 2]) << np.uint64(20)))
                if key == np.uint64(0):
                    key = np.uint64(1)  # 0 marks a free slot of the table
                slot = key & mask
                while table[slot] != np.uint64(0) and table[slot] != key:
                    slot = (slot + np.uint64(1)) & mask
                if table[slot] == key:
                    continue
                table[slot] = key
                n_keys += 1
                if 2 * n_keys > n_slots:
                    n_slots *= 4
                    mask = np.uint64(n_slots - 1)
                    table = _rehash(table, n_slots)
                if n_rules == len(hashes):
                    more_hashes = np.empty(2 * n_rules, dtype=np.uint64)
                    more_hashes[:n_rules] = hashes
                    hashes = more_hashes
                    more_indptr = np.empty(2 * n_rules + 1, dtype=np.int64)
                    more_indptr[: n_rules + 1] = indptr
                    indptr = more_indptr
                if n_conditions + length > len(out_feature):
                    size = 2 * (n_conditions + length)
                    out_feature = _grow_int32(out_feature, size)
                    out_low = _grow_int32(out_low, size)
                    out_high = _grow_int32(out_high, size)
                for c in range(length):
                    out_feature[n_conditions] = body[c, 0]
                    out_low[n_conditions] = body[c, 1]
                    out_high[n_conditions] = body[c, 2]
                    n_conditions += 1
                hashes[n_rules] = key
                n_rules += 1
                indptr[n_rules] = n_conditions
        pass_ends[pass_idx] = n_rules
    return (
        indptr[: n_rules + 1].copy(),
        out_feature[:n_conditions].copy(),
        out_low[:n_conditions].copy(),
        out_high[:n_conditions].copy(),
        hashes[:n_rules].copy(),
        pass_ends,
        n_extracted,
    )
