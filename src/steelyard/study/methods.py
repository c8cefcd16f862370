"""Methods: learners that a study compares with its grid. Knows estimators, not units or files."""

from __future__ import annotations

import ast
import reprlib
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._references import find_reference, hash_source
from steelyard._text import did_you_mean
from steelyard.estimators.base import TheoryClassifier
from steelyard.estimators.methods import METHODS, make_estimator
from steelyard.learning.constraints import Constraints
from steelyard.measures import LabelScores, describe_lack, find_score_measures, find_scores

from .evaluating import count_labels, evaluate_prediction

# Names for learners of other packages, which need not be installed.
ALIASES = {"boomer": "mlrl.boosting:BoomerClassifier", "seco": "mlrl.seco:SeCoClassifier"}


class StudyMethod(NamedTuple):
    """A learner of a study.

    Parameters
    ----------
    name : str
        What the rows and tables call it.
    make : callable
        Seed → a new estimator.
    source : str, default=""
        The reference to code outside of Steelyard, with a hash of its file.
    """

    name: str
    make: Callable[[int], Any]
    source: str = ""


@cache
def find_method(text: str) -> StudyMethod:
    """The method of a text such as ``short``, ``boosted(max_rules=50)`` or ``module:factory(a=1)``.

    Examples
    --------
    >>> find_method("boosted(max_rules=50)").make(0)
    BoostedRulesClassifier(max_rules=50, random_state=0)
    >>> find_method("sklearn.tree:DecisionTreeClassifier(max_depth=3)").make(7)
    DecisionTreeClassifier(max_depth=3, random_state=7)
    """
    name, parameters = _parse(text)
    if name in METHODS:
        if "random_state" in parameters:
            raise ValueError(f"{text!r}: a study gives its methods their random_state")
        make_estimator(name, **parameters)  # rejects wrong parameters before the work begins
        return StudyMethod(text, lambda seed: make_estimator(name, random_state=seed, **parameters))
    reference = ALIASES.get(name, name)
    if ":" not in reference:
        hint = did_you_mean(name, [*METHODS, *ALIASES])
        known = ", ".join([*METHODS, *ALIASES])
        raise ValueError(
            f"unknown method {name!r}{hint}; choose from {known}, or write module:factory"
        )
    factory = find_reference(reference, own_folder=name not in ALIASES)

    def make(seed: int) -> Any:
        estimator = factory(**parameters)
        is_seeded = "random_state" in estimator.get_params() and "random_state" not in parameters
        return estimator.set_params(random_state=seed) if is_seeded else estimator

    try:
        make(0)
    except Exception as error:  # whatever the code of somebody else raises
        reason = " ".join(f"{error}".split()) or type(error).__name__
        raise ValueError(f"the method {text!r} cannot be made: {reason}") from None
    shown = text if name in ALIASES else text.partition(":")[2]
    return StudyMethod(shown, make, f"{text} {hash_source(factory)}")


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """A name, and parameters in brackets: literals of Python, so that nothing is executed."""
    name, bracket, rest = text.partition("(")
    values: dict[str, Any] = {}
    try:
        call: Any = ast.parse(f"f({rest}" if bracket else "f()", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError("only parameters with names are allowed")
        for item in call.keywords:
            if item.arg is None or item.arg in values:
                raise ValueError("every parameter needs a name of its own")
            values[item.arg] = ast.literal_eval(item.value)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
        raise ValueError(
            f"{reprlib.repr(text)} is not a method; write short or boosted(max_rules=50): {reason}"
        ) from None
    return name.strip(), values


class Judged(NamedTuple):
    """What a method reached on a fold.

    Parameters
    ----------
    values : dict of str to float
        Measures and sizes by name.
    counts : (4, n_labels) int
        TP, FP, FN and TN of each label.
    fit_seconds, predict_seconds : float
    lack : str
        Why measures are missing; empty if none are.
    """

    values: dict[str, float]
    counts: NDArray[np.int32]
    fit_seconds: float
    predict_seconds: float
    lack: str


def judge_method(
    text: str,
    train: tuple[pd.DataFrame, pd.DataFrame],
    test: tuple[pd.DataFrame, pd.DataFrame],
    measures: tuple[str, ...],
    seed: int,
    constraints: Constraints | None = None,
) -> Judged:
    """Fit a method on the training rows and evaluate it on the test rows.

    A learner of another package gets numbers: nominal attributes are one-hot encoded, missing values
    are replaced by the median. If it cannot learn several labels, it learns one at a time. Constraints
    hold for the estimators of Steelyard.
    """
    estimator = find_method(text).make(seed)
    is_own = isinstance(estimator, TheoryClassifier)
    if not is_own:
        estimator = _adapt(estimator, train[0])
    elif constraints is not None:
        estimator.set_params(constraints=constraints)
    start = time.perf_counter()
    estimator.fit(train[0], train[1] if is_own else train[1].to_numpy())
    middle = time.perf_counter()
    predicted = estimator.predict(test[0])
    end = time.perf_counter()
    predicted = predicted.toarray() if hasattr(predicted, "toarray") else np.asarray(predicted)
    Y = test[1].to_numpy()
    predicted = predicted.reshape(Y.shape)
    if not np.isin(predicted, (0, 1)).all():
        raise ValueError("it predicts other values than 0 and 1")
    predicted = predicted.astype(np.int64)
    scores = LabelScores(None)
    if find_score_measures(measures):
        scores = find_scores(estimator, test[0], Y.shape[1])
    values = evaluate_prediction(measures, test[1], predicted, scores)
    return Judged(
        values | measure_size(estimator),
        count_labels(test[1], predicted),
        middle - start,
        end - middle,
        describe_lack(measures, scores),
    )


def measure_size(estimator: Any) -> dict[str, float]:
    """Rules, and conditions per rule, of a fitted estimator; nothing if it has no theory."""
    theory = getattr(estimator, "theory_", None)
    if theory is None:
        return {}
    return {"n_rules": len(theory), "n_conditions": theory.n_conditions / max(len(theory), 1)}


def _adapt(estimator: Any, X: pd.DataFrame) -> Any:
    """A pipeline that gives the estimator what it can learn from."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.utils import get_tags

    if not get_tags(estimator).target_tags.multi_output:
        estimator = OneVsRestClassifier(estimator)
    nominal = [name for name, dtype in X.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), nominal),
        remainder=SimpleImputer(strategy="median", keep_empty_features=True),
    )
    return make_pipeline(encode, estimator)
