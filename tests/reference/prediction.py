"""Oracle: scores of labels for one row, for every way to combine rules, and the labels that follow.

A rule is ``(label index, target class, body, tp, fp, points)``; a label is ``(target class, uncovered
positives, uncovered negatives)``. Scores are exact: fractions, or integers where rules vote.
"""

import math
from fractions import Fraction

from reference.rules import covers


def predict(rows, rules, targets):
    """Predict a 0/1 label vector for every row.

    ``rules`` is a list of ``(label index, body)``, the kept rules in any order; ``targets[i]`` is
    the target class of label i. A label gets its target class if any of its rules covers the row,
    else the other class.
    """
    predictions = []
    for row in rows:
        prediction = [1 - target for target in targets]
        for label, body in rules:
            if covers(body, row):
                prediction[label] = targets[label]
        predictions.append(prediction)
    return predictions


def smoothed(tp, fp):
    """(TP + 1)/(TP + FP + 2)."""
    return Fraction(tp + 1, tp + fp + 2)


def firing_rules(row, rules, label):
    """The rules of one label that cover the row."""
    return [rule for rule in rules if rule[0] == label and covers(rule[2], row)]


def score_any_rule(row, rules, labels):
    """The best smoothed precision of a firing rule, or how sure silence is of the other class."""
    scores = []
    for j, (target, positives, negatives) in enumerate(labels):
        sure = [smoothed(tp, fp) for _, _, _, tp, fp, _ in firing_rules(row, rules, j)]
        score = max(sure) if sure else smoothed(positives, negatives) - 1
        scores.append(score if target else -score)
    return scores


def score_first_rule(row, rules, labels, order):
    """1 for the first label in the order with a firing rule, or for the last one; 0 for the others."""
    for j in order:
        if firing_rules(row, rules, j) or j == order[-1]:
            return [int(i == j) for i in range(len(labels))]
    raise AssertionError


def score_strongest_vote(row, rules, labels, start):
    """The most points of a firing rule, with the sign of the target class; the start without one."""
    scores = []
    for j, (target, *_) in enumerate(labels):
        points = [rule[5] for rule in firing_rules(row, rules, j)]
        scores.append((max(points) if target else -max(points)) if points else start[j])
    return scores


def score_sum_of_votes(row, rules, labels, start):
    """The start and the points of all firing rules; those of rules for absence are subtracted."""
    scores = list(start)
    for j in range(len(labels)):
        for _, target, _, _, _, points in firing_rules(row, rules, j):
            scores[j] += points if target else -points
    return scores


def probability_to_points(probability):
    """Hundredths of log-odds, of probabilities that are not closer to 0 or 1 than 1e-4."""
    p = min(max(probability, 1e-4), 1 - 1e-4)
    return round(100 * math.log(p / (1 - p)))


def choose_each(scores, cuts):
    """The labels with a score above their cut, as a set."""
    return frozenset(
        j for j, (score, cut) in enumerate(zip(scores, cuts, strict=True)) if score > cut
    )


def choose_best(scores):
    """The label with the highest score, the first of equals, as a set."""
    return frozenset([scores.index(max(scores))])
