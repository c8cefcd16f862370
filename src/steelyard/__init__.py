"""Multi-label rule learning: readable IF-THEN rules tuned for the measure you care about."""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# Public names by module. They are imported on first use: scikit-learn and pandas together take a
# second, which `steelyard --help` does not need.
_PUBLIC = {
    "data": "DataError MultiLabelData fetch_multilabel load_docstrings load_mulan load_patients "
    "load_segments load_table make_planted_rules",
    "estimators.boosted": "BoostedRulesClassifier",
    "estimators.boosted_cv": "BoostedRulesClassifierCV",
    "estimators.constraint_cost": "ConstraintCost constraint_cost",
    "estimators.ripper": "RipperClassifier",
    "estimators.rule_set": "RuleSetClassifier theory_path",
    "estimators.rule_set_cv": "RuleSetClassifierCV",
    "estimators.stability": "RuleStability rule_stability",
    "estimators.transformer": "RuleTransformer",
    "explain": "Change Explanation LabelExplanation NearRule",
    "heuristics": "WRA Accuracy Correlation Cost FMeasure FoilGain GeneralizedMEstimate Heuristic "
    "Klosgen Laplace MEstimate OddsRatio Precision Recall RelativeCost",
    "importing": "import_theory",
    "learning.constraints": "Constraints ConstraintWarning",
    "model.combiners": "AnyRule Combiner FirstRule StrongestVote SumOfVotes",
    "model.comparing": "Comparison",
    "model.conditions": "Condition",
    "model.decoders": "BestF1 BestLabel BestLabelSet Decoder EachLabel LabelSetVotes",
    "model.drift": "Drift",
    "model.evidence": "Evidence EvidenceFrom Label Provenance",
    "model.features": "Feature",
    "model.history": "Edit",
    "model.judgement": "Judgement",
    "model.label_sets": "KnownLabelSets",
    "model.path": "TheoryPath",
    "model.rules": "Head Rule ScoredRule",
    "model.evaluation": "Evaluation",
    "model.theory": "Theory",
    "splitting": "IterativeStratifiedKFold",
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
