"""Determinism: the same theories whatever runs them, compared with the digests in `benchmarks`."""

from __future__ import annotations

import hashlib
import locale
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from joblib import parallel_config

from steelyard import BoostedRulesClassifier, RipperClassifier, RuleSetClassifierCV
from steelyard.data import make_planted_rules

from .outcomes import Outcome, Setting

ROOT = Path(__file__).parents[2]
_SCRIPT = ROOT / "benchmarks" / "same_theories.py"
_KNOWN = ROOT / "benchmarks" / "theories.json"
_LOCALES = ("C", "C.utf8", "tr_TR.utf8", "de_DE.utf8")
_VERSIONS = (
    "import platform, importlib.metadata as m; print('Python', platform.python_version() + ',',"
    " *(f'{n} {m.version(n)},' for n in ('numpy', 'pandas', 'scikit-learn', 'scipy')))"
)


def compare_digests(setting: Setting) -> Iterator[Outcome]:
    """The digests of `benchmarks/theories.json` with other hash seeds, locales and interpreters."""
    data = ("--quick",) if setting.n_rounds > 3 else ("--data", "planted_missing,iris")
    outcome = Outcome(f"digests of benchmarks/same_theories.py {' '.join(data)}")
    runs = [
        (f"hash seed {seed}", sys.executable, {"PYTHONHASHSEED": str(seed)})
        for seed in (0, 1)[: setting.n_rounds]
    ]
    for name in _LOCALES[: setting.n_rounds]:
        if _has_locale(name):
            runs.append((f"locale {name}", sys.executable, {"LC_ALL": name}))
        else:
            outcome.notes.append(f"skipped: locale {name} is not installed")
    runs += [("", python, {}) for python in setting.pythons]
    for what, python, changes in runs:
        name = what or _run([python, "-c", _VERSIONS], {}).stdout.strip(" ,\n")
        done = _run([python, str(_SCRIPT), *data, "--check", str(_KNOWN)], changes)
        last = (done.stdout.strip().splitlines() or [done.stderr[-200:]])[-1]
        if done.returncode:
            outcome.fail(f"{name}: {last}")
        else:
            outcome.see("the same digests")
            outcome.notes.append(f"{name}: {last}")
    if not setting.pythons:
        outcome.notes.append("skipped: other interpreters, for want of --python")
    yield outcome


def _has_locale(name: str) -> bool:
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_ALL, before)
    return True


def _run(command: list[str], changes: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run an interpreter; only this one needs the package from this folder."""
    environment = os.environ | changes
    if command[0] != sys.executable:
        environment.pop("PYTHONPATH", None)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _digest() -> str:
    """A hash of the theories of three estimators that use several workers."""
    data = make_planted_rules(200, random_state=0)
    found = hashlib.sha256()
    for model in (
        RuleSetClassifierCV("f1_micro", n_candidates=500, cv=2, random_state=0, n_jobs=2),
        BoostedRulesClassifier(max_rules=20, random_state=0, n_jobs=2),
        RipperClassifier(random_state=0, n_jobs=2),
    ):
        found.update(model.fit(data.X, data.Y).theory_.to_json().encode())
    return found.hexdigest()


def compare_backends(_: Setting) -> Iterator[Outcome]:
    """The same theories with one worker and with several processes, threads and Dask workers."""
    outcome = Outcome("digests with one worker, processes, threads and Dask")
    with parallel_config("sequential"):
        expected = _digest()
    for backend in ("loky", "threading"):
        with parallel_config(backend):
            _note(outcome, backend, _digest() == expected)
    if find_spec("distributed") is None:
        outcome.notes.append("skipped: dask.distributed is not installed")
    else:
        from distributed import Client

        client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with client, parallel_config("dask"):
            _note(outcome, "dask", _digest() == expected)
    yield outcome


def _note(outcome: Outcome, backend: str, is_same: bool) -> None:
    if is_same:
        outcome.see("the same theories")
        outcome.notes.append(backend)
    else:
        outcome.fail(f"other theories with {backend}")
