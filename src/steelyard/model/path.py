"""TheoryPath: from one pool of candidates the theories for every heuristic and every φ.

Like a regularisation path: one covering run a heuristic, then each φ is a prefix of its rules sorted
by value. Any cell can be made a Theory, and all cells can be evaluated in one sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._kernels.combining import first_firing
from steelyard.heuristics import (
    Heuristic,
    describe,
    get_heuristic,
)
from steelyard.measures import Counts, Measure, count_cells

from .coded_rules import RuleProgram
from .coverage import Bits, unpack
from .decoding import (
    Combine,
    Decoding,
    EachLabel,
    KnownLabelSets,
    LabelSets,
    Points,
    confidence_to_points,
    probability_to_points,
)
from .evidence import Label, ScoredRule, smoothed_precision
from .firing import finish_points, fire_points, start_firing
from .path_json import path_from_text, path_to_text
from .rules import Head, Rule
from .theory import Output, Theory
from .thresholding import count_above, count_kept

Indices = NDArray[np.intp]


class RankedRules(NamedTuple):
    """The rules that one heuristic selected, best value on the whole training set first.

    The value of a choice in a weighted path is what it lowers the loss by.

    `new_tp` and `new_fp` count the training examples that a rule covers and no better rule of its
    label does, so that a prefix of the ranking knows what it leaves uncovered.

    In a weighted path a rule can be chosen again: `points` is what each choice adds to the points for
    its label's presence.
    """

    rule_idx: Indices
    values: NDArray[np.float64]
    new_tp: NDArray[np.int64]
    new_fp: NDArray[np.int64]
    points: Points | None = None


@dataclass(frozen=True)
class TheoryPath:
    """Theories for every pair of a heuristic and a share φ, from the same candidates.

    Parameters
    ----------
    heuristics : tuple of Heuristic
    phis : tuple of float
    program : RuleProgram
        Every rule that at least one heuristic selected, over all labels.
    label_of_rule, tp, fp, n_conditions : arrays, one entry a rule of the program
        Counts are those on the whole training set.
    ranked : tuple of RankedRules, one a heuristic
    labels : tuple of Label
        The labels of the empty theory.
    output, classes, combine : as in `Theory`
    label_sets : KnownLabelSets, optional
        The label sets of the training examples; None for a one-dimensional target.

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
    program: RuleProgram
    label_of_rule: Indices
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_conditions: NDArray[np.int64]
    ranked: tuple[RankedRules, ...]
    labels: tuple[Label, ...]
    output: Output = "multilabel"
    classes: tuple[Any, ...] = ()
    combine: Combine = "any"
    label_sets: KnownLabelSets | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of heuristics and of shares."""
        return len(self.heuristics), len(self.phis)

    @cached_property
    def n_kept(self) -> NDArray[np.int64]:
        """Length of the ranking that each theory keeps, shape (n_heuristics, n_phis)."""
        return np.array(
            [[count_kept(ranked.values, phi) for phi in self.phis] for ranked in self.ranked]
        ).reshape(self.shape)

    @cached_property
    def n_rules(self) -> NDArray[np.int64]:
        """Number of rules of each theory, shape (n_heuristics, n_phis)."""
        return self._sum_kept(np.ones(len(self.label_of_rule), dtype=np.int64))

    @cached_property
    def total_conditions(self) -> NDArray[np.int64]:
        """Number of conditions of each theory, shape (n_heuristics, n_phis)."""
        return self._sum_kept(self.n_conditions)

    def _sum_kept(self, of_rule: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum of a property of the rules over each theory; a rule chosen again counts once."""
        sums = []
        for ranked, kept in zip(self.ranked, self.n_kept, strict=True):
            if self.combine == "weighted":
                rules = (self._rules_with_points(ranked, n, EachLabel())[0] for n in kept)
                sums.append([of_rule[r].sum() for r in rules])
            else:
                sums.append(np.concatenate(([0], np.cumsum(of_rule[ranked.rule_idx])))[kept])
        return np.array(sums, dtype=np.int64).reshape(self.shape)

    # -- one theory ------------------------------------------------------------------------------

    def _find(self, heuristic: Heuristic | str | Callable[..., Any] | int) -> int:
        if isinstance(heuristic, int | np.integer):
            return range(len(self.heuristics))[int(heuristic)]
        heuristic = get_heuristic(heuristic)
        if heuristic not in self.heuristics:
            known = ", ".join(map(describe, self.heuristics))
            raise ValueError(f"the path has no {describe(heuristic)}; it has {known}")
        return self.heuristics.index(heuristic)

    def theory(
        self,
        heuristic: Heuristic | str | Callable[..., Any] | int = 0,
        phi: float = 1.0,
        *,
        min_value: float | None = None,
        decoding: Decoding = EachLabel(),  # noqa: B008
    ) -> Theory:
        """The theory of a heuristic (itself, its name or its index) and a share φ.

        The share need not be on the grid. `min_value` cuts at an absolute heuristic value instead.
        `decoding` says how its firing rules become labels.
        """
        ranked = self.ranked[self._find(heuristic)]
        if min_value is None:
            if not 0 < phi <= 1:
                raise ValueError(f"phi must be a number above 0 and at most 1, got {phi!r}")
            n_kept = count_kept(ranked.values, phi)
        else:
            n_kept = count_above(ranked.values, min_value)
        kept, first, points = self._rules_with_points(ranked, n_kept, decoding)
        labels = self._labels_after(ranked, n_kept)
        by_label = np.argsort(self.label_of_rule[kept], kind="stable")
        return Theory(
            features=self.program.features,
            labels=labels,
            scored_rules=tuple(
                self._scored_rule(
                    int(kept[i]),
                    float(ranked.values[first[i]]),
                    None if points is None else int(points[i]),
                )
                for i in by_label
            ),
            heuristic=describe(self.heuristics[self._find(heuristic)]),
            phi=float(phi) if min_value is None else n_kept / max(len(ranked.values), 1),
            output=self.output,
            classes=self.classes,
            combine=self.combine,
            start_points=self._start_points(decoding),
            label_sets=self._sets_for(decoding),
        )

    def _scored_rule(self, r: int, value: float, points: int | None) -> ScoredRule:
        """A rule of the program; negative points make it a rule for the label's absence."""
        label = self.labels[self.label_of_rule[r]]
        is_against = self.combine == "weighted" and points is not None and points < 0
        target_class = 1 - label.target_class if is_against else label.target_class
        tp, fp = int(self.tp[r]), int(self.fp[r])
        return ScoredRule(
            Rule(Head(label.name, target_class), self.program.table.body(r, self.program.coder)),
            tp=fp if is_against else tp,
            fp=tp if is_against else fp,
            value=value,
            points=-points if is_against and points is not None else points,
        )

    def _rules_with_points(
        self, ranked: RankedRules, n_kept: int, decoding: Decoding
    ) -> tuple[Indices, Indices, Points | None]:
        """The rules of a prefix, best first, where each stands in it, and their points."""
        kept = ranked.rule_idx[:n_kept]
        if ranked.points is None:
            points = self._confidence[kept] if isinstance(decoding, LabelSets) else None
            return kept, np.arange(n_kept), points
        rules, first, inverse = np.unique(kept, return_index=True, return_inverse=True)
        points = np.zeros(len(rules), dtype=np.int64)
        np.add.at(points, inverse, ranked.points[:n_kept])
        order = np.argsort(first)
        order = order[points[order] != 0]  # what was given and taken back is no rule
        return rules[order], first[order], points[order]

    @cached_property
    def _prior(self) -> NDArray[np.float64]:
        """Share of the training examples with each label's target class."""
        counts = np.array([(label.n_positives, label.n_negatives) for label in self.labels])
        return np.asarray(counts[:, 0] / np.maximum(counts.sum(axis=1), 1))

    @cached_property
    def _confidence(self) -> Points:
        """What each rule of the program says by itself, as points for its target class."""
        return confidence_to_points(self.tp, self.fp, self._prior[self.label_of_rule])

    def _start_points(self, decoding: Decoding) -> tuple[int, ...] | None:
        """Points for the presence of each label where no rule fires; None: no points at all."""
        if self.combine == "weighted":
            points = probability_to_points(self._prior)
            if isinstance(decoding, EachLabel):
                points = points - probability_to_points(decoding.min_probability)
        elif isinstance(decoding, LabelSets):
            points = probability_to_points(decoding.silence * self._prior)
            points = np.where(self._target_class == 1, points, -points)
        else:
            return None
        return tuple(points.tolist())

    def _sets_for(self, decoding: Decoding) -> KnownLabelSets | None:
        if isinstance(decoding, EachLabel):
            return None
        if self.label_sets is None:
            if self.output != "multilabel":
                raise ValueError(
                    "label sets are for multi-label targets; this y has one class a row"
                )
            raise ValueError("the path knows no label sets: JSON does not keep them")
        return replace(
            self.label_sets,
            frequency_weight=decoding.frequency_weight,
            min_share=decoding.min_share,
        )

    def _n_uncovered(self, ranked: RankedRules, n_kept: int) -> tuple[Indices, Indices]:
        """Positives and negatives of each label that the best rules leave uncovered."""
        label = self.label_of_rule[ranked.rule_idx[:n_kept]]
        n_labels = len(self.labels)
        new_tp = np.bincount(label, ranked.new_tp[:n_kept], minlength=n_labels).astype(np.intp)
        new_fp = np.bincount(label, ranked.new_fp[:n_kept], minlength=n_labels).astype(np.intp)
        n_positives = np.array([label.n_positives for label in self.labels])
        n_negatives = np.array([label.n_negatives for label in self.labels])
        return n_positives - new_tp, n_negatives - new_fp

    def _labels_after(self, ranked: RankedRules, n_kept: int) -> tuple[Label, ...]:
        return tuple(
            replace(label, uncovered_positives=int(positives), uncovered_negatives=int(negatives))
            for label, positives, negatives in zip(
                self.labels, *self._n_uncovered(ranked, n_kept), strict=True
            )
        )

    @cached_property
    def _target_class(self) -> NDArray[np.int64]:
        return np.array([label.target_class for label in self.labels], dtype=np.int64)

    # -- all theories at once ----------------------------------------------------------------------

    def _cover(self, X: Any) -> tuple[Bits, int]:
        columns = self.program.select_columns(X)
        return self.program.cover(columns), int(columns.shape[0])

    def _first_firing(self, bits: Bits, n_rows: int) -> Iterator[NDArray[np.int32]]:
        """For each heuristic: position of the first firing rule, shape (n_labels, n_rows)."""
        for ranked in self.ranked:
            yield find_first_firing(
                bits, ranked.rule_idx, self.label_of_rule, (len(self.labels), n_rows)
            )

    def evaluate(
        self,
        X: Any,
        Y: Any,
        measures: Sequence[Measure],
        decoding: Decoding = EachLabel(),  # noqa: B008
    ) -> dict[str, NDArray[np.float64]]:
        """Every measure of every theory on a multi-label table, each of shape (n_heuristics, n_phis).

        One sweep a heuristic: the position of the first firing rule says for all φ at once whether a
        label is predicted. Where points decide, rules are added from strict to lax φ.
        """
        is_present = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y).astype(np.bool_)
        values = {measure.name: np.empty(self.shape) for measure in measures}
        axes = {measure.per for measure in measures}
        if self._start_points(decoding) is not None:
            for h, j, predicted in self.predict_cells(X, decoding):
                is_predicted = predicted.astype(np.bool_)
                for axis in axes:
                    counts = count_cells(is_present, is_predicted, axis)
                    for measure in measures:
                        if measure.per == axis:
                            values[measure.name][h, j] = measure.from_counts(*counts)
            return values
        is_present = is_present.T
        for h, first in enumerate(self._first_firing(*self._cover(X))):
            for axis in axes:
                counts = _sweep_counts(first, self.n_kept[h], is_present, self._target_class, axis)
                for measure in measures:
                    if measure.per == axis:
                        values[measure.name][h] = measure.from_counts(*counts)
        return values

    def predict_cells(
        self,
        X: Any,
        decoding: Decoding = EachLabel(),  # noqa: B008
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Predictions of every theory: (heuristic index, φ index, what its `predict` returns)."""
        bits, n_rows = self._cover(X)
        if self._start_points(decoding) is not None:
            yield from self._predict_by_points(bits, n_rows, decoding)
            return
        if self.output == "multiclass":
            yield from self._predict_multiclass(bits, n_rows)
            return
        target = self._target_class
        for h, first in enumerate(self._first_firing(bits, n_rows)):
            for j, n_kept in enumerate(self.n_kept[h]):
                predicted = np.where(n_kept > first.T, target, 1 - target)
                if self.output == "binary":
                    yield h, j, np.asarray(self.classes)[predicted[:, 0]]
                else:
                    yield h, j, predicted

    def _predict_by_points(
        self, bits: Bits, n_rows: int, decoding: Decoding
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Points as in `Theory.count_points`, changed rule by rule from strict to lax φ."""
        start = np.array(self._start_points(decoding), dtype=np.int64)
        label_sets = self._sets_for(decoding)
        classes = np.asarray(self.classes)
        for h, ranked in enumerate(self.ranked):
            counted = start_firing(self.combine, start, n_rows)
            n_fired = 0
            for j in np.argsort(self.n_kept[h], kind="stable"):
                end = max(int(self.n_kept[h, j]), n_fired)
                rules = ranked.rule_idx[n_fired:end]
                points = (
                    self._confidence[rules] if ranked.points is None else ranked.points[n_fired:end]
                )
                fire_points(bits, rules, self.label_of_rule, points, counted, self.combine)
                n_fired = end
                total = finish_points(counted, start, self._target_class == 0, self.combine).T
                if self.output == "multiclass":
                    yield h, int(j), classes[np.argmax(total, axis=1)]
                elif self.output == "binary":
                    yield h, int(j), classes[(total[:, 0] > 0).astype(np.int64)]
                else:
                    is_present = total > 0 if label_sets is None else label_sets.decode(total)
                    yield h, int(j), is_present.astype(np.int64)

    def _predict_multiclass(
        self, bits: Bits, n_rows: int
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Scores as in `Theory.decision_function`, updated rule by rule from strict to lax φ."""
        precision = smoothed_precision(self.tp, self.fp)
        classes = np.asarray(self.classes)
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
                silent = smoothed_precision(*self._n_uncovered(ranked, end))
                scores = np.where(np.isinf(best), (silent - 1)[:, None], best)
                yield h, int(j), classes[np.argmax(scores, axis=0)]

    # -- saving ------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole path as JSON text: every rule once, and the ranking of each heuristic.

        The label sets of the training examples are not in it, so that a path that is read back has no
        theories that predict label sets. A weighted path is refused; its theories can be saved.
        """
        if self.combine == "weighted":
            raise ValueError("a weighted path cannot be saved; its theories can")
        return path_to_text(self)

    @classmethod
    def from_json(cls, text: str) -> TheoryPath:
        """Read a path from the text that `to_json` wrote."""
        parts = path_from_text(text)
        ranked = tuple(RankedRules(**ranking) for ranking in parts.pop("ranked"))
        return cls(**parts, ranked=ranked)

    def to_frame(self) -> pd.DataFrame:
        """One row a theory: heuristic, parameter, phi, n_rules, n_conditions (mean a rule)."""
        return pd.DataFrame(
            {
                "heuristic": np.repeat([h.name for h in self.heuristics], len(self.phis)),
                "parameter": np.repeat([h.parameter for h in self.heuristics], len(self.phis)),
                "phi": np.tile(self.phis, len(self.heuristics)),
                "n_rules": self.n_rules.ravel(),
                "n_conditions": (self.total_conditions / np.maximum(self.n_rules, 1)).ravel(),
            }
        )


def find_first_firing(
    bits: Bits, rule_idx: Indices, label_of_rule: Indices, shape: tuple[int, int]
) -> NDArray[np.int32]:
    """Position of the first firing rule of each label, shape (n_labels, n_rows); none: beyond all."""
    first = np.full(shape, len(rule_idx), dtype=np.int32)
    first_firing(bits, rule_idx, label_of_rule, first)
    return first


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
