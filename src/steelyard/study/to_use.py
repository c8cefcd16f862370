"""The theories to use: learned on all examples of a data set, one per tuned choice and baseline.

The cells of a grid are chosen by their scores on the test folds, as `RuleSetClassifierCV` would choose
them with the same folds. Knows rows, data and the store; the estimators learn.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import reprlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from steelyard._files import locate_inside
from steelyard._numbers import is_integer, is_number
from steelyard.estimators.base import TheoryClassifier
from steelyard.estimators.ripper import RipperClassifier
from steelyard.estimators.rule_set import RuleSetClassifier
from steelyard.heuristics import Heuristic
from steelyard.learning.parallel import run_in_processes
from steelyard.learning.tuning import choose_cell
from steelyard.measures import count_cells
from steelyard.model.theory import Theory

from .config import StudyConfig, StudyError
from .data import StudyData, clean_name
from .methods import find_method
from .parts import read_path
from .store import StudyStore, read_json
from .units import RIPPER_VARIANTS
from .unseen import Mask, count_unseen


class Choice(NamedTuple):
    """What to learn on all examples of a data set.

    Parameters
    ----------
    name : str
        The name of its file, such as "use-f1_micro" or "R3".
    method : str
        A family of heuristics or a baseline.
    tuned_for : str
        The measure; empty for a baseline.
    parameter, phi : float or None
        The cell of the grid; None for a baseline.
    """

    name: str
    method: str
    tuned_for: str = ""
    parameter: float | None = None
    phi: float | None = None


class Learned(NamedTuple):
    """The JSON text of a theory, and the counts on the test folds of a method without a grid."""

    text: str
    confusion: list[list[int]] | None = None


class TheoryToUse(NamedTuple):
    """A theory that was learned on all examples, and what the same choice did on the test folds.

    `confusion` has TP, FP, FN and TN of each label, summed over the test folds; None if it is not known.
    """

    choice: Choice
    theory: Theory
    confusion: list[list[int]] | None


def list_choices(config: StudyConfig, rows: pd.DataFrame) -> list[Choice]:
    """What to learn for a data set, given its rows of results."""
    choices = []
    columns = [c for c, h in zip(config.columns, config.grid, strict=True) if _is_tuned(config, h)]
    families = list(dict.fromkeys(family for family, _ in columns))
    for measure, family in itertools.product(config.tune, families):
        name = f"use-{measure}" if len(families) == 1 else f"use-{family}-{measure}"
        parameters = [parameter for known, parameter in columns if known == family]
        cells = [(parameter, phi) for parameter in parameters for phi in config.phis]
        own = rows[rows["heuristic"] == family]
        choices.append(Choice(clean_name(name), family, measure, *_choose(own, cells, measure)))
    if "ripper" in config.baselines:
        choices += [Choice(name, name) for name in RIPPER_VARIANTS]
    for i, text in enumerate(config.methods, start=1):
        # Only theories can be shown; learners of other packages are compared by their measures.
        if isinstance(find_method(text).make(config.seed), TheoryClassifier):
            choices.append(Choice(f"method-{i}", text))
    return choices


def _is_tuned(config: StudyConfig, heuristic: Heuristic) -> bool:
    return heuristic in config.tuning_grid


def _choose(
    rows: pd.DataFrame, cells: list[tuple[float, float]], measure: str
) -> tuple[float, float]:
    """The cell of a family with the best mean over the folds; ties: fewer conditions."""

    def table(name: str) -> Any:
        own = rows[rows["measure"] == name]
        values = own.pivot_table("value", index="fold", columns=["parameter", "phi"])
        return values[cells].to_numpy(np.float64)

    n_conditions = (table("n_rules") * table("n_conditions")).mean(axis=0)
    return cells[choose_cell(table(measure), n_conditions)]


# -- learning --------------------------------------------------------------------------------------


def write_theories_to_use(
    store: StudyStore,
    config: StudyConfig,
    results: pd.DataFrame,
    data_sets: Sequence[StudyData],
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> None:
    """Learn and write the theories to use; those that are written already are not learned again."""
    work = {}
    for data in data_sets:
        choices = list_choices(config, results[results["dataset"] == data.name])
        if choices and not _is_written(store, data.name, choices, _list_folds(config, data)):
            work[data.name] = data, choices
    learned: dict[tuple[Any, ...], Learned] = {}
    for name, (data, _) in work.items():
        found = _find_learned(store, config, data)
        learned |= {(name, *cell): own for cell, own in found.items()}
    # Two measures may choose the same cell, which is learned once.
    calls = [
        (name, *cell, config, data.X, data.Y, _list_tests(config, data))
        for name, (data, choices) in work.items()
        for cell in dict.fromkeys((c.method, c.parameter, c.phi) for c in choices)
        if (name, *cell) not in learned
    ]
    if calls:
        progress(0, len(calls))
    for n_done, (cell, result) in enumerate(run_in_processes(_learn, calls, n_jobs), start=1):
        learned[cell] = result
        progress(n_done, len(calls))
    for name, (data, choices) in work.items():
        texts = [learned[name, c.method, c.parameter, c.phi] for c in choices]
        _write(store, config, data, choices, texts)


def _learn(
    dataset: str,
    method: str,
    parameter: float | None,
    phi: float | None,
    config: StudyConfig,
    X: pd.DataFrame,
    Y: pd.DataFrame,
    tests: Sequence[Mask],
) -> tuple[tuple[Any, ...], Learned]:
    """Learn a theory in a worker process; return what it is and what was learned."""
    options: Any = {"constraints": config.constraints, "random_state": config.seed, "n_jobs": 1}
    if method in RIPPER_VARIANTS:
        estimator: Any = RipperClassifier(**RIPPER_VARIANTS[method], **options)
    elif parameter is None:
        estimator = find_method(method).make(config.seed)
    else:
        heuristic = _make_heuristic(config, method, parameter)
        options |= {"preset": "paper", "target": config.target, **config.forest}
        estimator = RuleSetClassifier(heuristic, phi, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the folds gave the same warnings
        theory = estimator.fit(X, Y).theory_
    confusion = None
    if parameter is None:
        theory, confusion = count_unseen(estimator, theory, X, Y, tests)
    return (dataset, method, parameter, phi), Learned(theory.to_json(), confusion)


def _make_heuristic(config: StudyConfig, family: str, parameter: float) -> Heuristic:
    return next(known for known in config.families if known.name == family).make(parameter)


def _write(
    store: StudyStore,
    config: StudyConfig,
    data: StudyData,
    choices: Sequence[Choice],
    learned: Sequence[Learned],
) -> None:
    """Write the theories of a data set, then the index that makes them valid; delete others."""
    try:
        before = {entry["name"] for entry in _read_index(store, data.name)}
    except StudyError:
        before = set()
    confusion = count_on_test_folds(store, config, data, choices)
    entries = []
    for choice, own in zip(choices, learned, strict=True):
        file = own.text.encode()
        store.write(_theory_file(data.name, choice.name), file)
        cell = (choice.method, choice.parameter, choice.phi)
        more = {
            "sha256": hashlib.sha256(file).hexdigest(),
            "confusion": confusion.get(cell, own.confusion),
        }
        entries.append(choice._asdict() | more)
    content = {"folds": _list_folds(config, data), "theories": entries}
    index = json.dumps(content, indent=1, ensure_ascii=False)
    store.write(_index_file(data.name), index.encode())
    for name in before - {choice.name for choice in choices}:
        locate_inside(store.folder, _theory_file(data.name, name)).unlink(missing_ok=True)


def _list_tests(config: StudyConfig, data: StudyData) -> list[Mask]:
    return [data.locate(fold)[1] for fold in _list_folds(config, data)]


def _list_folds(config: StudyConfig, data: StudyData) -> list[int]:
    return list(config.only_folds or range(1, data.n_folds + 1))


def count_on_test_folds(
    store: StudyStore, config: StudyConfig, data: StudyData, choices: Sequence[Choice]
) -> dict[tuple[Any, ...], list[list[int]]]:
    """TP, FP, FN and TN of each label, summed over the test folds, for each chosen cell of the grid.

    They are of the theories that were learned with the same heuristic and φ without the fold.
    """
    columns = list(config.columns)
    # Position of the heuristic in the path, since one of a user's own has no equal in a file.
    cells = {
        (c.method, c.parameter, c.phi): columns.index((c.method, c.parameter))
        for c in choices
        if c.parameter is not None
    }
    totals = {cell: np.zeros((4, data.Y.shape[1]), dtype=np.int64) for cell in cells}
    for fold in _list_folds(config, data) if cells else ():
        path = read_path(store, config, data.name, fold)
        _, is_test = data.locate(fold)
        X, truth = data.X[is_test], data.Y[is_test].to_numpy().astype(np.bool_)
        for cell, h in cells.items():
            phi: Any = cell[2]
            predicted = path.theory(h, phi).predict(X)
            totals[cell] += np.array(count_cells(truth, np.asarray(predicted, bool), "label"))
    return {cell: total.T.tolist() for cell, total in totals.items()}


# -- reading ---------------------------------------------------------------------------------------


def _index_file(dataset: str) -> str:
    return f"theories/{dataset}/to-use.json"


def _theory_file(dataset: str, name: str) -> str:
    return f"theories/{dataset}/{name}.json"


def _is_written(
    store: StudyStore, dataset: str, choices: Sequence[Choice], folds: Sequence[int]
) -> bool:
    """Whether the theories of these choices on these folds are in the folder, undamaged."""
    try:
        entries = _read_index(store, dataset)
        if entries and read_json(store.folder / _index_file(dataset)).get("folds") != folds:
            return False  # the study has grown
        known = [Choice(*(entry[field] for field in Choice._fields)) for entry in entries]
        return known == list(choices) and all(_find_texts(store, dataset, entries))
    except (StudyError, OSError):
        return False


def _find_learned(
    store: StudyStore, config: StudyConfig, data: StudyData
) -> dict[tuple[Any, ...], Learned]:
    """What a study that has grown need not learn again: (method, parameter, φ) → what was learned.

    A cell is learned on all examples, whatever the folds; others have counts on the folds. Code of a
    user's own may have changed.
    """
    own_code = {family.name for family in config.families if family.source}
    try:
        entries = _read_index(store, data.name)
        known = read_json(store.folder / _index_file(data.name)) if entries else {}
        texts = list(_find_texts(store, data.name, entries))
    except (StudyError, OSError):
        return {}
    has_same_folds = known.get("folds") == _list_folds(config, data)
    found = {}
    for entry, text in zip(entries, texts, strict=True):
        is_cell, method = entry["parameter"] is not None, entry["method"]
        is_valid = method not in own_code if is_cell else has_same_folds and ":" not in method
        if text is not None and is_valid:
            confusion = None if is_cell else entry["confusion"]
            found[method, entry["parameter"], entry["phi"]] = Learned(text, confusion)
    return found


def _find_texts(
    store: StudyStore, dataset: str, entries: Sequence[dict[str, Any]]
) -> Iterator[str | None]:
    """The text of each theory of an index; None if the file is not the one that was written."""
    for entry in entries:
        content = locate_inside(store.folder, _theory_file(dataset, entry["name"])).read_bytes()
        is_same = hashlib.sha256(content).hexdigest() == entry["sha256"]
        yield content.decode() if is_same else None


def _read_index(store: StudyStore, dataset: str) -> list[dict[str, Any]]:
    """The checked entries of an index; none if there is no index."""
    path = locate_inside(store.folder, _index_file(dataset))
    if not path.is_file():
        return []
    entries = read_json(path).get("theories")
    try:
        if not isinstance(entries, list):
            raise ValueError("theories must be a list")
        for entry in entries:
            _check_entry(entry)
    except ValueError as error:
        raise StudyError(f"{path} is damaged: {error}") from None
    return entries


def _check_entry(entry: Any) -> None:
    texts = ("name", "method", "tuned_for", "sha256")
    if not isinstance(entry, dict) or not all(isinstance(entry.get(t), str) for t in texts):
        raise ValueError(f"a theory must have {', '.join(texts)}, got {reprlib.repr(entry)}")
    if not entry["name"] or set(entry["name"]) & set("/\\.\0"):
        raise ValueError(f"{entry['name']!r} is not the name of a theory")
    for name in ("parameter", "phi"):
        if name not in entry or not (entry[name] is None or is_number(entry[name])):
            raise ValueError(f"{name} must be a number or null")
    confusion = entry.get("confusion", ())
    is_table = isinstance(confusion, list) and all(
        isinstance(row, list) and len(row) == 4 and all(is_integer(n, 0) for n in row)
        for row in confusion
    )
    if confusion is not None and not is_table:
        raise ValueError("confusion must be four counts per label")


def read_theories_to_use(folder: Any, dataset: str) -> list[TheoryToUse]:
    """The theories to use of a data set of a finished study, the first measure first."""
    store = StudyStore(folder)
    entries = _read_index(store, dataset)
    found = []
    for entry in entries:
        path = locate_inside(store.folder, _theory_file(dataset, entry["name"]))
        if not path.is_file():
            raise StudyError(f"{path} is missing")
        theory = Theory.from_json(path)
        confusion = entry["confusion"]
        if confusion is not None and len(confusion) != len(theory.labels):
            raise StudyError(f"{path} has other labels than to-use.json")
        choice = Choice(*(entry[field] for field in Choice._fields))
        found.append(TheoryToUse(choice, theory, confusion))
    return found
