"""Oracle: which conditions of a rule pay on the rows that its tree has not seen, counted anew each time.

A condition is here all that a rule says of one attribute: a list of the conditions of
`reference.rules`, of which an interval has two. A body is a list of such lists.
"""

from fractions import Fraction

from reference.growing import SplitMix64
from reference.rules import covers


def rows_outside_bag(draw_order, bag_size, seed):
    """Rows that a tree's bag lacks, ascending; the bag is the first thing that its generator draws."""
    random = SplitMix64(seed)
    bag = {draw_order[random.below(len(draw_order))] for _ in range(bag_size)}
    return sorted(set(draw_order) - bag)


def laplace(body, rows, is_positive):
    """(TP + 1)/(TP + FP + 2) of a body on some rows."""
    flat = [condition for conditions in body for condition in conditions]
    covered = [
        positive for row, positive in zip(rows, is_positive, strict=True) if covers(flat, row)
    ]
    return Fraction(sum(covered) + 1, len(covered) + 2)


def prune(body, rows, is_positive, only_last=False):
    """Positions of the conditions that stay.

    The deletion with the best Laplace value is made as long as the value does not fall; of equal
    deletions that of the later condition. One condition stays. Rows that are none judge nothing.

    Parameters
    ----------
    body : list of list of conditions
    rows, is_positive : the rows outside the bag, and whether they have the target class
    only_last : bool
        Whether the last condition is the only one that may go.
    """
    kept = list(range(len(body)))
    while rows and len(kept) > 1:

        def value_without(position, kept=kept):
            return laplace([body[k] for k in kept if k != position], rows, is_positive)

        best = max(kept[-1:] if only_last else kept, key=lambda k: (value_without(k), k))
        if value_without(best) < laplace([body[k] for k in kept], rows, is_positive):
            break
        kept.remove(best)
    return kept
