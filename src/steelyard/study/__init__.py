"""Studies: grid × folds × data sets → tidy rows and their analysis; resumable.

Knows data, estimators and measures; it does not know plots or HTML.
"""

from .config import StudyConfig, StudyError, config_from_toml, config_to_toml, read_config
from .merging import merge_studies
from .results import StudyResults, load_study
from .runner import ShardReport, collect_study, run_shard, run_study

__all__ = [
    "ShardReport",
    "StudyConfig",
    "StudyError",
    "StudyResults",
    "collect_study",
    "config_from_toml",
    "config_to_toml",
    "load_study",
    "merge_studies",
    "read_config",
    "run_shard",
    "run_study",
]
