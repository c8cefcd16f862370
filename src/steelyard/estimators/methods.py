"""Methods: the names by which the command line and a study call the estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .base import TheoryClassifier
from .boosted import BoostedRulesClassifier
from .boosted_cv import BoostedRulesClassifierCV
from .presets import DEFAULT_PRESET, PRESETS
from .ripper import RipperClassifier
from .rule_set import RuleSetClassifier
from .rule_set_cv import RuleSetClassifierCV
from .tuned import TunedClassifier


class Method(NamedTuple):
    """An estimator, its tuned version if it has one, and the parameters that make it the method."""

    estimator: type[TheoryClassifier]
    tuned: type[TunedClassifier] | None = None
    fixed: Mapping[str, Any] = {}


METHODS: dict[str, Method] = {
    **{
        preset: Method(RuleSetClassifier, RuleSetClassifierCV, {"preset": preset})
        for preset in (DEFAULT_PRESET, *PRESETS)
    },
    "boosted": Method(BoostedRulesClassifier, BoostedRulesClassifierCV),
    "ripper": Method(RipperClassifier),
}

# Parameters with one value, and those of the tuned version with the values to choose from.
_PLURALS = {"heuristic": "heuristics", "phi": "phis", "m": "ms"}


def make_estimator(method: str, *, tune: str | None = None, **parameters: Any) -> TheoryClassifier:
    """The estimator of a method or, to tune it for a measure, its tuned version.

    Parameters
    ----------
    method : {"auto", "paper", "short", "boosted", "ripper"}
    tune : str, optional
        The measure to tune for.
    **parameters
        Parameters of the estimator. With `tune`, a single `heuristic`, `phi` or `m` is the only one to
        choose from.

    Examples
    --------
    >>> make_estimator("boosted", m=8, random_state=0)
    BoostedRulesClassifier(m=8, random_state=0)
    >>> make_estimator("short", tune="hamming", phi=0.5)
    RuleSetClassifierCV(phis=[0.5], preset='short', scoring='hamming')
    >>> make_estimator("paper", n_tries=9)
    Traceback (most recent call last):
    ...
    ValueError: n_tries does not apply to method 'paper'; it has: calibrate, category_sets, ...
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; known methods: {', '.join(METHODS)}")
    estimator, tuned, fixed = METHODS[method]
    kind = estimator if tune is None else tuned
    if kind is None:
        raise ValueError(f"method {method!r} has no parameters to tune")
    known = kind().get_params(deep=False)
    if tune is not None:
        fixed = {**fixed, "scoring": tune}
        for name, plural in _PLURALS.items():
            if name in parameters and plural in known:
                parameters[plural] = [parameters.pop(name)]
    for name in parameters:
        if name not in known or name in fixed:
            names = ", ".join(sorted(known.keys() - fixed.keys()))
            raise ValueError(f"{name} does not apply to method {method!r}; it has: {names}")
    return kind(**fixed, **parameters)
