"""Held-out counts: how often the rules of a label are right on examples that did not make them.

A rule set selects the best of hundreds of thousands of candidates on all examples, so its counts on any
of these examples are too good, even outside the bag of its tree. Therefore covering is repeated without
one fold of the examples after the other, on the candidates that exist. For each rule of the theory, the
most similar rule that is then selected takes its place. It is counted on the examples of the fold that
are outside the bag of its tree: they had no part in growing, pruning or selecting it. If no selected
rule is similar, nothing is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.coding import hash_rows
from steelyard._kernels.held_out import remove_bags
from steelyard._kernels.row_store import RowStore, find_most_similar
from steelyard.model.coding import CodedFeatures
from steelyard.model.coverage import (
    BitOrder,
    Bits,
    RowIndex,
    collect,
    count_among,
    order_bits,
    rows_to_bits,
)

from .candidates import Bags, prune_table
from .category_sets import CategoryCodes
from .covering import Candidates
from .settings import ForestSettings
from .weights import LabelWeights

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

# More folds repeat covering more often, each time on more examples.
N_FOLDS = 2

# A rule takes the place of another if they share at least this part of the examples that one of them
# covers. Below it, its precision is as far from the other's on a test set as the training precision is
# (docs/methods.md, "Unseen examples").
LEAST_SIMILARITY = 0.05


def group_equal_rows(coded: CodedFeatures) -> Indices:
    """A number for each row, the same for rows with equal attributes, in an order of their content.

    An example that equals a known one is not unseen, be it repeated by its weight.
    """
    _, group_of_row = np.unique(hash_rows(coded), return_inverse=True)
    return np.asarray(group_of_row, dtype=np.int64)


def deal_folds(is_target: Mask, group_of_row: Indices, n_folds: int = N_FOLDS) -> Indices:
    """The fold of each row; groups stay together, and those with positives are dealt first.

    Examples
    --------
    >>> deal_folds(np.array([True, False, False, True, False]), np.array([0, 1, 2, 3, 3]), 2)
    array([0, 0, 1, 1, 1])
    """
    has_positives = np.zeros(group_of_row.max(initial=-1) + 1, dtype=np.bool_)
    has_positives[group_of_row[is_target]] = True
    fold_of_group = np.empty(len(has_positives), dtype=np.int64)
    dealt = np.argsort(~has_positives, kind="stable")
    fold_of_group[dealt] = np.arange(len(dealt)) % n_folds
    return np.asarray(fold_of_group[group_of_row])


def count_outside_bags(
    covered: RowStore,
    bits: BitOrder,
    group_of_row: Indices,
    order: Indices,
    bag_size: int,
    seeds: NDArray[np.uint64],
    rows: Bits | None = None,
    weights: LabelWeights | None = None,
) -> Indices:
    """TP and FP of rules outside the bags they were grown on, shape (2, n_rules).

    A bag that is drawn from the same seed and weights is the same bag. `rows` are the rows to count;
    None is all. Rows are counted, whatever their weights.
    """
    if rows is None:
        rows = rows_to_bits(np.ones(len(order), dtype=np.bool_), bits)
    trees, tree_of_rule = np.unique(seeds, return_inverse=True)
    ends = None if weights is None else weights.draw_ends(order)
    outside = remove_bags(rows, bits.bit_of_row, group_of_row, order, bag_size, trees, ends)
    return np.array(covered.count_among(outside, tree_of_rule), dtype=np.int64)


@dataclass(frozen=True)
class HeldOutCounter:
    """Counts the selected rules of one label.

    Parameters
    ----------
    index : RowIndex
    settings : ForestSettings
        With which the candidates were grown.
    group_of_row : (n_rows,) int64
        See `group_equal_rows`.
    bags : Bags
    categories : CategoryCodes
        The codes of categories with which the candidates have to be read.
    weights : LabelWeights, optional
        With which the candidates were grown.
    """

    index: RowIndex
    settings: ForestSettings
    group_of_row: Indices
    bags: Bags
    categories: CategoryCodes
    weights: LabelWeights | None = None

    def count(
        self,
        candidates: Candidates,
        is_target: Mask,
        selected: Indices,
        select: Callable[[Candidates], Indices],
    ) -> Indices:
        """TP and FP of the selected candidates, shape (2, n_rules); `select` is covering."""
        bits = order_bits(is_target)
        fold_of_row = deal_folds(is_target, self.group_of_row)
        bag = (self.bags.order, self.settings.bag_size(len(is_target)))
        counts = np.zeros((2, len(selected)), dtype=np.int64)
        for fold in range(N_FOLDS):
            is_known = fold_of_row != fold
            known, unknown = rows_to_bits(is_known, bits), rows_to_bits(~is_known, bits)
            found = select(_restrict(candidates, is_target, is_known, known))
            if not len(found):
                continue
            pair = (candidates.rows.take(rules) for rules in (selected, found))
            most_similar, similarity = find_most_similar(*pair, known)
            used, twin = np.unique(most_similar, return_inverse=True)
            position = candidates.position[found[used]]
            if self.settings.prune is False:
                covered = candidates.rows.take(found[used])
            else:
                covered = self._cover_repruned(position, is_target, is_known, bits)
            bags = (self.group_of_row, *bag, self.bags.seeds[position], unknown, self.weights)
            is_similar = similarity >= LEAST_SIMILARITY
            counts += count_outside_bags(covered, bits, *bags)[:, twin] * is_similar
        return counts

    def _cover_repruned(
        self, position: Indices, is_target: Mask, is_known: Mask, bits: BitOrder
    ) -> RowStore:
        """Coverage of some rules, pruned as if there were known rows only."""
        # Positions ascend, so rules of the same tree follow each other.
        seeds, tree_of_rule = np.unique(self.bags.seeds[position], return_inverse=True)
        index = self.categories.recode_index(self.index)
        table = prune_table(
            self.settings,
            index,
            self.bags.unpruned.take(position),
            tree_of_rule,
            seeds,
            is_target,
            self.bags.order,
            is_known,
            self.weights,
        )
        return collect(table, index, bits)[0]


def _restrict(candidates: Candidates, is_target: Mask, is_known: Mask, known: Bits) -> Candidates:
    """The same candidates with their counts on the known rows, given as a mask and as bits."""
    tp, fp = count_among(candidates.rows, known)
    n_positives = int((is_target & is_known).sum())
    return candidates._replace(
        all_examples=known,
        n_positives=n_positives,
        n_negatives=int(is_known.sum()) - n_positives,
        tp=tp,
        fp=fp,
    )
