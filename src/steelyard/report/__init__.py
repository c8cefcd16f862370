"""Reports: tables, figures and the page, all from the rows of a study. Imports matplotlib lazily."""

from .heatmaps import RankHeatmapDisplay, ValueHeatmapDisplay

__all__ = ["RankHeatmapDisplay", "ValueHeatmapDisplay"]
