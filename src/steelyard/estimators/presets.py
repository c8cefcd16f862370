"""Presets: names for settings that go together, and which decoders they use. Knows no data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product, starmap
from typing import Any

import numpy as np

from steelyard.heuristics import M_GRID, MEstimate
from steelyard.learning.settings import ForestSettings
from steelyard.learning.targets import Output
from steelyard.model.decoders import (
    DECODERS,
    BestF1,
    BestLabelSet,
    Decoder,
    EachLabel,
    LabelSetVotes,
    default_decoder,
    get_decoder,
)
from steelyard.model.tables import NominalColumn, table_to_columns
from steelyard.model.thresholding import PHI_GRID

from .validation import as_list

# "auto" is "short" for sparse tables, such as text, and "paper" for others. On four sparse data sets
# "short" has F1 57.2 (paper: 54.7) and 3.5 conditions per rule (paper: 46); on dense ones neither is
# clearly better. docs/methods.md has the numbers.
DEFAULT_PRESET = "auto"

# Few conditions per rule: many attributes are considered for each condition, trees are of medium depth,
# and conditions that do not improve a rule outside its bag are pruned.
_SHORT = ForestSettings(30_000, max_depths=(2, 4, 6, 8, 10), max_features=0.3, prune="oob")

# The values of the parameters that a user leaves at None; "paper" is the method of the paper.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": asdict(ForestSettings()) | {"decode": [EachLabel()]},
    "short": asdict(_SHORT) | {"decode": [BestLabelSet()]},
}

# What the tuning of a preset chooses from. The paper tunes over the values of m up to 4096.
_HEURISTICS = [MEstimate(m) for m in M_GRID if m <= 4096]
_PAPER_GRID = {"heuristics": _HEURISTICS, "phis": PHI_GRID, "tolerance": 0.0, "smooth": False}
# Prefer the smaller of two theories that the folds cannot tell apart.
_SPARSE_GRID = _PAPER_GRID | {
    "decode": [EachLabel(), *starmap(BestLabelSet, product((0.0, 0.5, 2.0), (0.1, 1.0)))],
    "tolerance": 0.5,
}
_SHORT_GRID = _SPARSE_GRID | {
    "tolerance": 0.25,
    # The best of many cells is best by luck, too; luck does not extend to the cells around it.
    "smooth": True,
    # Few candidates leave less to overfit where labels are frequent and noisy; Ripper takes a fraction
    # of the time of the forests.
    "source": ["forest", "ripper"],
}
TUNED_PRESETS: dict[str, dict[str, Any]] = {
    "paper": PRESETS["paper"] | _PAPER_GRID,
    "short": PRESETS["short"] | _SHORT_GRID,
}
# Smooth scores and Ripper's rules were chosen on dense tables with noisy labels. Sparse ones had no part
# in it, so their tuning stays what it was.
_SPARSE_PRESETS = TUNED_PRESETS | {"short": PRESETS["short"] | _SPARSE_GRID}

# How boosted rules are decoded, and what their tuning chooses from. A larger grid, over m or the weight
# of a set's frequency, increases selection bias.
BOOSTED_DECODERS: list[Decoder] = [BestLabelSet()]
TUNED_BOOSTED_DECODERS: list[Decoder] = [
    *(EachLabel(p) for p in (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1)),
    BestLabelSet(),
    BestLabelSet(new_sets=False),
    *(LabelSetVotes(share) for share in (0.5, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15)),
]
# For example-based F1. No other measure chose it on the data sets that settings are chosen on, and with
# hundreds of labels it takes seconds.
TUNED_F1_DECODERS: list[Decoder] = [BestF1()]


def choose_preset(preset: str, X: Any = None) -> str:
    """The preset itself; "auto" is "short" for a sparse table, else "paper"."""
    if preset != "auto":
        return preset
    return "short" if X is not None and is_sparse(X) else "paper"


def is_sparse(X: Any) -> bool:
    """Whether most columns have one value, 0 if they are numeric, in at least 5 of 6 rows.

    The texts of langlog have 0 in 86 % of the rows of a word; of the paper's dense data sets flags comes
    closest, with 75 %.
    """
    n_rows, n_columns = X.shape
    n_sparse = 0
    for column in table_to_columns(X):
        if isinstance(column, NominalColumn):
            known = column.codes[column.codes >= 0]
            n_other = n_rows - np.bincount(known, minlength=1).max()
        else:
            n_other = np.count_nonzero(column.values)
        n_sparse += n_other <= n_rows / 6
    return bool(n_sparse > n_columns / 2)


def find_tuned_presets(X: Any = None) -> dict[str, dict[str, Any]]:
    """What the tuning of each preset chooses from for a table."""
    return _SPARSE_PRESETS if X is not None and is_sparse(X) else TUNED_PRESETS


def apply_preset(
    given: Mapping[str, Any], X: Any = None, presets: Mapping[str, Mapping[str, Any]] = PRESETS
) -> dict[str, Any]:
    """The given parameters, with the preset's values for those that are None.

    The preset becomes the one that is chosen for the table `X`.

    Examples
    --------
    >>> apply_preset({"preset": "short", "max_features": None, "prune": False, "target": "present"})
    {'preset': 'short', 'max_features': 0.3, 'prune': False, 'target': 'present'}
    """
    preset = choose_preset(given["preset"], X)
    if not isinstance(preset, str) or preset not in presets:
        known = ", ".join(map(repr, ["auto", *presets]))
        raise ValueError(f"preset must be one of {known}, got {preset!r}")
    values = presets[preset]
    filled = {k: values.get(k) if value is None else value for k, value in given.items()}
    return filled | {"preset": preset}


def check_decoder(decode: Any) -> None:
    """Reject what is neither None nor a decoder."""
    if decode is not None:
        get_decoder(decode)


def choose_decoders(decode: Any, default: Sequence[Decoder], output: Output) -> Sequence[Decoder]:
    """The given decoders or, if there are none, those of the default that the target allows.

    Several labels allow all but the best label; two classes allow each label by itself; more classes
    allow the best label only.

    Examples
    --------
    >>> choose_decoders(None, [BestLabelSet(), EachLabel(0.3)], "binary")
    [EachLabel(threshold=0.3)]
    """
    decoders = default if decode is None else list(map(get_decoder, as_list(decode)))
    allowed = [decoder for decoder in decoders if _is_allowed(decoder, output)]
    if decode is None:
        return allowed or [default_decoder(output == "multiclass")]
    for decoder in decoders:
        if decoder not in allowed:
            known = [name for name, kind in DECODERS.items() if _is_allowed(kind(), output)]
            raise ValueError(
                f"decode={decoder.name!r} does not apply to a {output} target; use "
                f"{' or '.join(map(repr, known))}"
            )
    return allowed


def _is_allowed(decoder: Decoder, output: Output) -> bool:
    if output == "multilabel":
        return not decoder.is_single_label
    return decoder.is_single_label if output == "multiclass" else decoder.is_independent
