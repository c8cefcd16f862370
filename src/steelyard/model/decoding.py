"""Decoding: log-odds of the labels → predicted labels, each by itself or as a set that exists.

Log-odds are whole numbers of hundredths here, called points: their sums are exact, so that a theory
predicts the same in every language it is exported to. Knows numbers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import is_number, is_whole

Combine = Literal["any", "weighted"]
Points = NDArray[np.int64]
Floats = NDArray[np.float64]

POINTS_PER_LOG_ODD = 100

# Probabilities beyond these are more than a few thousand examples can tell.
_LEAST_PROBABILITY = 1e-4

# Numbers of a block of set scores (rows × sets): 32 MB of floats.
_BLOCK_SCORES = 4_000_000

# Where labels share out the weight of all sets: what the set that fits best weighs. Whole numbers again,
# of which no exponential comes so near to the half of one that a language could round it otherwise.
BEST_WEIGHT = 1_000_000
SHARES = 1_000

# A set whose score lacks as many points to the best one has no vote: its exponential rounds to 0.
POINTS_WITHOUT_VOTE = 1_500


def probability_to_points(probability: Any) -> Points:
    """Log-odds in whole hundredths.

    Examples
    --------
    >>> probability_to_points([0.5, 0.9, 1.0])
    array([  0, 220, 921])
    """
    p = np.clip(np.asarray(probability, float), _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
    return np.asarray(np.rint(POINTS_PER_LOG_ODD * np.log(p / (1 - p))), dtype=np.int64)


def points_to_probability(points: Any) -> NDArray[np.float64]:
    """The probability behind log-odds in hundredths.

    Examples
    --------
    >>> points_to_probability([0, 220]).round(2)
    array([0.5, 0.9])
    """
    return np.asarray(1 / (1 + np.exp(-np.asarray(points, float) / POINTS_PER_LOG_ODD)))


def format_points(points: int) -> str:
    """Points as people read them: log-odds with their sign.

    Examples
    --------
    >>> format_points(152), format_points(-7)
    ('+1.52', '-0.07')
    """
    return f"{points / POINTS_PER_LOG_ODD:+.2f}"


def confidence_to_points(tp: Any, fp: Any, prior: Any) -> Points:
    """What a firing rule says of its label: the m-estimate of its precision (m = 2) as log-odds.

    Examples
    --------
    >>> confidence_to_points(8, 0, 0.1)
    array(152)
    """
    return probability_to_points((tp + 2 * np.asarray(prior)) / (np.asarray(tp) + fp + 2))


# More would make points of a set's frequency that floating point numbers do not hold exactly.
_LARGEST_WEIGHT = 1_000_000


def _check_weight(name: str, value: Any) -> None:
    if not is_number(value) or not 0 <= value <= _LARGEST_WEIGHT:
        raise ValueError(f"{name} must be a number from 0 to {_LARGEST_WEIGHT:,}, got {value!r}")


@dataclass(frozen=True)
class EachLabel:
    """Every label by itself: predicted where a rule fires, or where the votes are for it.

    Parameters
    ----------
    min_probability : float, default=0.5
        With weighted rules, the probability above which a label is predicted. Less than ½ trades
        precision for recall, which F1 rewards. Without weights a firing rule decides, whatever this is.

    Examples
    --------
    >>> print(EachLabel(), EachLabel(0.3))
    any any(p > 0.3)
    """

    min_probability: float = 0.5

    def __post_init__(self) -> None:
        if not is_number(self.min_probability) or not 0 < self.min_probability < 1:
            raise ValueError(
                f"min_probability must be a number between 0 and 1, got {self.min_probability!r}"
            )

    def __str__(self) -> str:
        return "any" if self.min_probability == 0.5 else f"any(p > {self.min_probability:g})"


@dataclass(frozen=True)
class LabelSets:
    """The label sets of the training examples: the one that fits the firing rules best, or all of them.

    A set scores the log-odds of its labels plus `frequency_weight` times the logarithm of how much more
    often it occurs among the training examples than it would if labels were independent.

    Parameters
    ----------
    frequency_weight : float, default=0.5
        0 looks at the rules alone; with 1 the sets are as frequent as they were where no rule fires.
    silence : float, default=1.0
        Without weights: where no rule of a label fires its probability is this share of the share of
        the training examples that have its target class.
    min_share : float, optional
        None predicts the set that scores best, which is what subset accuracy asks for. A number lets
        all sets vote, each with the exponential of its score, and predicts the labels that have more
        than this share of the votes: ½ is what Hamming accuracy asks for, and less what F1 does. It
        counts to three digits.

    Examples
    --------
    >>> print(LabelSets(), LabelSets(1.0, 0.25), LabelSets(min_share=0.4))
    label-sets(0.5, 1) label-sets(1, 0.25) label-sets(0.5, 1, share > 0.4)
    """

    frequency_weight: float = 0.5
    silence: float = 1.0
    min_share: float | None = None

    def __post_init__(self) -> None:
        for name in ("frequency_weight", "silence"):
            _check_weight(name, getattr(self, name))
        if self.min_share is not None and not (
            is_number(self.min_share) and 0 < self.min_share < 1
        ):
            raise ValueError(f"min_share must be a number between 0 and 1, got {self.min_share!r}")

    def __str__(self) -> str:
        share = "" if self.min_share is None else f", share > {self.min_share:g}"
        return f"label-sets({self.frequency_weight:g}, {self.silence:g}{share})"


Decoding = EachLabel | LabelSets

_DECODINGS: dict[str, Decoding] = {"any": EachLabel(), "label-sets": LabelSets()}


def get_decoding(decode: str | Decoding) -> Decoding:
    """A decoding itself or by its name.

    Examples
    --------
    >>> get_decoding("label-sets")
    LabelSets(frequency_weight=0.5, silence=1.0, min_share=None)
    """
    if isinstance(decode, EachLabel | LabelSets):
        return decode
    if not isinstance(decode, str) or decode not in _DECODINGS:
        raise ValueError(
            f"decode must be 'any', 'label-sets', an EachLabel or a LabelSets, got {decode!r}"
        )
    return _DECODINGS[decode]


@dataclass(frozen=True)
class KnownLabelSets:
    """The label sets of the training examples, the most frequent one first.

    Parameters
    ----------
    sets : tuple of tuple of int
        Positions of the labels that are present.
    counts : tuple of int
        How many training examples have exactly that set.
    frequency_weight : float
        What the logarithm of a set's frequency counts beside the log-odds of its labels, the frequency
        being relative to that of independent labels.
    min_share : float, optional
        The share of the votes of all sets above which a label is predicted; see `LabelSets`.

    Examples
    --------
    >>> known = count_label_sets(np.array([[1, 0], [1, 0], [1, 1], [0, 1]], dtype=bool))
    >>> known.sets, known.counts
    (((0,), (0, 1), (1,)), (2, 1, 1))
    >>> known.decode(np.array([[150, 120]]))
    array([[ True,  True]])

    With a share to reach, all sets vote: here for one label or the other, as well as each fits.

    >>> voting = count_label_sets(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool), 1.0, 0.4)
    >>> voting.share_votes(np.array([[0, -50]]))
    (array([[1000000,  606531]]), array([1606531]))
    >>> voting.decode(np.array([[0, -50], [0, -30]]))
    array([[ True, False],
           [ True,  True]])
    """

    sets: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]
    frequency_weight: float = 0.5
    min_share: float | None = None

    def __post_init__(self) -> None:
        if not self.sets:
            raise ValueError("there must be at least one label set, got none")
        if len(self.sets) != len(self.counts):
            raise ValueError(f"{len(self.sets)} label sets have {len(self.counts)} counts")
        for labels, count in zip(self.sets, self.counts, strict=True):
            if not all(is_whole(label, least=0) for label in labels):
                raise ValueError(f"a label set must have positions of labels, got {labels!r}")
            if len(set(labels)) < len(labels):
                raise ValueError(f"a label set must have each label once, got {labels!r}")
            if not is_whole(count):
                raise ValueError(
                    f"the count of a label set must be a whole number of at least 1, got {count!r}"
                )
        if len(set(map(frozenset, self.sets))) < len(self.sets):
            raise ValueError("two label sets are the same")
        _check_weight("frequency_weight", self.frequency_weight)

    @property
    def n_labels(self) -> int:
        """How many labels there are at least: those up to the last one of any set."""
        return 1 + max((max(labels) for labels in self.sets if labels), default=-1)

    @property
    def n_examples(self) -> int:
        """Training examples."""
        return sum(self.counts)

    @cached_property
    def points(self) -> Points:
        """What each set's frequency adds to its score."""
        is_present = self.matrix(self.n_labels)
        counts = np.array(self.counts, dtype=np.float64)
        share = np.clip(
            counts @ is_present / self.n_examples, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY
        )
        independent = is_present @ np.log(share) + ~is_present @ np.log(1 - share)
        return self._to_points(np.log(counts / self.n_examples) - independent)

    @cached_property
    def unseen_points(self) -> int | None:
        """What a set counts that no training example has; None if there seem to be none.

        The share of examples with new sets is estimated by that of the sets seen just once (Good and
        Turing); in these, labels are taken to be independent. So where every set is unique, a new one
        counts as chance would have it, and where all are frequent, new ones are not considered.
        """
        n_singletons = self.counts.count(1)
        if not n_singletons:
            return None
        return int(self._to_points(np.log(n_singletons / self.n_examples)))

    def _to_points(self, log_odds: Any) -> Points:
        points = np.rint(POINTS_PER_LOG_ODD * self.frequency_weight * log_odds)
        return np.asarray(points, dtype=np.int64)

    @cached_property
    def _matrices(self) -> dict[int, NDArray[np.bool_]]:
        return {}

    def matrix(self, n_labels: int) -> NDArray[np.bool_]:
        """The sets as rows of 0 and 1; made once, since a tuning decodes thousands of times."""
        if n_labels not in self._matrices:
            matrix = np.zeros((len(self.sets), n_labels), dtype=np.bool_)
            for row, labels in zip(matrix, self.sets, strict=True):
                row[list(labels)] = True
            self._matrices[n_labels] = matrix
        return self._matrices[n_labels]

    def _score(self, points: Points) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Blocks of rows, with their points, the scores of the sets, and that of a new set.

        The new set is that of the labels with positive points, the best of those that can be new.
        """
        # Whole numbers below 2⁵³ are exact in floating point, whose products are fast.
        columns = self.matrix(points.shape[1]).T.astype(np.float64)
        n_rows = max(1, _BLOCK_SCORES // max(len(self.sets), 1))
        for start in range(0, len(points), n_rows):
            rows = slice(start, start + n_rows)
            block = points[rows].astype(np.float64)
            unseen = -np.inf if self.unseen_points is None else self.unseen_points
            yield rows, block, block @ columns + self.points, np.maximum(block, 0).sum(1) + unseen

    def find_best(self, points: Points) -> NDArray[np.intp]:
        """Position of the set that fits best, for each row of (n_rows, n_labels) points.

        -1 stands for the set of the labels with positive points where it fits better than every
        known one with what new sets count; it can be a known one that is rarer than chance would have
        it. Of sets that fit alike the more frequent wins.
        """
        best = np.empty(len(points), dtype=np.intp)
        for rows, _, scores, new in self._score(points):
            chosen = np.argmax(scores, axis=1)
            chosen[new > np.take_along_axis(scores, chosen[:, None], axis=1)[:, 0]] = -1
            best[rows] = chosen
        return best

    def share_votes(self, points: Points) -> tuple[Points, Points]:
        """Votes for each label, shape (n_rows, n_labels), and of all sets, shape (n_rows,).

        Each set votes for its labels with the exponential of its score; the one with the best score has
        `BEST_WEIGHT` votes. The set of the labels with positive points takes part as a new one, even if
        it is known: it stands for the share of examples in which labels are independent.
        """
        for_label = np.empty(points.shape, dtype=np.int64)
        of_all = np.empty(len(points), dtype=np.int64)
        matrix = self.matrix(points.shape[1]).astype(np.float64)
        for rows, block, scores, new in self._score(points):
            best = np.maximum(scores.max(axis=1), new)
            votes, new_votes = _to_votes(scores - best[:, None]), _to_votes(new - best)
            for_label[rows] = votes @ matrix + (block > 0) * new_votes[:, None]
            of_all[rows] = votes.sum(axis=1) + new_votes
        return for_label, of_all

    @property
    def min_share_in_thousandths(self) -> int:
        """The share above which a label is predicted, as a whole number.

        At least one and at most all but one, so that a label without votes is never predicted and one
        with all of them always is.
        """
        if self.min_share is None:
            raise ValueError("the label sets do not vote: the one that fits best is predicted")
        thousandths = round(SHARES * float(self.min_share))
        return min(max(thousandths, 1), SHARES - 1)

    def weigh_shares(self, points: Points) -> Floats:
        """2σ(logit(s) - logit(t)) - 1 for each label's share s of the votes and the share t it needs.

        Positive exactly where `decode` predicts a label by its share: with v of n votes it is
        (v(1 - t) - (n - v)t) / (v(1 - t) + (n - v)t), of whole numbers if t is in thousandths. The
        share is at least that of half a vote, and lacks as much to all, so that nothing is certain.
        """
        for_label, of_all = self.share_votes(points)
        votes = np.clip(for_label, 0.5, of_all[:, None] - 0.5)
        needed = self.min_share_in_thousandths
        has, lacks = votes * (SHARES - needed), (of_all[:, None] - votes) * needed
        return np.asarray((has - lacks) / (has + lacks))

    def decode(self, points: Points) -> NDArray[np.bool_]:
        """Predicted labels for (n_rows, n_labels) points of being present."""
        if self.min_share is not None:
            for_label, of_all = self.share_votes(points)
            needed = self.min_share_in_thousandths * of_all[:, None]
            return np.asarray(SHARES * for_label > needed)
        best = self.find_best(points)
        predicted = self.matrix(points.shape[1])[best]
        is_new = best < 0
        predicted[is_new] = points[is_new] > 0
        return predicted


def _to_votes(score: Floats) -> Floats:
    """Votes of sets from what their scores lack to the best one."""
    return np.asarray(np.rint(BEST_WEIGHT * np.exp(score / POINTS_PER_LOG_ODD)))


def count_label_sets(
    is_present: NDArray[np.bool_], frequency_weight: float = 0.5, min_share: float | None = None
) -> KnownLabelSets:
    """The label sets of (n_examples, n_labels) and how often each occurs."""
    sets, counts = np.unique(is_present, axis=0, return_counts=True)
    # np.unique sorts absent before present; reversed, sets with the first label come first.
    order = np.lexsort((-np.arange(len(sets)), -counts))
    return KnownLabelSets(
        tuple(tuple(np.flatnonzero(sets[i]).tolist()) for i in order),
        tuple(int(counts[i]) for i in order),
        frequency_weight,
        min_share,
    )
