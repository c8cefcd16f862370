"""Single-word bit operations that numba does not offer, as LLVM intrinsics."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def popcount(typingctx, word):
    """Number of set bits of a 64-bit word."""

    def codegen(context, builder, signature, args):
        return builder.trunc(builder.ctpop(args[0]), ir.IntType(32))

    return types.int32(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Index of the lowest set bit of a 64-bit word, 64 if none is set."""

    def codegen(context, builder, signature, args):
        zeros = builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
        return builder.trunc(zeros, ir.IntType(32))

    return types.int32(types.uint64), codegen
