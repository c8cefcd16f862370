"""Presets: names for settings that go together, chosen by what was measured. Knows no data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.model.decoding import EachLabel, LabelSets

# What a single theory is learned with. Parameters of the estimators that stand here follow the preset
# as long as they are left at their default or are "auto".
PRESETS: dict[str, dict[str, Any]] = {
    # The method of the paper, to the letter.
    "paper": {"prune": None, "combine": "any", "decode": "any"},
    # A few conditions a rule: a large share of the attributes is looked at for each of them, trees are
    # not too deep, and what does not pay outside the bag goes.
    "short": {
        "prune": "oob",
        "combine": "any",
        "decode": "label-sets",
        "max_depths": (2, 4, 6, 8, 10),
        "max_features": 0.3,
        "n_candidates": 30_000,
    },
    # Short rules that vote.
    "accurate": {
        "prune": None,
        "combine": "weighted",
        "decode": "label-sets",
        "max_depths": (4,),
        "max_features": 0.2,
        "sample_fraction": 0.5,
    },
}

# What the tuning chooses from instead of a preset's one value.
TUNED_CHOICES: dict[str, dict[str, Any]] = {
    "paper": {},
    "short": {
        "decode": [
            EachLabel(),
            *(LabelSets(weight, silence) for weight in (0.0, 0.5, 2.0) for silence in (0.1, 1.0)),
        ],
        # Of theories that the folds cannot tell apart, the smaller.
        "tolerance": 0.5,
    },
    # Few cells: with more of them, of m, φ or the weight of a set's frequency, luck chooses more often.
    "accurate": {
        "decode": [
            *(EachLabel(p) for p in (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2)),
            *(LabelSets(min_share=share) for share in (None, 0.5, 0.4, 0.35, 0.3, 0.25)),
        ],
        "phis": [1.0],
    },
}


def apply_preset(
    preset: str, given: Mapping[str, Any], defaults: Mapping[str, Any], *, tuned: bool = False
) -> dict[str, Any]:
    """The parameters that hold: those given, and the preset's where they are left at their default.

    Examples
    --------
    >>> defaults = {"prune": "auto", "combine": "auto", "decode": "auto", "max_features": "log2"}
    >>> apply_preset("short", defaults | {"prune": "prefix"}, defaults)["prune"]
    'prefix'
    >>> apply_preset("short", defaults, defaults)["max_features"]
    0.3
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        known = ", ".join(map(repr, PRESETS))
        raise ValueError(f"preset must be one of {known}, got {preset!r}")
    says = PRESETS[preset] | (TUNED_CHOICES[preset] if tuned else {})
    return {
        name: says[name] if name in says and _is_same(value, defaults[name]) else value
        for name, value in given.items()
    }


def _is_same(value: Any, default: Any) -> bool:
    """Whether a parameter is its default; an array, which compares item by item, is not."""
    return type(value) is type(default) and bool(value == default)
