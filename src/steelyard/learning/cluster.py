"""Calls on a Dask cluster: what they share is sent once, lost work is repeated. Knows no learner.

Imported only where Dask is used, which is an extra.
"""

from __future__ import annotations

import hashlib
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
    from distributed import Client, LocalCluster, get_worker
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
# Larger arguments go to a worker without staying in the memory of the scheduler.
_MOST_BYTES = 1_000_000
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
    client: Any, function: Callable[..., Any], arguments: Iterable[Sequence[Any]]
) -> Iterator[tuple[int, Any]]:
    """Yield the position and the result of each call, as calls are finished.

    Parameters
    ----------
    client : distributed.Client
    function : callable
        What it holds, such as the arguments of a partial, is sent to each worker once.
    arguments : iterable of sequences
        Consumed as workers need it. Tables that several calls hold are sent to each worker once.
    """
    with quiet_loggers():
        calls = _Calls(client, function, arguments)
        try:
            yield from calls
        finally:
            calls.cancel()


# The arrays of earlier calls, by identity.
Seen = weakref.WeakValueDictionary[int, Any]


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
        self.parcels.begin()
        self.shared = self.parcels.pack_shared(function)
        self.waiting = (_Call(i, call) for i, call in enumerate(arguments))
        self.seen: Seen = weakref.WeakValueDictionary()
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
            arguments = self.parcels.pack(call.arguments, self.seen)
            sent = (*self.shared.send(), *arguments)
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


def is_task() -> bool:
    """Whether this is a task of Dask."""
    try:
        get_worker()
    except ValueError:
        return False
    return True


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


class _Pickler(cloudpickle.Pickler):
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


class _Sent(NamedTuple):
    """A table that workers have, as long as it lives here."""

    reference: weakref.ref[Any]
    future: Any
    hash: bytes | None


def _hash(table: Any) -> bytes | None:
    """The hash of an array, which costs a tenth of sending it; None for a DataFrame."""
    if not isinstance(table, np.ndarray):
        return None
    return hashlib.blake2b(np.ascontiguousarray(table).data).digest()


class _Parcels:
    """Packs functions and arguments for the workers of one client.

    Large arrays and DataFrames are left out of the calls that hold them, however deeply, and are sent to
    each worker once. They stay there as long as they live here. DataFrames are sent again for each run.
    """

    def __init__(self, client: Any) -> None:
        self._client = weakref.ref(client)
        self._known: dict[int, _Sent] = {}  # by identity
        self._checked: set[int] = set()
        self._shared: weakref.WeakKeyDictionary[Any, _Shared] = weakref.WeakKeyDictionary()

    def pack_shared(self, function: Any) -> _Shared:
        """What all calls share, packed once for all calls of a function."""
        try:
            return self._shared.setdefault(function, _Shared(self, function))
        except TypeError:  # neither hashable nor weakly referable
            return _Shared(self, function)

    def pack(self, arguments: Sequence[Any], seen: Seen) -> tuple[Any, list[Any]]:
        """The arguments of one call: their pickle, or its future if it is large, and futures of tables.

        An array that is not among those `seen` in other calls stays in its call, as most arrays do.
        """

        def leave_out(value: Any) -> bool:
            if isinstance(value, pd.DataFrame) or seen.get(id(value)) is value:
                return True
            seen[id(value)] = value
            return id(value) in self._known and self._is_there(value)

        content, tables = _pickle(arguments, leave_out)
        if len(content) < _MOST_BYTES:
            return content, self.send(tables)
        return self.scatter([content], broadcast=False)[0], self.send(tables)

    def begin(self) -> None:
        """Look once more at the content of what is known: its owner may have changed it."""
        self._checked.clear()

    def send(self, tables: Sequence[Any]) -> list[Any]:
        """Futures of tables; those that no worker has are sent to all."""
        missing = {id(value): value for value in tables if not self._is_there(value)}
        if missing:
            sent = self.scatter(list(missing.values()))
            for value, future in zip(missing.values(), sent, strict=True):
                self._remember(value, future)
        return [self._known[id(value)].future for value in tables]

    def _is_there(self, value: Any) -> bool:
        known = self._known.get(id(value))
        if known is None or known.reference() is not value or known.future.status != "finished":
            return False
        if id(value) in self._checked:
            return True
        if known.hash is None or known.hash != _hash(value):
            return False
        self._checked.add(id(value))
        return True

    def _remember(self, value: Any, future: Any) -> None:
        number = id(value)

        def forget(reference: weakref.ref[Any]) -> None:
            known = self._known.get(number)
            if known is not None and known.reference is reference:
                del self._known[number]

        self._known[number] = _Sent(weakref.ref(value, forget), future, _hash(value))
        self._checked.add(number)

    def scatter(self, values: list[Any], broadcast: bool = True) -> list[Any]:
        """Send objects to all workers or to one of them; return their futures."""
        client = self._client()
        assert client is not None
        # Equal content is not looked for, which Dask advises for tasks that scatter.
        options = {"broadcast": broadcast, "hash": False, "timeout": SECONDS_WITHOUT_WORKERS}
        return list(client.scatter(values, **options))


# The parcels of each client, which remember what was sent before.
_parcels: weakref.WeakKeyDictionary[Any, _Parcels] = weakref.WeakKeyDictionary()


class _Shared:
    """The pickle of a function without its tables."""

    def __init__(self, parcels: _Parcels, function: Any) -> None:
        self.parcels = parcels
        self.content, self.tables = _pickle(function, lambda _: True)
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
