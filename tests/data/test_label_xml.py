"""Label names come from XML that is not trusted."""

import pytest

from steelyard.data import DataError
from steelyard.data.label_xml import read_label_lines


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "labels.xml"
        path.write_text(text, encoding="utf-8")
        return list(read_label_lines(path))

    return read


def test_nested_labels_are_listed_in_document_order(read):
    text = """<?xml version="1.0"?>
    <labels xmlns="http://mulan.sourceforge.net/labels">
      <label name="A"><label name="A.1"/><label name="A.2"><label name="A.2.x"/></label></label>
      <label name="B"></label>
    </labels>"""
    assert read(text) == ["A", "A.1", "A.2", "A.2.x", "B"]


def test_the_namespace_is_optional_and_standard_entities_work(read):
    assert read("<labels><label name='a &amp; b'/></labels>") == ["a & b"]


BILLION_LAUGHS = (
    '<?xml version="1.0"?>\n<!DOCTYPE labels [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">'
        for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + ']>\n<labels><label name="&j;"/></labels>'
)
EXTERNAL = '<!DOCTYPE labels SYSTEM "http://example.org/x.dtd"><labels><label name="a"/></labels>'


@pytest.mark.parametrize("text", [BILLION_LAUGHS, EXTERNAL], ids=["entities", "external"])
def test_a_document_type_is_rejected_before_anything_expands(read, text):
    with pytest.raises(DataError, match=r"line \d: the XML declares a document type"):
        read(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<labels></labels>", "has no label"),
        ("<labels>\n<label/></labels>", "line 2: the label has no name"),
        ("<labels>\n<label name='a'/>\n<label name='a'/></labels>", "line 3: label 'a' is listed"),
        (
            "<labels>\n<label name='a'>\n</labels>",
            r"line 3: this is not valid XML \(mismatched tag",
        ),
        ("no xml", "line 1: this is not valid XML"),
        ("", "is empty"),
    ],
)
def test_bad_xml_gets_one_sentence(read, text, message):
    with pytest.raises(DataError, match=message):
        read(text)
