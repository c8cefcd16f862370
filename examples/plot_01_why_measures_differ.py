"""
Why measures want different rules
=================================
"""

from steelyard import make_planted_rules, RuleSetClassifier

data = make_planted_rules(300, random_state=0)
clf = RuleSetClassifier(n_candidates=500, random_state=0).fit(data.X, data.Y)
figure = clf.theory_.plot()
