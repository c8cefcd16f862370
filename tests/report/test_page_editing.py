"""Editing on the page gives the theories that the library's own operations give."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from pages import PATIENCE, download, give_file, run, settle, table_to_csv
from steelyard import (
    BoostedRulesClassifier,
    MEstimate,
    Rule,
    RuleSetClassifier,
    Theory,
    make_planted_rules,
)
from steelyard.cli.main import main
from steelyard.measures import MEASURES
from steelyard.model.conditions import Condition
from steelyard.model.log_odds import fit_vote
from steelyard.model.rules import Head
from steelyard.report.page import write_page, write_theory_page
from steelyard.study.to_use import read_theories_to_use


@pytest.fixture(scope="module")
def data():
    return make_planted_rules(300, noise=0.05, random_state=0)


@pytest.fixture(scope="module")
def theory(data) -> Theory:
    clf = RuleSetClassifier(MEstimate(m=16), phi=0.5, n_candidates=500, random_state=0)
    return clf.fit(data.X[:200], data.Y[:200]).theory_


@pytest.fixture(scope="module")
def page_file(tmp_path_factory, theory, data):
    path = tmp_path_factory.mktemp("page") / "page.html"
    return write_theory_page(theory, path, data.X[200:], data.Y[200:], is_unseen=True)


def test_rules_are_counted_on_the_unseen_examples_of_the_page(visit, page_file, theory, data):
    shown = visit(page_file).locator("#rules .rule .unseen").all_text_contents()
    counted = theory.recount(data.X[200:], data.Y[200:])
    assert sorted(shown) == sorted(f"{s.tp} right {s.fp} wrong" for s in counted)


def act(page, rule: int, action: str) -> None:
    page.locator(f'#rules [data-rule="{rule}"] [data-action="{action}"]').click()
    settle(page)


def plain_to_rule(plain: dict) -> Rule:
    body = tuple(Condition(*item) for item in plain["body"])
    return Rule(Head(plain["label"], plain["target_class"]), body)


def replay(theory: Theory, history: list[dict]) -> Theory:
    """The edits of a page, done by the library."""
    for step in history:
        options = {"note": step.get("note", ""), "when": step["when"]}
        if "points" in step:
            options["points"] = step["points"]
        if step["action"] == "drop":
            theory = theory.drop(plain_to_rule(step["rule"]), **options)
        elif step["action"] == "replace":
            new = plain_to_rule(step["new"])
            theory = theory.replace(plain_to_rule(step["rule"]), new, **options)
        elif step["action"] == "add":
            theory = theory.add(plain_to_rule(step["new"]), **options)
        elif step["action"] == "note":
            theory = theory.annotate(plain_to_rule(step["rule"]), **options)
    return theory


def curated_by(page) -> tuple[Theory, list[dict]]:
    text = download(page, "#save-curated")
    return Theory.from_json(text), json.loads(text)["history"]


def first_bound(theory: Theory) -> tuple[int, str]:
    """A rule with a lower bound, and the attribute of this bound."""
    for i, scored in enumerate(theory):
        for condition in scored.body:
            if condition.categories is None and condition.low > -1e300:
                return i, condition.feature
    raise AssertionError("no rule has a lower bound")


def test_an_unchanged_theory_is_downloaded_as_it_is(visit, page_file, theory):
    page = visit(page_file)
    assert Theory.from_json(download(page, "#save-json")) == theory


def test_downloads_are_what_the_library_writes(visit, page_file, theory):
    page = visit(page_file)
    for name, expected in {
        "sql": theory.to_sql(),
        "python": theory.to_python(),
        "markdown": theory.to_markdown(),
    }.items():
        assert download(page, f'[data-export="{name}"]') == expected


def test_other_formats_of_an_edited_theory_are_one_command_away(
    visit, page_file, theory, tmp_path, monkeypatch
):
    page = visit(page_file)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    act(page, 0, "drop")
    with page.expect_download(timeout=PATIENCE) as saved:
        page.locator("#save-curated").click()
    monkeypatch.chdir(tmp_path)
    saved.value.save_as(saved.value.suggested_filename)
    for name, written in (("sql", "to_sql"), ("python", "to_python")):
        page.locator(f'[data-export="{name}"]').click()
        page.locator("#copy-command").click()
        settle(page)
        command = run(page, "() => navigator.clipboard.readText()")
        assert command == page.locator("#export-command").inner_text()
        program, *arguments = command.split()
        assert program == "steelyard"
        # The command works as it is, on the file as it is.
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert not ended.value.code
        assert Path(arguments[-1]).read_text(encoding="utf-8") == getattr(theory.drop(0), written)()


def test_edits_give_the_theory_that_the_library_gives(visit, page_file, theory, data):
    page = visit(page_file)
    position, attribute = first_bound(theory)
    others = [i for i in range(len(theory)) if i != position]
    act(page, others[0], "drop")
    act(page, position, "change")
    page.locator(f'#editor [data-condition="{attribute}"] [data-end="low"]').fill("3.25")
    page.locator("#editor-note").fill("a rounder bound")
    page.locator("#editor-save").click()
    settle(page)
    page.locator("#add-rule").click()
    page.locator("#editor-attribute").fill("skin")
    page.locator("#editor-add").click()
    page.locator("#editor-attribute").fill("weight")
    page.locator("#editor-add").click()
    page.locator('#editor [data-condition="weight"] [data-end="low"]').fill("201.5")
    page.locator("#editor-save").click()
    settle(page)
    curated, history = curated_by(page)
    assert [step["action"] for step in history] == ["drop", "replace", "add"]
    assert curated == replay(theory, history)
    assert curated.history == replay(theory, history).history
    assert curated.predict(data.X).equals(replay(theory, history).predict(data.X))
    edited = [s for s in curated if s.provenance.source == "edited"]
    assert [s.provenance.note for s in edited] == ["a rounder bound"]
    assert any(c.low == 3.25 for c in edited[0].body)
    assert sum(s.provenance.source == "given" for s in curated) == 1


def test_a_condition_is_dropped_and_a_category_is_changed(visit, page_file, theory):
    position, condition = next(
        (i, c)
        for i, s in enumerate(theory)
        for c in s.body
        if c.categories is not None and len(s.body) > 1
    )
    other = next(c for c in theory.rules[position].body if c.feature != condition.feature)
    page = visit(page_file)
    act(page, position, "change")
    page.locator(f'#editor [data-condition="{other.feature}"] [data-remove]').click()
    boxes = page.locator(f'#editor [data-condition="{condition.feature}"] input[type=checkbox]')
    for i in range(boxes.count()):
        boxes.nth(i).check()
    boxes.nth(0).uncheck()
    page.locator("#editor-save").click()
    settle(page)
    curated, history = curated_by(page)
    assert curated == replay(theory, history)
    body = {c.feature: c for c in curated.rules[position].body}
    feature = next(f for f in theory.features if f.name == condition.feature)
    assert body[condition.feature].categories == feature.categories[1:]
    assert other.feature not in body


@pytest.mark.parametrize(
    ("low", "high", "fault"),
    [("9", "3", "No value satisfies"), ("", "", "needs a bound")],
)
def test_a_rule_that_no_value_satisfies_is_rejected(visit, page_file, theory, low, high, fault):
    position, attribute = first_bound(theory)
    page = visit(page_file)
    act(page, position, "change")
    place = f'#editor [data-condition="{attribute}"]'
    page.locator(f'{place} [data-end="low"]').fill(low)
    page.locator(f'{place} [data-end="high"]').fill(high)
    assert fault in page.locator("#editor-preview").inner_text()
    assert page.locator("#editor-save").is_disabled()
    page.locator("#editor-cancel").click()
    assert not page.locator("#editor").is_visible()


def test_every_edit_is_scored_before_and_after(visit, page_file, theory, data):
    page = visit(page_file)
    act(page, 0, "drop")
    X, Y = data.X[200:], data.Y[200:]
    before, after = (t.evaluate(X, Y) for t in (theory, theory.drop(0)))
    table = page.locator("#scores table").first
    rows = [row.split("\t") for row in table.locator("tbody tr").all_inner_texts()]
    shown = {title: (float(old[:-1]), float(new[:-1])) for title, old, new, _ in rows}
    assert set(shown) == {measure.title for measure in MEASURES.values()}
    for name, measure in MEASURES.items():
        expected = [100 * evaluation.measures[name] for evaluation in (before, after)]
        assert shown[measure.title] == pytest.approx(expected, abs=0.0501)
    page.locator("#scores summary", has_text="Per label").click()
    label = theory.rules[0].head.label
    row = next(
        text.split("\t")
        for text in page.locator("#scores details table tbody tr").all_inner_texts()
        if text.startswith(label)
    )
    pairs = [e.judgement.to_frame().set_index("label").loc[label] for e in (before, after)]
    for text, name in zip(row[1:4], ("tp", "fp", "fn"), strict=True):
        old, new = (int(pair[name]) for pair in pairs)
        assert text == (str(new) if old == new else f"{old} → {new}")


def test_undo_redo_and_reload_lose_nothing(visit, page_file, theory):
    page = visit(page_file)
    act(page, 0, "drop")
    act(page, 1, "keep")
    act(page, 1, "note")
    page.locator(".note-form input").fill("as every grower knows ‮ <b>")
    page.keyboard.press("Enter")
    settle(page)
    page.locator("#undo").click()
    settle(page)
    again = visit(page_file, page.url[page.url.index("#") :])
    assert again.locator("#rules .rule.rejected").count() == 1
    assert "2 edits" in again.locator("#scores").inner_text()
    again.locator("#redo").click()
    settle(again)
    curated, history = curated_by(again)
    assert [step["action"] for step in history] == ["drop", "keep", "note"]
    assert curated.rules[0].provenance.note == "as every grower knows ‮ <b>"
    again.locator("body").press("Control+z")
    settle(again)
    again.locator("body").press("Control+z")
    again.locator("body").press("Control+z")
    settle(again)
    assert again.locator("#rules .rule.rejected").count() == 0
    assert Theory.from_json(download(again, "#save-json")) == theory


def test_a_rejected_rule_can_be_taken_back(visit, page_file, theory):
    page = visit(page_file)
    act(page, 0, "drop")
    act(page, 1, "drop")
    page.locator('#rules [data-rule="0"] [data-action="restore"]').click()
    settle(page)
    curated, _ = curated_by(page)
    assert len(curated) == len(theory) - 1
    assert curated.rules[0].rule == theory.rules[0].rule


def test_the_page_can_be_mailed_on_with_its_edits(visit, page_file, tmp_path):
    page = visit(page_file)
    act(page, 0, "drop")
    mailed = tmp_path / "mailed.html"
    mailed.write_text(download(page, "#save-page"), encoding="utf-8")
    again = visit(mailed)
    assert again.locator("#rules .rule.rejected").count() == 1
    # And once more from there.
    act(again, 1, "drop")
    mailed.write_text(download(again, "#save-page"), encoding="utf-8")
    third = visit(mailed)
    assert third.locator("#rules .rule.rejected").count() == 2
    assert mailed.read_text(encoding="utf-8").count('id="edits"') == 1


def test_a_curated_theory_dropped_on_the_page_continues_the_work(visit, page_file):
    page = visit(page_file)
    act(page, 0, "drop")
    act(page, 1, "note")
    page.locator(".note-form input").fill("as every grower knows")
    page.keyboard.press("Enter")
    settle(page)
    text = download(page, "#save-curated")
    # The library keeps the history, so that its files continue the work, too.
    for saved in (text, Theory.from_json(text).to_json()):
        fresh = visit(page_file)
        give_file(fresh, "curated.json", saved)
        assert fresh.locator("#rules .rule.rejected").count() == 1
        assert download(fresh, "#save-curated") == text


def test_a_curated_theory_has_a_page_with_its_history(visit, page_file, theory, data, tmp_path):
    page = visit(page_file)
    act(page, 0, "drop")
    curated, _ = curated_by(page)
    X, Y = data.X[200:], data.Y[200:]
    later = visit(write_theory_page(curated, tmp_path / "p.html", X, Y, is_unseen=True))
    assert "edited before: 1 edit" in later.locator("#scores").inner_text()
    later.locator("#scores summary", has_text="History").click()
    assert "rejected a rule" in later.locator(".history li").inner_text()
    act(later, 1, "drop")
    again, history = curated_by(later)
    assert [step["action"] for step in history] == ["drop", "drop"]
    assert again.history == curated.drop(1, when=history[1]["when"]).history
    # A page that has another theory says so.
    other = visit(write_theory_page(curated.drop(0), tmp_path / "o.html", X, Y, is_unseen=True))
    give_file(other, "curated.json", again.to_json())
    assert "a theory that this page does not have" in other.locator("#batch").inner_text()


def test_edits_are_judged_on_a_file_with_labels(visit, page_file, theory, data):
    page = visit(page_file)
    act(page, 0, "drop")
    table = data.X[:50].join(data.Y[:50])
    give_file(page, "own.csv", table_to_csv(table))
    assert "your file own.csv" in page.locator("#scores").inner_text()
    value = theory.evaluate(data.X[:50], data.Y[:50]).measures["f1_micro"]
    first = page.locator("#scores table").first.locator("tbody tr").first.inner_text()
    assert first.split("\t")[:2] == ["Micro F1", f"{100 * value:.1f} %"]


def test_edits_of_a_theory_to_use_can_be_judged_on_unseen_examples(visit, two_studies):
    (used, *_) = read_theories_to_use(two_studies.folder, "planted")
    page = visit(write_page(two_studies), "#data=planted")
    page.locator("#add-rule").click()
    page.locator("#editor-attribute").fill("weight")
    page.locator("#editor-add").click()
    page.locator('#editor [data-condition="weight"] [data-end="low"]').fill("250")
    page.locator("#editor-save").click()
    settle(page)
    assert "training examples" in page.locator("#scores").inner_text()
    assert "have seen these examples" in page.locator("#seen-note").inner_text()
    page.locator("#judge-fairly").click()
    settle(page)
    assert "theory=cell" in page.url
    assert page.locator("#seen-note").count() == 0
    # The added rule came along, and the same choice is judged on the test examples of its fold.
    curated, history = curated_by(page)
    assert [step["action"] for step in history] == ["add"]
    path = two_studies.paths["planted"]
    parameters = [heuristic.parameter for heuristic in path.heuristics]
    learned = path.theory(parameters.index(used.choice.parameter), used.choice.phi)
    assert [s.rule for s in curated if s.provenance.is_learned] == [s.rule for s in learned]
    examples = two_studies.examples("planted")
    n = examples["n_test"]
    X = pd.DataFrame(examples["rows"], columns=examples["features"])[:n]
    Y = pd.DataFrame(examples["truth"], columns=examples["labels"])[:n]
    assert f"judged on {n} examples from which its rules" in page.locator("#is-twin").inner_text()
    rows = page.locator("#scores table").first.locator("tbody tr").all_inner_texts()
    shown = {row.split("\t")[0]: row.split("\t")[1:3] for row in rows}
    for title, name in (("Micro F1", "f1_micro"), ("Subset accuracy", "subset")):
        values = [100 * t.evaluate(X, Y).measures[name] for t in (learned, curated)]
        assert shown[title] == [f"{value:.1f} %" for value in values]


def test_a_vote_can_be_changed_and_fitted(visit, tmp_path, data):
    clf = BoostedRulesClassifier(max_rules=20, random_state=0)
    theory = clf.fit(data.X[:200], data.Y[:200]).theory_
    X, Y = data.X[200:], data.Y[200:]
    page = visit(write_theory_page(theory, tmp_path / "p.html", X, Y, is_unseen=True))
    act(page, 0, "change")
    page.locator("#editor-vote").fill("0.5")
    page.locator("#editor-save").click()
    settle(page)
    page.locator("#add-rule").click()
    page.select_option("#editor-label", "1")
    page.locator("#editor-attribute").fill("weight")
    page.locator("#editor-add").click()
    page.locator('#editor [data-condition="weight"] [data-end="low"]').fill("300")
    page.locator("#editor-fit").click()
    vote = float(page.locator("#editor-vote").input_value())
    start = theory.replace(0, theory.rules[0].rule, points=50)
    rule = Rule(Head(theory.label_names[1]), (Condition("weight", "≥", 300.0),))
    scores = start.evaluate(X).scores[:, 1][rule.covers(X)]
    present = Y.iloc[:, 1].to_numpy()[rule.covers(X)]
    assert round(100 * vote) == fit_vote(scores, present)
    page.locator("#editor-save").click()
    settle(page)
    curated, history = curated_by(page)
    assert curated == replay(theory, history)
    assert curated.rules[0].points == 50


def test_hostile_edits_in_a_link_are_ignored(visit, page_file, theory):
    for text in (
        "{",
        "[1]",
        '{"theory":{"list":[{"op":"constructor","rule":"0"}]}}',
        '{"theory":1}',
    ):
        page = visit(page_file, f"#edits={text}")
        assert Theory.from_json(download(page, "#save-json")) == theory


def follow_link(page, *operations: dict) -> str:
    """What the page says about the edits of a link."""
    edits = json.dumps({"theory": {"list": operations, "at": len(operations)}})
    run(page, "(text) => { location.hash = new URLSearchParams({ edits: text }); }", edits)
    settle(page)
    return page.locator("#scores").inner_text()


def added(theory: Theory, *body: list, **other) -> dict:
    """An operation of a link that adds a rule."""
    new = {"label": theory.label_names[0], "target_class": 1, "body": list(body)}
    return {"op": "add", "rule": "new1", **new, **other}


def test_edits_in_a_link_that_do_not_fit_the_theory_are_ignored(visit, page_file, theory):
    known = ["weight", "≥", 250]
    links = [
        added(theory, ["age", "≥", 70]),
        added(theory, ["skin", "≥", 1]),
        added(theory, ["skin", "=", "nope"]),
        added(theory, ["skin", "in", []]),
        added(theory, ["weight", "=", "250"]),
        added(theory, known, label="nope"),
        added(theory, known, target_class=2),
        added(theory, known, points="5"),
        added(theory, known, when=5),
        {"op": "drop", "rule": "9999"},
        {"op": "replace", "rule": "0", "body": [known, ["nope", "<", 2]]},
    ]
    page = visit(page_file)
    drop = {"op": "drop", "rule": "0"}
    assert "2 edits" in follow_link(page, drop, added(theory, known))
    # One operation that does not fit is enough: nobody made the theory of the others.
    for operation in links:
        assert "edit" not in follow_link(page, drop, operation)
    assert Theory.from_json(download(page, "#save-json")) == theory


def change_history(text: str, *steps: dict) -> str:
    """The file with another history, and with the rules that this history adds."""
    plain = json.loads(text)
    rules = [step["new"] for step in steps if step["action"] == "add" and "new" in step]
    return json.dumps({**plain, "rules": plain["rules"] + rules, "history": list(steps)})


def test_a_file_whose_history_does_not_fit_is_rejected(visit, page_file, theory):
    page = visit(page_file)
    act(page, 0, "drop")
    text = download(page, "#save-curated")
    (drop,) = json.loads(text)["history"]
    new = {**drop["rule"], "body": [["age", "≥", 70]]}
    category = {**new, "body": [["skin", "=", "nope"]]}
    histories = [
        [drop, {"action": "add", "new": new}],
        [drop, {"action": "add", "new": category}],
        [drop, {"action": "add", "new": {**drop["rule"], "label": "nope"}}],
        [drop, {"action": "add", "new": {**drop["rule"], "target_class": 2}}],
        [drop, {"action": "add"}],
        [{**drop, "new": drop["rule"]}],
        [{"action": "drop"}],
        [{**drop, "action": "replace"}],
        [{**drop, "when": 5}],
        [{**drop, "points": 0.5}],
        [{**drop, "action": "keep"}],
    ]
    page = visit(page_file)
    for history in histories:
        give_file(page, "curated.json", change_history(text, *history))
        assert "a theory that this page does not have" in page.locator("#batch").inner_text()
    give_file(page, "curated.json", change_history(text))
    assert "nor a theory that was curated" in page.locator("#batch").inner_text()
    assert Theory.from_json(download(page, "#save-json")) == theory
    known = {**new, "body": [["weight", "≥", 250]]}
    give_file(page, "curated.json", change_history(text, drop, {"action": "add", "new": known}))
    curated, _ = curated_by(page)
    assert plain_to_rule(known) in [scored.rule for scored in curated]


def test_a_curated_theory_is_restored_on_the_theory_that_it_was_made_of(visit, two_studies):
    file = write_page(two_studies)
    used = read_theories_to_use(two_studies.folder, "planted")
    new = Rule.parse(f"{used[0].theory.label_names[0]} ← weight ≥ 250")
    page = visit(file, "#data=planted")
    values = run(page, "() => [...document.querySelector('#theory').options].map((o) => o.value)")
    options = [value for value in values if value != "cell"]
    for name, found in zip(options, used, strict=True):
        # An added rule fits every theory.
        curated = found.theory.add(new)
        page.select_option("#theory", next(other for other in options if other != name))
        settle(page)
        give_file(page, "curated.json", curated.to_json())
        restored, _ = curated_by(page)
        assert (restored.heuristic, restored.phi) == (curated.heuristic, curated.phi)
        assert [scored.rule for scored in restored] == [scored.rule for scored in curated]
    # Several theories can be the same; the current one comes first.
    page.select_option("#theory", options[-1])
    settle(page)
    give_file(page, "curated.json", used[-1].theory.add(new).to_json())
    assert page.locator("#theory").input_value() == options[-1]
