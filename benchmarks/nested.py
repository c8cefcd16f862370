"""What a tuned estimator does for one measure, done for several measures with the same theories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from steelyard.splitting import IterativeStratifiedKFold


class NestedTuning:
    """The cells of a tuned estimator, scored by folds of a training set, as many as its `cv`.

    Parameters
    ----------
    estimator : TunedClassifier
    X, Y : DataFrame
    seed : int
    measures : sequence of str
    """

    def __init__(self, estimator: Any, X: Any, Y: Any, seed: int, measures: Sequence[str]) -> None:
        self.estimator, self.measures, self.training_set = estimator, measures, (X, Y)
        _, targets = estimator._read_training_set(X, Y)
        search = estimator._plan(seed, targets.output, X)
        splitter = IterativeStratifiedKFold(estimator.cv, random_state=seed)
        splits = list(splitter.split(np.zeros((len(X), 1)), Y))
        self.tests = estimator._list_tests(search.template, X, Y, targets, splits, None)
        at = (X, Y, splits, self.tests, measures, {"n_jobs": 1})
        self.search, self.folds = estimator._score(search, *at)
        self.paths: dict[str, Any] = {}

    def choose(self, measure: str) -> int:
        """The cell that the estimator chooses for a measure."""
        return int(self.search.choose(self.folds, self.measures.index(measure)))

    def learn(self, cell: int) -> tuple[Any, dict[str, Any]]:
        """The theory of a cell, learned on all examples and calibrated, and its parameters."""
        chosen = self.search.cells()[cell]
        path = self.learn_path({name: chosen[name] for name in self.search.variants[0]})
        h, _ = np.unravel_index(cell % path.n_rules.size, path.shape)
        theory = path.theory(h, chosen["phi"], decoder=chosen["decode"])
        self.estimator.best_params_ = chosen
        calibrated = self.estimator._calibrate(theory, self.search, self.folds, self.tests)
        return calibrated, chosen

    def learn_path(self, variant: dict[str, Any]) -> Any:
        """The theories of a variant, learned on all examples once."""
        if str(variant) not in self.paths:
            model = clone(self.search.template).set_params(**variant)
            read = model._read_training_set(*self.training_set)
            self.paths[str(variant)] = model._learn_path(*read, *self.search.axes.values())
        return self.paths[str(variant)]
