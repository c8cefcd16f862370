"""Matplotlib without a window, a browser for pages, and a small study of two data sets."""

import os
import shutil
from pathlib import Path

import matplotlib
import pytest

from steelyard.report.build import write_report
from steelyard.study import StudyConfig, StudyResults, run_study

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def two_studies(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Two data sets, few cells."""
    table = tmp_path_factory.mktemp("data") / "other.csv"
    from steelyard import make_planted_rules

    data = make_planted_rules(150, random_state=3)
    data.X.join(data.Y).to_csv(table, index=False)
    config = StudyConfig(
        ("planted", str(table)),
        labels=tuple(data.label_names),
        parameters=(0.0, 4.0, 524288.0),
        phis=(1.0, 0.5, 0.1),
        folds=2,
        n_candidates=300,
        tune=("f1_micro", "recall_macro"),
        inner_folds=2,
        baselines=("ripper",),
    )
    return run_study(config, tmp_path_factory.mktemp("study") / "two")


@pytest.fixture(scope="session")
def written_report(two_studies: StudyResults) -> Path:
    """The folder of the study with its report."""
    assert write_report(two_studies) == two_studies.folder / "index.html"
    return two_studies.folder


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, driven by Playwright; a skip without it, a failure where it must be."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        if os.environ.get("STEELYARD_REQUIRE_DATA"):
            pytest.fail("STEELYARD_REQUIRE_DATA is set, but there is no chromium")
        pytest.skip("there is no chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        # With scrollbars, because most browsers show them and they make the page narrower.
        browser = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox"],
            ignore_default_args=["--hide-scrollbars"],
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Open a page; afterwards check that it logged nothing and loaded nothing."""
    complaints, requests, contexts = [], [], []

    def open_file(file, hash_="", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(5000)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri() + hash_)
        page.wait_for_selector("body[data-rendered]", state="attached")
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
