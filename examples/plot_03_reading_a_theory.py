"""
3. Reading and questioning a theory
===================================

A theory is there to be read. This example reads one, asks why a single patient gets a prediction
and what would have to change, and finds out how much of it would be the same with other patients.
"""

# %%
# Learn from three quarters of the patients
# -----------------------------------------

from sklearn.model_selection import train_test_split

from steelyard import MEstimate, RuleSetClassifier, load_patients

data = load_patients()
X_train, X_test, Y_train, Y_test = train_test_split(data.X, data.Y, random_state=0)
clf = RuleSetClassifier(
    MEstimate(m=64), phi=0.3, n_candidates=5_000, min_rules_per_label=1, random_state=0
)
theory = clf.fit(X_train, Y_train).theory_
print(theory)

# %%
# TP and FP are counts on the training examples. The rules were selected for them, so they are too
# good. ``unseen`` is honest: it is counted on examples that had no part in learning, of a similar
# rule that is learned without them. For the first rules of *high cholesterol* the two agree. For
# *low HDL* they do not: 19 of 27 are right in training, 11 of 37 of the unseen ones. Do not rely on
# this rule.

figure = theory.plot(max_labels=3)

# %%
# Why this patient?
# -----------------
# An explanation names the rules that fire. For a finding that is not predicted it names the rules
# that come closest, and the smallest change with which they would fire.

patient = X_test.iloc[[3]]
print(clf.explain(patient, labels=["high cholesterol", "fast progression"]))

# %%
# Is it true for the others?
# --------------------------
# ``recount`` counts the same rules on other examples, and gives intervals.

counted = theory.recount(X_test, Y_test)
counted.to_frame()[
    ["label", "rule", "tp", "fp", "precision", "precision_low", "precision_high"]
].round(2)

# %%
# Would another sample give the same rules?
# -----------------------------------------
# Mostly not the same, but similar ones: many sets of rules predict almost the same. Compare
# before you read meaning into a single bound.

half = RuleSetClassifier(
    MEstimate(m=64), phi=0.3, n_candidates=5_000, min_rules_per_label=1, random_state=1
).fit(X_train[::2], Y_train[::2])
print(theory.compare(half.theory_, X_test))
