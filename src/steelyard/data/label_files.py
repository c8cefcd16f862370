"""Which XML file names the labels of an ARFF file, and which others would.

Knows names of files and the label XML. Knows no rows.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from steelyard._text import did_you_mean, list_names

from .errors import DataError, error_at
from .label_xml import read_label_lines
from .text_files import strip_gz

# Part of a data set, at the end of the name of its file: image-train, yeast-fold-3, birds_test1.
_LAST_PART = re.compile(r"[-_. ][^-_. ]*$|(?<=\w)(?:train|test)\d*$", re.IGNORECASE)


def find_related_xml(path: Path) -> Path | None:
    """Find the XML file of a whole data set beside the ARFF file of a part, such as image-train.arff.

    Parts are dropped from the end of the name until there is an XML file of the rest.
    """
    beside = {file.stem.casefold(): file for file in list_xml_files(path)}
    stem = strip_gz(path).stem.casefold()
    while stem:
        if stem in beside:
            return beside[stem]
        shorter = _LAST_PART.sub("", stem, count=1)
        if shorter == stem:
            return None
        stem = shorter
    return None


def list_xml_files(path: Path) -> list[Path]:
    """List the XML files in the folder of a file, sorted by name."""
    folder = path.parent
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.suffix.lower() == ".xml")


def read_labels(file: Path, arff: Path, names: Collection[str]) -> list[str]:
    """Read the labels of an XML file, all of which must be among the attributes of the ARFF file."""
    if not file.exists():
        hint = did_you_mean(file.name, [other.name for other in list_xml_files(file)])
        raise FileNotFoundError(
            f"there is no XML file {file}{hint or describe_fitting(arff, names)}"
        )
    label_lines = read_label_lines(file)
    for label, line in label_lines.items():
        if label not in names:
            hint = did_you_mean(label, names) or describe_fitting(arff, names)
            raise error_at(file, line, f"{arff} has no attribute for the label {label!r}{hint}")
    return list(label_lines)


def describe_fitting(arff: Path, names: Collection[str]) -> str:
    """Say which XML files beside an ARFF file name some of its attributes; empty if none does."""
    fitting = [file.name for file in _list_fitting(arff, names)]
    if not fitting:
        others = [file.name for file in list_xml_files(arff)]
        return f"; the folder has {list_names(others)}, which do not fit" if others else ""
    return f"; xml={list_names(fitting)} would fit"


def _list_fitting(arff: Path, names: Collection[str]) -> Iterator[Path]:
    for file in list_xml_files(arff):
        try:
            labels = read_label_lines(file)
        except DataError:
            continue
        if all(label in names for label in labels):
            yield file
