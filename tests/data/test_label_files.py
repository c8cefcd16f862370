"""The XML file of the labels is found by the name of the ARFF file, or named in a message."""

import re

import pytest

from steelyard.data import DataError, load_mulan
from steelyard.data.sources import load_source

ARFF = "@relation image\n@attribute sea {0,1}\n@attribute sky {0,1}\n@attribute blue real\n@data\n"
ROWS = "0,1,2.5\n1,0,3\n"


@pytest.fixture
def write(tmp_path):
    def write(name, labels=None):
        text = ARFF + ROWS
        if labels is not None:
            elements = "".join(f"\n<label name='{label}'/>" for label in labels)
            text = f"<?xml version='1.0'?>\n<labels>{elements}\n</labels>\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    "name",
    [
        "image-train.arff",
        "image_test.arff",
        "image-train1.arff",
        "Image.fold-3.train.arff",
        "imagetrain.arff",
        "image.arff",
    ],
)
def test_a_part_has_the_labels_of_the_whole(write, name):
    write("image.xml", ("sky",))
    assert load_mulan(write(name)).label_names == ["sky"]
    assert load_source(str(write(name))).label_names == ["sky"]


def test_the_closest_name_wins(write):
    write("image.xml", ("sky",))
    write("image-train.xml", ("sea",))
    assert load_mulan(write("image-train.arff")).label_names == ["sea"]
    assert load_mulan(write("image-train-1.arff")).label_names == ["sea"]
    assert load_mulan(write("image-test.arff")).label_names == ["sky"]


def test_the_option_of_meka_comes_before_a_related_name(write):
    write("image.xml", ("sky",))
    path = write("image-train.arff")
    path.write_text((ARFF + ROWS).replace("image", "'image: -C 1'"))
    assert load_mulan(path).label_names == ["sea"]


def test_without_a_file_the_fitting_ones_are_named(write):
    write("labels.xml", ("sea", "sky"))
    write("other.xml", ("land",))
    message = "neither an XML file 'image.xml' beside it .*; xml='labels.xml' would fit"
    with pytest.raises(DataError, match=message):
        load_mulan(write("image.arff"))


def test_files_that_do_not_fit_are_named_too(write):
    write("other.xml", ("land",))
    with pytest.raises(DataError, match="; the folder has 'other.xml', which do not fit"):
        load_mulan(write("image.arff"))


def test_a_wrong_file_is_named_with_the_fitting_one(write):
    write("labels.xml", ("sea", "sky"))
    wrong = write("image.xml", ("land",))
    message = (
        re.escape(f"{wrong}, line 3: ") + ".*no attribute for the label 'land'; xml='labels.xml'"
    )
    with pytest.raises(DataError, match=message):
        load_mulan(write("image.arff"))


def test_a_missing_file_is_named_with_candidates(write, tmp_path):
    write("labels.xml", ("sea", "sky"))
    path = write("image.arff")
    with pytest.raises(FileNotFoundError, match=r"lables\.xml \(did you mean 'labels\.xml'\?\)"):
        load_mulan(path, tmp_path / "lables.xml")
    with pytest.raises(FileNotFoundError, match=r"zzz\.xml; xml='labels\.xml' would fit"):
        load_mulan(path, tmp_path / "zzz.xml")


def test_a_folder_with_several_files_lists_them(write, tmp_path):
    write("image-train.arff")
    write("image-test.arff")
    with pytest.raises(
        DataError, match="2 ARFF files; expected one: pass one of 'image-test.arff'"
    ):
        load_source(str(tmp_path))
