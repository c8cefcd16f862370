"""Multi-label rule learning: readable IF-THEN rules tuned for the measure you care about."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public names by module. They are imported on first use: scikit-learn, pandas and numba together take a
# second, which `steelyard --help` does not need.
_PUBLIC = {
    "data": (
        "DataError",
        "MultiLabelData",
        "fetch_multilabel",
        "load_mulan",
        "load_segments",
        "load_table",
        "make_planted_rules",
    ),
    "estimators.boosted": ("BoostedRulesClassifier",),
    "estimators.boosted_cv": ("BoostedRulesClassifierCV",),
    "estimators.ripper": ("RipperClassifier",),
    "estimators.rule_set": ("RuleSetClassifier", "theory_path"),
    "estimators.rule_set_cv": ("RuleSetClassifierCV",),
    "explain": ("Explanation",),
    "heuristics": (
        "WRA",
        "Accuracy",
        "FMeasure",
        "Heuristic",
        "Laplace",
        "MEstimate",
        "Precision",
        "Recall",
    ),
    "model.decoding": ("EachLabel", "LabelSets"),
    "model.evidence": ("Label", "ScoredRule"),
    "model.features": ("Feature",),
    "model.path": ("TheoryPath",),
    "model.rules": ("Condition", "Head", "Rule"),
    "model.theory": ("Theory",),
    "splitting": ("IterativeStratifiedKFold",),
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = list(_MODULE_OF)

if TYPE_CHECKING:  # the same names for editors and type checkers; a test compares the two lists
    from .data import DataError as DataError
    from .data import MultiLabelData as MultiLabelData
    from .data import fetch_multilabel as fetch_multilabel
    from .data import load_mulan as load_mulan
    from .data import load_segments as load_segments
    from .data import load_table as load_table
    from .data import make_planted_rules as make_planted_rules
    from .estimators.boosted import BoostedRulesClassifier as BoostedRulesClassifier
    from .estimators.boosted_cv import BoostedRulesClassifierCV as BoostedRulesClassifierCV
    from .estimators.ripper import RipperClassifier as RipperClassifier
    from .estimators.rule_set import RuleSetClassifier as RuleSetClassifier
    from .estimators.rule_set import theory_path as theory_path
    from .estimators.rule_set_cv import RuleSetClassifierCV as RuleSetClassifierCV
    from .explain import Explanation as Explanation
    from .heuristics import WRA as WRA
    from .heuristics import Accuracy as Accuracy
    from .heuristics import FMeasure as FMeasure
    from .heuristics import Heuristic as Heuristic
    from .heuristics import Laplace as Laplace
    from .heuristics import MEstimate as MEstimate
    from .heuristics import Precision as Precision
    from .heuristics import Recall as Recall
    from .model.decoding import EachLabel as EachLabel
    from .model.decoding import LabelSets as LabelSets
    from .model.evidence import Label as Label
    from .model.evidence import ScoredRule as ScoredRule
    from .model.features import Feature as Feature
    from .model.path import TheoryPath as TheoryPath
    from .model.rules import Condition as Condition
    from .model.rules import Head as Head
    from .model.rules import Rule as Rule
    from .model.theory import Theory as Theory
    from .splitting import IterativeStratifiedKFold as IterativeStratifiedKFold


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
