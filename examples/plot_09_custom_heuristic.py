"""
9. A heuristic of your own
==========================

A heuristic turns the counts of a rule into a value. Steelyard has fourteen. A further one is a
function of (tp, fp, fn, tn), or a small class with a parameter.
"""

# %%
# The formula
# -----------
# Youden's index, with a weight for false positives: the share of the positives that a rule
# covers, minus *w* times the share of the negatives.

from dataclasses import dataclass

import matplotlib.pyplot as plt

from steelyard import Heuristic, RuleSetClassifier, load_patients
from steelyard.report import CoverageSpaceDisplay


@dataclass(frozen=True)
class Youden(Heuristic):
    """TP / P − w · FP / N."""

    name = "youden"
    symbol = "w"
    w: float = 1.0

    def __call__(self, tp, fp, fn, tn):
        return tp / (tp + fn) - self.w * fp / (fp + tn)


Youden(2.0)(tp=30, fp=5, fn=10, tn=55)

# %%
# In coverage space
# -----------------
# The lines of equal value are straight and parallel, and *w* is their slope. So this family
# prefers coverage everywhere, as the m-estimate does with a large *m*.

data = load_patients()
_, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for w, ax in zip((1.0, 4.0), axes, strict=True):
    CoverageSpaceDisplay.from_data(
        data.X, data.Y, label="fast progression", heuristic=Youden(w), n_candidates=3_000
    ).plot(ax)

# %%
# As a parameter of an estimator
# ------------------------------
# It is a first-class citizen: estimators, searches (``heuristic__w``), paths and studies take it.

for w in (1.0, 4.0):
    clf = RuleSetClassifier(Youden(w), phi=0.3, n_candidates=3_000, random_state=0).fit(
        data.X, data.Y
    )
    print(clf.theory_.summary)
    print(*(f"  {scored.rule.describe()}" for scored in clf.theory_.rules[:3]), sep="\n")
