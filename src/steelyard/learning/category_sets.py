"""Category sets: for each label, codes of nominal attributes in which sets of categories are ranges.

Of all sets of categories, one of those that a threshold on the share of positives gives is the best for
information gain (Breiman et al., 1984) and for the gain of boosting, as long as all examples count. So
the categories are sorted by that share, once for each label, and kernels split them like numbers.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.coverage import RowIndex, index_rows

from .training_table import TrainingFeatures

# Sorting finds a pattern in any noise: an attribute with a value of its own for each example would be
# sorted into positives and negatives. Attributes with more categories, or with fewer examples per
# category, are tested for single categories.
MOST_CATEGORIES = 64
LEAST_EXAMPLES = 5


class CategoryCodes(NamedTuple):
    """New codes of the categories of some attributes, for one label: feature → code → new code."""

    places: dict[int, NDArray[np.int32]]

    def recode(self, coded: CodedFeatures) -> CodedFeatures:
        """The codes of a table in which these attributes are ordered."""
        if not self.places:
            return coded
        is_nominal, default = coded.is_nominal.copy(), coded.default_code.copy()
        dense, codes = coded.dense.copy(), coded.codes.copy()
        for f, place in self.places.items():
            is_nominal[f] = False
            new = np.append(place, np.int32(-1))  # missing stays missing
            if coded.column[f] >= 0:
                dense[coded.column[f]] = new[dense[coded.column[f]]]
            else:
                span = slice(coded.indptr[f], coded.indptr[f + 1])
                codes[span], default[f] = new[codes[span]], new[default[f]]
        return coded._replace(is_nominal=is_nominal, default_code=default, dense=dense, codes=codes)

    def recode_index(self, index: RowIndex) -> RowIndex:
        """The same for rows sorted by code."""
        return index_rows(self.recode(index.coded)) if self.places else index

    def recode_training(self, training: TrainingFeatures) -> TrainingFeatures:
        """The same for a training table; the numbers behind the new codes are the codes themselves."""
        if not self.places:
            return training
        ends = training.values_indptr
        values = [training.values[start:end] for start, end in pairwise(ends)]
        for f, place in self.places.items():
            values[f] = np.arange(float(len(place)))
        indptr = np.cumsum([0, *map(len, values)], dtype=np.int64)
        coded = self.recode(training.coded)
        return TrainingFeatures(training.coder, coded, np.concatenate(values), indptr)

    def recode_coder(self, coder: FeatureCoder) -> FeatureCoder:
        """The coder that reads ranges of the new codes as sets of categories."""
        features = list(coder.features)
        for f, place in self.places.items():
            categories = features[f].categories or ()
            in_order = tuple(categories[code] for code in np.argsort(place))
            features[f] = replace(features[f], categories=in_order)
        return FeatureCoder(tuple(features), coder.cuts)


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
        return np.bincount(codes[codes >= 0], weights[codes >= 0], minlength=n_codes)
    span = slice(coded.indptr[f], coded.indptr[f + 1])
    codes, listed = coded.codes[span], weights[coded.rows[span]]
    sums = np.bincount(codes[codes >= 0], listed[codes >= 0], minlength=n_codes)
    sums[coded.default_code[f]] += weights.sum() - listed.sum()
    return sums
