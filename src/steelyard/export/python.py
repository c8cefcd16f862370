"""Theory → the source of a Python function that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap
from numbers import Integral
from typing import Any, NamedTuple

from steelyard._text import format_count
from steelyard.model.formulas import Answer, Choice, Formula, LabelSetSearch, Largest, Sum
from steelyard.model.label_set_decoders import BEST_WEIGHT, SHARES
from steelyard.model.log_odds import POINTS_PER_LOG_ODD
from steelyard.model.moments import SECOND_KINDS
from steelyard.model.theory import Theory

from .rows import Seconds, list_tests

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


_SECONDS = '''\
def _seconds(value):
    """Seconds of a date (since 1970, in UTC), a time of day or a duration; missing is NaN."""
    kind = type(value).__name__
    if kind in ("datetime64", "timedelta64"):
        value = value.astype(kind + "[us]").item()
    if isinstance(value, str):
        is_time = value[2:3] == ":"
        value = dt.time.fromisoformat(value) if is_time else dt.datetime.fromisoformat(value)
    if _text(value) is None:
        return float("nan")
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(dt.timezone.utc).replace(tzinfo=None)
        value = value - dt.datetime(1970, 1, 1)
    elif isinstance(value, dt.date):
        value = value - dt.date(1970, 1, 1)
    elif isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date(1970, 1, 1), value) - dt.datetime(1970, 1, 1)
    return value // dt.timedelta(microseconds=1) / 1000000


def _day(value):
    """Seconds since 1970 of the beginning of the day."""
    return _seconds(value) // 86400 * 86400


'''


def to_python(theory: Theory) -> str:
    """See `Theory.to_python`.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.export import to_python
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y[["high cholesterol"]]).theory_
    >>> namespace = {}
    >>> exec(to_python(theory), namespace)
    >>> namespace["predict"](data.X.iloc[0].to_dict())
    {'high cholesterol': 0}
    """
    answers = theory.answers("python")
    is_multilabel = theory.is_multilabel
    kind = "maps labels to 0 or 1" if is_multilabel else "is its class"
    n_rules, n_conditions = len(theory), theory.n_conditions
    has_seconds = any(c.kind in SECOND_KINDS for scored in theory for c in scored.body)
    writer = _PythonWriter({f.name for f in theory.features if f.is_boolean})
    lines = [
        *_head_lines(answers[0], has_seconds),
        "def predict(row):",
        f'    """Predict with {format_count(n_rules, "rule")} and '
        f"{format_count(n_conditions, 'condition')}.",
        "",
        f"    A row maps attributes to values; the answer {kind}.",
        '    """',
        "    labels = {}",
        *(line for answer in answers for line in writer.answer_lines(answer)),
        "    return labels" if is_multilabel else "    return labels['class']",
    ]
    return "\n".join(lines) + "\n"


def _head_lines(answer: Answer, has_seconds: bool) -> Iterator[str]:
    """What stands above the function."""
    imports = ["import datetime as dt"] * has_seconds
    if isinstance(answer, LabelSetSearch) and answer.aim != "set":
        imports.append("import math")
    yield from (*imports, "", "") if imports else ()
    yield _HELPERS
    if has_seconds:
        yield _SECONDS
    if isinstance(answer, LabelSetSearch):
        yield "# Label sets of the training examples, and the points that their frequency is worth."
        yield "_LABEL_SETS = ["
        for labels, points in answer.sets:
            yield f"    ({tuple(answer.names[j] for j in labels)!r}, {points}),"
        yield from ("]", "", "")


class _PythonWriter(NamedTuple):
    """Writes answers as lines of Python; knows which attributes are booleans."""

    booleans: set[str]

    def answer_lines(self, answer: Answer) -> Iterator[str]:
        """Statements that set one label, or all labels of a search."""
        if isinstance(answer, LabelSetSearch):
            yield from self._score_lines(answer.names, answer.scores)
            yield from _search_lines(answer)
            yield "    labels = {label: int(label in present) for label in points}"
            return
        label = f"labels[{answer.name!r}]"
        if isinstance(answer, Choice):
            yield from self._formula_lines(label, answer.value)
        elif isinstance(answer, Largest):
            yield from self._score_lines(answer.outcomes, answer.scores)
            yield f"    {label} = max(points, key=points.get)"
        else:
            absent, present = answer.outcomes
            yield from self._formula_lines("points", answer.score)
            yield f"    {label} = {present!r} if points > {answer.cut} else {absent!r}"

    def _score_lines(self, keys: Sequence[Any], scores: Sequence[Formula]) -> Iterator[str]:
        yield "    points = {}  # hundredths of log-odds"
        for key, score in zip(keys, scores, strict=True):
            yield from self._formula_lines(f"points[{key!r}]", score)

    def _formula_lines(self, target: str, formula: Formula) -> Iterator[str]:
        """One statement per rule, since Python limits nesting."""
        is_sum = isinstance(formula, Sum)
        start = formula.start if isinstance(formula, Sum) else formula.default
        yield f"    {target} = {_literal(start)}"
        # The first hit comes last and so replaces the others.
        for scored, value in formula.cases if is_sum else reversed(formula.cases):
            tests = starmap(_test, list_tests(scored.body, self.booleans))
            yield f"    if {' and '.join(tests) or True}:  # {scored.counts}"
            yield f"        {target} {'+=' if is_sum else '='} {_literal(value)}"


def _test(feature: str, operator: str, value: Any) -> str:
    cell = f"row[{feature!r}]"
    if operator == "in words":
        return f"str(_text({cell})).lower() in {value!r}"
    if isinstance(value, Seconds):
        convert = "_day" if value.kind == "date" else "_seconds"
        return f"{convert}({cell}) {operator} {value.seconds!r}"
    convert = "_number" if isinstance(value, float) else "_text"
    return f"{convert}({cell}) {operator} {value!r}"


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, Integral) else repr(value)  # integers may be of numpy


def _search_lines(search: LabelSetSearch) -> Iterator[str]:
    """The set that fits best is present, the first one of equals; or all sets vote."""
    yield "    sets = list(_LABEL_SETS)"
    if search.unseen_points is not None:
        yield "    # The labels with positive points, as a new set."
        yield "    positive = [label for label in points if points[label] > 0]"
        yield f"    sets.append((positive, {search.unseen_points}))"
    yield "    scores = [sum(points[label] for label in known) + more for known, more in sets]"
    yield "    best = max(scores)"
    if search.aim == "set":
        yield "    present = set(sets[scores.index(best)][0])"
        return
    yield f"    lacks = [(score - best) / {POINTS_PER_LOG_ODD} for score in scores]"
    yield f"    weights = [round({BEST_WEIGHT} * math.exp(lack)) for lack in lacks]"
    yield from _f1_lines() if search.aim == "f1" else _share_lines(search.min_share)


def _share_lines(min_share: int | None) -> Iterator[str]:
    """The labels with enough of the votes are present."""
    yield "    votes = dict.fromkeys(points, 0)"
    yield "    for (known, _), weight in zip(sets, weights):"
    yield "        for label in known:"
    yield "            votes[label] += weight"
    yield f"    needed = {min_share} * sum(weights)"
    yield f"    present = {{label for label in votes if {SHARES} * votes[label] > needed}}"


def _f1_lines() -> Iterator[str]:
    """The labels with the largest expected F1 are present.

    Fractions are added one by one: `sum` rounds in another way from Python 3.12 on.
    """
    yield "    sizes = sorted({len(known) for known, _ in sets})"
    yield "    votes = {(label, size): 0 for label in points for size in sizes}"
    yield "    present, best_f1 = set(), 0"
    yield "    for (known, _), weight in zip(sets, weights):"
    yield "        best_f1 += 0 if known else weight"
    yield "        for label in known:"
    yield "            votes[label, len(known)] += weight"
    yield "    for k in range(1, len(points) + 1):"
    yield "        gains = dict.fromkeys(points, 0.0)"
    yield "        for label, size in votes:"
    yield "            gains[label] += votes[label, size] / (size + k)"
    yield "        top = sorted(points, key=lambda label: -gains[label])[:k]"
    yield "        total = 0.0"
    yield "        for label in top:"
    yield "            total += gains[label]"
    yield "        if 2 * total > best_f1:"
    yield "            present, best_f1 = set(top), 2 * total"
