"""What a decoder is: scores of labels → predicted labels. Knows no decoder of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import is_number

from .combiner import Calibration, Combiner, Part, Scores
from .evidence import Label
from .formulas import Answer, LabelFormulas
from .label_sets import KnownLabelSets
from .sigmoids import Unseen, fit_sigmoids

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]


class Decoded(NamedTuple):
    """Predicted labels of some rows, with what the decoder found on the way.

    Parameters
    ----------
    scores : (n_rows, n_labels)
    is_present : (n_rows, n_labels) bool
    found : Any
        What the decoder needs to explain itself.
    """

    scores: Scores
    is_present: Masks
    found: Any = None


class Decoder(Part):
    """How scores of labels become predicted labels.

    Examples
    --------
    >>> from steelyard import BestLabelSet, Decoder, EachLabel
    >>> isinstance(EachLabel(), Decoder), EachLabel.needs_log_odds, BestLabelSet.needs_log_odds
    (True, False, True)
    """

    #: Whether scores are added up over labels, so that they have to be log-odds.
    needs_log_odds: ClassVar[bool] = False
    #: Whether it compares the label sets of the training examples.
    needs_label_sets: ClassVar[bool] = False
    #: Whether each label depends on its own score only.
    is_independent: ClassVar[bool] = False
    #: Whether it predicts exactly one label per example.
    is_single_label: ClassVar[bool] = False
    #: The label sets of the training examples, if the decoder uses them.
    known: KnownLabelSets | None = None
    silence: float = 1.0

    def fit(self, known: KnownLabelSets | None) -> Decoder:
        """The decoder with the label sets of the training examples."""
        return self

    def check(self, labels: Sequence[Label], combiner: Combiner) -> None:
        """Reject labels or a combiner that do not fit."""

    def follows_signs(self, combiner: Combiner) -> bool:
        """Whether a label is predicted exactly where its score is positive, so that signs suffice."""
        return False

    @abstractmethod
    def decode(self, scores: Scores, combiner: Combiner) -> Decoded:
        """Predicted labels for (n_rows, n_labels) scores."""

    def to_decision(self, decoded: Decoded, combiner: Combiner) -> Floats:
        """Values between -1 and 1, positive where a label is asserted."""
        return 2 * combiner.to_probability(decoded.scores) - 1

    def to_probability(self, decoded: Decoded, combiner: Combiner) -> Floats:
        """Probability that each label is present."""
        return combiner.to_probability(decoded.scores)

    # -- calibration -----------------------------------------------------------------------------

    @property
    def calibration_key(self) -> Hashable:
        """Decoders for which this is equal have the same calibration."""
        return None

    def fit_calibration(self, unseen: Sequence[Unseen], *, is_shared: bool = False) -> Calibration:
        """The slope and the shift of each label with which its probabilities fit unseen examples.

        Here the probability of a label depends on its own log-odds only. Each part of the examples has
        rules of its own; with `is_shared` all labels have the same slope and shift.
        """
        points, is_present, weights = (
            np.concatenate(parts)
            for parts in zip(*((u.points, u.is_present, u.totals) for u in unseen), strict=True)
        )
        return fit_sigmoids(points, is_present, is_shared=is_shared, weights=weights)

    # -- words -----------------------------------------------------------------------------------

    def explain_row(self, decoded: Decoded, row: int, names: Sequence[str]) -> str:
        """A sentence about all labels of a row; empty if there is nothing to say."""
        return ""

    def explain_label(self, decoded: Decoded, row: int, j: int, combiner: Combiner) -> str:
        """A clause where a prediction differs from the sign of its score; empty elsewhere."""
        if decoded.is_present[row, j] == (decoded.scores[row, j] > 0):
            return ""
        return self._explain_difference(decoded, row, j, combiner)

    def _explain_difference(self, decoded: Decoded, row: int, j: int, combiner: Combiner) -> str:
        """Why a prediction differs from the sign of its score."""
        return ""

    def describe_silence(self, silent: Decoded, j: int, combiner: Combiner) -> str:
        """What is predicted for a label without rules; `silent` is one row in which no rule fires.

        By default its prediction is always the same, since its score is.
        """
        return "always predicted" if silent.is_present[0, j] else "never predicted"

    # -- writing ---------------------------------------------------------------------------------

    def page_numbers(self, combiner: Combiner, n_labels: int) -> dict[str, Any]:
        """Numbers of logarithms that the page needs to predict the same to the last bit."""
        return {}

    @abstractmethod
    def answers(self, scores: LabelFormulas, combiner: Combiner) -> list[Answer]:
        """The prediction as answers for exports, from the formulas of the labels' scores."""


def check_share(name: str, value: Any) -> None:
    """Reject what is not a number between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}")
