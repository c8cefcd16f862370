"""Measures of multi-label predictions: of labels (`counting`) and of scores (`scores`)."""

from .counting import (
    MEASURES,
    Counts,
    Measure,
    confusion_counts,
    count_cells,
    find_measure,
    get_measure,
    get_scorer,
    reject_single_label,
)
from .scores import (
    MEASURE_GROUPS,
    SCORE_MEASURES,
    RankedScores,
    ScoreMeasure,
    expand_measures,
    find_score_measures,
)

__all__ = [
    "MEASURES",
    "MEASURE_GROUPS",
    "SCORE_MEASURES",
    "Counts",
    "Measure",
    "RankedScores",
    "ScoreMeasure",
    "confusion_counts",
    "count_cells",
    "expand_measures",
    "find_measure",
    "find_score_measures",
    "get_measure",
    "get_scorer",
    "reject_single_label",
]
