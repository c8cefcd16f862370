"""Multi-label rule learning: readable IF-THEN rules tuned for the measure you care about."""

from .classifier import RuleSetClassifier, theory_path
from .classifier_cv import RuleSetClassifierCV
from .data import (
    DataError,
    MultiLabelData,
    fetch_multilabel,
    load_mulan,
    load_segments,
    load_table,
    make_planted_rules,
)
from .heuristics import (
    WRA,
    Accuracy,
    FMeasure,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    Recall,
)
from .path import TheoryPath
from .rules import Condition, Rule
from .splitting import IterativeStratifiedKFold
from .theory import Theory

__version__ = "0.1.0"

__all__ = [
    "WRA",
    "Accuracy",
    "Condition",
    "DataError",
    "FMeasure",
    "Heuristic",
    "IterativeStratifiedKFold",
    "Laplace",
    "MEstimate",
    "MultiLabelData",
    "Precision",
    "Recall",
    "Rule",
    "RuleSetClassifier",
    "RuleSetClassifierCV",
    "Theory",
    "TheoryPath",
    "fetch_multilabel",
    "load_mulan",
    "load_segments",
    "load_table",
    "make_planted_rules",
    "theory_path",
]
