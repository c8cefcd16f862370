"""The label names of a Mulan XML file, read without trusting it.

Only the standard library's expat, with handlers that refuse a document type: without one there
are no entities to expand and no external files to fetch.
"""

from pathlib import Path
from xml.parsers import expat

from .errors import DataError, error_at
from .text_files import read_bytes


def read_label_lines(path: Path) -> dict[str, int]:
    """Read the names of all labels, nested ones too, in document order, with their lines."""
    line_of: dict[str, int] = {}
    parser = expat.ParserCreate(namespace_separator=" ")

    def start_element(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(" ")[2] != "label":
            return
        line = parser.CurrentLineNumber
        name = attributes.get("name")
        if not name:
            raise error_at(path, line, "the label has no name")
        if name in line_of:
            raise error_at(
                path, line, f"label {name!r} is listed a second time, after line {line_of[name]}"
            )
        line_of[name] = line

    def refuse_doctype(*_: object) -> None:
        raise error_at(
            path,
            parser.CurrentLineNumber,
            "the XML declares a document type (DTD), which is refused because it can hide"
            " entities that expand without bound",
        )

    parser.StartElementHandler = start_element
    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.EntityDeclHandler = refuse_doctype
    try:
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise error_at(path, error.lineno, f"this is not valid XML ({reason})") from None
    except LookupError as error:  # an encoding that nobody knows
        raise error_at(path, 1, f"this is not valid XML ({error})") from None
    if not line_of:
        raise DataError(f"{path} names no label at all")
    return line_of
