"""Parallel work: a function and its arguments → results. Owns the life of workers; knows no learner.

All work goes to the backend of joblib that is active. What a backend lacks is dealt with here.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import parent_process
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import LokyBackend, get_active_backend

# Called with the amount of work done so far and the total.
Progress = Callable[[int, int], None]

_SECONDS_BETWEEN_LOOKS = 1.0
# Calls per worker between two looks at the results, where a backend returns them all together.
_CALLS_PER_WORKER = 4


def run_parallel(
    function: Callable[..., Any],
    arguments: Sequence[Sequence[Any]],
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """Results of a function for each tuple of arguments, by threads unless a joblib backend is set.

    `progress` is called with the number of finished calls and of all calls. On a Dask cluster, what the
    function holds and what several calls hold is sent to each worker once.

    Examples
    --------
    >>> run_parallel(max, [(1, 2), (4, 3)], n_jobs=2)
    [2, 4]
    """
    backend, _ = get_active_backend(prefer="threads")
    report = progress or (lambda *_: None)
    if _is_cluster(backend):
        found: list[Any] = [None] * len(arguments)
        finished = _run_on_cluster(backend, function, arguments, n_jobs)
        for n_done, (position, result) in enumerate(finished, 1):
            found[position] = result
            report(n_done, len(found))
        return found
    calls = [delayed(function)(*a) for a in arguments]
    options: dict[str, Any] = {"n_jobs": n_jobs, "prefer": "threads"}
    if progress is not None and backend.supports_return_generator:
        options["return_as"] = "generator"
    elif not backend.supports_return_generator:
        # One batch per worker, so that what all calls share is pickled once per worker.
        size = max(1, -(-len(calls) // _count_workers(n_jobs)))
        options |= {"batch_size": size, "pre_dispatch": "all"}
    results = []
    for result in Parallel(**options)(calls):
        results.append(result)
        report(len(results), len(calls))
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
    backend, _ = get_active_backend()
    if _is_cluster(backend):
        for _, result in _run_on_cluster(backend, function, arguments, n_jobs):
            yield result
        return
    calls = (delayed(function)(*a) for a in arguments)
    if not backend.supports_return_generator:
        yield from _run_in_batches(calls, n_jobs)
        return
    options: dict[str, Any] = {"n_jobs": n_jobs, "batch_size": 1}
    if isinstance(backend, LokyBackend):
        options |= {"initializer": end_with_parent, "initargs": (os.getpid(),)}
    workers = Parallel(return_as="generator_unordered", **options)
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


def _is_cluster(backend: Any) -> bool:
    """Whether a backend is that of Dask."""
    return hasattr(backend, "client")


def _run_on_cluster(
    backend: Any,
    function: Callable[..., Any],
    arguments: Iterable[Sequence[Any]],
    n_jobs: int | None,
) -> Iterator[tuple[int, Any]]:
    """Yield positions and results from a Dask cluster.

    joblib would send what calls share with every call, and wait for ever for workers that are gone. One
    job means this process. So does a task of Dask: its cluster is busy with other tasks.
    """
    from .cluster import is_task, run_on_cluster

    if n_jobs == 1 or is_task():
        return ((i, function(*call)) for i, call in enumerate(arguments))
    return run_on_cluster(backend.client, function, arguments)


def _run_in_batches(calls: Iterator[Any], n_jobs: int | None) -> Iterator[Any]:
    """Yield results where a backend, as that of Ray or Spark, returns those of all calls at once."""
    size = _CALLS_PER_WORKER * _count_workers(n_jobs)
    while batch := list(islice(calls, size)):
        yield from Parallel(n_jobs=n_jobs, batch_size=1)(batch)


def _count_workers(n_jobs: int | None) -> int:
    try:
        return max(1, int(effective_n_jobs(n_jobs)))
    except Exception:  # Ray knows its workers only once it is started, which joblib does later
        return os.cpu_count() or 1


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
