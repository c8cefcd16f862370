"""What an attack tried and what it saw, and the table of all attacks. Knows no attack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_MOST_DEFECTS = 20


@dataclass(frozen=True)
class Setting:
    """How long and how often to attack.

    `seconds` of computing are spent on each reader that is fuzzed, in `n_jobs` processes; `n_rounds` is
    how often the slow attacks repeat; `pythons` are more interpreters in which Steelyard is installed.
    """

    folder: Path
    seconds: float
    n_rounds: int
    seed: int = 0
    pythons: tuple[str, ...] = ()
    n_jobs: int = 1


@dataclass
class Outcome:
    """One row of the table."""

    what: str
    n_tried: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)

    def see(self, what: str) -> None:
        """Count one try and what came of it."""
        self.n_tried += 1
        self.seen[what] += 1

    def fail(self, what: str) -> None:
        """Count one try that showed a defect."""
        self.see("DEFECT")
        if len(self.defects) < _MOST_DEFECTS:
            self.defects.append(what)

    def describe(self) -> str:
        """What was seen, the most frequent first."""
        counts = [f"{n:,} × {what}" for what, n in self.seen.most_common()]
        return "; ".join([*counts, *self.notes])


def to_table(outcomes: Iterable[Outcome]) -> str:
    """All outcomes as a table of Markdown."""
    lines = ["| what was tried | how often | what was seen |", "|---|---:|---|"]
    for outcome in outcomes:
        seen = outcome.describe().replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {outcome.what} | {outcome.n_tried:,} | {seen} |")
    return "\n".join(lines) + "\n"
