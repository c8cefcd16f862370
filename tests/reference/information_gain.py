"""Oracle: information gain, in bits, of splitting a node on one attribute.

Rows carry weights (how often the bag holds them); a row of weight 0 is not in the node at all.
Rows with a missing value count as in C4.5: the gain is that of the rows with a known value, times
the share of the weight that these rows have.
"""

import math
from itertools import pairwise

from reference.rules import is_missing


def entropy(class_weights):
    """-Σ p · log₂ p of the classes' shares; 0 for a node without weight."""
    total = sum(class_weights)
    return -sum(w / total * math.log2(w / total) for w in class_weights if w > 0)


def class_weights_of(rows):
    """Total weight of each class among ``(value, class, weight)`` rows."""
    classes = sorted({label for _, label, _ in rows})
    return [math.fsum(w for _, label, w in rows if label == c) for c in classes]


def gain_of_parts(parts):
    """Entropy of the whole minus the weighted mean of the parts' entropies."""
    whole = [row for part in parts for row in part]
    total = math.fsum(w for _, _, w in whole)
    if total == 0:
        return 0.0
    remainder = math.fsum(
        math.fsum(w for _, _, w in part) / total * entropy(class_weights_of(part)) for part in parts
    )
    return entropy(class_weights_of(whole)) - remainder


def known_rows(values, classes, weights):
    """Rows of the node with a known value, and their share of the node's weight."""
    if weights is None:
        weights = [1] * len(values)
    in_node = [row for row in zip(values, classes, weights, strict=True) if row[2] > 0]
    known = [row for row in in_node if not is_missing(row[0])]
    total = math.fsum(w for _, _, w in in_node)
    share = math.fsum(w for _, _, w in known) / total if total > 0 else 0.0
    return known, share


def best_numeric_split(values, classes, weights=None):
    """``(gain, midpoint)`` of the best binary split ``value < midpoint``.

    Every boundary between neighbouring distinct values is tried; of equal gains the lowest
    boundary wins. ``(0.0, None)`` if there is no boundary.
    """
    known, share = known_rows(values, classes, weights)
    distinct = sorted({value for value, _, _ in known})
    best_gain, best_midpoint = 0.0, None
    for low, high in pairwise(distinct):
        below = [row for row in known if row[0] <= low]
        above = [row for row in known if row[0] >= high]
        gain = share * gain_of_parts([below, above])
        if best_midpoint is None or gain > best_gain:
            best_gain, best_midpoint = gain, midpoint(low, high)
    return best_gain, best_midpoint


def midpoint(low, high):
    """A number c with low < c ≤ high, so that ``value < c`` tells the two apart."""
    middle = low / 2 + high / 2  # the sum of two huge values would overflow
    return middle if low < middle <= high else high


def nominal_split_gain(values, classes, weights=None):
    """Gain of the split with one branch per value."""
    known, share = known_rows(values, classes, weights)
    distinct = {value for value, _, _ in known}
    return share * gain_of_parts([[row for row in known if row[0] == v] for v in distinct])
