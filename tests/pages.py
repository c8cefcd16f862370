"""Steps that tests of the page share: wait, drop a file, download."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd


def settle(page) -> None:
    """Wait until the latest change is drawn."""
    page.evaluate(
        "new Promise(done => requestAnimationFrame(() => setTimeout("
        "() => requestAnimationFrame(() => setTimeout(done, 20)), 20)))"
    )


def give_file(page, name: str, content: str) -> None:
    """Choose a file for the page."""
    payload = {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    page.locator("#own-file").set_input_files(payload)
    settle(page)


def download(page, selector: str) -> str:
    """The text of the file that a button saves."""
    with page.expect_download() as saved:
        page.locator(selector).click()
    return Path(saved.value.path()).read_text(encoding="utf-8")


def table_to_csv(X: pd.DataFrame) -> str:
    """A table as CSV with all digits, as JavaScript and Python read them alike."""
    buffer = io.StringIO()
    X.to_csv(buffer, index=False)
    return buffer.getvalue()
