"""Fixtures for the readers: small files written where a test may write."""

from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.data import MultiLabelData, load_mulan


@pytest.fixture
def load_arff(tmp_path: Path) -> Callable[..., MultiLabelData]:
    """Load an ARFF text whose first attribute is its only label, unless it says otherwise."""

    def load(text: str, labels: tuple[str, ...] = ("y",), **options: object) -> MultiLabelData:
        arff, xml = tmp_path / "toy.arff", tmp_path / "toy.xml"
        arff.write_text(text, encoding="utf-8", newline="")
        if labels:
            xml.write_text(labels_to_xml(labels), encoding="utf-8")
        return load_mulan(arff, **options)

    return load


def labels_to_xml(labels: tuple[str, ...]) -> str:
    from xml.sax.saxutils import quoteattr

    elements = "".join(f"<label name={quoteattr(name)}></label>\n" for name in labels)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<labels xmlns="http://mulan.sourceforge.net/labels">\n{elements}</labels>\n'
    )
