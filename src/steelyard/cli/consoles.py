"""Where commands write: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

# Wide enough for our tables where nobody's window sets a limit, as in a file or a pipe.
_WIDTH_OF_FILES = 120
# Between two lines of progress in a log.
_SECONDS_BETWEEN_LINES = 10.0


def output_console() -> Console:
    """Standard output; colours only on a terminal and without NO_COLOR, both of which rich knows."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDTH_OF_FILES)


def error_console() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_note(text: str) -> None:
    """A remark on standard error."""
    console = error_console()
    console.print("note:", style="yellow", end=" ")
    console.print(" ".join(text.split()), markup=False)


def print_json(content: Any) -> None:
    """Machine-readable output: one JSON document on standard output."""
    sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=1, default=_to_plain) + "\n")


def _to_plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    return str(value)


@contextmanager
def unit_progress(title: str) -> Iterator[Callable[[int, int, Any], None]]:
    """A function (n_done, n_units, last unit): a bar on a terminal, now and then a line elsewhere."""
    console = error_console()
    if not console.is_terminal:
        yield _line_printer(title)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}", style="dim", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None, last="")

        def show(n_done: int, n_units: int, unit: Any) -> None:
            last = "" if unit is None else unit.name
            bar.update(task, completed=n_done, total=n_units, last=last)

        yield show


def _line_printer(title: str) -> Callable[[int, int, Any], None]:
    start = time.monotonic()
    last = -_SECONDS_BETWEEN_LINES

    def show(n_done: int, n_units: int, unit: Any) -> None:
        nonlocal last
        seconds = time.monotonic() - start
        if unit is None or n_done == n_units or seconds - last >= _SECONDS_BETWEEN_LINES:
            last = seconds
            sys.stderr.write(f"{title}: {n_done} of {n_units} units, {seconds:.0f} s\n")
            sys.stderr.flush()

    return show
