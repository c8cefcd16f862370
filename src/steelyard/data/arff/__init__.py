"""Reader of ARFF files: text to cells, header, matrix and DataFrame. Knows no labels."""

from .frame import table_to_frame
from .header import Attribute
from .reader import ArffTable, read_arff

__all__ = ["ArffTable", "Attribute", "read_arff", "table_to_frame"]
