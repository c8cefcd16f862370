"""Write src/steelyard/data/docstrings.csv: what functions of Python's standard library say they do.

    python docs/make_docstrings.py /usr/lib/python3.11 /usr/lib/python3.12 /usr/lib/python3.13

The arguments are folders of standard libraries. A function, method or class is taken if its text is
the same in all of them, so that the data set does not depend on the version of Python. Nothing
is imported: the files are parsed. The texts are those of Python, under the licence of the Python
Software Foundation (LICENSES/PSF-2.0.txt).
"""

from __future__ import annotations

import ast
import csv
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "steelyard" / "data" / "docstrings.csv"
MIN_WORDS = 12
MAX_LENGTH = 320  # characters; what matters is said first

# What the modules of the standard library are for. A module may be for several things; a name stands for
# its submodules, too.
TOPICS = {
    "files": "pathlib tarfile zipfile shutil os tempfile fileinput glob fnmatch posixpath genericpath "
    "ntpath gzip bz2 lzma filecmp stat mailbox ftplib netrc mimetypes tkinter.filedialog "
    "importlib.resources linecache shelve dbm zipimport",
    "network": "socket socketserver ssl smtplib imaplib poplib ftplib http urllib xmlrpc ipaddress "
    "asyncio.transports asyncio.streams asyncio.protocols asyncio.sslproto "
    "multiprocessing.connection wsgiref selectors",
    "e-mail": "email mailbox smtplib imaplib poplib",
    "web": "http urllib wsgiref webbrowser html xmlrpc",
    "concurrency": "threading asyncio multiprocessing queue concurrent.futures subprocess sched "
    "selectors",
    "compression": "tarfile zipfile gzip bz2 lzma zipimport",
    "markup": "xml html xmlrpc plistlib",
    "numbers": "statistics random fractions numbers colorsys ipaddress",
    "testing": "unittest doctest pdb bdb timeit trace tracemalloc pstats",
}


def main() -> None:
    """Write the rows that all libraries agree on."""
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    first, *others = (dict(read_library(Path(folder))) for folder in sys.argv[1:])
    common = {
        name: text for name, text in first.items() if all(o.get(name) == text for o in others)
    }
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "topics", "text"])
        known = set()
        for name, text in sorted(common.items()):
            topics = find_topics(name)
            if text not in known:  # a method that is documented alike in several classes
                writer.writerow([name, ";".join(topics), text])
            known.add(text)
    print(f"{TARGET}: {len(known)} rows")


def read_library(folder: Path) -> Iterator[tuple[str, str]]:
    """The name and the text of all that is public and documented in the chosen modules."""
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        if find_topics(module) and not any(
            part.startswith("_") or part == "test" for part in parts
        ):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from read_definitions(tree, module)


def read_definitions(tree: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, str]]:
    """The same of one module or class."""
    for node in tree.body:
        kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
        if not isinstance(node, kinds) or node.name.startswith("_"):
            continue
        name = f"{prefix}.{node.name}"
        text = " ".join((ast.get_docstring(node) or "").split(">>>")[0].split())
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= MIN_WORDS:
            yield name, textwrap.shorten(text, MAX_LENGTH, placeholder="")
        if isinstance(node, ast.ClassDef):
            yield from read_definitions(node, name)


def find_topics(name: str) -> list[str]:
    """The topics of a module, or of something in it."""
    parts = name.split(".")
    prefixes = {".".join(parts[: n + 1]) for n in range(len(parts))}
    return [topic for topic, names in TOPICS.items() if prefixes & set(names.split())]


if __name__ == "__main__":
    main()
