"""Quality against size: measures of theories with so many rules or conditions. Knows rows of a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from steelyard.estimators.validation import take_rows
from steelyard.measures import get_measure
from steelyard.model.theory import Theory
from steelyard.study.config import StudyError

from .curves import Curve, CurveDisplay, Point, name_estimators, split_folds

# Points of a curve: enough to look smooth, at most as many as there are values of φ.
_N_LIMITS = 20


# How large a theory is: what is counted, and the name of the axis.
SIZES: dict[str, tuple[Callable[[Theory], int], str]] = {
    "rules": (len, "number of rules"),
    "conditions": (attrgetter("n_conditions"), "number of conditions of all rules"),
}


@dataclass(eq=False)
class SizeCurveDisplay(CurveDisplay):
    """A measure against the size of theories, mean and standard deviation over the folds.

    Use `from_results` for the cells of a study, `from_estimator` for an estimator.

    Parameters
    ----------
    curves : sequence of Curve
    measure : str
    points : sequence of Point, default=()
        Methods with one size each.
    title : str, default=""
    size : {"rules", "conditions"}, default="rules"
        What the size of a theory is.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    Of the two cells with at most two rules, the other fold prefers the second one:

    >>> import pandas as pd
    >>> from steelyard.report import SizeCurveDisplay
    >>> rows = pd.DataFrame({
    ...     "dataset": "a", "fold": [1, 2] * 6, "heuristic": "m-estimate",
    ...     "parameter": [0, 0, 2, 2, 4, 4] * 2, "phi": 1.0,
    ...     "measure": ["hamming"] * 6 + ["n_rules"] * 6,
    ...     "value": [0.5, 0.5, 0.6, 0.8, 0.9, 0.9, 1, 1, 2, 2, 4, 4]})
    >>> (curve,) = SizeCurveDisplay.from_results(rows, measure="hamming").curves
    >>> curve.x.tolist(), curve.mean.round(2).tolist()
    ([1.0, 2.0, 4.0], [0.5, 0.7, 0.9])
    """

    _: KW_ONLY
    size: str = "rules"

    def __post_init__(self) -> None:
        _get_size(self.size)

    @property
    def x_label(self) -> str:
        """The name of the horizontal axis."""
        return _get_size(self.size)[1]

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        *,
        measure: str,
        dataset: str | None = None,
        methods: pd.DataFrame | None = None,
        folds_per_repeat: int | None = None,
    ) -> SizeCurveDisplay:
        """One curve per family of heuristics of a study.

        For each fold and each limit of the size, the cell is the one that is best on the other folds
        among those that are small enough there. Its size and its value are those on the fold itself,
        which had no part in the choice. Other repetitions test the same examples, so they have no part
        in it either.

        Parameters
        ----------
        results : DataFrame
            The rows of results.csv, of at least two folds.
        measure : str
        dataset : str, optional
            Required if the rows have several data sets.
        methods : DataFrame, optional
            Means of other methods, as `StudyResults.method_means` has them. Those with rules are
            points; theories tuned for another measure are left out.
        folds_per_repeat : int, optional
            The number of folds of a repetition: with 10, fold 11 is the first one of the second
            repetition. Required if the study has repetitions.

        Returns
        -------
        SizeCurveDisplay
        """
        known = list(results["dataset"].unique())
        if dataset not in known and (dataset is not None or len(known) > 1):
            raise ValueError(f"dataset must be one of {', '.join(known)}, got {dataset!r}")
        name = known[0] if dataset is None else dataset
        rows = results[results["dataset"] == name]
        curves = [
            _curve_of_cells(
                rows[rows["heuristic"] == family], measure, str(family), folds_per_repeat
            )
            for family in rows["heuristic"].unique()
        ]
        points = [] if methods is None else _list_points(methods, measure, name)
        return cls(curves, measure=measure, points=points)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        parameter: str,
        values: Sequence[Any],
        measure: str = "f1_micro",
        size: str = "rules",
        cv: Any = 5,
        random_state: int = 0,
    ) -> SizeCurveDisplay:
        """Fit an estimator with several values of a parameter on several folds.

        Sizes are those of the fitted theories; the measure is that on the test examples of each fold,
        which the estimator has not seen. No value is chosen, so nothing is chosen on test examples.

        Parameters
        ----------
        estimator : estimator or dict of estimators by name
            Estimators with rules, which have a `theory_` when they are fitted.
        X, Y : table and labels
        parameter : str
            The parameter that changes the size, such as "max_rules", "max_total_conditions" or "phi".
        values : sequence
            Its values.
        measure : str, default="f1_micro"
        size : {"rules", "conditions"}, default="rules"
        cv : int or splitter, default=5
            The number of stratified folds, or an object with `split`.
        random_state : int, default=0

        Returns
        -------
        SizeCurveDisplay

        Examples
        --------
        >>> from steelyard import BoostedRulesClassifier, make_planted_rules
        >>> data = make_planted_rules(120, random_state=0)
        >>> display = SizeCurveDisplay.from_estimator(
        ...     BoostedRulesClassifier(random_state=0), data.X, data.Y,
        ...     parameter="max_rules", values=[4, 16], cv=2)
        >>> bool((display.curves[0].x <= [4, 16]).all())
        True
        """
        if not len(values):
            raise ValueError(f"values must have at least one value of {parameter}")
        score, (count, _) = get_measure(measure), _get_size(size)
        folds = list(split_folds(X, Y, cv, random_state))
        curves = []
        for name, one in name_estimators(estimator).items():
            sizes, reached = np.empty((2, len(folds), len(values)))
            for i, (train, test) in enumerate(folds):
                for j, value in enumerate(values):
                    fitted = clone(one).set_params(**{parameter: value})
                    fitted.fit(take_rows(X, train), take_rows(Y, train))
                    theory = getattr(fitted, "theory_", None)
                    if theory is None:
                        raise ValueError(f"{name} has no theory_, so it has no number of rules")
                    sizes[i, j] = count(theory)
                    reached[i, j] = score(take_rows(Y, test), fitted.predict(take_rows(X, test)))
            curves.append(Curve.from_folds(name, sizes, reached))
        return cls(curves, measure=measure, size=size)


def _get_size(size: str) -> tuple[Callable[[Theory], int], str]:
    if size not in SIZES:
        raise ValueError(f"size must be one of {', '.join(map(repr, SIZES))}, got {size!r}")
    return SIZES[size]


class _Folds(NamedTuple):
    """The numbers of the folds, and values and sizes of all cells, of shape (n_folds, n_cells)."""

    folds: NDArray[np.int64]
    values: NDArray[np.float64]
    sizes: NDArray[np.float64]


def _collect_folds(rows: pd.DataFrame, measure: str) -> _Folds:
    tables = []
    for name in (measure, "n_rules"):
        own = rows[rows["measure"] == name]
        table = own.pivot_table("value", "fold", ["parameter", "phi"])
        if table.empty or table.isna().to_numpy().any():
            raise StudyError(f"the rows of {name!r} do not fill the grid of every fold")
        tables.append(table)
    values, sizes = (table.to_numpy(dtype=np.float64) for table in tables)
    return _Folds(tables[0].index.to_numpy(dtype=np.int64), values, sizes)


def _curve_of_cells(
    rows: pd.DataFrame, measure: str, name: str, folds_per_repeat: int | None
) -> Curve:
    """The best cells up to each size, chosen without the fold that they are shown on."""
    folds, values, sizes = _collect_folds(rows, measure)
    n_folds = len(folds)
    repeat = np.zeros(n_folds) if folds_per_repeat is None else (folds - 1) // folds_per_repeat
    # Which folds each fold is judged by: the others of its repetition, which test other examples.
    is_other = (repeat[:, None] == repeat) & ~np.eye(n_folds, dtype=bool)
    n_others = is_other.sum(axis=1, keepdims=True)
    if not n_others.all():
        raise StudyError(
            "quality against size requires two folds of each repetition: cells are chosen on the others"
        )
    other_values, other_sizes = (is_other @ part / n_others for part in (values, sizes))
    # Every fold has a cell within the smallest limit.
    first = max(float(other_sizes.min(axis=1).max()), 1.0)
    last = max(float(other_sizes.max()), first)
    limits = np.geomspace(first, last, _N_LIMITS)
    chosen_sizes, chosen_values = np.empty((2, n_folds, len(limits)))
    for k in range(n_folds):
        # Best first; of equal cells the smallest.
        order = np.lexsort((other_sizes[k], -other_values[k].round(12)))
        is_small = other_sizes[k, order] <= limits[:, None] * (1 + 1e-9)
        cells = order[is_small.argmax(axis=1)]
        chosen_sizes[k], chosen_values[k] = sizes[k, cells], values[k, cells]
    curve = Curve.from_folds(name, chosen_sizes, chosen_values)
    # Limits that lead to the same cells are one point; the sizes on the fold itself may go down.
    both = np.stack([curve.x, curve.mean])
    is_new = np.append(True, (np.diff(both, axis=1) != 0).any(axis=0))
    kept = np.flatnonzero(is_new)
    kept = kept[np.argsort(curve.x[kept], kind="stable")]
    return Curve(name, curve.x[kept], curve.mean[kept], curve.sd[kept])


def _list_points(methods: pd.DataFrame, measure: str, dataset: str) -> list[Point]:
    """Methods that have rules and were not tuned for another measure."""
    if "n_rules" not in methods or measure not in methods:
        return []
    own = methods[(methods["dataset"] == dataset) & methods["tuned_for"].isin(["", measure])]
    own = own.dropna(subset=["n_rules", measure])
    is_several = (own["tuned_for"] == measure).sum() > 1
    points = []
    for row in own.to_dict("records"):
        name, size, value = str(row["method"]), float(row["n_rules"]), float(row[measure])
        if row["tuned_for"]:
            tuned = f"tuned ({name})" if is_several else "tuned"
            points.append(Point(tuned, size, value, curve=name))
        else:
            points.append(Point(name, size, value))
    return points
