"""Oracle: the random trees of the candidates, node by node, from the same stream of random numbers.

Rows hold codes (rank of a number, index of a category, -1 for missing), so that a tree is whole
numbers throughout; the distinct values behind a numeric attribute's codes tell where mid-points lie.
"""

import math
from itertools import pairwise

from reference.rules import is_missing
from reference.tree_rules import merge

MIN_GAIN = 1e-6  # bits an example below which a split counts as none
WORD = 2**64 - 1


class SplitMix64:
    """Steele, Lea and Flood's generator; whole numbers below a bound by multiply-shift on 32 bits."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return ((z ^ (z >> 31)) >> 32) * bound >> 32


def grow_tree(table, is_target, draw_order, bag_size, n_drawn, depth_limit, seed, counted=None):
    """One tree on a bootstrap sample, in the form of `reference.tree_rules`.

    Parameters
    ----------
    table : list of (codes, values)
        One entry an attribute: the code of every row, and the distinct values in ascending order or,
        for a nominal attribute, None.
    is_target : list of bool
    draw_order : list of int
        The rows in the order from which bags are drawn; one that stands there twice is drawn twice as
        often.
    bag_size, n_drawn : int
        Rows drawn for the bag; attributes drawn at a node.
    depth_limit : int or None
    seed : int
    counted : list of int, optional
        What each row counts when it is drawn; 1 if it is not given.
    """
    random = SplitMix64(seed)
    weight = [0] * len(is_target)
    for _ in range(bag_size):
        row = draw_order[random.below(len(draw_order))]
        weight[row] += 1 if counted is None else counted[row]
    rows = [row for row, w in enumerate(weight) if w > 0]
    window = list(range(len(table)))
    root = {}
    open_nodes = [(root, rows, 0)]
    while open_nodes:
        node, rows, depth = open_nodes.pop()
        counts = class_counts(rows, weight, is_target)
        split = None
        if 0 not in counts and depth != depth_limit:
            split = find_split(table, rows, weight, is_target, n_drawn, window, random)
        if split is None:
            node["counts"] = counts
            continue
        feature, cut = split
        codes, values = table[feature]
        node["feature"] = feature
        if values is None:
            branches = {c: {} for c in sorted({codes[row] for row in rows} - {-1})}
            node["branches"] = branches
            children = [
                (child, [row for row in rows if codes[row] == code])
                for code, child in branches.items()
            ]
        else:
            node.update({"value": cut, "<": {}, ">=": {}})
            children = [
                (node["<"], [row for row in rows if 0 <= codes[row] < cut]),
                (node[">="], [row for row in rows if codes[row] >= cut]),
            ]
        open_nodes += [(child, part, depth + 1) for child, part in children]
    return root


def class_counts(rows, weight, is_target):
    """How often the bag holds examples of the other and of the target class."""
    n_target = sum(weight[row] for row in rows if is_target[row])
    return [sum(weight[row] for row in rows) - n_target, n_target]


def find_split(table, rows, weight, is_target, n_drawn, window, random):
    """``(feature, cut)`` with the best gain among the drawn attributes, or None.

    Attributes are drawn without replacement until `n_drawn` were seen and one of them gave a gain;
    of equal gains the lower attribute's and its lowest boundary win.
    """
    best_gain, best = MIN_GAIN * sum(class_counts(rows, weight, is_target)), None
    n_left = len(window)
    while n_left > 0 and (len(window) - n_left < n_drawn or best is None):
        j = random.below(n_left)
        n_left -= 1
        window[j], window[n_left] = window[n_left], window[j]
        feature = window[n_left]
        codes, values = table[feature]
        known = [row for row in rows if codes[row] >= 0]
        counts = {
            code: class_counts([row for row in known if codes[row] == code], weight, is_target)
            for code in sorted({codes[row] for row in known})
        }
        if len(counts) < 2:
            continue
        gain, cut = multiway(counts) if values is None else binary(counts, values)
        if gain > best_gain or (gain == best_gain and best is not None and feature < best[0]):
            best_gain, best = gain, (feature, cut)
    return best


def impurity(counts):
    """Entropy times weight: n·log₂ n - Σ nᵢ·log₂ nᵢ."""
    xlogx = [n * math.log2(n) if n > 1 else 0.0 for n in (sum(counts), counts[1], counts[0])]
    return xlogx[0] - xlogx[1] - xlogx[2]


def add(*counts):
    return [sum(column) for column in zip(*counts, strict=True)]


def multiway(counts):
    """Gain, times the known weight, of one branch a code."""
    children = 0.0
    for part in counts.values():
        children += impurity(part)
    return impurity(add(*counts.values())) - children, None


def binary(counts, values):
    """Best gain, times the known weight, of ``code < cut``.

    The cut is the first training value at or above the mid-point of the node's neighbouring values.
    """
    best_gain, best_cut = 0.0, None
    total = add(*counts.values())
    for lower, upper in pairwise(counts):
        left = add([0, 0], *(part for code, part in counts.items() if code <= lower))
        right = [a - b for a, b in zip(total, left, strict=True)]
        gain = impurity(total) - (impurity(left) + impurity(right))
        if gain > best_gain:
            middle = values[lower] / 2 + values[upper] / 2
            best_gain = gain
            best_cut = next(
                c for c in range(lower + 1, upper + 1) if c == upper or values[c] >= middle
            )
    return best_gain, best_cut


def path_to_ranges(path, table):
    """The merged body of a path as ``(feature, low, high)`` with low ≤ code < high."""
    ranges = {}
    for feature, operator, code in merge(path):
        low, high = ranges.get(feature, (0, n_codes(table[feature])))
        if operator == "=":
            low, high = code, code + 1
        ranges[feature] = (
            (code, high) if operator == ">=" else (low, code if operator == "<" else high)
        )
    return [(feature, low, high) for feature, (low, high) in ranges.items()]


def n_codes(attribute):
    codes, values = attribute
    return max(codes) + 1 if values is None else len(values)


def code_table(rows, is_nominal):
    """Rows of values as a table of (codes, values), nominal codes in the order of the sorted texts."""
    table = []
    for column, nominal in zip(zip(*rows, strict=True), is_nominal, strict=True):
        distinct = sorted({value for value in column if not is_missing(value)})
        position = {value: code for code, value in enumerate(distinct)}
        codes = [-1 if is_missing(value) else position[value] for value in column]
        table.append((codes, None if nominal else distinct))
    return table
