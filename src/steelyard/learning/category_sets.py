"""Category sets: for each label, codes of nominal attributes in which sets of categories are ranges.

Of all sets of categories, one of those that a threshold on the share of positives gives is the best for
information gain (Breiman et al., 1984) and for the gain of boosting, as long as all examples count. So
the categories are sorted by that share, once for each label, and kernels split them like numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.conditions import Condition
from steelyard.model.coverage import RowIndex, index_rows

from .training_table import TrainingFeatures

# Sorting finds a pattern in any noise: an attribute with a value of its own for each example would be
# sorted into positives and negatives. Attributes with more categories, or with fewer examples per
# category, are tested for single categories.
MOST_CATEGORIES = 64
LEAST_EXAMPLES = 5


class CategoryCodes(NamedTuple):
    """Codes of the categories of some attributes in another order, for one label.

    These attributes are in the table a second time, after all others: as they are for conditions on one
    category, and sorted for those on several.

    Parameters
    ----------
    places : dict
        Attribute → code → new code.
    """

    places: dict[int, NDArray[np.int32]]

    def recode(self, coded: CodedFeatures) -> CodedFeatures:
        """The codes of a table with the sorted attributes after all others."""
        if not self.places:
            return coded
        dense, listed_rows, listed_codes = [coded.dense], [coded.rows], [coded.codes]
        columns, defaults, lengths = [], [], []
        for f, place in self.places.items():
            new = np.append(place, np.int32(-1))  # missing stays missing
            span = slice(coded.indptr[f], coded.indptr[f + 1])
            is_dense = coded.column[f] >= 0
            if is_dense:
                dense.append(new[coded.dense[coded.column[f]]][None, :])
            listed_rows.append(coded.rows[span])
            listed_codes.append(new[coded.codes[span]])
            columns.append(sum(map(len, dense)) - 1 if is_dense else -1)
            defaults.append(new[coded.default_code[f]])
            lengths.append(len(listed_rows[-1]))
        sorted_idx = list(self.places)
        no = np.zeros(len(sorted_idx), dtype=np.bool_)
        return CodedFeatures(
            n_codes=np.concatenate((coded.n_codes, coded.n_codes[sorted_idx])),
            is_nominal=np.concatenate((coded.is_nominal, no)),
            column=np.concatenate((coded.column, np.array(columns, dtype=np.int32))),
            dense=np.concatenate(dense),
            default_code=np.concatenate((coded.default_code, np.array(defaults, dtype=np.int32))),
            indptr=np.concatenate((coded.indptr, coded.indptr[-1] + np.cumsum(lengths))),
            rows=np.concatenate(listed_rows),
            codes=np.concatenate(listed_codes),
        )

    def recode_index(self, index: RowIndex) -> RowIndex:
        """The same for rows sorted by code."""
        return index_rows(self.recode(index.coded)) if self.places else index

    def recode_training(self, training: TrainingFeatures) -> TrainingFeatures:
        """The same for a training table; the numbers behind the new codes are the codes themselves."""
        if not self.places:
            return training
        numbers = [np.arange(float(len(place))) for place in self.places.values()]
        ends = training.values_indptr[-1] + np.cumsum([len(values) for values in numbers])
        return TrainingFeatures(
            self.recode_coder(training.coder),
            self.recode(training.coded),
            np.concatenate((training.values, *numbers)),
            np.concatenate((training.values_indptr, ends)),
        )

    def recode_coder(self, coder: FeatureCoder) -> FeatureCoder:
        """The coder that reads ranges of the new codes as sets of categories."""
        more = []
        for f, place in self.places.items():
            categories = coder.features[f].categories or ()
            in_order = tuple(categories[code] for code in np.argsort(place))
            more.append(replace(coder.features[f], categories=in_order))
        cuts = (*coder.cuts, *(coder.cuts[f] for f in self.places))
        return FeatureCoder((*coder.features, *more), cuts)


def join_conditions(body: Sequence[Condition]) -> tuple[Condition, ...]:
    """A body with one condition per attribute.

    Examples
    --------
    >>> sets = (["red", "blue"], ["blue", "green"])
    >>> print(*join_conditions([Condition("colour", "in", categories) for categories in sets]))
    colour = blue
    """
    joined: dict[str, Condition] = {}
    for condition in body:
        known = joined.get(condition.feature)
        joined[condition.feature] = condition if known is None else known.intersect(condition)
    return tuple(joined.values())


def sort_categories(
    coded: CodedFeatures, is_target: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
) -> CategoryCodes:
    """Sort the categories of nominal attributes by their share of positives, the smallest first.

    Categories of equal shares, and those without examples, keep their order.
    """
    total = np.ones(len(is_target)) if weights is None else weights
    both = np.array([total, total * is_target])
    is_small = (coded.n_codes > 2) & (coded.n_codes <= MOST_CATEGORIES)
    is_sorted = coded.is_nominal & is_small & (LEAST_EXAMPLES * coded.n_codes <= len(is_target))
    places = {}
    for f in np.flatnonzero(is_sorted).tolist():
        size, positive = (_sum_by_code(coded, f, part) for part in both)
        share = np.divide(positive, size, out=np.zeros(len(size)), where=size > 0)
        place = np.empty(len(share), dtype=np.int32)
        place[np.argsort(share, kind="stable")] = np.arange(len(share))
        places[f] = place
    return CategoryCodes(places)


def _sum_by_code(coded: CodedFeatures, f: int, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of the rows with each code of a feature."""
    n_codes = int(coded.n_codes[f])
    if coded.column[f] >= 0:
        codes = coded.dense[coded.column[f]]
        return _sum_known(codes, weights, n_codes)
    span = slice(coded.indptr[f], coded.indptr[f + 1])
    codes, listed = coded.codes[span], weights[coded.rows[span]]
    sums = _sum_known(codes, listed, n_codes)
    sums[coded.default_code[f]] += weights.sum() - listed.sum()
    return sums


def _sum_known(
    codes: NDArray[np.int32], weights: NDArray[np.float64], n_codes: int
) -> NDArray[np.float64]:
    is_known = codes >= 0
    sums = np.bincount(codes[is_known], weights[is_known], minlength=n_codes)
    return np.asarray(sums, dtype=np.float64)
