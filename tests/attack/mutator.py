"""Random damage to a file: bytes, pieces, lines, and words that programs trip over."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

STRANGE = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        *(
            "",
            "\0",
            "\n",
            "\r",
            "\t",
            " ",
            ",",
            ";",
            '"',
            "'",
            "\\",
            "{",
            "}",
            "[",
            "]",
            "{}",
            "[]",
        ),
        *("null", "true", "NaN", "nan", "inf", "-inf", "1e999", "-1", "0", "-0", "0.1", "1e-320"),
        *(
            "2147483648",
            "9223372036854775808",
            "1" + 400 * "0",
            5000 * "9",
            "1_000",
            "0x1",
            "٣",
            "½",
        ),
        *(
            "?",
            "%",
            "@",
            "@data",
            "#",
            "=",
            "==",
            "<",
            "<=",
            "≥",
            "≤",
            "←",
            "∧",
            "¬",
            "<-",
            "and",
            "in",
        ),
        *(
            "not",
            "../",
            "/",
            "..",
            "&amp;",
            "<!DOCTYPE x>",
            "<label name='a'/>",
            "\ufeff",
            "\u202e",
        ),
        *("\x1b[31m", "\ud800", "\u2028", "😀", "é", 300 * "(", 300 * "[", 300 * '{"a":'),
    )
)
_WORD = re.compile(rb"[\w.+-]+|[^\w\s]")


def mutate(content: bytes, chance: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Content with one to four random changes; pieces may come from `others`."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        content = chance.choice(_CHANGES)(content, chance, others)
    return content


def _piece(content: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(content) + 1)
    return start, min(len(content), start + chance.choice((1, 2, 5, 40, 400)))


def _change_byte(content: bytes, chance: random.Random, _: object) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :]


def _drop(content: bytes, chance: random.Random, _: object) -> bytes:
    start, end = _piece(content, chance)
    return content[:start] + content[end:]


def _repeat(content: bytes, chance: random.Random, _: object) -> bytes:
    start, end = _piece(content, chance)
    return content[:end] + content[start:end] * chance.choice((1, 1, 3, 50)) + content[end:]


def _insert(content: bytes, chance: random.Random, _: object) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.choice(STRANGE) + content[at:]


def _replace_word(content: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """Another word, strange or from somewhere else: what is left has the right form."""
    words = [match.span() for match in _WORD.finditer(content)]
    if not words:
        return _insert(content, chance, others)
    start, end = chance.choice(words)
    new = chance.choice(STRANGE)
    if chance.random() < 0.5:
        a, b = chance.choice(words)
        new = content[a:b]
    return content[:start] + new + content[end:]


def _move_line(content: bytes, chance: random.Random, _: object) -> bytes:
    lines = content.split(b"\n")
    line = lines.pop(chance.randrange(len(lines)))
    lines.insert(chance.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _cut(content: bytes, chance: random.Random, _: object) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _splice(content: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    other = chance.choice(others or (content,))
    start, end = _piece(other, chance)
    at = chance.randrange(len(content) + 1)
    return content[:at] + other[start:end] + content[at:]


_CHANGES = (
    *(_change_byte, _drop, _repeat, _insert, _replace_word, _replace_word, _replace_word),
    *(_move_line, _cut, _splice),
)
