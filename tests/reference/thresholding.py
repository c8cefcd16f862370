"""Oracle: which of the selected rules a threshold φ keeps."""

import math
from fractions import Fraction


def keep(values, phi):
    """Indices, in ascending order, of the rules not worse than the one at position ⌈φ·n⌉.

    ``values`` are the heuristic values of all selected rules of all labels on the whole training
    set. ``phi`` in [0, 1] is meant exactly: a Fraction, a Decimal, a string, or a float read as
    the decimal it prints as (0.15 is 3/20, not the nearest binary number). φ = 0 keeps nothing.
    """
    share = Fraction(str(phi))
    if not 0 <= share <= 1:
        raise ValueError(f"phi is a share between 0 and 1, got {phi}")
    position = math.ceil(share * len(values))
    if position == 0:
        return []
    cut = sorted(values, reverse=True)[position - 1]
    return [rule for rule, value in enumerate(values) if value >= cut]
