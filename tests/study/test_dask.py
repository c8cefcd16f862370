"""``steelyard study --dask`` on a real cluster: the same bytes as here, whatever dies."""

import subprocess
import sys

import pytest

from clusters import Cluster
from steelyard.study import StudyConfig, config_to_toml, run_study

CONFIG = StudyConfig(
    ("planted",),
    parameters=(0.0, 64.0),
    phis=(1.0, 0.5),
    folds=3,
    n_candidates=600,
    tune=("f1_micro",),
    inner_folds=2,
    baselines=("ripper",),
)


def result_bytes(folder):
    files = [folder / name for name in ("results.csv", "tuned.csv", "baselines.csv")]
    files += sorted(folder.glob("theories/*/*")) + sorted(folder.glob("examples/*"))
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The files of the study on this machine."""
    folder = tmp_path_factory.mktemp("here") / "study"
    run_study(CONFIG, folder, n_jobs=1)
    return result_bytes(folder)


# Rows and theories are the subject here; figures and the page would take most of the time.
COMMAND = """
import sys
import steelyard.cli.study as command
from steelyard.cli import main
assert callable(command.report_study)
command.report_study = lambda *_, **__: None
main(sys.argv[1:])
"""


def start(folder, *options):
    """Start the command; its standard error has a line per unit."""
    config = folder.with_suffix(".toml")
    config.write_text(config_to_toml(CONFIG), encoding="utf-8")
    script = "import steelyard.cli.consoles as c; c._SECONDS_BETWEEN_LINES = 0\n" + COMMAND
    command = [sys.executable, "-c", script, "study", "--config", config, "--out", folder]
    return subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)


def finish(process):
    said = process.stderr.read()
    process.stderr.close()
    return process.wait(), said


def test_a_study_on_a_cluster_has_the_same_bytes_though_a_worker_dies(cluster, here, tmp_path):
    process = start(tmp_path / "study", "--dask", cluster.address)
    while "study: 2 of" not in process.stderr.readline():
        assert process.poll() is None
    cluster.kill_worker()
    code, said = finish(process)
    assert (code, "Traceback" in said) == (0, False), said
    assert result_bytes(tmp_path / "study") == here


# The last test with the cluster, which has one worker left.
def test_a_study_resumes_after_its_scheduler_died(cluster, here, tmp_path, run, monkeypatch):
    process = start(tmp_path / "study", "--dask", cluster.address)
    while "study: 2 of" not in process.stderr.readline():
        assert process.poll() is None
    cluster.kill_scheduler()
    code, said = finish(process)
    last = said.splitlines()[-1]
    assert code == 1
    assert last.startswith(
        "error: the connection to the Dask scheduler is lost; finished work is kept"
    )
    assert all(line == last or line.startswith("study: ") for line in said.splitlines())
    finished = list((tmp_path / "study" / "units" / "data" / "planted").iterdir())
    assert len(finished) >= 2
    # Another place, the same study: a process of this machine.
    monkeypatch.setattr("steelyard.cli.study.report_study", lambda *_, **__: None)
    options = ("--config", tmp_path / "study.toml", "--out", tmp_path / "study")
    code, _, said = run("study", *options, "--dask", "local", "--jobs", "1")
    assert (code, "Traceback" in said) == (0, False), said
    assert f"study: {len(finished)} of 13 units" in said
    assert result_bytes(tmp_path / "study") == here


def test_without_dask_one_sentence_says_how_to_install_it(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "steelyard.learning.cluster", raising=False)
    code, _, err = run("study", "planted", "--dask", "local", "--out", tmp_path / "o")
    assert code == 1
    assert err == "error: Dask is not installed; install it with: pip install 'steelyard[dask]'\n"
    assert not (tmp_path / "o").exists()


def test_a_wrong_address_is_one_sentence(run, tmp_path, monkeypatch):
    monkeypatch.setattr("steelyard.learning.cluster.SECONDS_TO_CONNECT", 0.2)
    code, _, err = run("study", "planted", "--dask", "127.0.0.1:9", "--out", tmp_path / "o")
    assert code == 1
    assert err.startswith("error: no Dask scheduler answers at '127.0.0.1:9'")
    assert not (tmp_path / "o").exists()
