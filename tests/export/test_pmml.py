"""PMML: read by its definition, a file predicts what `predict` predicts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from shutil import which
from zipfile import ZipFile

import pandas as pd
import pytest

from steelyard import RuleSetClassifier, make_planted_rules
from steelyard.model.conditions import Condition
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from theories import (
    DECIDING_PAIRS,
    VOTING_PAIRS,
    handmade_table,
    handmade_theory,
    plain_table,
    predict_rows,
    random_cases,
)

needs_java = pytest.mark.skipif(which("java") is None, reason="the readers of PMML need Java")

NS = {"p": "http://www.dmg.org/PMML-4_4"}


def to_text(value) -> str:
    return str(value)


def is_satisfied(test: ET.Element, row: dict) -> bool:
    """One predicate of the kinds that the export writes; a missing value satisfies none."""
    value = row[test.get("field")]
    if pd.isna(value):
        return False
    if test.tag.endswith("SimpleSetPredicate"):
        assert test.get("booleanOperator") == "isIn"
        array = test.find("p:Array", NS)
        items = [
            text.replace('\\"', '"') for text in re.findall(r'"((?:\\"|[^"])*)"', array.text or "")
        ]
        assert len(items) == int(array.get("n"))
        return to_text(value) in items
    return {
        "equal": lambda a, b: to_text(a) == b,
        "greaterOrEqual": lambda a, b: a >= float(b),
        "lessThan": lambda a, b: a < float(b),
        "lessOrEqual": lambda a, b: a <= float(b),
    }[test.get("operator")](value, test.get("value"))


def evaluate(root: ET.Element, row: dict) -> list[str]:
    """The first hit decides."""
    answers = []
    for model in root.findall(".//p:RuleSetModel", NS):
        rules = model.find("p:RuleSet", NS)
        assert rules.find("p:RuleSelectionMethod", NS).get("criterion") == "firstHit"
        answer = rules.get("defaultScore")
        for rule in rules.findall("p:SimpleRule", NS):
            (body,) = rule
            is_compound = body.tag.endswith("CompoundPredicate")
            assert not is_compound or len(body) > 1
            tests = list(body) if is_compound else [body]
            if body.tag.endswith("True") or all(is_satisfied(test, row) for test in tests):
                answer = rule.get("score")
                break
        answers.append(answer)
    return answers


def all_cases(pair):
    yield from random_cases(*pair)
    if pair == ("any-rule", "each-label"):
        yield handmade_theory(), handmade_table()


@pytest.mark.parametrize("pair", DECIDING_PAIRS, ids="-".join)
class TestDecidingRules:
    def test_it_predicts_what_predict_predicts(self, pair):
        for theory, X in all_cases(pair):
            root = ET.fromstring(theory.to_pmml().encode())
            expected = [[str(value) for value in row] for row in predict_rows(theory, X)]
            rows = plain_table(X).to_dict("records")
            assert [evaluate(root, row) for row in rows] == expected

    def test_fields_are_declared_once_and_used_as_declared(self, pair):
        for theory, _ in all_cases(pair):
            root = ET.fromstring(theory.to_pmml().encode())
            dictionary = root.find("p:DataDictionary", NS)
            names = [field.get("name") for field in dictionary]
            assert len(set(names)) == len(names) == int(dictionary.get("numberOfFields"))
            outputs = [field.get("name") for field in root.iterfind(".//p:OutputField", NS)]
            assert len({*names, *outputs}) == len(names) + len(outputs)
            for model in root.findall(".//p:RuleSetModel", NS):
                fields = model.findall("p:MiningSchema/p:MiningField", NS)
                used = {field.get("name") for field in fields}
                assert used <= {*names, *outputs}
                assert {e.get("field") for e in model.iter() if e.get("field")} <= used
                assert [f.get("usageType") for f in fields].count("target") == 1

    def test_rules_have_their_counts(self, pair):
        for theory, _ in all_cases(pair):
            root = ET.fromstring(theory.to_pmml().encode())
            found = [
                (int(rule.get("nbCorrect")), int(rule.get("recordCount")))
                for rule in root.iter(f"{{{NS['p']}}}SimpleRule")
            ]
            assert sorted(found) == sorted((s.tp, s.tp + s.fp) for s in theory)


@pytest.mark.parametrize("pair", VOTING_PAIRS, ids="-".join)
def test_votes_are_rejected_in_one_sentence(pair):
    theory, _ = random_cases(*pair)[0]
    with pytest.raises(ValueError, match=r"^PMML's RuleSetModel cannot express votes") as rejection:
        theory.to_pmml()
    assert "\n" not in str(rejection.value)


def read_with_pypmml(file: str, X: pd.DataFrame) -> pd.DataFrame:
    import pypmml

    return pypmml.Model.load(file).predict(X)


def read_with_jpmml(file: str, X: pd.DataFrame) -> pd.DataFrame:
    import jpmml_evaluator

    return jpmml_evaluator.make_evaluator(file).verify().evaluateAll(X)


@pytest.fixture(scope="module")
def java():
    """A process for Java: in this one it would guard the stack, and tests of deep recursion crash."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        yield executor


@needs_java
def test_pypmml_predicts_all_labels(java, tmp_path):
    """A third party's reader (PMML4S): all labels of all rows, not the first label only."""
    data = make_planted_rules(120, random_state=0)
    clf = RuleSetClassifier(n_candidates=500, phi=1.0, random_state=0).fit(data.X, data.Y)
    X = data.X.copy()
    X.iloc[::7, 0] = None  # a missing value satisfies no condition
    file = tmp_path / "theory.pmml"
    file.write_text(clf.theory_.to_pmml(), encoding="utf-8")
    read = java.submit(read_with_pypmml, str(file), X).result()
    predicted = clf.theory_.predict(X).add_prefix("predicted_")
    assert predicted.to_numpy().any(axis=0).all()
    assert (read[predicted.columns].astype(int).to_numpy() == predicted.to_numpy()).all()


@needs_java
def test_jpmml_predicts_all_labels_and_the_schema_allows_the_file(java, tmp_path):
    """The reference reader, which has the XML schema of PMML 4.4 on board."""
    import jpmml_evaluator
    import xmlschema

    jar = next(Path(jpmml_evaluator.__file__).parent.rglob("pmml-model-[0-9]*.jar"))
    with ZipFile(jar) as content:
        schema = xmlschema.XMLSchema(content.read("pmml.xsd").decode())
    data = make_planted_rules(120, random_state=0)
    clf = RuleSetClassifier(n_candidates=500, phi=1.0, random_state=0)
    for y in (data.Y, data.Y.iloc[:, 0], data.Y.iloc[:, 0] + 2 * data.Y.iloc[:, 1]):
        theory = clf.fit(data.X, y).theory_
        file = tmp_path / "theory.pmml"
        file.write_text(theory.to_pmml(), encoding="utf-8")
        schema.validate(str(file))
        read = java.submit(read_with_jpmml, str(file), data.X).result()
        assert "errors" not in read
        expected = theory.predict(data.X)
        columns = ["class"] if theory.classes else [f"predicted_{name}" for name in expected]
        expected = expected.to_numpy().reshape(len(data.X), -1)
        assert (read[columns].astype(int).to_numpy() == expected).all()


def test_characters_that_xml_does_not_have_are_replaced():
    categories = ("a\x01", "b\x00")
    rules = tuple(
        ScoredRule(Rule(Head("y\x00"), (Condition("a\x01b", "in", c),)), Evidence(1, 0), 1.0)
        for c in (categories, categories[:1])
    )
    theory = Theory((Feature("a\x01b", (*categories, "c")),), (Label("y\x00"),), rules)
    root = ET.fromstring(theory.to_pmml().encode())
    assert "\ufffd" in root.find(".//p:Array", NS).text
