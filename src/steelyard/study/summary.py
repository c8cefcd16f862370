"""What a study says in a few numbers: best cells and tuned values of every data set."""

from __future__ import annotations

import pandas as pd

from .ranks import map_cells
from .runner import StudyResults

SUMMARY_MEASURES = ("f1_micro", "hamming", "subset")


def find_best_cells(study: StudyResults) -> pd.DataFrame:
    """The best cell of every data set and family for each of the main measures.

    Best in hindsight, on the test folds: it says what the grid holds, not what tuning would find.

    Returns
    -------
    DataFrame with dataset, heuristic, measure, parameter, phi, value, n_rules
    """
    rows = []
    for heuristic in study.config.heuristics:
        n_rules = map_cells(study.results, "n_rules", heuristic)
        for measure in SUMMARY_MEASURES:
            cells = map_cells(study.results, measure, heuristic)
            for d, dataset in enumerate(cells.datasets):
                j, i = cells.best_cells().get(dataset, (0, 0))
                rows.append(
                    {
                        "dataset": dataset,
                        "heuristic": heuristic,
                        "measure": measure,
                        "parameter": float(cells.parameters[i]),
                        "phi": float(cells.phis[j]),
                        "value": float(cells.values[d, j, i]),
                        "n_rules": float(n_rules.values[d, j, i]),
                    }
                )
    table = pd.DataFrame(rows)
    order = {name: i for i, name in enumerate(dict.fromkeys(study.results["dataset"]))}
    return table.sort_values("dataset", key=lambda column: column.map(order), kind="stable")


def average_tuned(study: StudyResults) -> pd.DataFrame:
    """Mean over the folds of the measure that was tuned for, with the size of the theories.

    Returns
    -------
    DataFrame with dataset, heuristic, tuned_for, value, n_rules
    """
    if study.tuned.empty:
        return pd.DataFrame(columns=["dataset", "heuristic", "tuned_for", "value", "n_rules"])
    keys = ["dataset", "heuristic", "tuned_for"]
    means = study.tuned.groupby([*keys, "measure"], sort=False)["value"].mean().unstack("measure")
    means = means.reset_index()
    value = [row[row["tuned_for"]] for _, row in means.iterrows()]
    return means[keys].assign(value=value, n_rules=means["n_rules"].to_numpy())
