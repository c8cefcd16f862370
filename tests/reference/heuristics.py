"""Oracle: the value of every heuristic as an exact fraction, from one confusion matrix.

Knows four counts only. 0/0 counts as 0 throughout.
"""

import math
from fractions import Fraction


def ratio(numerator, denominator):
    """numerator / denominator, where 0/0 is 0."""
    if denominator == 0:
        assert numerator == 0, "only 0/0 has a convention"
        return Fraction(0)
    return Fraction(numerator) / Fraction(denominator)


def precision(tp, fp, fn, tn):
    """TP / (TP + FP)."""
    return ratio(tp, tp + fp)


def recall(tp, fp, fn, tn):
    """TP / (TP + FN)."""
    return ratio(tp, tp + fn)


def f_measure(tp, fp, fn, tn, beta=1):
    """(β² + 1) / (β² / recall + 1 / precision); β = ∞ is its limit, recall."""
    if beta == math.inf:
        return recall(tp, fp, fn, tn)
    if tp == 0:
        return Fraction(0)  # precision and recall are both 0, and so is any mean of them
    beta_squared = Fraction(beta) ** 2
    return (beta_squared + 1) / (
        beta_squared / recall(tp, fp, fn, tn) + 1 / precision(tp, fp, fn, tn)
    )


def m_estimate(tp, fp, fn, tn, m):
    """(TP + m · P / (P + N)) / (TP + FP + m)."""
    prior = ratio(tp + fn, tp + fp + fn + tn)
    return ratio(tp + Fraction(m) * prior, tp + fp + Fraction(m))


def wra(tp, fp, fn, tn):
    """(TP + FP) / (P + N) · (TP / (TP + FP) - P / (P + N)), between -1/4 and 1/4."""
    n_examples = tp + fp + fn + tn
    prior = ratio(tp + fn, n_examples)
    return ratio(tp + fp, n_examples) * (precision(tp, fp, fn, tn) - prior)


def accuracy(tp, fp, fn, tn):
    """(TP + TN) / (P + N)."""
    return ratio(tp + tn, tp + fp + fn + tn)


def laplace(tp, fp, fn, tn):
    """(TP + 1) / (TP + FP + 2)."""
    return Fraction(tp + 1, tp + fp + 2)
