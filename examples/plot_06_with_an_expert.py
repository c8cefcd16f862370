"""
6. Curating with an expert
==========================

A doctor reads the theory. She has knowledge that 442 patients do not show: a higher LDL never
speaks *against* high cholesterol, and one rule of the textbook must be in it. Other rules she
does not believe.
"""

# %%
# Before learning: constraints
# ----------------------------
# ``Constraints`` say what every rule has to satisfy. No rule of the theory violates them.

from steelyard import Constraints, MEstimate, RuleSetClassifier, constraint_cost, load_patients

data = load_patients()
X, Y, X_new, Y_new = data.X[:300], data.Y[:300], data.X[300:], data.Y[300:]
wanted = Constraints(
    increasing=["LDL", "triglycerides", "body mass index", "blood pressure"],
    max_conditions=3,
    min_covered=10,
    given=["high cholesterol ← LDL ≥ 160"],
)
clf = RuleSetClassifier(
    MEstimate(m=16),
    phi=0.3,
    n_candidates=3_000,
    min_rules_per_label=1,
    constraints=wanted,
    random_state=0,
)
theory = clf.fit(X, Y).theory_
print(theory)

# %%
# What do they cost? Hardly anything here: fewer conditions that point the right way predict as
# well as more of them that point anywhere.

print(constraint_cost(clf, X, Y, cv=3))

# %%
# After learning: edits
# ---------------------
# A theory never changes. Every edit gives a new one, which is checked and knows who made it and
# why.

worst = min(theory.rules_of("low HDL"), key=lambda scored: scored.precision)
edited = theory.drop(worst).add(
    "fast progression ← body mass index ≥ 35 ∧ blood pressure ≥ 100",
    note="seen often in the ward",
    when="2026-03-01",
)
print(theory.compare(edited, X_new))

# %%
# The judges are patients that nobody has looked at yet.

for name, made in {"learned": theory, "edited": edited}.items():
    measures = made.evaluate(X_new, Y_new).measures
    print(name, {key: round(float(measures[key]), 3) for key in ("f1_micro", "hamming", "subset")})
figure = edited.recount(X_new, Y_new).plot(max_labels=2)
