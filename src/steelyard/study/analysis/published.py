"""The published numbers, to stand beside ours.

Source: M. Rapp, E. Loza Mencía, J. Fürnkranz, *On the Trade-off Between Consistency and Coverage in
Multi-label Rule Learning Heuristics*, Discovery Science 2019, table 1: percent, mean of ten folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from steelyard.study.config import FAMILIES, StudyConfig

PUBLISHED_METHODS: tuple[str, ...] = ("R1", "R2", "R3", "M")

# Measure → data set → values in the order of PUBLISHED_METHODS; M is tuned for the measure.
PUBLISHED: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "f1_micro": {
        "birds": (43.65, 41.12, 46.01, 45.33),
        "cal500": (33.63, 33.18, 33.76, 40.10),
        "emotions": (56.96, 58.68, 60.97, 65.20),
        "enron": (50.57, 53.05, 55.33, 51.07),
        "flags": (71.81, 72.96, 74.85, 72.83),
        "genbase": (98.83, 98.68, 98.68, 99.14),
        "medical": (81.40, 83.67, 84.81, 81.67),
        "scene": (63.97, 63.25, 64.55, 67.44),
        "yeast": (58.65, 60.41, 61.19, 64.25),
    },
    "hamming": {
        "birds": (94.39, 94.48, 95.17, 95.10),
        "cal500": (82.14, 83.66, 85.39, 86.02),
        "emotions": (75.12, 75.38, 77.21, 77.65),
        "enron": (94.35, 94.70, 94.93, 94.54),
        "flags": (73.02, 74.08, 75.20, 73.39),
        "genbase": (99.89, 99.88, 99.88, 99.92),
        "medical": (99.01, 99.10, 99.15, 98.98),
        "scene": (87.87, 87.25, 88.03, 88.93),
        "yeast": (78.50, 78.29, 78.77, 79.24),
    },
    "subset": {
        "birds": (44.20, 45.57, 51.48, 48.85),
        "cal500": (0.00, 0.00, 0.00, 0.00),
        "emotions": (18.04, 20.40, 23.60, 22.42),
        "enron": (6.17, 7.99, 9.16, 7.81),
        "flags": (15.47, 17.05, 21.00, 9.82),
        "genbase": (97.28, 96.83, 96.83, 97.89),
        "medical": (66.74, 69.91, 72.16, 66.43),
        "scene": (46.61, 44.54, 46.24, 49.73),
        "yeast": (8.73, 7.86, 9.18, 11.75),
    },
}

# The average ranks as printed there, to check our ranks against.
PUBLISHED_AVERAGE_RANKS: dict[str, tuple[float, float, float, float]] = {
    "f1_micro": (3.44, 3.00, 1.67, 1.78),
    "hamming": (3.44, 2.89, 1.67, 1.89),
    "subset": (2.89, 2.67, 1.56, 2.11),
}


def describe_differences(run: Mapping[str, Any], datasets: Iterable[str]) -> str | None:
    """What keeps a run's values from being compared with the published ones, as a sentence.

    Parameters
    ----------
    run : mapping
        The content of run.json.
    datasets : iterable of str
        The data sets that are shown.

    Returns
    -------
    str, or None if none of the data sets is the paper's or nothing differs

    Examples
    --------
    >>> run = {"config": {"folds": 3, "n_candidates": 2000}}
    >>> print(describe_differences(run, ["flags"]))
    Not comparable with the published values: 3 new folds instead of the paper's ten; 2,000 candidate
    rules instead of 300,000.
    >>> describe_differences(run, ["mine"])
    """
    known = [name for name in datasets if any(name in values for values in PUBLISHED.values())]
    differences = list(_list_differences(run, known)) if known else []
    if not differences:
        return None
    return f"Not comparable with the published values: {'; '.join(differences)}."


def is_inverted(run: Mapping[str, Any]) -> bool:
    """Whether majority labels were inverted, which makes F1 another quantity than the published."""
    return bool(run.get("config", {}).get("invert_majority_labels"))


def _list_differences(run: Mapping[str, Any], datasets: list[str]) -> Iterator[str]:
    # Results of earlier versions do not say whose folds they have.
    config, data = run.get("config", {}), run.get("data", {})
    new = [name for name in datasets if not data.get(name, {}).get("has_own_folds", True)]
    if config.get("folds") is not None:
        yield f"{config['folds']} new folds instead of the paper's ten"
    elif new:
        whose = "" if len(new) == len(datasets) else f" ({', '.join(new)})"
        yield f"new folds instead of the paper's{whose}"
    if config.get("repeats", 1) > 1:
        yield f"{config['repeats']} repetitions instead of one"
    if config.get("only_folds"):
        folds = ", ".join(map(str, config["only_folds"]))
        yield f"only fold{'s' if len(config['only_folds']) > 1 else ''} {folds}"
    n_candidates = config.get("n_candidates", StudyConfig.n_candidates)
    if n_candidates != StudyConfig.n_candidates:
        yield f"{n_candidates:,} candidate rules instead of {StudyConfig.n_candidates:,}"
    if is_inverted(run):
        yield "majority labels are inverted, which makes F1 another quantity"
    if config.get("tune"):
        yield from _list_tuning_differences(config)


def _list_tuning_differences(config: Mapping[str, Any]) -> Iterator[str]:
    (name, (_, paper_grid)), *_ = FAMILIES.items()
    if name not in config.get("heuristics", [name]):
        yield f"tuned over {', '.join(config['heuristics'])} instead of the {name}"
    else:
        parameters = set(config.get("parameters") or paper_grid)
        phis = set(config.get("phis") or StudyConfig.phis)
        if parameters != set(paper_grid) or phis != set(StudyConfig.phis):
            yield "tuned over another grid than the paper's 20 × 20 cells"
    n_inner = config.get("inner_folds", StudyConfig.inner_folds)
    if n_inner != StudyConfig.inner_folds:
        yield f"tuned on {n_inner} inner folds instead of {StudyConfig.inner_folds}"
