"""What constraints cost: the same learning with and without them, on the same folds, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from steelyard._text import format_number
from steelyard.learning.constraints import Constraints, ConstraintWarning
from steelyard.learning.targets import encode_targets
from steelyard.measures import get_scorer
from steelyard.model.theory import Theory
from steelyard.splitting import IterativeStratifiedKFold

from .base import TheoryClassifier
from .validation import as_list, seed_to_entropy, take_rows

_SIZES = ("n_rules", "n_conditions")
_FREE, _CONSTRAINED = "without", "with"


@dataclass(frozen=True, repr=False)
class ConstraintCost:
    """Scores and sizes of theories with and without constraints.

    Parameters
    ----------
    constraints : Constraints
    results : DataFrame
        One row per fold, variant and measure: columns fold, variant, measure and value. The variants
        are "without", "with" and, if asked for, each kind of constraint alone.
    theories : dict of str to Theory
        What each variant learns from all examples.

    Examples
    --------
    >>> from steelyard import Constraints, RipperClassifier, constraint_cost, load_patients
    >>> data = load_patients()
    >>> clf = RipperClassifier(constraints=Constraints(max_conditions=2), random_state=0)
    >>> cost = constraint_cost(clf, data.X, data.Y, cv=2)
    >>> cost.variants
    ['without', 'with']
    >>> cost.to_frame().columns.tolist()
    ['without', 'with', 'change', 'error']
    >>> max(len(scored.body) for scored in cost.theories["with"])
    2
    """

    constraints: Constraints
    results: pd.DataFrame
    theories: Mapping[str, Theory]

    @property
    def variants(self) -> list[str]:
        """Names of the variants, "without" first."""
        return list(self.theories)

    def to_frame(self) -> pd.DataFrame:
        """One row per measure: the mean of each variant, and what the constraints change.

        "change" is the mean over the folds of "with" minus "without", "error" the standard error of this
        mean. Scores are those of examples outside the training folds.
        """
        values = self.results.pivot_table(
            index=["measure", "fold"], columns="variant", values="value", sort=False
        )[self.variants]
        change = values[_CONSTRAINED] - values[_FREE]
        by_measure = change.groupby("measure", sort=False)
        frame = values.groupby("measure", sort=False).mean()
        frame.columns.name = None
        return frame.assign(change=by_measure.mean(), error=by_measure.sem())

    def __str__(self) -> str:
        frame = self.to_frame()
        n_folds = self.results["fold"].nunique()
        cells = frame.map(lambda v: "" if np.isnan(v) else format_number(round(v, 3)))
        columns = [["measure", *frame.index], *([name, *cells[name]] for name in cells)]
        widths = [max(map(len, column)) for column in columns]
        lines = []
        for name, *values in zip(*columns, strict=True):
            aligned = (v.rjust(width) for v, width in zip(values, widths[1:], strict=True))
            lines.append("  ".join([name.ljust(widths[0]), *aligned]))
        return "\n".join([*lines, f"means over {n_folds} folds; change is with minus without"])

    def __repr__(self) -> str:
        return f"<ConstraintCost of {self.constraints!r}>"

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(float_format="{:.3f}".format, na_rep=""))


def constraint_cost(
    estimator: TheoryClassifier,
    X: Any,
    y: Any,
    constraints: Constraints | None = None,
    *,
    scoring: Any = None,
    cv: Any = 5,
    each: bool = False,
) -> ConstraintCost:
    """Learn with and without constraints on the same folds and compare the theories.

    Everything else is the same, seeds included. An estimator that tunes itself is tuned for each
    variant, inside each training fold.

    Parameters
    ----------
    estimator : estimator of this library
    X, y : as in `RuleSetClassifier.fit`
    constraints : Constraints or None, default=None
        None is those of the estimator.
    scoring : str, callable, a list of them or None, default=None
        Measures as in `RuleSetClassifierCV`. None is micro-F1, Hamming and subset accuracy for labels,
        and accuracy for classes.
    cv : int, splitter or iterable of splits, default=5
        An integer is a number of folds by iterative stratification.
    each : bool, default=False
        Whether to learn with each kind of constraint alone as well.

    Returns
    -------
    ConstraintCost
        It prints as a table; `to_frame()` gives the same as a DataFrame.

    Examples
    --------
    >>> from steelyard import BoostedRulesClassifier, Constraints, constraint_cost, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = BoostedRulesClassifier(max_rules=20, random_state=0)
    >>> cost = constraint_cost(clf, data.X, data.Y, Constraints(forbidden=["firmness"]), cv=2)
    >>> list(cost.to_frame().columns)
    ['without', 'with', 'change', 'error']
    >>> cost.constraints.violations(cost.theories["with"])
    []
    """
    constraints = estimator.constraints if constraints is None else constraints
    if not isinstance(constraints, Constraints) or not constraints:
        raise ValueError("there are no constraints to compare: pass Constraints(...)")
    variants: dict[str, Constraints | None] = {_FREE: None, _CONSTRAINED: constraints}
    if each:
        variants |= {f"only {name}": part for name, part in constraints.parts().items()}
    entropy = seed_to_entropy(estimator.random_state)
    is_multilabel = encode_targets(y).output == "multilabel"
    default = ["f1_micro", "hamming", "subset"] if is_multilabel else ["accuracy"]
    scorers = {_name(s): get_scorer(s) for s in (default if scoring is None else as_list(scoring))}
    rows = []
    for fold, (train, test) in enumerate(_split(cv, X, y, entropy), start=1):
        for variant, demanded in variants.items():
            data = (take_rows(X, train), take_rows(y, train))
            model = _fit(estimator, demanded, entropy, *data, is_quiet=True)
            held_out = take_rows(X, test), take_rows(y, test)
            values = {name: scorer(model, *held_out) for name, scorer in scorers.items()}
            sizes = len(model.theory_), model.theory_.n_conditions
            values |= dict(zip(_SIZES, sizes, strict=True))
            rows += [(fold, variant, name, float(value)) for name, value in values.items()]
    results = pd.DataFrame(rows, columns=["fold", "variant", "measure", "value"])
    theories = {v: _fit(estimator, c, entropy, X, y).theory_ for v, c in variants.items()}
    return ConstraintCost(constraints, results, theories)


def _fit(
    estimator: TheoryClassifier,
    constraints: Constraints | None,
    entropy: int,
    X: Any,
    y: Any,
    is_quiet: bool = False,
) -> TheoryClassifier:
    model = clone(estimator).set_params(constraints=constraints, random_state=entropy)
    with warnings.catch_warnings():
        if is_quiet:
            # Learning on all examples repeats these warnings.
            for category in (ConvergenceWarning, ConstraintWarning):
                warnings.simplefilter("ignore", category)
            warnings.filterwarnings("ignore", "no rule for")
        fitted: TheoryClassifier = model.fit(X, y)
    return fitted


def _split(cv: Any, X: Any, y: Any, entropy: int) -> Sequence[tuple[Any, Any]]:
    if isinstance(cv, int | np.integer):
        cv = IterativeStratifiedKFold(int(cv), random_state=entropy % np.iinfo(np.int32).max)
    return list(check_cv(cv).split(np.zeros((X.shape[0], 1)), y))


def _name(scoring: Any) -> str:
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))
