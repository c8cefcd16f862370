"""Log-odds as integers: hundredths of log-odds, called points. Knows numbers only.

Sums of integers are exact, so a theory predicts the same in every language it is exported to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.int64]

POINTS_PER_LOG_ODD = 100

# A few thousand examples cannot tell more extreme probabilities apart.
LEAST_PROBABILITY = 1e-4

# A thousandth of a point.
_VOTE_TOLERANCE = 1e-5

# The exponential of more log-odds overflows.
_MOST_LOG_ODDS = 700.0


def probability_to_points(probability: Any) -> Points:
    """Log-odds of a probability, in hundredths.

    Examples
    --------
    >>> probability_to_points([0.5, 0.9, 1.0])
    array([  0, 220, 921])
    """
    p = np.clip(np.asarray(probability, float), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return np.asarray(np.rint(POINTS_PER_LOG_ODD * np.log(p / (1 - p))), dtype=np.int64)


def points_to_probability(points: Any) -> NDArray[np.float64]:
    """The probability behind log-odds in hundredths.

    Examples
    --------
    >>> points_to_probability([0, 220]).round(2)
    array([0.5, 0.9])
    """
    against = np.minimum(-np.asarray(points, float) / POINTS_PER_LOG_ODD, _MOST_LOG_ODDS)
    return np.asarray(1 / (1 + np.exp(against)))


def confidence_to_points(tp: Any, fp: Any, prior: Any) -> Points:
    """Log-odds of a firing rule being right: the m-estimate of its precision with m = 2.

    Examples
    --------
    >>> confidence_to_points(8, 0, 0.1)
    array(152)
    """
    return probability_to_points((tp + 2 * np.asarray(prior)) / (np.asarray(tp) + fp + 2))


def fit_vote(points: Any, is_present: Any) -> int:
    r"""Points to add to those of some rows, fitted to their labels.

    .. math:: \min_w \sum_i \log\left(1 + e^{-z_i (s_i + w)}\right) + \tfrac12 w^2

    for log-odds s, labels z of ±1 and the vote w. The last term shrinks votes of few rows towards 0.

    Examples
    --------
    >>> fit_vote([0] * 10, [True] * 9 + [False])
    124
    >>> fit_vote([], [])
    0
    """
    is_present = np.asarray(is_present, dtype=np.bool_)
    # The slope of the loss grows with the vote and is 0 at the best one. Newton's method can leap to and
    # fro where all probabilities are close to 0 or 1; halving an interval cannot.
    low, high = -float(len(is_present)), float(len(is_present))
    while high - low > _VOTE_TOLERANCE:
        vote = (low + high) / 2
        p = points_to_probability(np.asarray(points, float) + POINTS_PER_LOG_ODD * vote)
        if p.sum() + vote < is_present.sum():
            low = vote
        else:
            high = vote
    return round(POINTS_PER_LOG_ODD * (low + high) / 2)


def format_points(points: int) -> str:
    """Points as log-odds with their sign.

    Examples
    --------
    >>> format_points(152), format_points(-7)
    ('+1.52', '-0.07')
    """
    return f"{points / POINTS_PER_LOG_ODD:+.2f}"
