"""Learning needs neither matplotlib nor rich nor typer, and what does says so."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from steelyard._extras import needed_here

ROOT = Path(__file__).parents[1]
BLOCKED = "import sys; sys.modules.update(dict.fromkeys(['matplotlib', 'rich', 'typer']))\n"
HOW = "is not installed; install it with: pip install"


def run_without(code):
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, timeout=120
    )


def test_without_them_rules_are_learned_explained_and_exported_and_figures_are_refused():
    done = run_without("""
import steelyard, steelyard.report, steelyard.study

data = steelyard.make_planted_rules(100, random_state=0)
clf = steelyard.RipperClassifier(random_state=0).fit(data.X, data.Y)
clf.predict(data.X), str(clf.explain(data.X.iloc[0])), clf._repr_html_()
theory = clf.theory_
str(theory), theory.to_sql(), theory.to_python(), theory.to_html(), theory.to_json()
boosted = steelyard.BoostedRulesClassifier(verbose=1)
display = steelyard.report.CriticalDifferenceDisplay
compare = lambda: display(["a", "b"], [1.2, 1.8], 0.5).plot()
for draw in (theory.plot, compare, lambda: boosted.fit(data.X, data.Y)):
    try:
        draw()
    except ImportError as error:
        print(error)
""")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"matplotlib {HOW} matplotlib",
        f"matplotlib {HOW} matplotlib",
        f"rich {HOW} rich",
    ]


def test_the_command_line_says_in_one_sentence_what_it_lacks():
    done = run_without("import runpy; runpy.run_module('steelyard', run_name='__main__')")
    assert done.returncode == 1
    assert done.stderr == f"error: typer {HOW} typer\n"


def test_the_command_line_needs_rich_for_tables_only():
    blocked = "import sys; sys.modules['rich'] = None\nfrom steelyard.cli import main\n"
    for arguments, code, err in (
        (["--help"], 0, ""),
        (["data", "show", "planted"], 1, f"error: rich {HOW} rich\n"),
    ):
        command = [sys.executable, "-c", f"{blocked}main({arguments})"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (code, err)


def test_a_fit_that_draws_nothing_needs_no_rich(tmp_path):
    blocked = "import sys; sys.modules['rich'] = None\nfrom steelyard.cli import main\n"
    options = ["--method", "boosted", "--max-rules", "5", "-o", str(tmp_path / "theory.json")]
    command = [sys.executable, "-c", f"{blocked}main({['fit', 'planted', *options]})"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, "rich" in done.stderr) == (0, False), done.stderr


def test_an_error_inside_an_installed_package_is_not_hidden():
    with pytest.raises(ModuleNotFoundError, match="No module named 'nowhere'"):  # noqa: SIM117
        with needed_here("matplotlib"):
            import nowhere  # noqa: F401


def test_the_extra_all_has_every_other_extra():
    path = ROOT / "pyproject.toml"
    extras = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    assert everything == f"steelyard[{','.join(sorted(extras))}]"
