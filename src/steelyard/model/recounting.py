"""Recounting: a theory and examples with labels → the same theory with its evidence on these examples.

New evidence changes what a theory says about its rules, never what it predicts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from steelyard._numbers import to_booleans

from .coverage import unpack
from .evaluation import labels_to_answer
from .evidence import Evidence, EvidenceFrom, Label
from .judgement import Judgement, judge
from .rules import ScoredRule
from .tables import order_labels
from .theory import Theory

Masks = NDArray[np.bool_]
Integers = NDArray[np.int64]


class Tally(NamedTuple):
    """Counts of rules and labels on some examples.

    Parameters
    ----------
    tp, fp, only : (n_rules,) int
        Examples that a rule covers rightly, wrongly, and as the only rule of its label.
    n_targets, n_others : (n_labels,) int
        Examples with and without the target class of a label.
    uncovered_targets, uncovered_others : (n_labels,) int
        Those of them for which no rule of the label fires.
    """

    tp: Integers
    fp: Integers
    only: Integers
    n_targets: Integers
    n_others: Integers
    uncovered_targets: Integers
    uncovered_others: Integers


# -- reading labels --------------------------------------------------------------------------------


def read_labels(theory: Theory, Y: Any) -> Masks:
    """True labels in the order of the theory, shape (n_rows, n_labels).

    A DataFrame is matched by the names of its columns, other columns are ignored; an array is matched by
    position. A theory of classes takes one class per row.
    """
    if not theory.is_multilabel:
        return _read_classes(theory, Y)
    names = theory.label_names
    if isinstance(Y, pd.DataFrame):
        Y = order_labels(names, Y)
    Y = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if Y.ndim == 1 and len(names) == 1:
        Y = Y[:, None]
    if Y.ndim != 2 or Y.shape[1] != len(names):
        raise ValueError(f"Y has shape {Y.shape}, but the theory predicts {len(names)} labels")
    return np.asarray(to_booleans(Y, "Y"), dtype=np.bool_)


def _read_classes(theory: Theory, y: Any) -> Masks:
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"Y has shape {y.shape}, but the theory predicts one class per row")
    classes = theory.plain_classes
    unknown = [value for value in pd.unique(y).tolist() if value not in classes]
    if unknown:
        raise ValueError(
            f"Y has the class {unknown[0]!r}, which the theory does not know; it knows "
            f"{', '.join(map(repr, classes))}"
        )
    wanted = classes if len(theory.labels) > 1 else classes[1:]
    return np.column_stack([y == value for value in wanted])


def _check_rows(n_rows: int, truth: Masks) -> None:
    if n_rows != len(truth):
        raise ValueError(f"X has {n_rows} rows, but Y has {len(truth)}")
    if not n_rows:
        raise ValueError("X and Y have no rows")


# -- counting --------------------------------------------------------------------------------------


def tally_rules(theory: Theory, X: Any, truth: Masks) -> tuple[Tally, Masks]:
    """Counts on some examples, and the predicted labels of shape (n_rows, n_labels)."""
    blocks, predicted, start = [], [], 0
    for bits, n_rows in theory._coded.cover_blocks(X):
        blocks.append(_tally_block(theory, unpack(bits, n_rows), truth[start : start + n_rows]))
        predicted.append(theory._predict_block(bits, n_rows))
        start += n_rows
    _check_rows(start, truth)
    sums = [np.sum(columns, axis=0) for columns in zip(*blocks, strict=True)]
    return Tally(*sums), np.concatenate(predicted)


def _tally_block(theory: Theory, fires: Masks, truth: Masks) -> Tally:
    """Counts on the rows of one block; `fires` has shape (n_rules, n_rows)."""
    if fires.shape[1] != len(truth):  # Y is too short, which is said later
        fires = fires[:, : len(truth)]
    label_of_rule = theory._label_of_rule
    head_class = np.array([scored.head.target_class for scored in theory], dtype=np.bool_)
    targets = np.array([label.target_class for label in theory.labels], dtype=np.bool_)
    is_right = truth.T[label_of_rule] == head_class[:, None]
    n_firing = np.zeros((len(theory.labels), fires.shape[1]), dtype=np.int64)
    np.add.at(n_firing, label_of_rule, fires)
    is_target, is_silent = targets[:, None] == truth.T, n_firing == 0
    masks = (
        fires & is_right,
        fires & ~is_right,
        fires & (n_firing[label_of_rule] == 1),
        is_target,
        ~is_target,
        is_silent & is_target,
        is_silent & ~is_target,
    )
    return Tally(*(mask.sum(axis=1, dtype=np.int64) for mask in masks))


def recount(theory: Theory, X: Any, Y: Any) -> Theory:
    """See `Theory.recount`."""
    truth = read_labels(theory, Y)
    tally, predicted = tally_rules(theory, X, truth)
    evidence = zip(tally.tp.tolist(), tally.fp.tolist(), tally.only.tolist(), strict=True)
    counts = zip(*(column.tolist() for column in tally[3:]), strict=True)
    return replace(
        theory,
        rules=tuple(
            _renew_rule(scored, Evidence(*found))
            for scored, found in zip(theory.rules, evidence, strict=True)
        ),
        labels=tuple(
            _renew_label(label, *found) for label, found in zip(theory.labels, counts, strict=True)
        ),
        evidence_from=EvidenceFrom("recount", judge_labels(theory, truth, predicted)),
    )


def _renew_rule(scored: ScoredRule, evidence: Evidence) -> ScoredRule:
    confidence = scored.smoothed_precision
    is_same = confidence == evidence.smoothed_precision
    return replace(
        scored,
        evidence=evidence,
        held_out=None,
        confidence=None if is_same else confidence,
    )


def _renew_label(
    label: Label, n_positives: int, n_negatives: int, uncovered_positives: int, uncovered: int
) -> Label:
    made = Label(
        label.name, label.target_class, n_positives, n_negatives, uncovered_positives, uncovered
    )
    is_same = made.silent_score == label.silent_score
    return made if is_same else replace(made, silent=label.silent_score)


def judge_labels(theory: Theory, truth: Masks, predicted: Masks) -> Judgement:
    """Every measure of predicted labels; on the classes if the theory predicts classes."""
    classes = None
    if not theory.is_multilabel:
        classes = tuple(labels_to_answer(mask, theory.classes) for mask in (truth, predicted))
    return judge(truth, predicted, theory.label_names, classes)


def judge_evaluation(theory: Theory, predicted: Masks, Y: Any) -> Judgement:
    """Every measure of the labels that were predicted for some rows."""
    truth = read_labels(theory, Y)
    _check_rows(len(predicted), truth)
    return judge_labels(theory, truth, predicted)
