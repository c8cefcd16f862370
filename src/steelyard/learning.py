"""Learning a path: coded table → candidates → covering with every heuristic → ranked rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from .candidates import ForestSettings, Progress, generate_candidates
from .coverage import Bits, cover, index_rows
from .covering import Selection, select_for_label
from .features import FeatureCoder, code_training_table
from .heuristics import ConfusionMatrix, Heuristic, heuristic_values
from .path import RankedRules, TheoryPath, find_first_firing
from .program import reduce_program
from .rules import RuleTable
from .targets import Targets
from .theory import Label


def learn_path(
    X: Any,
    targets: Targets,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    settings: ForestSettings,
    *,
    threshold_heuristic: Heuristic | None = None,
    revalidate: bool = True,
    entropy: int = 0,
    n_jobs: int | None = None,
    feature_names: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> TheoryPath:
    """Candidates → covering with every heuristic → rules ranked for every φ."""
    training = code_training_table(X, feature_names)
    tables = generate_candidates(
        training, targets.is_target, settings, entropy, n_jobs=n_jobs, progress=progress
    )
    index = index_rows(training.coded)
    selections: list[Selection] = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(select_for_label)(table, index, is_target, heuristics, revalidate=revalidate)
        for table, is_target in zip(tables, targets.is_target, strict=True)
    )
    table = RuleTable.concatenate([s.table for s in selections])
    coverage = cover(table, index)
    return _rank(
        training.coder, targets, selections, table, coverage, heuristics, phis, threshold_heuristic
    )


def _rank(
    coder: FeatureCoder,
    targets: Targets,
    selections: Sequence[Selection],
    table: RuleTable,
    coverage: Bits,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    threshold_heuristic: Heuristic | None,
) -> TheoryPath:
    """Value the selected rules of all labels on the whole training set and sort them together."""
    offsets = np.concatenate(([0], np.cumsum([len(s.table) for s in selections])))
    label_of_rule = np.repeat(np.arange(len(selections)), np.diff(offsets))
    tp = np.concatenate([s.tp for s in selections]).astype(np.int64)
    fp = np.concatenate([s.fp for s in selections]).astype(np.int64)
    n_conditions = np.concatenate([s.n_conditions for s in selections])
    n_positives = np.array([s.n_positives for s in selections])[label_of_rule]
    n_negatives = np.array([s.n_negatives for s in selections])[label_of_rule]
    ranked: list[RankedRules] = []
    for h, heuristic in enumerate(heuristics):
        rules = np.concatenate(
            [offset + s.selected[h] for offset, s in zip(offsets[:-1], selections, strict=True)]
        )
        counts = ConfusionMatrix(
            tp=tp[rules],
            fp=fp[rules],
            fn=n_positives[rules] - tp[rules],
            tn=n_negatives[rules] - fp[rules],
        )
        values = heuristic_values(threshold_heuristic or heuristic, counts)
        # Best value first; ties: more true positives, fewer conditions, then order of selection.
        best_first = np.lexsort((n_conditions[rules], -tp[rules], -values))
        rules, values = rules[best_first], values[best_first]
        first = find_first_firing(coverage, rules, label_of_rule, targets.is_target.shape)
        new_tp = np.bincount(first[targets.is_target], minlength=len(rules) + 1)[:-1]
        new_fp = np.bincount(first[~targets.is_target], minlength=len(rules) + 1)[:-1]
        ranked.append(RankedRules(rules, values, new_tp, new_fp))
    return TheoryPath(
        heuristics=tuple(heuristics),
        phis=tuple(float(phi) for phi in phis),
        program=reduce_program(table, coder),
        label_of_rule=label_of_rule,
        tp=tp,
        fp=fp,
        n_conditions=n_conditions,
        ranked=tuple(ranked),
        labels=tuple(
            Label(name, int(t), s.n_positives, s.n_negatives, s.n_positives, s.n_negatives)
            for name, t, s in zip(targets.names, targets.target_class, selections, strict=True)
        ),
        output=targets.output,
        classes=targets.classes,
    )
