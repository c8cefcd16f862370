"""Description lengths for other kernels: see the functions in `description_length.pyx`."""

from libc.stdint cimport int64_t
from libcpp.utility cimport pair
from libcpp.vector cimport vector


cpdef double subset_bits(double n_elements, double n_chosen, double share) noexcept nogil

cpdef double rule_bits(double n_conditions, double n_possible) noexcept nogil

cpdef double exception_bits(
    double fp_share, double n_covered, double n_uncovered, double fp, double fn
) noexcept nogil

cpdef pair[double, vector[bint]] delete_costly_rules(
    const vector[int64_t]& tp,
    const vector[int64_t]& fp,
    const vector[double]& bits_of_rule,
    const vector[size_t]& order,
    int64_t n_positives,
    int64_t n_negatives,
    double fp_share,
    bint check_error,
) except * nogil
