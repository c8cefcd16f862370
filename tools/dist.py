"""Build the source archive and the wheel twice, compare them byte by byte, and check what they hold.

The results stand in ``dist/``. The time in them is that of the last commit, or SOURCE_DATE_EPOCH.

    python tools/dist.py
    python tools/dist.py --tests tests/model   # also run tests of the unpacked source archive
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "dist"
DIST = ROOT / "dist"
# What a wheel may hold: compiled kernels, modules, types, and the data that modules read.
IN_WHEEL = re.compile(r"\.(py|pyi|typed|so|pyd|csv|css|html|js)$")
# What a source archive must hold, and what none may.
IN_SDIST = (
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "Makefile",
    "benchmarks/theories.json",
    "setup.py",
    "src/steelyard/_kernels/covering.pyx",
    "src/steelyard/py.typed",
    "tests/conftest.py",
    "tools/dist.py",
)
NOT_IN_SDIST = re.compile(r"\.(so|pyd|pyc|whl)$|/build/|/node_modules/|\.ipynb_checkpoints")


def find_epoch() -> str:
    """Seconds since 1970 of the last commit, unless SOURCE_DATE_EPOCH says otherwise."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def rewrite_sdist(path: Path, epoch: int) -> None:
    """Give all files of an archive the same time and owner: setuptools keeps those of the machine."""
    plain = io.BytesIO()
    with (
        tarfile.open(path) as archive,
        tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as rewritten,
    ):
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            content = archive.extractfile(member) if member.isfile() else None
            member.mtime = epoch
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            rewritten.addfile(member, content)
    path.write_bytes(gzip.compress(plain.getvalue(), mtime=epoch))


def build_once(folder: Path, epoch: str) -> tuple[Path, Path]:
    """Source archive of the project, and the wheel that it makes."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch, "PYTHONHASHSEED": "0"}
    build = [sys.executable, "-m", "build", "--outdir", folder]
    subprocess.run(
        [*build, "--sdist", ROOT], env=environment, check=True, stdout=subprocess.DEVNULL
    )
    (sdist,) = folder.glob("*.tar.gz")
    rewrite_sdist(sdist, int(epoch))
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = folder / sdist.name.removesuffix(".tar.gz")
    subprocess.run(
        [*build, "--wheel", source], env=environment, check=True, stdout=subprocess.DEVNULL
    )
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def check_wheel(path: Path) -> str | None:
    """What is wrong with the contents of a wheel."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    strange = [n for n in names if not n.startswith("steelyard/") or not IN_WHEEL.search(n)]
    if strange:
        return f"{path.name} holds {', '.join(strange[:5])}"
    if not any("_kernels/covering." in name and not name.endswith(".pyx") for name in names):
        return f"{path.name} has no compiled kernels"
    return None


def check_sdist(path: Path) -> str | None:
    """What is wrong with the contents of a source archive."""
    with tarfile.open(path) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    missing = [name for name in IN_SDIST if name not in names]
    if missing:
        return f"{path.name} lacks {', '.join(missing)}"
    strange = [name for name in names if NOT_IN_SDIST.search(f"/{name}")]
    return f"{path.name} holds {', '.join(strange[:5])}" if strange else None


def test_sdist(source: Path, arguments: Sequence[str]) -> None:
    """Install an unpacked archive into a new environment and run its tests there."""
    folder = BUILD / "environment"
    venv.create(folder, clear=True, with_pip=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--upgrade", "pip>=25.1"], check=True)
    subprocess.run([*pip, ".[all]", "--group", "test"], cwd=source, check=True)
    subprocess.run([python, "-P", "-m", "pytest", "--quiet", *arguments], cwd=source, check=True)


def main() -> str | None:
    """Build, compare, check; return what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", help="arguments of pytest in one text")
    arguments = parser.parse_args()
    shutil.rmtree(BUILD, ignore_errors=True)
    epoch = find_epoch()
    first, second = (build_once(BUILD / name, epoch) for name in ("first", "second"))
    for one, other in zip(first, second, strict=True):
        if one.read_bytes() != other.read_bytes():
            return f"{one.name} differs between two builds: {one} and {other}"
        print(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}")
    sdist, wheel = first
    wrong = check_sdist(sdist) or check_wheel(wheel)
    if wrong:
        return wrong
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", sdist, wheel], check=True)
    if arguments.tests:
        test_sdist(
            BUILD / "first" / sdist.name.removesuffix(".tar.gz"), shlex.split(arguments.tests)
        )
    DIST.mkdir(exist_ok=True)
    for path in first:
        shutil.copy(path, DIST)
    return None


if __name__ == "__main__":
    sys.exit(main())
