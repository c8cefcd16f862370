"""Readers, embedded data sets and generators: the only part of the package that parses files."""

from steelyard.data.errors import DataError
from steelyard.data.folds import read_folds
from steelyard.data.mulan import load_mulan
from steelyard.data.multilabel import MultiLabelData
from steelyard.data.openml import fetch_multilabel
from steelyard.data.planted import PlantedCondition, PlantedData, PlantedRule, make_planted_rules
from steelyard.data.segments import SegmentData, load_segments
from steelyard.data.table import load_table

__all__ = [
    "DataError",
    "MultiLabelData",
    "PlantedCondition",
    "PlantedData",
    "PlantedRule",
    "SegmentData",
    "fetch_multilabel",
    "load_mulan",
    "load_segments",
    "load_table",
    "make_planted_rules",
    "read_folds",
]
