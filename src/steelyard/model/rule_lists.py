"""Rule lists: the rules of a theory as text for an editor, and the theory that the edited text makes.

One rule per line. A number says which rule the line stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from steelyard._text import format_count

from .editing import add_rule, check_rule, drop_rules, replace_rule
from .rules import Rule, ScoredRule
from .theory import Theory

_NUMBERED = re.compile(r"\s*(\d+)\s*:\s*")

_HELP = """\
# One rule per line. Change a line to change its rule, delete a line to drop its rule, and write a new
# line without a number to add a rule, such as: {example}
# Names that contain signs or the words and, in, not stand in double quotes. You can also write <- for ←,
# and for ∧, <= for ≤ and >= for ≥. Lines that start with # are ignored.
"""


class Line(NamedTuple):
    """What a line says: the number of a rule, if it has one, a rule and its weight in points."""

    place: int
    number: int | None
    rule: Rule
    vote: int | None

    @property
    def points(self) -> int | None:
        """The vote for the head of the rule."""
        sign = 1 if self.rule.head.target_class else -1
        return None if self.vote is None else sign * self.vote


def write_rules(theory: Theory) -> str:
    """The rules of a theory as text for an editor."""
    return "".join(f"{line}\n" for line in _write_lines(theory))


def _write_lines(theory: Theory) -> Iterator[str]:
    example = str(theory.rules[0].rule) if len(theory) else f"{theory.labels[0]} ← ..."
    yield (_HELP.format(example=example) + theory.combiner.points_help).rstrip()
    number = 0
    for j, label in enumerate(theory.labels):
        yield ""
        yield f"# {' '.join(theory.describe_label(j).split())}"
        for scored in theory.rules_of(label.name):
            number += 1
            yield f"{number}: {theory.combiner.write_points(scored)}{scored.rule}"


def read_lines(theory: Theory, text: str) -> list[Line]:
    """The rules that a text lists; an error names the line."""
    lines = []
    for place, content in enumerate(text.splitlines(), start=1):
        if content.strip() and not content.lstrip().startswith("#"):
            try:
                lines.append(_read_line(theory, place, content))
            except ValueError as error:
                raise ValueError(f"line {place}: {error}") from None
    seen: dict[int, int] = {}
    for line in lines:
        if line.number in seen:
            raise ValueError(
                f"line {line.place}: rule {line.number} stands in line {seen[line.number]} already; "
                "a new rule needs no number"
            )
        if line.number is not None:
            seen[line.number] = line.place
    return lines


def _read_line(theory: Theory, place: int, content: str) -> Line:
    number = None
    numbered = _NUMBERED.match(content)
    if numbered:
        number, content = int(numbered[1]), content[numbered.end() :]
        if not 1 <= number <= len(theory):
            raise ValueError(
                f"the theory has {format_count(len(theory), 'rule')}, but this line has the number "
                f"{number}; a new rule needs no number"
            )
    vote, content = theory.combiner.read_points(content)
    rule = Rule.parse(content.strip(), theory.features)
    check_rule(theory, rule)
    return Line(place, number, rule, vote)


def apply_text(
    theory: Theory, text: str, *, X: Any = None, Y: Any = None, note: str = ""
) -> Theory:
    """The theory that an edited text describes; the same theory if nothing changed.

    Given examples, votes of rules without a weight are fitted on them, and the new theory is recounted.

    Examples
    --------
    >>> from steelyard import Evidence, Feature, Label
    >>> theory = Theory(
    ...     (Feature("fever"),),
    ...     (Label("flu", 1, 10, 30, 1, 28),),
    ...     (ScoredRule(Rule.parse("flu ← fever ≥ 38.5"), Evidence(9, 2), 0.8),),
    ... )
    >>> print(*(scored.rule for scored in apply_text(theory, "1: flu ← fever ≥ 38")))
    flu ← fever ≥ 38
    """
    lines = _find_unnumbered(theory, read_lines(theory, text))
    options = {"X": X, "Y": Y, "note": note}
    kept = {line.number - 1 for line in lines if line.number is not None}
    dropped = [scored for i, scored in enumerate(theory) if i not in kept]
    made = drop_rules(theory, *dropped, note=note) if dropped else theory
    for line in lines:
        try:
            if line.number is None:
                made = add_rule(made, line.rule, points=line.points, **options)
            elif _is_changed(theory.rules[line.number - 1], line):
                made = _replace(made, theory.rules[line.number - 1], line, options)
        except ValueError as error:
            raise ValueError(f"line {line.place}: {error}") from None
    if made is theory or X is None:
        return made
    return made.recount(X, Y)


def _find_unnumbered(theory: Theory, lines: list[Line]) -> list[Line]:
    """Lines without a number that are rules of the theory stand for them."""
    numbers = {scored.rule: i for i, scored in enumerate(theory, start=1)}
    taken = {line.number for line in lines}
    found = []
    for line in lines:
        known = numbers.get(line.rule)
        if line.number is None and known is not None and known not in taken:
            taken.add(known)
            line = line._replace(number=known)
        found.append(line)
    return found


def _is_changed(scored: ScoredRule, line: Line) -> bool:
    return scored.rule != line.rule or (line.vote is not None and line.vote != scored.vote)


def _replace(made: Theory, old: ScoredRule, line: Line, options: dict[str, Any]) -> Theory:
    """Replace a rule; after a recount it has other evidence, so it is looked up without."""
    return replace_rule(made, old.rule, line.rule, points=line.points, **options)
