"""Readers, embedded data sets and generators: the only package that parses data files."""

from .docstrings import load_docstrings
from .errors import DataError, DataWarning
from .folds import read_folds
from .mulan import load_mulan
from .multilabel import MultiLabelData
from .openml import fetch_multilabel
from .patients import load_patients
from .planted import PlantedData, make_planted_rules
from .segments import load_segments
from .table import load_table

__all__ = [
    "DataError",
    "DataWarning",
    "MultiLabelData",
    "PlantedData",
    "fetch_multilabel",
    "load_docstrings",
    "load_mulan",
    "load_patients",
    "load_segments",
    "load_table",
    "make_planted_rules",
    "read_folds",
]
