"""Held-out counts: how often the rules of a label are right on examples that did not make them.

A rule set selects the best of hundreds of thousands of candidates on all examples, so its counts on any
of these examples are too good, even outside the bag of its tree. Therefore covering is repeated without
one fold of the examples after the other, on the candidates that exist. For each rule of the theory, the
most similar rule that is then selected takes its place. It is counted on the examples of the fold that
are outside the bag of its tree: they had no part in growing, pruning or selecting it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.coding import hash_rows
from steelyard._kernels.covering import count_covered
from steelyard._kernels.held_out import count_covered_among, find_most_similar, remove_bags
from steelyard.heuristics import Heuristic
from steelyard.model.coding import CodedFeatures
from steelyard.model.coverage import BitOrder, Bits, RowIndex, cover, order_bits, pack

from .candidates import GrownCandidates, prune_table
from .covering import Candidates, gather_rules, prepare_candidates, select_rules
from .paths import LabelRules
from .settings import ForestSettings

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

# More folds repeat covering more often, each time on more examples. With 2, 3 or 5 folds the precision
# is within a few points of that on a test set; docs/methods.md has the numbers.
N_FOLDS = 2


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


class HeldOutCounter(NamedTuple):
    """Counts the rules of one label.

    Parameters
    ----------
    index : RowIndex
    settings : ForestSettings
        With which the candidates were grown.
    group_of_row : (n_rows,) int64
        See `group_equal_rows`.
    """

    index: RowIndex
    settings: ForestSettings
    group_of_row: Indices

    def select_and_count(
        self, heuristic: Heuristic, revalidate: bool, grown: GrownCandidates, is_target: Mask
    ) -> LabelRules:
        """Covering of one label, as `select_for_label`, with held-out counts of its rules."""
        candidates = prepare_candidates(grown.table, self.index, is_target)
        select = partial(select_rules, heuristic=heuristic, revalidate=revalidate)
        selected = select(candidates)
        rules = gather_rules(candidates, [selected])
        by_index = np.sort(selected)
        return rules._replace(held_out=self.count(grown, candidates, is_target, by_index, select))

    def count(
        self,
        grown: GrownCandidates,
        candidates: Candidates,
        is_target: Mask,
        selected: Indices,
        select: Callable[[Candidates], Indices],
    ) -> Indices:
        """TP and FP of the selected candidates, shape (2, n_rules); `select` is covering."""
        bits = order_bits(is_target)
        fold_of_row = deal_folds(is_target, self.group_of_row)
        bag = (grown.order, self.settings.bag_size(len(is_target)))
        counts = np.zeros((2, len(selected)), dtype=np.int64)
        for fold in range(N_FOLDS):
            is_known = fold_of_row != fold
            known, unknown = pack(is_known, bits), pack(~is_known, bits)
            found = select(_restrict(candidates, is_target, is_known, known))
            if not len(found):
                continue
            pair = (candidates.coverage[rules] & known for rules in (selected, found))
            used, twin = np.unique(find_most_similar(*pair), return_inverse=True)
            position = candidates.position[found[used]]
            coverage = candidates.coverage[found[used]]
            if self.settings.prune is not False:
                coverage = self._cover_repruned(grown, position, is_target, is_known, bits)
            # A bag that is drawn from the seed of its tree is the same as when the tree was grown.
            rows = (unknown, bits.bit_of_row, self.group_of_row, *bag, grown.seeds[position])
            tp_fp = count_covered(coverage & remove_bags(*rows), bits.n_positive_words)
            counts += np.array(tp_fp)[:, twin]
        return counts

    def _cover_repruned(
        self,
        grown: GrownCandidates,
        position: Indices,
        is_target: Mask,
        is_known: Mask,
        bits: BitOrder,
    ) -> Bits:
        """Coverage of some rules, pruned as if there were known rows only."""
        trees = np.arange(len(position)), grown.seeds[position]
        rows = (is_target, grown.order, is_known)
        unpruned = grown.unpruned.take(position)
        table = prune_table(self.settings, self.index, unpruned, *trees, *rows)
        return cover(table, self.index, bits.bit_of_row, bits.n_words)


def _restrict(candidates: Candidates, is_target: Mask, is_known: Mask, known: Bits) -> Candidates:
    """The same candidates with their counts on the known rows, given as a mask and as bits."""
    tp, fp = count_covered_among(candidates.coverage, candidates.n_positive_words, known)
    n_positives = int((is_target & is_known).sum())
    return candidates._replace(
        all_examples=known,
        n_positives=n_positives,
        n_negatives=int(is_known.sum()) - n_positives,
        tp=tp,
        fp=fp,
    )
