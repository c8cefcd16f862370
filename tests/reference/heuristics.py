"""Oracle: the value of every heuristic, exact or to fifty digits, from one confusion matrix.

Knows four counts only. 0/0 counts as 0 throughout.
"""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 50


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


def generalized_m_estimate(tp, fp, fn, tn, m, c):
    """(TP + m · c) / (TP + FP + m)."""
    return ratio(tp + Fraction(m) * Fraction(c), tp + fp + Fraction(m))


def cost(tp, fp, fn, tn, c):
    """c · TP - (1 - c) · FP."""
    return Fraction(c) * tp - (1 - Fraction(c)) * fp


def relative_cost(tp, fp, fn, tn, c):
    """c · TP / P - (1 - c) · FP / N; 0 if there are no positives or no negatives."""
    if tp + fn == 0 or fp + tn == 0:
        return Fraction(0)
    return Fraction(c) * ratio(tp, tp + fn) - (1 - Fraction(c)) * ratio(fp, fp + tn)


def odds_ratio(tp, fp, fn, tn):
    """(TP + ½)(TN + ½) / ((FP + ½)(FN + ½))."""
    half = Fraction(1, 2)
    return (tp + half) * (tn + half) / ((fp + half) * (fn + half))


# The rest are irrational: fifty decimal digits instead of fractions.


def klosgen(tp, fp, fn, tn, omega):
    """((TP + FP) / (P + N)) ^ ω · (precision - prior); 0 for a rule that covers nothing."""
    if tp + fp == 0:
        return Decimal(0)
    n_examples = tp + fp + fn + tn
    share = _decimal(Fraction(tp + fp, n_examples))
    gain = Fraction(tp, tp + fp) - Fraction(tp + fn, n_examples)
    return share ** Decimal(omega) * _decimal(gain)


def correlation(tp, fp, fn, tn):
    """The correlation coefficient of two binary variables; 0 if one of them is constant."""
    product = (tp + fn) * (fp + tn) * (tp + fp) * (fn + tn)
    return Decimal(tp * tn - fp * fn) / Decimal(product).sqrt() if product else Decimal(0)


def foil_gain(tp, fp, fn, tn):
    """TP · (log₂ precision - log₂ prior)."""
    if tp == 0:
        return Decimal(0)
    lift = Fraction(tp, tp + fp) / Fraction(tp + fn, tp + fp + fn + tn)
    return tp * _decimal(lift).ln() / Decimal(2).ln()


def _decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)
