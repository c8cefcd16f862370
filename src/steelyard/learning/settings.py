"""Settings of the learners, checked when they are made. Knows values only, no data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeGuard

from steelyard._numbers import check_flag, is_integer, is_number

Prune = Literal[False, "oob", "prefix"]
Source = Literal["forest", "ripper"]

PAPER_DEPTHS: tuple[int | None, ...] = (None, 1, 2, 3, 4, 5, 6, 7, 8)

# Larger values are mistakes: they would exhaust memory or time.
_MOST_TREES = 1_000_000
_LARGEST_BAG = 100


# What the votes of condensed rules are fitted to: what all rules predict, or the labels themselves.
TEACHERS = ("predictions", "labels")


def check_condense(condense: Any) -> None:
    """Reject what is neither False nor something to fit votes to."""
    if condense is not False and not (isinstance(condense, str) and condense in TEACHERS):
        names = " or ".join(map(repr, TEACHERS))
        raise ValueError(f"condense must be False, {names}, got {condense!r}")


def check_folds(calibrate: Any) -> None:
    """Reject what is neither a boolean nor a number of folds."""
    if not isinstance(calibrate, bool) and not is_integer(calibrate, 2):
        raise ValueError(
            f"calibrate must be True, False or a number of folds from 2 on, got {calibrate!r}"
        )


def check_integer(name: str, value: Any, least: int = 1, most: int | None = None) -> None:
    """Reject a parameter that is not an integer within bounds.

    Examples
    --------
    >>> check_integer("n_trees", 2.5)
    Traceback (most recent call last):
    ...
    ValueError: n_trees must be an integer of at least 1, got 2.5
    """
    if not is_integer(value, least, math.inf if most is None else most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise ValueError(f"{name} must be an integer {bounds}, got {value!r}")


def check_bound(name: str, value: Any) -> None:
    """Reject a bound that is neither None nor a positive integer."""
    if value is not None:
        check_integer(name, value)


def check_labels_per_rule(value: Any, or_else: str = "") -> None:
    """Reject a number of labels that a body can vote for that is neither None nor positive."""
    if value is not None and not is_integer(value):
        raise ValueError(
            "max_labels_per_rule must be an integer of at least 1, or None for all labels"
            f"{or_else}, got {value!r}"
        )


def check_share(name: str, value: Any, most: int = 1) -> float:
    """The parameter as a float; rejects what is not a number above 0 and at most `most`."""
    if not is_number(value) or not 0 < value <= most:
        raise ValueError(f"{name} must be a number above 0 and at most {most}, got {value!r}")
    return float(value)


def _is_share(max_features: Any) -> TypeGuard[float]:
    return is_number(max_features) and not isinstance(max_features, Integral)


@dataclass(frozen=True, kw_only=True)
class SamplingSettings:
    """How many rows and attributes are drawn at random.

    Parameters
    ----------
    sample_fraction : float
        Size of a bag, drawn with replacement, as a share of the training set.
    max_features : {"log2", "sqrt"}, int or float
        K, the number of attributes drawn for each condition. A float is a share of all attributes;
        at least as many as with "log2" are drawn.
    category_sets: bool
        Whether a condition on a nominal attribute may test several categories.
    """

    sample_fraction: float = 1.0
    max_features: str | int | float = "log2"
    category_sets: bool = False

    def __post_init__(self) -> None:
        check_flag("category_sets", self.category_sets)
        check_share("sample_fraction", self.sample_fraction, _LARGEST_BAG)
        is_name = isinstance(self.max_features, str) and self.max_features in ("log2", "sqrt")
        is_share = _is_share(self.max_features) and 0 < self.max_features <= 1
        if not (is_name or is_share or is_integer(self.max_features)):
            raise ValueError(
                "max_features must be 'log2', 'sqrt', an integer of at least 1 or a share above 0 "
                f"and at most 1, got {self.max_features!r}"
            )

    def bag_size(self, n_rows: int) -> int:
        """Number of rows drawn from a training set of `n_rows`."""
        return max(1, round(self.sample_fraction * n_rows))

    def n_drawn_features(self, n_features: int) -> int:
        """K for a training set of `n_features` attributes.

        Examples
        --------
        >>> SamplingSettings().n_drawn_features(72)
        7
        >>> SamplingSettings(max_features=0.25).n_drawn_features(72)
        18
        """
        log2 = int(math.log2(n_features - 1)) + 1 if n_features > 1 else 1
        if self.max_features == "log2":
            return log2
        if self.max_features == "sqrt":
            return max(1, int(math.sqrt(n_features)))
        if _is_share(self.max_features):
            # A fifth of ten attributes would be two, too few to choose a condition from.
            return max(log2, round(self.max_features * n_features))
        return min(int(self.max_features), n_features)


@dataclass(frozen=True)
class ForestSettings(SamplingSettings):
    """Where candidates come from and how they are grown; the defaults are the paper's.

    Parameters
    ----------
    n_candidates : int
        γ, the number of distinct rules over all labels.
    n_trees : int
        I, the number of trees of a forest.
    max_depths : tuple
        One forest is grown per depth limit; None is no limit.
    prune : {False, "oob", "prefix"}
        Whether to delete conditions that do not improve a rule on the rows outside its tree's bag:
        any of them, or only the last ones of the path.
    max_conditions : int or None
        Maximum number of conditions per rule: trees are not deeper than that.
    presence_only : bool
        Whether to delete conditions on the absence of a word, or on a largest count without a smallest.
    source : {"forest", "ripper"}
        Random forests, or the rules that Ripper learns. For the latter only `max_conditions` and
        `presence_only` count.
    """

    n_candidates: int = 300_000
    n_trees: int = 10
    max_depths: tuple[int | None, ...] = PAPER_DEPTHS
    prune: Prune = False
    max_conditions: int | None = None
    presence_only: bool = False
    source: Source = "forest"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("presence_only", self.presence_only)
        check_integer("n_candidates", self.n_candidates)
        check_integer("n_trees", self.n_trees, most=_MOST_TREES)
        if not self.max_depths or not all(d is None or is_integer(d) for d in self.max_depths):
            raise ValueError(
                "max_depths must be one or more depth limits, each None or an integer of at least 1, "
                f"got {self.max_depths!r}"
            )
        if self.prune is not False and self.prune not in ("oob", "prefix"):
            raise ValueError(f"prune must be False, 'oob' or 'prefix', got {self.prune!r}")
        if self.source not in ("forest", "ripper"):
            raise ValueError(f"source must be 'forest' or 'ripper', got {self.source!r}")
        check_bound("max_conditions", self.max_conditions)

    @property
    def tree_depths(self) -> tuple[int | None, ...]:
        """The depth limits of the forests, none of which is above `max_conditions`.

        Examples
        --------
        >>> ForestSettings(max_conditions=3).tree_depths
        (3, 1, 2)
        """
        most = self.max_conditions
        if most is None:
            return self.max_depths
        return tuple(dict.fromkeys(most if d is None else min(d, most) for d in self.max_depths))


@dataclass(frozen=True, kw_only=True)
class BoostingSettings(SamplingSettings):
    """How rules that vote are grown.

    Parameters
    ----------
    max_rules : int
        Maximum number of rules over all labels.
    max_conditions : int or None
        Maximum number of conditions per rule; None is 20.
    n_tries : int
        Number of rules grown in each round, of which one is taken.
    min_rules_per_label : int
        Number of rules that each label keeps if it has them, whatever their gain.
    max_total_conditions : int or None
        Maximum number of conditions over all rules.
    max_labels_per_rule : int or None
        Maximum number of labels that a body votes for; None is all of them. Except for 1, all labels are
        learned together, and `max_rules` counts bodies.
    condense : False, "predictions" or "labels"
        Whether more rules are grown than are kept, with new votes: those that predict nearly what all of
        them predict, or the labels.
    """

    max_rules: int = 333
    max_conditions: int | None = 4
    n_tries: int = 10
    sample_fraction: float = 0.5
    max_features: str | int | float = 0.2
    min_rules_per_label: int = 0
    max_total_conditions: int | None = None
    max_labels_per_rule: int | None = 1
    condense: str | bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("max_rules", self.max_rules)
        check_condense(self.condense)
        check_labels_per_rule(self.max_labels_per_rule)
        if self.shares_bodies:
            for name in ("min_rules_per_label", "max_total_conditions", "category_sets"):
                if getattr(self, name):
                    raise ValueError(
                        f"{name} does not apply to rules for several labels: leave it out or set "
                        "max_labels_per_rule=1"
                    )
        check_integer("min_rules_per_label", self.min_rules_per_label, least=0)
        check_integer("n_tries", self.n_tries, most=_MOST_TREES)
        for name in ("max_conditions", "max_total_conditions"):
            check_bound(name, getattr(self, name))

    @property
    def shares_bodies(self) -> bool:
        """Whether a body may vote for several labels."""
        return self.max_labels_per_rule != 1


@dataclass(frozen=True)
class RipperSettings:
    """How Ripper learns; see `RipperClassifier` for the parameters."""

    prune: bool = True
    optimizations: int = 2
    folds: int = 3
    min_weight: float = 2.0
    check_error: bool = True
    max_rules: int | None = None
    max_conditions: int | None = None
    max_total_conditions: int | None = None

    def __post_init__(self) -> None:
        check_integer("optimizations", self.optimizations, least=0)
        for name in ("max_rules", "max_conditions", "max_total_conditions"):
            check_bound(name, getattr(self, name))
        check_integer("folds", self.folds, least=2)
        if not is_number(self.min_weight) or self.min_weight < 0:
            raise ValueError(f"min_weight must be a number of at least 0, got {self.min_weight!r}")
