"""A real Dask cluster on this machine, whose scheduler and workers are processes that tests can kill."""

import json
import subprocess
import sys
import time
from pathlib import Path

LOOPBACK = "127.0.0.1"
# Tests kill processes, and no replacement may hide it. Workers end without their scheduler, and the
# scheduler without work, even if the tests are killed.
WORKER = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", LOOPBACK]
WORKER += ["--death-timeout", "30"]
SCHEDULER = ["--host", LOOPBACK, "--port", "0", "--no-dashboard", "--no-show"]
SCHEDULER += ["--idle-timeout", "600s"]


class Cluster:
    """A scheduler and workers with one thread each; `close` ends all of them."""

    def __init__(self, folder: Path, n_workers: int = 2) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", *SCHEDULER)
        for _ in range(n_workers):
            self.add_worker()

    def _start(self, kind: str, *options: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind, *options]
        command += ["--scheduler-file", str(self.file)]
        # Dask writes into the current folder.
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder}
        return subprocess.Popen(command, **quiet)

    @property
    def address(self) -> str:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.file.exists() and self.file.read_text():
                return json.loads(self.file.read_text())["address"]
            time.sleep(0.05)
        raise TimeoutError("the scheduler did not start")

    def add_worker(self) -> None:
        self.workers.append(self._start("worker", *WORKER))

    def kill_worker(self) -> None:
        worker = self.workers.pop()
        worker.kill()
        worker.wait()

    def kill_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()
