"""Stability: learn again on samples of the examples → how many of the theories have each rule."""

from __future__ import annotations

import reprlib
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from steelyard._numbers import is_integer, is_number
from steelyard._text import format_count
from steelyard.learning.parallel import Progress, run_parallel
from steelyard.learning.targets import encode_targets
from steelyard.model.conditions import format_body
from steelyard.model.frames import to_pandas
from steelyard.model.theory import Theory

from .base import TheoryClassifier
from .tuned import TunedClassifier
from .validation import name_labels, seed_to_entropy, take_rows

Rows = NDArray[np.intp]

# A terminal is no place for thousands of rules.
_MOST_SHOWN = 100


@dataclass(frozen=True, repr=False)
class RuleStability:
    """How often rules are learned again from samples of the examples.

    Parameters
    ----------
    theory : Theory
        What is learned from all examples.
    similarity : (n_resamples, n_rules) float
        The similarity of each rule to the most similar rule of each resample with the same head: the
        number of examples that both cover over the number that any of them covers; 0 if there is none.
    is_same : (n_resamples, n_rules) bool
        Whether a resample has the very same rule.
    min_similarity : float
        The least similarity of a rule that counts as one like it.
    sample_fraction : float
        The share of the examples that each resample has.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients, rule_stability
    >>> data = load_patients()
    >>> stability = rule_stability(
    ...     RipperClassifier(random_state=0), data.X, data.Y, n_resamples=5, random_state=0
    ... )
    >>> 0 <= stability.value <= 1, len(stability.share) == len(stability.theory)
    (True, True)
    >>> stability.to_frame().columns.tolist()
    ['label', 'target_class', 'rule', 'share', 'same', 'similarity']
    """

    theory: Theory
    similarity: NDArray[np.float64]
    is_same: NDArray[np.bool_]
    min_similarity: float
    sample_fraction: float

    @property
    def n_resamples(self) -> int:
        """How often it was learned again."""
        return len(self.similarity)

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of the resamples that have each rule or one like it, shape (n_rules,)."""
        is_like = self.is_same | (self.similarity >= self.min_similarity)
        return np.asarray(is_like.mean(axis=0))

    @property
    def same_share(self) -> NDArray[np.float64]:
        """The share of the resamples that have the very same rule, shape (n_rules,)."""
        return np.asarray(self.is_same.mean(axis=0))

    @property
    def value(self) -> float:
        """The mean of `share` over the rules: 1 if every resample has them all; NaN without rules."""
        return float(self.share.mean()) if len(self.theory) else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """One row per rule, in the order of the theory.

        "share" and "same" are `share` and `same_share`, "similarity" is the mean over the resamples.
        """
        return pd.DataFrame(
            {
                "label": [scored.head.label for scored in self.theory.rules],
                "target_class": [scored.head.target_class for scored in self.theory.rules],
                "rule": [format_body(scored.body) for scored in self.theory.rules],
                "share": self.share,
                "same": self.same_share,
                "similarity": self.similarity.mean(axis=0),
            }
        )

    def __str__(self) -> str:
        n_rules, share, same = len(self.theory), self.share, self.same_share
        learned = (
            f"{format_count(n_rules, 'rule')}, learned again from "
            f"{format_count(self.n_resamples, 'sample')} of {self.sample_fraction:.0%} of the examples"
        )
        if not n_rules:
            return learned
        lines = [
            learned,
            f"on average {self.value:.0%} of the samples have a rule or one like it "
            f"(similarity of at least {self.min_similarity:g}), {same.mean():.0%} the same rule",
            "  like  same",
        ]
        for r in np.argsort(-share, kind="stable")[:_MOST_SHOWN]:
            rule = self.theory.rules[r].rule.describe()
            lines.append(f"{share[r]:6.0%}{same[r]:6.0%}  {rule}")
        if n_rules > _MOST_SHOWN:
            lines.append(f"… and {n_rules - _MOST_SHOWN} more; see to_frame()")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<RuleStability: {self.value:.2f} for {format_count(len(self.theory), 'rule')}>"


def rule_stability(
    estimator: TheoryClassifier,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 20,
    sample_fraction: float = 0.632,
    min_similarity: float = 0.5,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RuleStability:
    r"""Learn again from samples of the examples and count how many of the theories have each rule.

    The rules A and B are alike if they have the same head and cover mostly the same examples of X,

    .. math:: \frac{|A \cap B|}{|A \cup B|} \ge \text{min\_similarity}.

    A rule that nearly all samples have depends little on which examples happened to be there. A rule
    that few samples have may still be right, but others would explain the examples as well. All
    theories are learned with the seed of the estimator, so only the examples differ. An estimator that
    tunes itself is tuned once, on all examples; the samples keep its choice.

    Parameters
    ----------
    estimator : estimator of this library
        It is not changed, and need not be fitted.
    X, y : as in `RuleSetClassifier.fit`
    n_resamples : int, default=20
        A share has a standard error of at most :math:`1/(2\sqrt{n})`, for 20 samples 0.11.
    sample_fraction : float, default=0.632
        The share of the examples in a sample, drawn without replacement: as many different ones as a
        bootstrap sample has.
    min_similarity : float, default=0.5
        The least similarity of a rule that counts as one like another, above 0 and at most 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples.
    n_jobs : int or None, default=None
        Number of samples that are learned from at the same time, as in joblib.
    progress : callable, optional
        Called with the number of finished samples and of all samples.

    Returns
    -------
    RuleStability
        It prints as a list of the rules; `to_frame()` gives a DataFrame.

    Examples
    --------
    >>> from steelyard import BoostedRulesClassifier, make_planted_rules, rule_stability
    >>> data = make_planted_rules(300, random_state=0)
    >>> clf = BoostedRulesClassifier(max_rules=10, random_state=0)
    >>> stability = rule_stability(clf, data.X, data.Y, n_resamples=5, random_state=0)
    >>> stability.share.shape == stability.same_share.shape == (len(stability.theory),)
    True
    """
    _check_parameters(n_resamples, sample_fraction, min_similarity)
    if not isinstance(estimator, TheoryClassifier):
        raise TypeError(
            f"estimator must be an estimator of this library, such as RuleSetClassifier(), got "
            f"{reprlib.repr(estimator)}"
        )
    X, y = to_pandas(X), name_labels(y, None)
    entropy = seed_to_entropy(estimator.random_state)
    model = clone(estimator).set_params(random_state=entropy).fit(X, y)
    theory = model.theory_
    again = _fix_parameters(model, X, y, entropy)
    learn = partial(_learn_again, again, X, y, theory, theory.covers(X).astype(np.float32))
    samples = _draw_samples(X.shape[0], n_resamples, sample_fraction, random_state)
    found = run_parallel(learn, [(rows,) for rows in samples], n_jobs, progress)
    similarity, is_same = map(np.array, zip(*found, strict=True))
    return RuleStability(theory, similarity, is_same, min_similarity, sample_fraction)


def _check_parameters(n_resamples: Any, sample_fraction: Any, min_similarity: Any) -> None:
    if not is_integer(n_resamples):
        raise ValueError(f"n_resamples must be a positive integer, got {n_resamples!r}")
    shares = {"sample_fraction": sample_fraction, "min_similarity": min_similarity}
    for name, share in shares.items():
        if not is_number(share) or not 0 < share <= 1:
            raise ValueError(f"{name} must be a number above 0 and at most 1, got {share!r}")


def _draw_samples(n_rows: int, n_resamples: int, fraction: float, random_state: Any) -> list[Rows]:
    """Positions of the rows of each sample, ascending."""
    random = np.random.default_rng(seed_to_entropy(random_state))
    size = max(1, round(fraction * n_rows))
    return [np.sort(random.permutation(n_rows)[:size]) for _ in range(n_resamples)]


def _fix_parameters(model: TheoryClassifier, X: Any, y: Any, entropy: int) -> TheoryClassifier:
    """An unfitted estimator that learns as a fitted one did, with the parameters that it chose."""
    if isinstance(model, TunedClassifier):
        search = model._plan(entropy, encode_targets(y).output, X)
        model = clone(search.template).set_params(**model.best_params_)
    fixed: TheoryClassifier = clone(model).set_params(n_jobs=1)
    return fixed


def _learn_again(
    estimator: TheoryClassifier,
    X: Any,
    y: Any,
    theory: Theory,
    covered: NDArray[np.float32],
    rows: Rows,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """For each rule of a theory, the similarity of the most similar rule of a sample; whether it has it.

    `covered` says which rows the rules of the theory cover, shape (n_rows, n_rules).
    """
    with warnings.catch_warnings():
        # Learning from all examples gives these warnings.
        warnings.simplefilter("ignore", UserWarning)
        other = clone(estimator).fit(take_rows(X, rows), take_rows(y, rows)).theory_
    known = {scored.rule for scored in other}
    is_same = np.array([scored.rule in known for scored in theory], dtype=np.bool_)
    if not len(theory) or not len(other):
        return np.zeros(len(theory)), is_same
    also_covered = other.covers(X).astype(np.float32)
    both = (covered.T @ also_covered).astype(np.float64)
    either = covered.sum(axis=0)[:, None] + also_covered.sum(axis=0) - both
    heads = list(dict.fromkeys(scored.head for scored in (*theory, *other)))
    mine, others = ([heads.index(scored.head) for scored in t] for t in (theory, other))
    has_same_head = np.equal.outer(mine, others)
    similarity = np.where(has_same_head, both / np.maximum(either, 1), 0.0).max(axis=1)
    return similarity, is_same
