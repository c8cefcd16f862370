"""
1. Why measures want different rules
====================================

Two theories can be learned from the same examples with the same method, and one is better for
micro F1 while the other is better for subset accuracy. There is no contradiction: the measures
ask for different things. This example shows it on patients with findings of their blood tests.
"""

# %%
# The data
# --------
# Five measurements, five findings. Each finding is a label, and a patient can have several.

from steelyard import RuleSetClassifierCV, load_patients

data = load_patients()
data.X.join(data.Y).head(3).T

# %%
# One search, three measures
# --------------------------
# A theory is decided by two numbers. A large *m* of the m-estimate prefers rules that cover many
# patients, a small one those that are seldom wrong. *φ* is the share of the selected rules that
# is kept. One search learns the theories of the whole grid from one pool of candidates, and
# scores all of them.

search = RuleSetClassifierCV("f1_micro", preset="paper", n_candidates=5_000, cv=5, random_state=0)
search.fit(data.X, data.Y)

# %%
# The three maps are of the same theories. The red + marks the best cell. F1 wants general rules
# and many of them, because a finding that is missed costs as much as one that is invented.
# Hamming accuracy counts the many findings that a patient does *not* have as well, so it wants
# rules that are seldom wrong. Subset accuracy wants a patient to be right as a whole, and is
# stricter still.

import matplotlib.pyplot as plt

_, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
for measure, ax in zip(("f1_micro", "hamming", "subset"), axes, strict=True):
    search.plot_map(measure, ax=ax)

# %%
# So name the measure that your mistakes cost
# -------------------------------------------
# The scoring is the first argument of the search. It decides how many rules you get, and how
# general they are.

for scoring in ("f1_micro", "hamming", "subset"):
    tuned = RuleSetClassifierCV(scoring, preset="paper", n_candidates=5_000, cv=5, random_state=0)
    theory = tuned.fit(data.X, data.Y).theory_
    print(
        f"{scoring:8}  m = {tuned.best_heuristic_.m:g}, φ = {tuned.best_phi_:g}: {len(theory)} rules, "
        f"{theory.n_conditions / len(theory):.1f} conditions per rule"
    )
