"""
5. Mixed columns and missing values
===================================

Numbers, categories, booleans, dates and gaps: rules take columns as they are. No encoder and no
imputer is needed, and conditions keep the names and the categories of the table.
"""

# %%
# A table as it comes
# -------------------
# Fruits of an orchard, and what each of them is good for. We add a date, a boolean and holes.

import numpy as np
import pandas as pd

from steelyard import MEstimate, RuleSetClassifier, make_planted_rules

data = make_planted_rules(600, noise=0.05, random_state=0)
rng = np.random.default_rng(0)
X = data.X.copy()
days = pd.to_timedelta(X.pop("days since harvest"), unit="D")
X["harvested"] = pd.Timestamp("2026-10-01") - days
X["bruised"] = X["bruised"] == "yes"
for column in ("weight", "sweetness", "skin"):
    X[column] = X[column].mask(rng.random(len(X)) < 0.15)
X.dtypes.to_frame("dtype").assign(missing=X.isna().sum()).T

# %%
# Rules on them
# -------------
# A missing value satisfies no condition: a rule about the weight is silent about a fruit that was
# not weighed.

clf = RuleSetClassifier(MEstimate(m=32), phi=0.15, n_candidates=5_000, random_state=0)
theory = clf.fit(X[:450], data.Y[:450]).theory_
print(theory)

# %%
# What does a gap do to a prediction?
# -----------------------------------
# An explanation says that a condition fails because the value is missing.

fruit = X.iloc[[500]].assign(skin=None)
print(clf.explain(fruit, labels=["for baking", "for juice"]))

# %%
figure = theory.plot(max_labels=2)
