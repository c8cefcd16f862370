"""Measures of multi-label predictions: of labels (`counting`) and of scores (`scores`)."""

from .counting import (
    MEASURES,
    Counts,
    Measure,
    confusion_counts,
    get_measure,
    get_scorer,
)
from .counting import count_cells as count_cells
from .counting import find_measure as find_measure
from .counting import reject_single_label as reject_single_label
from .scores import MEASURE_GROUPS, SCORE_MEASURES, ScoreMeasure
from .scores import RankedScores as RankedScores
from .scores import expand_measures as expand_measures
from .scores import find_score_measures as find_score_measures

__all__ = [
    "MEASURES",
    "MEASURE_GROUPS",
    "SCORE_MEASURES",
    "Counts",
    "Measure",
    "ScoreMeasure",
    "confusion_counts",
    "get_measure",
    "get_scorer",
]
