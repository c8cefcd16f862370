"""What points add to an explanation: where a label's total is from, and what the label sets decide.

Plain frozen objects that say themselves in words. Computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from steelyard.model.decoding import format_points

DecidedBy = Literal["label", "class", "label set"]


# Labels to be named though they have too few votes: enough to see how close the decision was.
_N_RUNNERS_UP = 3


@dataclass(frozen=True)
class LabelShare:
    """A label's share of the votes of all label sets.

    Parameters
    ----------
    share : Fraction
    min_share : Fraction
        What it has to be above for the label to be predicted.

    Examples
    --------
    >>> print(LabelShare(Fraction(62, 100), Fraction(2, 5)))
    62 %
    >>> print(LabelShare(Fraction(4004, 10000), Fraction(2, 5)))  # as many digits as it takes
    40.04 %
    """

    share: Fraction
    min_share: Fraction

    @property
    def is_enough(self) -> bool:
        """Whether the label is predicted."""
        return self.share > self.min_share

    def __str__(self) -> str:
        if self.share == self.min_share:
            return f"{float(self.share * 100):g} %"
        n_digits = 0
        while (round(self.share * 100, n_digits) > self.min_share * 100) != self.is_enough:
            n_digits += 1
        return f"{float(round(self.share * 100, n_digits)):.{n_digits}f} %"


@dataclass(frozen=True)
class LabelPoints:
    """The points for a label's presence, in hundredths of log-odds.

    Parameters
    ----------
    start : int
        Where no rule fires.
    total : int
        With the rules that fire: those of more than 0 speak for the label.
    is_sum : bool
        Whether the votes of all firing rules are added to the start; otherwise the strongest one
        takes its place.
    decided_by : {"label", "class", "label set"}
        What is compared: each label with 0, all classes, or all label sets.
    share : LabelShare, optional
        What the label has of the votes, if label sets vote.
    """

    start: int
    total: int
    is_sum: bool
    decided_by: DecidedBy = "label"
    share: LabelShare | None = None

    def say_total(self, n_fired: int) -> str:
        """What the points are, after the number of rules that fire.

        Examples
        --------
        >>> LabelPoints(-120, 32, is_sum=True).say_total(2)
        ', votes sum to +0.32'
        """
        total = format_points(self.total)
        if not n_fired:
            return f", which leaves the start of {total}"
        if self.is_sum:
            return f", votes sum to {total}"
        return f", the strongest says {total}" if n_fired > 1 else f" and says {total}"

    def say_overruled(self, predicted: int) -> str:
        """Why the prediction is not what the points of the label alone would give, if so.

        Examples
        --------
        >>> LabelPoints(-120, 32, is_sum=True, decided_by="label set").say_overruled(0)
        ', but the label set that fits best is without it'
        """
        if predicted == (self.total > 0):
            return ""
        if self.decided_by == "class":
            return ", but no class has more" if predicted else ", but another class has no less"
        if self.share is not None:
            only = "" if predicted else "only "
            return f", but of the label sets' votes it has {only}{self.share}"
        return f", but the label set that fits best is {'with' if predicted else 'without'} it"


@dataclass(frozen=True)
class ChosenSet:
    """The label set that fits the points of all labels best.

    Parameters
    ----------
    labels : tuple of str
    by_itself : tuple of str
        The labels that would be predicted if each was decided by itself.
    count : int
        How many training examples have exactly this set: 0 for a new combination.
    n_examples, n_known : int
        How many examples were seen in training, and how many different sets.

    Examples
    --------
    >>> print(ChosenSet(("a", "b"), ("a",), count=12, n_examples=391, n_known=94))
    of the 94 label sets seen in training, {a, b} (12 of 391 examples) fits the rules best; each label
    by itself would give {a}
    """

    labels: tuple[str, ...]
    by_itself: tuple[str, ...]
    count: int
    n_examples: int
    n_known: int

    def __str__(self) -> str:
        known = _say_known(self.n_known)
        if not self.count:
            labels = _braces(self.labels)
            return f"{labels}, each label by itself, is new and fits the rules better than {known}"
        return (
            f"of {known}, {_braces(self.labels)} "
            f"({self.count} of {self.n_examples} examples) fits the rules best; "
            f"{_say_alone(self.by_itself, self.labels)}"
        )


@dataclass(frozen=True)
class VotingSets:
    """How the label sets seen in training vote, and with them, if there seem to be new ones, a new one.

    Parameters
    ----------
    labels : tuple of str
        Those with enough of the votes.
    by_itself : tuple of str
        The labels that would be predicted if each was decided by itself.
    shares : tuple of (str, LabelShare)
        What each label has of the votes, most first.
    n_known : int
        How many different sets were seen in training.
    has_new : bool
        Whether the set of the labels that would be predicted by themselves votes as well.

    Examples
    --------
    >>> happy, calm = (LabelShare(Fraction(n, 100), Fraction(2, 5)) for n in (62, 12))
    >>> print(VotingSets(("happy",), ("happy", "calm"), (("happy", happy), ("calm", calm)), 94, True))
    the 94 label sets seen in training and that of each label by itself vote, each as well as it fits the
    rules: happy 62 %, calm 12 %; a label needs more than 40 %; each label by itself would give {happy,
    calm}
    """

    labels: tuple[str, ...]
    by_itself: tuple[str, ...]
    shares: tuple[tuple[str, LabelShare], ...]
    n_known: int
    has_new: bool

    def __str__(self) -> str:
        voters = _say_known(self.n_known) + " and that of each label by itself" * self.has_new
        is_one = self.n_known == 1 and not self.has_new
        shown = self.shares[: len(self.labels) + _N_RUNNERS_UP]
        shares = ", ".join(f"{name} {share}" for name, share in shown)
        others = ", others no more" if len(shown) < len(self.shares) else ""
        needed = f"{float(self.shares[0][1].min_share * 100):g} %"
        return (
            f"{voters} vote{'s' * is_one}, each as well as it fits the rules: {shares}{others}; "
            f"a label needs more than {needed}; "
            f"{_say_alone(self.by_itself, self.labels)}"
        )


def _say_known(n_known: int) -> str:
    return f"the {n_known} label set{'s' * (n_known != 1)} seen in training"


def _say_alone(by_itself: tuple[str, ...], predicted: tuple[str, ...]) -> str:
    alone = "the same" if by_itself == predicted else _braces(by_itself)
    return f"each label by itself would give {alone}"


def _braces(labels: tuple[str, ...]) -> str:
    return "{" + ", ".join(labels) + "}" if labels else "the empty set"
