"""Operations on bits in 64-bit words."""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from ._compiling import BORROWING


@intrinsic
def popcount(typingctx, word):
    """Number of set bits of a 64-bit word."""

    def codegen(context, builder, signature, args):
        return builder.trunc(builder.ctpop(args[0]), ir.IntType(32))

    return types.int32(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Index of the lowest set bit of a 64-bit word, 64 if no bit is set."""

    def codegen(context, builder, signature, args):
        zeros = builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
        return builder.trunc(zeros, ir.IntType(32))

    return types.int32(types.uint64), codegen


@njit(**BORROWING)
def set_bit(words, bit):
    """Set a bit of an array of words."""
    words[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@njit(**BORROWING)
def clear_bit(words, bit):
    """Clear a bit of an array of words."""
    words[bit >> 6] &= ~(np.uint64(1) << np.uint64(bit & 63))


@njit(**BORROWING)
def count_common(words, others, n_positive_words):
    """Number of bits that are set in both arrays: (in the first `n_positive_words`, in the rest)."""
    tp = np.int64(0)
    fp = np.int64(0)
    for w in range(n_positive_words):
        tp += popcount(words[w] & others[w])
    for w in range(n_positive_words, len(words)):
        fp += popcount(words[w] & others[w])
    return tp, fp
