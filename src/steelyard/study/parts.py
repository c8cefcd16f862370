"""The heuristics of a unit: which of them a folder has, which are missing, how parts become a whole.

A grid and an inner fold hold values of many heuristics, each learned from the same candidates. A study
that grows computes the missing ones and keeps the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard._files import compress, decompress
from steelyard.heuristics import describe
from steelyard.learning.paths import join_paths
from steelyard.model.path import TheoryPath

from .config import StudyConfig, StudyError
from .store import Arrays, StudyStore
from .units import Finished, Unit, describe_purpose, list_cells

# The arrays of a unit that have an axis for its heuristics.
_AXES = {"cells": 0, "values": 1, "n_conditions": 0, "counts": 1}


def read_part(unit: Unit, store: StudyStore, config: StudyConfig) -> Finished | None:
    """What a folder has of a unit, with any heuristics; None if nothing of it can be used."""
    arrays = store.read_unit(unit.name)
    if arrays is None or str(arrays.get("made_for")) != describe_purpose(unit, config):
        return None  # missing, or of the study before it grew
    if "theories" not in arrays:
        return Finished(unit, arrays, None, [])
    theories = store.read_theories(unit.dataset, unit.fold)
    if theories is None or hashlib.sha256(theories).hexdigest() != str(arrays["theories"]):
        return None
    return Finished(unit, arrays, theories, [])


def read_finished(
    unit: Unit, store: StudyStore, config: StudyConfig, *, retry: bool = True
) -> Arrays | None:
    """The arrays of a unit, or None if it must be computed (again), with `retry` also if it failed."""
    part = read_part(unit, store, config)
    if part is None or (retry and "error" in part.arrays):
        return None
    cells = list_cells(unit, config)
    if is_whole(part, cells):
        return part.arrays
    picks = find_cells([part], cells)
    return None if picks is None else join_arrays([part], picks)


def select_missing(unit: Unit, store: StudyStore, config: StudyConfig) -> StudyConfig:
    """The study of those heuristics of a unit that a folder lacks."""
    part = read_part(unit, store, config)
    if part is None or "cells" not in part.arrays:
        return config
    missing = set(list_cells(unit, config)) - set(part.arrays["cells"].tolist())
    of_columns = list_cells(unit._replace(kind="grid"), config)
    pairs = zip(config.columns, of_columns, strict=True)
    return config.select([column for column, cell in pairs if cell in missing])


def save_finished(done: Finished, store: StudyStore, config: StudyConfig) -> Finished:
    """Save a unit with the heuristics that the folder has of it already; return the whole.

    The theories come first: the unit counts as finished once its own file exists.
    """
    cells = list_cells(done.unit, config)
    whole = join_parts([done], cells)
    if whole is None:
        part = read_part(done.unit, store, config)
        whole = None if part is None else join_parts([done, part], cells)
    if whole is None:
        raise StudyError(
            f"{done.unit.name} was damaged while the study was running: start it again"
        )
    if whole.theories is not None:
        store.write_theories(done.unit.dataset, done.unit.fold, whole.theories)
    store.write_unit(done.unit.name, whole.arrays)
    return whole


def join_parts(parts: Sequence[Finished], cells: Sequence[str]) -> Finished | None:
    """A unit with some heuristics, in their order; None if one of them is in no part."""
    picks = find_cells(parts, cells)
    if picks is None or is_whole(parts[0], cells):
        return None if picks is None else parts[0]
    arrays, theories = join_arrays(parts, picks), None
    if parts[0].theories is not None:
        paths = [TheoryPath.from_json(_read_theories(part)) for part in parts]
        path = join_paths(paths, [part.arrays["candidates"] for part in parts], picks)
        theories = compress(path.to_json())
        arrays["candidates"] = np.asarray(path.candidate_idx)
        arrays["theories"] = np.array(hashlib.sha256(theories).hexdigest())
    return parts[0]._replace(arrays=arrays, theories=theories)


def _read_theories(part: Finished) -> str:
    return decompress(part.theories or b"", f"the theories of {part.unit.name}").decode()


def is_whole(part: Finished, cells: Sequence[str]) -> bool:
    """Whether a part has these heuristics and no others, in this order."""
    return list(part.arrays.get("cells", ())) == list(cells)


def find_cells(parts: Sequence[Finished], cells: Sequence[str]) -> list[tuple[int, int]] | None:
    """The part and the position there of each heuristic; None if one of them is in no part."""
    known = {
        cell: (p, h)
        for p, part in enumerate(parts)
        for h, cell in enumerate(part.arrays.get("cells", np.array([])).tolist())
    }
    return [known[cell] for cell in cells] if known.keys() >= set(cells) else None


def join_arrays(parts: Sequence[Finished], picks: Sequence[tuple[int, int]]) -> Arrays:
    """The arrays of some heuristics; the circumstances are those of all parts."""
    arrays = dict(parts[0].arrays)
    for name, axis in _AXES.items():
        if name in arrays:
            taken = [parts[p].arrays[name].take(h, axis) for p, h in picks]
            arrays[name] = np.stack(taken, axis)
    for name in ("seconds", "cpu_seconds"):
        arrays[name] = np.array(sum(float(part.arrays[name]) for part in parts))
    makers = dict.fromkeys(str(part.arrays["made_by"]) for part in parts)
    arrays["made_by"] = np.array("; ".join(makers))
    return arrays


def read_path(store: StudyStore, config: StudyConfig, dataset: str, fold: int) -> TheoryPath:
    """The theories of a fold for the grid of a study; the file may have those of a study that grows."""
    file = store.theory_file(dataset, fold)
    path = TheoryPath.from_json(file)
    # A user's heuristic is saved by its name only, so names are compared.
    known, wanted = (list(map(describe, grid)) for grid in (path.heuristics, config.grid))
    if known != wanted:
        if not set(wanted) <= set(known) or len(set(known)) < len(known):
            raise StudyError(f"{file} holds the theories of another grid")
        n_learned = len(path.label_of_rule) - path.n_given
        # A path of one label after the other stays in its order.
        picks = [(0, known.index(name)) for name in wanted]
        path = join_paths([path], [np.arange(n_learned)], picks)
    if not set(config.phis) <= set(path.phis):
        raise StudyError(f"{file} holds the theories of another grid")
    return path if path.phis == config.phis else replace(path, phis=config.phis)
