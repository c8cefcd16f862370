"""
11. Ripper as a fast baseline
=============================

Ripper (Cohen 1995) is the classical rule learner. It has hardly a parameter and takes
milliseconds, so it is worth a look before any search.
"""

# %%
# Ripper
# ------

import time

from sklearn.model_selection import train_test_split

from steelyard import BoostedRulesClassifier, RipperClassifier, RuleSetClassifier, load_patients

data = load_patients()
X_train, X_test, Y_train, Y_test = train_test_split(data.X, data.Y, random_state=0)
ripper = RipperClassifier(random_state=0).fit(X_train, Y_train)
print(ripper.theory_)

# %%
# Beside the other learners
# -------------------------
# Its rules decide, so Hamming accuracy is fine. Rules that vote predict better, and there are
# more of them.

models = {
    "ripper": RipperClassifier(random_state=0),
    "rule set": RuleSetClassifier(n_candidates=5_000, random_state=0),
    "boosted": BoostedRulesClassifier(max_rules=60, random_state=0),
}
for name, model in models.items():
    started = time.perf_counter()
    theory = model.fit(X_train, Y_train).theory_
    seconds = time.perf_counter() - started
    measures = theory.evaluate(X_test, Y_test).measures
    shown = ", ".join(f"{key} {measures[key]:.3f}" for key in ("f1_micro", "hamming", "subset"))
    took = "less than a second" if seconds < 1 else "a second or more"
    print(f"{name:8}  {len(theory):2} rules, {shown}; {took}")

# %%
# In coverage space
# -----------------

figure = ripper.theory_.plot(max_labels=2)

# %%
# One class per example
# ---------------------
# With several classes Ripper learns a decision list: the first rule that fires decides.

from sklearn.datasets import load_iris

iris, species = load_iris(return_X_y=True, as_frame=True)
names = load_iris().target_names
print(RipperClassifier(random_state=0).fit(iris, names[species]).theory_)
