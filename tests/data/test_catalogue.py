"""The catalogue of data sets: its numbers are those of the files, and downloads are checked."""

import json
import sys
import types

import pytest

from steelyard.data import DataError
from steelyard.data.catalogue import find_entry, find_local, hash_file, list_local, read_catalogue
from steelyard.data.downloading import download_data
from steelyard.data.openml import KNOWN_DATA_SETS
from steelyard.data.sources import load_source
from steelyard.data.statistics import LabelStatistics, describe_labels

ARFF = "@relation 'r: -C 2'\n@attribute y {0,1}\n@attribute z {0,1}\n@attribute a numeric\n@data\n"
ARFF += "0,1,1\n1,1,2\n0,0,3\n"


@pytest.mark.parametrize("name", ["flags", "emotions", "cal500"])
def test_the_numbers_are_those_of_the_files(paper_data, name):
    entry, folder = read_catalogue()[name], paper_data / name
    assert hash_file(folder / f"{name}.arff") == entry.sha256
    data = load_source(str(folder))
    assert (len(data), data.X.shape[1]) == (entry.n_examples, entry.n_features)
    expected = [getattr(entry, field) for field in LabelStatistics._fields]
    assert list(describe_labels(data.Y)) == pytest.approx(expected, abs=5e-5)


def test_every_entry_can_be_fetched_from_somewhere():
    numbers = {name.lower(): number for name, (number, _) in KNOWN_DATA_SETS.items()}
    assert len(read_catalogue()) >= 25
    for name, entry in read_catalogue().items():
        assert entry.openml == numbers.get(name)
        assert (entry.openml is None) == bool(entry.download)
        hashes = [h for h in (entry.sha256, entry.download_sha256) if h]
        assert all(len(h) == 64 and set(h) <= set("0123456789abcdef") for h in hashes)
        has_numbers = entry.n_examples is not None or entry.n_features is not None
        assert bool(entry.numbers) == has_numbers
        assert (entry.numbers == "counted") == (entry.mean_imbalance is not None)


class TestLocalFolders:
    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        for name in ("mine", "flags"):
            (tmp_path / name).mkdir()
            (tmp_path / name / f"{name}.arff").write_text(ARFF)
        (tmp_path / "empty").mkdir()
        monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
        monkeypatch.chdir(tmp_path / "empty")
        return tmp_path

    def test_a_name_means_the_folder_of_this_name(self, folder):
        assert find_local("mine") == folder / "mine"
        assert load_source("flags").X.shape == (3, 1)
        assert [find_local(name) for name in ("empty", "..", "", "/", "nothing")] == [None] * 5
        assert [path.name for path in list_local(folder)] == ["flags", "mine"]

    def test_they_are_listed_and_counted(self, folder, run):
        code, out, _ = run("data", "list", "--json")
        assert code == 0
        listed = {entry["name"]: entry for entry in json.loads(out)}
        assert listed["mine"]["folder"] == str(folder / "mine")
        assert listed["mine"]["cardinality"] == 1.0
        assert listed["flags"]["n_examples"] == 3  # another version than that of the catalogue
        assert listed["bibtex"]["cardinality"] is None
        code, out, _ = run("data", "list", folder, "--json")
        assert [entry["name"] for entry in json.loads(out)] == ["flags", "mine"]
        code, out, err = run("data", "list", folder / "empty")
        assert code == 2
        assert "ARFF" in err


class TestDownloading:
    @pytest.fixture
    def pooch(self, tmp_path, monkeypatch):
        """A pooch without a network: what it was asked for, and what it raises."""
        module = types.ModuleType("pooch")
        module.asked, module.error = [], None
        module.os_cache = lambda project: tmp_path / project

        def retrieve(url, known_hash, fname, path):
            if module.error is not None:
                raise module.error
            module.asked.append((url.rpartition("/")[2], known_hash))
            path.mkdir(parents=True, exist_ok=True)
            xml = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="y"/></labels>'
            (path / fname).write_text(ARFF if fname.endswith("arff") else xml)
            return str(path / fname)

        module.retrieve = retrieve
        monkeypatch.setitem(sys.modules, "pooch", module)
        monkeypatch.delenv("STEELYARD_DATA", raising=False)
        return module

    def test_a_name_that_openml_lacks_is_downloaded_and_checked_by_its_hash(self, pooch, run):
        data = load_source("chd49")
        assert (data.name, data.label_names) == ("chd49", ["y"])
        sha256 = find_entry("chd49").download_sha256
        assert pooch.asked == [("chd_49.arff", f"sha256:{sha256}"), ("chd_49.xml", None)]
        assert run("data", "fetch", "chd49")[1].startswith("chd49: 3 examples")

    def test_failures_are_one_sentence(self, pooch):
        pooch.error = OSError("no route to host")
        with pytest.raises(ConnectionError, match=r"'flags' from https://.*flags\.arff \(no route"):
            load_source("flags")
        pooch.error = ValueError("SHA256 hash of downloaded file does not match the known hash")
        with pytest.raises(DataError, match="is not the file that the catalogue knows: SHA256"):
            download_data(find_entry("flags"))

    def test_without_pooch_the_sentence_says_what_to_install(self, pooch, monkeypatch):
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(ImportError, match=r"pip install 'steelyard\[fetch\]'"):
            load_source("flags")
