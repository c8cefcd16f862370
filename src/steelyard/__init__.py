"""Multi-label rule learning: readable IF-THEN rules tuned for the measure you care about."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when they are first used: scikit-learn, pandas and numba take a second together,
# which `steelyard --help` need not pay.
_HOME = {
    "Accuracy": "heuristics",
    "Condition": "rules",
    "DataError": "data",
    "EachLabel": "decoding",
    "FMeasure": "heuristics",
    "Heuristic": "heuristics",
    "IterativeStratifiedKFold": "splitting",
    "LabelSets": "decoding",
    "Laplace": "heuristics",
    "MEstimate": "heuristics",
    "MultiLabelData": "data",
    "Precision": "heuristics",
    "Recall": "heuristics",
    "RipperClassifier": "ripper",
    "Rule": "rules",
    "RuleSetClassifier": "classifier",
    "RuleSetClassifierCV": "classifier_cv",
    "Theory": "theory",
    "TheoryPath": "path",
    "WRA": "heuristics",
    "fetch_multilabel": "data",
    "load_mulan": "data",
    "load_segments": "data",
    "load_table": "data",
    "make_planted_rules": "data",
    "theory_path": "classifier",
}

__all__ = list(_HOME)

if TYPE_CHECKING:  # for editors and type checkers: the same names, spelled out
    from .classifier import RuleSetClassifier as RuleSetClassifier
    from .classifier import theory_path as theory_path
    from .classifier_cv import RuleSetClassifierCV as RuleSetClassifierCV
    from .data import DataError as DataError
    from .data import MultiLabelData as MultiLabelData
    from .data import fetch_multilabel as fetch_multilabel
    from .data import load_mulan as load_mulan
    from .data import load_segments as load_segments
    from .data import load_table as load_table
    from .data import make_planted_rules as make_planted_rules
    from .decoding import EachLabel as EachLabel
    from .decoding import LabelSets as LabelSets
    from .heuristics import WRA as WRA
    from .heuristics import Accuracy as Accuracy
    from .heuristics import FMeasure as FMeasure
    from .heuristics import Heuristic as Heuristic
    from .heuristics import Laplace as Laplace
    from .heuristics import MEstimate as MEstimate
    from .heuristics import Precision as Precision
    from .heuristics import Recall as Recall
    from .path import TheoryPath as TheoryPath
    from .ripper import RipperClassifier as RipperClassifier
    from .rules import Condition as Condition
    from .rules import Rule as Rule
    from .splitting import IterativeStratifiedKFold as IterativeStratifiedKFold
    from .theory import Theory as Theory


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
