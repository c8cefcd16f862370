"""TheoryPath: from one pool of rules, the theories for every heuristic and every φ.

Like a regularisation path: each φ keeps a prefix of the rules that a heuristic selected, best first.
Any cell can be made a Theory, and all cells can be evaluated in one sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._files import write_atomically
from steelyard._kernels.combining import first_firing
from steelyard._text import format_count
from steelyard.heuristics import Heuristic, describe, get_heuristic
from steelyard.measures import Counts, Measure, count_cells

from .coded_rules import CodedRules, code_rules
from .combiners import AnyRule, Combiner, Scores
from .coverage import Bits
from .decoders import BestLabel, Decoder, EachLabel
from .evidence import Evidence, Label, smoothed_precision
from .json import path_parts, path_to_text, reject_damage
from .label_sets import KnownLabelSets
from .log_odds import Points
from .rules import Head, Rule, ScoredRule
from .theory import Theory, labels_to_answer, read_source
from .thresholding import count_above, count_kept

Indices = NDArray[np.intp]


class RankedRules(NamedTuple):
    """The rules that one heuristic selected, best value on the whole training set first.

    `new_tp` and `new_fp` count the training examples that a rule covers and no better rule of its
    label does, so a prefix of the ranking knows what it leaves uncovered.

    Boosting can select a rule again: then `votes` is what each selection adds to the score of its label,
    and its value is the loss reduction.
    """

    rule_idx: Indices
    values: NDArray[np.float64]
    new_tp: NDArray[np.int64]
    new_fp: NDArray[np.int64]
    votes: Points | None = None


class _Prefix(NamedTuple):
    """The distinct rules of a prefix of a ranking, best first, where each first stands, and its vote."""

    rule_idx: Indices
    first: Indices
    votes: Points | None


@dataclass(frozen=True, repr=False)
class TheoryPath:
    """Theories for every pair of a heuristic and a share φ, from the same rules.

    Parameters
    ----------
    heuristics : tuple of Heuristic
    phis : tuple of float
    coded : CodedRules
        Every rule that at least one heuristic selected, over all labels.
    label_of_rule, tp, fp : arrays, one entry per rule
        Counts are those on the whole training set.
    ranked : tuple of RankedRules, one per heuristic
    labels : tuple of Label
        The labels of the empty theory.
    combiner : Combiner, default=AnyRule()
    classes : tuple, default=()
        As in `Theory`.
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
    coded: CodedRules
    label_of_rule: Indices
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    ranked: tuple[RankedRules, ...]
    labels: tuple[Label, ...]
    combiner: Combiner = AnyRule()  # noqa: RUF009, combiners are immutable
    classes: tuple[Any, ...] = ()
    label_sets: KnownLabelSets | None = None

    def __post_init__(self) -> None:
        self.combiner.check(self.labels, ())
        if self.label_sets is not None:
            self.label_sets.check_labels(len(self.labels))
        for ranked in self.ranked:
            if (ranked.votes is None) == self.combiner.gives_log_odds:
                raise ValueError(f"votes do not fit the combiner {self.combiner.name}")

    def __repr__(self) -> str:
        return (
            f"<TheoryPath: {len(self.heuristics)} × {len(self.phis)} theories from "
            f"{format_count(len(self.coded), 'rule')} for {format_count(len(self.labels), 'label')}>"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of heuristics and of shares."""
        return len(self.heuristics), len(self.phis)

    @cached_property
    def n_kept(self) -> NDArray[np.int64]:
        """Length of the prefix that each theory keeps, shape (n_heuristics, n_phis)."""
        return np.array(
            [[count_kept(ranked.values, phi) for phi in self.phis] for ranked in self.ranked]
        ).reshape(self.shape)

    @cached_property
    def n_rules(self) -> NDArray[np.int64]:
        """Number of rules of each theory, shape (n_heuristics, n_phis)."""
        return self._sum_kept(np.ones(len(self.label_of_rule), dtype=np.int64))

    @cached_property
    def n_conditions(self) -> NDArray[np.int64]:
        """Number of conditions of each rule."""
        coder = self.coded.coder
        if self.coded.parts is not None:
            lengths = [sum(c.n_bounds for c in self.coded.body(r)) for r in range(len(self.coded))]
            return np.array(lengths, dtype=np.int64)
        n_codes = np.array([coder.n_codes(f) for f in range(len(coder.features))], dtype=np.int32)
        is_nominal = np.array([f.is_nominal for f in coder.features], dtype=np.bool_)
        return self.coded.table.count_conditions(n_codes, is_nominal)

    @cached_property
    def total_conditions(self) -> NDArray[np.int64]:
        """Number of conditions of each theory, shape (n_heuristics, n_phis)."""
        return self._sum_kept(self.n_conditions)

    def _sum_kept(self, of_rule: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum of a property of the rules over each theory; a rule selected again counts once."""
        sums = []
        for ranked, kept in zip(self.ranked, self.n_kept, strict=True):
            if ranked.votes is None:
                sums.append(np.concatenate(([0], np.cumsum(of_rule[ranked.rule_idx])))[kept])
            else:
                sums.append([of_rule[_take_prefix(ranked, n).rule_idx].sum() for n in kept])
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
        decoder: Decoder | None = None,
    ) -> Theory:
        """The theory of a heuristic (itself, its name or its index) and a share φ.

        The share need not be on the grid. `min_value` cuts at an absolute heuristic value instead.
        Without a decoder, each label is predicted by itself, or the best one of several classes.
        """
        h = self._find(heuristic)
        ranked = self.ranked[h]
        if min_value is None:
            if not 0 < phi <= 1:
                raise ValueError(f"phi must be a number above 0 and at most 1, got {phi!r}")
            n_kept = count_kept(ranked.values, phi)
        else:
            n_kept = count_above(ranked.values, min_value)
        combiner, fitted = self._combine_and_decode(decoder)
        prefix = _take_prefix(ranked, n_kept)
        points = self._strengths(ranked, combiner)[prefix.first]
        if prefix.votes is not None:
            points = prefix.votes
        rules = tuple(
            self._scored_rule(int(r), float(value), int(p) if combiner.gives_log_odds else None)
            for r, value, p in zip(
                prefix.rule_idx, ranked.values[prefix.first], points, strict=True
            )
        )
        return Theory(
            features=self.coded.features,
            labels=self._labels_after(ranked, n_kept),
            rules=rules,
            combiner=combiner,
            decoder=fitted,
            classes=self.classes,
            heuristic=describe(self.heuristics[h]),
            phi=float(phi) if min_value is None else n_kept / max(len(ranked.values), 1),
        )

    def rule(self, r: int, target_class: int | None = None) -> Rule:
        """A rule of the path, for the target class of its label unless another one is given."""
        label = self.labels[self.label_of_rule[r]]
        target_class = label.target_class if target_class is None else target_class
        return Rule(Head(label.name, target_class), self.coded.body(r))

    def _scored_rule(self, r: int, value: float, points: int | None) -> ScoredRule:
        """A rule with its evidence; a negative vote makes it a rule for the absence of its label."""
        evidence = Evidence(int(self.tp[r]), int(self.fp[r]))
        if points is None or points >= 0 or not self.combiner.gives_log_odds:
            return ScoredRule(self.rule(r), evidence, value, points)
        other = 1 - self.labels[self.label_of_rule[r]].target_class
        against = Evidence(evidence.fp, evidence.tp)
        return ScoredRule(self.rule(r, other), against, value, -points)

    @property
    def default_decoder(self) -> Decoder:
        """Each label by itself, or the best one of several classes."""
        return default_decoder(self.labels, self.classes)

    def _combine_and_decode(self, decoder: Decoder | None) -> tuple[Combiner, Decoder]:
        """The combiner and the fitted decoder of a theory of this path."""
        decoder = self.default_decoder if decoder is None else decoder
        if decoder.needs_log_odds:
            decoder = decoder.fit(self.label_sets)
        combiner = self.combiner.adapt(
            decoder.needs_log_odds, decoder.silence, self._prior, self._sign
        )
        decoder.check(self.labels, combiner)
        return combiner, decoder

    def _strengths(self, ranked: RankedRules, combiner: Combiner) -> Scores:
        """What each position of a ranking adds to the score of its label."""
        if ranked.votes is not None:
            return ranked.votes
        rules = ranked.rule_idx
        prior = self._prior[self.label_of_rule[rules]]
        return combiner.strengths(self.tp[rules], self.fp[rules], prior)

    @cached_property
    def _prior(self) -> NDArray[np.float64]:
        """Share of the training examples with each label's target class."""
        counts = np.array([(label.n_positives, label.n_negatives) for label in self.labels])
        return np.asarray(counts[:, 0] / np.maximum(counts.sum(axis=1), 1))

    @cached_property
    def _sign(self) -> Points:
        """-1 for labels whose rules predict absence."""
        return np.array([2 * label.target_class - 1 for label in self.labels], dtype=np.int64)

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

    # -- all theories at once ----------------------------------------------------------------------

    def evaluate(
        self,
        X: Any,
        Y: Any,
        measures: Sequence[Measure],
        decoder: Decoder | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """Every measure of every theory on a multi-label table, each of shape (n_heuristics, n_phis).

        Where a firing rule settles its label, the position of the first firing rule gives the
        predictions for all φ at once. Elsewhere rules are added from small to large φ.
        """
        is_present = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y).astype(np.bool_)
        values = {measure.name: np.empty(self.shape) for measure in measures}
        for cells, axis, counts in self._count_cells(X, is_present, measures, decoder):
            for measure in measures:
                if measure.per == axis:
                    values[measure.name][cells] = measure.from_counts(*counts)
        return values

    def _count_cells(
        self,
        X: Any,
        is_present: NDArray[np.bool_],
        measures: Sequence[Measure],
        decoder: Decoder | None,
    ) -> Iterator[tuple[Any, str, Counts]]:
        """Cells, the axis that is counted along, and the counts of these cells."""
        axes = dict.fromkeys(measure.per for measure in measures)
        if not self._settles(decoder):
            for h, j, decoded in self._decode_cells(X, decoder):
                for axis in axes:
                    yield (h, j), axis, count_cells(is_present, decoded, axis)
            return
        bits, n_rows = self.coded.cover(X)
        for h, ranked in enumerate(self.ranked):
            shape = (len(self.labels), n_rows)
            first = find_first_firing(bits, ranked.rule_idx, self.label_of_rule, shape)
            for axis in axes:
                yield (
                    h,
                    axis,
                    _sweep_counts(first, self.n_kept[h], is_present.T, self._sign > 0, axis),
                )

    def _settles(self, decoder: Decoder | None) -> bool:
        combiner, fitted = self._combine_and_decode(decoder)
        return combiner.first_rule_settles and fitted.is_independent

    def predict_cells(
        self,
        X: Any,
        decoder: Decoder | None = None,
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Predictions of every theory: (heuristic index, φ index, what its `predict` returns)."""
        for h, j, is_present in self._decode_cells(X, decoder):
            yield h, j, labels_to_answer(is_present, self.classes)

    def _decode_cells(
        self, X: Any, decoder: Decoder | None
    ) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
        """Predicted labels of every theory, with rules added from small to large φ."""
        combiner, fitted = self._combine_and_decode(decoder)
        bits, n_rows = self.coded.cover(X)
        for h, ranked in enumerate(self.ranked):
            strength = self._strengths(ranked, combiner)
            tally = combiner.start_tally(len(self.labels), n_rows)
            n_added = 0
            for j in np.argsort(self.n_kept[h], kind="stable"):
                end = max(int(self.n_kept[h, j]), n_added)
                rules = ranked.rule_idx[n_added:end]
                combiner.add_rules(tally, bits, rules, self.label_of_rule, strength[n_added:end])
                n_added = end
                silent = smoothed_precision(*self._n_uncovered(ranked, end)) - 1
                scores = combiner.finish_tally(tally, silent, self._sign).T
                yield h, int(j), fitted.decode(scores, combiner).is_present

    # -- saving ------------------------------------------------------------------------------------

    def to_json(self, path: str | Path | None = None) -> str:
        """The whole path as JSON text; also written to `path` if given."""
        text = path_to_text(self)
        if path is not None:
            write_atomically(Path(path), text.encode())
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> TheoryPath:
        """Read a path from JSON text or from a file; nothing in it is executed."""
        text, where = read_source(source)
        parts = path_parts(text, where)
        with reject_damage(f"{where} is a damaged path"):
            features, rules = parts.pop("features"), parts.pop("rules")
            # The theory of all rules checks what every theory of the path must satisfy.
            decoder = default_decoder(parts["labels"], parts["classes"])
            Theory(features, parts["labels"], rules, decoder=decoder, classes=parts["classes"])
            position = {label.name: j for j, label in enumerate(parts["labels"])}
            ranked = tuple(RankedRules(**ranking) for ranking in parts.pop("ranked"))
            return cls(
                **parts,
                ranked=ranked,
                coded=code_rules(features, [scored.body for scored in rules]),
                label_of_rule=np.array([position[s.head.label] for s in rules], dtype=np.intp),
                tp=np.array([scored.tp for scored in rules], dtype=np.int64),
                fp=np.array([scored.fp for scored in rules], dtype=np.int64),
            )

    def to_frame(self) -> pd.DataFrame:
        """One row per theory: heuristic, parameter, phi, n_rules, n_conditions (mean per rule)."""
        return pd.DataFrame(
            {
                "heuristic": np.repeat([h.name for h in self.heuristics], len(self.phis)),
                "parameter": np.repeat([h.parameter for h in self.heuristics], len(self.phis)),
                "phi": np.tile(self.phis, len(self.heuristics)),
                "n_rules": self.n_rules.ravel(),
                "n_conditions": (self.total_conditions / np.maximum(self.n_rules, 1)).ravel(),
            }
        )


def default_decoder(labels: Sequence[Label], classes: Sequence[Any]) -> Decoder:
    """Each label by itself, or the best one of several classes."""
    return BestLabel() if len(labels) > 1 and classes else EachLabel()


def _take_prefix(ranked: RankedRules, n_kept: int) -> _Prefix:
    """The first rules of a ranking; votes of a rule that was selected again are added up."""
    kept = ranked.rule_idx[:n_kept]
    if ranked.votes is None:
        return _Prefix(kept, np.arange(n_kept), None)
    rules, first, inverse = np.unique(kept, return_index=True, return_inverse=True)
    votes = np.zeros(len(rules), dtype=np.int64)
    np.add.at(votes, inverse, ranked.votes[:n_kept])
    order = np.argsort(first)
    order = order[votes[order] != 0]  # drop rules whose votes cancel
    return _Prefix(rules[order], first[order], votes[order])


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
    for_presence: NDArray[np.bool_],
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
    for_presence : (n_labels,)
        Whether the rules of a label predict its presence.
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

    # Labels whose rules predict absence are predicted as present where none of them fires.
    says_present = np.broadcast_to(for_presence[:, None], first.shape)

    def count_predicted(truth: NDArray[np.bool_]) -> NDArray[np.int64]:
        silent = np.bincount(group[truth & ~says_present], minlength=n_groups)
        return count(truth & says_present) + silent - count(truth & ~says_present)

    tp, fp = count_predicted(is_present), count_predicted(~is_present)
    fn = np.bincount(group[is_present], minlength=n_groups) - tp
    tn = np.bincount(group[~is_present], minlength=n_groups) - fp
    if per == "all":
        return Counts(tp[:, 0], fp[:, 0], fn[:, 0], tn[:, 0])
    return Counts(tp, fp, fn, tn)
