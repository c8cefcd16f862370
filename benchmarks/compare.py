"""Two revisions measured in one run: the other is built, both are timed in turns, ratios are printed.

Times of different days or machines cannot be compared; ratios of one run can.

    python benchmarks/compare.py main [--rounds 3] [--only fit] [--json ratios.json]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from machine import find_revision, machine_facts

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "bench"
TIMINGS = ROOT / "benchmarks" / "timings.py"


def build_revision(revision: str) -> Path:
    """Check a revision out, install it into a folder of its own and return the folder."""
    command = ["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(f"{revision!r} is no revision of this repository")
    commit = found.stdout.strip()
    target, source = BUILD / commit[:12], BUILD / f"{commit[:12]}-source"
    if not target.exists():
        git = ["git", "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", source, commit], cwd=ROOT, check=True)
        try:
            install(source, target)
        finally:
            subprocess.run([*git, "remove", "--force", source], cwd=ROOT, check=True)
    return target


def install(source: Path, target: Path) -> None:
    """Build a folder's package and install it, without its dependencies, into another folder."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-deps", "--target", target, source], check=True)


def measure(package: Path, only: str) -> dict[str, float]:
    """The CPU seconds of one round with the package in a folder."""
    file = BUILD / "timings.json"
    environment = os.environ | {"PYTHONPATH": str(package)}
    command = [sys.executable, TIMINGS, "--rounds", "1", "--only", only, "--json", file]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    result = json.loads(file.read_text())
    if Path(result["package"]).parent != package:
        raise SystemExit(f"measured {result['package']} instead of {package}")
    return result["cpu_seconds"]


def keep_least(seconds: dict[str, float], more: dict[str, float]) -> None:
    for name, value in more.items():
        seconds[name] = min(value, seconds.get(name, value))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", help="what the files of this folder are compared with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="part of the names to measure")
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    before = build_revision(arguments.revision)
    after = ROOT / "src"  # its kernels are compiled in place: `make` sees to it before
    old: dict[str, float] = {}
    new: dict[str, float] = {}
    for _ in range(arguments.rounds):
        keep_least(old, measure(before, arguments.only))
        keep_least(new, measure(after, arguments.only))
    ratios = {name: round(new[name] / old[name], 3) for name in new if old.get(name)}
    print(f"{'CPU seconds':28} {before.name:>12} {'now':>9}   now / {before.name}")
    for name, ratio in ratios.items():
        print(f"{name:28} {old[name]:10.3f} s {new[name]:7.3f} s   {ratio:.2f}")
    if arguments.json:
        result = {
            "revisions": [before.name, find_revision()],
            "machine": machine_facts(),
            "cpu_seconds": [old, new],
            "ratios": ratios,
        }
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
