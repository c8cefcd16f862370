"""A small study that several tests share; it runs once."""

from pathlib import Path

import pytest

from steelyard.study import StudyConfig, StudyResults, run_study

MINI = StudyConfig(
    data=("planted",),
    parameters=(0.0, 4.0, 64.0),
    phis=(1.0, 0.5, 0.1),
    folds=3,
    n_candidates=300,
    seed=1,
    tune=("f1_micro", "hamming"),
    inner_folds=3,
    baselines=("ripper",),
)


@pytest.fixture(scope="session")
def mini_config() -> StudyConfig:
    return MINI


@pytest.fixture(scope="session")
def mini_study(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    folder: Path = tmp_path_factory.mktemp("study") / "mini"
    return run_study(MINI, folder, n_jobs=1)
