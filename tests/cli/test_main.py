"""The program as a whole: help, version, errors, colours, and how fast it starts."""

import io
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from steelyard.cli import main
from steelyard.cli.consoles import print_message
from steelyard.cli.main import app
from steelyard.learning.budget import MemoryLimitError


def list_commands(group: Any) -> Iterator[tuple[str, str]]:
    """All commands of the program, with those inside of `data`, and what they say about themselves."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {inner}", text) for inner, text in list_commands(command))
        else:
            yield name, command.help


COMMANDS = dict(sorted(list_commands(typer.main.get_command(app))))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(*command.split(), "--help")
    assert code == 0
    examples = [line for line in COMMANDS[command].splitlines() if line.startswith("Example: ")]
    assert all(f"  {example}\n" in out for example in examples)  # none is wrapped
    assert any(example.startswith(f"Example: steelyard {command}") for example in examples)


def test_the_lowest_version_of_typer_prints_help_with_every_click():
    project = Path(__file__).parents[2] / "pyproject.toml"
    needed = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
    (bound,) = (text.removeprefix("typer>=") for text in needed if text.startswith("typer"))
    # Before 0.26, help depends on the version of click: with 8.5, it does not describe arguments. Before
    # 0.21.2, plain help has a backslash before [default: ...].
    assert tuple(map(int, bound.split("."))) >= (0, 26)


def test_version_names_what_results_depend_on(run):
    code, out, _ = run("--version")
    assert code == 0
    assert all(name in out for name in ("steelyard 0.", "numpy", "scikit-learn"))


@pytest.mark.parametrize("arguments", [[], ["--help"], ["fit", "--help"], ["fit"]])
def test_help_and_wrong_usage_import_no_heavy_module(arguments):
    script = (
        "import sys\n"
        "from steelyard.cli import main\n"
        "try:\n"
        f"    main({arguments})\n"
        "finally:\n"
        "    print('imported:', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "Usage: steelyard" in done.stdout + done.stderr
    imported = {name.partition(".")[0] for name in done.stdout.partition("imported:")[2].split()}
    assert "typer" in imported
    assert not {"numpy", "pandas", "sklearn", "matplotlib", "rich"} & imported


@pytest.mark.parametrize("group", [[], ["data"]])
def test_help_describes_each_command_in_a_whole_sentence(run, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run(*group, "--help")
    commands = out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert len(commands) >= 3
    assert all(line.endswith(".") and not line.endswith("...") for line in commands)


def test_an_unknown_command_is_wrong_usage(reject):
    assert reject("nonsense").endswith("Error: No such command 'nonsense'.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit"], "Error: Missing argument 'DATA'."),
        (["fit", "--nonsense"], "Error: No such option: --nonsense"),
        (["fit", "a.csv"], "Error: Missing option '--out' / '-o'."),
    ],
)
def test_wrong_usage_is_one_line_after_the_usage(run, arguments, message):
    code, out, err = run(*arguments)
    usage, hint, empty, error = err.splitlines()
    assert (code, out, empty) == (2, "", "")
    assert usage.startswith("Usage: steelyard fit [OPTIONS] ")
    assert hint in {f"Try 'steelyard fit {option}' for help." for option in ("-h", "--help")}
    assert error.startswith(message)


def test_without_arguments_help_is_shown_as_wrong_usage(reject):
    assert "Commands: study" in reject()


def test_an_error_is_one_sentence_and_debug_shows_its_traceback(run):
    command = ["data", "show", "nope"]
    code, out, err = run(*command)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert "'nope'" in err
    assert err.count("\n") == 1
    with pytest.raises(ValueError, match="'nope'"):
        main([*command, "--debug"])


def test_an_unexpected_error_asks_for_a_report(run, monkeypatch):
    def fail(*_):
        raise KeyError("surprise")

    monkeypatch.setattr("steelyard.cli.data.load_data", fail)
    code, _, err = run("data", "show", "planted")
    assert code == 1
    assert "KeyError: 'surprise'" in err
    assert "--debug" in err


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryLimitError("4 GB are allowed: use fewer rows"), "4 GB are allowed: use fewer rows"),
        (MemoryError("max_memory"), "not enough memory; use fewer --jobs or fewer --candidates"),
    ],
)
def test_only_a_limit_of_memory_says_itself_what_to_change(run, monkeypatch, error, message):
    def fail(*_):
        raise error

    monkeypatch.setattr("steelyard.cli.data.load_data", fail)
    assert run("data", "show", "planted") == (1, "", f"error: {message}\n")


def test_no_colour_where_it_is_not_wanted(run, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "")
    _, out, err = run("data", "list")
    assert "\x1b[3" not in out + err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variable", "value", "shown"),
    [
        ("NO_COLOR", "", "\x1b[31m\x1b[1merror:\x1b[0m a:dog: [b]"),
        ("NO_COLOR", "1", "error: a:dog: [b]"),
        ("TERM", "dumb", "error: a:dog: [b]"),
    ],
)
def test_an_error_is_coloured_on_a_terminal_and_its_text_is_no_markup(
    monkeypatch, variable, value, shown
):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "stderr", Terminal())
    print_message("error", "a:dog:\n[b]")
    assert sys.stderr.getvalue() == f"{shown}\n"


def test_an_interrupt_exits_with_130(run, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("steelyard.cli.data.load_data", interrupt)
    assert run("data", "show", "planted") == (130, "", "")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_while_python_ends_is_silent_and_loses_no_output(name):
    script = (
        "import os, signal, threading, time\n"
        "from steelyard.cli.consoles import exit_on_signals\n"
        "def stop():\n"
        "    while threading.main_thread().is_alive(): time.sleep(0.01)\n"
        f"    os.kill(os.getpid(), signal.{name})\n"
        "    time.sleep(20)\n"
        "exit_on_signals()\n"
        "threading.Thread(target=stop).start()\n"
        "print('result')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    number = int(getattr(signal, name))
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "result\n", "")


@pytest.mark.parametrize("command", ["export --to json", "rules"])
def test_a_closed_standard_output_is_one_sentence(saved, command):
    name, *options = command.split()
    arguments = [sys.executable, "-m", "steelyard", name, "theory.json", *options]
    shell = ["sh", "-c", '"$@" >&-', "sh", *arguments]
    done = subprocess.run(shell, capture_output=True, text=True, cwd=saved)
    assert done.returncode == 1
    assert done.stderr == "error: cannot write the result: standard output is closed\n"


def test_with_a_closed_standard_error_no_message_becomes_a_result():
    arguments = [sys.executable, "-m", "steelyard", "data", "show", "nope"]
    shell = ["sh", "-c", '"$@" 2>&-', "sh", *arguments]
    done = subprocess.run(shell, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
