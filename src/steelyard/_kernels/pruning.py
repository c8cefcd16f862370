"""Pruning: conditions that do not pay on the rows outside a tree's bag are deleted from its rules."""

import numpy as np
from numba import njit

from .bits import popcount
from .coverage import keep_condition, make_row_sets
from .random import next_below


@njit(cache=True, nogil=True)
def _mark_out_of_bag(seed, draw_order, bag_size, bit_of_row, every, state, out):
    """Bits of the rows that a tree's bag lacks; the bag is drawn as when the tree was grown."""
    out[:] = every
    state[0] = seed
    for _ in range(bag_size):
        bit = bit_of_row[draw_order[next_below(state, len(draw_order))]]
        out[bit >> 6] &= ~(np.uint64(1) << np.uint64(bit & 63))


@njit(cache=True, nogil=True)
def _count(bits, mask, first, last):
    n = 0
    for w in range(first, last):
        n += popcount(bits[w] & mask[w])
    return n


@njit(cache=True, nogil=True)
def _find_deletion(fails, kept, n_kept, mask, n_positive_words, only_last, unmet, twice):
    """The deletion with the best Laplace value on the rows of `mask`.

    `fails` holds for each condition the rows that fail it. A row that fails exactly one condition is
    what deleting that condition adds, so one pass tells the effect of every deletion.

    Returns (Laplace value as it is, best value after a deletion, position in `kept` or -1).
    """
    n_words = len(mask)
    unmet[:] = np.uint64(0)
    twice[:] = np.uint64(0)
    for k in range(n_kept):
        row = fails[kept[k]]
        for w in range(n_words):
            twice[w] |= unmet[w] & row[w]
            unmet[w] |= row[w]
    tp = 0
    fp = 0
    for w in range(n_words):
        n = popcount(mask[w] & ~unmet[w])
        if w < n_positive_words:
            tp += n
        else:
            fp += n
    for w in range(n_words):
        unmet[w] &= ~twice[w] & mask[w]  # rows that fail exactly one condition
    best = -1
    best_value = -1.0
    for k in range(n_kept - 1 if only_last else 0, n_kept):
        row = fails[kept[k]]
        more_tp = tp + _count(unmet, row, 0, n_positive_words)
        more_fp = fp + _count(unmet, row, n_positive_words, n_words)
        value = (more_tp + 1.0) / (more_tp + more_fp + 2.0)
        if value >= best_value:  # ties: the condition that was added last goes first
            best = k
            best_value = value
    return (tp + 1.0) / (tp + fp + 2.0), best_value, best


@njit(cache=True, nogil=True)
def prune_rules(
    coded,
    sorted_rows,
    step,
    indptr,
    feature,
    low,
    high,
    bit_of_row,
    n_positive_words,
    n_words,
    draw_order,
    bag_size,
    seeds,
    tree_of_rule,
    only_last,
    out_indptr,
    kept_conditions,
):
    """Delete conditions as long as the Laplace value on the rows outside the bag does not fall.

    Where the bag holds every row nothing tells what a condition is worth: such rules stay as they are.

    Parameters
    ----------
    coded, sorted_rows, step, bit_of_row : as in `coverage.make_row_sets`
        Bits of the first `n_positive_words` of all `n_words` words are rows of the target class.
    indptr, feature, low, high : bodies of the rules (CSR)
    draw_order, bag_size : as in `growing.grow_rules`
    seeds : (n_trees,) uint64
    tree_of_rule : (n_rules,) int64, ascending
    only_last : bool
        Whether only the last condition may go, so that a prefix of the path stays.
    out_indptr : (n_rules + 1,) int64, filled here
    kept_conditions : (n_conditions,) bool, filled here
    """
    row_sets = make_row_sets(coded, sorted_rows, step, feature, bit_of_row, n_words)
    mask = np.empty(n_words, dtype=np.uint64)
    unmet = np.empty(n_words, dtype=np.uint64)
    twice = np.empty(n_words, dtype=np.uint64)
    state = np.empty(1, dtype=np.uint64)
    longest = 1
    for r in range(len(indptr) - 1):
        longest = max(longest, indptr[r + 1] - indptr[r])
    fails = np.empty((longest, n_words), dtype=np.uint64)
    kept = np.empty(longest, dtype=np.int64)
    tree = np.int64(-1)
    n_outside = 0
    out_indptr[0] = 0
    kept_conditions[:] = False
    for r in range(len(indptr) - 1):
        if tree_of_rule[r] != tree:
            tree = tree_of_rule[r]
            _mark_out_of_bag(
                seeds[tree], draw_order, bag_size, bit_of_row, row_sets.every, state, mask
            )
            n_outside = _count(mask, mask, 0, n_words)
        begin = indptr[r]
        n_kept = indptr[r + 1] - begin
        for k in range(n_kept):
            row = fails[k]
            row[:] = row_sets.every
            keep_condition(row, row_sets, feature[begin + k], low[begin + k], high[begin + k])
            for w in range(n_words):
                row[w] = ~row[w]
            kept[k] = k
        while n_kept > 1 and n_outside > 0:
            value, best_value, best = _find_deletion(
                fails, kept, n_kept, mask, n_positive_words, only_last, unmet, twice
            )
            if best_value < value:
                break
            for k in range(best, n_kept - 1):
                kept[k] = kept[k + 1]
            n_kept -= 1
        for k in range(n_kept):
            kept_conditions[begin + kept[k]] = True
        out_indptr[r + 1] = out_indptr[r] + n_kept
