"""Learning curves: what a measure reaches with more training examples. Knows estimators and rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from steelyard.estimators.validation import take_rows
from steelyard.measures import get_measure
from steelyard.study.methods import measure_size

from .curves import Curve, CurveDisplay, name_estimators, split_folds

_COLUMNS = ("method", "n_examples", "fold", "measure", "value")


class LearningCurveDisplay(CurveDisplay):
    """A measure against the number of training examples, mean and deviation over the folds.

    Use `from_estimator` to fit estimators, `from_results` for values that you have.

    Parameters
    ----------
    curves : sequence of Curve
    measure : str
    points : sequence of Point, default=()
    title : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import pandas as pd
    >>> from steelyard.report import LearningCurveDisplay
    >>> rows = pd.DataFrame({
    ...     "method": "mine", "n_examples": [50, 50, 100, 100], "fold": [1, 2, 1, 2],
    ...     "measure": "hamming", "value": [0.5, 0.7, 0.8, 0.8]})
    >>> (curve,) = LearningCurveDisplay.from_results(rows, measure="hamming").curves
    >>> curve.x.tolist(), curve.mean.round(2).tolist()
    ([50.0, 100.0], [0.6, 0.8])
    """

    _x_label = "training examples"

    @classmethod
    def from_results(cls, results: pd.DataFrame, *, measure: str) -> LearningCurveDisplay:
        """One curve per method.

        Parameters
        ----------
        results : DataFrame
            Rows with method, n_examples, fold, measure and value, as `learning_curve_rows` returns.
        measure : str

        Returns
        -------
        LearningCurveDisplay
        """
        missing = [name for name in _COLUMNS if name not in results]
        if missing:
            raise ValueError(f"the rows have no column {', '.join(missing)}")
        rows = results[results["measure"] == measure]
        if rows.empty:
            known = ", ".join(map(str, dict.fromkeys(results["measure"])))
            raise ValueError(f"there are no rows of {measure!r}; measures: {known}")
        curves = []
        for name in dict.fromkeys(rows["method"]):
            own = rows[rows["method"] == name].groupby("n_examples")["value"]
            spread = own.agg(["mean", "std"]).sort_index()
            x = spread.index.to_numpy(dtype=np.float64)
            mean, sd = (spread[part].to_numpy(dtype=np.float64) for part in ("mean", "std"))
            curves.append(Curve(str(name), x, mean, sd))
        return cls(curves, measure=measure)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        measure: str = "f1_micro",
        train_sizes: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
        cv: Any = 5,
        random_state: int = 0,
    ) -> LearningCurveDisplay:
        """Fit estimators on growing parts of the training sets; see `learning_curve_rows`.

        Parameters
        ----------
        estimator : estimator or dict of estimators by name
        X, Y : table and labels
        measure : str, default="f1_micro"
            A measure, or "n_rules" or "n_conditions" for estimators with rules.
        train_sizes : sequence of float
            Shares of each training set.
        cv : int or splitter, default=5
            The number of stratified folds, or an object with `split`.
        random_state : int, default=0

        Returns
        -------
        LearningCurveDisplay

        Examples
        --------
        >>> from steelyard import RuleSetClassifier, make_planted_rules
        >>> data = make_planted_rules(120, random_state=0)
        >>> clf = RuleSetClassifier(n_candidates=200, random_state=0)
        >>> display = LearningCurveDisplay.from_estimator(
        ...     clf, data.X, data.Y, train_sizes=(0.5, 1.0), cv=2)
        >>> display.curves[0].x.round().tolist()
        [30.0, 60.0]
        """
        how: Any = {"train_sizes": train_sizes, "cv": cv, "random_state": random_state}
        rows = learning_curve_rows(estimator, X, Y, measure=measure, **how)
        return cls.from_results(rows, measure=measure)


def learning_curve_rows(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    measure: str = "f1_micro",
    train_sizes: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    cv: Any = 5,
    random_state: int = 0,
) -> pd.DataFrame:
    """Fit estimators on growing parts of the training sets of several folds.

    The training examples of a fold are drawn in one random order, so a larger part contains the smaller
    ones. Values are those on the test examples of the fold, which no fit of the fold has seen, also not
    to choose its parameters. All estimators get the same parts.

    Parameters
    ----------
    estimator, X, Y, measure, train_sizes, cv, random_state
        See `LearningCurveDisplay.from_estimator`.

    Returns
    -------
    DataFrame
        Tidy rows with method, n_examples (mean over the folds), fold, measure and value, also of
        n_rules and n_conditions for estimators with rules.

    Examples
    --------
    >>> from steelyard import RipperClassifier, make_planted_rules
    >>> from steelyard.report import learning_curve_rows
    >>> data = make_planted_rules(120, random_state=0)
    >>> model = RipperClassifier(random_state=0)
    >>> rows = learning_curve_rows(model, data.X, data.Y, train_sizes=[0.5, 1.0], cv=2)
    >>> sorted(rows["measure"].unique()), sorted(rows["n_examples"].unique().tolist())
    (['f1_micro', 'n_conditions', 'n_rules'], [30.0, 60.0])
    """
    if len(train_sizes) == 0 or not all(0 < share <= 1 for share in train_sizes):
        shown = np.asarray(train_sizes).tolist()
        raise ValueError(f"train_sizes must be above 0 and at most 1, got {shown}")
    is_size = measure in ("n_rules", "n_conditions")
    score = None if is_size else get_measure(measure)
    folds = list(split_folds(X, Y, cv, random_state))
    mean_size = float(np.mean([len(train) for train, _ in folds]))
    rows = []
    for number, (train, test) in enumerate(folds, start=1):
        order = np.random.default_rng([random_state, number]).permutation(train)
        for share in train_sizes:
            part = order[: max(1, round(share * len(order)))]
            for name, one in name_estimators(estimator).items():
                fitted = clone(one).fit(take_rows(X, part), take_rows(Y, part))
                found = measure_size(fitted)
                if score is not None:
                    predicted = fitted.predict(take_rows(X, test))
                    found[measure] = float(score(take_rows(Y, test), predicted))
                elif not found:
                    raise ValueError(f"{name} has no theory_, so it has no {measure}")
                # Folds differ by an example or two, but their values belong to one point.
                about = (name, round(share * mean_size, 1), number)
                rows += [(*about, key, value) for key, value in found.items()]
    return pd.DataFrame(rows, columns=list(_COLUMNS))
