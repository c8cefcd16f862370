"""Theory with points → the lines of a Python function that counts them."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

from steelyard.model.decoding import BEST_WEIGHT, POINTS_PER_LOG_ODD, SHARES

from .decisions import plain_classes
from .points import Tally, theory_to_tallies
from .python_conditions import body_to_python

if TYPE_CHECKING:
    from steelyard.model.decoding import KnownLabelSets
    from steelyard.model.theory import Theory


_POSITIVE = "    present = {label for label in points if points[label] > 0}"


def import_lines(theory: Theory) -> list[str]:
    """What the file imports: nothing unless label sets vote."""
    known = theory.label_sets if theory.has_points else None
    if known is None or known.min_share is None:
        return []
    return ["import math", "", ""]


def label_sets_lines(theory: Theory) -> list[str]:
    """The known label sets as a constant; nothing for a theory that knows none."""
    if not theory.has_points or theory.label_sets is None:
        return []
    pairs = zip(theory.label_sets.sets, theory.label_sets.points.tolist(), strict=True)
    names = theory.label_names
    return [
        "# Label sets of the training examples, and the points that their frequency is worth.",
        "_LABEL_SETS = [",
        *(f"    ({tuple(names[i] for i in labels)!r}, {points})," for labels, points in pairs),
        "]",
        "",
        "",
    ]


def points_lines(theory: Theory) -> list[str]:
    """The body of the function: points of every label, or of every class, and what they decide."""
    tallies = theory_to_tallies(theory)
    is_multiclass = theory.output in ("multiclass", "ordered")
    keys = plain_classes(theory) if is_multiclass else [tally.name for tally in tallies]
    lines = [
        "    # Hundredths of log-odds.",
        "    points = {",
        *(f"        {key!r}: {tally.start}," for key, tally in zip(keys, tallies, strict=True)),
        "    }",
    ]
    truth_values = {f.name for f in theory.features if f.is_truth_value}
    for key, tally in zip(keys, tallies, strict=True):
        lines += _tally_lines(tally, key, truth_values)
    if is_multiclass:
        return [*lines, "    return max(points, key=points.get)"]
    if theory.output == "binary":
        absent, present = plain_classes(theory)
        return [*lines, f"    return {present!r} if points[{keys[0]!r}] > 0 else {absent!r}"]
    if theory.label_sets is None:
        lines.append(_POSITIVE)
    elif theory.label_sets.min_share is None:
        lines += _fit_lines(theory.label_sets)
    else:
        lines += _share_lines(theory.label_sets)
    return [*lines, "    return {label: int(label in present) for label in points}"]


def _tally_lines(tally: Tally, key: Any, truth_values: Container[str]) -> list[str]:
    """One statement a rule: a long sum or a long chain of elif is too deep for Python to compile."""
    lines = []
    assign = "+=" if tally.is_sum else "="
    # Where the strongest vote counts it comes last and so replaces the weaker ones.
    for scored in tally.rules if tally.is_sum else reversed(tally.rules):
        test = body_to_python(scored.rule.body, truth_values)
        lines.append(f"    if {test}:  # TP {scored.tp}, FP {scored.fp}")
        lines.append(f"        points[{key!r}] {assign} {scored.vote}")
    return lines


def _fit_lines(known: KnownLabelSets) -> list[str]:
    """The known set that fits best is present or, if it fits still better, a new one."""
    lines = [
        "",
        "    def fit(known):",
        "        return sum(points[label] for label in known[0]) + known[1]",
        "",
        "    best = max(_LABEL_SETS, key=fit)",
    ]
    if known.unseen_points is None:
        return [*lines, "    present = set(best[0])"]
    return [
        *lines,
        _POSITIVE,
        "    # A new set has to fit better than every known one.",
        f"    if fit((present, {known.unseen_points})) <= fit(best):",
        "        present = set(best[0])",
    ]


def _share_lines(known: KnownLabelSets) -> list[str]:
    """All sets vote; the labels with enough of the votes are present."""
    lines = ["    sets = list(_LABEL_SETS)"]
    if known.unseen_points is not None:
        lines += [
            "    # The labels with positive points, as a new set.",
            "    positive = [label for label in points if points[label] > 0]",
            f"    sets.append((positive, {known.unseen_points}))",
        ]
    return [
        *lines,
        "    scores = [sum(points[label] for label in known) + more for known, more in sets]",
        "    best = max(scores)",
        "    votes = dict.fromkeys(points, 0)",
        "    n_votes = 0",
        "    for (known, _), score in zip(sets, scores):",
        f"        weight = round({BEST_WEIGHT} * math.exp((score - best) / {POINTS_PER_LOG_ODD}))",
        "        n_votes += weight",
        "        for label in known:",
        "            votes[label] += weight",
        f"    needed = {known.min_share_in_thousandths} * n_votes",
        f"    present = {{label for label in votes if {SHARES} * votes[label] > needed}}",
    ]
