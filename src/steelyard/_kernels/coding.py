"""Numbers → codes, and codes → keys of rows.

The code of a number says how many cut points of its feature are not above it.
"""

import numpy as np
from numba import njit

from ._random import INCREMENT, mix


@njit(cache=True, nogil=True)
def _count_up_to(cuts, first, last, number):
    """Number of ascending cuts[:last] that are not above `number`, given that cuts[:first] are not."""
    while first < last:
        middle = (first + last) >> 1
        if cuts[middle] <= number:
            first = middle + 1
        else:
            last = middle
    return first


@njit(cache=True, nogil=True)
def code_numbers(numbers, cuts, out):
    """Write the code of every number, -1 for NaN; `cuts` ascend.

    Many numbers are first sorted into equal bins between the outer cuts, most of which hold one cut
    or none. A search within the bin takes half the time of a search over all (70) cuts.
    """
    n_cuts = len(cuts)
    n_bins = 2 * n_cuts
    scale = 0.0
    if n_cuts >= 8 and len(numbers) >= 4 * n_cuts:
        scale = (n_bins - 1) / (cuts[-1] - cuts[0])
    if not 0.0 < scale < np.inf:
        for i in range(len(numbers)):
            number = numbers[i]
            out[i] = _count_up_to(cuts, np.int64(0), n_cuts, number) if number == number else -1
        return
    # Rounding keeps the order of numbers, so a cut in a lower bin is below all numbers of a bin.
    bin_starts = np.zeros(n_bins + 1, dtype=np.int64)
    for cut in cuts:
        bin_starts[np.int64((cut - cuts[0]) * scale) + 1] += 1
    for b in range(n_bins):
        bin_starts[b + 1] += bin_starts[b]
    lowest, highest = cuts[0], cuts[-1]
    for i in range(len(numbers)):
        number = numbers[i]
        if number >= highest:
            out[i] = n_cuts
        elif number >= lowest:
            b = np.uint64((number - lowest) * scale)
            out[i] = _count_up_to(cuts, bin_starts[b], bin_starts[b + np.uint64(1)], number)
        else:
            out[i] = 0 if number == number else -1


@njit(cache=True, nogil=True)
def hash_rows(coded):
    """A 64-bit key of the codes of every row."""
    n_codes, is_nominal, column, dense, default_code, indptr, rows, codes = coded
    keys = np.zeros(dense.shape[1], dtype=np.uint64)
    for f in range(len(column)):
        salt = mix(np.uint64(f + 1) * INCREMENT)
        if column[f] >= 0:
            for row in range(len(keys)):
                keys[row] += mix(salt + np.uint64(dense[column[f], row] + 1))
        else:
            # Only differences from the default count, so a row costs no more than its entries.
            usual = mix(salt + np.uint64(default_code[f] + 1))
            for e in range(indptr[f], indptr[f + 1]):
                keys[rows[e]] += mix(salt + np.uint64(codes[e] + 1)) - usual
    return keys
