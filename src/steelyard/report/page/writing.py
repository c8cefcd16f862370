"""Plain data, style and scripts → one HTML file that loads nothing from outside.

Knows strings and sizes; `payload` knows what the data means.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from time import gmtime, strftime
from typing import Any

from steelyard._files import compress, write_atomically, write_inside
from steelyard.model.theory import Theory
from steelyard.study import StudyResults

from .payload import PARTS, Blocks, study_to_payload, theory_to_page_payload

# A size that every mail server accepts, and one for studies of many data sets.
MAX_BYTES = 1_900_000
MAX_BYTES_OF_MANY = 4_800_000
_MANY = 4


def write_page(study: StudyResults) -> Path:
    """Write ``index.html`` into the folder of a study.

    Parameters
    ----------
    study : StudyResults

    Returns
    -------
    Path
        The page.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.study import StudyConfig, run_study
    >>> config = StudyConfig(("planted",), folds=2, n_candidates=200, parameters=(2.0, 64.0))
    >>> with TemporaryDirectory() as folder:
    ...     write_page(run_study(config, folder)).name
    'index.html'
    """
    page = build_page(*study_to_payload(study))
    write_inside(study.folder, "index.html", page.encode("utf-8"))
    return study.folder / "index.html"


def write_theory_page(
    theory: Theory,
    path: str | Path,
    X: Any,
    Y: Any,
    *,
    name: str = "examples",
    is_unseen: bool = False,
) -> Path:
    """Write the page of one theory, of any estimator, with examples to try it on.

    Parameters
    ----------
    theory : Theory
    path : path-like
        The file to write, such as "page.html".
    X : table
        Attributes of examples; as many as fit are part of the page.
    Y : labels
        Their true labels, as for `Theory.recount`.
    name : str, default="examples"
        What the examples are called.
    is_unseen : bool, default=False
        Whether the theory was not learned from these examples.

    Returns
    -------
    Path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard import RipperClassifier, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y).theory_
    >>> with TemporaryDirectory() as folder:
    ...     write_theory_page(theory, Path(folder, "page.html"), data.X, data.Y).name
    'page.html'
    """
    run = {"version": version("steelyard"), "finished": strftime("%Y-%m-%d", gmtime())}
    made = theory_to_page_payload(theory, X, Y, name=name, is_unseen=is_unseen, run=run)
    write_atomically(Path(path), build_page(*made).encode("utf-8"))
    return Path(path)


def build_page(payload: dict[str, Any], blocks: Blocks, max_bytes: int | None = None) -> str:
    """The page as text; parts are compressed, and then omitted, to stay below `max_bytes`."""
    if max_bytes is None:
        is_large = len(payload["datasets"]) >= _MANY
        max_bytes = MAX_BYTES_OF_MANY if is_large else MAX_BYTES
    style = _read("style.css")
    script = _fill("scripts/page.js", lambda name: _read(f"scripts/{name}"))
    head = to_json(payload)
    room = max_bytes - len((style + script + head).encode("utf-8")) - len(_read("template.html"))
    parts = {
        (part, dataset): data
        for dataset, of_dataset in blocks.items()
        for part, data in of_dataset.items()
    }
    fitted = fit_parts(parts, room)
    names = [dataset["name"] for dataset in payload["datasets"]]
    for dataset in payload["datasets"]:
        dataset["embedded"] = [part for part, name in fitted if name == dataset["name"]]
    data = {"study": ("application/json", to_json(payload))}
    data |= {f"{part}-{names.index(name)}": block for (part, name), block in fitted.items()}
    elements = [
        f'<script type="{kind}" id="{i}">{text}</script>' for i, (kind, text) in data.items()
    ]
    filled = {
        # Only the script in this file may run, and nothing may be loaded.
        "policy": f"default-src 'none'; img-src data: blob:; script-src '{_hash(script)}'; "
        f"style-src '{_hash(style)}'",
        "style": style,
        "data": "\n".join(elements),
        "script": script,
    }
    return _fill("template.html", filled.__getitem__)


def fit_parts(
    parts: dict[tuple[str, str], dict[str, Any]], room: int
) -> dict[tuple[str, str], tuple[str, str]]:
    """Type and content of a script element for each part of a data set that fits.

    The content is plain JSON if all parts fit. Otherwise it is compressed. If that is not enough, parts
    are omitted: the least important ones first, of equally important ones the largest.
    """
    plain = {key: to_json(data) for key, data in parts.items()}
    if sum(len(text.encode("utf-8")) for text in plain.values()) <= room:
        return {key: ("application/json", text) for key, text in plain.items()}
    packed = {key: _encode(compress(text, 9)) for key, text in plain.items()}
    while packed and sum(map(len, packed.values())) > room:
        del packed[max(packed, key=lambda key: (PARTS.index(key[0]), len(packed[key])))]
    return {key: ("application/gzip", text) for key, text in packed.items()}


def _encode(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def to_json(data: Any) -> str:
    r"""JSON for a script element: it contains no character that could end the element.

    Examples
    --------
    >>> print(to_json(["</script>", "a & b"]))
    ["\u003c/script\u003e","a \u0026 b"]
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # Damaged files may contain half of a surrogate pair, which UTF-8 cannot represent.
    return text.encode("utf-8", "replace").decode("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + _encode(hashlib.sha256(text.encode("utf-8")).digest())


def _fill(template: str, content_of: Callable[[str], str]) -> str:
    """Replace all {{names}} in one pass, so that content that looks like a name stays as it is."""
    return re.sub(r"\{\{([\w.]+)\}\}", lambda match: content_of(match[1]), _read(template))


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
