"""The study: grid × folds × data sets → tidy rows; ranks, tuning, baselines, findings; resumable."""

from .config import StudyConfig, StudyError, config_from_toml, config_to_toml, read_config
from .runner import StudyResults, load_study, run_study

__all__ = [
    "StudyConfig",
    "StudyError",
    "StudyResults",
    "config_from_toml",
    "config_to_toml",
    "load_study",
    "read_config",
    "run_study",
]
