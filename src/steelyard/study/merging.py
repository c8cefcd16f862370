"""Several results folders → one: the study of everything that they cover, with units that they computed.

Knows configurations, stores and units; it computes no unit.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from steelyard._text import list_names

from .config import StudyConfig, StudyError, read_config
from .parts import (
    find_cells,
    is_whole,
    join_arrays,
    join_parts,
    read_part,
    save_finished,
)
from .results import StudyResults
from .runner import Plan, plan_study, write_results
from .store import Arrays, StudyStore, read_json
from .units import Finished, Unit, list_cells

# What differs between two computations of the same unit.
_CIRCUMSTANCES = {"seconds", "cpu_seconds", "fit_seconds", "predict_seconds", "made_by"}
# What two units with some heuristics in common do not share.
_OF_ALL_CELLS = {"theories", "candidates"}
# Settings that say how much a study covers; all others have to be equal.
_COVERED = (
    *("data", "only_folds", "repeats", "heuristics", "parameters"),
    *("tune", "baselines", "methods"),
)


class _Source(NamedTuple):
    """A results folder to merge."""

    store: StudyStore
    config: StudyConfig
    identity: dict[str, Any]

    @property
    def name(self) -> str:
        return repr(str(self.store.folder))

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of every data set by name, in the order of the configuration."""
        return dict(self.identity.get("covers", {}).get("data sets", {}))


def merge_studies(
    folders: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    trust: bool = False,
    n_jobs: int | None = None,
) -> StudyResults:
    """Put the units of several results folders into one, and write its results.

    The studies have the same settings and cover different data sets, folds, repetitions, heuristics,
    baselines or methods. Those that tune do so for the same measures, because a fold is tuned for all
    of them at once. The result is that of one study of everything, byte for byte.

    Parameters
    ----------
    folders : sequence of path-like
        Two or more results folders; they stay as they are.
    out : path-like
        The new results folder, which is none of them.
    trust : bool, default=False
        Whether to import what the studies name as ``module:attribute``.
    n_jobs : int or None, default=None
        For the theories to use, which are learned again.

    Returns
    -------
    StudyResults

    Examples
    --------
    >>> from dataclasses import replace
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.study import StudyConfig, merge_studies, run_study
    >>> config = StudyConfig(("planted",), folds=2, n_candidates=100, parameters=(2.0,), phis=(1.0,))
    >>> with TemporaryDirectory() as folder:
    ...     parts = [f"{folder}/{k}" for k in (1, 2)]
    ...     for k, part in enumerate(parts, start=1):
    ...         _ = run_study(replace(config, only_folds=(k,)), part)
    ...     study = merge_studies(parts, f"{folder}/both")
    >>> study.config == config
    True
    """
    if len(folders) < 2:
        raise StudyError("a merge needs at least two results folders")
    _reject_same_folders(folders, out)
    sources = [_read_source(Path(folder), trust) for folder in folders]
    for source in sources[1:]:
        _reject_other_settings(sources[0], source)
    plan = _cover_all(plan_study(_merge_configs(sources), out))
    found = _choose_units(plan, sources)
    with plan.claimed():
        units = {}
        for unit, chosen in found.items():
            parts = _read_parts(unit, plan, chosen)
            whole = join_parts([part for _, part in parts], list_cells(unit, plan.config))
            if whole is None:
                raise StudyError(f"{unit.name} was damaged while the studies were merged")
            units[unit] = save_finished(whole, plan.store, plan.config).arrays
        return write_results(plan, units, n_jobs)


def _reject_same_folders(
    folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]
) -> None:
    known: set[Path] = set()
    for folder in folders:
        place = Path(folder).resolve()
        if place in known:
            raise StudyError(f"{str(folder)!r} is given twice: a merge needs different folders")
        known.add(place)
    if Path(out).resolve() in known:
        raise StudyError(f"{str(out)!r} is one of the folders to merge: pass a new folder")


def _read_source(folder: Path, trust: bool) -> _Source:
    store = StudyStore(folder)
    if not store.identity_file.exists():
        raise StudyError(f"{str(folder)!r} holds no study")
    config = read_config(folder / "study.toml", trust=trust)
    return _Source(store, config, read_json(store.identity_file))


def _reject_other_settings(first: _Source, other: _Source) -> None:
    """Raise an error that names the first setting in which two studies differ."""

    def compare(what: str, a: Any, b: Any) -> None:
        if a != b:
            raise StudyError(
                f"{first.name} and {other.name} cannot be merged: {what} is {a!r} in one and {b!r} in "
                "the other"
            )

    for name in dict.fromkeys((*first.identity, *other.identity)):
        if name != "covers":
            compare(name, first.identity.get(name), other.identity.get(name))
    for field in dataclasses.fields(StudyConfig):
        if field.name not in _COVERED:
            compare(field.name, *(getattr(s.config, field.name) for s in (first, other)))
    for name, sha256 in first.hashes.items():
        compare(f"the hash of {name}", sha256, other.hashes.get(name, sha256))


def _merge_configs(sources: Sequence[_Source]) -> StudyConfig:
    """The configuration of everything that some studies cover, in their order."""
    configs = [source.config for source in sources]
    data: dict[str, str] = {}
    for source in sources:
        for name, place in zip(source.hashes, source.config.data, strict=True):
            data.setdefault(name, place)
    has_all = any(not config.only_folds for config in configs)
    folds = [] if has_all else sorted({k for config in configs for k in config.only_folds})
    return dataclasses.replace(
        _unite_heuristics(configs),
        data=tuple(data.values()),
        only_folds=tuple(folds),
        repeats=max(config.repeats for config in configs),
        tune=_unite(config.tune for config in configs),
        baselines=_unite(config.baselines for config in configs),
        methods=_unite(config.methods for config in configs),
    )


def _unite_heuristics(configs: Sequence[StudyConfig]) -> StudyConfig:
    """The first configuration with the heuristics of all; values that only others have are sorted in."""
    first = configs[0]
    if all(config.columns == first.columns for config in configs):
        return first
    texts: dict[str, str] = {}
    values: dict[str, list[float]] = {}
    for config in configs:
        for name, text in zip(config.family_names, config.heuristics, strict=True):
            known, own = values.get(name, []), [p for n, p in config.columns if n == name]
            values[name] = sorted({*known, *own}) if known and known != own else own
            texts.setdefault(name, text)
    columns = [(name, parameter) for name in values for parameter in values[name]]
    return first.cover(texts.values(), columns)


def _unite(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))


def _cover_all(plan: Plan) -> Plan:
    """The same plan; if it lists all folds of every data set, it says so."""
    listed = set(plan.config.only_folds)
    if not all(listed == set(range(1, data.n_folds + 1)) for data in plan.data_sets):
        return plan
    config, shown = (dataclasses.replace(c, only_folds=()) for c in (plan.config, plan.shown))
    return plan._replace(config=config, shown=shown)


def _choose_units(plan: Plan, sources: Sequence[_Source]) -> dict[Unit, list[_Source]]:
    """Each unit with the folders it is taken from; raise an error if one is missing or ambiguous."""
    found: dict[Unit, list[_Source]] = {}
    for unit in plan.work:
        parts = _read_parts(unit, plan, sources)
        # A method that failed in one folder may have succeeded in another.
        parts = [pair for pair in parts if "error" not in pair[1].arrays] or parts[:1]
        for pairs in itertools.combinations(parts, 2):
            _reject_other_results(unit, *pairs)
        cells = list_cells(unit, plan.config)
        whole = [pair for pair in parts if is_whole(pair[1], cells)][:1]
        if find_cells([part for _, part in parts], cells) is not None and parts:
            found[unit] = [source for source, _ in whole or parts]
    missing = [unit.name for unit in plan.work if unit not in found]
    if missing:
        _reject_other_tuning(sources)
        raise StudyError(
            f"{len(missing)} of {len(plan.work)} units of the merged study are in none of the folders: "
            f"{list_names(missing, most=5)}; every data set needs all folds, heuristics, baselines and "
            "methods"
        )
    return found


def _read_parts(
    unit: Unit, plan: Plan, sources: Sequence[_Source]
) -> list[tuple[_Source, Finished]]:
    """What some folders have of a unit."""
    pairs = [(source, read_part(unit, source.store, plan.config)) for source in sources]
    return [(source, part) for source, part in pairs if part is not None]


def _reject_other_results(
    unit: Unit, one: tuple[_Source, Finished], other: tuple[_Source, Finished]
) -> None:
    """Raise an error if two folders have different results of a unit, for heuristics of both."""
    parts = one[1], other[1]
    cells = [part.arrays.get("cells", np.array([])).tolist() for part in parts]
    arrays = [dict(part.arrays) for part in parts]
    if cells[0] != cells[1]:
        common = [cell for cell in cells[0] if cell in cells[1]]
        for k, part in enumerate(parts):
            picks = find_cells([part], common)
            arrays[k] = join_arrays([part], picks) if picks else {}
            arrays[k] = {n: a for n, a in arrays[k].items() if n not in _OF_ALL_CELLS}
    if not _is_same(*arrays):
        places = f"{one[0].name} and {other[0].name}"
        made = f"{parts[0].arrays.get('made_by')} and {parts[1].arrays.get('made_by')}"
        raise StudyError(f"{unit.name} has other results in {places} (made by {made})")


def _reject_other_tuning(sources: Sequence[_Source]) -> None:
    """Raise an error if studies tune for different measures: this is why units are missing."""
    tuning = [source for source in sources if source.config.tune]
    for other in tuning[1:]:
        first = tuning[0]
        if other.config.tune != first.config.tune:
            raise StudyError(
                f"{first.name} and {other.name} cannot be merged: tune is {first.config.tune!r} in one "
                f"and {other.config.tune!r} in the other, and a fold is tuned for all measures at once"
            )


def _is_same(one: Arrays, other: Arrays) -> bool:
    """Whether two computations of a unit have the same results, bit for bit."""
    names = [set(arrays) - _CIRCUMSTANCES for arrays in (one, other)]
    return names[0] == names[1] and all(
        one[name].dtype == other[name].dtype
        and one[name].shape == other[name].shape
        and np.ascontiguousarray(one[name]).tobytes() == np.ascontiguousarray(other[name]).tobytes()
        for name in names[0]
    )
