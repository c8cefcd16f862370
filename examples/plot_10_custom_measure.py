"""
10. A measure of your own
=========================

Tuning maximises a measure. If no known one says what mistakes cost you, write it down: a formula
on counts, and over what it is averaged.
"""

# %%
# What a mistake costs
# --------------------
# Suppose that a finding which is overlooked is five times as bad as a false alarm. The value is
# the share of the possible cost that is saved, for each label, averaged over the labels.

from steelyard import RuleSetClassifierCV, load_patients
from steelyard.measures import Measure


def saved(counts):
    worst = 5 * (counts.tp + counts.fn) + (counts.fp + counts.tn)
    return 1 - (5 * counts.fn + counts.fp) / worst


careful = Measure("careful", "Cost saved", saved, "label")
careful([[1, 0], [0, 1]], [[1, 1], [0, 0]])

# %%
# Tune for it
# -----------
# Rules are kept that hardly any known measure would keep: covering is cheap when false alarms
# are.

data = load_patients()
for scoring in (careful, "f1_micro", "hamming"):
    tuned = RuleSetClassifierCV(scoring, preset="paper", n_candidates=3_000, cv=3, random_state=0)
    theory = tuned.fit(data.X[:330], data.Y[:330]).theory_
    judged = careful(data.Y[330:], tuned.predict(data.X[330:]))
    name = getattr(scoring, "name", scoring)
    print(
        f"tuned for {name:8}  m = {tuned.best_heuristic_.m:5g}  φ = {tuned.best_phi_:4g}  "
        f"{len(theory):2} rules  cost saved {judged:.3f}"
    )

# %%
# Its map
# -------
# The map of a search shows its own score, too.

tuned = RuleSetClassifierCV(careful, preset="paper", n_candidates=3_000, cv=3, random_state=0)
display = tuned.fit(data.X, data.Y).plot_map()
