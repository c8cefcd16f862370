"""Matplotlib without a window, and a small study of two data sets."""

import matplotlib
import pytest

from steelyard.study import StudyConfig, StudyResults, run_study

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def two_studies(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Two data sets, few cells."""
    table = tmp_path_factory.mktemp("data") / "other.csv"
    from steelyard import make_planted_rules

    data = make_planted_rules(150, random_state=3)
    data.X.join(data.Y).to_csv(table, index=False)
    config = StudyConfig(
        ("planted", str(table)),
        labels=tuple(data.label_names),
        parameters=(0.0, 4.0, 524288.0),
        phis=(1.0, 0.5, 0.1),
        folds=2,
        n_candidates=300,
        tune=("f1_micro", "recall_macro"),
        inner_folds=2,
        baselines=("ripper",),
    )
    return run_study(config, tmp_path_factory.mktemp("study") / "two")
