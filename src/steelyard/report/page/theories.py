"""Theories and theory paths → compact plain data: every name and every rule once.

Knows theories and what the scripts of the page read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.heuristics import describe
from steelyard.model.conditions import Condition
from steelyard.model.features import Feature
from steelyard.model.path import TheoryPath
from steelyard.model.theory import Theory
from steelyard.report.titles import format_parameter

# The combiners and decoders that scripts/predict.js has.
COMBINERS = ("any-rule", "first-rule", "strongest-vote", "sum-of-votes")
DECODERS = ("each-label", "best-label", "best-label-set", "label-set-votes", "best-f1")

# Families whose heuristic values scripts/theory.js computes.
_COMPUTED = ("m-estimate", "f-measure")

#: Formats that the library writes when the page is written, so that the page can offer them.
EXPORTS = {"sql": "to_sql", "python": "to_python", "markdown": "to_markdown"}


def merge_features(groups: Iterable[Sequence[Feature]]) -> list[Feature]:
    """The attributes of several theories of one table, with the categories of all of them.

    Examples
    --------
    >>> merge_features([[Feature("a"), Feature("b", ("x",))], [Feature("b", ("w", "x"))]])[1].categories
    ('w', 'x')
    """
    merged: dict[str, Feature] = {}
    for feature in (feature for group in groups for feature in group):
        known = merged.get(feature.name)
        if known is None or known.categories is None or feature.categories is None:
            merged.setdefault(feature.name, feature)
            continue
        categories = tuple(sorted({*known.categories, *feature.categories}))
        merged[feature.name] = Feature(feature.name, categories)
    return list(merged.values())


def features_to_plain(
    features: Sequence[Feature], ranges: Mapping[str, Sequence[float]]
) -> list[list[Any]]:
    """[name, categories, kind, least, most] of each attribute, without what is None at the end."""
    rows = []
    for feature in features:
        span = [shorten_number(bound) for bound in ranges.get(feature.name, ())]
        row = [feature.name, feature.categories, feature.kind, *span]
        while row[-1] is None:
            row.pop()
        rows.append(row)
    return rows


# -- single theories -------------------------------------------------------------------------------


def theory_to_payload(theory: Theory) -> dict[str, Any]:
    """A theory as its JSON file has it, without attributes, with the numbers that decoding needs.

    The logarithms behind these numbers are taken here, so that the page predicts the same to the last
    bit: all else is sums and comparisons of integers.
    """
    for part, known in ((theory.combiner, COMBINERS), (theory.decoder, DECODERS)):
        if part.name not in known:
            raise ValueError(f"the page cannot predict with {part.name!r}")
    plain = json.loads(theory.to_json())
    del plain["features"], plain["format"]
    numbers = theory.decoder.page_numbers(theory.combiner, len(theory.labels))
    return {"plain": plain, "numbers": numbers}


def theory_to_exports(theory: Theory) -> dict[str, Any]:
    """The theory in other formats; the reason instead of a format that cannot express it."""
    found: dict[str, Any] = {}
    for name, method in EXPORTS.items():
        try:
            found[name] = getattr(theory, method)()
        except ValueError as error:
            found[name] = {"reason": str(error)}
    return found


# -- all theories of a grid ------------------------------------------------------------------------


def path_to_payload(
    path: TheoryPath, features: Sequence[Feature], counts: dict[str, list[int]] | None
) -> dict[str, Any]:
    """All theories of a grid; `counts` are those of its rules on held-out examples."""
    position = {feature.name: i for i, feature in enumerate(features)}
    rows = zip(path.label_of_rule.tolist(), path.tp.tolist(), path.fp.tolist(), strict=True)
    ranked = zip(path.heuristics, path.ranked, path.n_kept.tolist(), strict=True)
    if counts is not None and {len(part) for part in counts.values()} != {len(path.coded)}:
        counts = None  # of other theories
    return {
        "labels": [[y.name, y.target_class, y.n_positives, y.n_negatives] for y in path.labels],
        "rules": [
            [*numbers, *(_compact(position[c.feature], features, c) for c in path.coded.body(r))]
            for r, numbers in enumerate(rows)
        ],
        "counts": None if counts is None else [counts["tp"], counts["fp"]],
        "rankings": [
            {
                "family": heuristic.family,
                "parameter": format_parameter(heuristic.parameter),
                "heuristic": describe(heuristic),
                "rules": ranking.rule_idx.tolist(),
                "new_tp": ranking.new_tp.tolist(),
                "new_fp": ranking.new_fp.tolist(),
                "kept": list(zip(path.phis, n_kept, strict=True)),
            }
            | ({} if heuristic.family in _COMPUTED else {"values": _list_values(ranking.values)})
            for heuristic, ranking, n_kept in ranked
        ],
        "origins": _list_origins(path),
    }


def _list_values(values: NDArray[np.float64]) -> list[float | str]:
    """Heuristic values with few digits; infinite ones as text, which a theory's file has, too."""
    return [str(v) if math.isinf(v) else float(f"{v:.6g}") for v in values.tolist()]


def _list_origins(path: TheoryPath) -> dict[int, dict[str, Any]]:
    """Rule → who made it, when and why, for the rules that were not learned."""
    found = {r: path.provenance(r) for r in range(len(path.coded))}
    return {r: vars(origin) for r, origin in found.items() if origin.describe()}


def _compact(f: int, features: Sequence[Feature], condition: Condition) -> list[Any]:
    """[feature, low, high], [feature, low, high, 1] if high is included, or [feature, [codes]]."""
    if condition.categories is not None:
        known = features[f].categories or ()
        return [f, [known.index(text) for text in condition.categories]]
    bounds = [shorten_number(bound) for bound in (condition.low, condition.high)]
    return [f, *bounds, 1] if condition.includes_high else [f, *bounds]


def shorten_number(value: float) -> float | int | None:
    """None if a number is infinite, an integer if possible."""
    return None if math.isinf(value) else int(value) if float(value).is_integer() else value
