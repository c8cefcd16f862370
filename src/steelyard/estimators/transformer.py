"""RuleTransformer: learned rules as 0/1 features for other models. Knows no learner of its own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from steelyard.model.theory import Theory

from .base import TheoryClassifier
from .documented import DocumentedMixin
from .rule_set import RuleSetClassifier
from .validation import validate_table


class RuleTransformer(DocumentedMixin, TransformerMixin, BaseEstimator):
    """Rules as features: one column per learned rule, 1 where it fires and 0 elsewhere.

    A linear model on these columns weighs the rules anew.

    Parameters
    ----------
    estimator : classifier of this package or None, default=None
        Learns the rules; None is ``RuleSetClassifier()``.

    Attributes
    ----------
    estimator_ : the fitted classifier
    theory_ : Theory
        Its rules are the columns, in their order.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X has string column names

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from steelyard import RuleSetClassifier, RuleTransformer, make_planted_rules
    >>> data = make_planted_rules(300, random_state=0)
    >>> rules = RuleTransformer(RuleSetClassifier(n_candidates=1000, random_state=0))
    >>> model = make_pipeline(rules, LogisticRegression())
    >>> model.fit(data.X, data.Y["for jam"]).score(data.X, data.Y["for jam"]) > 0.9
    True
    """

    theory_: Theory

    def __init__(self, estimator: TheoryClassifier | None = None) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []  # 0 and 1 whatever the attributes are
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rules.

        Parameters
        ----------
        X, y, sample_weight : as in `RuleSetClassifier.fit`

        Returns
        -------
        self
        """
        estimator = RuleSetClassifier() if self.estimator is None else self.estimator
        if not isinstance(estimator, TheoryClassifier):
            raise TypeError(f"estimator must be a classifier of Steelyard, got {estimator!r}")
        validate_table(self, X, reset=True)
        self.estimator_ = clone(estimator).fit(X, y, sample_weight=sample_weight)
        self.theory_ = self.estimator_.theory_
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Which rules fire.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_rules) of 0 and 1
        """
        check_is_fitted(self)
        X = validate_table(self, X, reset=False)
        return np.asarray(self.theory_.covers(X), dtype=np.uint8)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """The rules as text, such as ``flu ← fever ≥ 38.5``.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str of shape (n_rules,)
        """
        check_is_fitted(self)
        return np.array([str(scored.rule) for scored in self.theory_], dtype=object)
