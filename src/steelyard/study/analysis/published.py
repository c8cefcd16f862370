"""The published values, to compare the values of a study with. Knows settings only.

Source: M. Rapp, E. Loza Mencía, J. Fürnkranz, *On the Trade-off Between Consistency and Coverage in
Multi-label Rule Learning Heuristics*, Discovery Science 2019, table 1: percent, mean of ten folds.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from steelyard.heuristics import M_GRID, MEstimate
from steelyard.model.thresholding import PHI_GRID
from steelyard.study.config import StudyConfig

PUBLISHED_METHODS: tuple[str, ...] = ("R1", "R2", "R3", "M")

# Measure → data set → one value per method of PUBLISHED_METHODS; M is tuned for the measure.
PUBLISHED: dict[str, dict[str, tuple[float, ...]]] = {}
for _row in csv.DictReader(files(__package__).joinpath("published.csv").read_text().splitlines()):
    _values = tuple(float(_row[name]) for name in PUBLISHED_METHODS)
    PUBLISHED.setdefault(_row["measure"], {})[_row["dataset"]] = _values


def describe_differences(
    config: StudyConfig, datasets: Iterable[str], about: Mapping[str, Any]
) -> str | None:
    """Why the values of a study are not comparable with the published values, as a sentence.

    Parameters
    ----------
    config : StudyConfig
    datasets : iterable of str
        The data sets that are shown.
    about : dict
        The descriptions of the data sets in run.json.

    Returns
    -------
    str, or None if no data set is from the paper or nothing differs

    Examples
    --------
    >>> config = StudyConfig(folds=3, n_candidates=2000)
    >>> print(describe_differences(config, ["flags"], {}))
    Not comparable with the published values: 3 new folds instead of the paper's ten; 2,000 candidate
    rules instead of 300,000.
    >>> describe_differences(config, ["mine"], {})
    """
    known = [name for name in datasets if any(name in values for values in PUBLISHED.values())]
    # Early versions did not record whether the folds were new.
    new = [name for name in known if not about.get(name, {}).get("has_own_folds", True)]
    differences = "; ".join(_list_differences(config, known, new)) if known else ""
    return f"Not comparable with the published values: {differences}." if differences else None


def _list_differences(config: StudyConfig, datasets: list[str], new: list[str]) -> Iterator[str]:
    if config.folds is not None:
        yield f"{config.folds} new folds instead of the paper's ten"
    elif new:
        which = "" if len(new) == len(datasets) else f" ({', '.join(new)})"
        yield f"new folds instead of the paper's{which}"
    if config.repeats > 1:
        yield f"{config.repeats} repetitions instead of one"
    if config.only_folds:
        folds = ", ".join(map(str, config.only_folds))
        yield f"only fold{'s' if len(config.only_folds) > 1 else ''} {folds}"
    if config.n_candidates != StudyConfig.n_candidates:
        yield f"{config.n_candidates:,} candidate rules instead of {StudyConfig.n_candidates:,}"
    if config.changed_forest:
        yield f"other {', '.join(config.changed_forest)} than the paper's"
    if config.invert_majority_labels:
        yield "majority labels are inverted, so F1 is a different quantity"
    if not config.tune:
        return
    if MEstimate.name not in config.family_names:
        yield f"tuned over {', '.join(config.family_names)} instead of the {MEstimate.name}"
    elif {p for f, p in config.columns if f == MEstimate.name} != set(M_GRID) or set(
        config.phis
    ) != set(PHI_GRID):
        yield "tuned over another grid than the paper's 20 × 20 cells"
    if config.inner_folds != StudyConfig.inner_folds:
        yield f"tuned on {config.inner_folds} inner folds instead of {StudyConfig.inner_folds}"
