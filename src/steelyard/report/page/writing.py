"""Plain data, style and scripts → one HTML file that loads nothing from outside.

Knows strings and sizes; `payload` knows what the data means.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from steelyard._files import compress, write_inside
from steelyard.study import StudyResults

from .payload import study_to_payload

# A size that every mail server accepts.
MAX_BYTES = 1_900_000


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


def build_page(
    payload: dict[str, Any], theories: dict[str, dict[str, Any]], max_bytes: int = MAX_BYTES
) -> str:
    """The page as text; theories are compressed, and then omitted, to stay below `max_bytes`."""
    style = _read("style.css")
    script = _fill("scripts/page.js", lambda name: _read(f"scripts/{name}"))
    head = to_json(payload)
    room = max_bytes - len((style + script + head).encode("utf-8")) - len(_read("template.html"))
    blocks = fit_theories(theories, room)
    for dataset in payload["datasets"]:
        dataset["embedded"] = dataset["name"] in blocks
    names = [dataset["name"] for dataset in payload["datasets"]]
    data = {"study": ("application/json", to_json(payload))}
    data |= {f"theories-{names.index(name)}": block for name, block in blocks.items()}
    elements = [
        f'<script type="{kind}" id="{i}">{text}</script>' for i, (kind, text) in data.items()
    ]
    parts = {
        # Only the script in this file may run, and nothing may be loaded.
        "policy": f"default-src 'none'; img-src data: blob:; script-src '{_hash(script)}'; "
        f"style-src '{_hash(style)}'",
        "style": style,
        "data": "\n".join(elements),
        "script": script,
    }
    return _fill("template.html", parts.__getitem__)


def fit_theories(theories: dict[str, dict[str, Any]], room: int) -> dict[str, tuple[str, str]]:
    """Type and content of a script element for each data set whose theories fit.

    The content is plain JSON if all theories fit. Otherwise it is compressed, and the largest ones are
    omitted if that is not enough.
    """
    plain = {name: to_json(data) for name, data in theories.items()}
    if sum(len(text.encode("utf-8")) for text in plain.values()) <= room:
        return {name: ("application/json", text) for name, text in plain.items()}
    packed = {name: _encode(compress(t, 9)) for name, t in plain.items()}
    while packed and sum(map(len, packed.values())) > room:
        del packed[max(packed, key=lambda name: len(packed[name]))]
    return {name: ("application/gzip", text) for name, text in packed.items()}


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
