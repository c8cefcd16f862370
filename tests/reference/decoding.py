"""Oracle: the best of all label sets, known or not, each scored by itself; or the votes of all."""

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations


def count_sets(rows):
    """``{set of labels: number of rows with exactly that set}`` of 0/1 rows."""
    return Counter(frozenset(j for j, present in enumerate(row) if present) for row in rows)


def frequency_points(counts, chosen, weight):
    """What a known set gets for being more frequent than by chance, in whole hundredths."""
    n_examples = sum(counts.values())
    excess = math.log(counts[chosen] / n_examples)
    for label in range(1 + max((j for labels in counts for j in labels), default=-1)):
        share = sum(count for labels, count in counts.items() if label in labels) / n_examples
        share = min(max(share, 1e-4), 1 - 1e-4)
        excess -= math.log(share if label in chosen else 1 - share)
    return round(100 * weight * excess)


def new_points(counts, weight):
    """What a set gets that need not be known: the share of sets seen once; None if there is none."""
    n_singletons = sum(count == 1 for count in counts.values())
    return (
        round(100 * weight * math.log(n_singletons / sum(counts.values())))
        if n_singletons
        else None
    )


def decode(counts, points, weight, new_sets=True):
    """The label set for one row of points, as a frozenset.

    A known set scores the points of its labels and its frequency. Any set, known or not, may also count
    as new, if new sets are wanted and there are sets that were seen once. Of sets that score alike one
    that counts as known wins, the most frequent of them and of these the one with the first labels; else
    the smallest.
    """
    new = new_points(counts, weight) if new_sets else None
    labels = range(len(points))
    ways = []
    for size in range(len(points) + 1):
        for chosen in map(frozenset, combinations(labels, size)):
            fit = sum(points[j] for j in chosen)
            first = [j in chosen for j in labels]
            if chosen in counts:
                score = fit + frequency_points(counts, chosen, weight)
                ways.append(((score, True, counts[chosen], first), chosen))
            if new is not None:
                ways.append(((fit + new, False, -size, first), chosen))
    return max(ways, key=lambda way: way[0])[1]


def count_votes(counts, points, weight):
    """The votes of the known sets and of the labels with positive points, each with its set."""
    scores = [
        (sum(points[j] for j in chosen) + frequency_points(counts, chosen, weight), chosen)
        for chosen in counts
    ]
    new = new_points(counts, weight)
    if new is not None:
        positive = frozenset(j for j, of_label in enumerate(points) if of_label > 0)
        scores.append((sum(points[j] for j in positive) + new, positive))
    best = max(score for score, _ in scores)
    return [(exact_votes(best - score), chosen) for score, chosen in scores]


def share_votes(counts, points, weight):
    """Each label's share of the votes of the known sets and of the labels with positive points."""
    votes = count_votes(counts, points, weight)
    n_votes = sum(vote for vote, _ in votes)
    return [
        Fraction(sum(vote for vote, chosen in votes if j in chosen), n_votes)
        for j in range(len(points))
    ]


def exact_votes(lack):
    """A million times e^(-lack/100), in decimals of which as many are right as are asked for."""
    return round(1_000_000 * (Decimal(-lack) / 100).exp())


def expected_f1(counts, points, weight):
    """``{set of labels: its expected F1}`` of all sets, if label sets are as likely as their votes."""
    votes = count_votes(counts, points, weight)
    n_votes = sum(vote for vote, _ in votes)
    expected = {}
    for size in range(len(points) + 1):
        for predicted in map(frozenset, combinations(range(len(points)), size)):
            total = sum(vote * f1_of_sets(predicted, truth) for vote, truth in votes)
            expected[predicted] = total / n_votes
    return expected


def f1_of_sets(predicted, truth):
    """F1 of one example; 1 if nothing is there and nothing predicted."""
    if not predicted and not truth:
        return Fraction(1)
    return Fraction(2 * len(predicted & truth), len(predicted) + len(truth))
