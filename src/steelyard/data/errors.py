"""What is wrong with a data set, in one sentence with file and line.

Owns the exception and the warning of the data layer and how they name a place. Knows no format.
"""

from os import PathLike


class DataError(ValueError):
    """A data set cannot be used; the message is one sentence that says where and why.

    Examples
    --------
    >>> from steelyard.data import DataError
    >>> issubclass(DataError, ValueError)
    True
    >>> raise DataError("flags.arff, line 31: the row has 25 values instead of 26")
    Traceback (most recent call last):
        ...
    steelyard.data.errors.DataError: flags.arff, line 31: the row has 25 values instead of 26
    """


class DataWarning(UserWarning):
    """A data set can be used, but some of its columns do not help or mislead.

    Examples
    --------
    >>> import warnings
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.data import DataWarning
    >>> data = load_patients()
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     clf = RipperClassifier(random_state=0).fit(data.X.assign(patient_id=range(442)), data.Y)
    >>> ["patient_id" in str(w.message) for w in caught if w.category is DataWarning]
    [True]
    """


def error_at(path: str | PathLike[str], line: int, problem: object) -> DataError:
    """Return the error about a line of a file."""
    return DataError(f"{path}, line {line}: {problem}")
