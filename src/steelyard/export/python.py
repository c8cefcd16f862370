"""Theory → the source of a Python function that needs nothing but Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard._text import format_count
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BEST_WEIGHT, SHARES
from steelyard.model.features import BOOLEAN_WORDS
from steelyard.model.formulas import (
    Above,
    Answer,
    Choice,
    Formula,
    LabelSetSearch,
    Largest,
    Sum,
)
from steelyard.model.log_odds import POINTS_PER_LOG_ODD
from steelyard.model.rules import ScoredRule
from steelyard.model.theory import Theory

_HELPERS = '''\
def _number(value):
    """A number; missing (None, NaN) is NaN, which is neither above nor below anything."""
    try:
        return float(value)
    except TypeError:
        return float("nan")


def _text(value):
    """The text of a category, the same for 4, 4.0 and "4"; missing (None, NaN) is None."""
    if hasattr(value, "item"):
        value = value.item()
    try:
        if value is None or value != value:
            return None
    except TypeError:  # the NA of pandas is neither equal nor different
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


'''


def to_python(theory: Theory) -> str:
    """See `Theory.to_python`."""
    writer = _PythonWriter(theory)
    answers = theory.answers("python")
    answer = "maps labels to 0 or 1" if theory.is_multilabel else "is its class"
    lines = [
        '    """Predict with '
        f"{format_count(len(theory), 'rule')} and {format_count(theory.n_conditions, 'condition')}.",
        "",
        f"    A row maps attributes to values; the answer {answer}.",
        '    """',
        *writer.body_lines(answers, theory.is_multilabel),
    ]
    return "\n".join([*writer.head_lines(answers), "def predict(row):", *lines]) + "\n"


class _PythonWriter:
    """Writes the answers of one theory as lines of Python."""

    def __init__(self, theory: Theory) -> None:
        self.booleans = {f.name for f in theory.features if f.is_boolean}

    # -- conditions ------------------------------------------------------------------------------

    def test(self, scored: ScoredRule) -> str:
        """An expression that is true where the rule fires."""
        return " and ".join(map(self._condition, scored.body)) or "True"

    def _condition(self, condition: Condition) -> str:
        if condition.categories is not None:
            return self._is_one_of(condition.feature, condition.categories)
        value = f"_number(row[{condition.feature!r}])"
        upper = f" {'<=' if condition.includes_high else '<'} {condition.high!r}"
        if condition.high == math.inf:
            return f"{value} >= {condition.low!r}"
        if condition.low == -math.inf:
            return f"{value}{upper}"
        return f"{condition.low!r} <= {value}{upper}"

    def _is_one_of(self, feature: str, categories: Sequence[str]) -> str:
        text = f"_text(row[{feature!r}])"
        if feature in self.booleans:
            words = tuple(word for text in categories for word in BOOLEAN_WORDS[text])
            return f"str({text}).lower() in {words!r}"
        if len(categories) == 1:
            return f"{text} == {categories[0]!r}"
        return f"{text} in {tuple(categories)!r}"

    # -- answers ---------------------------------------------------------------------------------

    def head_lines(self, answers: Sequence[Answer]) -> list[str]:
        """What stands above the function."""
        search = answers[0]
        if not isinstance(search, LabelSetSearch):
            return [_HELPERS]
        imports = ["import math", "", ""] if search.min_share is not None else []
        named = [(tuple(search.names[j] for j in labels), points) for labels, points in search.sets]
        return [
            *imports,
            _HELPERS,
            "# Label sets of the training examples, and the points that their frequency is worth.",
            "_LABEL_SETS = [",
            *(f"    ({labels!r}, {points})," for labels, points in named),
            "]",
            "",
            "",
        ]

    def body_lines(self, answers: Sequence[Answer], is_multilabel: bool) -> Iterator[str]:
        """The body of the function."""
        first = answers[0]
        if isinstance(first, LabelSetSearch):
            yield from self._score_lines(first.names, first.scores)
            yield from _best_set_lines(first) if first.min_share is None else _vote_lines(first)
            yield "    return {label: int(label in present) for label in points}"
        elif isinstance(first, Largest):
            yield from self._score_lines(first.outcomes, first.scores)
            yield "    return max(points, key=points.get)"
        elif is_multilabel:
            yield "    labels = {}"
            for answer in answers:
                yield from self._label_lines(answer)
            yield "    return labels"
        elif isinstance(first, Choice):
            for scored, outcome in first.value.cases:
                yield f"    if {self.test(scored)}:{_comment(scored)}"
                yield f"        return {outcome!r}"
            yield f"    return {first.value.default!r}"
        else:
            yield from self._score_lines([first.name], [first.score])
            absent, present = first.outcomes
            yield f"    return {present!r} if points[{first.name!r}] > {first.cut} else {absent!r}"

    def _label_lines(self, answer: Any) -> Iterator[str]:
        """One label of several."""
        assign = f"labels[{answer.name!r}] ="
        if isinstance(answer, Above):
            yield from self._score_lines([answer.name], [answer.score])
            yield f"    {assign} int(points[{answer.name!r}] > {answer.cut})"
            return
        yield f"    {assign} {answer.value.default}"
        for scored, outcome in reversed(answer.value.cases):  # the first hit comes last
            yield f"    if {self.test(scored)}:{_comment(scored)}"
            yield f"        {assign} {outcome}"

    def _score_lines(self, keys: Sequence[Any], scores: Sequence[Formula]) -> Iterator[str]:
        """Points of several labels; one statement per rule, since Python limits nesting."""
        yield "    points = {  # hundredths of log-odds"
        for key, score in zip(keys, scores, strict=True):
            yield f"        {key!r}: {score.start if isinstance(score, Sum) else score.default},"
        yield "    }"
        for key, score in zip(keys, scores, strict=True):
            # The first hit comes last and so replaces the others.
            is_sum = isinstance(score, Sum)
            for scored, value in score.cases if is_sum else reversed(score.cases):
                yield f"    if {self.test(scored)}:{_comment(scored)}"
                yield f"        points[{key!r}] {'+=' if is_sum else '='} {value}"


def _comment(scored: ScoredRule) -> str:
    return f"  # TP {scored.tp}, FP {scored.fp}"


def _best_set_lines(search: LabelSetSearch) -> Iterator[str]:
    """The set that fits best is present; a new one has to fit better than every known one."""
    yield ""
    yield "    def fit(known):"
    yield "        return sum(points[label] for label in known[0]) + known[1]"
    yield ""
    yield "    best = max(_LABEL_SETS, key=fit)"
    if search.unseen_points is None:
        yield "    present = set(best[0])"
        return
    yield "    present = {label for label in points if points[label] > 0}"
    yield "    # A new set has to fit better than every known one."
    yield f"    if fit((present, {search.unseen_points})) <= fit(best):"
    yield "        present = set(best[0])"


def _vote_lines(search: LabelSetSearch) -> Iterator[str]:
    """All sets vote; the labels with enough of the votes are present."""
    yield "    sets = list(_LABEL_SETS)"
    if search.unseen_points is not None:
        yield "    # The labels with positive points, as a new set."
        yield "    positive = [label for label in points if points[label] > 0]"
        yield f"    sets.append((positive, {search.unseen_points}))"
    yield "    scores = [sum(points[label] for label in known) + more for known, more in sets]"
    yield "    best = max(scores)"
    yield "    votes = dict.fromkeys(points, 0)"
    yield "    n_votes = 0"
    yield "    for (known, _), score in zip(sets, scores):"
    yield f"        weight = round({BEST_WEIGHT} * math.exp((score - best) / {POINTS_PER_LOG_ODD}))"
    yield "        n_votes += weight"
    yield "        for label in known:"
    yield "            votes[label] += weight"
    yield f"    needed = {search.min_share} * n_votes"
    yield f"    present = {{label for label in votes if {SHARES} * votes[label] > needed}}"
