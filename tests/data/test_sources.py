"""What a DATA argument means."""

import subprocess
import sys

import pytest

from steelyard.data import DataError
from steelyard.data.sources import brings_labels, load_source, read_attributes


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text('x,colour,up,"a,b"\n1,red,0,1\n2,blue,1,0\n3,red,1,1\n')
    return path


def test_a_table_needs_labels(csv):
    with pytest.raises(DataError, match="--labels"):
        load_source(str(csv))
    assert load_source(str(csv), ("up",)).label_names == ["up"]
    assert load_source(str(csv), ("a,b",)).label_names == ["a,b"]


@pytest.mark.parametrize("source", ["nothing.csv", "no/where", "nothing.arff"])
def test_a_path_that_is_not_there_is_a_missing_file(source):
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        load_source(source)


def test_a_folder_needs_one_arff_file(tmp_path):
    with pytest.raises(DataError, match="0 ARFF files"):
        load_source(str(tmp_path))


def test_a_folder_has_the_arff_file_of_its_name_or_only_one(tmp_path):
    folder = tmp_path / "toy"
    folder.mkdir()
    text = "@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@data\n0,1\n1,2\n"
    (folder / "other.arff").write_text(text)
    assert load_source(str(folder)).name == "other"
    (folder / "toy.arff").write_text(text)
    assert load_source(str(folder)).name == "toy"
    (folder / "toy.arff").rename(folder / "third.arff")
    with pytest.raises(DataError, match="2 ARFF files"):
        load_source(str(folder))


def test_only_a_table_does_not_bring_its_labels(csv, tmp_path):
    (tmp_path / "toy.arff.gz").touch()
    assert not brings_labels(str(csv))
    assert all(map(brings_labels, ["segments", "yeast", str(tmp_path), f"{tmp_path}/toy.arff.gz"]))


def test_attributes_are_read_without_knowing_the_labels(csv):
    assert read_attributes(str(csv)).columns.tolist() == ["x", "colour", "up", "a,b"]
    assert read_attributes("segments").shape == (1797, 64)


def test_another_kind_of_file_is_rejected(tmp_path):
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(DataError, match="neither a folder nor an ARFF, CSV or Parquet file"):
        load_source(str(tmp_path / "notes.json"))


def test_the_commands_that_use_a_theory_do_not_import_the_study(csv, tmp_path):
    script = f"""
import sys
from steelyard.cli.main import main
theory = {str(tmp_path / "theory.json")!r}
for command in (
    ["fit", {str(csv)!r}, "--labels", "up", "--candidates", "5", "-o", theory],
    ["predict", theory, {str(csv)!r}],
    ["explain", theory, {str(csv)!r}],
    ["evaluate", theory, {str(csv)!r}],
):
    try:
        main(command)
    except SystemExit as leaving:
        assert leaving.code == 0, command
    imported = [name for name in sys.modules if name.startswith("steelyard.study")]
    assert not imported, (command, imported)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
