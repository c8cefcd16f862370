"""RipperClassifier, a scikit-learn estimator: validate → code → rules of each label → Theory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from steelyard._kernels.coding import hash_rows
from steelyard._kernels.ripper import LearnedRules, Settings, learn_rules
from steelyard._numbers import is_number, is_whole
from steelyard.heuristics import Laplace, describe
from steelyard.learning.candidates import draw_order
from steelyard.learning.targets import Targets
from steelyard.model.evidence import Label, ScoredRule, smoothed_precision
from steelyard.model.features import (
    CodedFeatures,
    TrainingFeatures,
    code_training_table,
    value_cuts,
)
from steelyard.model.rules import Head, Rule, ranges_to_body
from steelyard.model.theory import Theory

from .rule_set import TheoryClassifier, seed_to_entropy

Masks = NDArray[np.bool_]  # (n_labels, n_rows): which rows have the target class

_NO_RULES = LearnedRules(
    indptr=np.zeros(1, dtype=np.int64),
    conditions=np.empty((0, 3), dtype=np.int32),
    tp=np.empty(0, dtype=np.int64),
    fp=np.empty(0, dtype=np.int64),
    rest=np.empty(0, dtype=np.bool_),
)


class RipperClassifier(TheoryClassifier):
    r"""Ripper (Cohen 1995): short ordered lists of rules, pruned and optimised by description length.

    A rule is grown on two thirds of the examples, one condition at a time, by FOIL's gain

    .. math:: p \cdot \left(\log_2 \frac{p + 1}{t + 1} - \log_2 \frac{P + 1}{T + 1}\right)

    where the rule covers P positives among T examples before and p among t after the condition is
    added. Its last conditions are then pruned while that raises :math:`(p + 1)/(p + n + 2)` on the
    other third: the order of :math:`(p - n)/(p + n)`, with less trust in small numbers. What the rule
    covers is removed and the next rule is grown, until no positive is left, half of what the new
    rule covers is wrong, or the description length of rules and exceptions is 64 bits above its
    minimum. After that each rule competes `optimizations` times with a replacement and a revision;
    the least description length wins, and rules that raise it are deleted.

    The rules of a label predict its rarer value. The classes of a one-dimensional y are asked in
    turn, from the rarest on; the most frequent one is the default.

    Parameters
    ----------
    prune : bool, default=True
        Whether rules are pruned; if not, they are grown on all examples and not optimised.
    optimizations : int, default=2
        Number of optimisation passes over the rules.
    folds : int, default=3
        One of so many folds is for pruning, the others are for growing; at least 2.
    min_weight : float, default=2.0
        Fewest positives that a condition must leave covered.
    check_error : bool, default=True
        Whether a rule is refused if at least half of what it covers is negative.
    n_jobs : int or None, default=None
        Labels are learned in parallel; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Decides which examples are for growing and which for pruning.

    Attributes
    ----------
    theory_ : Theory
        Its values are :math:`(TP + 1)/(TP + FP + 2)` on all training examples.
    classes_ : ndarray, or a list of one ndarray a label
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X has string column names

    See Also
    --------
    RuleSetClassifier : rules chosen from many candidates by a heuristic and a threshold.

    Notes
    -----
    Where Cohen's paper is silent this follows what is documented of JRip, Weka's implementation:
    numeric conditions are ≤ and ≥ at values that occur in the training set, nominal ones =; a missing
    value satisfies none. Without pruning nothing is random.

    References
    ----------
    .. [1] W. W. Cohen: Fast Effective Rule Induction. ICML 1995.
    .. [2] J. R. Quinlan: MDL and Categorical Theories (Continued). ICML 1995.

    Examples
    --------
    >>> import pandas as pd
    >>> from .ripper import RipperClassifier
    >>> X = pd.DataFrame({"age": [5, 17, 30, 41, 52, 60, 71, 80], "sex": list("fmfmfmfm")})
    >>> Y = pd.DataFrame({"minor": [1, 1, 0, 0, 0, 0, 0, 0], "pension": [0, 0, 0, 0, 0, 0, 1, 1]})
    >>> clf = RipperClassifier(prune=False).fit(X, Y)
    >>> print(*clf.theory_, sep="\n")
    minor ← age ≤ 17
    pension ← age ≥ 71
    """

    def __init__(
        self,
        *,
        prune: bool = True,
        optimizations: int = 2,
        folds: int = 3,
        min_weight: float = 2.0,
        check_error: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.prune = prune
        self.optimizations = optimizations
        self.folds = folds
        self.min_weight = min_weight
        self.check_error = check_error
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RipperClassifier:
        """Learn a theory.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Columns of type category, bool, object or string are nominal; missing values are allowed.
        y : array-like, DataFrame or sparse matrix of shape (n_samples, n_labels), or (n_samples,)
            0/1 for each label, or one class for each example.
        sample_weight : array-like of shape (n_samples,), optional
            Whole numbers: how often each example counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, targets = self._read_training_set(X, y, "minority", sample_weight)
        entropy = seed_to_entropy(self.random_state)
        training = code_training_table(X, getattr(self, "feature_names_in_", None), value_cuts)
        settings = Settings(
            prune=bool(self.prune),
            n_folds=int(self.folds),
            min_weight=float(self.min_weight),
            check_error=bool(self.check_error),
            n_possible=_count_possible_conditions(training.coded),
            fp_share=0.0,  # this and the order differ from label to label
            order=np.empty(0, dtype=np.int64),
        )
        learn = self._learn_in_turn if targets.output == "multiclass" else self._learn_labels
        learned = learn(training.coded, targets.is_target, settings, np.uint64(entropy % 2**64))
        self.theory_ = _rules_to_theory(learned, training, targets)
        return self

    def _check_parameters(self) -> None:
        for name, least in (("optimizations", 0), ("folds", 2)):
            value = getattr(self, name)
            if not is_whole(value, least):
                raise ValueError(
                    f"{name} must be a whole number of at least {least}, got {value!r}"
                )
        if not is_number(self.min_weight) or self.min_weight < 0:
            raise ValueError(f"min_weight must be a number of at least 0, got {self.min_weight!r}")

    def _learn_labels(
        self, coded: CodedFeatures, is_target: Masks, settings: Settings, seed: np.uint64
    ) -> list[LearnedRules]:
        """The rules of every label, each for itself.

        Every label starts from the same seed, as with JRip, and meets its rows in an order of its own:
        its rules depend neither on the other labels nor on its place among them.
        """
        every = np.ones(coded.n_rows, dtype=np.bool_)
        row_keys = hash_rows(coded)
        learned: list[LearnedRules] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(learn_rules)(
                coded,
                mask.view(np.uint8),
                every,
                settings._replace(fp_share=share, order=draw_order(row_keys, mask)),
                int(self.optimizations),
                seed,
            )
            for mask, share in zip(is_target, is_target.mean(axis=1).tolist(), strict=True)
        )
        return learned

    def _learn_in_turn(
        self, coded: CodedFeatures, is_target: Masks, settings: Settings, seed: np.uint64
    ) -> list[LearnedRules]:
        """The rules of every class but the most frequent one, on what rarer classes leave over."""
        rest = np.ones(coded.n_rows, dtype=np.bool_)
        row_keys = hash_rows(coded)
        sizes = is_target.sum(axis=1)
        rarest_first = np.argsort(sizes, kind="stable")
        learned = [_NO_RULES for _ in is_target]
        for i, label in enumerate(rarest_first[:-1]):
            share = sizes[label] / sizes[rarest_first[i:]].sum()
            order = draw_order(row_keys, is_target[label])
            learned[label] = learn_rules(
                coded,
                is_target[label].view(np.uint8),
                rest,
                settings._replace(fp_share=float(share), order=order),
                int(self.optimizations),
                seed,
            )
            rest = learned[label].rest
        # The classes share one default, which begins where none of them has a rule.
        return [rules._replace(rest=rest) for rules in learned]


def _count_possible_conditions(coded: CodedFeatures) -> int:
    """Conditions that tell examples apart: = each category, ≤ and ≥ each value but one extreme.

    JRip counts two more for a numeric attribute, the bounds that all examples meet; without them an
    attribute of the numbers 0 and 1 counts as much as the same attribute read as nominal.
    """
    # A numeric attribute with d values has 2d + 1 codes: see `value_cuts`.
    n_possible = np.where(coded.is_nominal, coded.n_codes, np.maximum(coded.n_codes - 3, 0))
    return max(1, int(n_possible.sum()))


def _rules_to_theory(
    learned: list[LearnedRules], training: TrainingFeatures, targets: Targets
) -> Theory:
    """Rules with their counts on all training examples, in the order in which they were learned."""
    n_rows = training.coded.n_rows
    labels: list[Label] = []
    scored_rules: list[ScoredRule] = []
    for name, target_class, is_target, rules in zip(
        targets.names, targets.target_class.tolist(), targets.is_target, learned, strict=True
    ):
        n_positives = int(np.count_nonzero(is_target))
        n_uncovered = int(np.count_nonzero(rules.rest))
        uncovered_positives = int(np.count_nonzero(rules.rest & is_target))
        labels.append(
            Label(
                name,
                target_class,
                n_positives,
                n_rows - n_positives,
                uncovered_positives,
                n_uncovered - uncovered_positives,
            )
        )
        head = Head(name, target_class)
        conditions = rules.conditions.tolist()
        for (begin, end), tp, fp in zip(
            pairwise(rules.indptr.tolist()), rules.tp.tolist(), rules.fp.tolist(), strict=True
        ):
            rule = Rule(head, ranges_to_body(conditions[begin:end], training.coder))
            scored_rules.append(ScoredRule(rule, tp, fp, smoothed_precision(tp, fp)))
    return Theory(
        features=training.coder.features,
        labels=tuple(labels),
        scored_rules=tuple(scored_rules),
        heuristic=describe(Laplace()),
        output="ordered" if targets.output == "multiclass" else targets.output,
        classes=targets.classes,
    )
