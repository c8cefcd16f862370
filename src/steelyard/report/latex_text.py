"""Text → LaTeX: every text compiles with pdflatex, lualatex and xelatex, without a package."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from .titles import name_to_math

_SYMBOLS = {
    "φ": r"\phi",
    "β": r"\beta",
    "χ": r"\chi",
    "ω": r"\omega",
    "α": r"\alpha",
    "μ": r"\mu",
    "²": "^2",
    "∞": r"\infty",
    "<": "<",
    ">": ">",
    "≥": r"\geq",
    "≤": r"\leq",
    "≠": r"\neq",
    "∧": r"\wedge",
    "¬": r"\neg",
    "←": r"\leftarrow",
    "→": r"\rightarrow",
    "×": r"\times",
    "·": r"\cdot",
    "±": r"\pm",
    "√": r"\surd",
    "°": r"^\circ",
    "½": r"\frac12",
    "−": "-",
}
_LETTERS = {
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "\N{NO-BREAK SPACE}": "~",
    '"': "''",
    "|": r"\textbar{}",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # After the end of a row, a bracket or a star would be read as an argument of the end.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
# Combining characters of Unicode and the accents of LaTeX.
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}
# Where a long word may be broken: after these characters, and before a capital letter.
_BREAKS = re.compile(r"(?<=[(,=_/.:-])(?=.)|(?<=[a-z])(?=[A-Z])")
_LONG_WORD = 14
_METHOD_WORDS = re.compile(r" (against|published)(?= |$)")


def escape_latex(text: str) -> str:
    r"""Escape text for LaTeX.

    Letters with accents become commands, symbols become formulas. Of characters that pdflatex does not
    know, it prints the code; lualatex and xelatex print the characters, if the font has them.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b, φ ≥ 0.5, café"))
    50 \% of a\_b, $\phi$ $\geq$ 0.5, caf\'{e}
    >>> print(escape_latex("χ² of 雨"))
    $\chi ^2$ of \ifdefined\Umathcode 雨\else U+96E8\fi\allowbreak{}
    """
    parts = []
    for kind, group in groupby(text, _find_kind):
        characters = list(group)
        if kind == "symbol":
            parts.append(f"${' '.join(_SYMBOLS[character] for character in characters)}$")
        elif kind == "letter":
            parts += [_escape_letter(character) for character in characters]
        else:
            codes = " ".join(f"U+{ord(character):04X}" for character in characters)
            # What is not printable has no sign in any font, and some engines stop at it.
            shown = "".join(characters) if all(c.isprintable() for c in characters) else codes
            parts.append(rf"\ifdefined\Umathcode {shown}\else {codes}\fi\allowbreak{{}}")
    return "".join(parts)


def _find_kind(character: str) -> str:
    if character in _SYMBOLS:
        return "symbol"
    if character in _LETTERS or character in "\n\r\t" or " " <= character <= "~":
        return "letter"
    return "unknown" if _split_accent(character) is None else "letter"


def _split_accent(character: str) -> tuple[str, str] | None:
    """A letter and the accent of LaTeX on it, or None."""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) != 2 or not ("A" <= parts[0] <= "z" and parts[0].isalpha()):
        return None
    return (parts[0], _ACCENTS[parts[1]]) if parts[1] in _ACCENTS else None


def _escape_letter(character: str) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    if character in "&%$#_{}":
        return f"\\{character}"
    if character in "\n\r\t":
        return " "
    accented = _split_accent(character)
    if accented is None:
        return character
    letter, accent = accented
    # An accent sits above the body of i and j, which has no dot.
    letter = {"i": r"\i", "j": r"\j"}.get(letter, letter) if accent != "c" else letter
    return rf"\{accent}{{{letter}}}"


def split_word(word: str) -> list[str]:
    """Parts of a long word, between which it may be broken.

    Examples
    --------
    >>> split_word("RandomForest(n_estimators=50)"), split_word("m-estimate")
    (['Random', 'Forest(', 'n_', 'estimators=', '50)'], ['m-estimate'])
    """
    return _BREAKS.split(word) if len(word) > _LONG_WORD else [word]


def escape_paragraph(text: str) -> str:
    r"""Escape a cell that is broken into lines, also within long words.

    Examples
    --------
    >>> print(escape_paragraph("R1 against BoostedRulesClassifier"))
    $R_1$ against Boosted\allowbreak{}Rules\allowbreak{}Classifier
    """
    is_method = _METHOD_WORDS.search(text) or name_to_math(text).startswith("$")
    escape = escape_cell if is_method else escape_latex
    words = [r"\allowbreak{}".join(map(escape, split_word(word))) for word in text.split(" ")]
    return " ".join(words)


def escape_cell(text: str) -> str:
    r"""Escape a cell of a table, in which names of the paper's methods have an index.

    Examples
    --------
    >>> print(escape_cell("M_F (m-estimate) against R1"), escape_cell("a_b"))
    $M_F$ (m-estimate) against $R_1$ a\_b
    """
    parts = _METHOD_WORDS.split(text)
    # At even positions are names, at odd ones the words between them.
    shown = [_escape_name(part.strip()) if i % 2 == 0 else part for i, part in enumerate(parts)]
    return " ".join(part for part in shown if part)


def _escape_name(name: str) -> str:
    shown = name_to_math(name)
    if not shown.startswith("$"):
        return escape_latex(name)
    _, formula, rest = shown.split("$", 2)
    return f"${formula}$" + escape_latex(rest.replace(r"\$", "$"))
