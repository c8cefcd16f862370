"""RipperClassifier: learns short ordered lists of rules by Ripper."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from steelyard.learning.budget import read_memory
from steelyard.learning.constraints import Constraints, check_constraints
from steelyard.learning.ripper import learn_ripper
from steelyard.learning.settings import RipperSettings
from steelyard.learning.targets import Targets
from steelyard.model.theory import Theory

from .advice import advise_on_size
from .base import TheoryClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class RipperClassifier(TheoryClassifier):
    r"""Ripper (Cohen 1995): short ordered lists of rules, pruned and optimised by description length.

    A rule is grown on two thirds of the examples, one condition at a time, by FOIL's gain

    .. math:: p \cdot \left(\log_2 \frac{p + 1}{t + 1} - \log_2 \frac{P + 1}{T + 1}\right)

    where the rule covers P positives among T examples before and p among t after the condition is
    added. Its last conditions are then pruned while that raises :math:`(p + 1)/(p + n + 2)` on the
    other third: the order of :math:`(p - n)/(p + n)`, with less trust in small numbers. The examples
    that the rule covers are removed and the next rule is grown, until no positive is left, half of
    the examples that the new rule covers are negative, or the description length of rules and
    exceptions is 64 bits above its minimum. After that each rule competes `optimizations` times with a
    replacement and a revision; the smallest description length wins, and rules that increase it are
    deleted.

    The rules of a label predict its rarer value. The classes of a one-dimensional y are tested in
    turn, the rarest first; the most frequent one is the default.

    Parameters
    ----------
    prune : bool, default=True
        Whether rules are pruned. Unpruned rules are grown on all examples and are not optimised.
    optimizations : int, default=2
        Number of optimisation passes over the rules.
    folds : int, default=3
        Number of folds, at least 2: one is for pruning, the others are for growing.
    min_weight : float, default=2.0
        Minimum number of positives that a rule must cover after a condition is added.
    check_error : bool, default=True
        Whether a rule is rejected if at least half of the examples it covers are negative.
    max_rules : int or None, default=None
        Maximum number of rules over all labels: those with the best values are kept.
    max_conditions : int or None, default=None
        Maximum number of conditions per rule.
    max_total_conditions : int or None, default=None
        Maximum number of conditions over all rules: those with the best values are kept up to the first
        one that exceeds it.
    constraints : Constraints or None, default=None
        What every rule has to satisfy, and rules that are given.
    max_memory : str, float or None, default=None
        Memory for the coded table and its sorted columns, such as ``"4GB"``, or a number of bytes: about
        60 bytes per number of a dense table, however many rules and labels there are. None is a quarter
        of the machine's. If they need more, a MemoryError says what to change.
    n_jobs : int or None, default=None
        Labels are learned in parallel; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Determines which examples are for growing and which for pruning.

    Attributes
    ----------
    theory_ : Theory
        Its values are :math:`(TP + 1)/(TP + FP + 2)` on all training examples.
    classes_ : ndarray of shape (n_classes,), or (n_labels, 2) with one row (0, 1) per label
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X has string column names

    See Also
    --------
    RuleSetClassifier : rules selected from many candidates by a heuristic and a threshold.

    Notes
    -----
    Details that Cohen's paper leaves open follow the documentation of JRip, Weka's implementation:
    numeric conditions are ≤ and ≥ at values that occur in the training set, nominal ones =; a missing
    value satisfies none. Without pruning nothing is random.

    References
    ----------
    .. [1] W. W. Cohen: Fast Effective Rule Induction. ICML 1995.
    .. [2] J. R. Quinlan: MDL and Categorical Theories (Continued). ICML 1995.

    Examples
    --------
    >>> import pandas as pd
    >>> from steelyard import RipperClassifier
    >>> X = pd.DataFrame({"age": [5, 17, 30, 41, 52, 60, 71, 80], "sex": list("fmfmfmfm")})
    >>> Y = pd.DataFrame({"minor": [1, 1, 0, 0, 0, 0, 0, 0], "pension": [0, 0, 0, 0, 0, 0, 1, 1]})
    >>> clf = RipperClassifier(prune=False).fit(X, Y)
    >>> print(*clf.theory_, sep="\n")
    minor ← age ≤ 17  (TP 2, FP 0, value 0.75)
    pension ← age ≥ 71  (TP 2, FP 0, value 0.75)
    """

    # Ripper counts in integers: a rule covers so many examples, and their subsets are coded in bits.
    _takes_fractions: ClassVar[bool] = False

    prune: bool = True
    optimizations: int = 2
    folds: int = 3
    min_weight: float = 2.0
    check_error: bool = True
    max_rules: int | None = None
    max_conditions: int | None = None
    max_total_conditions: int | None = None
    constraints: Constraints | None = None
    max_memory: str | float | None = None
    n_jobs: int | None = None
    random_state: Any = None

    def _check_parameters(self) -> None:
        self._settings()
        read_memory(self.max_memory)
        check_constraints(self.constraints)

    def _advise_on_rules(self) -> str:
        other = "RuleSetClassifier(min_rules_per_label=1) learns a rule for each of them."
        return f"{other} {advise_on_size(self._list_rooms())}"

    def _settings(self) -> RipperSettings:
        return RipperSettings(**{f.name: getattr(self, f.name) for f in fields(RipperSettings)})

    def _learn_theory(self, X: Any, targets: Targets) -> Theory:
        options = self._learning_options() | {"max_memory": self.max_memory}
        return learn_ripper(X, targets, self._settings(), **options)
