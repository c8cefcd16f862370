"""Steps that tests of the page share: wait, drop a file, download. Every wait ends after seconds."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

#: Milliseconds after which a page that does not answer is an error.
PATIENCE = 15_000

# Two frames and some time, so that what an event started is under way, then the end of drawing.
_SETTLED = """() => new Promise((done) => {
  const frame = (next) => requestAnimationFrame(() => setTimeout(next, 20));
  const wait = () => (document.body.dataset.rendered ? done(true) : setTimeout(wait, 5));
  frame(() => frame(wait));
})"""


def run(page, script: str, argument=None, *, patience: int = PATIENCE):
    """The value of a script; an error if it takes too long, which `evaluate` would wait for."""
    return page.wait_for_function(
        f"async (argument) => ({{ value: await ({script})(argument) }})",
        arg=argument,
        timeout=patience,
    ).json_value()["value"]


def settle(page) -> None:
    """Wait until the latest change is drawn."""
    run(page, _SETTLED)


def give_file(page, name: str, content: str) -> None:
    """Choose a file for the page."""
    payload = {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    page.locator("#own-file").set_input_files(payload)
    settle(page)


def download(page, selector: str) -> str:
    """The text of the file that a button saves."""
    with page.expect_download(timeout=PATIENCE) as saved:
        page.locator(selector).click()
    return Path(saved.value.path()).read_text(encoding="utf-8")


def table_to_csv(X: pd.DataFrame) -> str:
    """A table as CSV with all digits, as JavaScript and Python read them alike."""
    buffer = io.StringIO()
    X.to_csv(buffer, index=False)
    return buffer.getvalue()
