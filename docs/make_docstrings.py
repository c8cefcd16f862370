"""Write src/steelyard/data/docstrings.csv: the names of the texts of `load_docstrings`, with digests.

    python docs/make_docstrings.py /usr/lib/python3.11 /usr/lib/python3.12 /usr/lib/python3.13

The arguments are folders of standard libraries. A function, method or class is taken if its text is
the same in all of them, so that the data set does not depend on the version of Python.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from steelyard.data.docstrings import digest, read_library

TARGET = Path(__file__).parents[1] / "src" / "steelyard" / "data" / "docstrings.csv"


def main() -> None:
    """Write the rows that all libraries agree on."""
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    first, *others = (dict(read_library(Path(folder))) for folder in sys.argv[1:])
    known = set()
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "digest"])
        for name, text in sorted(first.items()):
            # A method may be documented alike in several classes.
            if text not in known and all(library.get(name) == text for library in others):
                writer.writerow([name, digest(text)])
                known.add(text)
    print(f"{TARGET}: {len(known)} rows")


if __name__ == "__main__":
    main()
