"""Presets: names for settings that go together, and which decoders they use. Knows no data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from steelyard.heuristics import M_GRID, MEstimate
from steelyard.learning.settings import ForestSettings
from steelyard.model.decoding import Decoding, EachLabel, LabelSets, get_decoding
from steelyard.model.theory import Output
from steelyard.model.thresholding import PHI_GRID

DEFAULT_PRESET = "paper"

# The values of the parameters that a user leaves at None.
PRESETS: dict[str, dict[str, Any]] = {
    # The method of the paper.
    "paper": asdict(ForestSettings()) | {"decode": [EachLabel()]},
    # Few conditions per rule: many attributes are considered for each condition, trees are of medium
    # depth, and conditions that do not improve a rule outside its bag are pruned.
    "short": asdict(
        ForestSettings(
            n_candidates=30_000, max_depths=(2, 4, 6, 8, 10), max_features=0.3, prune="oob"
        )
    )
    | {"decode": [LabelSets()]},
}

# What the tuning of a preset chooses from. The paper tunes over the values of m up to 4096.
_PAPER_GRID = {
    "heuristics": [MEstimate(m) for m in M_GRID if m <= 4096],
    "phis": PHI_GRID,
    "tolerance": 0.0,
}
TUNED_PRESETS: dict[str, dict[str, Any]] = {
    "paper": PRESETS["paper"] | _PAPER_GRID,
    "short": PRESETS["short"]
    | _PAPER_GRID
    | {
        "decode": [
            EachLabel(),
            *(LabelSets(weight, silence) for weight in (0.0, 0.5, 2.0) for silence in (0.1, 1.0)),
        ],
        # Prefer the smaller of two theories that the folds cannot tell apart.
        "tolerance": 0.5,
    },
}

# How boosted rules are decoded, and what their tuning chooses from. A larger grid, over m or the weight
# of a set's frequency, increases selection bias.
BOOSTED_DECODERS: list[Decoding] = [LabelSets()]
TUNED_BOOSTED_DECODERS: list[Decoding] = [
    *(EachLabel(p) for p in (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2)),
    *(LabelSets(min_share=share) for share in (None, 0.5, 0.4, 0.35, 0.3, 0.25)),
]


def apply_preset(
    preset: str, given: Mapping[str, Any], presets: Mapping[str, Mapping[str, Any]] = PRESETS
) -> dict[str, Any]:
    """The given parameters, with the preset's values for those that are None.

    Examples
    --------
    >>> apply_preset("short", {"max_features": None, "prune": False, "target": "present"})
    {'max_features': 0.3, 'prune': False, 'target': 'present'}
    """
    if not isinstance(preset, str) or preset not in presets:
        known = ", ".join(map(repr, presets))
        raise ValueError(f"preset must be one of {known}, got {preset!r}")
    values = presets[preset]
    return {k: values.get(k) if value is None else value for k, value in given.items()}


def choose_decoders(
    given: Sequence[Any] | None, default: Sequence[Decoding], output: Output
) -> Sequence[Decoding]:
    """The given decoders or, if there are none, those of the default that the target allows.

    Label sets need several labels. They are rejected for a one-dimensional y if a user asks for them.

    Examples
    --------
    >>> choose_decoders(None, [LabelSets(), EachLabel(0.3)], "multiclass")
    [EachLabel(min_probability=0.3)]
    """
    decoders = default if given is None else [get_decoding(decode) for decode in given]
    if output == "multilabel":
        return decoders
    allowed = [decoder for decoder in decoders if isinstance(decoder, EachLabel)]
    if given is not None and len(allowed) < len(decoders):
        raise ValueError("label sets are for multi-label targets; this y has one class per row")
    return allowed or [EachLabel()]
