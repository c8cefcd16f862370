"""Data sets that OpenML lacks, from the repository Boomer-Datasets; pooch downloads and caches them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .catalogue import CatalogueEntry
from .errors import DataError

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
        If a file is not the one that the catalogue knows.
    ImportError
        If pooch is missing.
    """
    pooch = _import_pooch(entry.name)
    folder = Path(pooch.os_cache("steelyard") if data_home is None else data_home, entry.name)
    names = {f"{entry.name}.arff": entry.download_sha256, f"{entry.name}.xml": None}
    paths = []
    for name, sha256 in names.items():
        suffix = Path(name).suffix
        url = f"{_ARFF_URL if suffix == '.arff' else _XML_URL}/{entry.download}{suffix}"
        known_hash = f"sha256:{sha256}" if sha256 else None
        try:
            found = pooch.retrieve(url=url, known_hash=known_hash, fname=name, path=folder)
        except OSError as error:  # those of requests are among them
            raise ConnectionError(
                f"could not download the data set {entry.name!r} from {url} ({_shorten(error)}); is "
                "there a connection to the network?"
            ) from error
        except ValueError as error:
            raise DataError(
                f"{url} is not the file that the catalogue knows: {_shorten(error)}"
            ) from error
        paths.append(Path(found))
    return paths[0]


def _import_pooch(name: str) -> Any:
    try:
        import pooch
    except ImportError:
        raise ImportError(
            f"the data set {name!r} is downloaded with pooch: pip install 'steelyard[fetch]', or put "
            "its folder where STEELYARD_DATA says"
        ) from None
    return pooch


def _shorten(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
