"""StudyConfig: everything that a study's results depend on, and its TOML form. Knows no data."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from steelyard.heuristics import BETA_GRID, M_GRID, FMeasure, Heuristic, MEstimate
from steelyard.measures import get_measure
from steelyard.model.thresholding import PHI_GRID

# The families with one parameter, and the paper's grid of it.
FAMILIES: dict[str, tuple[type[Heuristic], tuple[float, ...]]] = {
    MEstimate.name: (MEstimate, M_GRID),
    FMeasure.name: (FMeasure, BETA_GRID),
}
# The paper's five, in its order; macro and example-based F1 answer what it leaves as future work.
STUDY_MEASURES: tuple[str, ...] = (
    "f1_micro",
    "precision_micro",
    "recall_micro",
    "hamming",
    "subset",
    "f1_macro",
    "f1_examples",
)
SIZE_MEASURES: tuple[str, ...] = ("n_rules", "n_conditions")
# The paper tunes over the m up to here.
LARGEST_TUNED_M = 4096
DEFAULT_FOLDS = 10
BASELINES: tuple[str, ...] = ("ripper",)


class StudyError(ValueError):
    """A study cannot be run as asked; the message is one sentence that says why.

    Examples
    --------
    >>> raise StudyError("folds must be at least 2, got 1")
    Traceback (most recent call last):
        ...
    steelyard.study.config.StudyError: folds must be at least 2, got 1
    """


@dataclass(frozen=True)
class StudyConfig:
    """What to run; two studies with equal configuration and data have equal results.

    Parameters
    ----------
    data : tuple of str, default=("segments",)
        Embedded or OpenML names, ARFF, CSV or Parquet files, folders with a Mulan pair.
    labels : tuple of str, default=()
        The label columns of CSV and Parquet files.
    heuristics : tuple of str, default=("m-estimate",)
        Families: "m-estimate", "f-measure" or both.
    parameters : tuple of float, default=()
        Values of m or β; empty means the paper's 20.
    phis : tuple of float
        Shares φ of the selected rules that are kept; default: the paper's 20.
    folds : int or None, default=None
        None: the folds that the data brings, else 10. A number means new, stratified folds.
    repeats : int, default=1
        How often the cross validation is repeated, with the seeds seed, seed + 1, ...; the folds of
        the second repetition follow those of the first in number.
    only_folds : tuple of int, default=()
        Run just these folds; empty means all.
    n_candidates : int, default=300_000
        γ, the number of candidate rules.
    seed : int, default=0
        Of candidates, stratified folds and inner folds.
    invert_majority_labels : bool, default=False
        Whether labels that at least half of the examples have are inverted first, as the paper does
        to compare precision and recall across data sets.
    tune : tuple of str, default=()
        Measures to choose parameter and φ for, by cross validation inside each training set.
    inner_folds : int, default=5
        Folds of that inner cross validation.
    baselines : tuple of str, default=()
        "ripper" learns R1, R2 and R3.

    Examples
    --------
    >>> config = StudyConfig(parameters=(0.0, 16.0), phis=(1.0, 0.5), tune=("hamming",))
    >>> config.grid
    (MEstimate(m=0.0), MEstimate(m=16.0))
    >>> config_from_toml(config_to_toml(config)) == config
    True
    """

    data: tuple[str, ...] = ("segments",)
    labels: tuple[str, ...] = ()
    heuristics: tuple[str, ...] = (MEstimate.name,)
    parameters: tuple[float, ...] = ()
    phis: tuple[float, ...] = PHI_GRID
    folds: int | None = None
    repeats: int = 1
    only_folds: tuple[int, ...] = ()
    n_candidates: int = 300_000
    seed: int = 0
    invert_majority_labels: bool = False
    tune: tuple[str, ...] = ()
    inner_folds: int = 5
    baselines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):
                object.__setattr__(self, field.name, tuple(value))
        _check(self)
        grid = tuple(float(p) for p in self.parameters) or FAMILIES[self.heuristics[0]][1]
        if len(self.heuristics) == 1:
            object.__setattr__(self, "parameters", grid)
        object.__setattr__(self, "phis", tuple(float(phi) for phi in self.phis))
        object.__setattr__(self, "tune", tuple(get_measure(name).name for name in self.tune))
        self.grid  # noqa: B018, a parameter that its family refuses is said here

    @property
    def grid(self) -> tuple[Heuristic, ...]:
        """All heuristics of the study, family by family."""
        heuristics: list[Heuristic] = []
        for name in self.heuristics:
            family, paper_grid = FAMILIES[name]
            heuristics += [family(p) for p in self.parameters or paper_grid]  # type: ignore[call-arg]
        return tuple(heuristics)

    @property
    def tuning_grid(self) -> tuple[Heuristic, ...]:
        """The heuristics among which tuning chooses: the grid with m ≤ 4096."""
        return tuple(h for h in self.grid if not isinstance(h, MEstimate) or h.m <= LARGEST_TUNED_M)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures that every theory is evaluated with."""
        return tuple(dict.fromkeys((*STUDY_MEASURES, *self.tune)))


def _check(config: StudyConfig) -> None:
    """Say the first thing that is wrong with a configuration."""
    if not config.data:
        raise StudyError("a study needs at least one data set")
    if not config.heuristics:
        raise StudyError("a study needs at least one heuristic")
    for name in config.heuristics:
        if name not in FAMILIES:
            raise StudyError(f"unknown heuristic {name!r}; a study knows {', '.join(FAMILIES)}")
    if config.parameters and len(config.heuristics) > 1:
        raise StudyError("parameters can be given for one heuristic only: run two studies instead")
    for name, values in [("parameters", config.parameters), ("phis", config.phis)]:
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
            raise StudyError(f"{name} must be numbers, got {list(values)!r}")
    for name in ("data", "heuristics", "parameters", "phis", "only_folds", "tune", "baselines"):
        values = getattr(config, name)
        if len(set(values)) < len(values):
            raise StudyError(f"{name} names something twice: {', '.join(map(str, values))}")
    if not config.phis or not all(0 < phi <= 1 for phi in config.phis):
        raise StudyError(f"phis must be above 0 and at most 1, got {list(config.phis)!r}")
    for name, least in [("repeats", 1), ("n_candidates", 1), ("seed", 0), ("inner_folds", 2)]:
        _check_whole(name, getattr(config, name), least)
    if config.folds is not None:
        _check_whole("folds", config.folds, 2)
    for fold in config.only_folds:
        _check_whole("only_folds", fold, 1)
    for name in config.baselines:
        if name not in BASELINES:
            raise StudyError(f"unknown baseline {name!r}; there is {', '.join(BASELINES)}")


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise StudyError(f"{name} must be a whole number of at least {least}, got {value!r}")


def config_to_toml(config: StudyConfig) -> str:
    """The configuration as TOML, one setting a line; what is None is left out."""
    lines = ["# A resolved study of Steelyard; repeat it with: steelyard study --config study.toml"]
    for field in fields(config):
        value = getattr(config, field.name)
        if value is not None:
            lines.append(f"{field.name} = {_to_toml(value)}")
    return "\n".join(lines) + "\n"


def _to_toml(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_to_toml, value)) + "]"
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    # JSON's strings, numbers and truth values are TOML's, but for a control character of TOML's own.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def config_from_toml(text: str, where: str = "the configuration") -> StudyConfig:
    """The configuration in a TOML text; an unknown setting is an error."""
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{where} is not valid TOML: {error}") from None
    known = [field.name for field in fields(StudyConfig)]
    for name, value in settings.items():
        if name not in known:
            raise StudyError(f"{where} has an unknown setting {name!r}; known: {', '.join(known)}")
        default = StudyConfig.__dataclass_fields__[name].default
        if isinstance(default, tuple) != isinstance(value, list):
            kind = "a list" if isinstance(default, tuple) else "a single value"
            raise StudyError(f"{where}: {name} must be {kind}, got {value!r}")
    return StudyConfig(**settings)


def read_config(path: Path) -> StudyConfig:
    """The configuration in a file; relative paths in it are relative to the file's folder."""
    try:
        config = config_from_toml(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not a text file in UTF-8") from None
    data = (_rebase(source, path.parent) for source in config.data)
    return dataclasses.replace(config, data=tuple(data))


def _rebase(source: str, folder: Path) -> str:
    beside = folder / source
    return str(beside) if beside.exists() else source
