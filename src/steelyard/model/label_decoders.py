"""Decoders that look at the scores of single labels: each by itself, or the best one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .combiner import Combiner, Scores
from .decoder import Decoded, Decoder, Floats, check_share
from .evidence import Label
from .formulas import Answer, LabelFormulas, find_largest
from .log_odds import format_points


@dataclass(frozen=True)
class EachLabel(Decoder):
    r"""Every label by itself: predicted where a rule fires, or where the votes are for it.

    .. math:: \hat y = \{\ell : P(\ell \mid x) > t_\ell\}

    Parameters
    ----------
    threshold : float or sequence of floats, default=0.5
        With rules that vote, the probability above which a label is predicted, or one per label. Less
        than ½ trades precision for recall, which F1 rewards. Rules that decide need ½.

    Examples
    --------
    >>> from steelyard import EachLabel
    >>> print(EachLabel(), EachLabel(0.3), EachLabel((0.3, 0.15)))
    each-label each-label(p > 0.3) each-label(p > 0.15 to 0.3)
    """

    name: ClassVar[str] = "each-label"
    is_independent: ClassVar[bool] = True

    threshold: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        if isinstance(self.threshold, list | np.ndarray):
            object.__setattr__(self, "threshold", tuple(np.asarray(self.threshold).tolist()))
        for threshold in self._thresholds:
            check_share("threshold", threshold)

    @property
    def _thresholds(self) -> tuple[float, ...]:
        """One threshold per label, or the one of all labels."""
        return self.threshold if isinstance(self.threshold, tuple) else (self.threshold,)

    def __str__(self) -> str:
        return self.name if self.threshold == 0.5 else f"{self.name}(p > {self._describe_span(1)})"

    def check(self, labels: Sequence[Label], combiner: Combiner) -> None:
        """Reject thresholds that the combiner has no use for, or that are not one per label."""
        if isinstance(self.threshold, tuple) and len(self.threshold) != len(labels):
            raise ValueError(
                f"EachLabel has {len(self.threshold)} thresholds for {len(labels)} labels: give one "
                "per label, or one number for all"
            )
        self.cuts(combiner, len(labels))

    def cuts(self, combiner: Combiner, n_labels: int) -> list[Any]:
        """The score of each label's threshold, one per label."""
        cuts = [combiner.from_probability(threshold) for threshold in self._thresholds]
        return cuts if isinstance(self.threshold, tuple) else cuts * n_labels

    def follows_signs(self, combiner: Combiner) -> bool:
        """Whether no threshold differs from a score of 0."""
        return not any(self.cuts(combiner, 1))

    def decode(self, scores: Scores, combiner: Combiner) -> Decoded:
        """Labels with a score above that of the threshold."""
        return Decoded(scores, scores > np.array(self.cuts(combiner, scores.shape[1])))

    def to_decision(self, decoded: Decoded, combiner: Combiner) -> Floats:
        """Values between -1 and 1, shifted so that the threshold is at 0."""
        cuts = np.array(self.cuts(combiner, decoded.scores.shape[1]))
        return 2 * combiner.to_probability(decoded.scores - cuts) - 1

    def describe(self) -> str:
        """The threshold, unless it is ½."""
        if self.threshold == 0.5:
            return ""
        own = ", each label its own" if isinstance(self.threshold, tuple) else ""
        return f"a label needs a probability above {self._describe_span(100)} %{own}"

    def _describe_span(self, factor: float) -> str:
        """The smallest and the largest threshold, times a factor."""
        span = dict.fromkeys((min(self._thresholds), max(self._thresholds)))
        return " to ".join(f"{factor * threshold:g}" for threshold in span)

    def _explain_difference(self, decoded: Decoded, row: int, j: int, combiner: Combiner) -> str:
        cut = format_points(self.cuts(combiner, decoded.scores.shape[1])[j])
        is_above = decoded.is_present[row, j]
        return f", {'above' if is_above else 'not above'} the threshold of {cut}"

    def page_numbers(self, combiner: Combiner, n_labels: int) -> dict[str, Any]:
        """The scores of the thresholds."""
        return {"cuts": self.cuts(combiner, n_labels)}

    def answers(self, scores: LabelFormulas, combiner: Combiner) -> list[Answer]:
        """One answer per label."""
        cuts = self.cuts(combiner, len(scores.formulas))
        triples = zip(scores.names, scores.formulas, cuts, strict=True)
        return [formula.above(name, cut, scores.outcomes) for name, formula, cut in triples]


@dataclass(frozen=True)
class BestLabel(Decoder):
    r"""Exactly one label: the one with the highest score. For targets with one class per example.

    .. math:: \hat y = \{\operatorname{argmax}_\ell s_\ell(x)\}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steelyard import BestLabel, BoostedRulesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = BoostedRulesClassifier(max_rules=10, random_state=0).fit(X, y)
    >>> clf.theory_.decoder == BestLabel()
    True
    """

    name: ClassVar[str] = "best-label"
    is_single_label: ClassVar[bool] = True

    def decode(self, scores: Scores, combiner: Combiner) -> Decoded:
        """The label with the highest score, the first of equals."""
        is_present = np.zeros(scores.shape, dtype=np.bool_)
        is_present[np.arange(len(scores)), np.argmax(scores, axis=1)] = True
        return Decoded(scores, is_present)

    def _explain_difference(self, decoded: Decoded, row: int, j: int, combiner: Combiner) -> str:
        if decoded.is_present[row, j]:
            return ", and no class has more"
        return ", but another class is better supported"

    def describe_silence(self, silent: Decoded, j: int, combiner: Combiner) -> str:
        """A rule that decides supports its class; votes can also be against it."""
        if silent.is_present[0, j]:
            return "predicted where no rule fires"
        if combiner.gives_log_odds:
            return "predicted only where all other classes have fewer votes"
        return "never predicted"

    def answers(self, scores: LabelFormulas, combiner: Combiner) -> list[Answer]:
        """One answer, the class."""
        return [find_largest(scores.names[0], scores.formulas, scores.outcomes)]
