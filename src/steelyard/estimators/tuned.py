"""TunedClassifier: cells of a grid → scores on held-out folds → the choice, learned on all examples."""

from __future__ import annotations

import itertools
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from steelyard._numbers import check_flag, is_number
from steelyard.learning.constraints import ConstraintWarning
from steelyard.learning.parallel import run_parallel
from steelyard.learning.targets import Output, Targets, flatten_column
from steelyard.learning.tuning import choose_cell, smooth_scores
from steelyard.measures import (
    RankedScores,
    check_target_of_scoring,
    find_measure,
    find_score_scorer,
    get_scorer,
)
from steelyard.model.decoders import Decoder
from steelyard.model.frames import to_pandas
from steelyard.model.path import TheoryPath
from steelyard.model.theory import Theory
from steelyard.splitting import IterativeStratifiedKFold

from .base import TheoryClassifier
from .calibration import TestFold, calibrate_chosen, weight_option
from .progress import show_progress, with_callbacks
from .validation import (
    WeighedRows,
    name_labels,
    read_feature_names,
    read_sample_weight,
    seed_to_entropy,
    take_rows,
)

Rows = NDArray[np.intp]
Splits = Sequence[tuple[Rows, Rows]]


class FoldScores(NamedTuple):
    """Results of one fold, one column per cell; `scores` has one row per scoring.

    `paths` are what the fold learned, one per variant.
    """

    scores: NDArray[np.float64]
    n_rules: NDArray[np.int64]
    n_conditions: NDArray[np.int64]
    paths: tuple[TheoryPath, ...] = ()

    @staticmethod
    def of_path(scores: NDArray[np.float64], path: TheoryPath) -> FoldScores:
        """Scores of every way to decode the theories of a path, with the sizes of these theories."""
        n_copies = scores.shape[-1] // path.n_rules.size
        n_rules, n_conditions = path.n_rules.ravel(), path.total_conditions.ravel()
        return FoldScores(scores, np.tile(n_rules, n_copies), np.tile(n_conditions, n_copies))

    @staticmethod
    def join(parts: Sequence[FoldScores], paths: Sequence[TheoryPath]) -> FoldScores:
        """The cells of all parts, one after the other."""
        return FoldScores(
            scores=np.concatenate([part.scores for part in parts], axis=-1),
            n_rules=np.concatenate([part.n_rules for part in parts]),
            n_conditions=np.concatenate([part.n_conditions for part in parts]),
            paths=tuple(paths),
        )


class Search(NamedTuple):
    """What a tuned classifier chooses from.

    Parameters
    ----------
    template : estimator
        The classifier whose parameters are chosen.
    variants : list of dict
        Combinations of the parameters that need a path of their own.
    decoders : list of Decoder
    axes : dict of lists
        Values of the parameters that one path covers, in the order of its axes.
    tolerance : float
        Number of standard errors by which a smaller theory may be worse than the best.
    more_cells : sequence of dict
        Cells that are not combinations of these values.
    smooth : bool
        Whether cells are compared by the mean scores of themselves and their neighbours on the axes.
    shares_rules : bool
        Whether variants can have rules in common. Then `_learn_path` of the template takes `shared`, a
        dict of the rules that the variants have grown so far.
    """

    template: Any
    variants: Sequence[dict[str, Any]]
    decoders: Sequence[Decoder]
    axes: Mapping[str, Sequence[Any]]
    tolerance: float
    more_cells: Sequence[dict[str, Any]] = ()
    smooth: bool = False
    shares_rules: bool = False

    def check(self) -> Self:
        """Reject an empty grid and wrong parameters."""
        if not self.cells():
            raise ValueError("nothing to choose from: a list of parameter values is empty")
        if not is_number(self.tolerance) or not 0 <= self.tolerance < np.inf:
            raise ValueError(f"tolerance must be a number of at least 0, got {self.tolerance!r}")
        check_flag("smooth", self.smooth)
        for model in self.models():
            model._check_parameters()
        return self

    def cells(self) -> list[dict[str, Any]]:
        """The parameters of every cell, in the order of all results."""
        of_variant = combine({"decode": self.decoders, **self.axes})
        return [*(v | cell for v in self.variants for cell in of_variant), *self.more_cells]

    def models(self) -> list[Any]:
        """One classifier per variant."""
        return [clone(self.template).set_params(**variant) for variant in self.variants]

    def score_folds(
        self,
        X: Any,
        y: Any,
        splits: Splits,
        scorings: Sequence[Any],
        weights: NDArray[np.float64] | None = None,
        **options: Any,
    ) -> list[FoldScores]:
        """Scores of all cells on every fold; the options are those of `run_parallel`."""
        return run_parallel(partial(self._score_fold, X, y, scorings, weights), splits, **options)

    def choose(self, folds: Sequence[FoldScores], scoring: int = 0) -> int:
        """Position of the cell to choose by one of the scorings."""
        scores = np.array([fold.scores[scoring] for fold in folds])
        if self.smooth:
            scores = smooth_scores(scores, [len(values) for values in self.axes.values()])
        n_conditions = np.mean([fold.n_conditions for fold in folds], axis=0)
        return choose_cell(scores, n_conditions, self.tolerance)

    def _score_fold(
        self,
        X: Any,
        y: Any,
        scorings: Sequence[Any],
        weights: NDArray[np.float64] | None,
        train: Rows,
        test: Rows,
    ) -> FoldScores:
        w_train, w_test = (None if weights is None else weights[rows] for rows in (train, test))
        test_set = (take_rows(X, test), take_rows(y, test), w_test)
        parts: list[FoldScores] = []
        paths: list[TheoryPath] = []
        common: dict[str, dict[Any, Any]] = {"shared": {}} if self.shares_rules else {}
        for model in self.models():
            training_set = (take_rows(X, train), take_rows(y, train), w_train)
            X_train, targets = model._read_training_set(*training_set)
            with warnings.catch_warnings():
                # The refit repeats these warnings for the whole training set.
                for category in (ConvergenceWarning, ConstraintWarning):
                    warnings.simplefilter("ignore", category)
                path = model._learn_path(X_train, targets, *self.axes.values(), **common)
            paths.append(path)
            for decoder in self.decoders:
                scores = _score_path(path, decoder, model, *test_set, scorings)
                parts.append(FoldScores.of_path(scores, path))
        return FoldScores.join(parts, paths)


def combine(choices: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of parameter values; the last parameter changes fastest."""
    rows = itertools.product(*choices.values())
    return [dict(zip(choices, values, strict=True)) for values in rows]


class Cell(TheoryClassifier):
    """A theory of a path as a fitted classifier, for scikit-learn's scorers."""

    def __init__(self, model: Any, make_theory: Callable[[], Theory], predicted: Any) -> None:
        self.__dict__.update(vars(model))  # the fitted attributes that validation needs
        self.make_theory = make_theory
        self.predicted = predicted

    @cached_property
    def theory_(self) -> Theory:  # type: ignore[override]
        return self.make_theory()

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: ARG002
        return np.asarray(self.predicted)


def _to_column(values: list[Any]) -> NDArray[Any]:
    """The values of a parameter as an array; None stays None among numbers."""
    kind = object if any(value is None for value in values) else None
    return pd.Series(values, dtype=kind).to_numpy()


def _score_path(
    path: TheoryPath,
    decoder: Decoder,
    model: Any,
    X: Any,
    y: Any,
    weights: NDArray[np.float64] | None,
    scorings: Sequence[Any],
) -> NDArray[np.float64]:
    """Scores of every theory of a path on held-out rows, shape (n_scorings, n_theories)."""
    scores = np.empty((len(scorings), *path.shape))
    measures = {i: find_measure(s) for i, s in enumerate(scorings) if not path.classes}
    known = {i: measure for i, measure in measures.items() if measure is not None}
    # Measures of ours are computed for all theories at once.
    values = path.evaluate(X, y, list(known.values()), decoder, weights) if known else {}
    for i, measure in known.items():
        scores[i] = values[measure.name]
    found = {i: find_score_scorer(s) for i, s in enumerate(scorings)}
    of_scores = {i: of_score for i, of_score in found.items() if of_score is not None}
    for h, probability in enumerate(path.predict_proba_cells(X, decoder) if of_scores else ()):
        ranked = RankedScores(y, probability)
        for i, of_score in of_scores.items():
            scores[i, h] = of_score.of_many(ranked)
    done = known.keys() | of_scores
    scorers = {i: get_scorer(s) for i, s in enumerate(scorings) if i not in done}
    for h, j, predicted in path.predict_cells(X, decoder) if scorers else ():
        make_theory = partial(path.theory, h, path.phis[j], decoder=decoder)
        cell = Cell(model, make_theory, predicted)
        for i, scorer in scorers.items():
            scores[i, h, j] = scorer(cell, X, y, **weight_option(weights))
    return scores.reshape(len(scorings), path.n_rules.size)


class TunedClassifier(TheoryClassifier):
    """Base class of the estimators that choose parameters by cross-validation.

    A subclass defines in `_plan` what to choose from.
    """

    scoring: Any
    cv: Any
    calibrate: bool | None

    @abstractmethod
    def _plan(self, entropy: int, output: Output = "multilabel", X: Any = None) -> Search:
        """What to choose from, given the kind of target and the table."""

    def _make_template(self, kind: type[TheoryClassifier], entropy: int) -> TheoryClassifier:
        """A classifier with the parameters that it shares with this estimator."""
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in kind().get_params(deep=False) if name in own}
        fixed = {"decode": None, "random_state": entropy, "n_jobs": 1, "verbose": 0}
        fixed["calibrate"] = False  # that is done for the chosen theory
        return kind(**(shared | fixed))

    def list_cells(self) -> list[dict[str, Any]]:
        """The parameter combinations that `fit` chooses from, for a dense table with several labels."""
        return self._plan(entropy=0).check().cells()

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        feature_names: Any = None,
        label_names: Any = None,
    ) -> Self:
        """Choose parameters by cross-validation, then learn the theory on all examples.

        Parameters
        ----------
        X, y, sample_weight, feature_names, label_names : as in `RuleSetClassifier.fit`

        Returns
        -------
        self
        """
        entropy = seed_to_entropy(self.random_state)
        get_scorer(self.scoring)  # reject an unknown name before fitting
        self._check_calibrate()
        y = flatten_column(name_labels(y, label_names))
        X, targets = self._read_training_set(X, y)
        names = read_feature_names(feature_names, X)
        search = self._plan(entropy, targets.output, X).check()
        weighed = read_sample_weight(sample_weight, X)
        check_target_of_scoring(
            self.scoring,
            is_multilabel=targets.output == "multilabel",
            is_weighted=weighed.weights is not None,
        )
        splits = self._split(X, y, weighed, entropy)
        with show_progress(self, "folds") as (progress,):
            weights = None
            if weighed.weights is not None:
                weights = np.asarray(sample_weight, dtype=np.float64)
            options = {"n_jobs": self.n_jobs, "progress": progress, "weights": weights}
            tests = self._list_tests(search.template, X, y, targets, splits, weights)
            scorings = [self.scoring, *self._list_measures(targets.output)]
            search, folds = self._score(search, X, y, splits, tests, scorings, options)
        self._choose(search, folds)
        model = clone(search.template).set_params(n_jobs=self.n_jobs, verbose=self.verbose)
        model.set_params(**self.best_params_)
        self._refit(model, search, folds, (X, y, sample_weight), names)
        self.theory_ = self._calibrate(model.theory_, search, folds, tests)
        self.classes_ = model.classes_
        return self

    def _check_calibrate(self) -> None:
        """Reject what is not a boolean, or None where that is the default."""
        known = (True, False) + (None,) * (type(self).calibrate is None)
        if not any(self.calibrate is value for value in known):
            names = " or ".join(map(repr, known))
            raise ValueError(f"calibrate must be {names}, got {self.calibrate!r}")

    def _list_tests(
        self,
        template: Any,
        X: Any,
        y: Any,
        targets: Targets,
        splits: Splits,
        weights: NDArray[np.float64] | None,
    ) -> list[TestFold]:
        """The held-out rows of each fold."""
        targets = targets.weigh(weights, getattr(self, "class_weight", None))
        tests = []
        for train, test in splits:
            model = clone(template)
            model._read_training_set(take_rows(X, train), take_rows(y, train))
            w, totals = (part if part is None else part[test] for part in (weights, targets.totals))
            rows = (take_rows(X, test), take_rows(y, test), w, totals)
            tests.append(TestFold(*rows, partial(Cell, model)))
        return tests

    def _score(
        self,
        search: Search,
        X: Any,
        y: Any,
        splits: Splits,
        tests: Sequence[TestFold],  # noqa: ARG002
        scorings: Sequence[Any],
        options: Any,
    ) -> tuple[Search, list[FoldScores]]:
        """What to choose from after all, and its scores on every fold."""
        return search, search.score_folds(X, y, splits, scorings, **options)

    def _calibrate(
        self,
        theory: Theory,
        search: Search,
        folds: Sequence[FoldScores],
        tests: Sequence[TestFold],
    ) -> Theory:
        """The chosen theory, calibrated on the held-out rows of all folds if that is asked for."""
        keeps_predictions = theory.combiner.calibrated_alike
        if not (keeps_predictions if self.calibrate is None else self.calibrate):
            return theory
        chosen = self.best_params_
        v = search.variants.index({name: chosen[name] for name in search.variants[0]})
        h, rest = 0, []
        if search.axes:
            first, *rest = search.axes
            h = list(search.axes[first]).index(chosen[first])
        cell = {"decoder": chosen["decode"]} | {name: chosen[name] for name in rest}
        paths = [fold.paths[v] for fold in folds]
        return calibrate_chosen(theory, paths, h, tests, **cell)

    def _list_measures(self, output: Output) -> Sequence[str]:  # noqa: ARG002
        """Measures that are computed on the folds besides the one to tune for."""
        return ()

    def _refit(
        self,
        model: Any,
        search: Search,  # noqa: ARG002
        folds: Sequence[FoldScores],  # noqa: ARG002
        training_set: tuple[Any, Any, Any],
        feature_names: Sequence[str] | None,
    ) -> None:
        """Learn the chosen theory on all examples: X, y and weights."""
        model.fit(*training_set, feature_names=feature_names)

    def _split(self, X: Any, y: Any, weighed: WeighedRows, entropy: int) -> Splits:
        """Positions of the training and test rows of each fold, repeated by integer weights."""
        cv = self.cv
        if isinstance(cv, int | np.integer):
            seed = entropy % np.iinfo(np.int32).max
            cv = IterativeStratifiedKFold(int(cv), random_state=seed)
        splits = list(check_cv(cv).split(np.zeros((X.shape[0], 1)), y))
        if weighed.idx is not None:
            copies = np.bincount(weighed.idx, minlength=X.shape[0])
            splits = [tuple(np.repeat(rows, copies[rows]) for rows in split) for split in splits]
        if not splits or not all(len(rows) for split in splits for rows in split):
            raise ValueError("cv must yield folds with examples to learn from and to score")
        return splits

    def _choose(self, search: Search, folds: Sequence[FoldScores]) -> None:
        """Set the results and the choice."""
        scores = np.array([fold.scores[0] for fold in folds])
        n_rules = np.mean([fold.n_rules for fold in folds], axis=0)
        n_conditions = np.mean([fold.n_conditions for fold in folds], axis=0)
        with np.errstate(invalid="ignore"):  # a scorer may return infinity
            mean, std = scores.mean(axis=0), scores.std(axis=0)
        if np.isnan(mean).all():
            raise ValueError(f"scoring {self.scoring!r} is undefined (NaN) for every theory")
        cells = search.cells()
        self.best_index_ = search.choose(folds)
        self.best_params_ = cells[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])
        self.cv_results_ = {
            **{k: _to_column([cell[k] for cell in cells]) for k in cells[0]},
            "mean_test_score": mean,
            "std_test_score": std,
            # Equal means have equal ranks, the best is 1, as in GridSearchCV.
            "rank_test_score": np.searchsorted(np.sort(-mean), -mean) + 1,
            "mean_n_rules": n_rules,
            "mean_n_conditions": n_conditions / np.maximum(n_rules, 1),
            **{f"split{i}_test_score": score for i, score in enumerate(scores)},
        }

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score that `scoring` names, on other data.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            The labels of a frame are matched by name.
        """
        X, y = to_pandas(X), self._name_true_labels(y)
        idx, weights = read_sample_weight(sample_weight, X)
        examples = take_rows(X, idx), take_rows(y, idx)
        return float(get_scorer(self.scoring)(self, *examples, **weight_option(weights)))
