"""Evidence: what examples say about a rule or a label, and where both come from. Knows counts only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from steelyard._numbers import is_integer, is_number
from steelyard._text import as_text

from .judgement import Judgement


def smoothed_precision(tp: Any, fp: Any) -> Any:
    """(TP + 1)/(TP + FP + 2): precision that trusts small counts less.

    Examples
    --------
    >>> smoothed_precision(9, 1), smoothed_precision(0, 0)
    (0.8333333333333334, 0.5)
    """
    return (tp + 1) / (tp + fp + 2)


#: Who can have made a rule, and what evidence can be from.
SOURCES = ("learned", "edited", "given", "imported")
KINDS = ("training", "recount", "stale", "unknown")

# Tables have fewer rows, which kernels number with 32 bits.
_MOST = 2**31 - 1


def _check_counts(what: str, **counts: Any) -> None:
    for name, value in counts.items():
        if not is_integer(value, least=0, most=_MOST):
            raise ValueError(f"{name} of {what} must be a non-negative integer, got {value!r}")


def check_class(target_class: Any, what: str) -> None:
    """Reject a target class that is neither presence (1) nor absence (0)."""
    if not is_integer(target_class, 0, 1):
        raise ValueError(f"target_class of {what} must be 0 or 1, got {target_class!r}")


@dataclass(frozen=True)
class Evidence:
    """How many examples a rule covers: rightly (TP) and wrongly (FP).

    Parameters
    ----------
    tp, fp : int
    only : int, optional
        How many of these examples no other rule of the label covers; None if it is not known.

    Examples
    --------
    >>> from steelyard import Evidence
    >>> Evidence(tp=9, fp=1).precision
    0.9
    """

    tp: int
    fp: int
    only: int | None = None

    def __post_init__(self) -> None:
        _check_counts("the evidence", tp=self.tp, fp=self.fp)
        if self.only is not None and not is_integer(self.only, 0, self.covered):
            raise ValueError(
                f"only of the evidence must be an integer from 0 to {self.covered}, got {self.only!r}"
            )

    @property
    def covered(self) -> int:
        """TP + FP."""
        return self.tp + self.fp

    @property
    def precision(self) -> float:
        """TP/(TP + FP), 0 if the rule covers nothing."""
        return self.tp / max(self.covered, 1)

    def describe(self) -> str:
        """The counts in words.

        Examples
        --------
        >>> Evidence(tp=42, fp=29).describe()
        '42 of 71 right'
        """
        return f"{self.tp} of {self.covered} right"

    @property
    def smoothed_precision(self) -> float:
        """(TP + 1)/(TP + FP + 2)."""
        return float(smoothed_precision(self.tp, self.fp))


@dataclass(frozen=True)
class Provenance:
    """Who or what made a rule.

    Parameters
    ----------
    source : {"learned", "edited", "given", "imported"}, default="learned"
        A rule is edited if it replaces another one, given if it was added, and imported if another
        program learned it, which the note names.
    when : str, optional
        The ISO date of the edit or the import.
    note : str, default=""

    Examples
    --------
    >>> from steelyard import Provenance
    >>> Provenance("given", "2026-03-01", "as every nurse knows").describe()
    'given 2026-03-01: as every nurse knows'
    """

    source: str = "learned"
    when: str | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueError(
                f"the source of a rule must be one of {', '.join(SOURCES)}, got {self.source!r}"
            )
        object.__setattr__(self, "note", as_text(self.note, "the note of a rule"))
        if self.when is not None:
            check_date(self.when)

    @property
    def is_learned(self) -> bool:
        """Whether a learner of this library made the rule, so that it has a heuristic value."""
        return self.source == "learned"

    def describe(self) -> str:
        """Source, date and note; empty if it was learned and there is no note."""
        if self == Provenance():
            return ""
        head = " ".join(filter(None, [self.source, self.when]))
        return f"{head}: {self.note}" if self.note else head


def check_date(when: Any) -> None:
    """Reject what is not an ISO date."""
    try:
        date.fromisoformat(when)
    except (TypeError, ValueError):
        raise ValueError(
            f"the date of a rule must be written as 2026-03-01, got {when!r}"
        ) from None


@dataclass(frozen=True)
class EvidenceFrom:
    """What the evidence of a theory stands for.

    Parameters
    ----------
    kind : {"training", "recount", "stale", "unknown"}, default="training"
        Counts on the training examples, on the examples of a recount, from before an edit, or none at
        all, as for rules of another program.
    judgement : Judgement, optional
        What the predictions of the theory are worth on the examples of a recount.

    Examples
    --------
    >>> from steelyard import EvidenceFrom
    >>> print(EvidenceFrom())
    The evidence is from the training examples.
    >>> print(EvidenceFrom("stale"))
    The evidence is from before the edit: recount(X, Y) renews it.
    """

    kind: str = "training"
    judgement: Judgement | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(
                f"the kind of evidence must be one of {', '.join(KINDS)}, got {self.kind!r}"
            )
        if (self.kind == "recount") != isinstance(self.judgement, Judgement):
            raise ValueError("evidence has a judgement if it is from a recount, and only then")

    @property
    def n_rows(self) -> int | None:
        """The number of examples of a recount."""
        return None if self.judgement is None else self.judgement.n_rows

    @property
    def is_complete(self) -> bool:
        """Whether every rule has counts."""
        return self.kind in ("training", "recount")

    @property
    def examples(self) -> str:
        """What the examples are called."""
        names = {"training": "training examples", "recount": "recounted examples"}
        return names.get(self.kind, "examples before the edit")

    def __str__(self) -> str:
        if self.kind == "recount":
            return f"The evidence is from a recount on {self.n_rows} examples."
        if self.kind == "stale":
            return "The evidence is from before the edit: recount(X, Y) renews it."
        if self.kind == "unknown":
            return "The rules are not counted: recount(X, Y) counts them."
        return "The evidence is from the training examples."


@dataclass(frozen=True)
class Label:
    """A label with its target class and its counts in the training set.

    Parameters
    ----------
    name : str
    target_class : {0, 1}, default=1
        What the rules of the label predict. Without a firing rule it gets its `default`.
    n_positives, n_negatives : int, default=0
        Training examples with and without the target class.
    uncovered_positives, uncovered_negatives : int, default=0
        Those of them that no rule of the theory covers; None if this is not known since an edit.
    silent : float, optional
        The score of the target class where no rule fires, if it is not that of these counts. So new
        counts do not change what a theory predicts.

    Examples
    --------
    >>> from steelyard import Label
    >>> Label("flu", 1, n_positives=10, n_negatives=30).default
    0
    """

    name: str
    target_class: int = 1
    n_positives: int = 0
    n_negatives: int = 0
    uncovered_positives: int | None = 0
    uncovered_negatives: int | None = 0
    silent: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", as_text(self.name, "the name of a label"))
        check_class(self.target_class, f"the label {self.name!r}")
        what = f"the label {self.name!r}"
        _check_counts(what, n_positives=self.n_positives, n_negatives=self.n_negatives)
        if self.is_counted:
            for name in ("uncovered_positives", "uncovered_negatives"):
                _check_counts(what, **{name: getattr(self, name)})
        if self.silent is not None and not (is_number(self.silent) and -1 <= self.silent <= 0):
            raise ValueError(f"silent of {what} must be a number from -1 to 0, got {self.silent!r}")

    @property
    def is_counted(self) -> bool:
        """Whether it is known how many examples no rule covers."""
        return self.uncovered_positives is not None or self.uncovered_negatives is not None

    @property
    def default(self) -> int:
        """The class that the label gets where no rule fires: the one that is not the target class."""
        return 1 - self.target_class

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return self.n_positives + self.n_negatives

    def count(self, target_class: int) -> int:
        """Number of training examples with a class, 0 or 1."""
        return self.n_positives if target_class == self.target_class else self.n_negatives

    @property
    def prior(self) -> float:
        """Share of the training examples with the target class."""
        return self.n_positives / max(self.n_examples, 1)

    @property
    def silent_score(self) -> float:
        """Score of the target class where no rule fires: between -1 and 0."""
        if self.silent is not None:
            return self.silent
        counts = self.uncovered_positives or 0, self.uncovered_negatives or 0
        return float(smoothed_precision(*counts) - 1)

    def __str__(self) -> str:
        return self.name if self.target_class else f"¬{self.name}"
