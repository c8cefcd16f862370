"""Limits on the conditions of rules, as kernels see them: the arrays of a `Limits` as pointers.

A class is a bit: 1 is presence, 2 is absence of the label.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from ._coded cimport Coded
from ._conditions cimport Condition

cdef enum:
    PRESENCE = 1
    ABSENCE = 2
    BOTH = 3


cdef struct Limits:
    bint is_active  # without limits all pointers are NULL and all minima 0
    const uint8_t* lower  # (n_features,) classes whose rules may bound a feature from below ...
    const uint8_t* upper  # ... and from above; a nominal feature is either free or forbidden
    const int64_t* banned_indptr  # ranges of codes that no condition may lie in, by feature
    const int32_t* banned_low
    const int32_t* banned_high
    const int64_t* apart_indptr  # features that must not be tested together with a feature
    const int32_t* apart
    const double* share  # (n_features,) share of its gain that a condition counts with
    int64_t min_covered
    int64_t min_tp


cdef inline Limits borrow_limits(object limits) except *:
    """Pointers into the arrays of a `Limits`, which has to outlive them; None is no limits."""
    cdef Limits result
    result.is_active = limits is not None
    result.min_covered = result.min_tp = 0
    result.lower = result.upper = NULL
    result.banned_indptr = result.apart_indptr = NULL
    result.banned_low = result.banned_high = result.apart = NULL
    result.share = NULL
    if limits is None:
        return result
    cdef const uint8_t[::1] lower = limits.lower
    cdef const uint8_t[::1] upper = limits.upper
    cdef const int64_t[::1] banned_indptr = limits.banned_indptr
    cdef const int32_t[::1] banned_low = limits.banned_low
    cdef const int32_t[::1] banned_high = limits.banned_high
    cdef const int64_t[::1] apart_indptr = limits.apart_indptr
    cdef const int32_t[::1] apart = limits.apart
    cdef const double[::1] share = limits.share
    result.lower = &lower[0]
    result.upper = &upper[0]
    result.banned_indptr = &banned_indptr[0]
    result.banned_low = &banned_low[0]
    result.banned_high = &banned_high[0]
    result.apart_indptr = &apart_indptr[0]
    result.apart = &apart[0]
    result.share = &share[0]
    result.min_covered = limits.min_covered
    result.min_tp = limits.min_tp
    return result


cdef inline bint is_apart(
    const Limits* limits, Py_ssize_t feature, const uint8_t* is_tested
) noexcept nogil:
    """Whether a feature must not be tested together with one of those in `is_tested`."""
    cdef Py_ssize_t i
    for i in range(limits.apart_indptr[feature], limits.apart_indptr[feature + 1]):
        if is_tested[limits.apart[i]]:
            return True
    return False


cdef inline Py_ssize_t count_apart(
    const Limits* limits, const uint32_t* features, Py_ssize_t n, const uint8_t* is_tested
) noexcept nogil:
    """How many of some features must not be tested together with those in `is_tested`."""
    cdef Py_ssize_t i, n_apart = 0
    for i in range(n):
        n_apart += is_apart(limits, features[i], is_tested)
    return n_apart


cdef inline bint is_banned(const Limits* limits, Condition condition) noexcept nogil:
    """Whether a condition lies in a forbidden range."""
    cdef Py_ssize_t feature = condition.feature
    cdef Py_ssize_t i
    for i in range(limits.banned_indptr[feature], limits.banned_indptr[feature + 1]):
        if limits.banned_low[i] <= condition.low and condition.high <= limits.banned_high[i]:
            return True
    return False


cdef inline uint8_t permitted_classes(
    const Limits* limits, const Coded* coded, Condition condition
) noexcept nogil:
    """The classes whose rules may have a condition."""
    cdef Py_ssize_t feature = condition.feature
    cdef uint8_t classes = BOTH
    if is_banned(limits, condition):
        return 0
    if coded.is_nominal[feature]:
        return limits.lower[feature]
    if condition.low > 0:
        classes &= limits.lower[feature]
    if condition.high < coded.n_codes[feature]:
        classes &= limits.upper[feature]
    return classes


cdef inline Py_ssize_t relax_body(
    const Limits* limits, const Coded* coded, uint8_t target, Condition* body, Py_ssize_t length
) noexcept nogil:
    """Leave out the bounds and conditions that a rule for the class `target` may not have.

    If a larger value never speaks against a label, what holds below a bound holds above it too: the
    rule without the bound is the more general one. Returns the new length.
    """
    cdef Py_ssize_t c, n_kept = 0
    cdef Condition condition
    for c in range(length):
        condition = body[c]
        if not coded.is_nominal[condition.feature]:
            if not limits.lower[condition.feature] & target:
                condition.low = 0
            if not limits.upper[condition.feature] & target:
                condition.high = coded.n_codes[condition.feature]
            if condition.low == 0 and condition.high == coded.n_codes[condition.feature]:
                continue
        if is_banned(limits, condition):
            continue
        body[n_kept] = condition
        n_kept += 1
    return n_kept
