"""
7. Exporting to SQL
===================

A theory can leave Python. Here it becomes one plain query, which a database runs without any
library.
"""

# %%
# Learn
# -----

import sqlite3

from steelyard import MEstimate, RuleSetClassifier, load_patients

data = load_patients()
clf = RuleSetClassifier(MEstimate(m=64), phi=0.15, n_candidates=3_000, random_state=0)
theory = clf.fit(data.X, data.Y).theory_
sql = theory.to_sql(dialect="sqlite", table="patients")
print(sql)

# %%
# Run it where the patients are
# -----------------------------

import pandas as pd

with sqlite3.connect(":memory:") as database:
    data.X.to_sql("patients", database, index=False)
    answered = pd.read_sql(sql, database)
answered.head(3)

# %%
# The database predicts what ``predict`` predicts, for every patient. Python, PMML, LaTeX,
# Markdown, HTML and JSON work in the same way: ``theory.to_python()``, ``theory.to_pmml()`` and
# so on.

print((answered[data.label_names].to_numpy() == clf.predict(data.X)).all())
figure = theory.plot(max_labels=3)
