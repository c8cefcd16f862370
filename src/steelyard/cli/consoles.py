"""Printing: results to standard output; errors, notes and progress to standard error.

Only the functions that draw import rich, so that help, errors and plain texts come at once.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import typer

from steelyard._files import write_atomically

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

_SECONDS_BETWEEN_LINES = 10.0
_STYLES: dict[str, Any] = {"note": {"fg": "yellow"}, "error": {"fg": "red", "bold": True}}

# All but tab and line feed, and the characters that reverse the direction of writing.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def error_console() -> Console:
    """Return the console of standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_message(kind: Literal["note", "error"], text: str) -> None:
    """Print a note or an error as one line on standard error."""
    start = typer.style(f"{kind}:", **_STYLES[kind])
    line = f"{start} {show_controls(' '.join(text.split()))}"
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    color = False if is_plain else None  # None: on a terminal
    # `file` lets a bar that is being drawn move below the line; with `err`, nothing goes to standard
    # output where standard error is closed.
    typer.echo(line, file=sys.stderr, err=True, color=color)


def show_controls(text: str) -> str:
    r"""Write control characters as escapes, so that no name can steer the terminal.

    The escapes are those of JSON, so that JSON text keeps its meaning.

    Examples
    --------
    >>> print(show_controls("\x1b[31mred\n"), end="")
    \u001b[31mred
    """
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def exit_on_signals() -> None:
    """Let SIGTERM and SIGHUP unwind the program as Ctrl-C does; a second signal ends it at once."""

    def leave(number: int, _: Any) -> NoReturn:
        signal.signal(number, signal.SIG_DFL)
        _exit_if_done(number)
        raise SystemExit(128 + number)

    def interrupt(number: int, frame: Any) -> None:
        _exit_if_done(number)
        signal.default_int_handler(number, frame)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        # nohup ignores SIGHUP, and so do we then.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, leave)
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)


def _exit_if_done(number: int) -> None:
    """End the process if Python is ending it already and only waits for threads.

    Nothing would catch an error there, and Python would print its traceback.
    """
    if threading.main_thread().is_alive():
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(128 + number)


def _to_plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.astype(object).where(value.notna(), None).to_dict("records")
    return value.item() if hasattr(value, "item") else str(value)


def print_result(as_json: bool, content: Any, *views: RenderableType) -> None:
    """Print a result as one JSON document for programs, or as texts and tables for people.

    In JSON, a DataFrame becomes a list of rows, with null for missing values.
    """
    if as_json:
        views = (json.dumps(content, ensure_ascii=False, indent=1, default=_to_plain),)
    require_output()
    for view in views:
        if isinstance(view, str):
            typer.echo(show_controls(view))
        else:
            _draw(view)


def _draw(view: RenderableType) -> None:
    from rich.console import Console

    # Wide enough for our tables where no window limits the width, as in a file or a pipe.
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(view)


def require_output() -> None:
    """Raise an error if standard output is closed."""
    if sys.stdout is None:
        raise OSError("cannot write the result: standard output is closed")


def plain_cell(text: str, style: str = "") -> Text:
    """A text of a table that contains neither markup nor control characters."""
    from rich.text import Text

    return Text(show_controls(text), style)


def make_table(rows: Sequence[dict[str, str]], *numbers: str, title: str | None = None) -> Table:
    """Make a table with a column for every key of the rows; those of `numbers` go to the right."""
    from rich.table import Column, Table

    columns = [
        Column(plain_cell(name), justify="right" if name in numbers else "left") for name in rows[0]
    ]
    table = Table(*columns, title=None if title is None else plain_cell(title, "table.title"))
    for row in rows:
        table.add_row(*map(plain_cell, row.values()))
    return table


def write_output(out: Path | None, text: str) -> None:
    """Write a text to a file, whole or not at all, or to standard output if `out` is None."""
    if out is None:
        require_output()
        # Programs get the exact text.
        sys.stdout.write(show_controls(text) if sys.stdout.isatty() else text)
    else:
        write_atomically(out, text.encode())
        typer.echo(f"wrote {out}", err=True)


def describe_error(error: Exception) -> str:
    """Describe an error in one sentence."""
    if isinstance(error, OSError) and error.errno is not None:
        where = f" {error.filename!r}" if error.filename else ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return (
                f"the disk is full, cannot write{where}; finished work is kept: free some space and "
                "run the same command again"
            )
        reason = (error.strerror or str(error)).lower()
        return f"cannot use{where}: {reason}" if where else reason
    if isinstance(error, ValueError | OSError | ImportError | TypeError):
        return str(error)
    if isinstance(error, MemoryError):
        from steelyard.learning.budget import MemoryLimitError

        if isinstance(error, MemoryLimitError):
            return str(error)  # says what to change
        return "not enough memory; use fewer --jobs or fewer --candidates"
    return (
        f"unexpected {type(error).__name__}: {error} (please report it with the traceback that "
        "--debug shows)"
    )


@contextmanager
def unit_progress(title: str) -> Iterator[Callable[..., None]]:
    """Yield a function (n_done, n_units, last unit) that draws a bar, or prints lines into a log.

    Other things than units have a noun, as a fourth argument.
    """
    from rich.progress import MofNCompleteColumn, Progress

    console = error_console()
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    start, last = time.monotonic(), -_SECONDS_BETWEEN_LINES

    def show(n_done: int, n_units: int, unit: Any, noun: str = "units") -> None:
        nonlocal last
        shown = title if noun == "units" else f"{title}, {noun}"
        bar.update(task, completed=n_done, total=n_units, description=shown)
        seconds = time.monotonic() - start
        is_due = unit is None or n_done == n_units or seconds - last >= _SECONDS_BETWEEN_LINES
        if is_due and not console.is_terminal:
            last = seconds
            typer.echo(f"{title}: {n_done} of {n_units} {noun}, {seconds:.0f} s", err=True)

    options: Any = {"console": console, "transient": True, "disable": not console.is_terminal}
    bar = Progress(*columns, **options)
    task = bar.add_task(title, total=None)
    # rich 13 and 14 end a bar that is not shown with an empty line.
    with bar if console.is_terminal else nullcontext():
        yield show
