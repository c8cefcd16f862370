"""
8. Comparing learners with statistics
=====================================

Is one learner better than another, or was it luck? A study runs all of them on the same folds of
several data sets, ranks them and tests the differences.
"""

# %%
# Eight small data sets
# ---------------------
# Fruits of eight orchards, each with its own planted rules. The study reads tables from files.

import tempfile
from pathlib import Path

import pandas as pd

from steelyard import make_planted_rules
from steelyard.report import CriticalDifferenceDisplay, ValueHeatmapDisplay
from steelyard.study import StudyConfig, run_study

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
files = []
for seed in range(8):
    data = make_planted_rules(240, noise=0.1, random_state=seed)
    files.append(str(folder / f"orchard{seed}.csv"))
    data.X.join(data.Y).to_csv(files[-1], index=False)

# %%
# The study
# ---------
# The grid of the paper's method, tuned for micro F1 inside each training set, beside short rules,
# boosted rules, Ripper and a decision tree of scikit-learn. Any estimator that follows
# scikit-learn's conventions can take part.

config = StudyConfig(
    tuple(files),
    labels=tuple(data.label_names),
    parameters=(4.0, 16.0, 64.0, 256.0),
    phis=(1.0, 0.5, 0.25),
    folds=2,
    inner_folds=2,
    n_candidates=400,
    tune=("f1_micro",),
    methods=(
        "short(n_candidates=400)",
        "boosted(max_rules=40)",
        "ripper",
        "sklearn.tree:DecisionTreeClassifier(max_depth=6)",
    ),
)
study = run_study(config, folder / "results")
comparison = study.comparisons["f1_micro"]
pd.DataFrame(comparison.values, comparison.datasets, comparison.methods).round(3)

# %%
# Ranks and tests
# ---------------
# Bars join methods that are not significantly different (Nemenyi's test). With eight data sets
# only large differences are significant, and the diagram says so.

display = CriticalDifferenceDisplay.from_comparison(comparison).plot()

# %%
# Every pair by itself, with Wilcoxon's test, Holm's procedure and the Bayesian signed-rank test:

pd.DataFrame(comparison.pairs).round(3)

# %%
# And the map of one of the data sets, from the same results:

display = ValueHeatmapDisplay.from_results(
    study.results, measure="f1_micro", dataset="orchard0"
).plot()
