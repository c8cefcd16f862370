"""Calls on a Dask cluster: what they share is sent once, lost work is repeated. Knows no learner.

Imported only where Dask is used, which is an extra.
"""

from __future__ import annotations

import io
import logging
import pickle
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd

try:
    import cloudpickle
    from distributed import Client, LocalCluster
except ImportError:
    raise ImportError(
        "Dask is not installed; install it with: pip install 'steelyard[dask]'"
    ) from None

_SECONDS_BETWEEN_LOOKS = 1.0
# Time for a cluster to replace its workers.
SECONDS_WITHOUT_WORKERS = 60.0
# Time for a scheduler to answer at all.
SECONDS_TO_CONNECT = 10.0
# Smaller arrays cost less inside each call than as an object that the scheduler looks after.
_LEAST_BYTES = 10_000
# Calls that the scheduler knows at a time: enough for workers never to wait, and for a cluster that
# grows with its work; few enough that its memory does not grow with the work.
_MOST_WAITING = 100
# How often a call is sent again because the data it needs was on a worker that is gone.
_MOST_TRIES = 5
_LOST_WORKERS = (
    "the Dask cluster lost workers that the work needs; finished work is kept: start the cluster and "
    "run the same again"
)
_LOST_SCHEDULER = (
    "the connection to the Dask scheduler is lost; finished work is kept: start the cluster and run the "
    "same again"
)
_KILLED_WORKERS = (
    "several workers of the Dask cluster ended during the same call, probably because the memory was "
    "used up; finished work is kept: run the same again on workers with more memory"
)


@contextmanager
def dask_cluster(address: str, n_workers: int = -1) -> Iterator[None]:
    """Run all parallel work on a Dask cluster, as the backend of joblib.

    Parameters
    ----------
    address : str
        The address of a scheduler, or "local" for worker processes on this machine.
    n_workers : int, default=-1
        Number of local worker processes; -1 for all cores. A cluster elsewhere has its own number.
    """
    with quiet_loggers():
        if address == "local":
            n_cores = joblib.effective_n_jobs(n_workers)
            # Without a limit on their memory, as the processes of joblib have none.
            options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}
            with (
                LocalCluster(n_workers=n_cores, **options) as cluster,
                Client(cluster, set_as_default=False) as client,
                joblib.parallel_config("dask", client=client),
            ):
                yield
            return
        try:
            client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error).partition("\n")[0]
            raise ConnectionError(f"no Dask scheduler answers at {address!r}: {reason}") from None
        with client, joblib.parallel_config("dask", client=client):
            yield


def run_on_cluster(
    backend: Any, function: Callable[..., Any], arguments: Iterable[Sequence[Any]]
) -> Iterator[tuple[int, Any]]:
    """Yield the position and the result of each call, as calls are finished.

    Parameters
    ----------
    backend : the Dask backend of joblib
        Its client submits the calls.
    function : callable
        What it holds, such as the arguments of a partial, is sent to each worker once.
    arguments : iterable of sequences
        Consumed as workers need it. Tables that several calls hold are sent to each worker once.
    """
    # In a task of Dask, waiting must not occupy one of the worker's threads.
    with quiet_loggers(), backend.retrieval_context():
        calls = _Calls(backend.client, function, arguments)
        try:
            yield from calls
        finally:
            calls.cancel()


class _Call(NamedTuple):
    position: int
    arguments: Sequence[Any]
    n_tries: int = 0


class _Calls:
    """The calls that are on the cluster: iterating over them yields positions and results."""

    def __init__(
        self, client: Any, function: Callable[..., Any], arguments: Iterable[Sequence[Any]]
    ) -> None:
        self.client = client
        self.parcels = _parcels.setdefault(client, _Parcels(client))
        self.function = self.parcels.pack_shared(function)
        self.waiting = (_Call(i, call) for i, call in enumerate(arguments))
        self.running: dict[Any, _Call] = {}
        self.done: SimpleQueue[Any] = SimpleQueue()
        self.last_seen = self.last_look = time.monotonic()
        self.n_wanted = _MOST_WAITING

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        while True:
            for call in islice(self.waiting, max(0, self.n_wanted - len(self.running))):
                self._submit(call)
            if not self.running:
                return
            self._look()
            with suppress(Empty):
                future = self.done.get(timeout=_SECONDS_BETWEEN_LOOKS)
                yield from self._take(future)

    def cancel(self) -> None:
        """Stop what nobody waits for any more."""
        if self.running and self.client.status == "running":
            with suppress(Exception):  # the scheduler may be gone by now
                self.client.cancel(list(self.running), force=True)
        self.running.clear()

    def _submit(self, call: _Call) -> None:
        try:
            arguments = self.parcels.pack(call.arguments)
            sent = (*self.function.send(), *arguments)
            future = self.client.submit(_run_call, *sent, pure=False)
        except (TimeoutError, OSError):
            raise ChildProcessError(self._describe_loss()) from None
        self.running[future] = call._replace(n_tries=call.n_tries + 1)
        future.add_done_callback(self.done.put)

    def _take(self, future: Any) -> Iterator[tuple[int, Any]]:
        """The result of a call that is done; a call whose data is lost is sent again."""
        call = self.running[future]
        if future.status == "finished":
            try:
                result = future.result(timeout=SECONDS_WITHOUT_WORKERS)
            except TimeoutError:  # its worker is gone, so that it runs again
                future.add_done_callback(self.done.put)
                return
            except Exception:
                if future.status == "finished":
                    raise
                self.done.put(future)
                return
            del self.running[future]
            yield call.position, result
        elif future.status == "error":
            error = future.exception(timeout=SECONDS_WITHOUT_WORKERS)
            if type(error).__name__ == "KilledWorker":
                raise ChildProcessError(_KILLED_WORKERS) from None
            raise error
        elif future.status == "cancelled":
            del self.running[future]
            if self.client.status != "running" or call.n_tries >= _MOST_TRIES:
                raise ChildProcessError(self._describe_loss())
            self._submit(call)
        else:  # lost between then and now: the scheduler has it computed again
            future.add_done_callback(self.done.put)

    def _look(self) -> None:
        """Look after the cluster once per second; raise an error if nobody can do the work."""
        now = time.monotonic()
        if now - self.last_look < _SECONDS_BETWEEN_LOOKS:
            return
        self.last_look = now
        n_threads = count_threads(self.client)
        if n_threads:
            self.n_wanted = max(_MOST_WAITING, 2 * n_threads)
            self.last_seen = now
        elif now - self.last_seen > SECONDS_WITHOUT_WORKERS:
            raise ChildProcessError(self._describe_loss())

    def _describe_loss(self) -> str:
        return _LOST_WORKERS if self.client.status == "running" else _LOST_SCHEDULER


def count_threads(client: Any) -> int:
    """Threads of all workers of a cluster; 0 if its scheduler does not answer."""
    if client.status != "running":
        return 0
    try:
        return int(sum(client.nthreads().values()))
    except Exception:  # whatever Dask raises if the scheduler does not answer
        return 0


def _run_call(function: bytes, shared: list[Any], arguments: bytes, tables: list[Any]) -> Any:
    """Run a call on a worker: what `_Parcels` packed."""
    return _unpack(function, shared)(*_unpack(arguments, tables))


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, tables: Sequence[Any]) -> None:
        super().__init__(io.BytesIO(content))
        self.tables = tables

    def persistent_load(self, number: int) -> Any:
        return self.tables[number]


def _unpack(content: bytes, tables: Sequence[Any]) -> Any:
    return _Unpickler(content, tables).load()


def _is_table(value: Any) -> bool:
    """Whether to send an object once for several calls."""
    if isinstance(value, np.ndarray):
        return value.nbytes >= _LEAST_BYTES and not value.dtype.hasobject
    return isinstance(value, pd.DataFrame)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Leaves out the objects that `leave_out` accepts and notes them."""

    def __init__(self, file: io.BytesIO, leave_out: Callable[[Any], bool]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.leave_out = leave_out
        self.left_out: list[Any] = []

    def persistent_id(self, value: Any) -> int | None:
        if not _is_table(value) or not self.leave_out(value):
            return None
        self.left_out.append(value)
        return len(self.left_out) - 1


class _Parcels:
    """Packs functions and arguments for the workers of one client.

    Large arrays and DataFrames are left out of the calls that hold them, however deeply, and are sent to
    each worker once. They stay there until they are deleted here.
    """

    def __init__(self, client: Any) -> None:
        self._client = weakref.ref(client)
        # By identity: the object while it lives, and its future on the cluster once it was sent.
        self._known: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def pack_shared(self, value: Any) -> _Shared:
        """What all calls share: its pickle and its tables, which are all left out."""
        return _Shared(self, *_pickle(value, lambda _: True))

    def pack(self, arguments: Sequence[Any]) -> tuple[bytes, list[Any]]:
        """The arguments of one call: their pickle, and futures of the tables that other calls hold too.

        An array that is seen for the first time stays in its call, as most arrays are for one call.
        """
        seen: list[Any] = []

        def leave_out(value: Any) -> bool:
            is_shared = isinstance(value, pd.DataFrame) or self._find(value) is not None
            if not is_shared:
                seen.append(value)
            return is_shared

        content, tables = _pickle(arguments, leave_out)
        for value in seen:
            self._remember(value, None)
        return content, self.send(tables)

    def _find(self, value: Any) -> tuple[weakref.ref[Any], Any] | None:
        known = self._known.get(id(value))
        return known if known is not None and known[0]() is value else None

    def _remember(self, value: Any, future: Any) -> None:
        number = id(value)

        def forget(reference: weakref.ref[Any]) -> None:
            if number in self._known and self._known[number][0] is reference:
                del self._known[number]

        self._known[number] = weakref.ref(value, forget), future

    def send(self, tables: Sequence[Any]) -> list[Any]:
        """Futures of tables; those that no worker has are sent to all."""
        missing = {id(value): value for value in tables if not self._is_there(value)}
        if missing:
            sent = self.scatter(list(missing.values()))
            for value, future in zip(missing.values(), sent, strict=True):
                self._remember(value, future)
        return [self._known[id(value)][1] for value in tables]

    def _is_there(self, value: Any) -> bool:
        known = self._find(value)
        return known is not None and known[1] is not None and known[1].status == "finished"

    def scatter(self, values: list[Any]) -> list[Any]:
        client = self._client()
        assert client is not None
        # Equal content is not looked for, which Dask advises for tasks that scatter.
        return list(client.scatter(values, broadcast=True, hash=False))


# The parcels of each client, which remember what was sent before.
_parcels: weakref.WeakKeyDictionary[Any, _Parcels] = weakref.WeakKeyDictionary()


class _Shared:
    """The pickle of an object without its tables."""

    def __init__(self, parcels: _Parcels, content: bytes, tables: list[Any]) -> None:
        self.parcels, self.content, self.tables = parcels, content, tables
        self.future: Any = None

    def send(self) -> tuple[Any, list[Any]]:
        """The pickle, or its future if it is large, and the futures of the tables."""
        if len(self.content) < _LEAST_BYTES:
            return self.content, self.parcels.send(self.tables)
        if self.future is None or self.future.status != "finished":
            (self.future,) = self.parcels.scatter([self.content])
        return self.future, self.parcels.send(self.tables)


def _pickle(value: Any, leave_out: Callable[[Any], bool]) -> tuple[bytes, list[Any]]:
    file = io.BytesIO()
    pickler = _Pickler(file, leave_out)
    pickler.dump(value)
    return file.getvalue(), pickler.left_out


@contextmanager
def quiet_loggers() -> Iterator[None]:
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
