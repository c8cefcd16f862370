"""Theory → the source of a Python function that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from .decisions import Decision, theory_to_decisions
from .python_conditions import body_to_python
from .python_points import import_lines, label_sets_lines, points_lines

if TYPE_CHECKING:
    from steelyard.model.theory import Theory

_HELPERS = '''\
def _number(value):
    """A number; missing (None, NaN) is NaN, which is neither above nor below anything."""
    try:
        return float(value)
    except TypeError:
        return float("nan")


def _text(value):
    """The text of a category, the same for 4, 4.0 and "4"; missing (None, NaN) is None."""
    if hasattr(value, "item"):
        value = value.item()
    try:
        if value is None or value != value:
            return None
    except TypeError:  # the NA of pandas is neither equal nor different
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)

'''

_RETURNS = {
    True: "    A row maps attributes to values; the answer maps labels to 0 or 1.",
    False: "    A row maps attributes to values; the answer is its class.",
}


def to_python(theory: Theory) -> str:
    """See `Theory.to_python`."""
    is_multilabel = theory.output == "multilabel"
    summary = f"{len(theory)} rules with {theory.n_conditions} conditions; "
    summary += "their points decide." if theory.has_points else "no rule: the default."
    lines = [
        *import_lines(theory),
        _HELPERS,
        *label_sets_lines(theory),
        "def predict(row):",
        f'    """Predict by {summary}',
        "",
        _RETURNS[is_multilabel],
        '    """',
        *(points_lines(theory) if theory.has_points else _decisions_lines(theory)),
    ]
    return "\n".join(lines) + "\n"


def _decisions_lines(theory: Theory) -> list[str]:
    decisions = theory_to_decisions(theory)
    truth_values = {f.name for f in theory.features if f.is_truth_value}
    if theory.output != "multilabel":
        return [line for d in decisions for line in _decision_lines(d, "", truth_values)]
    lines = ["    labels = {}"]
    for decision in decisions:
        lines += _decision_lines(decision, f"labels[{decision.name!r}] =", truth_values)
    return [*lines, "    return labels"]


def _decision_lines(decision: Decision, assign: str, truth_values: Container[str]) -> list[str]:
    """The lines of one label, all of whose rules say the same, or of one class after the other."""
    if not assign:
        lines = []
        for scored, outcome in decision.cases:
            test = body_to_python(scored.rule.body, truth_values)
            lines.append(f"    if {test}:  # TP {scored.tp}, FP {scored.fp}")
            lines.append(f"        return {outcome!r}")
        return [*lines, f"    return {decision.default!r}"]
    if not decision.cases:
        return [f"    {assign} {decision.default}"]
    outcome = decision.cases[0][1]
    lines = [f"    {assign} {outcome} if ("]
    for i, (scored, _) in enumerate(decision.cases):
        word = "or " if i else ""
        test = body_to_python(scored.rule.body, truth_values)
        lines.append(f"        {word}{test}  # TP {scored.tp}, FP {scored.fp}")
    return [*lines, f"    ) else {decision.default}"]
