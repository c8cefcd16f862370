"""TheoryPath: from one pool of rules, the theories for every heuristic and every φ.

Like a regularisation path: each φ keeps a prefix of the rules that a heuristic selected, best first.
Any cell can be made a Theory, and all cells can be evaluated in one sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._text import format_count
from steelyard.heuristics import Heuristic, SavedHeuristic, describe, get_heuristic
from steelyard.measures import Measure, count_cells

from .coded_rules import CodedRules, code_rules
from .combiner import Combiner, Scores, target_signs
from .combiners import AnyRule
from .conditions import Condition
from .coverage import Bits
from .decoders import Decoded, Decoder, default_decoder
from .evaluation import labels_to_answer
from .evidence import Evidence, Label, Provenance, smoothed_precision
from .json import PATH, JsonFormat, Saved
from .label_sets import KnownLabelSets
from .log_odds import Points
from .rules import Head, Rule, ScoredRule
from .theory import Theory
from .thresholding import count_above, count_kept, count_within

Indices = NDArray[np.intp]


def add_votes(rule_idx: Indices, votes: Points) -> tuple[Indices, Indices, Points]:
    """Each rule once, in order, where it first stands, and the sum of its votes.

    Examples
    --------
    >>> add_votes(np.array([7, 2, 7, 4, 4]), np.array([10, 5, 1, 3, -3]))
    (array([7, 2]), array([0, 1]), array([11,  5]))
    """
    rules, first, inverse = np.unique(rule_idx, return_index=True, return_inverse=True)
    sums = np.zeros(len(rules), dtype=np.int64)
    np.add.at(sums, inverse, votes)
    order = np.argsort(first)
    order = order[sums[order] != 0]  # drop rules whose votes cancel
    return rules[order], first[order], sums[order]


class RankedRules(NamedTuple):
    """The rules that one heuristic selected, best value on the whole training set first.

    If each label keeps its best rules whatever their values, these stand before all others.

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

    def take(self, n_kept: int) -> tuple[Indices, Indices, Points | None]:
        """The distinct rules of a prefix, best first, where each first stands, and its vote.

        Votes of a rule that was selected again are added up.
        """
        kept = self.rule_idx[:n_kept]
        if self.votes is None:
            return kept, np.arange(n_kept), None
        return add_votes(kept, self.votes[:n_kept])

    def shorten(self, n_kept: int) -> RankedRules:
        """A prefix of the ranking."""
        return RankedRules._make(None if column is None else column[:n_kept] for column in self)


class WeighedCounts(NamedTuple):
    """TP and FP of the rules as sums of weights, and the share of each label's target class.

    The share is that among the examples, without weights of classes: it is what a label starts from
    where no rule fires. `per_positive` and `per_negative` are what an example of a label counts on
    average.
    """

    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    prior: NDArray[np.float64]
    per_positive: NDArray[np.float64]
    per_negative: NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class TheoryPath(Saved):
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
    max_rules : int, optional
        Maximum number of rules of a theory that decides, whatever its φ.
    min_rules_per_label : int, default=0
        Number of rules that each label keeps if it has them, whatever their values: they come first in
        every ranking.
    max_total_conditions : int, optional
        Maximum number of conditions of a theory that decides, over all of its rules, whatever its φ.
    n_given : int, default=0
        Number of given rules: the last of all rules. They stand before all others in every ranking,
        and every theory keeps them.
    origins : tuple of Provenance, default=()
        Who made the given rules, one per rule; empty if nothing else is known than that they are given.
    held_out : (2, n_rules) int, optional
        TP and FP of the rules on examples that did not make them.
    weighed : WeighedCounts, optional
        What the rules cover by weight, if the examples have weights. Values, confidences and points are
        made of it; the evidence counts examples.
    candidate_idx : (n_learned,) int, optional
        Which candidate of its label each learned rule was. Not saved: it matters while theories are
        learned from the same candidates.

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

    json_format: ClassVar[JsonFormat] = PATH

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
    max_rules: int | None = None
    min_rules_per_label: int = 0
    max_total_conditions: int | None = None
    n_given: int = 0
    origins: tuple[Provenance, ...] = ()
    held_out: NDArray[np.int64] | None = None
    weighed: WeighedCounts | None = None
    candidate_idx: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        self.combiner.check(self.labels, ())
        if self.label_sets is not None:
            self.label_sets.check_labels(len(self.labels))
        if self.origins and len(self.origins) != self.n_given:
            raise ValueError(f"{len(self.origins)} origins for {self.n_given} given rules")
        for ranked in self.ranked:
            self.combiner.check_votes(ranked.votes is not None)

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
            [[self._count_kept(ranked, phi) for phi in self.phis] for ranked in self.ranked]
        ).reshape(self.shape)

    def _count_kept(self, ranked: RankedRules, phi: float, min_value: float | None = None) -> int:
        """Length of the prefix of a ranking for a share φ or, if given, for a least value."""
        values = ranked.values
        n_protected = self.n_given
        if self.min_rules_per_label:
            labels = self.label_of_rule[ranked.rule_idx]
            of_label = np.bincount(labels)
            given = np.bincount(labels[: self.n_given], minlength=len(of_label))
            protected = np.maximum(np.minimum(of_label, self.min_rules_per_label), given)
            n_protected = int(protected.sum())
        if min_value is None:
            n_kept = count_kept(values, phi, n_protected)
        else:
            n_kept = n_protected + count_above(values[n_protected:], min_value)
        n_conditions = self._n_conditions[ranked.rule_idx[:n_kept]]
        return count_within(n_conditions, self.max_rules, self.max_total_conditions)

    @cached_property
    def _n_conditions(self) -> NDArray[np.int64]:
        return self.coded.count_conditions()

    @cached_property
    def n_rules(self) -> NDArray[np.int64]:
        """Number of rules of each theory, shape (n_heuristics, n_phis)."""
        return self._sum_kept(np.ones(len(self.label_of_rule), dtype=np.int64))

    @cached_property
    def total_conditions(self) -> NDArray[np.int64]:
        """Number of conditions of each theory, shape (n_heuristics, n_phis)."""
        return self._sum_kept(self._n_conditions)

    def _sum_kept(self, of_rule: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum of a property of the rules over each theory; a rule selected again counts once."""
        sums = [
            [of_rule[ranked.take(n)[0]].sum() for n in kept]
            for ranked, kept in zip(self.ranked, self.n_kept, strict=True)
        ]
        return np.array(sums, dtype=np.int64).reshape(self.shape)

    # -- one theory ------------------------------------------------------------------------------

    def _find(self, heuristic: Heuristic | str | Callable[..., Any] | int) -> int:
        if isinstance(heuristic, int | np.integer):
            return range(len(self.heuristics))[int(heuristic)]
        heuristic = get_heuristic(heuristic)
        # A user's own heuristic is saved by its name only.
        saved = [isinstance(h, SavedHeuristic) and describe(h) for h in self.heuristics]
        if describe(heuristic) in saved:
            return saved.index(describe(heuristic))
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
            _check_phi(phi)
        n_kept = self._count_kept(ranked, phi, min_value)
        combiner, fitted = self.combine_and_decode(decoder)
        rule_idx, first, votes = ranked.take(n_kept)
        points: Any = self._strengths(ranked, combiner)[first] if votes is None else votes
        values = ranked.values[first].tolist()
        bodies = self.coded.bodies(rule_idx.tolist())
        columns = zip(rule_idx, bodies, values, combiner.points_of(points), strict=True)
        return Theory(
            features=self.coded.features,
            labels=self._labels_after(ranked, n_kept),
            rules=tuple(self._scored_rule(combiner, *row) for row in columns),
            combiner=combiner,
            decoder=fitted,
            classes=self.classes,
            heuristic=describe(self.heuristics[h]),
            phi=float(phi) if min_value is None else n_kept / max(len(ranked.values), 1),
        )

    def shorten(self, phi: float) -> TheoryPath:
        """The path of the rules that a share φ keeps: its whole theories are those of φ in this path."""
        _check_phi(phi)
        kept = [ranked.shorten(self._count_kept(ranked, phi)) for ranked in self.ranked]
        return replace(self, ranked=tuple(kept))

    def rule(self, r: int) -> Rule:
        """A rule of the path, for the target class of its label."""
        label = self.labels[self.label_of_rule[r]]
        return Rule(Head(label.name, label.target_class), self.coded.body(r))

    def evidence(self, r: int) -> Evidence:
        """The counts of a rule on the training examples."""
        return Evidence(int(self.tp[r]), int(self.fp[r]))

    def held_out_evidence(self, r: int) -> Evidence | None:
        """The counts of a rule on examples that did not make it; None if there are none."""
        if self.held_out is None or not self.held_out[:, r].any():
            return None
        return Evidence(*self.held_out[:, r].tolist())

    def provenance(self, r: int) -> Provenance:
        """Who made a rule."""
        i = int(r) - (len(self.label_of_rule) - self.n_given)
        if i < 0:
            return Provenance()
        return self.origins[i] if self.origins else Provenance("given")

    def _scored_rule(
        self,
        combiner: Combiner,
        r: int,
        body: tuple[Condition, ...],
        value: float,
        points: int | None,
    ) -> ScoredRule:
        """A rule with its evidence; a negative vote makes it a rule for the absence of its label."""
        evidence, held_out = self.evidence(r), self.held_out_evidence(r)
        label = self.labels[self.label_of_rule[r]]
        target_class = label.target_class
        if points is not None and combiner.votes_against(points):
            target_class, points = 1 - target_class, -points
            evidence = Evidence(evidence.fp, evidence.tp)
            held_out = held_out and Evidence(held_out.fp, held_out.tp)
        confidence = None
        if self.weighed is not None:
            confidence = combiner.find_confidence(self.weighed.tp[r], self.weighed.fp[r])
        about = (held_out, self.provenance(r), confidence)
        rule = Rule(Head(label.name, target_class), body)
        return ScoredRule(rule, evidence, value, points, *about)

    def combine_and_decode(self, decoder: Decoder | None) -> tuple[Combiner, Decoder]:
        """The combiner and the fitted decoder of a theory of this path."""
        if decoder is None:
            decoder = default_decoder(len(self.labels) > 1 and bool(self.classes))
        decoder = decoder.fit(self.label_sets)
        prior = None if self.weighed is None else self.weighed.prior
        combiner = self.combiner.adapt(decoder.needs_log_odds, decoder.silence, self.labels, prior)
        decoder.check(self.labels, combiner)
        return combiner, decoder

    def _strengths(self, ranked: RankedRules, combiner: Combiner) -> Scores:
        """What each position of a ranking adds to the score of its label."""
        if ranked.votes is not None:
            return ranked.votes
        rules = ranked.rule_idx
        counts = (self.tp, self.fp, self._priors) if self.weighed is None else self.weighed[:3]
        tp, fp, prior = counts
        strengths = combiner.strengths(tp[rules], fp[rules], prior[self.label_of_rule[rules]])
        given = slice(self.n_given)
        strengths[given] = np.maximum(strengths[given], combiner.least_given)
        return strengths

    def _count_new(self, ranked: RankedRules, positions: slice) -> Indices:
        """Positives and negatives of each label that rules newly cover, shape (2, n_labels)."""
        label = self.label_of_rule[ranked.rule_idx[positions]]
        new = [
            np.bincount(label, counts[positions], minlength=len(self.labels))
            for counts in (ranked.new_tp, ranked.new_fp)
        ]
        return np.array(new, dtype=np.intp)

    @cached_property
    def _n_examples(self) -> Indices:
        return np.array([(label.n_positives, label.n_negatives) for label in self.labels]).T

    @cached_property
    def _priors(self) -> NDArray[np.float64]:
        return np.array([label.prior for label in self.labels])

    def _labels_after(self, ranked: RankedRules, n_kept: int) -> tuple[Label, ...]:
        uncovered = self._n_examples - self._count_new(ranked, slice(n_kept))
        silent: Sequence[float | None] = [None] * len(self.labels)
        if self.weighed is not None and ranked.votes is None:
            silent = self._silent_scores(uncovered).tolist()
        return tuple(
            replace(
                label, uncovered_positives=positives, uncovered_negatives=negatives, silent=score
            )
            for label, positives, negatives, score in zip(
                self.labels, *uncovered.tolist(), silent, strict=True
            )
        )

    def _silent_scores(self, uncovered: Indices) -> NDArray[np.float64]:
        """Scores of the target classes where no rule fires, given the examples that none covers."""
        counts = uncovered if self.weighed is None else uncovered * np.array(self.weighed[3:])
        return np.asarray(smoothed_precision(*counts) - 1)

    # -- all theories at once ----------------------------------------------------------------------

    def evaluate(
        self,
        X: Any,
        Y: Any,
        measures: Sequence[Measure],
        decoder: Decoder | None = None,
        sample_weight: Any = None,
    ) -> dict[str, NDArray[np.float64]]:
        """Every measure of every theory on a multi-label table, each of shape (n_heuristics, n_phis)."""
        is_present = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y).astype(np.bool_)
        values = {measure.name: np.empty(self.shape) for measure in measures}
        axes = {measure.per for measure in measures}
        for h, cells in enumerate(self._decode_cells(X, decoder)):
            counts = {axis: count_cells(is_present, cells, axis, sample_weight) for axis in axes}
            for measure in measures:
                found = measure.from_counts(*counts[measure.per], sample_weight=sample_weight)
                values[measure.name][h] = found
        return values

    def predict_cells(
        self,
        X: Any,
        decoder: Decoder | None = None,
    ) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Predictions of every theory: (heuristic index, φ index, what its `predict` returns)."""
        for h, cells in enumerate(self._decode_cells(X, decoder)):
            for j, is_present in enumerate(cells):
                yield h, j, labels_to_answer(is_present, self.classes)

    def predict_proba_cells(
        self, X: Any, decoder: Decoder | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Probabilities of the labels by each heuristic's theories, (n_phis, n_rows, n_labels)."""
        combiner, decoder = self.combine_and_decode(decoder)
        bits, n_rows = self.coded.cover(X)
        for h in range(len(self.heuristics)):
            cells = np.empty((len(self.phis), n_rows, len(self.labels)))
            for j, decoded in self._decode_shares(h, bits, n_rows, combiner, decoder):
                cells[j] = decoder.to_probability(decoded, combiner)
            yield cells

    def score_cells(self, X: Any) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Log-odds of the labels in hundredths by every theory: (heuristic index, φ index, points).

        Points have the shape (n_rows, n_labels). Small φ come first.
        """
        combiner, _ = self.combine_and_decode(None)
        bits, n_rows = self.coded.cover(X)
        for h in range(len(self.heuristics)):
            for j, scores in self._score_shares(h, bits, n_rows, combiner):
                yield h, j, combiner.to_points(scores)

    def _decode_cells(self, X: Any, decoder: Decoder | None) -> Iterator[NDArray[np.bool_]]:
        """Predicted labels of each heuristic's theories, shape (n_phis, n_rows, n_labels)."""
        combiner, fitted = self.combine_and_decode(decoder)
        bits, n_rows = self.coded.cover(X)
        for h in range(len(self.heuristics)):
            # The rows of a label stand side by side, as in scores, so copying reads memory in order.
            by_label = np.empty((len(self.phis), len(self.labels), n_rows), dtype=np.bool_)
            cells = by_label.transpose(0, 2, 1)
            for j, decoded in self._decode_shares(h, bits, n_rows, combiner, fitted):
                cells[j] = decoded.is_present
            yield cells

    def _decode_shares(
        self, h: int, bits: Bits, n_rows: int, combiner: Combiner, decoder: Decoder
    ) -> Iterator[tuple[int, Decoded]]:
        """The φ index of each theory of a heuristic, and what it makes of the rows that rules cover."""
        for j, scores in self._score_shares(h, bits, n_rows, combiner):
            yield j, decoder.decode(scores, combiner)

    def _score_shares(
        self, h: int, bits: Bits, n_rows: int, combiner: Combiner
    ) -> Iterator[tuple[int, Scores]]:
        """The φ index of each theory of a heuristic, and its scores, shape (n_rows, n_labels).

        Rules are added from small to large φ.
        """
        ranked, n_kept = self.ranked[h], self.n_kept[h]
        sign, strength = target_signs(self.labels), self._strengths(ranked, combiner)
        tally = np.full((len(self.labels), n_rows), combiner.empty)
        n_added, uncovered = 0, self._n_examples
        for j in np.argsort(n_kept, kind="stable"):
            added = slice(n_added, int(n_kept[j]))
            n_added = added.stop
            rules = ranked.rule_idx[added]
            combiner.kernel(bits, rules, self.label_of_rule, strength[added], tally)
            uncovered = uncovered - self._count_new(ranked, added)
            yield int(j), combiner.finish_tally(tally, self._silent_scores(uncovered), sign).T

    # -- saving ------------------------------------------------------------------------------------

    @classmethod
    def _from_parts(cls, **parts: Any) -> TheoryPath:
        features, labels, rules = parts.pop("features"), parts["labels"], parts.pop("rules")
        # The theory of all rules checks what every theory of the path must satisfy.
        decoder = default_decoder(len(labels) > 1 and bool(parts["classes"]))
        Theory(features, labels, rules, decoder=decoder, classes=parts["classes"])
        names = [label.name for label in labels]
        held_out = None
        if any(scored.held_out is not None for scored in rules):
            found = [scored.held_out or Evidence(0, 0) for scored in rules]
            held_out = np.array([(e.tp, e.fp) for e in found], dtype=np.int64).T
        return cls(
            **parts
            | {"ranked": tuple(RankedRules(**ranking) for ranking in parts["ranked"])}
            | {"weighed": parts["weighed"] and WeighedCounts(**parts["weighed"])},
            coded=code_rules(features, [scored.body for scored in rules]),
            label_of_rule=np.array([names.index(s.head.label) for s in rules], dtype=np.intp),
            tp=np.array([scored.tp for scored in rules], dtype=np.int64),
            fp=np.array([scored.fp for scored in rules], dtype=np.int64),
            held_out=held_out,
            origins=_read_origins(rules, parts.get("n_given", 0)),
        )


def _check_phi(phi: float) -> None:
    if not 0 < phi <= 1:
        raise ValueError(f"phi must be a number above 0 and at most 1, got {phi!r}")


def _read_origins(rules: Sequence[ScoredRule], n_given: int) -> tuple[Provenance, ...]:
    """The provenance of the given rules, which are the last ones; files may lack it."""
    origins = [scored.provenance for scored in rules[len(rules) - n_given :]]
    return tuple(Provenance("given") if origin.is_learned else origin for origin in origins)
