"""References such as ``module:attribute`` → what they name. Importing a module executes it."""

from __future__ import annotations

import hashlib
import os
import sys
from importlib import import_module
from inspect import getmodule
from pathlib import Path
from typing import Any


def find_reference(reference: str, *, own_folder: bool = True) -> Any:
    """What ``module:attribute`` names.

    Parameters
    ----------
    reference : str
    own_folder : bool, default=True
        Whether the module may also stand in the working folder. It is searched last, so that no file in
        it can take the place of an installed module, and stays on the path for worker processes.

    Examples
    --------
    >>> find_reference("math:pi")
    3.141592653589793
    """
    module, _, attribute = reference.partition(":")
    if own_folder and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found: Any = import_module(module)
    except Exception as error:  # whatever the code of the module raises
        reason = " ".join(f"{error}".split()) or type(error).__name__
        raise ValueError(f"{reference!r} cannot be imported: {reason}") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"the module {module} has no {attribute!r}")
        found = getattr(found, part)
    return found


def hash_source(found: Any) -> str:
    """A short hash of the file that defines something; empty if there is no such file."""
    file = getattr(getmodule(found), "__file__", None)
    if file is None or not Path(file).is_file():
        return ""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
