"""The catalogue of data sets: its numbers are those of the files, and downloads are checked."""

import hashlib
import json
import socket
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from steelyard.data import DataError
from steelyard.data.catalogue import find_entry, find_local, hash_file, list_local, read_catalogue
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


XML = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="y"/></labels>'


class TestDownloading:
    """pooch downloads from a server on this machine; no network is needed."""

    @pytest.fixture(autouse=True)
    def cache(self, tmp_path, monkeypatch):
        monkeypatch.delenv("STEELYARD_DATA", raising=False)
        monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)
        return tmp_path / "steelyard" / "chd49"

    @pytest.fixture
    def server(self, monkeypatch):
        """What the server has; a file with a length of its own breaks off before it."""
        content = {"/chd_49.arff": ARFF, "/chd_49.xml": XML}
        asked, lengths = [], {}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = content.get(self.path, "").encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(lengths.get(self.path, len(body))))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
            thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            for name in ("_ARFF_URL", "_XML_URL"):
                address = f"http://127.0.0.1:{found.server_port}"
                monkeypatch.setattr(f"steelyard.data.downloading.{name}", address)
            known = find_entry("chd49")
            entry = known._replace(download_sha256=hashlib.sha256(ARFF.encode()).hexdigest())
            monkeypatch.setitem(read_catalogue(), "chd49", entry)
            yield types.SimpleNamespace(content=content, asked=asked, lengths=lengths)
            found.shutdown()
            thread.join()

    def test_a_name_that_openml_lacks_is_downloaded_once(self, server, run):
        data = load_source("chd49")
        assert (data.name, data.label_names) == ("chd49", ["y"])
        assert server.asked == ["/chd_49.arff", "/chd_49.xml"]
        server.content.clear()  # from now on it is in the cache
        assert run("data", "fetch", "chd49")[1].startswith("chd49: 3 examples")
        assert len(server.asked) == 2

    def test_another_file_is_rejected_by_its_hash_and_not_kept(self, server, cache):
        server.content["/chd_49.arff"] = ARFF + "1,0,4\n"
        with pytest.raises(
            DataError, match=r"chd_49\.arff is not the file that the catalogue knows"
        ):
            load_source("chd49")
        assert list(cache.iterdir()) == []
        server.content["/chd_49.arff"] = ARFF
        assert len(load_source("chd49")) == 3

    def test_a_file_that_breaks_off_is_not_kept(self, server, cache):
        server.lengths["/chd_49.arff"] = len(ARFF) + 100
        with pytest.raises(
            ConnectionError, match=r"'chd49' is not on this machine, and http.*arff"
        ):
            load_source("chd49")
        assert list(cache.iterdir()) == []

    def test_half_of_the_labels_are_not_kept(self, server, cache):
        server.content["/chd_49.xml"] = XML[:60]
        with pytest.raises(DataError, match=r"chd49\.xml, line 1: this is not valid XML"):
            load_source("chd49")
        assert [file.name for file in cache.iterdir()] == ["chd49.arff"]
        server.content["/chd_49.xml"] = XML
        assert load_source("chd49").label_names == ["y"]

    def test_a_file_that_the_server_lacks_is_named_with_its_answer(self, server):
        del server.content["/chd_49.xml"]
        with pytest.raises(ConnectionError, match=r"chd_49\.xml .*\(the server answered 404 Not F"):
            load_source("chd49")

    def test_without_a_network_one_sentence_says_what_to_do(self, monkeypatch, run):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        monkeypatch.setattr("steelyard.data.downloading._ARFF_URL", address)
        code, _, err = run("data", "fetch", "chd49")
        assert code == 1
        assert "(Connection refused): check the connection to the network, or put chd49.arff" in err
        assert "Traceback" not in err

    def test_without_pooch_the_sentence_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(ImportError, match=r"pip install 'steelyard\[fetch\]'"):
            load_source("flags")
