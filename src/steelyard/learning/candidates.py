"""Candidates: random forests → rule table per label, until γ distinct rules exist over all labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, TypeGuard

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from steelyard._kernels.growing import grow_rules
from steelyard._kernels.pruning import prune_rules
from steelyard._kernels.coding import hash_rows
from steelyard._numbers import is_number, is_whole
from steelyard.model.coverage import RowIndex, index_rows, order_bits
from steelyard.model.features import TrainingFeatures
from steelyard.model.rules import RuleTable

Prune = Literal["oob", "prefix"]

# Called with the number of candidates so far and the number wanted.
Progress = Callable[[int, int], None]

# A pass of which less than this share is new has all but exhausted what its trees can express: going
# on would cost a hundred trees for the rules that one gave at first.
MIN_NEW_SHARE = 0.01

PAPER_DEPTHS: tuple[int | None, ...] = (None, 1, 2, 3, 4, 5, 6, 7, 8)


# Bounds beyond which a setting is a slip: memory and time would have no end.
_MOST_TREES = 1_000_000
_LARGEST_BAG = 100


def _is_share(max_features: Any) -> TypeGuard[float]:
    return is_number(max_features) and not isinstance(max_features, Integral)


@dataclass(frozen=True)
class ForestSettings:
    """How candidates are grown; the defaults are the paper's.

    Parameters
    ----------
    n_candidates : int
        γ, the number of distinct rules over all labels.
    n_trees : int
        I, the trees of one forest.
    max_depths : tuple
        One forest is grown for each limit; None is unrestricted.
    sample_fraction : float
        Size of the bag in shares of the training set.
    max_features : {"log2", "sqrt"}, int or float
        K, how many attributes are drawn at a node; a float is a share of all, but not fewer than
        "log2" draws.
    prune : {"oob", "prefix"} or None
        Whether conditions that do not pay on the rows outside a tree's bag are deleted: any of them,
        or only the last ones of a path.
    """

    n_candidates: int = 300_000
    n_trees: int = 10
    max_depths: tuple[int | None, ...] = PAPER_DEPTHS
    sample_fraction: float = 1.0
    max_features: str | int | float = "log2"
    prune: Prune | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.n_candidates):
            raise ValueError(
                f"n_candidates must be a whole number of at least 1, got {self.n_candidates!r}"
            )
        if not is_whole(self.n_trees, most=_MOST_TREES):
            raise ValueError(
                f"n_trees must be a whole number from 1 to {_MOST_TREES:,}, got {self.n_trees!r}"
            )
        if not self.max_depths or not all(d is None or is_whole(d) for d in self.max_depths):
            raise ValueError(
                "max_depths must be one or more limits, each None or a whole number of at least 1, "
                f"got {self.max_depths!r}"
            )
        if not is_number(self.sample_fraction) or not 0 < self.sample_fraction <= _LARGEST_BAG:
            raise ValueError(
                f"sample_fraction must be a number above 0 and at most {_LARGEST_BAG}, "
                f"got {self.sample_fraction!r}"
            )
        is_name = isinstance(self.max_features, str) and self.max_features in ("log2", "sqrt")
        is_share = _is_share(self.max_features) and 0 < self.max_features <= 1
        if not (is_name or is_share or is_whole(self.max_features)):
            raise ValueError(
                "max_features must be 'log2', 'sqrt', a whole number of at least 1 or a share above 0 "
                f"and at most 1, got {self.max_features!r}"
            )

        if self.prune not in (None, "oob", "prefix"):
            raise ValueError(f"prune must be None, 'oob' or 'prefix', got {self.prune!r}")

    def bag_size(self, n_rows: int) -> int:
        """Rows of a tree's bag."""
        return max(1, round(self.sample_fraction * n_rows))

    def n_drawn_features(self, n_features: int) -> int:
        """K for a data set with `n_features` attributes.

        Examples
        --------
        >>> ForestSettings().n_drawn_features(72)
        7
        >>> ForestSettings(max_features=0.25).n_drawn_features(72)
        18
        """
        of_the_paper = int(math.log2(n_features - 1)) + 1 if n_features > 1 else 1
        if self.max_features == "log2":
            return of_the_paper
        if self.max_features == "sqrt":
            return max(1, int(math.sqrt(n_features)))
        if _is_share(self.max_features):
            # A fifth of ten attributes would be two, which is little to choose a condition from.
            return max(of_the_paper, round(self.max_features * n_features))
        return min(int(self.max_features), n_features)


@dataclass
class _LabelPool:
    """The rules of one label as they accumulate."""

    tables: list[RuleTable] = field(default_factory=list)
    hashes: list[NDArray[np.uint64]] = field(default_factory=list)
    trees: list[NDArray[np.int64]] = field(default_factory=list)
    n_rules_after_pass: list[int] = field(default_factory=list)

    @property
    def n_rules(self) -> int:
        return self.n_rules_after_pass[-1] if self.n_rules_after_pass else 0

    def table(self, n_passes: int) -> RuleTable:
        """The rules of the first passes."""
        n_rules = self.n_rules_after_pass[n_passes - 1] if self.n_rules_after_pass else 0
        return RuleTable.concatenate(self.tables).head(n_rules)

    def tree_of_rule(self) -> NDArray[np.int64]:
        """Which tree, counted from the first pass on, gave each rule."""
        return np.concatenate([np.empty(0, np.int64), *self.trees])


def draw_order(row_keys: NDArray[np.uint64], is_target: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows in the order of their content (attributes and this label), from which bags are drawn.

    So the same examples give the same rules however the table is sorted, and the rules of a label do
    not depend on the other labels.
    """
    return np.argsort(np.where(is_target, ~row_keys, row_keys), kind="stable")


def _tree_seeds(
    settings: ForestSettings, entropy: int, label: int, passes: range
) -> NDArray[np.uint64]:
    """One seed per (label, pass, depth, tree): nothing depends on who computes what, and when."""
    n_seeds = len(settings.max_depths) * settings.n_trees
    return np.array(
        [
            np.random.SeedSequence(entropy, spawn_key=(label, p)).generate_state(n_seeds, np.uint64)
            for p in passes
        ]
    )


def _grow_label(
    training: TrainingFeatures,
    is_target: NDArray[np.bool_],
    order: NDArray[np.int64],
    settings: ForestSettings,
    entropy: int,
    label: int,
    passes: range,
    known_hashes: NDArray[np.uint64],
) -> tuple[RuleTable, NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """New rules of some passes over one label's forests."""
    seeds = _tree_seeds(settings, entropy, label, passes)
    indptr, feature, low, high, hashes, tree, pass_ends, n_extracted = grow_rules(
        training.coded,
        training.values,
        training.values_indptr,
        is_target.astype(np.uint8),
        order,
        settings.bag_size(len(is_target)),
        settings.n_drawn_features(training.coded.n_features),
        np.array([-1 if depth is None else depth for depth in settings.max_depths], dtype=np.int64),
        settings.n_trees,
        seeds,
        known_hashes,
    )
    tree += passes.start * seeds.shape[1]
    return RuleTable(indptr, feature, low, high), hashes, tree, pass_ends, n_extracted


def prune_table(
    table: RuleTable,
    tree_of_rule: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    index: RowIndex,
    is_target: NDArray[np.bool_],
    order: NDArray[np.int64],
    settings: ForestSettings,
) -> RuleTable:
    """The rules without the conditions that do not pay on the rows outside their tree's bag."""
    bits = order_bits(is_target)
    indptr = np.empty(len(table) + 1, dtype=np.int64)
    kept = np.empty(len(table.feature), dtype=np.bool_)
    prune_rules(
        index.coded,
        index.sorted_rows,
        index.step,
        table.indptr,
        table.feature,
        table.low,
        table.high,
        bits.bit_of_row,
        bits.n_positive_words,
        bits.n_words,
        order,
        settings.bag_size(len(is_target)),
        seeds,
        tree_of_rule,
        settings.prune == "prefix",
        indptr,
        kept,
    )
    return RuleTable(indptr, table.feature[kept], table.low[kept], table.high[kept])


def generate_candidates(
    training: TrainingFeatures,
    is_target: NDArray[np.bool_],
    settings: ForestSettings,
    entropy: int,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[RuleTable]:
    """Distinct rules for every label, at least γ of them together where the data can yield as many.

    Passes over all labels and depths are repeated until γ is reached; whole passes count, as in the
    paper, so the result is the same however the passes are bundled into rounds.

    Parameters
    ----------
    training : TrainingFeatures
    is_target : (n_labels, n_rows) bool
        Which rows have the label's target class.
    settings : ForestSettings
    entropy : int
        The seed.
    n_jobs : int or None
        Labels are grown in parallel.
    progress : callable(n_found, n_wanted), optional

    Returns
    -------
    list of RuleTable, one a label; empty for a label without any target row.
    """
    n_labels = len(is_target)
    row_keys = hash_rows(training.coded)
    pools = [_LabelPool() for _ in range(n_labels)]
    # A label of one class has nothing to tell apart.
    open_labels = [i for i in range(n_labels) if 0 < is_target[i].sum() < is_target.shape[1]]
    if not open_labels:
        return [RuleTable.empty() for _ in pools]
    n_passes = 0
    round_size = 1
    while True:
        passes = range(n_passes, n_passes + round_size)
        grown = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_grow_label)(
                training,
                is_target[i],
                draw_order(row_keys, is_target[i]),
                settings,
                entropy,
                i,
                passes,
                np.concatenate([np.empty(0, np.uint64), *pools[i].hashes]),
            )
            for i in open_labels
        )
        n_before = sum(pool.n_rules for pool in pools)
        n_extracted = np.zeros(round_size)
        for i, (table, hashes, tree, pass_ends, extracted) in zip(open_labels, grown, strict=True):
            pool = pools[i]
            n_known = pool.n_rules
            pool.tables.append(table)
            pool.hashes.append(hashes)
            pool.trees.append(tree)
            pool.n_rules_after_pass.extend((n_known + pass_ends).tolist())
            n_extracted += extracted
        n_passes += round_size
        totals = np.sum([pools[i].n_rules_after_pass for i in open_labels], axis=0)
        n_rules = int(totals[-1])
        if progress is not None:
            progress(min(n_rules, settings.n_candidates), settings.n_candidates)
        new = np.diff(totals[-round_size:], prepend=n_before)
        is_enough = totals[-round_size:] >= settings.n_candidates
        is_exhausted = (new < MIN_NEW_SHARE * n_extracted) | (new == 0)
        stops = np.flatnonzero(is_enough | is_exhausted)
        if len(stops):
            # The first pass with either reason, as if each pass had been a round of its own.
            n_passes += 1 - round_size + int(stops[0])
            if not is_enough[stops[0]]:
                warnings.warn(
                    f"the data yields only {int(totals[n_passes - 1]):,} distinct candidate rules of "
                    f"the {settings.n_candidates:,} asked for: further trees repeat known ones",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            break
        # New rules become rarer, so going by the last pass ends below the need, never far above.
        needed = math.ceil((settings.n_candidates - n_rules) / max(float(new[-1]), 1.0))
        round_size = max(1, min(needed, 2 * n_passes))
    tables = [pool.table(n_passes) for pool in pools]
    if settings.prune is None:
        return tables
    index = index_rows(training.coded)
    pruned = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(prune_table)(
            tables[i],
            pools[i].tree_of_rule(),
            _tree_seeds(settings, entropy, i, range(n_passes)).ravel(),
            index,
            is_target[i],
            draw_order(row_keys, is_target[i]),
            settings,
        )
        for i in open_labels
    )
    for i, table in zip(open_labels, pruned, strict=True):
        tables[i] = table
    return tables


def as_depths(max_depths: Any) -> tuple[int | None, ...]:
    """Depth limits as a tuple; a single limit is allowed."""
    if max_depths is None or isinstance(max_depths, Real):
        return (max_depths,)  # type: ignore[return-value]  # ForestSettings refuses what is no limit
    return tuple(max_depths)
