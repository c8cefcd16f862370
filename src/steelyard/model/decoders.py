"""Decoders by name. Each class owns all that is special about it: see `label_decoders` and
`label_set_decoders`.

To add one, write a class there or in a file of its own, and list it in `DECODERS`.
"""

from __future__ import annotations

from typing import Any

from .combiner import read_settings
from .decoder import Decoded, Decoder
from .label_decoders import BestLabel, EachLabel
from .label_set_decoders import BestF1, BestLabelSet, LabelSetVotes
from .label_sets import KnownLabelSets

__all__ = [
    "DECODERS",
    "BestF1",
    "BestLabel",
    "BestLabelSet",
    "Decoded",
    "Decoder",
    "EachLabel",
    "LabelSetVotes",
]

DECODERS: dict[str, type[Decoder]] = {
    decoder.name: decoder for decoder in (EachLabel, BestLabel, BestLabelSet, LabelSetVotes, BestF1)
}


def default_decoder(is_multiclass: bool) -> Decoder:
    """The best label if exactly one of several classes is right, else each label by itself."""
    return BestLabel() if is_multiclass else EachLabel()


def get_decoder(decode: str | Decoder) -> Decoder:
    """A decoder itself or by its name.

    Examples
    --------
    >>> get_decoder("best-label-set")
    BestLabelSet(frequency_weight=0.5, silence=1.0, known=None, new_sets=True)
    """
    if isinstance(decode, Decoder):
        return decode
    if not isinstance(decode, str) or decode not in DECODERS:
        known = ", ".join(map(repr, DECODERS))
        raise ValueError(f"decode must be a decoder or one of {known}, got {decode!r}")
    return DECODERS[decode]()


def decoder_from_plain(data: Any, known: KnownLabelSets | None) -> Decoder:
    """The decoder that `Decoder.to_plain` wrote, with its label sets."""
    settings = read_settings(data, DECODERS, "decoder")
    kind = DECODERS[data["name"]]
    if kind.needs_label_sets == (known is None):
        verb = "needs" if known is None else "has no"
        raise ValueError(f"the decoder {kind.name} {verb} label sets")
    return kind(**settings).fit(known)
