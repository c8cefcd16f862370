"""RuleSetClassifierCV: chooses heuristic and φ by cross-validation for the measure that matters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from .candidates import PAPER_DEPTHS
from .classifier import (
    RuleSetClassifier,
    TheoryClassifier,
    check_phi,
    fit_path,
    repeated_rows,
    seed_to_entropy,
    take_rows,
    validate_table,
)
from .heuristics import M_GRID, Heuristic, MEstimate, describe, get_heuristic
from .measures import get_measure, get_scorer
from .path import TheoryPath
from .progress import show_progress, with_callbacks
from .splitting import IterativeStratifiedKFold
from .targets import TargetChoice, encode_targets, flatten_column
from .thresholding import PHI_GRID

# The paper tunes over the values of m up to 4096.
TUNING_GRID: tuple[MEstimate, ...] = tuple(MEstimate(m) for m in M_GRID if m <= 4096)


class _Cell(ClassifierMixin, BaseEstimator):
    """A theory of the path in the role of a fitted classifier, for scikit-learn's scorers."""

    def __init__(
        self, path: TheoryPath, h: int, j: int, predicted: NDArray[Any], model: Any
    ) -> None:
        self.path, self.h, self.j, self.predicted, self.model = path, h, j, predicted, model
        self.classes_ = model.classes_

    def _fitted(self) -> RuleSetClassifier:
        fitted: RuleSetClassifier = self.model
        fitted.theory_ = self.path.theory(self.h, self.path.phis[self.j])
        return fitted

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: ARG002
        return self.predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self._fitted().predict_proba(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self._fitted().decision_function(X)


def _score_cells(path: TheoryPath, model: Any, X: Any, y: Any, scoring: Any) -> NDArray[np.float64]:
    """The score of every theory of a path on held-out rows, shape (n_heuristics, n_phis)."""
    if isinstance(scoring, str) and path.output == "multilabel":
        try:
            measure = get_measure(scoring)
        except ValueError:
            pass  # a name that scikit-learn knows
        else:
            return path.evaluate(X, y, [measure])[measure.name]
    scorer = get_scorer(scoring)
    scores = np.empty(path.shape)
    for h, j, predicted in path.predict_cells(X):
        scores[h, j] = scorer(_Cell(path, h, j, predicted, model), X, y)
    return scores


class RuleSetClassifierCV(TheoryClassifier):
    """Rules tuned for a measure: heuristic and φ are chosen by cross-validation.

    Every fold yields all theories of the grid from one pool of candidates; the pair with the best mean
    score is learned again on everything. With ``scoring="f1_micro"``, ``"hamming"`` and ``"subset"``
    these are the paper's M_F, M_H and M_S.

    Parameters
    ----------
    scoring : str or callable, default="f1_micro"
        A measure of `steelyard.measures` (``"f1_micro"``, ``"hamming"``, ``"subset"``, ...), the name
        of a scikit-learn scorer or a scorer ``(estimator, X, y) -> float``.
    heuristics : sequence of Heuristic or None, default=None
        None is the m-estimate with m = 0, 2, 4, ..., 4096.
    phis : sequence of float, default=(1.0, 0.95, ..., 0.05)
    cv : int, splitter or iterable of splits, default=5
        A number of folds means iterative stratification.
    threshold_heuristic, n_candidates, n_trees, max_depths, sample_fraction, max_features, target, \
    revalidate, random_state, verbose
        As in `RuleSetClassifier`.
    n_jobs : int or None, default=None
        Folds are learned in parallel; the result does not depend on it.

    Attributes
    ----------
    best_heuristic_ : Heuristic
    best_phi_ : float
    best_score_ : float
        Mean score of the chosen pair over the folds; optimistic, since it was chosen for it.
    best_index_ : int
        Its position in `cv_results_`.
    cv_results_ : dict of arrays
        The whole map, one entry a pair, ready for ``pandas.DataFrame``.
    theory_, classes_, n_features_in_, feature_names_in_
        As in `RuleSetClassifier`.

    Examples
    --------
    >>> from steelyard import RuleSetClassifierCV, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = RuleSetClassifierCV("hamming", n_candidates=500, cv=3, random_state=0)
    >>> clf.fit(data.X, data.Y).best_score_ > 0.8
    True
    """

    def __init__(
        self,
        scoring: str | Callable[..., float] = "f1_micro",
        heuristics: Sequence[Heuristic] | None = None,
        phis: Sequence[float] = PHI_GRID,
        cv: Any = 5,
        *,
        threshold_heuristic: Heuristic | str | Callable[..., Any] | None = None,
        n_candidates: int = 300_000,
        n_trees: int = 10,
        max_depths: tuple[int | None, ...] = PAPER_DEPTHS,
        sample_fraction: float = 1.0,
        max_features: str | int | float = "log2",
        target: TargetChoice = "minority",
        revalidate: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.scoring = scoring
        self.heuristics = heuristics
        self.phis = phis
        self.cv = cv
        self.threshold_heuristic = threshold_heuristic
        self.n_candidates = n_candidates
        self.n_trees = n_trees
        self.max_depths = max_depths
        self.sample_fraction = sample_fraction
        self.max_features = max_features
        self.target = target
        self.revalidate = revalidate
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RuleSetClassifierCV:
        """Choose heuristic and φ, then learn the theory on everything.

        Parameters
        ----------
        X, y, sample_weight : as in `RuleSetClassifier.fit`

        Returns
        -------
        self
        """
        grid = TUNING_GRID if self.heuristics is None else self.heuristics
        heuristics = [get_heuristic(h) for h in grid]
        phis = [check_phi(phi) for phi in self.phis]
        if not heuristics or not phis:
            raise ValueError("heuristics and phis must each have at least one entry")
        get_scorer(self.scoring)  # an unknown name is said before the work, not after it
        X = validate_table(self, X, reset=True)
        y = flatten_column(y)
        entropy = seed_to_entropy(self.random_state)
        splits = list(self._split(X, y, entropy))
        row_idx = repeated_rows(sample_weight, X)
        if row_idx is not None:
            copies = np.bincount(row_idx, minlength=X.shape[0])
            splits = [
                (np.repeat(train, copies[train]), np.repeat(test, copies[test]))
                for train, test in splits
            ]

        template = RuleSetClassifier(
            **{name: getattr(self, name) for name in _SHARED_PARAMETERS},
            random_state=entropy,
            n_jobs=1,
        )
        with show_progress(self, "folds", X, y) as progress:
            results = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
                delayed(_fit_and_score)(
                    clone(template), X, y, train, test, heuristics, phis, self.scoring
                )
                for train, test in splits
            )
            folds = []
            for result in results:
                folds.append(result)
                progress(len(folds), len(splits))
        self._choose(heuristics, phis, folds)

        refit = clone(template).set_params(
            heuristic=self.best_heuristic_,
            phi=self.best_phi_,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        refit.fit(X, y, sample_weight)
        self.theory_, self.classes_ = refit.theory_, refit.classes_
        return self

    def _split(
        self, X: Any, y: Any, entropy: int
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        targets = encode_targets(y, self.target)
        n_examples = targets.is_target.shape[1]
        if n_examples != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]}, "
                f"y has {n_examples}"
            )
        if isinstance(self.cv, int | np.integer):
            if not 2 <= self.cv <= n_examples:
                raise ValueError(
                    f"cv={self.cv} folds need at least 2 and at most n_samples={n_examples}"
                )
            splitter: Any = IterativeStratifiedKFold(
                int(self.cv), random_state=entropy % np.iinfo(np.int32).max
            )
        else:
            splitter = check_cv(self.cv)
        yield from splitter.split(np.zeros((n_examples, 1)), y)

    def _choose(
        self,
        heuristics: Sequence[Heuristic],
        phis: Sequence[float],
        folds: Sequence[tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]],
    ) -> None:
        """Best mean score; ties go to the theories with fewer conditions, then to the first pair."""
        scores = np.array([fold[0].ravel() for fold in folds])
        n_rules = np.mean([fold[1].ravel() for fold in folds], axis=0)
        n_conditions = np.mean([fold[2].ravel() for fold in folds], axis=0)
        mean = scores.mean(axis=0)
        if np.isnan(mean).all():
            raise ValueError(f"scoring {self.scoring!r} is undefined (NaN) for every theory")
        order = np.lexsort((np.arange(len(mean)), n_conditions, -np.nan_to_num(mean, nan=-np.inf)))
        best = int(order[0])
        h, j = divmod(best, len(phis))
        self.best_index_ = best
        self.best_heuristic_, self.best_phi_ = heuristics[h], phis[j]
        self.best_score_ = float(mean[best])
        # Not np.unique of floats: ranks of equal means are equal, the best is 1, as in GridSearchCV.
        rank = np.searchsorted(np.sort(-mean), -mean) + 1
        self.cv_results_ = {
            "heuristic": np.repeat([describe(heuristic) for heuristic in heuristics], len(phis)),
            "parameter": np.repeat([heuristic.parameter for heuristic in heuristics], len(phis)),
            "phi": np.tile(phis, len(heuristics)),
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": rank,
            "mean_n_rules": n_rules,
            "mean_n_conditions": n_conditions / np.maximum(n_rules, 1),
            **{f"split{i}_test_score": score for i, score in enumerate(scores)},
        }

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score that `scoring` names, on other data."""
        scorer = get_scorer(self.scoring)
        if sample_weight is None:
            return float(scorer(self, X, y))
        return float(scorer(self, X, y, sample_weight=sample_weight))


_SHARED_PARAMETERS = (
    "threshold_heuristic",
    "n_candidates",
    "n_trees",
    "max_depths",
    "sample_fraction",
    "max_features",
    "target",
    "revalidate",
)


def _fit_and_score(
    model: RuleSetClassifier,
    X: Any,
    y: Any,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    scoring: Any,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Scores, numbers of rules and of conditions of all theories of one fold."""
    with warnings.catch_warnings():
        # The refit says the same of the whole training set; once is enough.
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = fit_path(model, take_rows(X, train), take_rows(y, train), heuristics, phis)
    scores = _score_cells(path, model, take_rows(X, test), take_rows(y, test), scoring)
    return scores, path.n_kept, path.total_conditions
