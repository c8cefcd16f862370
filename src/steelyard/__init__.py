"""Multi-label rule learning: readable IF-THEN rules tuned for the measure you care about."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when they are first used: scikit-learn, pandas and numba take a second together,
# which `steelyard --help` need not pay.
_HOME = {
    "Accuracy": "heuristics",
    "Condition": "model.rules",
    "DataError": "data",
    "EachLabel": "model.decoding",
    "FMeasure": "heuristics",
    "Heuristic": "heuristics",
    "IterativeStratifiedKFold": "splitting",
    "LabelSets": "model.decoding",
    "Laplace": "heuristics",
    "MEstimate": "heuristics",
    "MultiLabelData": "data",
    "Precision": "heuristics",
    "Recall": "heuristics",
    "RipperClassifier": "estimators.ripper",
    "Rule": "model.rules",
    "RuleSetClassifier": "estimators.rule_set",
    "RuleSetClassifierCV": "estimators.rule_set_cv",
    "Theory": "model.theory",
    "TheoryPath": "model.path",
    "WRA": "heuristics",
    "fetch_multilabel": "data",
    "load_mulan": "data",
    "load_segments": "data",
    "load_table": "data",
    "make_planted_rules": "data",
    "theory_path": "estimators.rule_set",
}

__all__ = list(_HOME)

if TYPE_CHECKING:  # for editors and type checkers: the same names, spelled out
    from steelyard.data import DataError as DataError
    from steelyard.data import MultiLabelData as MultiLabelData
    from steelyard.data import fetch_multilabel as fetch_multilabel
    from steelyard.data import load_mulan as load_mulan
    from steelyard.data import load_segments as load_segments
    from steelyard.data import load_table as load_table
    from steelyard.data import make_planted_rules as make_planted_rules
    from steelyard.estimators.ripper import RipperClassifier as RipperClassifier
    from steelyard.estimators.rule_set import RuleSetClassifier as RuleSetClassifier
    from steelyard.estimators.rule_set import theory_path as theory_path
    from steelyard.estimators.rule_set_cv import RuleSetClassifierCV as RuleSetClassifierCV
    from steelyard.heuristics import WRA as WRA
    from steelyard.heuristics import Accuracy as Accuracy
    from steelyard.heuristics import FMeasure as FMeasure
    from steelyard.heuristics import Heuristic as Heuristic
    from steelyard.heuristics import Laplace as Laplace
    from steelyard.heuristics import MEstimate as MEstimate
    from steelyard.heuristics import Precision as Precision
    from steelyard.heuristics import Recall as Recall
    from steelyard.model.decoding import EachLabel as EachLabel
    from steelyard.model.decoding import LabelSets as LabelSets
    from steelyard.model.path import TheoryPath as TheoryPath
    from steelyard.model.rules import Condition as Condition
    from steelyard.model.rules import Rule as Rule
    from steelyard.model.theory import Theory as Theory
    from steelyard.splitting import IterativeStratifiedKFold as IterativeStratifiedKFold


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
