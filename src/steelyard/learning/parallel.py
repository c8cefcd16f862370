"""Parallel work: a function and its arguments → results. Owns the life of workers; knows no learner."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from queue import Empty, SimpleQueue
from typing import Any

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

# Called with the amount of work done so far and the total.
Progress = Callable[[int, int], None]

_SECONDS_BETWEEN_LOOKS = 1.0
# Time for a Dask cluster to replace its workers.
SECONDS_WITHOUT_WORKERS = 60.0
_LOST_CLUSTER = (
    "the Dask cluster lost workers that the work needs, or its scheduler; finished work is kept: start "
    "the cluster and run the same again"
)


def run_parallel(
    function: Callable[..., Any],
    arguments: Sequence[Sequence[Any]],
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """Results of a function for each tuple of arguments, by threads unless a joblib backend is set.

    `progress` is called with the number of finished calls and of all calls.

    Examples
    --------
    >>> run_parallel(max, [(1, 2), (4, 3)], n_jobs=2)
    [2, 4]
    """
    calls = [delayed(function)(*a) for a in arguments]
    if progress is None:
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    results = []
    for result in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(calls):
        results.append(result)
        progress(len(results), len(calls))
    return results


def run_in_processes(
    function: Callable[..., Any], arguments: Iterable[Sequence[Any]], n_jobs: int | None = None
) -> Iterator[Any]:
    """Yield results as they are finished, by processes unless a joblib backend is set.

    `arguments` is consumed as workers need it. The workers end with this process, however it ends.

    Examples
    --------
    >>> sorted(run_in_processes(max, [(1, 2), (4, 3)]))
    [2, 4]
    """
    # Backends without processes ignore the initializer.
    workers = Parallel(
        n_jobs=n_jobs,
        return_as="generator_unordered",
        batch_size=1,
        initializer=end_with_parent,
        initargs=(os.getpid(),),
    )
    backend, _ = get_active_backend()
    calls = (delayed(function)(*a) for a in arguments)
    if hasattr(backend, "client"):
        yield from _take_from_cluster(workers(calls), backend.client)
        return
    with _ignored_interrupts():
        finished = workers(calls)
    try:
        yield from finished
    except BrokenProcessPool as error:
        raise ChildProcessError(_describe_loss(error)) from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns of results that nobody takes
            finished.close()


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Ignore interrupts for the moment in which workers are started, which inherit it.

    Otherwise Ctrl-C prints the traceback of every worker that is still importing its modules.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may change handlers
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _describe_loss(error: BrokenProcessPool) -> str:
    """What ended a worker, as far as the exit codes in the message of joblib tell."""
    killed = "SIGKILL" in str(error)
    how = "was killed, probably because the memory was used up" if killed else "ended unexpectedly"
    return (
        f"a worker process {how}; finished work is kept: run the same command again, with fewer --jobs "
        "(n_jobs) if the memory was used up"
    )


def _take_from_cluster(results: Iterator[Any], client: Any) -> Iterator[Any]:
    """Yield the results of a Dask cluster; raise an error if its scheduler or all workers are gone.

    joblib would wait for them for ever, so a thread waits for joblib and we look after the cluster.
    """
    found: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    def take() -> None:
        try:
            for result in results:
                found.put((True, result))
            found.put((False, None))
        except BaseException as error:
            found.put((False, error))

    with _quiet_loggers():
        threading.Thread(target=take, daemon=True).start()
        last_seen = time.monotonic()
        while True:
            try:
                is_result, value = found.get(timeout=_SECONDS_BETWEEN_LOOKS)
            except Empty:
                if _has_workers(client):
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > SECONDS_WITHOUT_WORKERS:
                    raise ChildProcessError(_LOST_CLUSTER) from None
                continue
            if is_result:
                yield value
            elif value is None:
                return
            elif isinstance(value, CancelledError):  # its data was on a worker that is gone
                raise ChildProcessError(_LOST_CLUSTER) from None
            else:
                raise value


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.status == "running" and client.scheduler_info()["workers"])
    except Exception:  # whatever Dask raises if the scheduler does not answer
        return False


@contextmanager
def _quiet_loggers() -> Iterator[None]:
    """Silence Dask, which logs the tracebacks of every connection that is lost."""
    names = [n for n in logging.root.manager.loggerDict if n.startswith(("distributed", "tornado"))]
    levels = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def end_with_parent(parent: int) -> None:
    """Make a worker process end when its parent process ends.

    A worker may wait for the rest of a message that its parent never sent, so a thread looks after the
    parent. Interrupts are for the parent, which stops its workers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int) -> None:
    known = parent_process()
    if os.name == "nt" and known is not None:
        known.join()
    # The parent of an orphan is another process, except on Windows.
    while os.getppid() == parent and os.name != "nt":
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
