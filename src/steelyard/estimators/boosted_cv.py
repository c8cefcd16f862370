"""BoostedRulesClassifierCV: chooses m and the decoder for a measure by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from steelyard.heuristics import MEstimate
from steelyard.learning.targets import Output

from .boosted import BoostedRulesClassifier, BoostedRulesParameters
from .presets import TUNED_BOOSTED_DECODERS, choose_decoders
from .tuned import Search, TunedClassifier
from .validation import as_list


@dataclass(eq=False, repr=False)
class BoostedRulesClassifierCV(TunedClassifier, BoostedRulesParameters):
    """Rules that vote, tuned for a measure: m and the decoder are chosen by cross-validation.

    Every fold learns one theory per m and decodes it in every way to choose from. The cell with the best
    mean score is learned again on all examples.

    Parameters
    ----------
    scoring : str or callable, default="f1_micro"
        A measure of `steelyard.measures` (``"f1_micro"``, ``"hamming"``, ``"subset"``, ...), the name
        of a scikit-learn scorer or a scorer ``(estimator, X, y) -> float``.
    ms : sequence of float, default=(16.0,)
        Values of m. A larger grid was not better on average: it increases selection bias.
    cv : int, splitter or iterable of splits, default=5
        An integer is a number of folds by iterative stratification.
    decode : str, Decoder, a list of them or None, default=None
        As in `BoostedRulesClassifier`, or a list to choose from. None chooses from each label by itself
        with thresholds from 0.5 to 0.2, the best label set, and votes of all label sets.
    max_rules, max_conditions, min_rules_per_label, max_labels_per_rule, n_tries, sample_fraction, \
    max_features, constraints, random_state, verbose
        As in `BoostedRulesClassifier`.
    tolerance : float, default=0.0
        Among the theories whose mean score is below the best by at most this many standard errors of
        the difference, the one with the fewest conditions is chosen.
    n_jobs : int or None, default=None
        Folds are learned in parallel; the result does not depend on it.

    Attributes
    ----------
    best_params_ : dict
        The chosen `decode` and `m`.
    best_score_ : float
        Mean score of the chosen cell over the folds; optimistic, since the cell was chosen for it.
    best_index_ : int
        Position of the chosen cell in `cv_results_`.
    cv_results_ : dict of arrays
        One entry per cell, ready for ``pandas.DataFrame``.
    theory_, classes_, n_features_in_, feature_names_in_
        As in `BoostedRulesClassifier`.

    Examples
    --------
    >>> from steelyard import BoostedRulesClassifierCV, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = BoostedRulesClassifierCV("hamming", cv=3, max_rules=30, random_state=0)
    >>> clf.fit(data.X, data.Y).best_score_ > 0.8
    True
    """

    scoring: str | Callable[..., float] = "f1_micro"
    ms: Sequence[float] = (16.0,)
    cv: Any = 5
    _: KW_ONLY
    tolerance: float = 0.0

    def _plan(self, entropy: int, output: Output = "multilabel", X: Any = None) -> Search:  # noqa: ARG002
        return Search(
            template=self._make_template(BoostedRulesClassifier, entropy),
            variants={},
            decoders=choose_decoders(self.decode, TUNED_BOOSTED_DECODERS, output),
            axes={"m": [MEstimate(m).m for m in as_list(self.ms)]},
            tolerance=self.tolerance,
        )
