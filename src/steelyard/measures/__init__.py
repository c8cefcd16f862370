"""Measures of multi-label predictions: of labels (`counting`), of scores (`scores`), as `scorers`."""

from .counting import (
    MEASURES,
    Counts,
    Measure,
    confusion_counts,
    get_measure,
)
from .counting import count_cells as count_cells
from .counting import find_measure as find_measure
from .scorers import LabelScores as LabelScores
from .scorers import ScoreScorer as ScoreScorer
from .scorers import check_target_of_scoring as check_target_of_scoring
from .scorers import describe_lack as describe_lack
from .scorers import find_score_scorer as find_score_scorer
from .scorers import find_scores as find_scores
from .scorers import get_scorer
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
