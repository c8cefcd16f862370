"""Mulan and MEKA files to MultiLabelData: which attributes are labels, and how X looks."""

import re
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .arff_columns import Column, Table, Values, parse_rows
from .arff_frame import columns_to_frame
from .arff_header import Attribute, Header, parse_header
from .errors import DataError, did_you_mean, error_at
from .label_values import ConstantLabels, labels_to_frame, word_to_label
from .label_xml import read_label_lines
from .multilabel import MultiLabelData
from .text_files import read_lines, stem_without_gz

# Word vectors carry filter options in their relation name, such as "-R1-C-N0": the option
# stands alone and has a number.
_MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?\d+)(?=\s|$)")


def load_mulan(
    arff: str | PathLike[str],
    xml: str | PathLike[str] | None = None,
    *,
    sparse: bool | Literal["auto"] = "auto",
    on_unsupported: Literal["raise", "drop"] = "raise",
    constant_labels: ConstantLabels = "raise",
) -> MultiLabelData:
    r"""Load a multi-label data set in the format of Mulan (ARFF and XML) or of MEKA (ARFF only).

    Parameters
    ----------
    arff : path-like
        The ARFF file with dense or sparse rows, perhaps compressed by gzip.
    xml : path-like, optional
        The file with the names of the labels; a hierarchy of labels is flattened in document
        order. By default the ``.xml`` of the same name beside the ARFF file, and without one
        the option ``-C n`` that MEKA writes into the relation's name: the first n attributes
        are labels, the last -n if it is negative.
    sparse : bool or "auto", default="auto"
        Whether numeric attributes, and nominal ones with the values 0 and 1, become sparse
        columns of numbers. "auto" does so for wide files of sparse rows that are mostly zeros.
    on_unsupported : {"raise", "drop"}, default="raise"
        What to do about attributes of type string, date or relational, which no rule can
        test: an error, or leave them out with a warning.
    constant_labels : {"raise", "drop", "keep"}, default="raise"
        What to do about labels that all examples or none have: an error, leave them out with
        a warning, or keep them (for one part of a data set, such as a test file).

    Returns
    -------
    data : MultiLabelData
        X has the attributes in the order of the ARFF file, Y the labels in the order of the XML.

    Raises
    ------
    DataError
        If the files cannot be used; the message names the file, the line and the problem.

    Notes
    -----
    Labels are nominal with the values 0 and 1 (or false/true, no/yes), or numeric. In a sparse
    row, an attribute that is left out is 0 or, if it is nominal, has its *first* value. A ``?``
    is a missing value. Weights of instances are ignored with a warning.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.data import load_mulan
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "birds.arff")
    ...     _ = path.write_text('''@relation 'birds: -C 2'
    ... @attribute 'Swainson\\'s Thrush' {0,1}
    ... @attribute Junco {0,1}
    ... @attribute loudness numeric
    ... @attribute weather {rain, sun}
    ... @data
    ... 1, 0, 3.5, rain
    ... 0, 1, ?, sun
    ... ''')
    ...     data = load_mulan(path)
    >>> data
    birds: 2 examples, 2 attributes (1 numeric, 1 nominal), 2 labels, cardinality 1.00
    >>> data.label_names
    ["Swainson's Thrush", 'Junco']
    >>> data.X
       loudness weather
    0       3.5    rain
    1       NaN     sun
    """
    if on_unsupported not in ("raise", "drop"):
        raise ValueError(f"on_unsupported must be 'raise' or 'drop', not {on_unsupported!r}")
    path = Path(arff)
    lines = read_lines(path)
    header = parse_header(path, lines)
    label_names = _find_label_names(path, header, None if xml is None else Path(xml))
    _check_attributes(path, header.attributes, set(label_names), on_unsupported)

    table = parse_rows(path, header.attributes, lines, header.n_lines)
    if table.n_weights:
        warnings.warn(
            f"{path}: the weights of {table.n_weights} examples are ignored",
            UserWarning,
            stacklevel=2,
        )
    column_of = {column.attribute.name: column for column in table.columns}
    labels = [_column_to_label(path, column_of.pop(name), table) for name in label_names]
    return MultiLabelData(
        X=columns_to_frame(list(column_of.values()), len(table.lines), table.n_sparse_rows, sparse),
        Y=labels_to_frame(np.column_stack(labels), label_names, path, constant_labels),
        name=stem_without_gz(path),
        description=header.relation,
    )


def _find_label_names(path: Path, header: Header, xml: Path | None) -> list[str]:
    names = [attribute.name for attribute in header.attributes]
    beside = path.with_name(stem_without_gz(path) + ".xml")
    if xml is None and beside.exists():
        xml = beside
    if xml is not None:
        label_lines = read_label_lines(xml)
        known = set(names)
        for label, line in label_lines.items():
            if label not in known:
                hint = did_you_mean(label, names)
                raise error_at(xml, line, f"{path} has no attribute for the label {label!r}{hint}")
        labels = list(label_lines)
    else:
        labels = _find_meka_labels(path, header.relation, names)
    if len(labels) == len(names):
        raise DataError(
            f"{path}: all {len(names)} attributes are labels, none is left to learn from"
        )
    return labels


def _find_meka_labels(path: Path, relation: str, names: list[str]) -> list[str]:
    option = _MEKA_OPTION.search(relation)
    if option is None:
        raise DataError(
            f"{path} does not say which attributes are labels: there is neither an XML file"
            f" {path.with_name(stem_without_gz(path) + '.xml').name!r} beside it nor a -C option"
            " in its relation name; pass the XML file as the second argument"
        )
    n_labels = int(option.group(1))
    if n_labels == 0:
        raise DataError(f"{path} has no label at all: its relation name says -C 0")
    if abs(n_labels) > len(names):
        raise DataError(
            f"{path} has {len(names)} attributes, but its relation name says -C {n_labels}"
        )
    return names[:n_labels] if n_labels > 0 else names[n_labels:]


def _check_attributes(
    path: Path, attributes: list[Attribute], label_names: set[str], on_unsupported: str
) -> None:
    dropped = []
    for attribute in attributes:
        if attribute.name in label_names:
            _label_decoder(path, attribute)
        elif attribute.kind == "unsupported":
            if on_unsupported == "raise":
                raise error_at(
                    path,
                    attribute.line,
                    f"attribute {attribute.name!r} has the type {attribute.type_name}, which rules"
                    " cannot test; on_unsupported='drop' leaves it out",
                )
            dropped.append(f"{attribute.name!r} ({attribute.type_name})")
    if dropped:
        warnings.warn(
            f"{path}: left out the attributes {', '.join(dropped)}", UserWarning, stacklevel=3
        )


def _label_decoder(path: Path, attribute: Attribute) -> Callable[[Values], NDArray[np.int8]]:
    """The function from a label attribute's values to 0, 1 and -1 for anything else."""
    if attribute.kind == "numeric":
        return lambda numbers: np.select([numbers == 0, numbers == 1], [0, 1], -1).astype(np.int8)
    decoded = [word_to_label(value) for value in attribute.values]
    if attribute.kind == "unsupported" or None in decoded or len(set(decoded)) < len(decoded):
        values = ", ".join(attribute.values[:5]) + ("" if len(decoded) <= 5 else ", ...")
        problem = f"the values {{{values}}}" if values else f"the type {attribute.type_name}"
        raise error_at(
            path, attribute.line, f"label {attribute.name!r} has {problem} instead of {{0, 1}}"
        )
    # A missing value has the code -1 and finds the last entry.
    table = np.array([*decoded, -1], dtype=np.int8)
    return lambda codes: table[codes.astype(np.intp)]


def _column_to_label(path: Path, column: Column, table: Table) -> NDArray[np.int8]:
    values = column.dense(len(table.lines))
    label = _label_decoder(path, column.attribute)(values)
    bad = np.flatnonzero(label < 0)
    if len(bad):
        value = values[bad[0]]
        is_missing = column.attribute.kind == "nominal" or np.isnan(value)
        raise error_at(
            path,
            int(table.lines[bad[0]]),
            f"label {column.attribute.name!r} is {'missing' if is_missing else value}"
            " instead of 0 or 1",
        )
    return label
