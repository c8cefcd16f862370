"""
12. A Dask cluster
==================

Where work is done is a choice of its caller: the same line fits on this machine and on a cluster.
Here the cluster is a scheduler and two workers on this machine, which talk over the loopback
interface.
"""

# %%
# A cluster
# ---------
# On a real one, ``Client`` gets the address of the scheduler.

import joblib
from distributed import Client, LocalCluster

from steelyard import MEstimate, RuleSetClassifier, load_patients
from steelyard.report import CoverageSpaceDisplay

cluster = LocalCluster(
    n_workers=2,
    threads_per_worker=1,
    processes=False,
    protocol="tcp",
    host="127.0.0.1",
    dashboard_address=None,
)
client = Client(cluster)
print(len(client.scheduler_info()["workers"]), "workers")

# %%
# Fit there
# ---------
# The labels of a fit are spread over the workers. The coded table is sent to each worker once.

data = load_patients()
clf = RuleSetClassifier(MEstimate(m=64), phi=0.2, n_candidates=3_000, random_state=0)
with joblib.parallel_config("dask", client=client):
    clf.fit(data.X, data.Y)
there = clf.theory_
client.close()
cluster.close()
print(there.summary)

# %%
# The same theory
# ---------------
# Each label, pass and tree has a seed of its own, so a result depends on the seed and the
# examples only, not on who computed it.

here = clf.fit(data.X, data.Y).theory_
print([scored.rule for scored in here] == [scored.rule for scored in there])

# %%
display = CoverageSpaceDisplay.from_data(
    data.X, data.Y, label="high cholesterol", heuristic=MEstimate(m=64), n_candidates=3_000
).plot()

# %%
# A study spreads its folds in the same way: ``steelyard study --dask ADDRESS``.
