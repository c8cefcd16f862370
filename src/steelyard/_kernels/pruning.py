"""Pruning: delete the conditions of a rule that do not pay on the rows outside its tree's bag."""

import numpy as np
from numba import njit

from ._bits import clear_bit, count_common
from ._random import next_below
from ._row_sets import keep_condition, make_row_sets


@njit(cache=True, nogil=True)
def _laplace(tp, fp):
    return (tp + 1.0) / (tp + fp + 2.0)


@njit(cache=True, nogil=True)
def _find_deletion(fails, kept, n_kept, mask, n_positive_words, only_last, none, one):
    """The deletion with the best Laplace value on the rows of `mask`.

    `fails` holds, for each condition, the rows that fail it. Deleting a condition adds the rows that
    fail it and no other condition, so one pass gives the effect of every deletion. `none` and `one`
    are working memory for the rows that fail none and exactly one condition.

    Returns (current value, best value after a deletion, position in `kept` or -1).
    """
    none[:] = mask
    one[:] = np.uint64(0)
    for k in range(n_kept):
        row = fails[kept[k]]
        for w in range(len(mask)):
            one[w] = (one[w] & ~row[w]) | (none[w] & row[w])
            none[w] &= ~row[w]
    tp, fp = count_common(none, mask, n_positive_words)
    best = -1
    best_value = -1.0
    for k in range(n_kept - 1 if only_last else 0, n_kept):
        more_tp, more_fp = count_common(one, fails[kept[k]], n_positive_words)
        value = _laplace(tp + more_tp, fp + more_fp)
        if value >= best_value:  # ties: the condition that was added last goes first
            best = k
            best_value = value
    return _laplace(tp, fp), best_value, best


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

    A rule stays as it is if the bag holds every row: nothing shows what its conditions are worth.

    Parameters
    ----------
    coded, sorted_rows, step, bit_of_row : as in `coverage.make_row_sets`
        The first `n_positive_words` of all `n_words` words hold the rows of the target class.
    indptr, feature, low, high : bodies of the rules (CSR)
    draw_order, bag_size : as in `growing.grow_rules`
    seeds : (n_trees,) uint64
    tree_of_rule : (n_rules,) int64, ascending
    only_last : bool
        Delete only the last condition, so that a prefix of the path stays.
    out_indptr : (n_rules + 1,) int64, filled here
    kept_conditions : (n_conditions,) bool, filled here
    """
    row_sets = make_row_sets(coded, sorted_rows, step, feature, bit_of_row, n_words)
    mask = row_sets.every.copy()
    none = np.empty(n_words, dtype=np.uint64)
    one = np.empty(n_words, dtype=np.uint64)
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
            # The bag is drawn as when the tree was grown.
            mask[:] = row_sets.every
            state[0] = seeds[tree]
            for _ in range(bag_size):
                clear_bit(mask, bit_of_row[draw_order[next_below(state, len(draw_order))]])
            n_positives, n_negatives = count_common(mask, mask, n_positive_words)
            n_outside = n_positives + n_negatives
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
                fails, kept, n_kept, mask, n_positive_words, only_last, none, one
            )
            if best_value < value:
                break
            for k in range(best, n_kept - 1):
                kept[k] = kept[k + 1]
            n_kept -= 1
        for k in range(n_kept):
            kept_conditions[begin + kept[k]] = True
        out_indptr[r + 1] = out_indptr[r] + n_kept
