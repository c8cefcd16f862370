"""Data sets that OpenML lacks, from the repository Boomer-Datasets; pooch downloads and caches them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

from .catalogue import FOLDER_VARIABLE, CatalogueEntry
from .errors import DataError
from .label_xml import read_label_lines

# A fixed revision, so that a file stays what its hash says. ARFF files are stored apart from the others.
_REVISION = "049d3090a73d4c140ccc897906abdd9bbe8d78ba"
_REPOSITORY = f"mrapp-ke/Boomer-Datasets/{_REVISION}"
_ARFF_URL = f"https://media.githubusercontent.com/media/{_REPOSITORY}"
_XML_URL = f"https://raw.githubusercontent.com/{_REPOSITORY}"


def download_data(entry: CatalogueEntry, data_home: str | os.PathLike[str] | None = None) -> Path:
    """Download a data set of the catalogue once; return its ARFF file, with the XML file beside it.

    Parameters
    ----------
    entry : CatalogueEntry
        One with a download.
    data_home : path-like, optional
        The folder of the cache, by default that of the operating system.

    Raises
    ------
    ConnectionError
        If the repository cannot be reached and the data set is not in the cache.
    DataError
        If a file is not the one that the catalogue knows, or cannot be saved.
    ImportError
        If pooch is missing.
    """
    pooch = _import_pooch(entry.name)
    folder = Path(pooch.os_cache("steelyard") if data_home is None else data_home, entry.name)
    fetch = partial(_fetch_file, pooch, entry, folder)
    path = fetch(".arff", _ARFF_URL, f"sha256:{entry.download_sha256}")
    labels = fetch(".xml", _XML_URL, None)
    try:
        read_label_lines(labels)  # it has no hash
    except DataError:
        labels.unlink()  # so that the next call does not find it in the cache
        raise
    return path


def _fetch_file(
    pooch: Any,
    entry: CatalogueEntry,
    folder: Path,
    suffix: str,
    server: str,
    known_hash: str | None,
) -> Path:
    """One of the files of a data set, from the cache or from a server."""
    url = f"{server}/{entry.download}{suffix}"
    name = f"{entry.name}{suffix}"
    # Without a hash pooch would tell its caller, not our user, to pass one.
    pooch.get_logger().setLevel("INFO" if known_hash else "WARNING")
    try:
        return Path(pooch.retrieve(url=url, known_hash=known_hash, fname=name, path=folder))
    except PermissionError as error:
        raise DataError(f"cannot save {name} in {str(folder)!r}: {_find_reason(error)}") from error
    except OSError as error:  # those of requests are among them
        raise ConnectionError(
            f"the data set {entry.name!r} is not on this machine, and {url} could not be downloaded "
            f"({_find_reason(error)}): check the connection to the network, or put {entry.name}.arff "
            f"and {entry.name}.xml into a folder {entry.name!r} of the folder {FOLDER_VARIABLE}"
        ) from error
    except ValueError as error:
        raise DataError(
            f"{url} is not the file that the catalogue knows: {_find_reason(error)}"
        ) from error


def _import_pooch(name: str) -> Any:
    try:
        import pooch
    except ImportError:
        raise ImportError(
            f"the data set {name!r} is downloaded with pooch: pip install 'steelyard[fetch]', or put "
            f"its folder where {FOLDER_VARIABLE} says"
        ) from None
    return pooch


def _find_reason(error: BaseException) -> str:
    """The innermost reason: libraries wrap each other's errors, addresses and all."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    while error.__context__ is not None:
        error = error.__context__
    reason = getattr(error, "strerror", None) or error
    return " ".join(str(reason).split())[:200] or type(error).__name__
