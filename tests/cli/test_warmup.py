"""``steelyard warmup`` uses every part of an installation; nothing needs a writable home."""

import os
import subprocess
import sys

PARTS = ["imports", "RuleSetClassifier", "BoostedRulesClassifier", "RipperClassifier"]


def test_warming_up_names_every_part(run):
    code, out, _ = run("warmup")
    assert code == 0
    assert all(part in out for part in [*PARTS, "explanation and export", "figure"])
    assert "Everything works" in out


def test_a_first_fit_writes_no_cache_and_needs_no_home(tmp_path):
    # A service user in a container: no home, a read-only installation.
    script = (
        "from steelyard import RipperClassifier, make_planted_rules\n"
        "data = make_planted_rules(60, random_state=0)\n"
        "print(len(RipperClassifier(random_state=0).fit(data.X, data.Y).theory_) > 0)"
    )
    home = tmp_path / "missing"
    names = ("PATH", "PYTHONPATH", "SYSTEMROOT")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    environment |= {"HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
    assert not list(tmp_path.iterdir())
