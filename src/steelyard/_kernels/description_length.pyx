# distutils: language = c++
# cython: show_performance_hints=False
"""Description lengths, in bits, of Ripper's theories and of their errors (Quinlan 1995)."""

from libc.math cimport log2
from libc.stdint cimport int64_t
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cdef extern from *:
    """
    /* Conditions of a rule are not independent, so Quinlan and Cohen count half of a theory's bits. */
    #define REDUNDANCY 0.5
    /* A change of the description length below this is rounding; JRip's tolerance. */
    #define TOLERANCE 1e-6
    """
    const double REDUNDANCY
    const double TOLERANCE


cpdef double subset_bits(double n_elements, double n_chosen, double share) noexcept nogil:
    """-k·log₂(p) - (n-k)·log₂(1-p): which k of n elements, if the receiver expects the share p."""
    cdef double bits = 0.0
    share = min(max(share, 0.0), 1.0)
    if n_chosen > 0 and share > 0:
        bits -= n_chosen * log2(share)
    if n_elements > n_chosen and share < 1:
        bits -= (n_elements - n_chosen) * log2(1 - share)
    return bits


cpdef double rule_bits(double n_conditions, double n_possible) noexcept nogil:
    """½·(log₂*(k) + S(n, k, k/n)): a rule with k of the n possible conditions.

    log₂*(k) = log₂(k) + 2·log₂(log₂(k)) encodes the number of conditions; an empty rule is free.
    """
    if n_conditions == 0:
        return 0.0
    cdef double bits = log2(n_conditions)
    if n_conditions > 1:
        bits += 2 * log2(bits)
    bits += subset_bits(n_possible, n_conditions, n_conditions / n_possible)
    return REDUNDANCY * bits


cpdef double exception_bits(
    double fp_share, double n_covered, double n_uncovered, double fp, double fn
) noexcept nogil:
    """log₂(n + 1) + S(covered, FP, ·) + S(uncovered, FN, ·): which examples the theory gets wrong.

    The receiver knows the number of errors and expects the share `fp_share` of them among the covered
    examples. The larger of the two groups is encoded with that expectation, the smaller one with its
    true share.
    """
    cdef double bits = log2(n_covered + n_uncovered + 1.0)
    cdef double n_errors = fp + fn
    if n_covered > n_uncovered:
        bits += subset_bits(n_covered, fp, fp_share * n_errors / n_covered)
        if n_uncovered > 0:
            bits += subset_bits(n_uncovered, fn, fn / n_uncovered)
    else:
        if n_covered > 0:
            bits += subset_bits(n_covered, fp, fp / n_covered)
        if n_uncovered > 0:
            bits += subset_bits(n_uncovered, fn, (1 - fp_share) * n_errors / n_uncovered)
    return bits


cpdef pair[double, vector[bint]] delete_costly_rules(
    const vector[int64_t]& tp,
    const vector[int64_t]& fp,
    const vector[double]& bits_of_rule,
    const vector[size_t]& order,
    int64_t n_positives,
    int64_t n_negatives,
    double fp_share,
    bint check_error,
) except * nogil:
    """Delete, one after the other, the rules that cost more bits than they save.

    A rule is deleted if the description length does not grow without it, or if half of what it
    covers is wrong (with `check_error`). Then what it covered counts as uncovered, as if no later rule
    covered it: Cohen's approximation.

    Parameters
    ----------
    tp, fp : (n_rules,) int64
        Positives and negatives that each rule covers and no earlier one does.
    bits_of_rule : (n_rules,) float64
    order : (n_asked,) int64
        The rules that may be deleted, in the order in which they are examined.
    n_positives, n_negatives : int
        Of all examples.
    fp_share : float
    check_error : bool

    Returns
    -------
    bits : float
        Description length of the errors that remain, minus what the deletions saved.
    deleted : (n_rules,) bool
    """
    cdef int64_t n_examples = n_positives + n_negatives
    cdef vector[bint] deleted = vector[bint](tp.size())
    cdef int64_t all_tp = 0
    cdef int64_t all_fp = 0
    cdef int64_t less_tp, less_fp, n_covered
    cdef double bits, without, saving
    cdef double saved = 0.0
    cdef bint is_wrong
    cdef size_t i, r
    for r in range(tp.size()):
        all_tp += tp[r]
        all_fp += fp[r]
    n_covered = all_tp + all_fp
    bits = exception_bits(fp_share, n_covered, n_examples - n_covered, all_fp, n_positives - all_tp)
    for i in range(order.size()):
        r = order[i]
        less_tp = all_tp - tp[r]
        less_fp = all_fp - fp[r]
        n_covered = less_tp + less_fp
        without = exception_bits(
            fp_share, n_covered, n_examples - n_covered, less_fp, n_positives - less_tp
        )
        saving = bits + bits_of_rule[r] - without
        is_wrong = check_error and tp[r] + fp[r] > 0 and fp[r] >= tp[r]
        if saving >= -TOLERANCE or is_wrong:
            deleted[r] = True
            all_tp = less_tp
            all_fp = less_fp
            bits = without
            saved += saving
    return pair[double, vector[bint]](bits - saved, deleted)
