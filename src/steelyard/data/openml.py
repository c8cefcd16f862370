"""The well-known multi-label data sets of OpenML, through scikit-learn's download and cache."""

from os import PathLike
from typing import NamedTuple
from urllib.error import URLError

import pandas as pd

from .errors import DataError, did_you_mean
from .frame_columns import frames_to_data
from .label_values import ConstantLabels
from .multilabel import MultiLabelData


class OpenMLDataSet(NamedTuple):
    """Where OpenML keeps a data set, and what it is about."""

    data_id: int
    topic: str


# The collection of Probst et al. (Multilabel Classification with R Package mlr, 2017). The
# names have other versions on OpenML that are single-label: the numbers are the contract.
KNOWN_DATA_SETS = {
    "birds": OpenMLDataSet(40588, "bird species in sound recordings"),
    "emotions": OpenMLDataSet(40589, "emotions that pieces of music evoke"),
    "enron": OpenMLDataSet(40590, "topics of e-mails"),
    "genbase": OpenMLDataSet(40591, "functions of proteins"),
    "image": OpenMLDataSet(40592, "contents of photographs"),
    "langLog": OpenMLDataSet(40593, "topics of a blog about language"),
    "reuters": OpenMLDataSet(40594, "topics of news"),
    "scene": OpenMLDataSet(40595, "scenes in photographs"),
    "slashdot": OpenMLDataSet(40596, "topics of technology news"),
    "yeast": OpenMLDataSet(40597, "functions of genes"),
}


def fetch_multilabel(
    name: str,
    *,
    version: int | None = None,
    data_home: str | PathLike[str] | None = None,
    cache: bool = True,
    constant_labels: ConstantLabels = "raise",
) -> MultiLabelData:
    """Fetch a well-known multi-label data set from OpenML, once: it is cached.

    Parameters
    ----------
    name : str
        One of birds, emotions, enron, genbase, image, langLog, reuters, scene, slashdot, yeast.
    version : int, optional
        Another version of that name on OpenML than the well-known one.
    data_home : path-like, optional
        The folder of the cache, by default that of scikit-learn (``~/scikit_learn_data``).
    cache : bool, default=True
        Whether to keep the download for the next time.
    constant_labels : {"raise", "drop", "keep"}, default="raise"
        What to do about labels that all examples or none have: an error, leave them out with
        a warning, or keep them.

    Returns
    -------
    data : MultiLabelData
        With OpenML's description of the data set.

    Raises
    ------
    DataError
        If the name is unknown or the data set is not multi-label.
    ConnectionError
        If OpenML cannot be reached and the data set is not in the cache.

    Examples
    --------
    >>> from steelyard.data import fetch_multilabel
    >>> fetch_multilabel("yeast")  # doctest: +SKIP
    yeast: 2417 examples, 103 attributes (103 numeric), 14 labels, cardinality 4.24
    >>> fetch_multilabel("yeats")
    Traceback (most recent call last):
        ...
    steelyard.data.errors.DataError: there is no data set 'yeats' (did you mean 'yeast'?);
    known are birds, emotions, enron, genbase, image, langLog, reuters, scene, slashdot, yeast
    """
    known = {key.lower(): key for key in KNOWN_DATA_SETS}.get(name.lower())
    if known is None:
        raise DataError(
            f"there is no data set {name!r}{did_you_mean(name, KNOWN_DATA_SETS)};"
            f" known are {', '.join(KNOWN_DATA_SETS)}"
        )
    if version is None:
        query: dict[str, object] = {"data_id": KNOWN_DATA_SETS[known].data_id}
    else:
        query = {"name": known, "version": version}

    from sklearn.datasets import fetch_openml

    try:
        # Not the parser "pandas": with pandas 3.1 it takes the labels' TRUE and FALSE for truth
        # values and then fails on them (seen with scikit-learn 1.9.1).
        bunch = fetch_openml(
            **query, data_home=data_home, cache=cache, as_frame=True, parser="liac-arff"
        )
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise ConnectionError(
            f"could not download the data set {known!r} from OpenML ({reason}); is there a"
            " connection to the network?"
        ) from error
    except ValueError as error:
        raise DataError(f"OpenML has no usable data set {known!r}: {error}") from error

    labels = bunch.target
    if not isinstance(labels, pd.DataFrame):
        raise DataError(
            f"the data set {known!r} on OpenML ({query}) has a single target, no labels"
        )
    return frames_to_data(
        bunch.data,
        labels,
        name=known,
        where=f"{known} (OpenML)",
        description=bunch.DESCR,
        constant_labels=constant_labels,
    )
