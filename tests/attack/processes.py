"""What ends or disturbs a running study: signals, crashes, lost workers, full disks, other writers.

After each of them the same command must end with the bytes of an undisturbed study.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import Theory
from steelyard._files import TEMPORARY, write_atomically
from steelyard.study import StudyError, run_study

from . import crashing
from .mutator import mutate
from .outcomes import Outcome, Setting

STUDY = (
    *("study", "planted", "--candidates", "10000", "--folds", "3", "--parameters", "0,16"),
    *("--phis", "1,0.5", "--baselines", "ripper", "--jobs", "2", "--out"),
)
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SESSION = 3  # the place of the session in /proc/PID/stat, counted after the name


def digest_folder(folder: Path) -> dict[str, str]:
    """The hash of every file of a study; moments and durations are left out."""
    found = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, content = file.relative_to(folder).as_posix(), file.read_bytes()
        if name == "units/lock":
            continue
        if name == "run.json":
            run = json.loads(content)
            del run["finished"]
            for about in run["data"].values():
                del about["seconds"], about["cpu_seconds"]
            content = json.dumps(run).encode()
        elif name == "units/identity.json":
            content = json.dumps(json.loads(content)).encode()  # another layout is no damage
        elif file.suffix == ".npz":
            with np.load(io.BytesIO(content)) as arrays:
                parts = [
                    (key, arrays[key]) for key in sorted(arrays) if not key.endswith("seconds")
                ]
            content = b"".join(key.encode() + array.tobytes() for key, array in parts)
        found[name] = hashlib.sha256(content).hexdigest()
    return found


def compare(outcome: Outcome, what: str, folder: Path, whole: dict[str, str]) -> None:
    """Say whether a folder has the bytes of an undisturbed study."""
    found = digest_folder(folder)
    different = sorted(name for name in found | whole if found.get(name) != whole.get(name))
    if different:
        outcome.fail(f"{what}: {', '.join(different[:5])} differ")
    else:
        outcome.see("the same bytes after a resume")


def start(folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start a study in a session of its own; what it says goes to a file."""
    command = [sys.executable, "-m", "attack.program", *STUDY, str(folder)]
    with log.open("wb") as file:
        return subprocess.Popen(
            command, stdout=file, stderr=file, start_new_session=True, env=find_attack()
        )


def find_attack() -> dict[str, str]:
    """The environment of a process that imports this package."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": paths}


def finish(outcome: Outcome, what: str, folder: Path, log: Path, whole: dict[str, str]) -> None:
    """Run a study to its end and compare its bytes."""
    code = start(folder, log).wait()
    if code:
        outcome.fail(f"{what}: exit {code} when resumed: {log.read_text('utf-8')[-200:]}")
    else:
        compare(outcome, what, folder, whole)


def list_session(leader: int) -> dict[int, str]:
    """The processes of a session: id → command line. Empty where there is no /proc."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
            if int(fields[_SESSION]) == leader and fields[0] != "Z":
                found[int(folder.name)] = (folder / "cmdline").read_text("utf-8")
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def wait_until(condition: Callable[[], Any], seconds: float) -> bool:
    """Wait for something that should happen soon; return whether it did."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())


class Undisturbed:
    """A study that nothing disturbs: its bytes, its size and how long it takes."""

    def __init__(self, folder: Path) -> None:
        begin = time.monotonic()
        code = start(folder / "whole", folder / "log").wait()
        if code:
            raise AssertionError((folder / "log").read_text("utf-8"))
        self.seconds = time.monotonic() - begin
        self.digests = digest_folder(folder / "whole")
        self.size = sum(p.stat().st_size for p in (folder / "whole").rglob("*") if p.is_file())


def kill_at_random(setting: Setting) -> Iterator[Outcome]:
    """Signals at random moments, several in a row, then a resume."""
    whole = Undisturbed(setting.folder)
    outcome = Outcome("signals at random moments, up to three per study, then a resume")
    chance = random.Random(setting.seed)
    n_signals = 0
    for k in range(setting.n_rounds):
        number, folder, log = SIGNALS[k % 4], setting.folder / f"killed-{k}", setting.folder / "log"
        for _ in range(3):
            process = start(folder, log)
            try:
                process.wait(chance.uniform(0.05, 0.8) * whole.seconds)
                break  # it was faster
            except subprocess.TimeoutExpired:
                n_signals += 1
                _end(outcome, process, number, log)
        finish(outcome, f"{number.name}, round {k}", folder, log, whole.digests)
        shutil.rmtree(folder)
    outcome.notes.append(f"{n_signals} signals in all; no process survived, no traceback")
    yield outcome


def _end(outcome: Outcome, process: subprocess.Popen[bytes], number: int, log: Path) -> None:
    """Send a signal, to the whole group if it is Ctrl-C; check how the program ends."""
    is_up = b"units" in log.read_bytes()
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    code = process.wait(60)
    if not wait_until(lambda: not list_session(process.pid), 15):
        outcome.fail(f"signal {number}: processes survive: {list_session(process.pid)}")
    said = log.read_text("utf-8")
    # Before the program is up, Python's own handlers are at work.
    if is_up and number != signal.SIGKILL:
        if "Traceback" in said:
            outcome.fail(f"signal {number}: {said[-300:]}")
        if code not in (0, 128 + number):
            outcome.fail(f"signal {number}: exit {code}: {said[-200:]}")


def lose_workers(setting: Setting) -> Iterator[Outcome]:
    """Kill a worker, as a system without memory does."""
    whole = Undisturbed(setting.folder)
    outcome = Outcome("a worker of a study is killed, then a resume")
    chance, log = random.Random(setting.seed), setting.folder / "log"
    n_lost = 0
    for k in range(setting.n_rounds):
        folder = setting.folder / f"lost-{k}"
        process = start(folder, log)
        wait_until(partial(_list_workers, process.pid), 20)
        time.sleep(chance.uniform(0, 1.5))
        n_lost += _kill_one(_list_workers(process.pid))
        code, said = process.wait(120), log.read_text("utf-8")
        if code not in (0, 1) or "Traceback" in said or (code and "killed" not in said):
            outcome.fail(f"a lost worker: exit {code}: {said[-300:]}")
        finish(outcome, f"a lost worker, round {k}", folder, log, whole.digests)
        shutil.rmtree(folder)
    outcome.notes.append(f"{n_lost} workers were killed, each was named in one sentence")
    yield outcome


def _list_workers(leader: int) -> list[int]:
    return [p for p, command in list_session(leader).items() if "popen_loky" in command]


def _kill_one(processes: list[int]) -> int:
    """Kill the first process, if it is still there; return how many were killed."""
    try:
        os.kill(processes[0], signal.SIGKILL)
    except (IndexError, ProcessLookupError):
        return 0
    return 1


def crash_everywhere(setting: Setting) -> Iterator[Outcome]:
    """Crash at every step of every atomic write, and resume."""
    outcome = Outcome("a crash at a step of an atomic write (half of it, all of it, renamed)")
    chance = random.Random(setting.seed)
    old, new = crashing.old_theory().to_json(), crashing.new_theory().to_json()
    whole = setting.folder / "whole"
    whole.mkdir()
    crashing.work(whole)
    digests = digest_folder(whole / "study")
    n_steps = 3 * (len(digests) + 1)
    steps = list(range(1, n_steps + 1))
    if setting.n_rounds < 4:  # the short form
        steps = sorted(chance.sample(steps, 2 * setting.n_rounds))
    for step in steps:
        folder = setting.folder / "crashed"
        folder.mkdir()
        (folder / "theory.json").write_text(old, encoding="utf-8")
        code = run_crashing(folder, step)
        theory = (folder / "theory.json").read_text("utf-8")
        Theory.from_json(theory)
        if code != crashing.CRASHED or theory not in (old, new):
            outcome.fail(f"step {step}: exit {code}, or a theory that is neither old nor new")
        crashing.work(folder)
        if left := [p.name for p in (folder / "study").rglob(f"{TEMPORARY}*")]:
            outcome.fail(f"step {step}: {left} stay behind")
        compare(outcome, f"crash at step {step}", folder / "study", digests)
        shutil.rmtree(folder)
    outcome.notes.append(f"there are {n_steps} steps")
    yield outcome


def run_crashing(folder: Path, step: int, *more: str) -> int:
    """Run the study that crashes; return its exit code."""
    command = [sys.executable, "-m", "attack.crashing", str(folder), str(step), *more]
    return subprocess.run(command, env=find_attack(), capture_output=True, check=False).returncode


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Callable[[int], None] | None]:
    """Mount a file system of so many bytes; yield what makes it larger, or None if it is not allowed."""
    folder.mkdir()

    def mount(*options: str) -> int:
        command = ["mount", "-t", "tmpfs", *options, "steelyard-attack", str(folder)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    if shutil.which("mount") is None or mount("-o", f"size={size}"):
        yield None
        return
    try:
        yield lambda size: mount("-o", f"remount,size={size}") and None
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill_disk(setting: Setting) -> Iterator[Outcome]:
    """Let the disk be full, and go on when there is space again."""
    whole = Undisturbed(setting.folder)
    outcome = Outcome("the disk is full (a small tmpfs), then there is space and a resume")
    chance, log = random.Random(setting.seed), setting.folder / "log"
    for k in range(setting.n_rounds):
        size = int(chance.uniform(0.02, 0.9) * whole.size)
        disk = setting.folder / f"disk-{k}"
        with small_disk(disk, size) as enlarge:
            if enlarge is None:
                yield from _fill_simulated_disk(setting)
                return
            code, said = start(disk / "out", log).wait(), log.read_text("utf-8")
            if code != 1 or "the disk is full" not in said or "Traceback" in said:
                outcome.fail(f"{size:,} bytes: exit {code}: {said[-300:]}")
            enlarge(20 * whole.size)
            finish(outcome, f"a disk of {size:,} bytes", disk / "out", log, whole.digests)
    yield outcome


def _fill_simulated_disk(setting: Setting) -> Iterator[Outcome]:
    """Where nothing may be mounted, writing fails from some step on."""
    outcome = Outcome("the disk is full (simulated: writing fails with ENOSPC), then a resume")
    crashing.work(setting.folder / "whole-small")
    digests = digest_folder(setting.folder / "whole-small" / "study")
    chance = random.Random(setting.seed)
    for _ in range(setting.n_rounds):
        step, folder = chance.randrange(1, 3 * len(digests)), setting.folder / "full"
        folder.mkdir()
        if run_crashing(folder, step, "full") != 1:
            outcome.fail(f"step {step}: a full disk does not end the study")
        crashing.work(folder)
        compare(outcome, f"full at step {step}", folder / "study", digests)
        shutil.rmtree(folder)
    yield outcome


def write_twice(setting: Setting) -> Iterator[Outcome]:
    """Two studies in one folder, and threads that replace one file while another reads it."""
    whole = Undisturbed(setting.folder)
    outcome = Outcome("two processes start the same study in one folder at once")
    logs = [setting.folder / "log-1", setting.folder / "log-2"]
    for k in range(setting.n_rounds):
        folder = setting.folder / f"twice-{k}"
        codes = [process.wait() for process in [start(folder, log) for log in logs]]
        said = "".join(log.read_text("utf-8") for log in logs)
        if sorted(codes) not in ([0, 0], [0, 1]) or (1 in codes and "another process" not in said):
            outcome.fail(f"exit {codes}: {said[-300:]}")
        compare(outcome, f"two writers, round {k}", folder, whole.digests)
        shutil.rmtree(folder)
    yield outcome
    yield _replace_while_reading(setting.folder / "shared", 50 * setting.n_rounds)


def _replace_while_reading(file: Path, n_writes: int) -> Outcome:
    outcome = Outcome("a file is read while four threads replace it")
    contents = [bytes([65 + i]) * 200_000 for i in range(4)]
    write_atomically(file, contents[0])
    threads = [
        threading.Thread(
            target=lambda c=content: [write_atomically(file, c) for _ in range(n_writes)]
        )
        for content in contents
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if file.read_bytes() in contents:
            outcome.see("one whole content")
        else:
            outcome.fail("a file with the bytes of two writers")
    if list(file.parent.glob(f"{TEMPORARY}*")):
        outcome.fail("temporary files stay behind")
    return outcome


def damage_units(setting: Setting) -> Iterator[Outcome]:
    """Damage what a finished study saved, and run it again."""
    outcome = Outcome("a file of a finished study is damaged or deleted, then a resume")
    chance, folder = random.Random(setting.seed), setting.folder / "study"
    run_study(crashing.CONFIG, folder, n_jobs=1)
    digests = digest_folder(folder)
    names = [name for name in digests if not name.startswith(("tables", "figures", "index"))]
    for _ in range(10 * setting.n_rounds):
        name = chance.choice(names)
        file, before = folder / name, (folder / name).read_bytes()
        damaged = mutate(before, chance)
        file.write_bytes(damaged) if chance.random() < 0.8 else file.unlink()
        try:
            run_study(crashing.CONFIG, folder, n_jobs=1)
        except StudyError:
            if name != "units/identity.json":
                outcome.fail(f"{name}: rejected")
            else:
                outcome.see("a damaged identity is rejected")
            file.write_bytes(before)
            continue
        except Exception as error:
            outcome.fail(f"{name}: {type(error).__name__}: {error}"[:300])
            file.write_bytes(before)
            continue
        compare(outcome, f"damaged {name}", folder, digests)
    yield outcome
