"""Names are data: no label or data set stops a report, steers a terminal or becomes a formula."""

import csv
import io
import warnings

import numpy as np
import pandas as pd
import pytest

from steelyard import make_planted_rules
from steelyard.report import CoverageSpaceDisplay, figures
from steelyard.report.build import write_report
from steelyard.report.layout import new_panels
from steelyard.report.styles import get_style
from steelyard.report.text_table import TextTable
from steelyard.study import StudyConfig, run_study

NAMES = [
    "50% $ and 20% $",
    "\ufefflabel",
    "[/red]",
    "\x1b[31mred\x9b0m",
    "a\nb|c",
    "=1+2",
    "NA",
    "None",
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A study whose labels and attributes have such names."""
    folder = tmp_path_factory.mktemp("hostile")
    data = make_planted_rules(80, random_state=0)
    X = data.X.set_axis([*(f"{name} in X" for name in NAMES), "NA", "colour"], axis=1)
    names = [*NAMES[:6], "None", "for $ [b]"]
    Y = pd.DataFrame(np.hstack([data.Y, data.Y]), columns=names)
    X.join(Y).to_csv(folder / "[bold]table.csv", index=False)
    config = StudyConfig(
        (str(folder / "[bold]table.csv"),),
        labels=tuple(Y.columns),
        parameters=(2.0,),
        phis=(1.0,),
        folds=2,
        n_candidates=60,
        tune=("f1_micro",),
        inner_folds=2,
    )
    return run_study(config, folder / "out", n_jobs=1)


@pytest.mark.parametrize("label", [*NAMES[:6], "None"])
def test_every_label_can_be_drawn(hostile, label):
    counts, (path,) = hostile.candidate_counts("_bold_table"), hostile.paths.values()
    display = CoverageSpaceDisplay.from_path(counts, path, label, path.heuristics[0])
    display.plot(ax=new_panels(get_style())[0, 0])
    assert set(figures.render_figure(display.figure_)) == {".png", ".pdf"}


@pytest.mark.usefixtures("unprinted")  # the test above prints the labels
def test_a_report_and_its_tables_take_every_label(hostile, run):
    for label in ("[/red]", "a\nb|c"):
        code, out, err = run("report", hostile.folder, "--label", label)
        assert (code, "\x1b[31m" in out + err) == (0, False), err
    lines = (hostile.folder / "tables" / "rule_sets.md").read_text("utf-8").splitlines()
    assert "a b\\|c" in lines[0]


def test_names_do_not_steer_the_terminal(hostile, run):
    file = hostile.folder / "theories" / "_bold_table" / "fold-1.json.gz"
    cell = ("--parameter", "2", "--phi", "1")
    for command in ("rules", "rules --json"):
        code, out, _ = run(*command.split(), file, *cell)
        assert code == 0
        assert not set("\x1b\x9b") & set(out)
        assert "\\u001b[31mred\\u009b0m" in out
    source = hostile.folder.parent / "[bold]table.csv"
    labels = ("--labels", ",".join(NAMES[:1]))
    code, out, err = run("evaluate", file, source, *cell, *labels)
    assert "[bold]table" in out + err
    assert "Traceback" not in err


@pytest.mark.usefixtures("unprinted")
def test_the_page_does_not_depend_on_figures(hostile, monkeypatch):
    def fail(*_):
        raise IndexError("string index\nout of range")

    monkeypatch.setattr(figures, "_draw_ranks", fail)
    (hostile.folder / "index.html").unlink(missing_ok=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write_report(hostile)
    texts = [str(w.message) for w in caught]
    assert "cannot draw the figure ranks-accuracy: string index out of range" in texts
    assert (hostile.folder / "index.html").exists()
    assert (hostile.folder / "figures" / "values-_bold_table.png").exists()


def test_no_cell_of_a_csv_is_a_formula():
    table = TextTable("t", ["=a", "b"], [["@x", "-0.5"], ["+1", "-cmd"], ["NA", "None"]])
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows == [["'=a", "b"], ["'@x", "-0.5"], ["+1", "'-cmd"], ["NA", "None"]]
