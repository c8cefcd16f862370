"""Decoders that compare the label sets of the training examples."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from steelyard._numbers import check_flag, is_number

from .combiner import LEFT_OUT, Calibration, Combiner, Scores
from .decoder import Decoded, Decoder, Floats, Masks, check_share
from .evidence import Label
from .formulas import Answer, LabelFormulas, LabelSetSearch, SetAim
from .label_sets import KnownLabelSets
from .log_odds import POINTS_PER_LOG_ODD, Points
from .sigmoids import Unseen, descend

# Numbers in a block of set scores (rows × sets): 2 MB of floats, which a cache can hold.
_BLOCK_SCORES = 250_000

# Votes of the label set with the best score. As integers again: no exponential comes so close to a half
# that two languages could round it differently.
BEST_WEIGHT = 1_000_000
# A share of the votes counts to three digits.
SHARES = 1_000

# Number of scores (rows × sets) from which a calibration is fitted. Of more rows a part is taken: slopes
# and shifts are few, and with 640 sets of 53 labels fitting then takes about a second.
_MOST_FITTED = 1_000_000
# Shares below this, and above one minus this, count as this in a loss; its derivative is not cut off.
_LEAST_SHARE = 1e-6

# A larger weight would give points that floating point numbers do not hold exactly.
_LARGEST_WEIGHT = 1_000_000

# How many labels below the threshold an explanation names, to show how close the decision was.
_N_RUNNERS_UP = 3


class _LabelSets(Decoder):
    """What decoders that compare the label sets of the training examples have in common."""

    needs_log_odds: ClassVar[bool] = True
    needs_label_sets: ClassVar[bool] = True
    declines: ClassVar[dict[str, str]] = {
        "pmml": "PMML cannot compare label sets: export this theory as Python or JSON"
    }
    frequency_weight: float

    def __post_init__(self) -> None:
        if not isinstance(self.known, KnownLabelSets | None):
            raise ValueError(f"known must be KnownLabelSets or None, got {self.known!r}")
        for name in ("frequency_weight", "silence"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value <= _LARGEST_WEIGHT:
                raise ValueError(
                    f"{name} must be a number from 0 to {_LARGEST_WEIGHT:,}, got {value!r}"
                )

    def fit(self, known: KnownLabelSets | None) -> Decoder:
        """The decoder with the label sets of the training examples."""
        if known is None:
            raise ValueError(
                "label sets need several labels; this target has one class per example"
            )
        return replace(self, known=known)  # type: ignore[type-var]

    @property
    def _fitted(self) -> KnownLabelSets:
        if self.known is None:
            raise ValueError(f"the decoder {self.name} has no label sets: fit it first")
        return self.known

    def check(self, labels: Sequence[Label], combiner: Combiner) -> None:
        """Reject label sets with labels that do not exist, and scores that cannot be added."""
        self._fitted.check_labels(len(labels))
        if not combiner.gives_log_odds:
            raise ValueError(f"the decoder {self.name} needs rules that vote, not {combiner.name}")

    @cached_property
    def set_points(self) -> Points:
        """What the frequency of each set adds to its score."""
        return self._to_points(self._fitted.log_lift)

    @cached_property
    def unseen_points(self) -> int | None:
        """The same for a set that no training example has; None if there seem to be none."""
        log_unseen = self._fitted.log_unseen
        return None if log_unseen is None else int(self._to_points(log_unseen))

    def _to_points(self, log_odds: Any) -> Points:
        points = np.rint(POINTS_PER_LOG_ODD * self.frequency_weight * log_odds)
        return np.asarray(points, dtype=np.int64)

    def _score_sets(self, scores: Scores) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Blocks of rows: scores of labels, of the known sets, and of the new set.

        The new set has the labels with a positive score, which no new set can beat.
        """
        # Integers below 2⁵³ are exact as floating point numbers, whose products are fast. A label whose
        # score is 1 stands for the frequency of a set.
        columns = np.vstack((self._fitted.matrix(scores.shape[1]).T, self.set_points)).astype(float)
        n_rows = max(1, _BLOCK_SCORES // len(self._fitted.sets))
        unseen = -np.inf if self.unseen_points is None else self.unseen_points
        for start in range(0, len(scores), n_rows):
            rows = slice(start, start + n_rows)
            padded = np.ones((len(scores[rows]), len(columns)))
            block = padded[:, :-1]
            block[:] = scores[rows]
            known = padded @ columns
            yield rows, block, known, np.maximum(block, 0).sum(axis=1) + unseen

    def describe(self) -> str:
        """How many sets there are."""
        n_sets = len(self._fitted.sets)
        return f"label sets: {n_sets} known, frequency weight {self.frequency_weight:g}"

    def describe_silence(self, silent: Decoded, j: int, combiner: Combiner) -> str:
        """Its label set can be chosen because of other labels."""
        return "predicted only with label sets that contain it"

    @property
    def min_share(self) -> int | None:
        """The share of the votes that a label needs, in thousandths; None if none is needed."""
        return None

    @property
    def aim(self) -> SetAim:
        """What is looked for: the best set, labels with enough votes, or the best expected F1."""
        return "set"

    def page_numbers(self, combiner: Combiner, n_labels: int) -> dict[str, Any]:
        """What the frequencies of the sets add to their scores, and the share of votes."""
        return {
            "set_points": self.set_points.tolist(),
            "unseen_points": self.unseen_points,
            "min_share": self.min_share,
        }

    def answers(self, scores: LabelFormulas, combiner: Combiner) -> list[Answer]:
        """One answer for all labels."""
        sets = tuple(zip(self._fitted.sets, self.set_points.tolist(), strict=True))
        names, formulas = tuple(scores.names), tuple(scores.formulas)
        search = (self.unseen_points, self.min_share, self.aim)
        return [LabelSetSearch(names, formulas, sets, *search)]


def _decline_sql(what: str) -> dict[str, str]:
    """What decoders decline that would need exponentials over all sets for every row."""
    reason = (
        f"SQL cannot {what}: export this theory as Python or JSON, or use decode='best-label-set' or "
        "'each-label'"
    )
    return _LabelSets.declines | {"sql": reason}


@dataclass(frozen=True)
class BestLabelSet(_LabelSets):
    r"""The label set of a training example that fits the scores best: for subset accuracy.

    A set S scores the log-odds of its labels plus `frequency_weight` w times the logarithm of how much
    more often it occurs among the training examples than under independent labels:

    .. math:: f(S) = \sum_{\ell \in S} s_\ell(x) + w \log \frac{P(S)}
        {\prod_{\ell \in S} P(\ell) \prod_{\ell \notin S} (1 - P(\ell))}

    The labels with positive log-odds compete as a new set. Its second term is w times the logarithm of
    the share of the examples whose set occurs once (Good and Turing).

    Parameters
    ----------
    frequency_weight : float, default=0.5
        0 looks at the rules alone; 1 makes sets as frequent as in training where no rule fires.
    silence : float, default=1.0
        For rules that decide: where no rule of a label fires, its probability is this share of the
        share of the training examples that have its target class.
    known : KnownLabelSets, optional
        The label sets of the training examples; set by learning.
    new_sets : bool, default=True
        Whether the labels with positive log-odds may compete as a new set. New sets are rarely right
        as a whole, which is all that subset accuracy counts.

    Examples
    --------
    >>> import numpy as np
    >>> from steelyard import BestLabelSet, KnownLabelSets
    >>> from steelyard.model.combiners import SumOfVotes
    >>> known = KnownLabelSets.from_labels(np.array([[1, 0], [1, 0], [1, 1], [0, 1]], dtype=bool))
    >>> decoder = BestLabelSet().fit(known)
    >>> decoder.decode(np.array([[150, 120]]), SumOfVotes((0, 0))).is_present
    array([[ True,  True]])
    >>> print(decoder)
    best-label-set(0.5, 1)
    """

    name: ClassVar[str] = "best-label-set"

    frequency_weight: float = 0.5
    silence: float = 1.0
    known: KnownLabelSets | None = None
    _: KW_ONLY
    new_sets: bool = field(default=True, metadata=LEFT_OUT)

    def __str__(self) -> str:
        only_known = "" if self.new_sets else ", known sets only"
        return f"{self.name}({self.frequency_weight:g}, {self.silence:g}{only_known})"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("new_sets", self.new_sets)

    @cached_property
    def unseen_points(self) -> int | None:
        """What its frequency adds to the score of a new set; None if there are to be none."""
        return super().unseen_points if self.new_sets else None

    def describe(self) -> str:
        """How many sets there are, and whether new ones are excluded."""
        return super().describe() + ("" if self.new_sets else ", no new sets")

    def decode(self, scores: Scores, combiner: Combiner) -> Decoded:
        """The labels of the best set; of sets that fit equally the more frequent one.

        A new set, of the labels with positive scores, has to fit better than every known one. It is
        found as -1, and can be a known set that is rarer than chance would have it.
        """
        best = np.empty(len(scores), dtype=np.intp)
        for rows, _, known, new in self._score_sets(scores):
            chosen = np.argmax(known, axis=1)
            chosen[new > np.take_along_axis(known, chosen[:, None], axis=1)[:, 0]] = -1
            best[rows] = chosen
        is_present = self._fitted.matrix(scores.shape[1])[best]
        is_new = best < 0
        is_present[is_new] = scores[is_new] > 0
        return Decoded(scores, is_present, best)

    def explain_row(self, decoded: Decoded, row: int, names: Sequence[str]) -> str:
        """Which set fits best."""
        known, k = self._fitted, int(decoded.found[row])
        positive = tuple(np.flatnonzero(decoded.scores[row] > 0).tolist())
        if k < 0 and positive in known.sets:
            k = known.sets.index(positive)
        sets = _count_sets(known)
        if k < 0:
            alone = _name_set(positive, names)
            return f"{alone}, each label by itself, is new and fits the rules better than {sets}"
        return (
            f"of {sets}, {_name_set(known.sets[k], names)} ({known.counts[k]} of {known.n_examples} "
            f"examples) fits the rules best; {_describe_alone(positive, known.sets[k], names)}"
        )

    def _explain_difference(self, decoded: Decoded, row: int, j: int, combiner: Combiner) -> str:
        is_in = decoded.is_present[row, j]
        return f", but the label set that fits best is {'with' if is_in else 'without'} it"


@dataclass(frozen=True)
class LabelSetVotes(_LabelSets):
    r"""All label sets of the training examples vote, each with the exponential of its score.

    A label is predicted if it has more than a share t of the votes, with the score f of `BestLabelSet`:

    .. math:: \hat y = \left\{\ell : \sum_{S \ni \ell} e^{f(S)} > t \sum_S e^{f(S)}\right\}

    Parameters
    ----------
    threshold : float, default=0.5
        The share, to three digits. ½ suits Hamming accuracy, less suits F1.
    frequency_weight, silence, known
        As in `BestLabelSet`.

    Examples
    --------
    >>> import numpy as np
    >>> from steelyard import KnownLabelSets, LabelSetVotes
    >>> from steelyard.model.combiners import SumOfVotes
    >>> known = KnownLabelSets.from_labels(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool))
    >>> decoder = LabelSetVotes(0.4, frequency_weight=1.0).fit(known)
    >>> decoder.share_votes(np.array([[0, -50]]))
    (array([[1000000,  606531]]), array([1606531]))
    >>> decoder.decode(np.array([[0, -50], [0, -30]]), SumOfVotes((0, 0))).is_present
    array([[ True, False],
           [ True,  True]])
    >>> print(decoder)
    label-set-votes(1, 1, share > 0.4)
    """

    name: ClassVar[str] = "label-set-votes"
    declines: ClassVar[dict[str, str]] = _decline_sql("let label sets vote")

    threshold: float = 0.5
    frequency_weight: float = 0.5
    silence: float = 1.0
    known: KnownLabelSets | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("threshold", self.threshold)

    def __str__(self) -> str:
        weights = f"{self.frequency_weight:g}, {self.silence:g}"
        return f"{self.name}({weights}, share > {self.threshold:g})"

    @property
    def min_share(self) -> int:
        """The threshold in thousandths, an integer from 1 to 999.

        So a label without votes is never predicted, and a label with all of them always is.
        """
        return min(max(round(SHARES * float(self.threshold)), 1), SHARES - 1)

    @property
    def aim(self) -> SetAim:
        """Labels with enough votes."""
        return "share"

    def share_votes(self, scores: Points) -> tuple[Points, Points]:
        """Votes for each label, shape (n_rows, n_labels), and of all sets, shape (n_rows,).

        The set with the best score has `BEST_WEIGHT` votes. The set of the labels with positive scores
        takes part as a new one, even if it is known: it stands for the share of examples in which
        labels are independent.
        """
        for_label = np.empty(scores.shape, dtype=np.int64)
        of_all = np.empty(len(scores), dtype=np.int64)
        matrix = self._fitted.matrix(scores.shape[1]).astype(np.float64)
        for rows, block, known, new in self._score_sets(scores):
            best = np.maximum(known.max(axis=1), new)
            votes, new_votes = _to_votes(known - best[:, None]), _to_votes(new - best)
            for_label[rows] = votes @ matrix + (block > 0) * new_votes[:, None]
            of_all[rows] = votes.sum(axis=1) + new_votes
        return for_label, of_all

    def decode(self, scores: Scores, combiner: Combiner) -> Decoded:
        """The labels with enough of the votes."""
        for_label, of_all = self.share_votes(scores)
        needed = self.min_share * of_all[:, None]
        return Decoded(scores, SHARES * for_label > needed, (for_label, of_all))

    def to_probability(self, decoded: Decoded, combiner: Combiner) -> Floats:
        """A label's share of the votes, at least that of half a vote, so that nothing is certain."""
        for_label, of_all = decoded.found
        return np.asarray(np.clip(for_label, 0.5, of_all[:, None] - 0.5) / of_all[:, None])

    def to_decision(self, decoded: Decoded, combiner: Combiner) -> Floats:
        """2σ(logit(s) - logit(t)) - 1 for each label's share s of the votes and the threshold t.

        With v of n votes it is (v(1 - t) - (n - v)t) / (v(1 - t) + (n - v)t): its sign is computed
        from integers, so it agrees with `decode`.
        """
        for_label, of_all = decoded.found
        votes = np.clip(for_label, 0.5, of_all[:, None] - 0.5)
        needed = self.min_share
        has, lacks = votes * (SHARES - needed), (of_all[:, None] - votes) * needed
        return np.asarray((has - lacks) / (has + lacks))

    @property
    def calibration_key(self) -> Hashable:
        """The shares of the votes do not depend on the threshold."""
        return self.name, self.frequency_weight, self.silence

    def fit_calibration(self, unseen: Sequence[Unseen], *, is_shared: bool = False) -> Calibration:
        """The slope and the shift of each label's log-odds with which the shares fit unseen examples.

        They minimise the negative log-likelihood of all labels, given their shares of the votes. The new
        set of an example stays that of its labels calibrated by themselves: if it changed with the
        slopes, the loss would have jumps, and no minimum that every machine finds.
        """
        slope_alone, shift_alone = super().fit_calibration(unseen, is_shared=is_shared)
        fitted = [
            (
                replace(self, known=part.label_sets),
                part,
                slope_alone * part.points + shift_alone > 0,
            )
            for part in _thin(unseen)
        ]

        def find_loss(slope: Floats, shift: Floats) -> tuple[float, Floats, Floats]:
            loss, by_slope, by_shift = 0.0, np.zeros(len(slope)), np.zeros(len(slope))
            for decoder, part, new_sets in fitted:
                log_odds = part.points / POINTS_PER_LOG_ODD
                calibrated = part._replace(points=POINTS_PER_LOG_ODD * (slope * log_odds + shift))
                of_part, error = decoder._find_loss(calibrated, new_sets)
                loss += of_part
                by_slope += (error * log_odds).sum(axis=0)
                by_shift += error.sum(axis=0)
            return loss, by_slope, by_shift

        return descend(find_loss, unseen[0].points.shape[1], is_shared=is_shared)

    def _find_loss(self, unseen: Unseen, new_sets: Masks) -> tuple[float, Floats]:
        """The negative log-likelihood of the labels, and its derivative by each of their log-odds."""
        matrix = self._fitted.matrix(unseen.points.shape[1]).astype(np.float64)
        unseen_points = -np.inf if self.unseen_points is None else self.unseen_points
        loss, error = 0.0, np.empty(unseen.points.shape)
        for rows, block, known, _ in self._score_sets(unseen.points):
            is_new = new_sets[rows].astype(np.float64)
            new = (block * is_new).sum(axis=1) + unseen_points
            all_sets = np.column_stack((known, new))
            votes = np.exp((all_sets - all_sets.max(axis=1, keepdims=True)) / POINTS_PER_LOG_ODD)
            votes /= votes.sum(axis=1, keepdims=True)
            share = votes[:, :-1] @ matrix + votes[:, -1:] * is_new
            share = np.clip(share, _LEAST_SHARE, 1 - _LEAST_SHARE)
            y, weights = unseen.is_present[rows], unseen.totals[rows]
            loss -= float((weights * np.log(np.where(y, share, 1 - share))).sum())
            slope = weights * (share - y) / (share * (1 - share))
            # What more votes for each set would do, relative to more votes for all of them.
            gain = np.column_stack((slope @ matrix.T, (slope * is_new).sum(axis=1)))
            gain -= (votes * gain).sum(axis=1, keepdims=True)
            gain *= votes
            error[rows] = gain[:, :-1] @ matrix + gain[:, -1:] * is_new
        return loss, error

    def describe(self) -> str:
        """How many sets there are, and the share that a label needs."""
        needed = f"{100 * self.min_share / SHARES:g} %"
        return f"{super().describe()}, a label needs more than {needed} of the votes"

    def _share(self, decoded: Decoded, row: int, j: int) -> float:
        for_label, of_all = decoded.found
        return float(for_label[row, j] / of_all[row])

    def explain_row(self, decoded: Decoded, row: int, names: Sequence[str]) -> str:
        """The shares of the predicted labels and of the next few."""
        shares = [(self._share(decoded, row, j), name) for j, name in enumerate(names)]
        ranked = sorted(shares, key=lambda pair: -pair[0])
        predicted, positive = (
            tuple(np.flatnonzero(mask).tolist())
            for mask in (decoded.is_present[row], decoded.scores[row] > 0)
        )
        shown = ranked[: len(predicted) + _N_RUNNERS_UP]
        listed = ", ".join(f"{name} {share:.1%}" for share, name in shown)
        others = ", others no more" if len(shown) < len(ranked) else ""
        with_new = " and that of each label by itself" * (self.unseen_points is not None)
        return (
            f"{_count_sets(self._fitted)}{with_new} vote, each as well as it fits the rules: "
            f"{listed}{others}; a label needs more than {self.min_share / SHARES:.1%}; "
            f"{_describe_alone(positive, predicted, names)}"
        )

    def _explain_difference(self, decoded: Decoded, row: int, j: int, combiner: Combiner) -> str:
        only = "" if decoded.is_present[row, j] else "only "
        return f", but it has {only}{self._share(decoded, row, j):.1%} of the label sets' votes"


@dataclass(frozen=True)
class BestF1(_LabelSets):
    r"""The labels with the largest expected F1 of an example, if label sets are as likely as they vote.

    Label sets vote as in `LabelSetVotes`. With P(j, s) for the share of the votes that goes to sets of s
    labels with label j, a prediction :math:`\hat y` of k labels has the expected F1

    .. math:: \mathbb{E}[F_1] = 2 \sum_{j \in \hat y} \sum_s \frac{P(j, s)}{s + k}.

    For each k the labels with the largest inner sums are best; no label at all has the share of the
    empty set. The best k wins, the smallest of equals: the general F-measure maximiser of Dembczyński
    et al. (NIPS 2011).

    Parameters
    ----------
    frequency_weight, silence, known
        As in `BestLabelSet`.

    Examples
    --------
    >>> import numpy as np
    >>> from steelyard import BestF1, KnownLabelSets
    >>> from steelyard.model.combiners import SumOfVotes
    >>> examples = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> decoder = BestF1(0.0).fit(KnownLabelSets.from_labels(np.array(examples, dtype=bool)))
    >>> decoder.decode(np.array([[0, 0, 0], [300, 0, 0]]), SumOfVotes((0, 0, 0))).is_present
    array([[ True,  True,  True],
           [ True, False, False]])
    >>> print(decoder)
    best-f1(0, 1)
    """

    name: ClassVar[str] = "best-f1"
    declines: ClassVar[dict[str, str]] = _decline_sql("maximise an expected F1")

    frequency_weight: float = 0.5
    silence: float = 1.0
    known: KnownLabelSets | None = None

    def __str__(self) -> str:
        return f"{self.name}({self.frequency_weight:g}, {self.silence:g})"

    @property
    def aim(self) -> SetAim:
        """The largest expected F1."""
        return "f1"

    def decode(self, scores: Scores, combiner: Combiner) -> Decoded:
        """The labels with the largest expected F1, which is found beside them."""
        matrix = self._fitted.matrix(scores.shape[1])
        size_of_set = matrix.sum(axis=1)
        is_present = np.zeros(scores.shape, dtype=np.bool_)
        expected = np.empty(len(scores))
        for rows, block, known, new in self._score_sets(scores):
            best = np.maximum(known.max(axis=1), new)
            votes, new_votes = _to_votes(known - best[:, None]), _to_votes(new - best)
            positive = block > 0
            new_size = positive.sum(axis=1)
            by_size = np.zeros((1 + max(size_of_set.max(), new_size.max()), *block.shape))
            for size in np.unique(size_of_set):
                is_of_size = size_of_set == size
                by_size[size] = votes[:, is_of_size] @ matrix[is_of_size].astype(np.float64)
            by_size[new_size, np.arange(len(block))] += positive * new_votes[:, None]
            empty = votes[:, size_of_set == 0].sum(axis=1) + (new_size == 0) * new_votes
            is_present[rows], f1 = _maximise_f1(by_size, empty)
            expected[rows] = f1 / (votes.sum(axis=1) + new_votes)
        return Decoded(scores, is_present, expected)

    def describe(self) -> str:
        """How many sets there are, and what is maximised."""
        return f"{super().describe()}, the best expected F1 of an example"

    def explain_row(self, decoded: Decoded, row: int, names: Sequence[str]) -> str:
        """The expected F1 of the predicted labels."""
        predicted, positive = (
            tuple(np.flatnonzero(mask).tolist())
            for mask in (decoded.is_present[row], decoded.scores[row] > 0)
        )
        return (
            f"as {_count_sets(self._fitted)} vote, {_name_set(predicted, names)} has the best expected "
            f"F1, {decoded.found[row]:.1%}; {_describe_alone(positive, predicted, names)}"
        )

    def _explain_difference(self, decoded: Decoded, row: int, j: int, combiner: Combiner) -> str:
        is_in = decoded.is_present[row, j]
        return f", but the expected F1 is better {'with' if is_in else 'without'} it"


def _maximise_f1(by_size: Floats, empty: Floats) -> tuple[Masks, Floats]:
    """The labels with the largest expected F1 in votes, and this F1.

    `by_size` has the votes of the sets of each size with each label, shape (n_sizes, n_rows, n_labels),
    `empty` those of the empty set. Votes are integers, and all sums of fractions are in the same order
    in each language, so that ties are the same.
    """
    n_rows, n_labels = by_size.shape[1:]
    is_present = np.zeros((n_rows, n_labels), dtype=np.bool_)
    best = empty.copy()
    most_labels = int((by_size.max(axis=0) > 0).sum(axis=1).max(initial=0))
    for k in range(1, most_labels + 1):
        gain = np.zeros((n_rows, n_labels))
        for size in range(1, len(by_size)):
            gain += by_size[size] / (size + k)
        top = np.argsort(-gain, axis=1, kind="stable")[:, :k]
        total = 2 * np.cumsum(np.take_along_axis(gain, top, axis=1), axis=1)[:, -1]
        better = np.flatnonzero(total > best)
        best[better] = total[better]
        is_present[better] = False
        is_present[better[:, None], top[better]] = True
    return is_present, best


def _to_votes(score: Floats) -> Floats:
    """Votes of sets, from their scores relative to the best one."""
    return np.asarray(np.rint(BEST_WEIGHT * np.exp(score / POINTS_PER_LOG_ODD)))


def _thin(unseen: Sequence[Unseen]) -> list[Unseen]:
    """Some of the rows, evenly spaced and with larger weights, if there are many rows and label sets."""
    n_scores = sum(len(u.points) * len(u.label_sets.sets) for u in unseen if u.label_sets)
    every = max(1, -(-n_scores // _MOST_FITTED))
    thinned = []
    for part in unseen:
        rows = slice(None, None, every)
        more = len(part.points) / max(1, len(part.points[rows]))
        weights = more * part.totals[rows]
        thinned.append(Unseen(part.points[rows], part.is_present[rows], weights, part.label_sets))
    return thinned


def _count_sets(known: KnownLabelSets) -> str:
    return f"the {len(known.sets)} label set{'s' * (len(known.sets) != 1)} seen in training"


def _name_set(labels: Sequence[int], names: Sequence[str]) -> str:
    return "{" + ", ".join(names[j] for j in labels) + "}" if labels else "the empty set"


def _describe_alone(alone: Sequence[int], predicted: Sequence[int], names: Sequence[str]) -> str:
    is_same = set(alone) == set(predicted)
    return f"each label by itself would give {'the same' if is_same else _name_set(alone, names)}"
