"""Theory × examples → explanations: which rules fire, which come closest, what would have to change.

Tells in words what `Theory.evaluate` found; decides nothing by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from steelyard._numbers import is_integer
from steelyard.model.conditions import Value
from steelyard.model.evaluation import Evaluation
from steelyard.model.rules import ScoredRule
from steelyard.model.tables import as_table
from steelyard.model.theory import Theory

from .changes import Change, NearRule
from .explanation import Explanation, LabelExplanation
from .selecting import choose_labels, select_labels


def explain_theory(
    theory: Theory, X: Any, n_closest: int = 3, labels: Any = None
) -> Explanation | list[Explanation]:
    """See `Theory.explain`."""
    if not is_integer(n_closest, least=0):
        raise ValueError(f"n_closest must be a non-negative integer, got {n_closest!r}")
    shown = choose_labels(theory, labels)
    table = as_table(X)
    evaluation = theory.evaluate(table)
    n_rows = len(evaluation.fires)
    names = list(table.index) if isinstance(table, pd.DataFrame) else list(range(n_rows))
    explanations = [
        Explanation(
            _explain_labels(theory, evaluation, row, n_closest),
            _name_answer(theory, evaluation, row),
            names[row],
            theory.decoder.explain_row(evaluation.decoded, row, theory.label_names),
            theory.evidence_note,
            has_weights=theory.combiner.gives_log_odds,
        )
        for row in range(n_rows)
    ]
    explanations = [select_labels(explanation, shown) for explanation in explanations]
    return explanations[0] if n_rows == 1 else explanations


def _explain_labels(
    theory: Theory, evaluation: Evaluation, row: int, n_closest: int
) -> tuple[LabelExplanation, ...]:
    values = {name: column[row] for name, column in evaluation.values.items()}
    fires = iter(evaluation.fires[row])  # rules are grouped by label
    explained = []
    for j, label in enumerate(theory.labels):
        rules = theory.rules_of(label.name)
        fired = tuple(scored for scored in rules if next(fires))
        predicted = int(evaluation.is_present[row, j])
        score = evaluation.scores[row, j]
        closest: tuple[NearRule, ...] = ()
        if not fired and predicted != label.target_class:
            closest = find_closest(rules, values, n_closest)
        reason = theory.combiner.explain_label(
            label, len(fired), score, predicted, theory.evidence_from.examples
        )
        reason += theory.decoder.explain_label(evaluation.decoded, row, j, theory.combiner)
        sums = theory.combiner.explain_sum(j, score) if fired else ()
        explained.append(LabelExplanation(label, predicted, fired, closest, reason, sums))
    return tuple(explained)


def _name_answer(theory: Theory, evaluation: Evaluation, row: int) -> Any:
    """The names of the predicted labels, or the class."""
    if theory.is_multilabel:
        present = np.flatnonzero(evaluation.is_present[row])
        return tuple(theory.label_names[j] for j in present)
    predicted = evaluation.predicted[row]
    return predicted.item() if isinstance(predicted, np.generic) else predicted


def find_closest(
    rules: Sequence[ScoredRule], values: dict[str, Value], n_closest: int
) -> tuple[NearRule, ...]:
    """The rules that need the fewest attributes changed, of those the most precise ones.

    The size of a numeric change does not count: attributes have no common scale.
    """
    near = []
    for scored in rules:
        failing = [c for c in scored.body if not c.test(values[c.feature])]
        if failing and not any(condition.is_empty for condition in failing):
            changes = tuple(Change(c, values[c.feature]) for c in failing)
            near.append(NearRule(scored, changes))
    near.sort(key=lambda rule: (len(rule.changes), -rule.scored.smoothed_precision))
    return tuple(near[:n_closest])
