"""Weights: how much each example counts for each label. Knows arrays and classes only.

A weight of an example is a number of copies, which need not be an integer: bags draw the example in
proportion to it. A weight of a class says how much its examples matter: bags draw them as before, and
they count more once they are drawn. All sums are of the product of both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import is_number
from steelyard._text import list_names
from steelyard.model.coverage import BitOrder

Floats = NDArray[np.float64]

# Sums are exact up to 2⁵³ units.
_UNITS_OF_SUM = 50

# The unit in which boosting counts smaller weights would overflow.
_LEAST_SUM = 1e-200

# Trees count in integers, and a table has the logarithm of each count up to that of a whole bag.
_LARGEST_INTEGER = 1024
_LARGEST_TABLE = 2**22
_FEWEST_INTEGERS = 8

# Half of a weight that is balanced may differ from ½ by rounding.
_ROUNDING = 1e-9


def round_for_sums(weights: Any) -> Floats:
    """The weights as multiples of a power of two such that sums of them are exact.

    The error of a weight is below 2⁻⁵⁰ of the sum of all. Halves and integers stay what they are.

    Examples
    --------
    >>> round_for_sums([0.5, 3.0]).tolist()
    [0.5, 3.0]
    >>> thirds = round_for_sums([1 / 3] * 10)
    >>> bool(sum(thirds[:7]) - sum(thirds[:4]) == sum(thirds[7:]))
    True
    """
    weights = np.asarray(weights, dtype=np.float64)
    _, exponent = math.frexp(float(weights.sum()))
    unit = exponent - _UNITS_OF_SUM
    return np.asarray(np.ldexp(np.rint(np.ldexp(weights, -unit)), unit))


def find_draw_ends(weights: Floats, order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Where the range of each position of an order ends if 2³² numbers are shared out by weight.

    With integers, a number that is drawn means the row that it would mean if each row stood in the
    order as often as its weight says.

    Examples
    --------
    >>> find_draw_ends(np.array([1.0, 3.0]), np.array([1, 0])) / 2**32
    array([0.75, 1.  ])
    """
    sums = np.cumsum(weights[order])
    return np.asarray(np.ceil(sums / sums[-1] * 2.0**32), dtype=np.uint64)


def to_small_integers(weights: Floats, bag_size: int) -> NDArray[np.uint32]:
    """Integers in about the same proportions, small enough to be counted in a bag of that size.

    Examples
    --------
    >>> to_small_integers(np.array([0.505, 50.0, 0.505]), 100)
    array([ 1, 99,  1], dtype=uint32)
    """
    levels, inverse = np.unique(weights, return_inverse=True)
    fits = _LARGEST_TABLE // max(bag_size, 1)
    most = min(max(fits, _FEWEST_INTEGERS), _LARGEST_INTEGER)
    wanted = levels[levels > 0] / levels[-1] * np.arange(1, most + 1)[:, None]
    found = np.maximum(np.rint(wanted), 1)
    error = np.abs(found / wanted - 1).max(axis=1).round(9)
    integers = np.zeros(len(levels), dtype=np.uint32)
    integers[levels > 0] = found[np.argmin(error)]
    return integers[inverse]


class LabelWeights(NamedTuple):
    """What the examples count for one label.

    Parameters
    ----------
    total : (n_rows,) float
        What each row counts in sums, exact as in `round_for_sums`.
    of_row : (n_rows,) float, optional
        Weights of rows, all above 0, by which bags draw them.
    of_class : (n_rows,) float, optional
        Weight of the class of each row.
    """

    total: Floats
    of_row: Floats | None = None
    of_class: Floats | None = None

    @staticmethod
    def combine(of_row: Floats | None, of_class: Floats | None) -> LabelWeights:
        """The weights of rows times those of their classes; at least one of them is given."""
        given = [part for part in (of_row, of_class) if part is not None]
        total = np.prod(given, axis=0)
        if 0 < total.sum() < _LEAST_SUM:
            raise ValueError(
                f"the weights of the examples have a sum of {total.sum():.3g}, which is too small to "
                "count with: multiply sample_weight or class_weight by a common factor, so that the sum "
                "is about the number of examples"
            )
        return LabelWeights(round_for_sums(total), of_row, of_class)

    def take(self, rows: NDArray[np.intp]) -> LabelWeights:
        """The weights of some rows."""
        of_row, of_class = (None if part is None else part[rows] for part in self[1:])
        return LabelWeights(self.total[rows], of_row, of_class)

    def draw_ends(self, order: NDArray[np.int64]) -> NDArray[np.uint64] | None:
        """By which bags are drawn in that order; None: all rows with the same probability."""
        return None if self.of_row is None else find_draw_ends(self.of_row, order)

    def node_weights(self, bag_size: int) -> NDArray[np.uint32] | None:
        """What a row that is drawn counts in the nodes of a tree; None: 1."""
        return None if self.of_class is None else to_small_integers(self.of_class, bag_size)

    def of_draws(
        self, order: NDArray[np.int64], bag_size: int
    ) -> tuple[NDArray[np.uint64] | None, Floats, Floats, float]:
        """What boosting has to know: ends of draws, weights of rows and of draws, and the unit."""
        unit = self.find_unit(bag_size)
        return self.draw_ends(order), self.total, self.drawn_weights(), unit

    def fewest(self, is_class: NDArray[np.bool_]) -> int:
        """How many examples of a class it takes to weigh half as much as an average example.

        Fewer examples of a class that hardly counts are no evidence for it. Weights of rows change
        nothing: they are numbers of copies.
        """
        if self.of_class is None or not is_class.any():
            return 1
        mean = np.average(self.of_class, weights=self.of_row)
        own = float(self.of_class[is_class].mean())
        if own == 0:
            return len(is_class) + 1
        return max(1, math.ceil(min(0.5 * mean / own, len(is_class) + 1) - _ROUNDING))

    def outweighs(self, is_class: NDArray[np.bool_]) -> bool:
        """Whether the examples of the other classes together weigh less than half an average one."""
        others = ~is_class
        return bool(others.any()) and self.fewest(others) > others.sum()

    def drawn_weights(self) -> Floats:
        """What a row counts each time that it is drawn, so that bags count as much as all rows."""
        mean = 1.0 if self.of_row is None else float(self.of_row.mean())
        return np.full(len(self.total), mean) * (1.0 if self.of_class is None else self.of_class)

    def of_bits(self, bits: BitOrder) -> Floats:
        """The total of the row of each bit."""
        weights = np.zeros(64 * bits.n_words)
        weights[bits.bit_of_row] = self.total
        return weights

    def find_unit(self, bag_size: int, most_bits: int = 62) -> float:
        """The units of 1/unit in which the loss of boosting is counted.

        No sum exceeds 2^(`most_bits` - 1) by more than rounding.
        """
        drawn = self.drawn_weights()
        largest = max(float(self.total.sum()), bag_size * float(drawn.max()))
        mean = float(self.total.mean())
        # With a mean of 1 they are those of rows without weights.
        most = most_bits - 1 - math.ceil(math.log2(largest))
        return 2.0 ** min(30 - math.floor(math.log2(mean)), most)


def check_class_weight(class_weight: Any) -> None:
    """Reject what is neither None, "balanced", a dict nor a list of dicts."""
    is_list = isinstance(class_weight, Sequence) and not isinstance(class_weight, str)
    parts = class_weight if is_list else [class_weight]
    for part in parts:
        if not (part is None or isinstance(part, Mapping) or _is_balanced(part)):
            raise ValueError(
                "class_weight must be None, 'balanced', a dict of weights by class, or for several "
                f"labels a dict or list with one of these for each label, got {class_weight!r}"
            )


def _is_balanced(class_weight: Any) -> bool:
    return isinstance(class_weight, str) and class_weight == "balanced"


def weigh_classes(
    class_weight: Any,
    names: Sequence[str],
    classes: Sequence[Any],
    is_present: NDArray[np.bool_],
    of_row: Floats | None = None,
) -> Floats | None:
    """The weight of the class of each row for each label, shape (n_labels, n_rows); None: all 1.

    Parameters
    ----------
    class_weight : None, "balanced", dict or list
    names : sequence of str
        The labels.
    classes : sequence
        Of a one-dimensional y: (class without rules, class with rules), or one class per label.
    is_present : (n_labels, n_rows) bool
    of_row : (n_rows,) float, optional
        Weights of the rows.

    Examples
    --------
    >>> is_present = np.array([[1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool)
    >>> weigh_classes("balanced", ["a", "b"], (), is_present).round(2)
    array([[2.  , 0.67, 0.67, 0.67], [1.  , 1.  , 1.  , 1.  ]])
    >>> weigh_classes({"a": {1: 3}}, ["a", "b"], (), is_present).tolist()
    [[3.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]
    """
    if class_weight is None:
        return None
    if not classes:
        of_label = _spread_over_labels(class_weight, names)
        pairs = zip(of_label, names, is_present, strict=True)
        return np.array([_weigh_pair(w, f" of {name!r}", mask, of_row) for w, name, mask in pairs])
    is_class = is_present if len(names) > 1 else np.array([~is_present[0], is_present[0]])
    if not isinstance(class_weight, Mapping) and not _is_balanced(class_weight):
        raise ValueError(
            f"class_weight of one y must be 'balanced' or a dict, got {class_weight!r}"
        )
    weights = _weigh_each(class_weight, "", classes, is_class, of_row)
    return np.tile(weights @ is_class, (len(names), 1))


def _spread_over_labels(class_weight: Any, names: Sequence[str]) -> Sequence[Any]:
    """The class weight of each label."""
    if isinstance(class_weight, Mapping):
        if set(class_weight) <= {0, 1}:
            return [class_weight] * len(names)
        unknown = [name for name in class_weight if name not in names]
        if unknown:
            raise ValueError(
                f"class_weight names {unknown[0]!r}, which is not a label: there are "
                f"{list_names(list(names))}"
            )
        return [class_weight.get(name) for name in names]
    if _is_balanced(class_weight):
        return [class_weight] * len(names)
    if len(class_weight) != len(names):
        raise ValueError(f"class_weight has {len(class_weight)} entries for {len(names)} labels")
    return list(class_weight)


def _weigh_pair(
    class_weight: Any, where: str, is_present: NDArray[np.bool_], of_row: Floats | None
) -> Floats:
    """The weight of the class of each row for one label."""
    if class_weight is None:
        return np.ones(len(is_present))
    is_class = np.array([~is_present, is_present])
    return np.asarray(_weigh_each(class_weight, where, (0, 1), is_class, of_row) @ is_class)


def _weigh_each(
    class_weight: Any,
    where: str,
    classes: Sequence[Any],
    is_class: NDArray[np.bool_],
    of_row: Floats | None,
) -> Floats:
    """The weight of each class; balanced ones make all classes that occur weigh the same in sum."""
    if isinstance(class_weight, Mapping):
        known = dict.fromkeys(classes, 1.0)
        for name, weight in class_weight.items():
            if name not in known:
                raise ValueError(
                    f"class_weight{where} names the class {name!r}, but there are "
                    f"{list_names([str(c) for c in classes])}"
                )
            if not is_number(weight) or not 0 <= weight < math.inf:
                raise ValueError(
                    f"class_weight{where} must be finite and at least 0, got {weight!r} for {name!r}"
                )
            known[name] = float(weight)
        return np.array([known[name] for name in classes])
    if not _is_balanced(class_weight):
        raise ValueError(f"class_weight{where} must be 'balanced' or a dict, got {class_weight!r}")
    counts = np.ones(is_class.shape[1]) if of_row is None else round_for_sums(of_row)
    sums = is_class @ counts  # exact, whatever the order of the rows
    is_there = sums > 0
    return np.where(is_there, sums.sum() / (is_there.sum() * np.where(is_there, sums, 1.0)), 1.0)
