"""Mulan and MEKA files to MultiLabelData: which attributes are labels.

Knows the ARFF reader and the label XML, but not how they parse.
"""

import re
import warnings
from os import PathLike
from pathlib import Path
from typing import Literal

from .arff import ArffTable, Attribute, read_arff, table_to_frame
from .columns import (
    SPLIT_HINT,
    ConstantLabels,
    MissingLabels,
    MultiValued,
    check_choice,
    decode_examples,
    word_to_label,
)
from .errors import DataError, error_at
from .label_files import describe_fitting, find_related_xml, read_labels
from .multilabel import MultiLabelData
from .text_files import strip_gz

# Word vectors have filter options in their relation name, such as "-R1-C-N0". The option of MEKA
# stands alone and has a number.
_MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?\d+)(?=\s|$)")

_MOST_DIGITS = 18


def load_mulan(
    arff: str | PathLike[str],
    xml: str | PathLike[str] | None = None,
    *,
    sparse: bool | Literal["auto"] = "auto",
    on_unsupported: Literal["raise", "drop"] = "raise",
    constant_labels: ConstantLabels = "keep",
    missing_labels: MissingLabels = "raise",
    multi_valued: MultiValued = "raise",
) -> MultiLabelData:
    r"""Load a multi-label data set in the format of Mulan (ARFF and XML) or of MEKA (ARFF only).

    Parameters
    ----------
    arff : path-like
        The ARFF file, with dense or sparse rows, compressed with gzip or not.
    xml : path-like, optional
        The file with the names of the labels. A hierarchy of labels is flattened in document
        order. The default is the ``.xml`` file of the same name beside the ARFF file. If there is
        none, the option ``-C n`` that MEKA writes into the name of the relation counts: the first
        n attributes are labels or, if n is negative, the last -n. Without that, ``image.xml`` is
        the file of ``image-train.arff``: parts of the name are dropped from its end.
    sparse : bool or "auto", default="auto"
        Whether numeric attributes, and nominal ones with the values 0 and 1, become sparse
        columns of numbers. "auto" does so for wide files of sparse rows that are mostly zeros.
    on_unsupported : {"raise", "drop"}, default="raise"
        What to do with attributes of type string, which rules cannot test, and with dates in a
        format that is not supported: raise an error, or drop them with a warning.
    constant_labels : {"keep", "drop", "raise"}, default="keep"
        What to do with labels that have the same value in all examples: keep or drop them with a
        warning, or raise an error. No rule is learned for such a label; it is predicted as it is.
    missing_labels : {"raise", "drop", "absent"}, default="raise"
        What to do with examples for which a label is missing: raise an error, drop the examples
        with a warning, or read the label as absent.
    multi_valued : {"raise", "split"}, default="raise"
        What to do with nominal targets that have other values than 0 and 1, as in MEKA's
        multi-target files: raise an error, or make one label per value, such as ``genre=rock``.
        Rules then may predict none or several values of a target.

    Returns
    -------
    data : MultiLabelData
        X has the attributes in the order of the ARFF file. Y has the labels in the order of the XML.

    Raises
    ------
    DataError
        If the files cannot be used; the message names the file, the line and the problem.

    Notes
    -----
    Labels are nominal with the values 0 and 1 (or false/true, no/yes), or numeric. An attribute
    that a sparse row omits is 0 or, if it is nominal, has its *first* value. A ``?`` is a missing
    value. Weights of instances are ignored with a warning.

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
    check_choice("multi_valued", multi_valued, MultiValued)
    path = Path(arff)
    table = read_arff(path)
    labels = _find_labels(path, table, xml)
    for column in labels:
        _check_label(path, table.attributes[column], multi_valued)
    others = sorted({*range(len(table.attributes))} - {*labels})
    columns = [column for column in others if table.attributes[column].kind != "unsupported"]
    dropped = [table.attributes[column] for column in sorted({*others} - {*columns})]
    if dropped and on_unsupported == "raise":
        problem = f"attribute {dropped[0].name!r} has the type {dropped[0].type_name}"
        hint = "rules cannot test it; on_unsupported='drop' drops it"
        raise error_at(path, dropped[0].line, f"{problem}: {hint}")
    if not columns:
        raise DataError(f"{path} has no attributes besides the labels")
    if dropped:
        names = ", ".join(f"{attribute.name!r} ({attribute.type_name})" for attribute in dropped)
        warnings.warn(f"{path}: dropped the attributes {names}", stacklevel=2)
    if table.n_weights:
        ignored = f"{path}: the weights of {table.n_weights} examples are ignored"
        warnings.warn(ignored, stacklevel=2)
    X, Y = decode_examples(
        table_to_frame(table, columns, sparse),
        table_to_frame(table, labels),
        path,
        lines=table.lines,
        constant_labels=constant_labels,
        missing_labels=missing_labels,
        multi_valued=multi_valued,
    )
    return MultiLabelData(X, Y, name=strip_gz(path).stem, description=table.relation)


def _find_labels(path: Path, table: ArffTable, xml: str | PathLike[str] | None) -> list[int]:
    """Return the columns of the labels, in the order of the XML."""
    column_of = {attribute.name: column for column, attribute in enumerate(table.attributes)}
    beside = strip_gz(path).with_suffix(".xml")
    option = _MEKA_OPTION.search(table.relation)
    file: Path | None = beside if xml is None else Path(xml)
    if xml is None and not beside.exists():
        file = None if option else find_related_xml(path)
    if file is not None:
        return [column_of[label] for label in read_labels(file, path, column_of)]
    if option is None:
        raise DataError(
            f"{path} does not say which attributes are labels: there is neither an XML file"
            f" {beside.name!r} beside it nor a -C option in its relation name; pass the XML file as"
            f" the second argument{describe_fitting(path, column_of)}"
        )
    said, n_attributes = option.group(1), len(table.attributes)
    n_labels = int(said[:_MOST_DIGITS])  # Python does not read thousands of digits
    if not 0 < abs(n_labels) < n_attributes:
        found = f"{path} has {n_attributes} attributes"
        raise DataError(f"{found}, but its relation name says -C {said[:_MOST_DIGITS]}")
    columns = list(range(n_attributes))
    return columns[:n_labels] if n_labels > 0 else columns[n_labels:]


def _check_label(path: Path, attribute: Attribute, multi_valued: MultiValued) -> None:
    """Reject an attribute that cannot be a label, whatever the rows say."""
    decoded = {word_to_label(value) for value in attribute.values}
    is_binary = -1 not in decoded and len(decoded) == len(attribute.values)
    can_be_split = attribute.kind == "nominal" and multi_valued == "split"
    if attribute.kind in ("unsupported", "date") or not (is_binary or can_be_split):
        problem = f"has the type {attribute.type_name} instead of {{0, 1}}"
        hint = f"; {SPLIT_HINT}" if attribute.kind == "nominal" else ""
        raise error_at(path, attribute.line, f"label {attribute.name!r} {problem}{hint}")
