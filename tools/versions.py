"""Test a built wheel in clean environments, with the oldest or the newest versions of what it needs.

Oldest are the lower bounds in pyproject.toml, or the first versions with wheels for a newer Python. A
Python that is missing on this machine is skipped by name.

    python tools/versions.py oldest
    python tools/versions.py newest --python 3.12 --tests "tests/model -x"
    python tools/versions.py newest --python 3.12 --wheels dist   # wheels that were built before
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "versions"
PYTHONS = ("3.11", "3.12", "3.13")
# Some lower bounds have no wheels for Python 3.13, so nobody has the two together: the first that do.
FIRST_WHEELS = {
    "3.13": {
        "matplotlib": "3.9.2",
        "numpy": "2.1.0",
        "pandas": "2.2.3",
        "pyarrow": "18.0.0",
        "scipy": "1.14.1",
    }
}
DIGESTED = "planted_missing,iris"
_BOUND = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\d.]+)")


def list_lower_bounds(pyproject: dict[str, object], version: str = PYTHONS[0]) -> list[str]:
    """Each dependency, also of extras, with the oldest version allowed: ``["joblib==1.5", ...]``.

    It is the lower bound, or the first with a wheel for this version of Python. Of the tools that only
    the tests use, the newest versions serve as well as the oldest ones.
    """
    project = pyproject["project"]
    extras = project["optional-dependencies"].values()
    bounds = {}
    for requirement in (*project["dependencies"], *(r for extra in extras for r in extra)):
        if requirement.startswith(f"{project['name']}["):
            continue  # an extra that includes others
        found = _BOUND.fullmatch(requirement)
        if not found:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound")
        bounds[found[1]] = found[2]
        if "distributed" in requirement:
            bounds["distributed"] = found[2]
    bounds |= FIRST_WHEELS.get(version, {})
    return [f"{name}=={version}" for name, version in sorted(bounds.items())]


def find_python(version: str) -> str | None:
    """The interpreter of this version on the path or of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]
    asked = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    for candidate in filter(None, candidates):
        answer = subprocess.run([candidate, "-c", asked], capture_output=True, text=True)
        if answer.stdout.strip() == version:
            return str(candidate)
    return None


def run(*command: object) -> None:
    """Run a command and print it; leave with its exit code if it fails."""
    print("+", *command, flush=True)
    code = subprocess.run([str(part) for part in command], cwd=ROOT).returncode
    if code:
        raise SystemExit(code)


def install(which: str, version: str, interpreter: str, wheels: Path | None) -> Path:
    """Install a wheel with all extras into a new environment; the environment's Python.

    The wheel is built unless a folder with `wheels` has one for this version of Python.
    """
    folder = BUILD / f"{which}-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    run(interpreter, "-m", "venv", folder)
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "install", "--upgrade", "pip>=25.1")
    if wheels is None:
        wheels = folder / "wheels"
        run(*pip, "wheel", "--no-deps", "--wheel-dir", wheels, ".")
    (wheel,) = wheels.resolve().glob(f"*-cp{version.replace('.', '')}-*.whl")
    constraints = folder / "constraints.txt"
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    bounds = list_lower_bounds(pyproject, version) if which == "oldest" else []
    constraints.write_text("".join(f"{line}\n" for line in bounds))
    run(
        *pip,
        *("install", "--only-binary", ":all:", "--constraint", constraints),
        *(f"steelyard[all] @ {wheel.as_uri()}", "--group", "test"),
    )
    return python


def list_installed(python: Path) -> Iterator[str]:
    """Names and versions of what matters for a result."""
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format", "freeze"],
        capture_output=True,
        text=True,
        check=True,
    )
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = {line.split("==")[0] for line in list_lower_bounds(pyproject)}
    return (line for line in listed.stdout.splitlines() if line.split("==")[0] in names)


def test_installed(which: str, python: Path, arguments: Sequence[str]) -> None:
    """The digests of stored theories, then the tests of the installed package."""
    print(", ".join(list_installed(python)), flush=True)
    digests = ("--check", "benchmarks/theories.json", "--data", DIGESTED)
    run(python, "-P", "benchmarks/same_theories.py", *digests)
    # Old versions warn of what their own dependencies have changed since.
    lenient = ("-W", "default::DeprecationWarning") if which == "oldest" else ()
    run(python, "-P", "-m", "pytest", "--quiet", "--numprocesses", 2, *lenient, *arguments)


def main() -> None:
    """Test on each Python that this machine has."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=("newest", "oldest"))
    parser.add_argument("--python", nargs="+", help="versions of Python", metavar="3.11")
    parser.add_argument("--wheels", type=Path, help="a folder with wheels, instead of building one")
    parser.add_argument("--tests", default="tests", help="arguments of pytest in one text")
    arguments = parser.parse_args()
    tested = []
    for version in arguments.python or PYTHONS:
        interpreter = find_python(version)
        if interpreter is None:
            print(f"skipped: this machine has no Python {version}", flush=True)
            continue
        print(f"Python {version}, {arguments.which} versions", flush=True)
        python = install(arguments.which, version, interpreter, arguments.wheels)
        test_installed(arguments.which, python, shlex.split(arguments.tests))
        tested.append(version)
    if not tested:
        raise SystemExit("No Python was found to test with.")
    print(f"{arguments.which} versions: passed on Python {', '.join(tested)}")


if __name__ == "__main__":
    sys.exit(main())
