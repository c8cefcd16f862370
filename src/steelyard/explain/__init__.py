"""Explanations: why a theory predicts what it predicts for an example."""

from .changes import Change, NearRule
from .explainer import explain_theory
from .explanation import Explanation, LabelExplanation

__all__ = ["Change", "Explanation", "LabelExplanation", "NearRule", "explain_theory"]
