"""StudyConfig: all settings that the results of a study depend on, and their TOML form.

Knows names and numbers only; it reads no data.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from steelyard._files import read_text
from steelyard._numbers import is_number
from steelyard._text import find_repeated
from steelyard.heuristics import Family, Heuristic, MEstimate, find_family, refer_to
from steelyard.learning.constraints import Constraints, check_constraints
from steelyard.learning.settings import PAPER_DEPTHS, ForestSettings, Prune
from steelyard.learning.targets import TargetChoice
from steelyard.measures import expand_measures, get_measure
from steelyard.model.thresholding import PHI_GRID

from .methods import find_method

PAPER_MEASURES = ("f1_micro", "precision_micro", "recall_micro", "hamming", "subset")
# The paper leaves macro and example-based F1 as future work.
STUDY_MEASURES: tuple[str, ...] = (*PAPER_MEASURES, "f1_macro", "f1_examples")
SIZE_MEASURES: tuple[str, ...] = ("n_rules", "n_conditions")
# The paper tunes over m up to this value.
LARGEST_TUNED_M = 4096
DEFAULT_FOLDS = 10
BASELINES: tuple[str, ...] = ("ripper",)
PAPER_BASELINES = ("R1", "R2", "R3")
# The settings of candidates besides their number.
FOREST = ("n_trees", "max_depths", "max_features", "sample_fraction", "prune")
_TEXTS: tuple[str, ...] = (
    *("data", "labels", "ignore", "nominal", "heuristics"),
    *("tune", "baselines", "methods", "more_measures"),
)
_LEAST = {"folds": 2, "repeats": 1, "only_folds": 1, "n_candidates": 1, "seed": 0, "inner_folds": 2}
# More is a mistake: numpy counts up to here, and nobody waits for a billion folds.
_MOST = {"n_candidates": 2**31 - 1, "seed": 2**63 - 1}
_MOST_FOLDS = 1_000_000


class StudyError(ValueError):
    """A study cannot be run or read; the message says why in one sentence.

    Examples
    --------
    >>> from steelyard.study import StudyError
    >>> raise StudyError("folds must be at least 2, got 1")
    Traceback (most recent call last):
        ...
    steelyard.study.config.StudyError: folds must be at least 2, got 1
    """


@dataclass(frozen=True)
class StudyConfig:
    """Settings of a study; equal settings and equal data give equal results.

    Parameters
    ----------
    data : tuple of str, default=("patients",)
        Embedded or OpenML names, ARFF, CSV or Parquet files, folders with a Mulan pair.
    labels : tuple of str, default=()
        Label columns of CSV and Parquet files, or patterns of their names, such as ``label_*``.
    heuristics : tuple of str, class or callable, default=("m-estimate",)
        Heuristics by name, as ``module:attribute``, or as classes and functions that can be imported.
        ``"klosgen(0.5, 1)"`` has these values of its parameter instead of its default ones.
    parameters : tuple of float, default=()
        Values of the parameter, if there is one heuristic; empty means the default values of each
        heuristic, which are the paper's for the m-estimate and the F-measure.
    phis : tuple of float
        Shares φ of the selected rules that are kept; the default is the paper's 20 values.
    folds : int or None, default=None
        Number of new stratified folds. None uses the folds of the data, or 10 new folds if the data
        has none.
    repeats : int, default=1
        Number of cross validations, with the seeds seed, seed + 1, ... Their folds are numbered
        consecutively.
    only_folds : tuple of int, default=()
        The folds to run; empty means all.
    n_candidates : int, default=300_000
        γ, the number of candidate rules.
    seed : int, default=0
        Seed of the candidates, the stratified folds and the inner folds.
    invert_majority_labels : bool, default=False
        Whether to invert labels that at least half of the examples have. The paper does so to compare
        precision and recall across data sets.
    tune : tuple of str, default=()
        Measures to choose parameter and φ for, by cross validation inside each training set.
    inner_folds : int, default=5
        Folds of this inner cross validation.
    baselines : tuple of str, default=()
        "ripper" learns R1, R2 and R3.
    methods : tuple of str, default=()
        Other learners on the same folds: "short", "boosted(max_rules=50)", any scikit-learn estimator
        as ``module:factory(parameter=value)``.
    constraints : Constraints or None, default=None
        What every rule of every theory has to satisfy; in TOML a table.
    ignore, nominal : tuple of str, default=()
        Columns of CSV and Parquet files to leave out, and columns of numbers that are codes.
    n_trees, max_depths, max_features, sample_fraction, prune
        How candidates are grown, as in `RuleSetClassifier`; the defaults are the paper's. In TOML the
        depth limit ``"none"`` is no limit.
    more_measures : tuple of str, default=()
        Further measures to evaluate: names, or the groups "ranking" and "calibration" of measures of
        scores.
    per_label : bool, default=False
        Whether to write TP, FP, FN and TN of each label, for every cell, baseline and method.

    Examples
    --------
    >>> from steelyard.study import StudyConfig, config_from_toml, config_to_toml
    >>> config = StudyConfig(parameters=(0.0, 16.0), phis=(1.0, 0.5), tune=("hamming",))
    >>> config.grid
    (MEstimate(m=0.0), MEstimate(m=16.0))
    >>> config_from_toml(config_to_toml(config)) == config
    True
    """

    data: tuple[str, ...] = ("patients",)
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
    methods: tuple[str, ...] = ()
    constraints: Constraints | None = None
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    n_trees: int = 10
    max_depths: tuple[int | None, ...] = PAPER_DEPTHS
    max_features: str | int | float = "log2"
    sample_fraction: float = 1.0
    prune: Prune = False
    more_measures: tuple[str, ...] = ()
    per_label: bool = False

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
        try:
            object.__setattr__(self, "heuristics", tuple(map(refer_to, self.heuristics)))
            _move_values(self)
            _check(self)
            families = self.families
            more = expand_measures(self.more_measures)
        except StudyError:
            raise
        except ValueError as error:
            raise StudyError(str(error)) from None
        if len(families) == 1 and families[0].symbol:
            grid = tuple(float(p) for p in self.parameters) or families[0].grid
            object.__setattr__(self, "parameters", grid)
        object.__setattr__(self, "phis", tuple(float(phi) for phi in self.phis))
        measures = dict.fromkeys(get_measure(name).name for name in self.tune)
        object.__setattr__(self, "tune", tuple(measures))
        always = {*STUDY_MEASURES, *measures}
        object.__setattr__(self, "more_measures", tuple(m for m in more if m not in always))
        self.grid  # noqa: B018, raises if a parameter is invalid for its family

    @property
    def families(self) -> tuple[Family, ...]:
        """The families of heuristics, with the values of their parameters that were asked for."""
        return tuple(map(_find_family, self.heuristics))

    @property
    def family_names(self) -> tuple[str, ...]:
        """The names of the families, as in the rows of results."""
        return tuple(family.name for family in self.families)

    @property
    def columns(self) -> tuple[tuple[str, float], ...]:
        """Family and parameter of each heuristic of the grid; 0 if it has no parameter."""
        return tuple((f.name, p) for f in self.families for p in self.parameters or f.grid)

    @property
    def grid(self) -> tuple[Heuristic, ...]:
        """All heuristics of the study, family by family."""
        make = {family.name: family.make for family in self.families}
        return tuple(make[name](parameter) for name, parameter in self.columns)

    def select(self, columns: Collection[tuple[str, float]]) -> StudyConfig:
        """The same study with some columns of its grid only.

        Examples
        --------
        >>> config = StudyConfig(heuristics=("klosgen(0.5, 1)", "wra", "laplace"))
        >>> config.select([("klosgen", 1.0), ("laplace", 0.0)]).heuristics
        ('klosgen(1.0)', 'laplace')
        """
        return self.cover(self.heuristics, [own for own in self.columns if own in columns])

    def cover(self, heuristics: Iterable[str], columns: Sequence[tuple[str, float]]) -> StudyConfig:
        """The same study with other heuristics and the columns of a grid that they have."""
        texts = []
        for text in heuristics:
            family = _find_family(text)
            values = [parameter for name, parameter in columns if name == family.name]
            if values:
                reference, numbers = _split_values(text)[0], ", ".join(map(repr, values))
                texts.append(f"{reference}({numbers})" if family.symbol else reference)
        return replace(self, heuristics=tuple(texts), parameters=())

    @property
    def tuning_grid(self) -> tuple[Heuristic, ...]:
        """The heuristics that tuning chooses from: the grid with m ≤ 4096."""
        return tuple(h for h in self.grid if not isinstance(h, MEstimate) or h.m <= LARGEST_TUNED_M)

    @property
    def target(self) -> TargetChoice:
        """What rules predict: of inverted labels the presence, also where a fold has most of them."""
        return "present" if self.invert_majority_labels else "minority"

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures of every theory."""
        return tuple(dict.fromkeys((*STUDY_MEASURES, *self.tune, *self.more_measures)))

    @property
    def forest(self) -> dict[str, Any]:
        """The parameters of `RuleSetClassifier` that say how candidates are grown."""
        return {"n_candidates": self.n_candidates} | {n: getattr(self, n) for n in FOREST}

    @property
    def changed_forest(self) -> dict[str, Any]:
        """Those of them that are not the paper's, without the number of candidates."""
        return {n: getattr(self, n) for n in FOREST if getattr(self, n) != getattr(StudyConfig, n)}


def _split_values(text: str) -> tuple[str, tuple[float, ...]]:
    """The heuristic that a text such as ``klosgen(0.5, 1)`` names, and the values of its parameter."""
    match = re.fullmatch(r"([^()]*)\(([^()]*)\)", text)
    if match is None:
        return text, ()
    try:
        values = tuple(float(part) for part in match[2].split(","))
    except ValueError:
        raise StudyError(
            f"{text!r} is not a heuristic with values; write klosgen(0.5, 1)"
        ) from None
    return match[1].strip(), values


def _find_family(text: str) -> Family:
    reference, values = _split_values(text)
    family = find_family(reference)
    if not values:
        return family
    if not family.symbol:
        raise StudyError(f"the heuristic {family.name} has no parameter")
    if find_repeated(values) is not None:
        raise StudyError(f"{text!r} contains a value twice")
    return family._replace(grid=values)


def _move_values(config: StudyConfig) -> None:
    """Write the values of a single heuristic as `parameters`, so that there is one way to write them."""
    if len(config.heuristics) != 1 or not isinstance(config.heuristics[0], str):
        return
    reference, values = _split_values(config.heuristics[0])
    if not values:
        return
    if config.parameters and tuple(config.parameters) != values:
        raise StudyError(f"{config.heuristics[0]!r} and parameters give different values")
    object.__setattr__(config, "heuristics", (reference,))
    object.__setattr__(config, "parameters", values)


def _check_kinds(config: StudyConfig) -> None:
    """Raise an error for the first setting that is not text, a boolean or an integer in its bounds."""
    for name in _TEXTS:
        for value in getattr(config, name):
            if not isinstance(value, str):
                raise StudyError(f"{name} must be texts, got {reprlib.repr(value)}")
    for name in ("invert_majority_labels", "per_label"):
        value = getattr(config, name)
        if not isinstance(value, bool):
            raise StudyError(f"{name} must be a boolean, got {reprlib.repr(value)}")
    for name in _LEAST:
        setting = getattr(config, name)
        for value in setting if isinstance(setting, tuple) else (setting,):
            if (name, value) != ("folds", None):
                _check_integer(name, value)


def _check(config: StudyConfig) -> None:
    """Raise an error for the first invalid setting."""
    _check_kinds(config)
    check_constraints(config.constraints)
    ForestSettings(**config.forest)
    if not config.data or not config.heuristics:
        missing = "heuristic" if config.data else "data set"
        raise StudyError(f"a study needs at least one {missing}")
    for name in config.baselines:
        if name not in BASELINES:
            raise StudyError(f"unknown baseline {name!r}; choose from {', '.join(BASELINES)}")
    methods = [find_method(text).name for text in config.methods]
    twice = find_repeated([*PAPER_BASELINES, *methods])
    if twice is not None:
        raise StudyError(f"two methods have the same name {twice!r}")
    names = config.family_names
    twice = find_repeated(names)
    if twice is not None:
        raise StudyError(f"two heuristics have the same name {twice!r}")
    if config.parameters and len(names) > 1:
        raise StudyError(
            "parameters require exactly one heuristic; write the values of several in brackets, as in "
            "m-estimate(0, 16),klosgen(0.5, 1)"
        )
    if config.parameters and not config.families[0].symbol:
        raise StudyError(f"the heuristic {names[0]} has no parameter")
    for name, values in [("parameters", config.parameters), ("phis", config.phis)]:
        if not all(map(is_number, values)):
            raise StudyError(f"{name} must be numbers, got {reprlib.repr(list(values))}")
    if not config.phis or not all(0 < phi <= 1 for phi in config.phis):
        raise StudyError(f"phis must be above 0 and at most 1, got {list(config.phis)!r}")
    for name, values in vars(config).items():
        if name != "labels" and isinstance(values, tuple) and len(set(values)) < len(values):
            raise StudyError(f"{name} contains a value twice: {', '.join(map(str, values))}")


def _check_integer(name: str, value: Any) -> None:
    least, most = _LEAST[name], _MOST.get(name, _MOST_FOLDS)
    got = f"got {reprlib.repr(value)}"
    if type(value) is not int or value < least:
        raise StudyError(f"{name} must be an integer of at least {least}, {got}")
    if value > most:
        raise StudyError(f"{name} must be at most {most:,}, {got}")


def config_to_plain(config: StudyConfig) -> dict[str, Any]:
    """The settings as lists, tables, numbers and texts."""
    constraints = config.constraints
    return vars(config) | {
        "constraints": None if constraints is None else constraints.to_plain(),
        # TOML has no value for nothing.
        "max_depths": ["none" if depth is None else depth for depth in config.max_depths],
    }


def config_to_toml(config: StudyConfig) -> str:
    """The configuration as TOML, one setting per line; settings that are None are omitted.

    Examples
    --------
    >>> from steelyard.study import StudyConfig, config_to_toml
    >>> text = config_to_toml(StudyConfig(("patients",), folds=5))
    >>> [line for line in text.splitlines() if line.startswith(("data", "folds"))]
    ['data = ["patients"]', 'folds = 5']
    """
    lines = ["# A resolved study of Steelyard; repeat it with: steelyard study --config study.toml"]
    settings = {name: v for name, v in config_to_plain(config).items() if v is not None}
    lines += [f"{name} = {_to_toml(v)}" for name, v in settings.items()]
    return "\n".join(lines) + "\n"


def _to_toml(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_to_toml, value)) + "]"
    if isinstance(value, dict):
        pairs = (f"{_to_toml(key)} = {_to_toml(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    # Strings, numbers and booleans of JSON are valid TOML, except for the control character DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def config_from_toml(
    text: str, where: str = "the configuration", *, trust: bool = False
) -> StudyConfig:
    r"""Parse a TOML text; reject unknown settings and, without `trust`, modules to import.

    Examples
    --------
    >>> from steelyard.study import config_from_toml
    >>> config_from_toml('data = ["patients"]\nfolds = 5').folds
    5
    >>> config_from_toml("fold = 5")
    Traceback (most recent call last):
        ...
    steelyard.study.config.StudyError: the configuration: unknown setting 'fold'; choose from data, ...
    """
    try:
        settings = tomllib.loads(text)
    except RecursionError:
        raise StudyError(f"{where} is nested too deeply") from None
    except ValueError as error:  # of TOML, or of an integer with thousands of digits
        raise StudyError(f"{where} is not valid TOML: {error}") from None
    known = [field.name for field in fields(StudyConfig)]
    for name, value in settings.items():
        if name not in known:
            choices = ", ".join(known)
            raise StudyError(f"{where}: unknown setting {name!r}; choose from {choices}")
        if name == "constraints":
            settings[name] = _read_constraints(value, where)
            continue
        is_list = isinstance(getattr(StudyConfig, name), tuple)
        if is_list != isinstance(value, list):
            kind = "a list" if is_list else "a single value"
            raise StudyError(f"{where}: {name} must be {kind}, got {reprlib.repr(value)}")
    if "max_depths" in settings:
        settings["max_depths"] = [None if d == "none" else d for d in settings["max_depths"]]
    named = [*settings.get("heuristics", ()), *settings.get("methods", ())]
    own = [name for name in named if ":" in str(name)]
    if own and not trust:
        raise StudyError(
            f"{where}: {own[0]!r} is Python code, which would be executed: use --trust "
            "(trust=True) if you trust it"
        )
    try:
        return StudyConfig(**settings)
    except ValueError as error:
        raise StudyError(f"{where}: {error}") from None


def _read_constraints(plain: Any, where: str) -> Constraints:
    try:
        return Constraints.from_plain(plain)
    except ValueError as error:
        raise StudyError(f"{where}: constraints: {error}") from None


def read_config(path: Path, *, trust: bool = False) -> StudyConfig:
    """Read a configuration file; its relative paths start at the folder of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.study import read_config
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "study.toml"
    ...     _ = file.write_text('data = ["patients"]', encoding="utf-8")
    ...     read_config(file).data
    ('patients',)
    """
    config = config_from_toml(read_text(path), str(path), trust=trust)
    data = (str(path.parent / s) if (path.parent / s).exists() else s for s in config.data)
    return replace(config, data=tuple(data))
