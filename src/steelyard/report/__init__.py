"""Reports: tables, figures and the page, from the results of a study.

The only package that knows matplotlib and HTML; it imports matplotlib when a figure is drawn.
"""

from .coverage_space import CoverageSpaceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .heatmaps import RankHeatmapDisplay, ValueHeatmapDisplay

__all__ = [
    "CoverageSpaceDisplay",
    "CriticalDifferenceDisplay",
    "RankHeatmapDisplay",
    "ValueHeatmapDisplay",
]
