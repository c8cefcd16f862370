"""Bad input gets one clear sentence with file and line, whatever is wrong with it."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.data import DataError, load_mulan

HEADER = "@relation toy\n@attribute y {0,1}\n@attribute a numeric\n@attribute b {u,v}\n@data\n"

BAD_TEXTS = {
    "row too short": (HEADER + "0,1,u\n1,2\n", "line 7: the row has 2 values instead of 3"),
    "row too long": (HEADER + "0,1,u,9\n", "line 6: the row has 4 values instead of 3"),
    "not a number": (HEADER + "0,one,u\n", "line 6: attribute 'a': 'one' is not a number"),
    "empty number": (HEADER + "0,,u\n", "line 6: attribute 'a': '' is not a number"),
    "infinity": (HEADER + "0,1,u\n1,1e999,u\n", "line 7: attribute 'a': '1e999' is not a number"),
    "underscore": (HEADER + "0,1_0,u\n", "line 6: attribute 'a': '1_0' is not a number"),
    "outside the nominal set": (
        HEADER + "% comment\n0,1,u\n1,?,w\n",
        "line 8: attribute 'b': 'w' is not among its values {u, v}",
    ),
    "wrong case": (HEADER + "0,1,U\n", "line 6: attribute 'b': 'U' is not among its values"),
    "label outside its set": (HEADER + "2,1,u\n", "line 6: attribute 'y': '2' is not among"),
    "label missing": (
        HEADER + "0,1,u\n?,1,u\n",
        "line 7: label 'y' is missing; missing_labels='drop' leaves out such examples",
    ),
    "index out of range": (
        HEADER + "{0 1, 3 1}\n",
        "line 6: index 3 is out of range: the last is 2",
    ),
    "index twice": (HEADER + "{1 1, 1 2}\n", "line 6: index 1 is not greater"),
    "index not ascending": (HEADER + "{}\n{1 1, 0 1}\n", "line 7: index 0 is not greater"),
    "sparse pair broken": (HEADER + "{0 1 2, 3}\n", "line 6: expected an index and a value"),
    "sparse index no number": (HEADER + "{x 1}\n", "line 6: expected an index and a value"),
    "sparse value bad": (HEADER + "{0 1}\n{2 w}\n", "line 7: attribute 'b': 'w' is not among"),
    "sparse row open": (
        HEADER + "{0 1\n",
        "line 6: the closing brace of the sparse row is missing",
    ),
    "text after sparse row": (
        HEADER + "{0 1} 7\n",
        "line 6: there is text after the closing brace",
    ),
    "dense row too short among sparse ones": (HEADER + "{}\n0,1\n", "line 7: the row has 2 values"),
    "open quote": (HEADER + "0,1,'u\n", "line 6: a quote is never closed"),
    "text after quote": (HEADER + "0,1,'u'v\n", "line 6: a comma is missing in the row"),
    "no rows": (HEADER + "% nothing\n", "toy.arff has no examples after @data"),
    "no @data": ("@relation toy\n@attribute y {0,1}\n", "toy.arff has no @data section"),
    "no attributes": ("@relation toy\n@data\n1\n", "line 2: there is no @attribute before @data"),
    "not ARFF": (
        "a,b,c\n1,2,3\n",
        "line 1: expected @relation, @attribute or @data, found 'a,b,c'",
    ),
    "unknown keyword": ("@attribut y {0,1}\n", "line 1: @attribut is not a keyword"),
    "duplicate attribute": (
        "@attribute y {0,1}\n@attribute 'y' real\n@data\n",
        "line 2: attribute 'y' is declared a second time, after line 1",
    ),
    "duplicate value": (
        "@attribute y {0,1,0}\n@data\n",
        "line 1: attribute 'y' lists its value '0'",
    ),
    "unknown type": ("@attribute y float\n@data\n", "attribute 'y' has the unknown type 'float'"),
    "no type": ("@attribute y\n@data\n", "line 1: attribute 'y' has no type"),
    "no name": ("@attribute\n@data\n", "line 1: the name is missing"),
    "empty set": ("@attribute y {}\n@data\n", "line 1: the set of nominal values is empty"),
    "open set": ("@attribute y {0,1\n@data\n", "line 1: the closing brace of the set of nominal"),
    "text after set": (
        "@attribute y {0,1} x\n@data\n",
        "line 1: there is text after the closing brace",
    ),
    "relational": (
        "@attribute y {0,1}\n@attribute bag relational\n@data\n0,1\n",
        "line 2: attribute 'bag' has the unknown type 'relational'",
    ),
    "label with other values": (
        "@attribute y {a,b,c}\n@attribute x real\n@data\na,1\n",
        "line 1: label 'y' has the type {a, b, c} instead of {0, 1}; multi_valued='split' makes",
    ),
    "label of text": (
        "@attribute y string\n@attribute x real\n@data\na,1\n",
        "line 1: label 'y' has the type string instead of {0, 1}",
    ),
    "numeric label": (
        "@attribute y numeric\n@attribute x real\n@data\n1,1\n0.5,2\n",
        "line 5: label 'y' is '0.5' instead of 0 or 1",
    ),
    "only labels": ("@attribute y {0,1}\n@data\n1\n", "has no attributes besides the labels"),
}


@pytest.mark.parametrize(("text", "message"), BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_bad_text_is_named_with_its_line(load_arff, text, message):
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        load_arff(text)
    assert "toy.arff" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("toy", "neither an XML file 'toy.xml' beside it nor a -C option"),
        ("'toy -R1-C-N0'", "neither an XML file"),
        ("'toy: -C 0'", "has 3 attributes, but its relation name says -C 0"),
        ("'toy: -C -7'", "has 3 attributes, but its relation name says -C -7"),
        ("'toy: -C 3'", "has 3 attributes, but its relation name says -C 3"),
    ],
)
def test_without_xml_the_relation_name_must_say_which_are_labels(load_arff, relation, message):
    with pytest.raises(DataError, match=message):
        load_arff(HEADER.replace("toy", relation) + "0,1,u\n", labels=())


def test_a_label_without_an_attribute_is_named_with_the_line_of_the_xml(load_arff):
    text = "@attribute happy {0,1}\n@attribute a real\n@data\n0,1\n"
    message = r"toy\.xml, line 3: .*no attribute for the label 'hapy' \(did you mean 'happy'\?\)"
    with pytest.raises(DataError, match=message):
        load_arff(text, labels=("hapy",))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("toy.arff", b"", "is empty"),
        ("toy.arff", b" \n\n", "is empty"),
        ("toy.arff", np.random.default_rng(0).bytes(1000), "contains binary data"),
        ("toy.arff", bytes(range(128, 256)) * 9, "line 1: expected @relation"),
        ("toy.arff", "@relation x".encode("utf-16"), "is encoded as UTF-16"),
        ("toy.arff.gz", b"@relation x", "is not a valid gzip file"),
        ("toy.arff.gz", gzip.compress(b"@relation x" * 99)[:-9], "is not a valid gzip file"),
    ],
    # gzip writes the time into its header: the bytes differ from one worker to the next.
    ids=["empty", "blank", "binary", "high bytes", "UTF-16", "not gzip", "damaged gzip"],
)
def test_files_that_are_no_text_are_rejected(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        load_mulan(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.arff"):
        load_mulan(tmp_path / "nowhere.arff")
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        load_mulan(tmp_path)


VALID = HEADER + "0,1.5,u\n{0 1, 1 2, 2 v}\n% remark\n1, ?, 'v'\n{}\n"
slices = st.tuples(st.integers(0, len(VALID)), st.integers(0, 6))
snippets = st.text(st.sampled_from("01?,'\"\\%{}@ \t\nuvx"), max_size=4)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(edits=st.lists(st.tuples(slices, snippets), min_size=1, max_size=3))
@pytest.mark.filterwarnings("ignore:.*weights of", "ignore:.*no rule can be learned")
def test_damage_anywhere_is_read_or_rejected_in_one_sentence_and_never_crashes(load_arff, edits):
    text = VALID
    for (start, length), snippet in edits:
        text = text[:start] + snippet + text[start + length :]
    message = ""
    try:
        load_arff(text)
    except DataError as error:
        message = str(error)
    assert "\n" not in message


@pytest.mark.parametrize(
    "option", ["sparse", "on_unsupported", "constant_labels", "missing_labels", "multi_valued"]
)
def test_unknown_options_are_rejected(load_arff, option):
    with pytest.raises(ValueError, match=f"{option} must be .*not 'perhaps'"):
        load_arff(HEADER + "0,1,u\n1,1,u\n", **{option: "perhaps"})
