"""Reports: tables, figures and the page, from the results of a study.

The only package that knows matplotlib and HTML; it imports matplotlib when a figure is drawn.
"""

from .coverage_space import CoverageSpaceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .heatmaps import RankHeatmapDisplay, ValueHeatmapDisplay
from .learning_curves import LearningCurveDisplay, learning_curve_rows
from .size_curves import SizeCurveDisplay
from .styles import STYLES, Style, get_style

__all__ = [
    "STYLES",
    "CoverageSpaceDisplay",
    "CriticalDifferenceDisplay",
    "LearningCurveDisplay",
    "RankHeatmapDisplay",
    "SizeCurveDisplay",
    "Style",
    "ValueHeatmapDisplay",
    "get_style",
    "learning_curve_rows",
]
