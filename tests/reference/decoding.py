"""Oracle: the best of all label sets, known or not, each scored by itself."""

import math
from collections import Counter
from itertools import combinations


def count_sets(rows):
    """``{set of labels: number of rows with exactly that set}`` of 0/1 rows."""
    return Counter(frozenset(j for j, present in enumerate(row) if present) for row in rows)


def frequency_points(count, n_examples, weight):
    """What a set of `count` examples gets for its frequency, in whole hundredths."""
    return round(100 * weight * math.log(count / n_examples))


def decode(counts, points, weight):
    """The label set for one row of points, as a frozenset.

    A known set scores the points of its labels and its frequency. Any other set counts as the
    expected share of new sets, (sets seen once)/n, of one example, and is out of the question if no
    set was seen once. Of sets that score alike a known one wins, the most frequent of them and of
    these the one with the first labels; else the smallest.
    """
    n_examples = sum(counts.values())
    n_singletons = sum(count == 1 for count in counts.values())
    labels = range(len(points))
    best = None
    for size in range(len(points) + 1):
        for chosen in map(frozenset, combinations(labels, size)):
            count = counts.get(chosen, n_singletons / n_examples)
            if count == 0:
                continue
            score = sum(points[j] for j in chosen) + frequency_points(count, n_examples, weight)
            is_known = chosen in counts
            first = [j in chosen for j in labels]
            key = (score, is_known, counts.get(chosen, -size), first)
            if best is None or key > best[0]:
                best = key, chosen
    return best[1]
