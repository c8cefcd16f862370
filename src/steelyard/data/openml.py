"""The well-known multi-label data sets of OpenML; scikit-learn downloads and caches them."""

from os import PathLike
from urllib.error import URLError

import pandas as pd

from steelyard._text import did_you_mean

from .catalogue import FOLDER_VARIABLE
from .columns import ConstantLabels, convert_attributes, decode_examples
from .errors import DataError
from .multilabel import MultiLabelData

# The collection of Probst et al. (Multilabel Classification with R Package mlr, 2017), by number:
# OpenML has other data sets of the same names that are single-label. Each has a topic.
KNOWN_DATA_SETS = {
    "birds": (40588, "bird species in sound recordings"),
    "emotions": (40589, "emotions that pieces of music evoke"),
    "enron": (40590, "topics of e-mails"),
    "genbase": (40591, "functions of proteins"),
    "image": (40592, "contents of photographs"),
    "langLog": (40593, "topics of a blog about language"),
    "reuters": (40594, "topics of news"),
    "scene": (40595, "scenes in photographs"),
    "slashdot": (40596, "topics of technology news"),
    "yeast": (40597, "functions of genes"),
}


def fetch_multilabel(
    name: str,
    *,
    data_home: str | PathLike[str] | None = None,
    constant_labels: ConstantLabels = "keep",
) -> MultiLabelData:
    """Fetch a well-known multi-label data set from OpenML and cache it.

    Parameters
    ----------
    name : str
        One of birds, emotions, enron, genbase, image, langLog, reuters, scene, slashdot, yeast.
    data_home : path-like, optional
        The folder of the cache, by default that of scikit-learn (``~/scikit_learn_data``).
    constant_labels : as in `load_mulan`

    Returns
    -------
    data : MultiLabelData
        The data set, with the description of OpenML.

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
    from sklearn.datasets import fetch_openml

    try:
        # The parser "pandas" reads the labels' TRUE and FALSE as booleans with pandas 3.1 and then
        # fails on them (seen with scikit-learn 1.9.1).
        number, _ = KNOWN_DATA_SETS[known]
        bunch = fetch_openml(data_id=number, data_home=data_home, as_frame=True, parser="liac-arff")
    except (URLError, TimeoutError, ConnectionError) as error:
        raise ConnectionError(
            f"could not download the data set {known!r} from OpenML ({error}): check the connection to "
            f"the network, or put its folder where {FOLDER_VARIABLE} says"
        ) from error
    except ValueError as error:
        raise DataError(f"OpenML has no usable data set {known!r}: {error}") from error

    where = f"{known} (OpenML)"
    if not isinstance(bunch.target, pd.DataFrame):
        raise DataError(f"{where} has a single target instead of labels")
    attributes = convert_attributes(bunch.data, where)
    X, Y = decode_examples(attributes, bunch.target, where, constant_labels=constant_labels)
    return MultiLabelData(X, Y, name=known, description=bunch.DESCR)
