"""Pruning: delete the conditions of a rule that do not pay on the rows outside its tree's bag."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from ._bags cimport draw_row
from ._bits cimport clear_bit, count_common, weigh_common
from ._memory cimport allocate
from .coverage cimport RowSets, Sets, keep_condition


# What all rules of a call share: the bits of the rows, and memory that is used again.
cdef struct Workspace:
    Py_ssize_t n_positive_words
    Py_ssize_t n_words
    const double* weights  # of each bit; NULL: every row counts 1
    uint64_t* mask  # rows outside the bag
    uint64_t* fails  # (longest, n_words) the rows that fail each condition of the rule
    uint64_t* none  # rows of the mask that fail no condition ...
    uint64_t* one  # ... and exactly one
    Py_ssize_t* kept  # positions of the conditions that are not deleted


cdef inline double _laplace(double tp, double fp) noexcept nogil:
    return (tp + 1.0) / (tp + fp + 2.0)


cdef inline double _count(
    const Workspace* space, const uint64_t* words, const uint64_t* others, bint is_positive
) noexcept nogil:
    """What the rows in both sets count: the positive or the negative ones."""
    cdef Py_ssize_t first = 0 if is_positive else space.n_positive_words
    cdef Py_ssize_t last = space.n_positive_words if is_positive else space.n_words
    if space.weights == NULL:
        return <double> count_common(words, others, first, last)
    return weigh_common(words, others, first, last, space.weights)


cdef Py_ssize_t _find_deletion(
    const Workspace* space, Py_ssize_t n_kept, bint only_last
) noexcept nogil:
    """The deletion with the best Laplace value outside the bag: a position in `kept`.

    It is -1 if every deletion lowers the value. Deleting a condition adds the rows that fail it and no
    other condition, so one pass gives the effect of every deletion.
    """
    cdef uint64_t* none = space.none
    cdef uint64_t* one = space.one
    cdef Py_ssize_t n_words = space.n_words
    cdef const uint64_t* fails
    cdef double tp, fp, more_tp, more_fp, value, best_value
    cdef Py_ssize_t k, w, best = -1
    memcpy(none, space.mask, n_words * sizeof(uint64_t))
    memset(one, 0, n_words * sizeof(uint64_t))
    for k in range(n_kept):
        fails = space.fails + space.kept[k] * n_words
        for w in range(n_words):
            one[w] = (one[w] & ~fails[w]) | (none[w] & fails[w])
            none[w] &= ~fails[w]
    tp = _count(space, none, none, True)
    fp = _count(space, none, none, False)
    best_value = _laplace(tp, fp)
    for k in range(n_kept - 1 if only_last else 0, n_kept):
        fails = space.fails + space.kept[k] * n_words
        more_tp = _count(space, one, fails, True)
        more_fp = _count(space, one, fails, False)
        value = _laplace(tp + more_tp, fp + more_fp)
        if value >= best_value:  # ties: the condition that was added last goes first
            best = k
            best_value = value
    return best


def prune_rules(
    coded,
    sorted_rows,
    Py_ssize_t step,
    const int64_t[::1] indptr,
    const int32_t[::1] feature,
    const int32_t[::1] low,
    const int32_t[::1] high,
    const int64_t[::1] bit_of_row,
    Py_ssize_t n_positive_words,
    Py_ssize_t n_words,
    const int64_t[::1] draw_order,
    Py_ssize_t bag_size,
    const uint64_t[::1] seeds,
    const int64_t[::1] tree_of_rule,
    const uint64_t[::1] within,
    bint only_last,
    int64_t[::1] out_indptr,
    kept_conditions,
    const uint64_t[::1] draw_ends=None,
    const double[::1] weights=None,
):
    """Delete conditions as long as the Laplace value on the rows outside the bag does not fall.

    A rule stays as it is if the bag holds every row: nothing shows what its conditions are worth.

    Parameters
    ----------
    coded, sorted_rows, step, bit_of_row : as in `coverage.RowSets`
        The first `n_positive_words` of all `n_words` words hold the rows of the target class.
    indptr, feature, low, high : bodies of the rules (CSR)
    draw_order, bag_size, draw_ends : as in `growing.grow_rules`
    seeds : (n_trees,) uint64
    tree_of_rule : (n_rules,) int64
        Rules of the same tree should follow each other: its bag is drawn once for them.
    within : (n_words,) uint64
        The rows that may be looked at.
    only_last : bool
        Delete only the last condition, so that a prefix of the path stays.
    out_indptr : (n_rules + 1,) int64, filled here
    kept_conditions : (n_conditions,) bool, filled here
    weights : (64 * n_words,) double, optional
        What the row of each bit counts.
    """
    cdef uint8_t[::1] is_kept = kept_conditions.view("u1")
    cdef Py_ssize_t n_rules = indptr.shape[0] - 1
    cdef Py_ssize_t n_rows = draw_order.shape[0]
    cdef Py_ssize_t size = n_words * sizeof(uint64_t)
    cdef const uint64_t* ends = NULL
    if draw_ends is not None:
        ends = &draw_ends[0]
    cdef Py_ssize_t r, _, k, w, row, n_kept, begin, best, longest = 1
    cdef int64_t n_outside = 0, tree = -1
    cdef uint64_t state
    cdef uint64_t* fails
    cdef list owner = []
    cdef RowSets row_sets = RowSets(coded, sorted_rows, step, feature, bit_of_row, n_words)
    cdef const Sets* sets = &row_sets.sets
    for r in range(n_rules):
        longest = max(longest, indptr[r + 1] - indptr[r])
    cdef Workspace space
    space.n_positive_words = n_positive_words
    space.n_words = n_words
    space.weights = NULL
    if weights is not None:
        space.weights = &weights[0]
    space.mask = <uint64_t*> allocate(owner, size)
    space.fails = <uint64_t*> allocate(owner, longest * size)
    space.none = <uint64_t*> allocate(owner, size)
    space.one = <uint64_t*> allocate(owner, size)
    space.kept = <Py_ssize_t*> allocate(owner, longest * sizeof(Py_ssize_t))
    out_indptr[0] = 0
    is_kept[:] = 0
    with nogil:
        for r in range(n_rules):
            if tree_of_rule[r] != tree:
                with gil:
                    PyErr_CheckSignals()
                tree = tree_of_rule[r]
                # The bag is drawn as when the tree was grown.
                memcpy(space.mask, &within[0], size)
                state = seeds[tree]
                for _ in range(bag_size):
                    row = draw_row(&state, &draw_order[0], ends, n_rows)
                    clear_bit(space.mask, bit_of_row[row])
                n_outside = count_common(space.mask, space.mask, 0, n_words)
            begin = indptr[r]
            n_kept = indptr[r + 1] - begin
            for k in range(n_kept):
                fails = space.fails + k * n_words
                memcpy(fails, sets.every, size)
                keep_condition(fails, sets, feature[begin + k], low[begin + k], high[begin + k])
                for w in range(n_words):
                    fails[w] = ~fails[w]
                space.kept[k] = k
            while n_kept > 1 and n_outside > 0:
                best = _find_deletion(&space, n_kept, only_last)
                if best < 0:
                    break
                n_kept -= 1
                for k in range(best, n_kept):
                    space.kept[k] = space.kept[k + 1]
            for k in range(n_kept):
                is_kept[begin + space.kept[k]] = 1
            out_indptr[r + 1] = out_indptr[r] + n_kept
