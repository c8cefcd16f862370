"""Fuzzing: every reader gets damaged files. What it cannot use it rejects in one sentence of its own."""

from __future__ import annotations

import gzip
import json
import random
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import steelyard
from steelyard import Constraints, Feature, Rule, Theory, TheoryPath, load_mulan, load_table
from steelyard.data import make_planted_rules, read_folds
from steelyard.importing import FORMATS, import_theory
from steelyard.model.combiners import COMBINERS
from steelyard.model.decoders import DECODERS, EachLabel
from steelyard.model.rule_lists import apply_text, write_rules
from steelyard.report.page.payload import study_to_payload
from steelyard.report.tables import list_tables
from steelyard.study import StudyConfig, load_study, run_study
from steelyard.study.config import config_from_toml, config_to_toml, read_config
from steelyard.study.rule_sets import collect_rule_sets
from theories import PATHS, flu_theory, random_path, random_table, random_theory

from .crashing import CONFIG
from .mutator import mutate
from .outcomes import Outcome, Setting

_PACKAGE = str(Path(steelyard.__file__).parent)
_IMPORTED = Path(__file__).parents[1] / "importing" / "recorded"
_OLD_FILES = Path(__file__).parents[1] / "model" / "old_files"
_SLOWEST = 20  # seconds for one small input
_LONGEST = 1500  # characters of a message beyond what it quotes
ARFF = """@relation 'toy: -C 2'
@attribute red {0,1}
@attribute 'gr een' {false, true}
@attribute size numeric % a comment
@attribute kind {u, 'v w', "x,y"}
@attribute day date 'yyyy-MM-dd'
@data
1, false, 1.5, u, 2024-03-01
0, true, ?, 'v w', ?
{0 1, 2 -3e4, 3 'x,y', 4 "1999-12-31"}
{}
0,true,7,"x,y",2000-01-01,{2}
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="red"><label name="gr een"></label></label>
</labels>
"""
RULES = (
    "¬Cough ← 36 ≤ fever < 37.5 ∧ colour in {blue, red}",
    'not "a b" <- "x, y" <= 1e5 and c == "u v" and day >= 2024-03-01',
    "flu ← fever ≥ 38.5 ∧ nose = runs ∧ k != red",
)
# Rules of other programs that need no table.
FOREIGN_RULES = {
    "wittgenstein": ("[[a=<9.8 ^ b=runs] V [c=2 ^ d=1.5-2e3] V [c=>-3]]", "<Ruleset [[True]]>"),
    "boomer": (
        "{} => (y = -0.5, z = 1e-1)\n{a <= 1.5 & b > 1e39 & c != 3 & c != 4} => (y = 0.25)\n",
        '{b == "red" & d == 3.0} => (y = 2.5)\n{a > -7} => (z = -1.25)\n',
    ),
}
CONSTRAINTS: dict[str, Any] = {
    "forbidden": ["a"],
    "increasing": ["fever"],
    "apart": [["a", "b"]],
    "max_conditions": 3,
    "given": ["flu ← fever ≥ 38.5"],
    "forbidden_conditions": ["fever < 30"],
    "for_label": {"flu": {"min_covered": 2}},
}


class Reader(NamedTuple):
    """A name, valid inputs, the name of the file, and what reads the file and uses what it read."""

    name: str
    samples: tuple[bytes, ...]
    file: str
    read: Callable[[Path], Any]


def _data_readers() -> Iterator[Reader]:
    data = make_planted_rules(12, random_state=0)
    labels = list(map(str, data.Y))
    table = data.X.join(data.Y)

    def to_bytes(sep: str) -> bytes:
        return str(table.to_csv(index=False, sep=sep)).encode()

    arff = ARFF.encode()
    yield Reader("ARFF", (arff,), "toy.arff", load_mulan)
    yield Reader("ARFF, compressed", (gzip.compress(arff, mtime=0),), "toy.arff.gz", load_mulan)

    def read_xml(file: Path) -> Any:
        file.with_name("toy.arff").write_text(ARFF, encoding="utf-8")
        return load_mulan(file.with_name("toy.arff"), file)

    def find_xml(file: Path) -> Any:
        """The file of labels is not named and has to be found among others."""
        part = file.with_name("toy-train.arff")
        part.write_text(ARFF.replace(": -C 2", ""), encoding="utf-8")
        return load_mulan(part)

    yield Reader("label XML", (XML.encode(),), "labels.xml", read_xml)
    yield Reader("label files beside ARFF", (XML.encode(),), "toy.xml", find_xml)
    yield Reader("CSV", (to_bytes(","),), "t.csv", lambda file: load_table(file, labels))
    yield Reader("TSV", (to_bytes("\t"),), "t.tsv", lambda file: load_table(file, labels))
    parquet = (table.to_parquet(), table.astype({"colour": "category"}).to_parquet(index=True))
    yield Reader("Parquet", parquet, "t.parquet", lambda file: load_table(file, labels))
    yield Reader("folds.csv", (b"fold\n1\n2\n3\n1\n2\n", b'"fold"\n2\n1\n'), "f.csv", read_folds)


def _read_theory(file: Path) -> None:
    theory = Theory.from_json(file)
    theory.predict(_table_for(theory))
    str(theory), theory.to_frame()
    assert Theory.from_json(theory.to_json()) == theory, "it is another theory when read again"


def _table_for(theory: Theory) -> Any:
    """Rows of the attributes of a theory, which may have other names than before the damage."""
    names = {feature.name for feature in theory.features}
    table = random_table(np.random.default_rng(0), 5)
    if names <= set(table):
        return table
    return pd.DataFrame(
        {f.name: [f.categories[0] if f.categories else 1.0, None] for f in theory.features}
    )


def _read_path(file: Path) -> None:
    path = TheoryPath.from_json(file)
    for heuristic in path.heuristics:
        theory = path.theory(heuristic, path.phis[-1])
        theory.predict(_table_for(theory))
    assert TheoryPath.from_json(path.to_json()).to_json() == path.to_json(), "it changes when read"


def _read_rule(file: Path) -> None:
    rule = Rule.parse(
        file.read_bytes().decode("utf-8", "replace"), (Feature("k", ("red", "blue")),)
    )
    assert Rule.parse(str(rule)) == rule, "it is another rule when read again"


_EDITED = (flu_theory(), flu_theory("any-rule", EachLabel()))


def _read_rule_list(file: Path) -> None:
    text = file.read_bytes().decode("utf-8", "replace")
    votes, decides = _EDITED
    edited = apply_text(votes if "[" in text else decides, text)
    assert apply_text(edited, write_rules(edited)) is edited, (
        "it changes when it is written and read"
    )


def _read_config(file: Path) -> None:
    config = read_config(file)
    assert config_from_toml(config_to_toml(config)) == config, "it is another study when read again"


def _read_constraints(file: Path) -> None:
    try:
        plain = json.loads(file.read_bytes().decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return  # nothing of ours reads the text
    made = Constraints.from_plain(plain)
    assert Constraints.from_plain(made.to_plain()) == made, "they change when read again"


def _model_readers() -> Iterator[Reader]:
    theories = []
    for combiner in COMBINERS:
        for decoder in DECODERS:
            for seed in (1, 2):
                try:
                    made = random_theory(np.random.default_rng(seed), combiner, decoder)
                except ValueError:  # not every combiner goes with every decoder
                    break
                theories.append(made)
    old = sorted(file for file in _OLD_FILES.glob("v*.json"))
    texts = tuple(theory.to_json().encode() for theory in theories)
    yield Reader("theory, JSON", texts, "theory.json", _read_theory)
    yield Reader(
        "theory of an older version",
        tuple(f.read_bytes() for f in old),
        "theory.json",
        _read_theory,
    )
    paths = [random_path(np.random.default_rng(1), *kind) for kind in PATHS]
    yield Reader("path, JSON", tuple(p.to_json().encode() for p in paths), "path.json", _read_path)
    yield Reader("Rule.parse", tuple(text.encode() for text in RULES), "rule.txt", _read_rule)
    texts = tuple(write_rules(theory).encode() for theory in _EDITED)
    yield Reader("rules to edit", texts, "theory.rules", _read_rule_list)
    config = StudyConfig(("planted",), parameters=(0.0, 16.0), phis=(1.0, 0.5), tune=("hamming",))
    constraints = Constraints.from_plain(CONSTRAINTS)
    configs = [config, StudyConfig(constraints=constraints, baselines=("ripper",))]
    yield Reader(
        "configuration, TOML",
        tuple(config_to_toml(c).encode() for c in configs),
        "study.toml",
        _read_config,
    )
    plain = json.dumps(constraints.to_plain(), ensure_ascii=False).encode()
    yield Reader("constraints, JSON", (plain,), "constraints.json", _read_constraints)


def _import_readers() -> Iterator[Reader]:
    """What ``steelyard import`` reads: each format with a table, and without one."""
    table = pd.read_csv(_IMPORTED / "patients.csv").iloc[:, :4]
    for name in FORMATS:
        is_json = name == "decision-rules"
        pattern = "rulekit.json" if is_json else f"{name}*.txt"
        files = tuple(file.read_bytes() for file in sorted(_IMPORTED.glob(pattern)))
        alone = tuple(text.encode() for text in FOREIGN_RULES.get(name, ()))
        file = f"rules.{'json' if is_json else 'txt'}"
        yield Reader(f"import: {name}", files, file, partial(_import, table, name))
        yield Reader(
            f"import: {name}, no table", alone or files, file, partial(_import, None, None)
        )


def _import(X: pd.DataFrame | None, format: str | None, file: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        theory = import_theory(file, X, format=format)
    theory.predict(_table_for(theory) if X is None else X)
    str(theory), theory.to_frame()
    assert Theory.from_json(theory.to_json()) == theory, "it is another theory when read again"


def view_study(folder: Path) -> None:
    """Everything of a report that needs no figures."""
    study = load_study(folder)
    list_tables(study, collect_rule_sets(study))
    study_to_payload(study)
    for dataset in study.datasets:
        study.candidate_counts(dataset)


def make_study(folder: Path) -> Path:
    """A small study with everything that a study can have."""
    run_study(CONFIG, folder, n_jobs=1)
    return folder


def list_readers(folder: Path) -> list[Reader]:
    """Every reader with its samples; one for each file of a study."""
    whole = make_study(folder / "study")
    of_study = [
        Reader(f"study folder: {name}", ((whole / name).read_bytes(),), f"study/{name}", _view_at)
        for name in (
            *("results.csv", "tuned.csv", "baselines.csv", "run.json", "study.toml"),
            *("examples/planted.json", "theories/planted/fold-1.json.gz"),
        )
    ]
    return [*_data_readers(), *_model_readers(), *_import_readers(), *of_study]


def _view_at(file: Path) -> None:
    folder = next(parent for parent in file.parents if parent.name == "study")
    view_study(folder)


def _stop(*_: object) -> None:
    raise TimeoutError(f"more than {_SLOWEST} s")


def find_defect(read: Callable[[Path], Any], file: Path) -> str:
    """What is wrong with how a file is read: empty if it is read, or rejected in a sentence of ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(file)
        return ""
    except ValueError as error:
        frames = traceback.extract_tb(error.__traceback__)
        if not frames[-1].filename.startswith(_PACKAGE):
            return f"a library's {type(error).__name__}: {error}"[:300]
        if len(str(error)) > _LONGEST + 2 * file.stat().st_size:
            return f"a message of {len(str(error)):,} characters: {error}"[:300]
        return "rejected"
    except OSError as error:
        return "rejected" if error.filename else f"{type(error).__name__}: {error}"[:300]
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return f"{type(error).__name__} at {where}: {error}"[:300]


def fuzz(reader: Reader, setting: Setting, n_inputs: int | None = None) -> Outcome:
    """Damage the samples of a reader at random, for some seconds of computing or so many times."""
    outcome = Outcome(f"fuzzing: {reader.name}")
    chance = random.Random(f"{setting.seed} {reader.name}")
    file = setting.folder / reader.file
    file.parent.mkdir(parents=True, exist_ok=True)
    is_text = not reader.samples[0].startswith((b"\x1f\x8b", b"PAR1"))
    packed = reader.file.startswith("study/") and reader.file.endswith(".gz")
    samples = tuple(map(gzip.decompress, reader.samples)) if packed else reader.samples
    for sample in reader.samples:
        file.write_bytes(sample)
        if problem := find_defect(reader.read, file):
            raise AssertionError(f"{reader.name} does not read its sample: {problem}")
    end = time.process_time() + setting.seconds
    previous = signal.signal(signal.SIGALRM, _stop)
    try:
        while outcome.n_tried < n_inputs if n_inputs else time.process_time() < end:
            mutant = mutate(chance.choice(samples), chance, samples if is_text else ())
            file.write_bytes(gzip.compress(mutant, 1) if packed else mutant)
            signal.alarm(_SLOWEST)
            problem = find_defect(reader.read, file)
            signal.alarm(0)
            if problem in ("", "rejected"):
                outcome.see(problem or "read")
            else:
                outcome.fail(f"{problem}; the input was {file.read_bytes()[:1000]!r}")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
        file.write_bytes(reader.samples[0])  # the next reader may need it
    return outcome


def fuzz_readers(setting: Setting) -> Iterator[Outcome]:
    """Damage what every reader reads, in several processes."""
    names = [reader.name for reader in list_readers(setting.folder)]
    with ProcessPoolExecutor(setting.n_jobs, get_context("spawn")) as pool:
        yield from pool.map(_fuzz_by_name, names, repeat(setting))


def _fuzz_by_name(name: str, setting: Setting) -> Outcome:
    warnings.simplefilter("ignore")
    folder = Path(mkdtemp(dir=setting.folder))
    (reader,) = (reader for reader in list_readers(folder) if reader.name == name)
    return fuzz(reader, replace(setting, folder=folder))
