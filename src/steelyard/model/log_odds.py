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


def format_points(points: int) -> str:
    """Points as log-odds with their sign.

    Examples
    --------
    >>> format_points(152), format_points(-7)
    ('+1.52', '-0.07')
    """
    return f"{points / POINTS_PER_LOG_ODD:+.2f}"
