"""Reading the page: names, scales, sizes, speed, and access by keyboard and screen reader."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pages import run, settle
from steelyard import Condition, Evidence, Feature, Head, Label, Rule, ScoredRule, Theory
from steelyard.report.page import write_page, write_theory_page
from steelyard.report.page.payload import study_to_payload
from steelyard.report.page.writing import build_page
from theories import many_rules

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = ("rules", "ask", "labels", "compare", "tradeoff")


@pytest.fixture(scope="module")
def study_page(two_studies):
    return write_page(two_studies)


def theory_of(*rules: ScoredRule, features, labels) -> Theory:
    return Theory(features, labels, rules)


# -- names and scales ------------------------------------------------------------------------------


def test_names_that_reverse_the_writing_affect_only_themselves(visit, tmp_path):
    name, label = "x\u202eevil", "l\u202eabel"
    rule = ScoredRule(Rule(Head(label), (Condition(name, "≥", 12.5),)), Evidence(3, 1), 0.5)
    theory = theory_of(rule, features=(Feature(name),), labels=(Label(label, 1, 4, 6),))
    X = pd.DataFrame({name: [1.0, 20.0]})
    page = visit(write_theory_page(theory, tmp_path / "p.html", X, [[0], [1]]))
    for view in ("rules", "ask", "labels"):
        page.locator(f"#tab-{view}").click()
        settle(page)
        loose = page.evaluate(
            """() => {
              const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
              const found = [];
              while (walker.nextNode()) {
                const node = walker.currentNode;
                const isIsolated = node.parentElement.closest('bdi, script, style, option, datalist');
                if (node.data.includes('\u202e') && !isIsolated) found.push(node.data);
              }
              return found;
            }"""
        )
        assert loose == []
    options = page.locator("option").all_text_contents()
    assert all(text.startswith("\u2068") for text in options if text.startswith("l"))


def test_a_baseline_beyond_the_cells_is_shown_beyond_their_colours(visit, two_studies, tmp_path):
    payload, blocks = study_to_payload(two_studies)
    cells = payload["datasets"][0]["mean"]["m-estimate"]["f1_micro"]
    better, worse = payload["datasets"][0]["baselines"][:2]
    better["values"]["f1_micro"] = max(cells) + 0.05
    worse["values"]["f1_micro"] = min(cells) - 0.05
    file = tmp_path / "page.html"
    file.write_text(build_page(payload, blocks), encoding="utf-8")
    page = visit(file, "#measure=f1_micro")
    ramp = page.locator("#legend-ramp")
    start, width = (float(ramp.get_attribute(name)) for name in ("x", "width"))
    place = {
        name: float(page.locator(f'[data-reference="{name}"]').get_attribute("data-at"))
        for name in (better["name"], worse["name"])
    }
    assert place[better["name"]] > start + width + 5
    assert place[worse["name"]] < start - 5


@pytest.mark.parametrize("measure", ["f1_micro", "n_rules"])
def test_ranks_of_the_page_are_those_of_the_figures(visit, two_studies, study_page, measure):
    page = visit(study_page, f"#measure={measure}&scale=rank&theory=cell")
    ranks = two_studies.cells(measure, "m-estimate").mean_rank
    best = np.argmin(ranks.T.ravel()) if measure == "f1_micro" else np.argmax(ranks.T.ravel())
    read_colours = "all => all.map(c => c.getAttribute('fill'))"
    colours = page.locator("#map rect.cell").evaluate_all(read_colours)
    assert colours[best] == "rgb(254,232,56)"
    page.locator('#map rect.cell[data-p="1"][data-phi="2"]').click()
    label = page.locator("#map-drawing").get_attribute("aria-label")
    assert float(label.rpartition(":")[2]) == pytest.approx(ranks[2, 1], abs=0.0501)
    assert "over 2 data sets" in page.locator("#map-note").inner_text()


def test_findings_say_on_how_many_data_sets(visit, study_page):
    page = visit(study_page)
    assert "2 data sets" in page.locator("#findings summary").inner_text()


def test_no_header_of_a_table_is_empty(visit, study_page):
    page = visit(study_page)
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        settle(page)
        assert all(text.strip() for text in page.locator("th").all_text_contents())


def test_labels_without_a_rule_are_listed_with_what_is_predicted(visit, tmp_path):
    rule = ScoredRule(Rule(Head("a"), (Condition("x", "≥", 1.0),)), Evidence(3, 1), 0.5)
    labels = (Label("a", 1, 4, 6), Label("rare", 1, 1, 9, 1, 9), Label("common", 0, 2, 8, 2, 8))
    theory = theory_of(rule, features=(Feature("x"),), labels=labels)
    X = pd.DataFrame({"x": [1.0, 0.0]})
    page = visit(write_theory_page(theory, tmp_path / "p.html", X, [[0, 0, 1], [1, 0, 1]]))
    text = page.locator("#silent-labels").inner_text()
    assert "2 labels without a rule" in text
    assert "rare: never predicted" in text
    assert "common: always predicted" in text


def test_the_theory_to_use_says_what_to_expect_of_it(visit, two_studies, study_page):
    page = visit(study_page)
    assert page.locator("#theory").input_value() == "use-f1_micro"
    tuned = two_studies.tuned.query(
        "dataset == 'planted' and tuned_for == 'f1_micro' and measure == 'f1_micro'"
    )
    text = page.locator("#expectation").inner_text()
    assert f"{100 * tuned['value'].mean():.1f}" in text
    assert "over 2 test folds" in text
    assert "learned on all" in page.locator("#rules-headline").inner_text()
    assert page.locator("#rules .rule .unseen").count() > 0


def test_counts_of_a_cell_are_those_of_its_test_fold(visit, two_studies, study_page):
    page = visit(study_page, "#data=planted&theory=cell&parameter=4&phi=1")
    theory = two_studies.paths["planted"].theory(1, 1.0)
    examples = two_studies.examples("planted")
    n = examples["n_held_out"]
    X = pd.DataFrame(examples["rows"][:n], columns=examples["features"])
    Y = pd.DataFrame(examples["truth"][:n], columns=examples["labels"])
    counted = theory.recount(X, Y)
    expected = [f"{s.tp} right {s.fp} wrong" for s in counted]
    while page.locator("#more-rules button").count():
        page.locator("#more-rules button").click()
    shown = page.locator("#rules .rule .unseen").all_text_contents()
    assert sorted(shown) == sorted(expected)
    page.locator("#tab-labels").click()
    settle(page)
    frame = counted.evidence_from.judgement.to_frame().set_index("label")
    for text in page.locator("#labels tbody tr").all_inner_texts():
        name, *_, f1 = text.split("\t")
        assert float(f1) == pytest.approx(100 * frame.loc[name, "f1"], abs=0.501)


# -- finding and comparing -------------------------------------------------------------------------


def test_the_map_is_filtered_by_size_measure_and_attribute(visit, two_studies, study_page):
    page = visit(study_page, "#data=planted")
    rules = two_studies.cells("n_rules", "m-estimate").of("planted").values[0]
    page.locator("#filters summary").click()
    page.locator("#filter-rules").fill(str(int(np.median(rules))))
    settle(page)
    n_small = int((rules.round(2) <= int(np.median(rules))).sum())
    assert page.locator("#map .cell:not(.dim)").count() == n_small
    assert f"{n_small} of 9" in page.locator("#filter-note").inner_text()
    page.locator("#clear-filter").click()
    settle(page)
    path = two_studies.paths["planted"]
    attribute = path.coded.used_features[0].name
    uses = sum(
        any(c.feature == attribute for s in path.theory(h, phi) for c in s.body)
        for h in range(path.shape[0])
        for phi in path.phis
    )
    page.locator("#filter-attribute").fill(attribute)
    page.locator("#filter-attribute").press("Tab")
    settle(page)
    assert page.locator("#map .cell:not(.dim)").count() == uses


def test_a_region_of_the_map_is_selected_by_dragging(visit, study_page):
    page = visit(study_page, "#data=planted")
    first, last = (
        page.locator(f'#map rect.cell[data-p="{i}"][data-phi="{i}"]').bounding_box() for i in (0, 1)
    )
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=4)
    page.mouse.up()
    settle(page)
    assert page.locator("#map .cell:not(.dim)").count() == 4
    assert page.locator("#theory").input_value() == "use-f1_micro"  # no cell was chosen


def test_a_region_of_the_map_is_selected_with_keys(visit, study_page):
    page = visit(study_page, "#data=planted&theory=cell&parameter=0&phi=1")
    page.keyboard.press("m")
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown"):
        page.keyboard.press(key)
    settle(page)
    assert "6 of 9 theories" in page.locator("#filter-note").inner_text()
    assert page.locator("#map .cell:not(.dim)").count() == 6
    assert "parameter=0&phi=1" in page.url
    page.keyboard.press("Escape")
    settle(page)
    assert page.locator("#map .cell.dim").count() == 0


def test_baselines_show_counts_on_the_test_folds(visit, two_studies, study_page):
    page = visit(study_page, "#data=planted&theory=R3")
    first = Theory.from_json(two_studies.folder / "theories" / "planted" / "R3.json").rules[0]
    counts = f"unseen: {first.held_out.tp} right {first.held_out.fp} wrong"
    assert counts in page.locator("#rules .evidence").first.inner_text()
    page.locator("#tab-labels").click()
    settle(page)
    assert "No held-out values" not in page.locator("#labels").inner_text()


def test_two_methods_are_compared_by_measures_examples_and_groups(visit, two_studies, study_page):
    page = visit(study_page, "#data=other&view=compare&with=R2&by=bruised")
    page.wait_for_selector("#compare-measures")
    examples = two_studies.examples("other")
    X = pd.DataFrame(examples["rows"], columns=examples["features"])
    Y = pd.DataFrame(examples["truth"], columns=examples["labels"])
    folder = two_studies.folder / "theories" / "other"
    here, there = (Theory.from_json(folder / f"{name}.json") for name in ("use-f1_micro", "R2"))
    n_differ = len(here.compare(there, X).rows)
    assert n_differ > 0
    assert f"differ for {n_differ} of {len(X)}" in page.locator("#differing summary").inner_text()
    rows = [text.split("\t") for text in page.locator("#compare-measures tr").all_inner_texts()]
    shown = {row[0]: row[1:] for row in rows}
    for theory, text in zip((here, there), shown["Micro F1, %"], strict=True):
        value = 100 * theory.evaluate(X, Y).measures["f1_micro"]
        assert float(text) == pytest.approx(value, abs=0.0501)
    groups = [text.split("\t") for text in page.locator("#slice-table tbody tr").all_inner_texts()]
    for name, n, f1, *_ in groups:
        own = (X["bruised"] == name).to_numpy()
        assert int(n) == own.sum()
        value = 100 * here.evaluate(X[own], Y[own]).measures["f1_micro"]
        assert float(f1) == pytest.approx(value, abs=0.0501)


def test_theories_of_another_data_set_can_be_compared(visit, study_page):
    page = visit(study_page, "#data=planted&view=compare&with=1/use-f1_micro")
    page.wait_for_selector("#compare-measures")
    assert page.locator("#compare-measures tbody tr").count() == 2


# -- sizes and speed -------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [390, 800, 900])
def test_a_chosen_cell_changes_something_in_sight_of_a_narrow_window(visit, study_page, width):
    page = visit(study_page, "#data=planted&theory=cell", viewport={"width": width, "height": 800})
    cell = page.locator('#map rect.cell[data-p="2"][data-phi="2"]')
    cell.scroll_into_view_if_needed()
    bar = page.locator("#cell-bar-text")
    before = bar.inner_text()
    cell.click()
    settle(page)
    assert bar.inner_text() != before
    box = bar.bounding_box()
    assert 0 <= box["y"] <= 800 - box["height"]
    page.locator("#cell-bar button").click()
    settle(page)
    assert page.locator("#rules-headline").bounding_box()["y"] < 800


def test_of_ten_thousand_rules_only_those_in_sight_are_drawn(visit, tmp_path):
    theory = many_rules(10_000, "any-rule")
    X = pd.DataFrame({"x": np.arange(4.0)})
    page = visit(write_theory_page(theory, tmp_path / "p.html", X, [[0], [1], [0], [1]]))
    assert "10,000 rules" in page.locator("#rules-headline").inner_text()
    assert page.locator("#rules .rule").count() <= 240
    seconds = run(
        page,
        """async () => {
          const start = performance.now();
          for (let i = 0; i < 5; i += 1) {
            window.scrollTo(0, document.body.scrollHeight);
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          }
          return (performance.now() - start) / 1000;
        }""",
    )
    assert seconds < 3
    assert 60 < page.locator("#rules .rule").count() < 2000


PRESS = """(key) => {
  const map = document.getElementById('map');
  map.focus();
  map.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
}"""


def test_an_arrow_key_is_answered_within_50_ms_on_hundreds_of_labels(visit, two_studies, tmp_path):
    payload, blocks = study_to_payload(two_studies)
    cells = blocks["planted"]["cells"]
    n_labels = len(cells["labels"])
    cells["labels"] = [[f"label {i}", 1, 20, 80] for i in range(174)]
    for i, rule in enumerate(cells["rules"]):
        rule[0] = i % 174
    assert n_labels < 174
    file = tmp_path / "page.html"
    file.write_text(build_page(payload, blocks), encoding="utf-8")
    page = visit(file, "#data=planted&theory=cell")
    devtools = page.context.new_cdp_session(page)
    # Time of the processor: other programs may be busy.
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def milliseconds() -> float:
        metrics = devtools.send("Performance.getMetrics")["metrics"]
        return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    took = []
    for key in ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"] * 3:
        start = milliseconds()
        page.evaluate(PRESS, key)
        settle(page)  # all is drawn, the rules too
        took.append(milliseconds() - start)
    assert min(took) < 50  # the others are slower if other programs use the same cache


def test_the_map_answers_a_key_before_the_rules_are_drawn(visit, study_page):
    page = visit(study_page, "#data=planted&theory=cell&parameter=4&phi=0.5")
    first = page.locator("#rules-headline").inner_text()
    script = f"""async () => {{
      ({PRESS})('ArrowRight');
      const marked = document.getElementById('here-parameter').textContent;
      return [marked, document.getElementById('rules-headline').textContent];
    }}"""
    marked, rules = run(page, script)
    assert "524288" in marked
    assert rules == first
    settle(page)
    assert "524288" in page.locator("#rules-headline").inner_text()


def test_a_page_that_never_paints_is_an_error(browser):
    page = browser.new_page()
    try:
        page.set_content("<body></body>")
        page.evaluate("window.requestAnimationFrame = () => 0")
        with pytest.raises(Exception, match="Timeout 300ms exceeded"):
            run(page, "() => new Promise((done) => requestAnimationFrame(done))", patience=300)
    finally:
        page.close()


# -- access ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def axe() -> str:
    """The checks of axe-core; a skip without npm, a failure where it must be."""
    if not AXE.exists():
        reason = "axe-core is missing: make lint-page installs it, which needs npm"
        if os.environ.get("STEELYARD_REQUIRE_DATA") and shutil.which("npm"):
            pytest.fail(reason)
        pytest.skip(reason)
    return AXE.read_text(encoding="utf-8")


RUN_AXE = """async () => {
  const found = await axe.run(document, { resultTypes: ['violations'] });
  const describe = ({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ''}`;
  return found.violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(describe)].join(' | '));
}"""


# A theme is meant to change colours only, so the dark one is checked at one width.
@pytest.mark.parametrize(
    ("theme", "width"), [("light", 390), ("light", 900), ("light", 1400), ("dark", 1400)]
)
def test_axe_finds_no_violation(visit, study_page, axe, theme, width):
    viewport = {"width": width, "height": 900}
    page = visit(study_page, "#data=planted", viewport=viewport, color_scheme=theme)
    page.evaluate(axe)
    page.locator("#help summary").click()
    page.locator("#filters summary").click()
    page.locator('#rules [data-action="drop"]').first.click()
    settle(page)
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        settle(page)
        if view == "ask":
            page.locator("#answers summary").first.click()
        if view == "compare":
            page.select_option("#other", "R3")
            page.wait_for_selector("#compare-measures")
            page.select_option("#slice", index=1)
            settle(page)
        assert run(page, RUN_AXE, patience=60_000) == [], view
    page.locator("#tab-rules").click()
    settle(page)
    page.locator('#rules [data-action="change"]').first.click()
    assert run(page, RUN_AXE, patience=60_000) == [], "editor"


# Kind, colour and colour behind it, of all texts of chips.
COLOURS = """() => [...document.querySelectorAll('.chip, .chip *')].map((node) => {
  const behind = (one) => {
    const colour = getComputedStyle(one).backgroundColor;
    return /, 0\\)$/.test(colour) ? behind(one.parentElement) : colour;
  };
  const { color, opacity } = getComputedStyle(node);
  return [node.closest('.chip').className, color, behind(node), opacity];
})"""


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    shares = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(
        weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chips_have_the_contrast_that_wcag_asks_for(visit, tmp_path, theme):
    rules = (rule_for("right"), rule_for("wrong"))
    labels = tuple(Label(name, 1, 1, 1, 0, 1) for name in ("right", "wrong", "missed"))
    theory = theory_of(*rules, features=(Feature("x"),), labels=labels)
    page = visit(
        write_theory_page(theory, tmp_path / "p.html", pd.DataFrame({"x": [1.0]}), [[1, 0, 1]]),
        "#view=ask",
        color_scheme=theme,
    )
    kinds = set()
    for _ in range(2):
        for kind, text, behind, opacity in run(page, COLOURS):
            kinds.add(kind.removeprefix("chip "))
            light, dark = sorted((luminance(text), luminance(behind)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (kind, text, behind)
            assert opacity == "1"
        page.locator("#random-case").click()
        settle(page)
    assert kinds == {"correct", "false-positive", "missed", "predicted"}


def rule_for(label: str) -> ScoredRule:
    return ScoredRule(Rule(Head(label), (Condition("x", "≥", 0.0),)), Evidence(1, 0), 1.0)


def test_a_rule_is_changed_with_the_keyboard_alone(visit, study_page):
    page = visit(study_page, "#data=planted")
    page.locator('#rules [data-action="change"]').first.focus()
    page.keyboard.press("Enter")
    page.locator("#editor [data-remove]").first.focus()
    page.keyboard.press("Space")
    page.locator("#editor-save").focus()
    page.keyboard.press("Enter")
    settle(page)
    assert page.locator("#rules .rule.edited").count() == 1
    assert page.locator("#announcer").text_content() == "changed a rule"
    page.keyboard.press("Control+z")
    settle(page)
    assert page.locator("#rules .rule.edited").count() == 0
    assert re.search(r"0 edits", page.locator("#scores").inner_text())


def test_the_focus_stays_where_it_was_when_a_key_changes_the_page(visit, study_page):
    page = visit(study_page, "#data=planted")
    focused = """() => {
      const node = document.activeElement;
      return [node.closest('[data-rule]')?.dataset.rule, node.dataset.action, node.ariaLabel];
    }"""
    button = page.locator('#rules [data-action="keep"]').first
    button.focus()
    key, *_ = run(page, focused)
    page.keyboard.press("Enter")
    settle(page)
    # A rule that is kept has no such button any more; the next one of the rule has the focus.
    assert run(page, focused)[:2] == [key, "drop"]
    page.keyboard.press("Enter")
    settle(page)
    assert run(page, focused)[:2] == [key, "restore"]
    page.locator('[aria-label="the cell to the left"]').focus()
    page.keyboard.press("Enter")
    settle(page)
    assert run(page, focused)[2] == "the cell to the left"
    page.locator("#tab-ask").click()
    settle(page)
    page.locator('[aria-label="next example"]').focus()
    page.keyboard.press("Enter")
    settle(page)
    assert run(page, focused)[2] == "next example"


def test_an_edit_is_of_one_data_set_only(visit, study_page):
    page = visit(study_page, "#data=planted&theory=use-f1_micro")
    page.get_by_role("button", name="Reject", exact=False).first.click()
    settle(page)
    edits = page.evaluate("location.hash")
    assert "edits=" in edits
    other = visit(study_page, edits.replace("data=planted", "data=other"))
    headline = visit(study_page, "#data=other&theory=use-f1_micro").locator("#rules-headline")
    assert other.locator("#rules-headline").inner_text() == headline.inner_text()
