"""Coverage: rule table × coded data → packed bits. Knows neither labels' meaning nor scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.coverage import cover_rows, sort_rows_by_code
from steelyard._kernels.routing import collect_rows
from steelyard._kernels.row_store import RowStore

from .coding import CodedFeatures
from .rule_table import RuleTable

Bits = NDArray[np.uint64]

# Sets of rows kept as bits for each feature while rules are covered. 64 of them take as much memory
# as the feature's numbers, and leave n/64 rows at most to be looked at one by one.
MOST_CHECKPOINTS = 64
# Large tables get fewer of them, for all features together at most this many bytes.
MOST_CHECKPOINT_BYTES = 2**28
FEWEST_CHECKPOINTS = 8


# Rules that cover fewer than one in 32 rows take less memory as lists of 32-bit numbers than as bits.
# Below 2,048 rows bits are small and faster.
MOST_LISTED_SHARE = 32
LEAST_LISTED_ROWS = 2048

# Covering the rules of a tree together takes about as long as covering this many one by one.
LEAST_ROUTED_RULES = 128


class RowIndex(NamedTuple):
    """Coded data with its rows sorted by code within each dense feature, for fast look-up."""

    coded: CodedFeatures
    sorted_rows: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]
    lists: Any = None  # what `list_features` found, if rules are grown in many calls

    @property
    def step(self) -> int:
        """Rows between two sets that are kept as bits."""
        n_dense, n_rows = self.coded.dense.shape
        most = MOST_CHECKPOINT_BYTES * 8 // max(1, int(n_dense * n_rows))
        n_checkpoints = min(max(most, FEWEST_CHECKPOINTS), MOST_CHECKPOINTS)
        return max(1, -(-int(n_rows) // n_checkpoints))


class BitOrder(NamedTuple):
    """Which bit stands for which row: positives in the first words, negatives in the rest."""

    bit_of_row: NDArray[np.int64]
    n_positive_words: int
    n_words: int


def index_rows(coded: CodedFeatures) -> RowIndex:
    """Sort the rows once; every later question about coverage uses the result."""
    is_dense = coded.column >= 0
    return RowIndex(coded, sort_rows_by_code(coded.dense, coded.n_codes[is_dense]))


def n_words(n_bits: int) -> int:
    """Words of 64 bits that hold `n_bits`."""
    return (n_bits + 63) // 64


def order_bits(is_target: NDArray[np.bool_]) -> BitOrder:
    """Bits of a label's rows, those of the target class in words of their own."""
    n_positives = int(is_target.sum())
    n_negatives = len(is_target) - n_positives
    n_positive_words = n_words(n_positives)
    bit_of_row = np.empty(len(is_target), dtype=np.int64)
    bit_of_row[is_target] = np.arange(n_positives)
    bit_of_row[~is_target] = 64 * n_positive_words + np.arange(n_negatives)
    return BitOrder(bit_of_row, n_positive_words, n_positive_words + n_words(n_negatives))


def cover(
    table: RuleTable, index: RowIndex, bit_of_row: NDArray[np.int64] | None = None, words: int = 0
) -> Bits:
    """Bits of the rows that each rule covers, shape (n_rules, n_words).

    Row i is bit i unless `bit_of_row` (with the number of `words`) says otherwise.
    """
    n_rows = index.coded.n_rows
    if bit_of_row is None:
        bit_of_row, words = np.arange(n_rows, dtype=np.int64), n_words(n_rows)
    bits = np.empty((len(table), words), dtype=np.uint64)
    cover_rows(
        index.coded,
        index.sorted_rows,
        index.step,
        table.indptr,
        table.feature,
        table.low,
        table.high,
        bit_of_row,
        bits,
    )
    return bits


def collect(
    table: RuleTable,
    index: RowIndex,
    bits: BitOrder,
    key: NDArray[np.int64] | None = None,
    tree_of_rule: NDArray[np.int64] | None = None,
    max_bytes: int = 0,
) -> tuple[RowStore, NDArray[np.int64], NDArray[np.int64]]:
    """The rows that rules cover, kept in as little memory as they need.

    With a `key`, of rules that cover the same rows only the one with the smallest key is kept, then the
    first. Rules that follow each other and have the same `tree_of_rule` are covered together. A
    MemoryError is raised if the rows take more than `max_bytes`; 0 is no limit.

    Returns
    -------
    store : RowStore
    kept : (n_kept,) int64
        The rules in the store, ascending.
    position : (n_rules,) int64
        For every rule, the position in `kept` of the one that covers the same rows.
    """
    n_rules, n_rows = len(table), index.coded.n_rows
    most_listed = n_rows // MOST_LISTED_SHARE if n_rows >= LEAST_LISTED_ROWS else 0
    store = RowStore(bits.n_positive_words, bits.n_words, most_listed, max_bytes)
    starts, min_routed = np.array([0, n_rules]), n_rules + 1
    if tree_of_rule is not None and most_listed:
        starts = np.flatnonzero(np.diff(tree_of_rule, prepend=-1, append=-1))
        min_routed = LEAST_ROUTED_RULES
    conditions = (table.indptr, table.feature, table.low, table.high)
    rows = (bits.bit_of_row, starts, min_routed)
    kept, position = collect_rows(*index[:2], index.step, *conditions, *rows, store, key)
    return store, kept, position


def count_among(store: RowStore, rows: Bits) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """TP and FP of every rule on some rows, given as bits."""
    tp, fp = store.count_among(rows[None, :], np.zeros(len(store), dtype=np.int64))
    return tp, fp


def rows_to_bits(mask: NDArray[np.bool_], order: BitOrder) -> Bits:
    """Bits of the rows in a mask, shape (n_words,)."""
    is_set = np.zeros(64 * order.n_words, dtype=np.bool_)
    is_set[order.bit_of_row] = mask
    return np.packbits(is_set, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(bits: Bits, n_rows: int) -> NDArray[np.bool_]:
    """Masks, shape (n_rules, n_rows), of bits that number the rows in order."""
    words = bits.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(words, axis=1, count=n_rows, bitorder="little").astype(np.bool_)


def pack(masks: NDArray[np.bool_]) -> Bits:
    """Bits that number the rows in order, of masks of shape (n_rules, n_rows)."""
    n_rules, n_rows = masks.shape
    words = np.zeros((n_rules, 8 * n_words(n_rows)), dtype=np.uint8)
    packed = np.packbits(masks, axis=1, bitorder="little")
    words[:, : packed.shape[1]] = packed
    return words.view("<u8").astype(np.uint64, copy=False)
