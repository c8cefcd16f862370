"""Rules as text that is read again: one grammar, written exactly and read with ASCII forms as well.

Knows conditions, not tables. Views for people round numbers and may use other words; this text may not.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from steelyard._text import did_you_mean, format_number, list_names

from .conditions import Condition
from .features import Feature
from .moments import SECOND_KINDS, format_seconds, value_to_seconds

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_SIGNS = "←<>≤≥=≠∧¬{},∈∉"
_TOKEN = re.compile(
    rf'(?P<quoted>{_QUOTED})|(?P<sign><=|>=|==|!=|[{_SIGNS}])|(?P<word>(?:(?!!=)[^\s"{_SIGNS}])+)',
    re.DOTALL,
)
_ARROW = re.compile(rf"{_QUOTED}|(?P<arrow>←|<-)", re.DOTALL)
_NEGATION = re.compile(r"\s*(?:¬|not\s)\s*", re.IGNORECASE)
# What a sign or a word stands for; names that contain such a word are quoted.
_MEANING = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "and": "∧", "in": "∈", "not": "not"}
_MIRRORED = {"<": ">", "≤": "≥", ">": "<", "≥": "≤"}


# -- writing ---------------------------------------------------------------------------------------


def write_rule(label: str, target_class: int, body: Sequence[Condition]) -> str:
    """A rule as text from which `read_rule` makes the same rule.

    Examples
    --------
    >>> print(write_rule("Cough", 0, [Condition("fever (°C)", "<", 37.55), Condition("a", "=", "b=c")]))
    ¬Cough ← fever (°C) < 37.55 ∧ a = "b=c"
    """
    head = label if _is_plain_head(label) else _quote(label)
    return f"{'' if target_class else '¬'}{head} ← {' ∧ '.join(map(write_condition, body))}"


def write_condition(condition: Condition) -> str:
    """A condition as text, with all digits of its bounds and with quoted names where needed."""
    return condition.write(write_name, _write_number)


def write_name(name: str) -> str:
    """The name of an attribute or a category, in quotes if it could be misread.

    Examples
    --------
    >>> print(write_name("body temperature"), write_name("salt and pepper"), write_name("≥ 3"))
    body temperature "salt and pepper" "≥ 3"
    """
    words = [match["word"] for match in _TOKEN.finditer(name)]
    is_plain = None not in words and " ".join(words) == name and bool(name)
    return name if is_plain and not any(w.lower() in _MEANING for w in words) else _quote(name)


def _is_plain_head(label: str) -> bool:
    """Whether a label can stand before the arrow without quotes; it may contain other signs."""
    is_clean = bool(label) and " ".join(label.split()) == label and '"' not in label
    return is_clean and not _ARROW.search(label) and not _NEGATION.match(label + " ")


def _quote(name: str) -> str:
    """A name in quotes, on one line."""
    return json.dumps(name, ensure_ascii=not name.isprintable())


def _write_number(value: float, kind: str | None = None) -> str:
    """The shortest text of a number: a date or time if it is one, six digits if they are exact."""
    if kind in SECOND_KINDS:
        text = format_seconds(value, kind)
        if (value_to_seconds(text) or (None,))[0] == value:
            return text
    text = format_number(value)
    return text if float(text) == value else repr(float(value))


# -- reading ---------------------------------------------------------------------------------------


class RuleParts(NamedTuple):
    """What the text of a rule says."""

    label: str
    target_class: int
    body: list[Condition]


class _Token(NamedTuple):
    """A quoted name, a word, a sign, or the end (an empty sign), and where it starts."""

    kind: str
    text: str
    start: int


class _Operand(NamedTuple):
    """A name, category or number as it stands in the text."""

    text: str
    is_quoted: bool
    start: int

    @property
    def number(self) -> float | str | None:
        """The number, or the text of the date or time, that it is; None if it is neither."""
        if self.is_quoted:
            return None
        try:
            number = float(self.text)
        except ValueError:
            return None if value_to_seconds(self.text) is None else self.text
        return number if math.isfinite(number) else None


def read_rule(text: str, features: Sequence[Feature] = ()) -> RuleParts:
    """The parts of a rule, from what `write_rule` writes or from its ASCII forms.

    A condition with ≠ or "not in" needs the categories of its attribute: give the features.

    Examples
    --------
    >>> label, target_class, body = read_rule("not flu <- fever < 38 and colour in {red, blue}")
    >>> label, target_class, *map(str, body)
    ('flu', 0, 'fever < 38', 'colour in {blue, red}')
    """
    if not isinstance(text, str):
        raise ValueError(f"a rule must be text, got {text!r}")
    arrows = [match for match in _ARROW.finditer(text) if match["arrow"]]
    if not arrows:
        _reject(text, len(text), "expected ← or <- between the label and the conditions")
    label, target_class = _read_head(text, arrows[0].start())
    return RuleParts(label, target_class, _BodyReader(text, arrows[0].end(), features).read())


def _reject(text: str, position: int, problem: str) -> NoReturn:
    raise ValueError(f"cannot read the rule {text!r} at character {position + 1}: {problem}")


def _read_head(text: str, end: int) -> tuple[str, int]:
    head = text[:end]
    negation = _NEGATION.match(head)
    start = negation.end() if negation else len(head) - len(head.lstrip())
    label = head[start:].strip()
    if label.startswith('"'):
        label = _unquote(text, label, start)
    elif not label:
        _reject(text, start, "expected the name of a label")
    else:
        label = " ".join(label.split())
    return label, 0 if negation else 1


def _unquote(text: str, quoted: str, start: int) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:
        _reject(text, start, f"the quoted name {quoted} is damaged")


class _BodyReader:
    """Reads conditions from the tokens of a text, one after the other."""

    def __init__(self, text: str, start: int, features: Sequence[Feature]) -> None:
        self.text = text
        self.categories = {feature.name: feature.categories for feature in features}
        self.names = tuple(self.categories)
        self.tokens = list(self._tokens(start))
        self.next = 0

    def _tokens(self, start: int) -> list[_Token]:
        tokens = []
        while start < len(self.text):
            if self.text[start].isspace():
                start += 1
                continue
            match = _TOKEN.match(self.text, start)
            if match is None:
                self.reject("this quote has no end", start)
            kind, word = str(match.lastgroup), match[0]
            if word.lower() in _MEANING and kind != "quoted":
                kind, word = "sign", _MEANING[word.lower()]
            tokens.append(_Token(kind, word, start))
            start = match.end()
        return [*tokens, _Token("sign", "", len(self.text))]

    def reject(self, problem: str, position: int | None = None) -> NoReturn:
        """Point at a position, or at the next token."""
        _reject(self.text, self.peek.start if position is None else position, problem)

    @property
    def peek(self) -> _Token:
        """The next token."""
        return self.tokens[self.next]

    def take(self, *signs: str) -> str:
        """The next token, if it is one of the signs; else an empty text."""
        if self.peek.kind != "sign" or self.peek.text not in signs:
            return ""
        self.next += 1
        return self.tokens[self.next - 1].text

    def got(self) -> str:
        """The next token for a message."""
        return f"got {self.peek.text!r}" if self.peek.text else "got the end"

    def read(self) -> list[Condition]:
        """All conditions; none for an empty body."""
        body: list[Condition] = []
        if not self.peek.text:
            return body
        while True:
            body += self.read_condition()
            if not self.peek.text:
                return body
            if not self.take("∧"):
                self.reject(f"expected ∧, 'and' or the end, {self.got()}{self._hint()}")

    def _hint(self) -> str:
        return "; write decimals with a point" if self.peek.text == "," else ""

    def read_operand(self, what: str) -> _Operand:
        """A quoted name, or words up to the next sign."""
        first = self.peek
        if first.kind == "sign":
            self.reject(f"expected {what}, {self.got()}")
        words = []
        while self.peek.kind != "sign":
            words.append(self.peek)
            self.next += 1
        if len(words) > 1 and any(word.kind == "quoted" for word in words):
            self.reject("expected a sign between a quoted name and other words", words[1].start)
        if first.kind == "quoted":
            return _Operand(_unquote(self.text, first.text, first.start), True, first.start)
        return _Operand(" ".join(word.text for word in words), False, first.start)

    def read_condition(self) -> list[Condition]:
        """A condition; an interval gives two, which the rule merges."""
        left = self.read_operand("a condition")
        if self.take("="):
            category = self.read_operand("a category")
            return [Condition(left.text, "=", category.text)]
        if self.take("∈"):
            return [Condition(left.text, "in", self.read_set())]
        if self.take("≠"):
            return [self.exclude(left, [self.read_operand("a category").text])]
        if self.peek.text == "∉" or (
            self.peek.text == "not" and self.tokens[self.next + 1].text == "∈"
        ):
            self.next += 1 if self.peek.text == "∉" else 2
            return [self.exclude(left, self.read_set())]
        sign = self.take("<", "≤", "≥", ">")
        if not sign:
            if left.text.lower().endswith((" is missing", " is null")):
                self.reject("no condition tests for missing values", left.start)
            self.reject(f"expected one of <, ≤, ≥, =, in after {left.text!r}, {self.got()}")
        middle = self.read_operand("a number")
        second = self.take("<", "≤", "≥", ">")
        if second:
            return self.chain((left, sign, middle, second, self.read_operand("a number")))
        if middle.number is None and left.number is not None:
            return [self.bound(middle, _MIRRORED[sign], left)]
        return [self.bound(left, sign, middle)]

    def chain(self, parts: tuple[_Operand, str, _Operand, str, _Operand]) -> list[Condition]:
        """What a text such as 3 ≤ x < 5 says: an interval, or two bounds on the same side."""
        left, first, name, second, right = parts
        if left.number is None and _explain_or(name):
            self.reject(f"expected a number, got {name.text!r}{_explain_or(name)}", name.start)
        bounds = [self.bound(name, _MIRRORED[first], left), self.bound(name, second, right)]
        lower, upper = sorted(bounds, key=lambda bound: bound.low == -math.inf)
        if lower.low == -math.inf or upper.low > -math.inf:
            return bounds
        return [
            Condition.interval(
                name.text,
                lower.low,
                upper.high,
                includes_high=upper.includes_high,
                kind=lower.kind or upper.kind,
            )
        ]

    def read_set(self) -> list[str]:
        """Categories in braces."""
        if not self.take("{"):
            self.reject(f"expected {{ before the categories, {self.got()}")
        if self.take("}"):
            return []
        found = [self.read_operand("a category").text]
        while self.take(","):
            found.append(self.read_operand("a category").text)
        if not self.take("}"):
            self.reject(f"expected a comma or }} after a category, {self.got()}")
        return found

    def exclude(self, name: _Operand, excluded: Sequence[str]) -> Condition:
        """All known categories but the given ones."""
        known = self.categories.get(name.text)
        if known is None:
            reason = "its attributes are not known here: give the categories that fit, or features="
            if name.text in self.categories:
                reason = "it is numeric and needs a bound"
            elif self.names:
                reason = f"the attribute is unknown{did_you_mean(name.text, self.names)}"
            self.reject(f"cannot exclude categories of {name.text!r}: {reason}", name.start)
        for text in excluded:
            if text not in known:
                hint = did_you_mean(text, known) or f"; it has {list_names(known, most=10)}"
                self.reject(f"{name.text!r} has no category {text!r}{hint}", name.start)
        return Condition(name.text, "in", [text for text in known if text not in excluded])

    def bound(self, name: _Operand, sign: str, operand: _Operand) -> Condition:
        """A bound of a numeric attribute."""
        number = operand.number
        if number is None:
            self.reject(
                f"expected a number, got {operand.text!r}{_explain_or(operand)}", operand.start
            )
        if sign == ">":
            self.reject(
                f"a lower bound is included: write {name.text} ≥ and the smallest value that fits",
                name.start,
            )
        return Condition(name.text, sign, number)


def _explain_or(operand: _Operand) -> str:
    has_or = " or " in f" {operand.text.lower()} "
    return "; conditions cannot be joined by 'or': write two rules" if has_or else ""
