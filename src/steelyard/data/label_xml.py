"""The label names of a Mulan XML file, which is not trusted.

Uses expat of the standard library and rejects a document type: without one there are no entities
to expand and no external files to fetch.
"""

from pathlib import Path
from xml.parsers import expat

from .errors import DataError, error_at
from .text_files import read_text


def read_label_lines(path: Path) -> dict[str, int]:
    """Read the names of all labels, also nested ones, in document order, with their lines."""
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

    def reject_doctype(*_: object) -> None:
        problem = "the XML declares a document type (DTD), whose entities can expand without bound"
        raise error_at(path, parser.CurrentLineNumber, problem)

    parser.StartElementHandler = start_element
    parser.StartDoctypeDeclHandler = reject_doctype
    try:
        parser.Parse(read_text(path), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise error_at(path, error.lineno, f"this is not valid XML ({reason})") from None
    if not line_of:
        raise DataError(f"{path} has no label")
    return line_of
