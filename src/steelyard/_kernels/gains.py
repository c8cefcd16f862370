"""Packed counts by code → information gain of the split they allow.

Counts travel in packed pairs: see `counting`. A gain is in bits, times the weight of the known rows.
"""

from numba import njit

from .compiling import BORROWING
from .counting import HALF, NONE, POSITIVES


@njit(**BORROWING)
def best_boundary(counts, n, xlogx):
    """Best numeric split of the packed counts of ascending codes.

    Returns (gain times known weight, index i): the split lies between the i-th code and the next.
    """
    total = NONE
    for i in range(n):
        total += counts[i]
    weight = total >> HALF
    positive = total & POSITIVES
    impurity = xlogx[weight] - xlogx[positive] - xlogx[weight - positive]
    best = 0.0
    best_i = -1
    passed = NONE
    for i in range(n - 1):
        passed += counts[i]
        left = passed >> HALF
        left_positive = passed & POSITIVES
        right = weight - left
        right_positive = positive - left_positive
        gain = impurity - (
            (xlogx[left] - xlogx[left_positive] - xlogx[left - left_positive])
            + (xlogx[right] - xlogx[right_positive] - xlogx[right - right_positive])
        )
        if gain > best:
            best = gain
            best_i = i
    return best, best_i


@njit(**BORROWING)
def multiway_gain(counts, n, xlogx):
    """Gain times known weight of the split into one branch per code."""
    total = NONE
    children = 0.0
    for i in range(n):
        total += counts[i]
        weight = counts[i] >> HALF
        positive = counts[i] & POSITIVES
        children += xlogx[weight] - xlogx[positive] - xlogx[weight - positive]
    weight = total >> HALF
    positive = total & POSITIVES
    return xlogx[weight] - xlogx[positive] - xlogx[weight - positive] - children


@njit(**BORROWING)
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
