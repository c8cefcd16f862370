"""
2. The map: from general to specific
====================================

Every cell of the map is a theory that can be read. This example walks through it, and looks at
the rules of one label in *coverage space*.
"""

# %%
# All theories from one pool
# --------------------------
# ``theory_path`` learns the theories of a grid. Candidates are grown once. Each heuristic selects
# its own rules from them, and each φ keeps a share of these.

import matplotlib.pyplot as plt

from steelyard import MEstimate, load_patients, theory_path
from steelyard.report import CoverageSpaceDisplay

data = load_patients()
heuristics = [MEstimate(m=m) for m in (0, 4, 64, 1024)]
path = theory_path(
    data.X, data.Y, heuristics, (1.0, 0.5, 0.25), preset="paper", n_candidates=5_000, random_state=0
)
path

# %%
# The number of rules falls from left to right (a larger *m*) and from top to bottom (a smaller
# *φ*).

import pandas as pd

pd.DataFrame(
    path.n_rules, index=[str(h) for h in heuristics], columns=["φ = 1", "φ = 0.5", "φ = 0.25"]
).T

# %%
# One label in coverage space
# ---------------------------
# A rule is a point: how many examples with the label it covers (up), and how many without it (to
# the right). The best place is the upper left corner. Lines join points of equal heuristic value.
# With *m* = 0 the heuristic is precision: its lines turn around the origin, and rules that cover
# a handful of patients are as good as any. With a large *m* the lines are parallel, and a rule
# that covers many patients may be wrong about some of them.

_, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for m, ax in zip((0, 64), axes, strict=True):
    CoverageSpaceDisplay.from_data(
        data.X, data.Y, label="fast progression", heuristic=MEstimate(m=m), n_candidates=5_000
    ).plot(ax)

# %%
# The same label, read
# --------------------
# Specific rules first, general ones after them.

for heuristic in (heuristics[1], heuristics[3]):
    rules = path.theory(heuristic, phi=1.0).rules_of("fast progression")
    print(f"{heuristic}: {len(rules)} rules, the first of them")
    for scored in rules[:3]:
        print(f"  TP {scored.tp:3}  FP {scored.fp:3}  {scored.rule.describe()}")
