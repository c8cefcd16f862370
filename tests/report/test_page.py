"""The page in a real browser: a click shows that theory's rules, and names are only ever text."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest

from pages import run, settle
from steelyard import Constraints, RuleSetClassifier, TheoryPath, make_planted_rules
from steelyard.report.page import write_page
from steelyard.report.page.payload import _describe_measure, study_to_payload
from steelyard.report.page.writing import build_page, fit_parts, to_json
from steelyard.study import StudyConfig, StudyResults, load_study, run_study
from steelyard.study.to_use import read_theories_to_use

EVIL = "</script><img src=x onerror=alert(1)>"
LABELS = ("L1", "L<2>", "{{script}}")
PARAMETERS = (0.0, 4.0, 64.0, 1024.0)
PHIS = (1.0, 0.75, 0.5, 0.25)


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> StudyResults:
    """A small study of two data sets, one of them with hostile names and missing values."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {EVIL: rng.normal(size=150), "colour": rng.choice(["red", "a\"b'<b>", "&amp;"], 150)}
    )
    X["word"] = (rng.random(150) < 0.4).astype(float)
    X.loc[rng.random(150) < 0.1, EVIL] = np.nan
    Y = {
        LABELS[0]: (X[EVIL] > 0.3) ^ (rng.random(150) < 0.1),
        LABELS[1]: (X["colour"] == "red") ^ (rng.random(150) < 0.1),
        LABELS[2]: (X["word"] > 0) | (X[EVIL] > -0.5),
    }
    X.assign(**{name: values.astype(int) for name, values in Y.items()}).to_csv(
        folder / "evil.csv", index=False
    )
    config = StudyConfig(
        (str(folder / "evil.csv"), "planted"),
        labels=LABELS,
        folds=3,
        n_candidates=300,
        parameters=PARAMETERS,
        phis=PHIS,
        tune=("f1_micro", "f1_macro"),
        baselines=("ripper",),
    )
    return run_study(config, folder / "results", n_jobs=1)


@pytest.fixture(scope="module")
def page_file(study):
    return write_page(study)


def subset(study: StudyResults, folder, rows: pd.DataFrame) -> StudyResults:
    """A study with these rows only: no theories, no examples, nothing tuned, no baselines."""
    none = study.tuned.iloc[:0], study.baselines.iloc[:0]
    return StudyResults(folder, study.config, rows, *none, study.run)


# -- the file --------------------------------------------------------------------------------------


def test_the_page_is_one_small_file_that_loads_nothing(page_file):
    text = page_file.read_text(encoding="utf-8")
    assert page_file.name == "index.html"
    assert len(text.encode()) < 500_000
    assert not re.findall(r'(?:src|href)\s*=\s*["\']?(?:https?:)?//', text)
    assert "default-src 'none'" in text


def test_names_do_not_reach_the_page_as_markup(page_file):
    text = page_file.read_text(encoding="utf-8")
    assert "<img" not in text
    assert text.count("</script>") == text.count("<script")
    assert "\\u003c/script\\u003e\\u003cimg" in text


def test_a_loaded_study_gives_the_same_page(study, page_file):
    first = page_file.read_bytes()
    assert write_page(load_study(study.folder)).read_bytes() == first


def test_json_in_the_page_is_the_data():
    data = {"a": [EVIL, "\u2028\u2029", "\ud800", 0.1, None, "{{data}}"]}
    text = to_json(data)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text)["a"][:2] == data["a"][:2]


def list_parts(blocks):
    return {(part, name): data for name, parts in blocks.items() for part, data in parts.items()}


def test_parts_are_compressed_then_omitted_the_least_important_first(study):
    payload, blocks = study_to_payload(study)
    assert set(blocks) == {"evil", "planted"}
    parts = list_parts(blocks)
    size = sum(len(to_json(data).encode()) for data in parts.values())
    assert {kind for kind, _ in fit_parts(parts, size).values()} == {"application/json"}
    packed = fit_parts(parts, size - 1)
    assert {kind for kind, _ in packed.values()} == {"application/gzip"}
    room = sum(len(content) for (part, _), (_, content) in packed.items() if part != "exports")
    assert {part for part, _ in fit_parts(parts, room)} == {"theories", "cells"}
    room = sum(len(content) for (part, _), (_, content) in packed.items() if part == "theories")
    assert {part for part, _ in fit_parts(parts, room)} == {"theories"}
    assert fit_parts(parts, 10) == {}
    bounded = build_page(payload, blocks, max_bytes=0)
    assert '"embedded":[]' in bounded


def test_a_study_without_theories_tuning_or_baselines_has_a_page(study, tmp_path):
    bare = subset(study, tmp_path, study.results)
    payload, theories = study_to_payload(bare)
    assert theories == {}
    assert payload["datasets"][0]["tuned"] == payload["datasets"][0]["baselines"] == []
    assert write_page(bare).exists()


def test_a_rule_has_one_condition_per_feature(study):
    _, blocks = study_to_payload(study)
    path, cells, core = study.paths["evil"], blocks["evil"]["cells"], blocks["evil"]["theories"]
    assert len(cells["rules"]) == len(path.tp)
    for label, tp, fp, *conditions in cells["rules"]:
        assert 0 <= label < len(LABELS)
        assert tp >= 0
        assert fp >= 0
        features = [condition[0] for condition in conditions]
        assert len(set(features)) == len(features)
        for f, low, *rest in conditions:
            _, categories, *_ = [*core["features"][f], None]
            if categories is None:
                assert low is None or rest[0] is None or low < rest[0]
            else:
                assert rest == []
                assert all(0 <= code < len(categories) for code in low)


# -- in the browser --------------------------------------------------------------------------------


@pytest.fixture
def open_page(visit, page_file):
    """Open the page of the study at a hash."""

    def open_at(hash_="", file=page_file, **options):
        return visit(file, hash_, **options)

    return open_at


def read_path(study, dataset="evil") -> TheoryPath:
    file = study.folder / "theories" / dataset / "fold-1.json.gz"
    return TheoryPath.from_json(gzip.decompress(file.read_bytes()).decode())


def click_cell(page, p: int, phi: int) -> None:
    page.locator(f'#map rect.cell[data-p="{p}"][data-phi="{phi}"]').click()
    settle(page)


def shown_rules(page) -> int:
    while page.locator("#more-rules button").count():
        page.locator("#more-rules button").click()
    return page.locator("#rules .rule:not(.rejected)").count()


def headline(page) -> str:
    return page.locator("#rules-headline").inner_text()


@pytest.mark.parametrize(("p", "phi"), [(0, 0), (1, 2), (3, 3)])
def test_a_click_on_a_cell_shows_the_rules_of_that_theory(open_page, study, p, phi):
    theory = read_path(study).theory(p, PHIS[phi])
    page = open_page("#data=evil")
    click_cell(page, p, phi)
    assert f"phi={PHIS[phi]:g}" in page.url
    assert headline(page).startswith(f"{len(theory)} rule")
    assert shown_rules(page) == len(theory)
    counts = page.locator("#rules .rule:not(.rejected) .counts").all_text_contents()
    expected = [f"{s.tp} right {s.fp} wrong" for s in theory.rules]
    assert sorted(" ".join(text.split()) for text in counts) == sorted(expected)


def test_names_show_as_text(open_page):
    page = open_page("#data=evil&parameter=0&phi=1")
    assert EVIL in page.locator("#rules").inner_text()
    assert page.locator("img").count() == 0
    headings = page.locator("#rules h3").all_inner_texts()
    assert any("L<2>" in text for text in headings)
    assert any("{{script}}" in text for text in headings)


def test_a_word_is_shown_as_its_name_or_its_negation(open_page):
    page = open_page("#data=evil&parameter=0&phi=1")
    text = page.locator("#rules").inner_text()
    assert "word at least" not in text
    assert "word below" not in text
    assert "word" in text
    assert "colour is red" in text


def test_switching_the_measure_recolours_the_map(open_page):
    page = open_page("#data=evil&parameter=4&phi=0.5")
    colours = "[...document.querySelectorAll('.cell')].map(c => c.getAttribute('fill')).join()"
    before = page.evaluate(colours)
    page.select_option("#measure", "n_rules")
    assert page.evaluate(colours) != before
    assert "measure=n_rules" in page.url
    assert "Number of rules of m = 4" in page.locator("#map-drawing").get_attribute("aria-label")


def test_arrow_keys_move_on_the_map(open_page):
    page = open_page("#data=evil&parameter=4&phi=0.75")
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    assert "parameter=64" in page.url
    page.keyboard.press("ArrowDown")
    assert "phi=0.5" in page.url
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert "parameter=4&phi=0.75" in page.url
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    assert "parameter=0&" in page.url


def test_tabs_and_search_are_reached_by_keys(open_page):
    page = open_page("#data=evil")
    page.keyboard.press("5")
    settle(page)
    assert page.locator("#tradeoff figure").count() == 2
    page.locator("#tab-ask").focus()
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    assert page.locator("#tab-labels").get_attribute("aria-selected") == "true"
    page.keyboard.press("/")
    page.keyboard.type("colour is red")
    settle(page)
    assert "search=colour" in page.url
    assert all("red" in text for text in page.locator("#rules .body").all_inner_texts())


def test_a_link_opens_the_view_that_it_was_copied_from(open_page):
    page = open_page("#data=planted&parameter=64&phi=0.5&measure=hamming&view=ask&example=3")
    assert page.locator("#dataset option:checked").inner_text() == "planted"
    assert page.locator("#measure").input_value() == "hamming"
    assert "3 of" in page.locator("#ask-start .stepper").inner_text()
    assert "(m): 64" in page.locator("#here").inner_text()
    link = page.url
    again = open_page(link[link.index("#") :])
    assert again.locator("#answers").inner_text() == page.locator("#answers").inner_text()


@pytest.mark.parametrize(
    "nonsense", ["#", "#phi=7&parameter=x&data=none&view=none&example=-3", "#label=" + "%3Cb%3E"]
)
def test_a_broken_link_opens_the_page_all_the_same(open_page, nonsense):
    assert open_page(nonsense).locator(".cell").count() == len(PARAMETERS) * len(PHIS)


def test_a_comparison_with_the_neighbouring_cell_adds_up(open_page, study):
    path = read_path(study)
    here, left = ({scored.rule for scored in path.theory(p, 0.75)} for p in (2, 1))
    page = open_page("#data=evil&parameter=64&phi=0.75")
    assert "rules in both" not in page.locator("main").inner_text()  # off until asked for
    page.locator("#tab-compare").click()
    settle(page)
    page.select_option("#other", "left")
    settle(page)
    headline = page.locator("#compare-headline").inner_text()
    both, only_here, only_there = map(int, re.findall(r"\d+", headline))
    assert (both, only_here, only_there) == (
        len(here & left),
        len(here - left),
        len(left - here),
    )
    assert page.locator("#only-here li").count() == only_here
    assert "with=left" in page.url


def test_buttons_go_to_the_best_cell_and_to_the_theory_to_use(open_page, study):
    rows = study.results
    rows = rows[(rows.dataset == "planted") & (rows.measure == "hamming")]
    best = rows.groupby(["parameter", "phi"])["value"].mean().round(4)
    page = open_page("#data=planted")
    page.locator('[data-best="hamming"]').click()
    hash_ = dict(part.split("=") for part in page.url.split("#")[1].split("&"))
    assert hash_["theory"] == "cell"
    assert best[float(hash_["parameter"]), float(hash_["phi"])] == best.max()
    settle(page)
    assert "hindsight" in page.locator("#theory-about").inner_text()
    page.locator('[data-tuned="f1_micro"]').click()
    (used, *_) = read_theories_to_use(study.folder, "planted")
    choice = used.choice
    assert "theory=use-f1_micro" in page.url
    assert f"parameter={choice.parameter:g}&phi={choice.phi:g}" in page.url
    # A measure that was tuned for has a best cell, too.
    page.locator('[data-best="f1_macro"]').click()
    assert "measure=f1_macro" in page.url


def test_values_of_baselines_are_next_to_the_theory_s(open_page):
    page = open_page("#data=planted")
    headings = page.locator("#summary thead th").all_inner_texts()
    assert headings[:3] == ["measure", "here", "best cell (hindsight)"]
    assert {"R1", "R2", "R3"} <= set(headings)
    assert page.locator("#legend .reference").count() == 3


@pytest.mark.parametrize("dataset", ["evil", "planted"])
def test_the_page_predicts_what_the_theory_predicts(open_page, study, dataset):
    examples = json.loads((study.folder / "examples" / f"{dataset}.json").read_text())
    X = pd.DataFrame(examples["rows"], columns=examples["features"])
    theory = read_path(study, dataset).theory(1, 0.75)
    predicted = theory.predict(X)
    page = open_page(f"#data={dataset}&parameter=4&phi=0.75&view=ask")
    for i in range(6):
        page.select_option("#example", str(i))
        settle(page)
        chips = page.locator(".chip.correct, .chip.false-positive").all_inner_texts()
        names = {re.sub(r" (correct|false positive)$", "", text)[2:] for text in chips}
        assert names == {name for name in predicted if predicted[name].iloc[i]}


def test_the_explanation_names_the_condition_that_failed(open_page):
    page = open_page("#data=evil&parameter=4&phi=0.5&view=ask")
    page.locator("#answers summary").first.click()
    assert "requires" in page.locator("#answers .failing").first.inner_text()


def test_the_label_view_draws_the_rules_in_coverage_space(open_page, study):
    theory = read_path(study).theory(1, 1.0)
    page = open_page("#data=evil&parameter=4&phi=1&view=labels&label=L1")
    assert page.locator("#labels .rule-dot").count() == len(theory.rules_of("L1"))
    assert page.locator("#labels tbody tr").count() == 3
    page.locator("#labels tbody button", has_text="L<2>").click()
    settle(page)
    assert page.locator("#labels .rule-dot").count() == len(theory.rules_of("L<2>"))


def test_a_point_of_the_scatter_has_the_colour_of_its_cell_and_chooses_it(open_page):
    page = open_page("#data=evil&view=tradeoff")
    colours = """(kind) => Object.fromEntries([...document.querySelectorAll(kind)]
      .map((node) => [`${node.dataset.p} ${node.dataset.phi}`, node.getAttribute('fill')]))"""
    cells, dots = (run(page, colours, kind) for kind in (".cell", "#figure-size .dot"))
    assert len(set(cells.values())) > 3
    assert cells == dots
    page.locator('#figure-size .dot[data-p="3"][data-phi="1"]').dispatch_event("click")
    assert "parameter=1024&phi=0.75" in page.url


def test_average_rank_is_shown_for_several_data_sets(open_page):
    page = open_page("#data=evil")
    page.select_option("#scale", "rank")
    assert "scale=rank" in page.url
    assert "%" not in page.locator("#legend").inner_text()


def test_downloads_are_created_in_the_browser(open_page):
    page = open_page("#data=evil&parameter=4&phi=0.75")
    with page.expect_download() as download:
        page.locator("#save-map-csv").click()
    table = pd.read_csv(download.value.path())
    assert len(table) == len(PARAMETERS) * len(PHIS)
    assert table["f1_micro"].between(0, 1).all()
    for button, start in [("SVG", b"<svg"), ("PNG", b"\x89PNG")]:
        with page.expect_download() as download:
            page.locator("#map-downloads button", has_text=button).click()
        with open(download.value.path(), "rb") as file:
            assert file.read(4) == start[:4]
    with page.expect_download() as download:
        page.locator("#save-rules-csv").click()
    assert set(pd.read_csv(download.value.path())["label"]) <= set(LABELS)


def test_dark_follows_the_system_and_the_button(open_page):
    page = open_page("#data=evil", color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark


def test_nothing_is_wider_than_the_window(open_page):
    page = open_page("#data=evil")
    for view in ("rules", "ask", "labels", "compare", "tradeoff"):
        page.locator(f"#tab-{view}").click()
        for width in (390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            settle(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (view, width)


def test_the_page_lists_differences_from_the_paper_s_setting(open_page, study, tmp_path):
    rows = study.results
    rows = rows[rows["dataset"] == "evil"].assign(dataset="flags")
    page = open_page(file=write_page(subset(study, tmp_path, rows)))
    assert (
        page.locator("#differences")
        .inner_text()
        .startswith(
            "Not comparable with the published values: 3 new folds instead of the paper's ten; "
            "300 candidate rules instead of 300,000;"
        )
    )
    assert open_page("#data=planted").locator("#differences").count() == 0


# Boxes of the map's parts on the screen, as [left, top, right, bottom].
BOXES = """selector => [...document.querySelectorAll('#map-drawing ' + selector)].map(node => {
  const box = node.getBoundingClientRect();
  return [box.left, box.top, box.right, box.bottom];
})"""


@pytest.mark.parametrize(("n_parameters", "n_phis"), [(1, 1), (4, 3), (1, 4), (4, 1)])
def test_a_small_grid_has_readable_axes(open_page, study, tmp_path, n_parameters, n_phis):
    rows = study.results
    rows = rows[rows["parameter"].isin(PARAMETERS[:n_parameters])]
    rows = rows[rows["phi"].isin(PHIS[:n_phis])]
    viewport = {"width": 1300, "height": 900}
    page = open_page(file=write_page(subset(study, tmp_path, rows)), viewport=viewport)
    left, top, right, bottom = page.locator("#map-drawing").bounding_box().values()
    right, bottom = left + right, top + bottom
    titles, ticks, cells = (page.evaluate(BOXES, s) for s in ("text.title", "text.tick", ".cell"))
    assert (len(titles), len(ticks)) == (2, n_parameters + n_phis)
    for box in [*titles, *ticks]:
        assert left - 1 <= box[0]
        assert box[2] <= right + 1
        assert top - 1 <= box[1]
        assert box[3] <= bottom + 1
        assert min(box[2] - box[0], box[3] - box[1]) < 24
        assert not any(
            box[0] < c[2] and c[0] < box[2] and box[1] < c[3] and c[1] < box[3] for c in cells
        )
    for box in page.evaluate(BOXES, "circle.mark"):
        assert box[2] - box[0] < 20


def test_the_left_column_has_room_for_all_of_the_paper_s_methods(open_page, study, tmp_path):
    payload, theories = study_to_payload(study)
    for dataset in payload["datasets"]:
        tuned = dataset["tuned"][0]
        dataset["tuned"] = [{**tuned, "for": name} for name in ("f1_micro", "hamming", "subset")]
    file = tmp_path / "index.html"
    file.write_text(build_page(payload, theories), encoding="utf-8")
    page = open_page("#data=planted", file=file, viewport={"width": 1300, "height": 600})
    assert page.locator("#summary thead th").count() == 9
    for place in (".left", "#summary .scroll"):
        wide, room = page.evaluate(
            "s => [document.querySelector(s).scrollWidth, document.querySelector(s).clientWidth]",
            place,
        )
        assert wide <= room


def test_the_table_of_labels_is_not_cut_off(open_page):
    page = open_page("#data=planted&view=labels")
    for width in (1300, 1400, 1600, 1800, 2200):
        page.set_viewport_size({"width": width, "height": 800})
        settle(page)
        wide, room = page.evaluate(
            "(() => { const node = document.querySelector('#labels .scroll');"
            " return [node.scrollWidth, node.clientWidth]; })()"
        )
        assert wide <= room, width


def test_a_printed_page_shows_the_theory_and_no_buttons(open_page):
    page = open_page("#data=evil&parameter=4&phi=1&view=ask")
    n_rules = int(re.match(r"\d+", headline(page))[0])
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#rules .rule").count() == n_rules
    for place in ("#rules-headline", "#rules .rule", "#labels table"):
        assert page.locator(place).first.is_visible()
    for place in ("#map", "#ask-case", "#rules .actions", "#tabs", "#theory-downloads"):
        assert not page.locator(place).first.is_visible()
    assert page.locator(".print-title").inner_text() == "cell m = 4, φ = 100 %"


def test_a_printed_theory_has_its_history(open_page):
    page = open_page("#data=planted")
    page.locator('#rules [data-action="drop"]').first.click()
    settle(page)
    assert not page.locator("#printed-history").is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".print-title").inner_text() == "tuned for Micro F1"
    assert "rejected a rule" in page.locator("#printed-history li").inner_text()
    assert not page.locator("#scores").is_visible()


def test_compressed_theories_are_read_and_omitted_ones_are_reported(open_page, study, tmp_path):
    payload, theories = study_to_payload(study)
    parts = list_parts(theories)
    plain = sum(len(to_json(data).encode()) for data in parts.values())
    packed = sum(len(content) for _, content in fit_parts(parts, plain - 1).values())
    size = len(build_page(payload, theories).encode()) - plain + packed + 500
    squeezed = tmp_path / "squeezed.html"
    squeezed.write_text(build_page(payload, theories, max_bytes=size), encoding="utf-8")
    assert "application/gzip" in squeezed.read_text(encoding="utf-8")
    page = open_page("#data=evil&parameter=0&phi=1", file=squeezed)
    page.wait_for_selector("#rules .rule")
    bare = tmp_path / "bare.html"
    bare.write_text(build_page(payload, theories, max_bytes=0), encoding="utf-8")
    page = open_page("#data=evil", file=bare)
    page.wait_for_selector("#rules .note")
    assert "omitted to keep this page small" in page.locator("#rules").inner_text()


# -- rules that were not learned -------------------------------------------------------------------


@pytest.fixture(scope="module")
def curated(tmp_path_factory):
    """A page of a study with a rule that was edited, one that was given with a note, and one without."""
    data = make_planted_rules(200, random_state=0)
    learned = RuleSetClassifier(n_candidates=200, random_state=0).fit(data.X, data.Y).theory_
    edited = learned.replace(
        learned.rules_of("for jam")[0],
        "for jam <- bruised = yes and weight >= 251",
        when="2026-03-01",
        note=EVIL,
    )
    constraints = Constraints(
        given=[
            next(scored for scored in edited if not scored.provenance.is_learned),
            {"rule": "for baking <- firmness >= 9.5", "note": "=as every baker knows"},
            "for drying <- acidity >= 4.7",
        ]
    )
    folder = tmp_path_factory.mktemp("curated")
    config = StudyConfig(
        ("planted",),
        folds=2,
        n_candidates=200,
        parameters=PARAMETERS,
        phis=PHIS,
        constraints=constraints,
    )
    return write_page(run_study(config, folder / "results", n_jobs=1))


def origins(page, place="#rules"):
    return page.locator(f"{place} .rule .origin").all_text_contents()


def test_rules_that_were_not_learned_say_who_made_them_when_and_why(open_page, curated):
    page = open_page("#parameter=4&phi=0.25", curated)
    expected = [f"edited 2026-03-01: {EVIL}", "given: =as every baker knows", "given"]
    assert sorted(origins(page)) == sorted(expected)
    assert page.locator("img").count() == 0
    rule = page.locator("#rules .rule", has=page.locator(".origin", has_text="edited"))
    assert rule.locator(".body b").all_inner_texts() == ["bruised", "weight"]
    # Learned rules say nothing.
    assert shown_rules(page) > len(expected)
    page.fill("#query", "every baker")
    settle(page)
    assert origins(page) == ["given: =as every baker knows"]
    assert shown_rules(page) == 1


def test_the_download_has_the_origin_of_each_rule_as_text(open_page, curated):
    page = open_page("#parameter=4&phi=0.25", curated)
    with page.expect_download() as download:
        page.locator("#save-rules-csv").click()
    table = pd.read_csv(download.value.path(), keep_default_na=False)
    assert sorted(filter(None, table["origin"])) == sorted(
        [f"edited 2026-03-01: {EVIL}", "given: =as every baker knows", "given"]
    )


def test_an_explanation_shows_the_origin_of_a_firing_rule(open_page, curated):
    page = open_page("#parameter=4&phi=0.25&view=ask", curated)
    found = []
    for _ in range(20):
        found += origins(page, "#answers")
        page.locator('[aria-label="next example"]').click()
        settle(page)
    assert any(text.startswith("edited 2026-03-01") for text in found)


@pytest.mark.parametrize(
    ("measure", "better"),
    [("f1_micro", 1), ("auc_macro", 1), ("lrap", 1), ("ranking_loss", -1), ("n_rules", -1)],
)
def test_the_best_cell_is_where_a_measure_is_good(measure, better):
    assert _describe_measure(measure)["better"] == better
