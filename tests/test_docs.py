"""docs/curating.md: every snippet runs, in order, and prints the output that the page shows.

Run this file to write the outputs anew: ``python tests/test_docs.py``.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "curating.md"
# A block of Python or of commands, and the block of text that directly follows it, if one does.
SNIPPET = re.compile(r"```(python|sh)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def run_commands(lines: str) -> None:
    from steelyard.cli import main

    for line in lines.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "steelyard"
        with contextlib.suppress(SystemExit):
            main(arguments)


def print_snippets(page: str):
    """What each snippet of a page prints, in the current folder."""
    namespace: dict[str, object] = {}
    for kind, code, _ in SNIPPET.findall(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if kind == "python":
                exec(compile(code, str(PAGE), "exec"), namespace)
            else:
                run_commands(code)
        yield "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())


@pytest.mark.skipif(not PAGE.exists(), reason="docs/curating.md is not installed with the tests")
def test_snippets_print_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    snippets = SNIPPET.findall(page)
    assert len(snippets) >= 10
    for (_, code, shown), printed in zip(snippets, print_snippets(page), strict=True):
        assert printed == shown, code


def write_outputs() -> None:
    """Replace the outputs of the page by what the snippets print."""
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        printed = iter(list(print_snippets(page)))

    def fill(match: re.Match[str]) -> str:
        text = next(printed)
        code = f"```{match[1]}\n{match[2]}```"
        return code if match[3] is None else f"{code}\n\n```text\n{text}```"

    PAGE.write_text(SNIPPET.sub(fill, page), encoding="utf-8")


if __name__ == "__main__":
    sys.stderr.write(f"writing {PAGE}\n")
    write_outputs()
