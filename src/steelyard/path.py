"""TheoryPath: from one pool of candidates the theories for every heuristic and every φ.

Like a regularisation path: one covering run a heuristic, then each φ is a prefix of its rules sorted
by value. Any cell can be made a Theory, and all cells can be evaluated in one sweep.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ._kernels.firing import first_firing
from .candidates import ForestSettings, Progress, generate_candidates
from .coverage import Bits, RowIndex, cover, index_rows, unpack
from .covering import Selection, select_for_label
from .features import FeatureCoder, TrainingFeatures, code_training_table
from .heuristics import ConfusionMatrix, Heuristic, describe, heuristic_values
from .measures import Counts, Measure
from .rules import Head, Rule, RuleTable
from .targets import Targets
from .theory import Label, ScoredRule, Theory, smoothed_precision
from .thresholding import count_above, count_kept

Indices = NDArray[np.intp]


class RankedRules(NamedTuple):
    """The rules that one heuristic selected, best value on the whole training set first."""

    rule_idx: Indices
    values: NDArray[np.float64]


@dataclass(frozen=True)
class TheoryPath:
    """Theories for every pair of a heuristic and a share φ, from the same candidates.

    Parameters
    ----------
    heuristics : tuple of Heuristic
    phis : tuple of float
    coder : FeatureCoder
    targets : Targets
        Labels of the training set.
    table : RuleTable
        Every rule that at least one heuristic selected, over all labels.
    label_of_rule, tp, fp, n_conditions : arrays, one entry a rule of `table`
        Counts are those on the whole training set.
    coverage : uint64 array
        Training rows that each rule covers, row i as bit i.
    ranked : tuple of RankedRules, one a heuristic

    Examples
    --------
    >>> from steelyard import MEstimate, make_planted_rules, theory_path
    >>> data = make_planted_rules(200, random_state=0)
    >>> path = theory_path(
    ...     data.X, data.Y, [MEstimate(m=1), MEstimate(m=64)], n_candidates=500, random_state=0
    ... )
    >>> path.shape
    (2, 20)
    >>> len(path.theory(MEstimate(m=64), 0.5)) <= len(path.theory(MEstimate(m=64), 1.0))
    True
    """

    heuristics: tuple[Heuristic, ...]
    phis: tuple[float, ...]
    coder: FeatureCoder
    targets: Targets
    table: RuleTable
    label_of_rule: Indices
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_conditions: NDArray[np.int64]
    coverage: Bits
    ranked: tuple[RankedRules, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of heuristics and of shares."""
        return len(self.heuristics), len(self.phis)

    @cached_property
    def n_kept(self) -> NDArray[np.int64]:
        """Number of rules of each theory, shape (n_heuristics, n_phis)."""
        return np.array(
            [[count_kept(ranked.values, phi) for phi in self.phis] for ranked in self.ranked]
        ).reshape(self.shape)

    @cached_property
    def total_conditions(self) -> NDArray[np.int64]:
        """Number of conditions of each theory, shape (n_heuristics, n_phis)."""
        sums = [np.concatenate(([0], np.cumsum(self.n_conditions[r.rule_idx]))) for r in self.ranked]
        return np.array([total[kept] for total, kept in zip(sums, self.n_kept, strict=True)])

    # -- one theory ------------------------------------------------------------------------------

    def _find(self, heuristic: Heuristic | int) -> int:
        if isinstance(heuristic, int | np.integer):
            return range(len(self.heuristics))[int(heuristic)]
        if heuristic not in self.heuristics:
            known = ", ".join(map(describe, self.heuristics))
            raise ValueError(f"the path has no {describe(heuristic)}; it has {known}")
        return self.heuristics.index(heuristic)

    def theory(
        self, heuristic: Heuristic | int = 0, phi: float = 1.0, *, min_value: float | None = None
    ) -> Theory:
        """The theory of a heuristic (itself or its index) and a share φ, which need not be on the grid.

        `min_value` cuts at an absolute heuristic value instead.
        """
        ranked = self.ranked[self._find(heuristic)]
        if min_value is None:
            n_kept = count_kept(ranked.values, phi)
        else:
            n_kept = count_above(ranked.values, min_value)
        kept, values = ranked.rule_idx[:n_kept], ranked.values[:n_kept]
        labels: list[Label] = []
        scored: list[ScoredRule] = []
        for i, name in enumerate(self.targets.names):
            mine = self.label_of_rule[kept] == i
            target_class = int(self.targets.target_class[i])
            labels.append(
                Label(
                    name,
                    target_class,
                    *self._n_examples(i),
                    *self._n_uncovered(i, kept[mine]),
                )
            )
            scored.extend(
                ScoredRule(
                    Rule(Head(name, target_class), self.table.body(int(r), self.coder)),
                    tp=int(self.tp[r]),
                    fp=int(self.fp[r]),
                    value=float(value),
                )
                for r, value in zip(kept[mine], values[mine], strict=True)
            )
        return Theory(
            features=self.coder.features,
            labels=tuple(labels),
            scored_rules=tuple(scored),
            heuristic=describe(self.heuristics[self._find(heuristic)]),
            phi=float(phi) if min_value is None else n_kept / max(len(ranked.values), 1),
            output=self.targets.output,
            classes=self.targets.classes,
        )

    def _n_examples(self, label: int) -> tuple[int, int]:
        n_positives = int(self.targets.is_target[label].sum())
        return n_positives, self.targets.is_target.shape[1] - n_positives

    def _n_uncovered(self, label: int, rules: Indices) -> tuple[int, int]:
        n_rows = self.targets.is_target.shape[1]
        covered = np.bitwise_or.reduce(self.coverage[rules], axis=0, keepdims=True)
        uncovered = ~unpack(covered, n_rows)[0]
        is_target = self.targets.is_target[label]
        return int((uncovered & is_target).sum()), int((uncovered & ~is_target).sum())

    # -- all theories at once ----------------------------------------------------------------------

    def _first_firing(self, index: RowIndex) -> Iterator[NDArray[np.int32]]:
        """For each heuristic: position of the first firing rule, shape (n_labels, n_rows)."""
        bits = cover(self.table, index)
        for ranked in self.ranked:
            first = np.full((len(self.targets.names), index.coded.n_rows), len(ranked.rule_idx))
            first = first.astype(np.int32)
            first_firing(bits, ranked.rule_idx, self.label_of_rule, first)
            yield first

    def evaluate(self, X: Any, Y: Any, measures: Sequence[Measure]) -> dict[str, NDArray[np.float64]]:
        """Every measure of every theory on a multi-label table, each of shape (n_heuristics, n_phis).

        One sweep a heuristic: the position of the first firing rule says for all φ at once whether a
        label is predicted.
        """
        is_present = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y).T.astype(np.bool_)
        values = {measure.name: np.empty(self.shape) for measure in measures}
        firsts = self._first_firing(index_rows(self.coder.encode(X)))
        for h, first in enumerate(firsts):
            for axis in {measure.per for measure in measures}:
                counts = _sweep_counts(
                    first, self.n_kept[h], is_present, self.targets.target_class, axis
                )
                for measure in measures:
                    if measure.per == axis:
                        values[measure.name][h] = measure.from_counts(*counts)
        return values

    def predict_cells(self, X: Any) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Predictions of every theory: (heuristic index, φ index, what its `predict` returns)."""
        index = index_rows(self.coder.encode(X))
        if self.targets.output == "multiclass":
            yield from self._predict_multiclass(index)
            return
        target = self.targets.target_class
        for h, first in enumerate(self._first_firing(index)):
            for j, n_kept in enumerate(self.n_kept[h]):
                predicted = np.where(first.T < n_kept, target, 1 - target)
                if self.targets.output == "binary":
                    yield h, j, np.asarray(self.targets.classes)[predicted[:, 0]]
                else:
                    yield h, j, predicted

    def _predict_multiclass(self, index: RowIndex) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Scores as in `Theory.decision_function`, updated rule by rule from strict to lax φ."""
        n_rows = index.coded.n_rows
        bits = cover(self.table, index)
        precision = smoothed_precision(self.tp, self.fp)
        classes = np.asarray(self.targets.classes)
        for h, ranked in enumerate(self.ranked):
            best = np.full((len(classes), n_rows), -np.inf)
            start = 0
            for j in np.argsort(self.n_kept[h], kind="stable"):
                end = int(self.n_kept[h, j])
                for r in ranked.rule_idx[start:end]:
                    fires = unpack(bits[r : r + 1], n_rows)[0]
                    row = best[self.label_of_rule[r]]
                    row[fires] = np.maximum(row[fires], precision[r])
                start = max(start, end)
                kept = ranked.rule_idx[:end]
                silent = np.array(
                    [
                        smoothed_precision(*self._n_uncovered(i, kept[self.label_of_rule[kept] == i]))
                        for i in range(len(classes))
                    ]
                )
                scores = np.where(np.isinf(best), (silent - 1)[:, None], best)
                yield h, int(j), classes[np.argmax(scores, axis=0)]


def _sweep_counts(
    first: NDArray[np.int32],
    n_kept: NDArray[np.int64],
    is_present: NDArray[np.bool_],
    target_class: NDArray[np.int64],
    per: str,
) -> Counts:
    """Counts of the labels predicted as present, for each number of kept rules.

    Parameters
    ----------
    first : (n_labels, n_rows)
        Position of the first firing rule.
    n_kept : (n_cells,)
        A label fires in a cell if its first position is below this.
    is_present : (n_labels, n_rows)
        Whether the row has the label.
    target_class : (n_labels,)
    per : {"all", "label", "example"}
        The counts have shape (n_cells,), (n_cells, n_labels) or (n_cells, n_rows).
    """
    n_labels, n_rows = first.shape
    order = np.argsort(n_kept, kind="stable")
    # A (label, row) fires in the cells from this one on, cells sorted by their number of rules.
    level = np.searchsorted(n_kept[order], first, side="right")
    group = {
        "all": np.zeros((n_labels, n_rows), dtype=np.intp),
        "label": np.broadcast_to(np.arange(n_labels)[:, None], (n_labels, n_rows)),
        "example": np.broadcast_to(np.arange(n_rows), (n_labels, n_rows)),
    }[per]
    n_groups = {"all": 1, "label": n_labels, "example": n_rows}[per]
    n_levels = len(n_kept) + 1
    def count(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many of the masked (label, row) pairs have fired, per group and cell."""
        flat = group[mask] * n_levels + level[mask]
        fired = np.bincount(flat, minlength=n_groups * n_levels).reshape(n_groups, n_levels)
        by_cell = np.empty((len(n_kept), n_groups), dtype=np.int64)
        by_cell[order] = np.cumsum(fired, axis=1).T[:-1]
        return by_cell

    # A label of target class 1 is predicted as present where it fires, the others where they do not.
    says_present = np.broadcast_to((target_class == 1)[:, None], first.shape)

    def count_predicted(truth: NDArray[np.bool_]) -> NDArray[np.int64]:
        silent = np.bincount(group[truth & ~says_present], minlength=n_groups)
        return count(truth & says_present) + silent - count(truth & ~says_present)

    tp, fp = count_predicted(is_present), count_predicted(~is_present)
    fn = np.bincount(group[is_present], minlength=n_groups) - tp
    tn = np.bincount(group[~is_present], minlength=n_groups) - fp
    if per == "all":
        return Counts(tp[:, 0], fp[:, 0], fn[:, 0], tn[:, 0])
    return Counts(tp, fp, fn, tn)


# -- learning ----------------------------------------------------------------------------------------


def learn_path(
    X: Any,
    targets: Targets,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    settings: ForestSettings,
    *,
    threshold_heuristic: Heuristic | None = None,
    revalidate: bool = True,
    entropy: int = 0,
    n_jobs: int | None = None,
    feature_names: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> TheoryPath:
    """Candidates → covering with every heuristic → rules ranked for every φ."""
    training = code_training_table(X, feature_names)
    tables = generate_candidates(
        training, targets.is_target, settings, entropy, n_jobs=n_jobs, progress=progress
    )
    index = index_rows(training.coded)
    selections: list[Selection] = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(select_for_label)(table, index, is_target, heuristics, revalidate=revalidate)
        for table, is_target in zip(tables, targets.is_target, strict=True)
    )
    return _rank(training, targets, selections, heuristics, phis, threshold_heuristic, index)


def _rank(
    training: TrainingFeatures,
    targets: Targets,
    selections: Sequence[Selection],
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    threshold_heuristic: Heuristic | None,
    index: RowIndex,
) -> TheoryPath:
    """Value the selected rules of all labels on the whole training set and sort them together."""
    offsets = np.concatenate(([0], np.cumsum([len(s.table) for s in selections])))
    label_of_rule = np.repeat(np.arange(len(selections)), np.diff(offsets))
    tp = np.concatenate([s.tp for s in selections]).astype(np.int64)
    fp = np.concatenate([s.fp for s in selections]).astype(np.int64)
    n_conditions = np.concatenate([s.n_conditions for s in selections])
    n_positives = np.array([s.n_positives for s in selections])[label_of_rule]
    n_negatives = np.array([s.n_negatives for s in selections])[label_of_rule]
    table = RuleTable.concatenate([s.table for s in selections])
    ranked: list[RankedRules] = []
    for h, heuristic in enumerate(heuristics):
        rules = np.concatenate(
            [offset + s.selected[h] for offset, s in zip(offsets[:-1], selections, strict=True)]
        )
        counts = ConfusionMatrix(
            tp=tp[rules],
            fp=fp[rules],
            fn=n_positives[rules] - tp[rules],
            tn=n_negatives[rules] - fp[rules],
        )
        values = heuristic_values(threshold_heuristic or heuristic, counts)
        # Best value first; ties: more true positives, fewer conditions, then order of selection.
        best_first = np.lexsort((n_conditions[rules], -tp[rules], -values))
        ranked.append(RankedRules(rules[best_first], values[best_first]))
    return TheoryPath(
        heuristics=tuple(heuristics),
        phis=tuple(float(phi) for phi in phis),
        coder=training.coder,
        targets=targets,
        table=table,
        label_of_rule=label_of_rule,
        tp=tp,
        fp=fp,
        n_conditions=n_conditions,
        coverage=cover(table, index),
        ranked=tuple(ranked),
    )


def path_to_frame(path: TheoryPath) -> pd.DataFrame:
    """One row a theory: heuristic, parameter, phi, n_rules, n_conditions (mean per rule)."""
    rows = [
        {
            "heuristic": heuristic.name,
            "parameter": heuristic.parameter,
            "phi": phi,
            "n_rules": int(path.n_kept[h, j]),
            "n_conditions": path.total_conditions[h, j] / max(path.n_kept[h, j], 1),
        }
        for h, heuristic in enumerate(path.heuristics)
        for j, phi in enumerate(path.phis)
    ]
    return pd.DataFrame(rows)
