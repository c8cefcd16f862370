"""Readers, embedded data sets and generators: the only part of the package that parses files."""

from steelyard.data.errors import DataError
from steelyard.data.folds import read_folds
from steelyard.data.mulan import load_mulan
from steelyard.data.multilabel import MultiLabelData

__all__ = [
    "DataError",
    "MultiLabelData",
    "load_mulan",
    "read_folds",
]
