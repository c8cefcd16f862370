"""The pages of the documentation: snippets run and print what the page shows.

Run this file to write the outputs anew: ``python tests/test_docs.py [PAGE...]``.
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

DOCS = Path(__file__).parents[1] / "docs"
# The pages, and how many snippets they have at least.
PAGES = {
    "curating.md": 10,
    "constraints.md": 2,
    "page.md": 1,
    "getting_started.md": 4,
    "guide/method.md": 1,
    "guide/heuristics.md": 2,
    "guide/measures.md": 2,
    "guide/short.md": 2,
    "guide/boosted.md": 2,
    "guide/label_sets.md": 1,
    "guide/probabilities.md": 2,
    "guide/missing.md": 2,
    "guide/weights.md": 2,
    "guide/exporting.md": 3,
    "coming_from/jrip.md": 2,
    "coming_from/imodels.md": 2,
    "coming_from/wittgenstein.md": 2,
    "coming_from/boomer.md": 2,
    "coming_from/scikit_multilearn.md": 3,
}
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
                exec(compile(code, "<snippet>", "exec"), namespace)
            else:
                run_commands(code)
        yield "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())


@pytest.mark.skipif(not DOCS.exists(), reason="docs are not installed with the tests")
@pytest.mark.parametrize("name", PAGES)
def test_snippets_print_what_the_page_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / name).read_text(encoding="utf-8")
    snippets = SNIPPET.findall(page)
    assert len(snippets) >= PAGES[name]
    for (_, code, shown), printed in zip(snippets, print_snippets(page), strict=True):
        assert printed == shown, code


def write_outputs(path: Path) -> None:
    """Replace the outputs of a page by what the snippets print."""
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        printed = iter(list(print_snippets(page)))

    def fill(match: re.Match[str]) -> str:
        text = next(printed)
        code = f"```{match[1]}\n{match[2]}```"
        return code if match[3] is None else f"{code}\n\n```text\n{text}```"

    path.write_text(SNIPPET.sub(fill, page), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        sys.stderr.write(f"writing {DOCS / name}\n")
        write_outputs((DOCS / name).resolve())
