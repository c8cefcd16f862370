"""Evaluation: what a theory makes of some rows. Knows decoded labels and their judgement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._text import format_count

from .combiner import Scores
from .conditions import Value
from .coverage import Bits
from .decoders import Decoded
from .judgement import Judgement


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What a theory makes of some rows: which rules fire, scores and labels.

    Parameters
    ----------
    fires : (n_rows, n_rules) bool
        Columns in the order of the theory's rules.
    decoded : Decoded
        Scores and predicted labels, each of shape (n_rows, n_labels).
    predicted : ndarray
        What `Theory.predict` returns: 0/1 of shape (n_rows, n_labels), or one class per row.
    values : dict of str to list
        The values of the attributes that the rules test, as conditions see them.
    judgement : Judgement, optional
        Every measure, overall and per label, if the true labels were given.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y).theory_
    >>> evaluation = theory.evaluate(data.X, data.Y)
    >>> evaluation.fires.shape == (442, len(theory)), evaluation.predicted.shape
    (True, (442, 5))
    >>> 0.7 < evaluation.measures["hamming"] < 1
    True
    """

    fires: NDArray[np.bool_]
    decoded: Decoded
    predicted: NDArray[Any]
    values: dict[str, list[Value]]
    judgement: Judgement | None = None

    def __repr__(self) -> str:
        n_rows, n_rules = self.fires.shape
        rows, rules = format_count(n_rows, "row"), format_count(n_rules, "rule")
        return f"<Evaluation of {rows} by {rules}>"

    def __str__(self) -> str:
        return repr(self) if self.judgement is None else str(self.judgement)

    @property
    def measures(self) -> dict[str, float]:
        """Every measure by name; needs the true labels."""
        if self.judgement is None:
            raise ValueError("measures need the true labels: call evaluate(X, Y)")
        return self.judgement.measures

    @property
    def scores(self) -> Scores:
        """Scores of the labels, shape (n_rows, n_labels)."""
        return self.decoded.scores

    @property
    def is_present(self) -> NDArray[np.bool_]:
        """Predicted labels, shape (n_rows, n_labels)."""
        return self.decoded.is_present


def any_fires(bits: Bits, n_labels: int, label_of_rule: NDArray[np.intp]) -> Bits:
    """Bits of the rows for which any rule of a label fires, shape (n_labels, n_words)."""
    of_label = [np.bitwise_or.reduce(bits[label_of_rule == j], axis=0) for j in range(n_labels)]
    return np.array(of_label, dtype=np.uint64)


def labels_to_answer(is_present: NDArray[np.bool_], classes: Sequence[Any]) -> NDArray[Any]:
    """What is predicted: 0/1 per label or, given classes, one class per row."""
    if not classes:
        return is_present.astype(np.int64)
    if is_present.shape[1] == 1:
        return np.asarray(classes)[is_present[:, 0].astype(np.int64)]
    chosen: NDArray[Any] = np.asarray(classes)[np.argmax(is_present, axis=1)]
    return chosen
