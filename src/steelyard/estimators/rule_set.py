"""RuleSetClassifier, a scikit-learn estimator: validate → learn a path → threshold → Theory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from steelyard._numbers import is_number, is_whole
from steelyard.explain import Explanation
from steelyard.heuristics import M_GRID, Heuristic, MEstimate, get_heuristic
from steelyard.learning.candidates import PAPER_DEPTHS, ForestSettings, as_depths
from steelyard.learning.paths import learn_path
from steelyard.learning.targets import TargetChoice, Targets, encode_targets
from steelyard.model.decoding import Decoding, EachLabel, get_decoding
from steelyard.model.path import TheoryPath
from steelyard.model.theory import Theory
from steelyard.model.thresholding import PHI_GRID

from .presets import apply_preset
from .progress import CallbackSupportMixin, show_progress, with_callbacks

# With m = 16 a round number next to the best single share, 0.45 (mean distance of F1, Hamming and subset
# accuracy from each data set's best cell; the paper's nine data sets, folds 1 to 3, 40,000 candidates).
# A class of a one-dimensional y would lose its only rule to a share that is taken over all classes,
# so there everything is kept.
MULTILABEL_PHI = 0.5


def validate_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """X as a DataFrame, a float or object array or a CSC matrix, with scikit-learn's checks done."""
    if isinstance(X, pd.DataFrame):
        if not X.columns.is_unique:
            twice = X.columns[X.columns.duplicated()].tolist()[0]
            raise ValueError(f"two attributes have the same name {twice!r}")
        validate_data(estimator, X=X, skip_check_array=True, reset=reset)
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise ValueError(f"the table is empty: it has shape {X.shape}")
        return X
    numeric = {"dtype": np.float64, "ensure_all_finite": "allow-nan", "reset": reset}
    if sparse.issparse(X):
        return validate_data(estimator, X=X, accept_sparse="csc", **numeric)
    if _is_object_table(X):
        # pandas' NA is no float: without this it would be an error where None and NaN are missing.
        X = np.asarray(X)
        X = np.where(pd.isna(X), np.nan, X) if X.dtype.kind == "O" else X
    if _holds_text(X) or (not reset and _may_hold_categories(estimator, X)):
        return validate_data(estimator, X=X, dtype=object, ensure_all_finite=False, reset=reset)
    return validate_data(estimator, X=X, accept_sparse="csc", **numeric)


def _is_object_table(X: Any) -> bool:
    """Whether X is an array or a list of lists that may hold text."""
    array = np.asarray(X) if not hasattr(X, "__array_function__") else X
    return getattr(array, "ndim", 0) == 2 and array.dtype.kind in "OUS"


def _may_hold_categories(estimator: Any, X: Any) -> bool:
    """Whether categories may stand in a table, though they all look like numbers."""
    return _is_object_table(X) and any(f.is_nominal for f in estimator.theory_.features)


def _holds_text(X: Any) -> bool:
    """Whether an array or a list of lists holds text that is no number, i.e. nominal values."""
    if not _is_object_table(X):
        return False
    try:
        np.asarray(X).astype(np.float64)
    except ValueError:
        return True
    except TypeError:
        return False  # scikit-learn's validation says what is wrong with it
    return False


# Each copy is a row in memory: what is beyond this was not meant as a number of copies.
_MOST_COPIES = 1_000_000_000


def repeated_rows(sample_weight: Any, X: Any) -> NDArray[np.intp] | None:
    """Row indices that stand for whole-numbered weights, or None if each row counts once.

    A weight is well defined here as a number of copies: bags are drawn and examples are counted. A
    fractional example has no place in either, so other weights are refused.
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X)
    if (weights < 0).any() or (weights != np.floor(weights)).any():
        raise ValueError(
            "sample_weight must be whole numbers of at least 0: a weight of k means that the example "
            "occurs k times; fractional weights have no meaning for counts of examples"
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every example")
    if weights.sum() > _MOST_COPIES:
        raise ValueError(
            f"sample_weight stands for {weights.sum():.3g} examples, which is more than "
            f"{_MOST_COPIES:,}: a weight of k means that the example occurs k times"
        )
    if (weights == 1).all():
        return None
    return np.repeat(np.arange(len(weights)), weights.astype(np.intp))


def take_rows(table: Any, row_idx: NDArray[np.intp]) -> Any:
    """Rows of a DataFrame, Series, array, list or sparse matrix by position."""
    if isinstance(table, pd.DataFrame | pd.Series):
        return table.iloc[row_idx]
    if sparse.issparse(table):
        return table.tocsr()[row_idx]
    return np.asarray(table)[row_idx]


def seed_to_entropy(random_state: Any) -> int:
    """One integer from scikit-learn's three kinds of `random_state`."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a RandomState or an integer of at least 0, got {random_state!r}"
    )


class TheoryClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """What every estimator with a fitted `theory_` has in common: predictions and tags."""

    theory_: Theory
    classes_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _read_training_set(
        self, X: Any, y: Any, target: TargetChoice, sample_weight: Any
    ) -> tuple[Any, Targets]:
        """Validated table and targets; rows are repeated as their weights say."""
        X = validate_table(self, X, reset=True)
        targets = encode_targets(y, target)
        check_consistent_length(X, targets.is_target.T)
        row_idx = repeated_rows(sample_weight, X)
        if row_idx is not None:
            X = take_rows(X, row_idx)
            # Classes and target classes are those of the weighted examples.
            targets = encode_targets(take_rows(y, row_idx), target)
        if targets.output == "multilabel":
            self.classes_ = [np.array([0, 1]) for _ in targets.names]
        else:
            self.classes_ = np.unique(np.asarray(targets.classes))
        return X, targets

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) of classes
        """
        X = self._validate(X)
        predicted = np.asarray(self.theory_.predict(X))
        if self.theory_.output == "multilabel":
            return predicted
        # A Series of text comes back as objects; classes have the type they were given in.
        return predicted.astype(self.classes_.dtype, copy=False)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How strongly each label is asserted (positive) or denied (negative), between -1 and 1.

        Where rules fire it is the smoothed precision of the best of them, or what their votes come to;
        see `Theory.decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), (n_samples, n_classes), or (n_samples,) if binary
        """
        X = self._validate(X)
        scores = self.theory_.decision_function(X)
        if self.theory_.output != "binary":
            return scores
        rules_are_for_last_class = self.theory_.classes[1] == self.classes_[-1]
        return scores[:, 0] if rules_are_for_last_class else -scores[:, 0]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Scores as probabilities: (1 + decision)/2, which is above ½ exactly where `predict` says so.

        They order predictions; they are not calibrated. Where the label set that fits best is
        predicted, `predict` looks at all labels together and can differ; where label sets vote
        (`LabelSets` with `min_share`) it does not.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) with the probability that a label is present, or
        (n_samples, n_classes) with rows that sum to 1
        """
        probability = (1 + self.decision_function(X)) / 2
        if self.theory_.output == "binary":
            if len(self.classes_) == 1:
                return np.ones((len(probability), 1))
            return np.column_stack([1 - probability, probability])
        if self.theory_.output in ("multiclass", "ordered"):
            return np.asarray(probability / probability.sum(axis=1, keepdims=True))
        return probability

    def explain(self, X: Any, *, n_closest: int = 3) -> Explanation | list[Explanation]:
        """Why the theory predicts what it predicts; see `Theory.explain`.

        Parameters
        ----------
        X : Series, dict, 1-D array, or a table
        n_closest : int, default=3
            How many rules to compare with if none fires.

        Returns
        -------
        Explanation, or a list of them for a table of any other number of rows than one
        """
        check_is_fitted(self)
        return self.theory_.explain(X, n_closest=n_closest)

    def _validate(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_table(self, X, reset=False)


class RuleSetClassifier(TheoryClassifier):
    """A small set of readable IF-THEN rules for one heuristic and one threshold.

    Candidate rules are read off random forests; per label the best by the heuristic is taken, what it
    covers removed, and so on until all positives are covered; of all rules together the share `phi`
    with the best values is kept. A label is predicted where any of its rules fires. That is the paper's
    method; a `preset` can replace steps of it, so that rules vote or whole label sets are predicted.

    Parameters
    ----------
    heuristic : Heuristic, str or callable(tp, fp, fn, tn), default=MEstimate(m=16)
        What makes a rule good: larger `m` favours coverage, smaller `m` consistency.
    phi : float or "auto", default="auto"
        Share of the selected rules to keep, above 0 and at most 1. "auto" is 0.5 for multi-label
        data and 1 for a one-dimensional y or for rules that vote, where it is a share of the votes.
    threshold_heuristic : Heuristic, str, callable or None, default=None
        Heuristic behind the threshold if it is to differ from `heuristic`; not for rules that vote.
    n_candidates : int, default=300_000
        γ, number of distinct candidate rules over all labels; not for rules that vote, which are grown
        as they are needed.
    n_trees : int, default=10
        Trees of a forest; of rules that vote, how many are grown for one to be taken.
    max_depths : tuple of int or None, default=(None, 1, 2, 3, 4, 5, 6, 7, 8)
        A forest is grown for each depth limit; None is no limit. Rules that vote have at most as many
        conditions as the largest limit says, or 20.
    sample_fraction : float, default=1.0
        Size of the bag, drawn with replacement, that a tree or a rule that votes is grown on, in shares
        of the training set.
    max_features : {"log2", "sqrt"}, int or float, default="log2"
        Attributes drawn for each condition; a float is a share of all attributes, but not fewer than
        "log2" draws.
    target : {"minority", "present"}, default="minority"
        Whether rules predict the rarer value of a label, or always its presence. Rules that vote are
        for either.
    min_value : float or None, default=None
        Keep the rules of at least this heuristic value instead of the share `phi`. Of rules that vote:
        the votes that lower the loss by at least this.
    revalidate : bool, default=True
        Whether candidates are valued again on the uncovered examples after each selection; not for
        rules that vote, which always look at what is left to explain.
    preset : {"paper", "short", "accurate"}, default="paper"
        Settings that go together: the paper's method; rules of few conditions; rules that vote. A
        preset speaks for the parameters that are "auto", and for `max_features`, `max_depths`,
        `n_candidates`, `n_trees` and `sample_fraction` if they have their default value.
    prune : {"oob", "prefix", None, "auto"}, default="auto"
        Whether conditions of a candidate go that do not pay on the examples outside its tree's bag:
        any of them, or only the last of the path.
    combine : {"any", "weighted", "auto"}, default="auto"
        Whether a firing rule decides for its label, or every firing rule has a vote, for or against
        it. They are grown by boosting, with the m of the m-estimate as the strength of the prior.
    decode : {"any", "label-sets", "auto"}, EachLabel or LabelSets, default="auto"
        Whether each label is predicted by itself, or the label set of a training example that fits
        the firing rules best, or what all label sets vote for (``LabelSets(min_share=...)``).
    max_rules : int, default=333
        The most rules of a theory at ``phi=1``, if they vote.
    n_jobs : int or None, default=None
        Labels are learned in parallel; the result does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    theory_ : Theory
    classes_ : ndarray, or a list of one ndarray a label
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X has string column names

    Examples
    --------
    >>> from steelyard import MEstimate, RuleSetClassifier, make_planted_rules
    >>> data = make_planted_rules(300, random_state=0)
    >>> clf = RuleSetClassifier(MEstimate(m=8), n_candidates=1000, random_state=0)
    >>> clf.fit(data.X, data.Y).predict(data.X).shape == data.Y.shape
    True
    """

    def __init__(
        self,
        heuristic: Heuristic | str | Callable[..., Any] = MEstimate(m=16),  # noqa: B008
        phi: float | Literal["auto"] = "auto",
        *,
        threshold_heuristic: Heuristic | str | Callable[..., Any] | None = None,
        n_candidates: int = 300_000,
        n_trees: int = 10,
        max_depths: tuple[int | None, ...] = PAPER_DEPTHS,
        sample_fraction: float = 1.0,
        max_features: str | int | float = "log2",
        target: TargetChoice = "minority",
        min_value: float | None = None,
        revalidate: bool = True,
        preset: str = "paper",
        prune: str | None = "auto",
        combine: str = "auto",
        decode: str | Decoding = "auto",
        max_rules: int = 333,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.heuristic = heuristic
        self.phi = phi
        self.threshold_heuristic = threshold_heuristic
        self.n_candidates = n_candidates
        self.n_trees = n_trees
        self.max_depths = max_depths
        self.sample_fraction = sample_fraction
        self.max_features = max_features
        self.target = target
        self.min_value = min_value
        self.revalidate = revalidate
        self.preset = preset
        self.prune = prune
        self.combine = combine
        self.decode = decode
        self.max_rules = max_rules
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RuleSetClassifier:
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
        if self.min_value is not None and not is_number(self.min_value):
            raise ValueError(f"min_value must be a number or None, got {self.min_value!r}")
        automatic = self.phi == "auto"
        phi = 1.0 if automatic else check_phi(self.phi)
        decoding = get_decoding(effective_parameters(self)["decode"])
        path = fit_path(
            self, X, y, [get_heuristic(self.heuristic)], [phi], sample_weight=sample_weight
        )
        if path.output != "multilabel" and self.decode == "auto":
            decoding = EachLabel()  # one class a row is no set of labels
        if automatic and path.output == "multilabel" and path.combine == "any":
            phi = MULTILABEL_PHI
        self.theory_ = path.theory(0, phi, min_value=self.min_value, decoding=decoding)
        return self


def as_list(name: str, value: Any) -> list[Any]:
    """The items of a parameter that takes several; a single heuristic, name or number stands alone."""
    if isinstance(value, str) or callable(value) or is_number(value):
        return [value]
    try:
        return list(value)
    except TypeError:
        raise ValueError(f"{name} must be a list, got {value!r}") from None


def check_phi(phi: Any) -> float:
    """φ as a float, or an error that says what it must be."""
    if not is_number(phi) or not 0 < phi <= 1:
        raise ValueError(f"phi must be a number above 0 and at most 1, got {phi!r}")
    return float(phi)


def effective_parameters(estimator: Any, *, tuned: bool = False) -> dict[str, Any]:
    """The parameters of an estimator, where the preset speaks for those left open."""
    parameters = inspect.signature(type(estimator)).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    given = estimator.get_params(deep=False)
    return apply_preset(estimator.preset, given, defaults, tuned=tuned)


def read_settings(parameters: Mapping[str, Any]) -> ForestSettings:
    """How candidates are grown, from effective parameters that fit together."""
    settings = ForestSettings(
        n_candidates=parameters["n_candidates"],
        n_trees=parameters["n_trees"],
        max_depths=as_depths(parameters["max_depths"]),
        sample_fraction=parameters["sample_fraction"],
        max_features=parameters["max_features"],
        prune=parameters["prune"],
    )
    combine, max_rules = parameters["combine"], parameters["max_rules"]
    if combine not in ("any", "weighted"):
        raise ValueError(f"combine must be 'any' or 'weighted', got {combine!r}")
    if settings.prune is not None and combine == "weighted":
        raise ValueError(
            "rules that vote are not pruned: combine='weighted' needs prune=None, "
            f"got {settings.prune!r}"
        )
    if not is_whole(max_rules):
        raise ValueError(f"max_rules must be a whole number of at least 1, got {max_rules!r}")
    return settings


def fit_path(
    estimator: Any,
    X: Any,
    y: Any,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    sample_weight: Any = None,
) -> TheoryPath:
    """The path of theories that an estimator's parameters describe; sets its fitted attributes."""
    parameters = effective_parameters(estimator)
    settings = read_settings(parameters)
    threshold = estimator.threshold_heuristic
    X, targets = estimator._read_training_set(X, y, estimator.target, sample_weight)
    steps = "labels" if parameters["combine"] == "weighted" else "candidates"
    with show_progress(estimator, steps, X, y) as progress:
        return learn_path(
            X,
            targets,
            heuristics,
            phis,
            settings,
            threshold_heuristic=None if threshold is None else get_heuristic(threshold),
            revalidate=estimator.revalidate,
            combine=parameters["combine"],
            max_rules=estimator.max_rules,
            entropy=seed_to_entropy(estimator.random_state),
            n_jobs=estimator.n_jobs,
            feature_names=getattr(estimator, "feature_names_in_", None),
            progress=progress,
        )


def theory_path(
    X: Any,
    y: Any,
    heuristics: Sequence[Heuristic] | None = None,
    phis: Sequence[float] = PHI_GRID,
    *,
    sample_weight: Any = None,
    **parameters: Any,
) -> TheoryPath:
    """All theories of a grid from one pool of candidates.

    Any cell equals what `RuleSetClassifier` fits with the same heuristic, φ and seed.

    Parameters
    ----------
    X, y : as in `RuleSetClassifier.fit`
    heuristics : sequence of Heuristic, default: the paper's 20 values of m
    phis : sequence of float, default: the paper's 20 shares
    sample_weight : array-like, optional
    **parameters
        Other parameters of `RuleSetClassifier`.

    Returns
    -------
    TheoryPath

    Examples
    --------
    >>> from steelyard import make_planted_rules, theory_path
    >>> data = make_planted_rules(200, random_state=0)
    >>> theory_path(data.X, data.Y, n_candidates=500, random_state=0).shape
    (20, 20)
    """
    grid: list[Heuristic] = [MEstimate(m) for m in M_GRID]
    if heuristics is not None:
        grid = [get_heuristic(h) for h in as_list("heuristics", heuristics)]
    shares = [check_phi(phi) for phi in as_list("phis", phis)]
    if not grid or not shares:
        raise ValueError("heuristics and phis must each have at least one entry")
    return fit_path(RuleSetClassifier(**parameters), X, y, grid, shares, sample_weight)
