"""Running a command: which commands there are, how errors are said, exit codes."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

from .app import app
from .consoles import error_console, print_note

OK, FAILED, INTERRUPTED = 0, 1, 130

# In the order in which --help lists their commands.
_COMMAND_MODULES = ("study", "learn", "use", "explain_export", "data")


@cache
def _load_commands() -> None:
    """Register the commands, once a process."""
    for name in _COMMAND_MODULES:
        importlib.import_module(f"{__package__}.{name}").register(app)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit; errors are one sentence on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    # Symbols like ← must not kill a command on a terminal that lacks them.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    warnings.showwarning = _show_warning
    warnings.simplefilter("default", UserWarning)
    _load_commands()
    try:
        app(args=given, prog_name="steelyard", standalone_mode=True)
    except SystemExit as leaving:
        raise SystemExit(leaving.code) from None
    except KeyboardInterrupt:
        error_console().print("interrupted", style="red")
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader of our output has had enough, as in `steelyard rules t.json | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(FAILED) from None
    except Exception as error:
        if debug:
            raise
        sentence = explain(error)
        if sentence is None:
            sentence = f"this should not have happened: {type(error).__name__}: {error}"
            sentence += " (add --debug for the traceback, and please report it)"
        console = error_console()
        console.print("[bold red]error:[/bold red]", end=" ")
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
        raise SystemExit(FAILED) from None
    raise SystemExit(OK)


def explain(error: Exception) -> str | None:
    """One sentence for an expected error, None for an unexpected one."""
    if isinstance(error, OSError) and error.errno is not None:
        where = f" {error.filename!r}" if error.filename else ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return (
                f"the disk is full, nothing more can be written{where}; finished work is kept: make "
                "room and run the same command again"
            )
        reason = (error.strerror or str(error)).lower()
        return f"cannot use{where}: {reason}" if where else reason
    if isinstance(error, ValueError | OSError | ImportError | TypeError):
        return " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return "there is not enough memory; use fewer --jobs or fewer --candidates"
    return None


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    print_note(str(message))
