"""Progress of long work: a bar on standard error and scikit-learn's callbacks. Knows numbers only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from steelyard._extras import needed_here
from steelyard.learning.parallel import Progress

__all__ = ["CallbackSupportMixin", "show_progress", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # the protocol came with scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement for the mixin that this version of scikit-learn lacks."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


# Callbacks are informed in this many steps, since the true number is not known in advance.
_CALLBACK_STEPS = 100


@contextmanager
def show_progress(estimator: Any, *names: str) -> Iterator[list[Progress]]:
    """One function (done, total) per step of the work, in order, for the bar and the callbacks.

    The bar estimates the time that a step has left.
    """
    with ExitStack() as stack:
        listeners: list[list[Progress]] = [[] for _ in names]
        if estimator.verbose:
            _join(listeners, stack.enter_context(_move_bars(names)))
        if getattr(estimator, "_skl_callbacks", None):
            _join(listeners, stack.enter_context(_inform_callbacks(estimator, names)))
        yield [partial(_tell, of_step) for of_step in listeners]


def _join(listeners: list[list[Progress]], more: Iterable[Progress]) -> None:
    for of_step, listener in zip(listeners, more, strict=True):
        of_step.append(listener)


def _tell(listeners: Sequence[Progress], done: int, total: int) -> None:
    for listener in listeners:
        listener(done, total)


@contextmanager
def _move_bars(names: Sequence[str]) -> Iterator[list[Progress]]:
    with needed_here("rich"):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

    columns = (
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        "left:",
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def move(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        tasks[names[0]] = bar.add_task(names[0], total=None)
        yield [partial(move, name) for name in names]


@contextmanager
def _inform_callbacks(estimator: Any, names: Sequence[str]) -> Iterator[list[Progress]]:
    context = estimator._init_callback_context(max_subtasks=_CALLBACK_STEPS)
    context.call_on_fit_task_begin(estimator=estimator)
    n_steps = 0

    def inform(position: int, done: int, total: int) -> None:
        nonlocal n_steps
        while n_steps < _CALLBACK_STEPS * (position + done / total) // len(names):
            step = context.subcontext(task_name=names[position])
            step.call_on_fit_task_begin(estimator=estimator)
            step.call_on_fit_task_end(estimator=estimator)
            n_steps += 1

    yield [partial(inform, position) for position in range(len(names))]
    inform(len(names) - 1, 1, 1)
    context.call_on_fit_task_end(estimator=estimator)
