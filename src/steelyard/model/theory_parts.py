"""What a theory consists of, and what must hold of it however it was made. See `Theory`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steelyard._numbers import is_number
from steelyard._text import did_you_mean, find_repeated, shorten_repr

from .combiners import AnyRule, Combiner
from .decoders import Decoder, EachLabel
from .evidence import EvidenceFrom, Label
from .features import Feature
from .history import Edit
from .rules import ScoredRule


@dataclass(frozen=True)
class TheoryParts:
    """The parts of a theory, checked once, so that a theory that contradicts itself cannot exist."""

    features: tuple[Feature, ...]
    labels: tuple[Label, ...]
    rules: tuple[ScoredRule, ...]
    combiner: Combiner = AnyRule()  # noqa: RUF009, combiners are immutable
    decoder: Decoder = EachLabel()  # noqa: RUF009, decoders are immutable
    classes: tuple[Any, ...] = ()
    heuristic: str = ""
    phi: float = 1.0
    evidence_from: EvidenceFrom = EvidenceFrom()  # noqa: RUF009, it is immutable
    # Not compared: theories with the same rules are equal, however they came about.
    history: tuple[Edit, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in ("features", "labels", "rules", "classes", "history"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_types()
        self._check_names()
        self._check_rules()
        self._check_classes()
        self.combiner.check(self.labels, self.rules)
        self.decoder.check(self.labels, self.combiner)
        position = {label.name: j for j, label in enumerate(self.labels)}
        grouped = sorted(self.rules, key=lambda scored: position[scored.head.label])
        kinds = {feature.name: feature.reading for feature in self.features}
        object.__setattr__(self, "rules", tuple(scored.read_as(kinds) for scored in grouped))
        object.__setattr__(self, "history", tuple(edit.read_as(kinds) for edit in self.history))

    @property
    def is_multilabel(self) -> bool:
        """Whether it predicts several labels per example, not one class."""
        return not self.classes

    @property
    def plain_classes(self) -> list[Any]:
        """The classes as Python's own text and numbers."""
        return [value.item() if isinstance(value, np.generic) else value for value in self.classes]

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels, in the order of the training labels."""
        return tuple(label.name for label in self.labels)

    def _check_types(self) -> None:
        for items, kind in (
            (self.features, Feature),
            (self.labels, Label),
            ((self.combiner,), Combiner),
            ((self.decoder,), Decoder),
            ((self.evidence_from,), EvidenceFrom),
            (self.history, Edit),
        ):
            for item in items:
                if not isinstance(item, kind):
                    raise ValueError(f"a theory needs a {kind.__name__}, got {shorten_repr(item)}")

    def _check_names(self) -> None:
        if not isinstance(self.heuristic, str):
            raise ValueError(f"heuristic must be text, got {self.heuristic!r}")
        if not is_number(self.phi) or not 0 <= self.phi <= 1:
            raise ValueError(f"phi must be a number from 0 to 1, got {self.phi!r}")
        if not self.labels:
            raise ValueError("a theory needs at least one label")
        for what, names in (
            ("attributes", [feature.name for feature in self.features]),
            ("labels", list(self.label_names)),
        ):
            twice = find_repeated(names)
            if twice is not None:
                raise ValueError(f"two {what} have the same name {twice!r}")

    def _check_rules(self) -> None:
        features = {feature.name: feature for feature in self.features}
        labels = set(self.label_names)
        for i, scored in enumerate(self.rules, start=1):
            if not isinstance(scored, ScoredRule):
                raise ValueError(f"rule {i} must be a ScoredRule, got {shorten_repr(scored)}")
            label = scored.head.label
            if label not in labels:
                hint = did_you_mean(label, self.label_names)
                raise ValueError(f"rule {i} predicts an unknown label {label!r}{hint}")
            for condition in scored.body:
                name = condition.feature
                if name not in features:
                    hint = did_you_mean(name, features)
                    raise ValueError(f"rule {i} tests an unknown attribute {name!r}{hint}")
                try:
                    condition.check(features[name])
                except ValueError as error:
                    raise ValueError(f"rule {i}: {error}") from None
            if not scored.is_counted and self.evidence_from.is_complete:
                raise ValueError(f"rule {i} has no evidence, so that of the theory must be stale")

    def _check_classes(self) -> None:
        if self.combiner.is_single_label and not self.decoder.is_single_label:
            raise ValueError(
                f"the combiner {self.combiner.name} needs a decoder that predicts one class per "
                f"example, not {self.decoder.name}"
            )
        if not self.classes:
            if self.decoder.is_single_label:
                raise ValueError(f"the decoder {self.decoder.name} needs one class per label")
            return
        if self.decoder.needs_label_sets:
            raise ValueError(
                f"the decoder {self.decoder.name} predicts several labels, not classes"
            )
        expected = (len(self.labels),) * 2 if self.decoder.is_single_label else (2, 1)
        if (len(self.classes), len(self.labels)) != expected:
            raise ValueError(
                f"{len(self.classes)} classes for {len(self.labels)} labels with the decoder "
                f"{self.decoder.name}"
            )
        if self.decoder.is_single_label and len(set(self.classes)) < len(self.classes):
            raise ValueError(f"two classes are equal: {self.plain_classes}")
        if any(label.target_class != 1 for label in self.labels):
            raise ValueError("the rules of a theory of classes must predict presence, not absence")
