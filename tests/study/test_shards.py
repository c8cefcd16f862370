"""Processes that share a results folder end with the same bytes as one process."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from steelyard.study import ShardReport, StudyError, collect_study, run_shard, run_study
from steelyard.study import runner as runner_file
from steelyard.study.config import config_to_toml
from steelyard.study.store import StudyStore

RESULT_FILES = ("results.csv", "tuned.csv", "baselines.csv", "study.toml")


def result_bytes(folder):
    files = [folder / name for name in RESULT_FILES]
    files += sorted(folder.glob("theories/*/*")) + sorted(folder.glob("examples/*"))
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def list_claims(folder):
    return sorted(p.name for p in (folder / "units" / "claims").iterdir())


def test_shards_in_turn_and_collected_are_the_whole_study(mini_study, mini_config, tmp_path):
    folder = mini_study.folder.with_name("shards")
    done = [run_shard(mini_config, folder, k, 4, n_jobs=1) for k in (1, 2, 3, 4)]
    # 3 folds of a grid, 3 inner folds and a baseline, and the candidates of the first.
    assert sum(report.n_computed for report in done) == 16
    assert {(report.n_found, report.n_elsewhere) for report in done} == {(0, 0)}
    assert max(report.n_computed for report in done) <= 4
    collect_study(mini_config, folder)
    assert result_bytes(folder) == result_bytes(mini_study.folder)
    assert list_claims(folder) == []
    # Each of the three ways continues what the others began.
    assert run_shard(mini_config, folder, 1, 1) == ShardReport(0, 16, 0)
    seen = []
    run_study(mini_config, folder, progress=lambda *call: seen.append(call))
    assert seen == [(16, 16, None)]


def test_a_shard_uses_several_workers(mini_study, mini_config):
    folder = mini_study.folder.with_name("two-jobs")
    assert run_shard(mini_config, folder, 1, 1, n_jobs=2).n_computed == 16
    collect_study(mini_config, folder)
    assert result_bytes(folder) == result_bytes(mini_study.folder)
    assert list_claims(folder) == []


def test_collecting_too_early_says_what_is_missing(mini_config, tmp_path):
    run_shard(mini_config, tmp_path, 2, 2, n_jobs=1)
    claims = StudyStore(tmp_path).claims
    assert claims.take("planted/fold-1")
    message = (
        r"8 of 16 units are missing \(1 of them are being computed\): 'planted/fold-1'.* and 3 more; "
        "compute them with --shard"
    )
    with pytest.raises(StudyError, match=message):
        collect_study(mini_config, tmp_path)
    assert not (tmp_path / "results.csv").exists()


def test_a_unit_that_another_process_holds_is_left_to_it(mini_config, tmp_path):
    run_shard(mini_config, tmp_path, 2, 2, n_jobs=1)
    claims = StudyStore(tmp_path).claims
    assert claims.take("planted/fold-3")
    report = run_shard(mini_config, tmp_path, 1, 1, n_jobs=1)
    assert (report.n_computed, report.n_found, report.n_elsewhere) == (7, 8, 1)
    claims.release("planted/fold-3")
    assert run_shard(mini_config, tmp_path, 1, 1, n_jobs=1).n_computed == 1


def test_a_shard_takes_over_what_a_dead_process_of_another_shard_held(mini_config, tmp_path):
    run_shard(mini_config, tmp_path, 1, 2, n_jobs=1)
    assert not is_finished(tmp_path, "planted/fold-2")
    file = tmp_path / "units" / "claims" / "planted@fold-2.0"
    file.write_text(json.dumps({"machine": "elsewhere", "pid": 1}))
    # Nobody knows whether a unit that nobody claimed is about to be; a dead claim is another matter.
    assert run_shard(mini_config, tmp_path, 1, 2, n_jobs=1).n_computed == 0
    os.utime(file, (0, 0))
    assert run_shard(mini_config, tmp_path, 1, 2, n_jobs=1).n_computed == 1
    assert is_finished(tmp_path, "planted/fold-2")
    assert list_claims(tmp_path) == []


def is_finished(folder: Path, name: str) -> bool:
    return (folder / "units" / "data" / f"{name}.npz").exists()


def test_a_study_alone_waits_for_no_dead_claims_but_rejects_living_ones(mini_config, tmp_path):
    run_shard(mini_config, tmp_path, 1, 4, n_jobs=1)
    file = tmp_path / "units" / "claims" / "planted@fold-1.0"
    file.write_text(json.dumps({"machine": "elsewhere", "pid": 1}))
    with pytest.raises(StudyError, match="another process is using"):
        run_study(mini_config, tmp_path, n_jobs=1)
    os.utime(file, (0, 0))
    run_study(mini_config, tmp_path, n_jobs=1)
    assert list_claims(tmp_path) == []


def test_shards_of_another_study_are_rejected(mini_config, tmp_path):
    run_shard(mini_config, tmp_path, 1, 8, n_jobs=1)
    with pytest.raises(StudyError, match="seed was 1, now 2"):
        run_shard(dataclasses.replace(mini_config, seed=2), tmp_path, 2, 8)
    with pytest.raises(StudyError, match="no shard 9 of 8"):
        run_shard(mini_config, tmp_path, 9, 8)


def test_an_error_while_claiming_is_not_lost(mini_config, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("steelyard.study.claims.Claims.take", fail)
    for n_jobs in (1, 2):
        with pytest.raises(OSError, match="No space"):
            run_shard(mini_config, tmp_path, 1, 1, n_jobs=n_jobs)


def test_a_folder_that_is_deleted_while_a_shard_runs_is_one_sentence(mini_config, tmp_path):
    folder = tmp_path / "out"

    def delete(n_done, n_units, unit):
        if unit is not None and folder.exists():
            shutil.rmtree(folder)

    with pytest.raises(StudyError, match="was deleted while the study was running"):
        run_shard(mini_config, folder, 1, 1, n_jobs=1, progress=delete)
    assert not folder.exists()


SCRIPT = """
import sys
from steelyard.study import config_from_toml, run_shard
config = config_from_toml(sys.argv[1])
run_shard(config, sys.argv[2], *map(int, sys.argv[3:]), n_jobs=1,
          progress=lambda *_: print("unit", flush=True))
"""


def start_shard(config, folder, shard, n_shards):
    command = [sys.executable, "-c", SCRIPT, config_to_toml(config), str(folder)]
    command += [str(shard), str(n_shards)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_that_are_killed_lose_nothing(mini_study, mini_config):
    """Three processes begin at once, two on the same shard; two are killed at work."""
    folder = mini_study.folder.with_name("killed")
    processes = [start_shard(mini_config, folder, k, 2) for k in (1, 1, 2)]
    for process in processes[1:]:
        for _ in range(2):
            process.stdout.readline()
        process.kill()
    for process in processes:
        process.stdout.read()
        process.wait()
        process.stdout.close()
    assert processes[0].returncode == 0
    again = [start_shard(mini_config, folder, k, 2) for k in (1, 2)]
    for process in again:
        process.stdout.read()
        assert process.wait() == 0
        process.stdout.close()
    collect_study(mini_config, folder)
    assert result_bytes(folder) == result_bytes(mini_study.folder)
    assert list_claims(folder) == []


def test_no_unit_is_computed_twice_by_processes_that_share_a_folder(
    mini_config, tmp_path, monkeypatch
):
    """Two shards of one, in threads, that ask for the same units at the same time."""
    computed = []
    compute = runner_file.compute_unit

    def record(release, config, unit, *data):
        computed.append(unit)
        time.sleep(0.01)
        return compute(release, config, unit, *data)

    monkeypatch.setattr(runner_file, "compute_unit", record)
    threads = [
        threading.Thread(target=run_shard, args=(mini_config, tmp_path, 1, 1)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(computed) == len(set(computed)) == 16
