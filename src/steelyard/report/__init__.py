"""Reports: tables, figures and the page, all from the rows of a study. Imports matplotlib lazily."""

from .coverage_space import CoverageSpaceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .heatmaps import RankHeatmapDisplay, ValueHeatmapDisplay

__all__ = [
    "CoverageSpaceDisplay",
    "CriticalDifferenceDisplay",
    "RankHeatmapDisplay",
    "ValueHeatmapDisplay",
]
