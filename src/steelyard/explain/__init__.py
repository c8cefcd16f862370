"""Why a theory predicts what it predicts: rules that fired, or the closest ones and what they lack.

Given any object with the attributes of a `Theory`, whose methods call these functions.
"""

from .explaining import as_table, explain_theory
from .explanation import Change, Explanation, FailingCondition, LabelExplanation, NearRule

__all__ = [
    "Change",
    "Explanation",
    "FailingCondition",
    "LabelExplanation",
    "NearRule",
    "as_table",
    "explain_theory",
]
