"""Views: a theory as lines of text and as a table. Computes nothing that the theory does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from steelyard._text import count_bodies

from .conditions import Condition, describe_body, format_body
from .rules import ScoredRule
from .significance import chance_p_value, wilson_interval
from .theory import Theory

NO_NUMBER = "–"


def check_by(by: str) -> None:
    """Reject other ways to group rules than by label and by body."""
    if by not in ("label", "body"):
        raise ValueError(f"by must be 'label' or 'body', got {by!r}")


def group_by_body(
    rules: Iterable[ScoredRule],
) -> list[tuple[tuple[Condition, ...], list[ScoredRule]]]:
    """The different bodies, each with its rules; the bodies with the most rules come first."""
    groups: dict[tuple[Condition, ...], list[ScoredRule]] = {}
    for scored in rules:
        groups.setdefault(scored.body, []).append(scored)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def describe_heads(rules: Iterable[ScoredRule]) -> str:
    """The heads of rules in one line; those of rules that vote are labels with weights."""
    return ", ".join(
        str(scored.head) if scored.points is None else f"{scored.head.label} {scored.weight:+.2f}"
        for scored in rules
    )


def theory_to_lines(theory: Theory) -> Iterator[str]:
    """The theory as it prints itself."""
    yield theory.summary
    if theory.evidence_note:
        yield theory.evidence_note
    for j in theory.combiner.list_order(theory.labels):
        label = theory.labels[j]
        note = theory.combiner.describe_label(j)
        yield ""
        yield theory.describe_label(j) + (f", {note}" if note else "")
        rules = theory.rules_of(label.name)
        if not rules:
            yield f"  {theory.describe_empty(j)}"
        columns = _text_columns(theory, rules)
        widths = [max(map(len, column), default=0) for column in columns]
        for scored, *texts in zip(rules, *columns, strict=True):
            aligned = "  ".join(f"{t:>{w}}" for t, w in zip(texts, widths, strict=True))
            origin = scored.provenance.describe()
            yield f"  {aligned}  {scored.rule.describe()}{f'  [{origin}]' if origin else ''}"


def bodies_to_lines(theory: Theory) -> Iterator[str]:
    """See `Theory.to_text`: a line per body: how many examples it covers, heads, conditions."""
    groups = group_by_body(theory)
    yield theory.summary
    if theory.evidence_note:
        yield theory.evidence_note
    notes = (theory.combiner.describe_label(j) for j in range(len(theory.labels)))
    names = (label.name for label in theory.labels)
    starts = ", ".join(f"{name}: {note}" for name, note in zip(names, notes, strict=True) if note)
    yield "; ".join(filter(None, (count_bodies(len(groups)), starts)))
    yield ""
    counted = ([str(r.tp + r.fp) for r in rules if r.is_counted] for _, rules in groups)
    covered = [counts[0] if counts else NO_NUMBER for counts in counted]
    width = max(map(len, covered), default=0)
    for (body, rules), count in zip(groups, covered, strict=True):
        heads = describe_heads(rules)
        yield f"  covers {count:>{width}}  {heads} ← {describe_body(body) or 'always'}"


def _text_columns(theory: Theory, rules: Sequence[ScoredRule]) -> list[list[str]]:
    """The numbers before the rules: counts, value, weights, then what unseen examples say."""
    width = max((len(str(scored.tp)) for scored in rules), default=1)
    counts = [
        f"TP {scored.tp:{width}}  FP {scored.fp:<{width}}" if scored.is_counted else scored.counts
        for scored in rules
    ]
    values = [NO_NUMBER if s.value is None else f"{s.value:.3f}" for s in rules]
    columns = [counts, values]
    for weights in theory.combiner.rule_columns(rules).values():
        columns.append([f"{weight:+.2f}" for weight in weights])
    if theory.evidence_from.kind == "recount":
        low, high = wilson_interval([s.tp for s in rules], [s.tp + s.fp for s in rules])
        shares = [f"{s.precision:.2f}" if s.tp + s.fp else NO_NUMBER for s in rules]
        intervals = zip(shares, low, high, strict=True)
        columns.append([f"precision {share} ({a:.2f}–{b:.2f})" for share, a, b in intervals])
    if any(scored.held_out is not None for scored in rules):
        columns.append([describe_held_out(scored) for scored in rules])
    return columns


def describe_held_out(scored: ScoredRule) -> str:
    """What examples say that did not take part in learning the rule."""
    counts = "not counted" if scored.held_out is None else scored.held_out.describe()
    return f"unseen: {counts}"


# -- tables ----------------------------------------------------------------------------------------


def theory_to_frame(theory: Theory) -> pd.DataFrame:
    """See `Theory.to_frame`."""
    counted = [scored.is_counted for scored in theory]
    columns: dict[str, Any] = {
        "label": [scored.head.label for scored in theory],
        "target_class": [scored.head.target_class for scored in theory],
        "rule": [format_body(scored.body) for scored in theory],
        "n_conditions": [len(scored) for scored in theory],
        "tp": _known([scored.tp for scored in theory], counted),
        "fp": _known([scored.fp for scored in theory], counted),
        "precision": np.where(counted, [scored.precision for scored in theory], np.nan),
        "value": [np.nan if scored.value is None else scored.value for scored in theory],
        **theory.combiner.rule_columns(theory.rules),
    }
    if theory.evidence_from.kind == "recount":
        columns |= _recount_columns(theory)
    held_out = [scored.held_out for scored in theory]
    if any(found is not None for found in held_out):
        has = [found is not None for found in held_out]
        columns["held_out_tp"] = _known([f.tp if f else 0 for f in held_out], has)
        columns["held_out_fp"] = _known([f.fp if f else 0 for f in held_out], has)
        columns["held_out_precision"] = [f.precision if f else np.nan for f in held_out]
    if any(scored.provenance.describe() for scored in theory):
        for name in ("source", "when", "note"):
            columns[name] = [getattr(scored.provenance, name) for scored in theory]
    return pd.DataFrame(columns)


def _known(values: list[int], is_known: list[bool]) -> Any:
    """Integers, with missing values if some are not known."""
    if all(is_known):
        return values
    return pd.array(
        [v if k else None for v, k in zip(values, is_known, strict=True)], dtype="Int64"
    )


def _recount_columns(theory: Theory) -> dict[str, Any]:
    """Interval of the precision, p-value, lift and the examples that only a rule covers."""
    labels = {label.name: label for label in theory.labels}
    tp = np.array([scored.tp for scored in theory], dtype=np.int64)
    covered = tp + np.array([scored.fp for scored in theory], dtype=np.int64)
    heads = [scored.head for scored in theory]
    positives = np.array([labels[h.label].count(h.target_class) for h in heads], dtype=np.int64)
    n_rows = theory.evidence_from.n_rows or 0
    low, high = wilson_interval(tp, covered)
    precision = np.divide(tp, covered, out=np.full(len(tp), np.nan), where=covered > 0)
    prior = positives / max(n_rows, 1)
    return {
        "precision_low": low,
        "precision_high": high,
        "p_value": chance_p_value(tp, covered, positives, n_rows),
        "lift": np.divide(precision, prior, out=np.full(len(tp), np.nan), where=prior > 0),
        "only": [s.evidence.only if s.evidence is not None else None for s in theory],
    }
