"""Why a theory predicts what it predicts: rules that fired, or the closest ones and what they lack.

Given any object with the attributes of a `Theory`, whose methods call these functions.
"""

from .changes import Change, FailingCondition, NearRule
from .explaining import as_table, explain_theory
from .explanation import Explanation, LabelExplanation
from .votes import ChosenSet, LabelPoints, LabelShare, VotingSets

__all__ = [
    "Change",
    "ChosenSet",
    "Explanation",
    "FailingCondition",
    "LabelExplanation",
    "LabelPoints",
    "LabelShare",
    "NearRule",
    "VotingSets",
    "as_table",
    "explain_theory",
]
