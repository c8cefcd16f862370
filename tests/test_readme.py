"""Every Python snippet of these pages runs, in order, and prints the output that the page shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
DATA = README.parent / "docs" / "data.md"
# A block of Python, and the block of text that directly follows it, if one does.
SNIPPET = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.parametrize(("page", "n_least"), [(README, 2), (DATA, 3)], ids=["README", "data"])
def test_snippets_print_what_the_page_shows(page, n_least):
    snippets = SNIPPET.findall(page.read_text(encoding="utf-8"))
    assert len(snippets) >= n_least
    namespace: dict[str, object] = {}
    for code, shown in snippets:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), namespace)
        assert printed.getvalue() == shown, code


@pytest.mark.parametrize("command", ["make study", "make test"])
def test_readme_has_the_two_commands(command):
    assert command in README.read_text(encoding="utf-8")
