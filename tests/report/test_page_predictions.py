"""What the page predicts is what the library predicts, for every combiner with every decoder."""

from __future__ import annotations

import io
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from pages import download, give_file, settle, table_to_csv
from steelyard import Condition, Evidence, Feature, Head, Label, Rule, ScoredRule, Theory
from steelyard.measures import MEASURES
from steelyard.model.combiners import COMBINERS
from steelyard.model.decoders import DECODERS
from steelyard.report.page import write_theory_page
from steelyard.report.page.theories import COMBINERS as PAGE_COMBINERS
from steelyard.report.page.theories import DECODERS as PAGE_DECODERS
from theories import PAIRS, handmade_table, handmade_theory, random_table, random_theory

SCRIPTS = files("steelyard.report.page").joinpath("scripts")


def page_of(theory: Theory, path, X: pd.DataFrame):
    """A page with a few examples; their labels do not matter here."""
    table = X[:20]
    Y = np.zeros((len(table), len(theory.labels)), dtype=int)
    if not theory.is_multilabel:
        Y = np.array([theory.plain_classes[0]] * len(table), dtype=object)
    return write_theory_page(theory, path, table, Y)


def predict_on_page(page, theory: Theory, X: pd.DataFrame) -> pd.DataFrame:
    give_file(page, "own.csv", table_to_csv(X))
    text = download(page, "#save-predictions")
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def without_null(X: pd.DataFrame) -> pd.DataFrame:
    """A table without the category "null", which every reader of CSV takes for a missing value."""
    return X.assign(
        **{c: X[c].cat.remove_categories("null") for c in X if X[c].dtype == "category"}
    )


def expect(theory: Theory, X: pd.DataFrame) -> list[list[str]]:
    predicted = np.asarray(theory.predict(X))
    rows = predicted if predicted.ndim == 2 else predicted[:, None]
    return [[str(value) for value in row] for row in rows.tolist()]


def test_the_page_has_every_combiner_and_decoder_of_the_registries():
    assert set(PAGE_COMBINERS) == set(COMBINERS)
    assert set(PAGE_DECODERS) == set(DECODERS)
    script = SCRIPTS.joinpath("predict.js").read_text(encoding="utf-8")
    for name in (*COMBINERS, *DECODERS):
        assert f"  '{name}':" in script


@pytest.mark.parametrize(("combiner", "decoder"), PAIRS)
def test_predictions_of_a_file_equal_predict(visit, tmp_path, combiner, decoder):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        theory = random_theory(rng, combiner, decoder, n_rules=20)
        X = without_null(random_table(rng, 1500))
        page = visit(page_of(theory, tmp_path / f"{seed}.html", X), "#view=ask")
        found = predict_on_page(page, theory, X)
        assert found.to_numpy().tolist() == expect(theory, X)
        page.close()


@pytest.mark.parametrize(("combiner", "decoder"), PAIRS)
def test_a_label_without_rules_says_what_the_library_says(visit, tmp_path, combiner, decoder):
    rng = np.random.default_rng(0)
    theory = random_theory(rng, combiner, decoder, n_rules=20)
    first = theory.label_names[0]
    theory = replace(theory, rules=tuple(s for s in theory if s.head.label == first))
    page = visit(page_of(theory, tmp_path / "page.html", without_null(random_table(rng))))
    text = page.locator("#silent-labels").inner_text()
    for j, name in list(enumerate(theory.label_names))[1:]:
        assert f"{' '.join(name.split())}: {theory.describe_silence(j)}" in text


def test_bounds_are_exact_and_missing_values_satisfy_nothing(visit, tmp_path):
    theory, X = handmade_theory(), handmade_table()
    page = visit(page_of(theory, tmp_path / "page.html", X), "#view=ask")
    assert predict_on_page(page, theory, X).to_numpy().tolist() == expect(theory, X)


@pytest.mark.parametrize(
    ("texts", "categories", "values"),
    [
        # How tables write numbers that are categories.
        (["1", "2.0", "007", "+3", ""], ("1", "2", "7", "3"), [1.0, 2.0, 7.0, 3.0, None]),
        (["0.5", "1e-5", "1e22"], ("0.5", "1e-05", "1e+22"), [0.5, 1e-5, 1e22]),
        (["TRUE", "false", "NA"], ("False", "True"), [True, False, None]),
        (["1", "0", "1.0"], ("False", "True"), [1.0, 0.0, 1.0]),
        (["red", "NULL", "1.0"], ("1.0", "red"), ["red", None, "1.0"]),
        (["other", "red"], ("red",), ["other", "red"]),
    ],
)
def test_categories_are_read_as_the_library_reads_a_file(
    visit, tmp_path, texts, categories, values
):
    labels = tuple(Label(f"is {text}", 1, 1, 1, 0, 1) for text in categories)
    rules = tuple(
        ScoredRule(Rule(Head(f"is {text}"), (Condition("c", "=", text),)), Evidence(1, 0), 1.0)
        for text in categories
    )
    theory = Theory((Feature("c", categories),), labels, rules)
    X = pd.DataFrame({"c": pd.Series(values, dtype=object)})
    page = visit(page_of(theory, tmp_path / "page.html", X), "#view=ask")
    give_file(page, "own.csv", "c,more\n" + "".join(f"{text},0\n" for text in texts))
    text = download(page, "#save-predictions")
    found = pd.read_csv(io.StringIO(text))
    assert found.to_numpy().tolist() == theory.predict(X).to_numpy().tolist()


def test_dates_and_times_are_read_as_the_library_reads_them(visit, tmp_path):
    features = (Feature("day", kind="date"), Feature("at", kind="datetime"))
    bounds = {"day": "2024-03-01", "at": "2024-03-01 18:30"}
    rules = tuple(
        ScoredRule(Rule(Head(name), (Condition(name, "≥", bound),)), Evidence(1, 0), 1.0)
        for name, bound in bounds.items()
    )
    theory = Theory(features, (Label("day", 1, 1, 1), Label("at", 1, 1, 1)), rules)
    rows = [
        ("2024-02-29", "2024-03-01 18:29:59.999999"),
        ("2024-03-01", "2024-03-01T18:30"),
        ("2024-03-02", "2024-03-01 20:00+02:00"),
        ("", "2024-03-01 19:31+01:00"),
    ]
    X = pd.DataFrame(rows, columns=["day", "at"]).replace("", None)
    page = visit(page_of(theory, tmp_path / "page.html", X), "#view=ask")
    found = predict_on_page(page, theory, X)
    assert found.to_numpy().tolist() == expect(theory, X)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("y\n1\n", "no column x"),
        ("x\nhigh\n", "numeric, but one of its values is high"),
        ("x\n1,2\n", "Row 1 has 2 values instead of 1"),
        ("x\n", "no rows"),
        ("x\ninf\n", "one of its values is inf"),
    ],
)
def test_a_file_that_does_not_fit_is_rejected_in_one_sentence(visit, tmp_path, content, problem):
    rule = ScoredRule(Rule(Head("l"), (Condition("x", "≥", 1.0),)), Evidence(1, 0), 1.0)
    theory = Theory((Feature("x"),), (Label("l", 1, 1, 1),), (rule,))
    X = pd.DataFrame({"x": [0.0, 2.0]})
    page = visit(page_of(theory, tmp_path / "page.html", X), "#view=ask")
    give_file(page, "own.csv", content)
    assert problem in page.locator("#batch .fault").inner_text()


def test_a_file_with_labels_is_judged(visit, tmp_path):
    rule = ScoredRule(Rule(Head("l"), (Condition("x", "≥", 1.0),)), Evidence(1, 0), 1.0)
    theory = Theory((Feature("x"),), (Label("l", 1, 1, 1),), (rule,))
    X, y = pd.DataFrame({"x": [0.0, 2.0, 3.0, None]}), [1, 1, 0, 0]
    page = visit(page_of(theory, tmp_path / "page.html", X), "#view=ask")
    give_file(page, "own.csv", table_to_csv(X))
    assert page.locator("#own-measures").count() == 0
    give_file(page, "own.csv", table_to_csv(X.assign(l=y)))
    value = theory.evaluate(X, np.array(y)[:, None]).measures["hamming"]
    shown = page.locator("#own-measures").inner_text()
    assert f"Hamming accuracy {100 * value:.1f} %" in shown


def test_the_values_of_a_case_can_be_changed_and_the_labels_follow(visit, tmp_path):
    rule = ScoredRule(
        Rule(Head("flu"), (Condition("fever", "≥", 38.5), Condition("nose", "=", "runs"))),
        Evidence(9, 2),
        0.8,
    )
    theory = Theory(
        (Feature("fever"), Feature("nose", ("dry", "runs"))),
        (Label("flu", 1, 10, 30, 1, 28),),
        (rule,),
    )
    X = pd.DataFrame({"fever": [36.5, 40.5], "nose": ["dry", "runs"]})
    file = write_theory_page(theory, tmp_path / "page.html", X, [[0], [1]])
    page = visit(file, "#view=ask")
    chips = page.locator("#answer-chips")
    assert "No label" in chips.inner_text()
    assert page.locator("#field-0").input_value() == "36.5"
    slider = page.locator('[data-attribute="fever"] input[type=range]')
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("36.5", "40.5")
    page.locator("#field-0").fill("39")
    page.select_option("#field-1", "1")
    assert "flu predicted" in chips.inner_text()
    page.locator('[data-attribute="fever"] .missing input').check()
    assert "No label" in chips.inner_text()
    page.locator("#answers summary").click()
    assert "the value is missing" in page.locator("#answers .failing").inner_text()
    page.locator('[data-apply="flu"]').click()
    assert "flu predicted" in chips.inner_text()
    assert page.locator("#field-0").input_value() == "38.5"
    page.locator("#blank-case").click()
    assert page.locator("#field-0").input_value() == ""
    page.locator("#random-case").click()
    assert page.locator("#field-0").input_value() in ("36.5", "40.5")
    page.locator("#back-to-example").click()
    settle(page)
    assert page.locator("#field-0").input_value() == "36.5"


def test_the_applied_change_is_the_smallest_one(visit, tmp_path):
    rule = ScoredRule(Rule(Head("l"), (Condition("x", "<", 0.3),)), Evidence(9, 2), 0.8)
    theory = Theory((Feature("x"),), (Label("l", 1, 10, 30, 1, 28),), (rule,))
    page = visit(
        write_theory_page(theory, tmp_path / "p.html", pd.DataFrame({"x": [0.5, 0.7]}), [[0], [0]]),
        "#view=ask",
    )
    page.locator("#answers summary").click()
    page.locator('[data-apply="l"]').click()
    value = float(page.locator("#field-0").input_value())
    (explained,) = theory.explain({"x": 0.5}).labels
    assert value == explained.closest[0].changes[0].nearest == np.nextafter(0.3, 0)


def test_measures_of_the_page_are_those_of_the_library(visit, tmp_path):
    rng = np.random.default_rng(6)
    theory = random_theory(rng, "sum-of-votes", "each-label", n_rules=20, target="labels")
    X = random_table(rng, 200)
    Y = (rng.random((200, len(theory.labels))) < 0.4).astype(int)
    page = visit(write_theory_page(theory, tmp_path / "p.html", X, Y, is_unseen=True))
    page.locator('#rules [data-action="keep"]').first.click()
    settle(page)
    rows = page.locator("#scores table").first.locator("tbody tr").all_inner_texts()
    shown = {row.split("\t")[0]: float(row.split("\t")[1][:-1]) for row in rows}
    judged = theory.evaluate(X, Y).measures
    for name, measure in MEASURES.items():
        assert shown[measure.title] == pytest.approx(100 * judged[name], abs=0.0501)
