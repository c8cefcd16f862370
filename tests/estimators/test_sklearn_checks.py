"""scikit-learn's own checks of what an estimator is; none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from steelyard import MEstimate, RuleSetClassifier, RuleSetClassifierCV

# Few candidates: the checks ask for manners, not for quality.
ESTIMATORS = [
    RuleSetClassifier(n_candidates=200, n_trees=2, max_depths=(None, 2)),
    RuleSetClassifierCV(
        heuristics=[MEstimate(1), MEstimate(16)],
        phis=[1.0, 0.5],
        cv=2,
        n_candidates=100,
        n_trees=2,
        max_depths=(None, 2),
    ),
]


@pytest.mark.filterwarnings("ignore:the data yields only")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
