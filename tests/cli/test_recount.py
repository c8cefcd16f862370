"""``steelyard recount``, ``compare``, ``edit`` and ``evaluate --baseline``."""

import json
import sys

import pandas as pd
import pytest

from steelyard import Theory
from steelyard.measures import MEASURES

pytestmark = pytest.mark.usefixtures("in_saved")


@pytest.fixture
def theory(saved):
    return Theory.from_json(saved / "theory.json")


@pytest.fixture
def table(saved):
    return pd.read_csv(saved / "data.csv")


class TestRecount:
    def test_it_prints_and_writes_what_the_method_gives(self, run, theory, table, tmp_path):
        code, out, err = run("recount", "theory.json", "data.csv", "-o", tmp_path / "new.json")
        assert code == 0, err
        counted = theory.recount(table, table[list(theory.label_names)])
        assert Theory.from_json(tmp_path / "new.json") == counted
        assert str(counted) in out
        assert "Subset accuracy" in out

    def test_as_json_it_has_measures_labels_and_rules(self, run, theory, table):
        _, out, _ = run("recount", "theory.json", "data.csv", "--json")
        found = json.loads(out)
        assert found["n_examples"] == len(table)
        assert set(found["measures"]) == set(MEASURES)
        assert [row["label"] for row in found["labels"]] == list(theory.label_names)
        assert {"tp", "p_value", "lift", "only"} <= set(found["rules"][0])

    def test_a_label_that_the_data_lacks_is_named(self, run, arff):
        code, _, err = run("recount", "theory.json", arff)
        assert code == 1
        assert "no label 'for juice'" in err


class TestCompare:
    def test_it_prints_what_the_method_gives(self, run, theory, table, tmp_path):
        theory.drop(0).to_json(tmp_path / "less.json")
        arguments = ("compare", "theory.json", tmp_path / "less.json")
        assert run(*arguments)[1] == f"{theory.compare(theory.drop(0))}\n"
        code, out, err = run(*arguments, "--data", "data.csv", "--json")
        assert code == 0, err
        found = json.loads(out)
        expected = theory.compare(theory.drop(0), table)
        assert (found["n_examples"], found["n_different"]) == (150, len(expected.rows))
        assert len(found["rules"]) == len(theory)

    def test_a_file_that_is_no_theory_is_named(self, run):
        code, _, err = run("compare", "theory.json", "data.csv")
        assert code == 1
        assert "data.csv is not JSON" in err


class TestEdit:
    def test_a_file_of_rules_makes_a_new_theory(self, run, theory, tmp_path):
        (tmp_path / "rules.txt").write_text(f"{theory.rules[0].rule}\nfor jam <- weight >= 300\n")
        arguments = ("edit", "theory.json", "--file", tmp_path / "rules.txt", "--note", "as told")
        code, out, err = run(*arguments, "-o", tmp_path / "new.json")
        assert code == 0, err
        edited = Theory.from_json(tmp_path / "new.json")
        assert [str(s.rule) for s in edited][1:] == ["for jam ← weight ≥ 300"]
        assert edited.rules[1].provenance.note == "as told"
        assert not edited.evidence_from.is_complete
        assert "+ for jam ← weight ≥ 300" in out
        assert "micro" not in out.lower()

    def test_with_data_it_shows_the_measures_and_recounts(self, run, theory, table, tmp_path):
        (tmp_path / "rules.txt").write_text("for jam <- weight >= 300\n")
        arguments = ("edit", "theory.json", "--file", tmp_path / "rules.txt", "--data", "data.csv")
        code, out, err = run(*arguments, "-o", tmp_path / "new.json")
        assert code == 0, err
        assert "before" in out
        assert "Micro F1" in out
        _, out, _ = run(*arguments, "-o", tmp_path / "new.json", "--json")
        measures = json.loads(out)["measures"]["hamming"]
        edited, Y = Theory.from_json(tmp_path / "new.json"), table[list(theory.label_names)]
        assert measures["before"] == theory.evaluate(table, Y).measures["hamming"]
        assert measures["after"] == edited.evaluate(table, Y).measures["hamming"]
        assert edited.evidence_from.n_rows == 150

    @pytest.fixture
    def editor(self, monkeypatch, tmp_path):
        """Set an editor that runs a line of Python on the text."""

        def use(line: str) -> None:
            script = tmp_path / "editor.py"
            script.write_text(
                "import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\n"
                f"text = file.read_text(encoding='utf-8')\n{line}\n"
                "file.write_text(text, encoding='utf-8')\n"
            )
            monkeypatch.delenv("VISUAL", raising=False)
            monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{script}'")

        return use

    def test_the_editor_gets_the_rules_and_what_it_saves_is_the_theory(
        self, run, theory, tmp_path, editor
    ):
        editor("text = '\\n'.join(x for x in text.splitlines() if not x.startswith('1: '))")
        code, _, err = run("edit", "theory.json", "-o", tmp_path / "new.json")
        assert code == 0, err
        assert Theory.from_json(tmp_path / "new.json") == theory.drop(0)

    def test_without_a_change_nothing_is_written(self, run, tmp_path, editor):
        editor("pass")
        code, out, err = run("edit", "theory.json", "-o", tmp_path / "new.json")
        assert (code, out) == (0, "")
        assert "nothing changed" in err
        assert not (tmp_path / "new.json").exists()

    def test_what_was_typed_is_kept_if_it_has_a_mistake(self, run, tmp_path, editor):
        editor("text += 'for jam <- wieght >= 300\\n'")
        code, _, err = run("edit", "theory.json", "-o", tmp_path / "new.json")
        assert code == 1
        assert "did you mean 'weight'" in err
        assert "line " in err
        kept = tmp_path / "new.json.rules"
        assert f"--file {kept}" in err
        assert "wieght" in kept.read_text(encoding="utf-8")
        assert not (tmp_path / "new.json").exists()

    def test_an_empty_text_drops_no_rules(self, run, tmp_path, editor):
        (tmp_path / "empty.txt").write_text(" \n")
        out = tmp_path / "new.json"
        code, _, err = run("edit", "theory.json", "--file", tmp_path / "empty.txt", "-o", out)
        assert (code, out.exists()) == (1, False)
        assert "the text is empty, so nothing was changed" in " ".join(err.split())

    def test_without_an_editor_it_says_what_to_do(self, run, tmp_path, monkeypatch):
        for name in ("VISUAL", "EDITOR"):
            monkeypatch.delenv(name, raising=False)
        code, _, err = run("edit", "theory.json", "-o", tmp_path / "new.json")
        assert code == 1
        assert "set $EDITOR" in err

    def test_an_editor_that_fails_changes_nothing(self, run, tmp_path, editor):
        editor("sys.exit(3)")
        code, _, err = run("edit", "theory.json", "-o", tmp_path / "new.json")
        assert code == 1
        assert "failed with exit code 3" in err

    def test_the_theory_itself_is_not_overwritten(self, reject):
        assert "is an input" in reject("edit", "theory.json", "-o", "theory.json")


class TestBaseline:
    def test_measures_and_rules_are_compared_with_earlier_data(self, run, theory, table, tmp_path):
        later = table.assign(weight=table["weight"] + 150)
        later.to_csv(tmp_path / "later.csv", index=False)
        arguments = ("evaluate", "theory.json", tmp_path / "later.csv", "--baseline", "data.csv")
        code, out, err = run(*arguments, "--json")
        assert code == 0, err
        found = json.loads(out)
        Y = table[list(theory.label_names)]
        assert found["baseline"]["hamming"] == theory.evaluate(table, Y).measures["hamming"]
        assert found["hamming"] == theory.evaluate(later, Y).measures["hamming"]
        assert {row["fires"] for row in found["drift"]} >= {"more", "less"}
        code, out, _ = run(*arguments)
        assert "change" in out
        assert "fires more often" in out

    def test_the_counts_of_training_can_be_the_baseline(self, run):
        code, out, err = run("evaluate", "theory.json", "data.csv", "--baseline", "training")
        assert code == 0, err
        assert "fire more often than before: 0, less often: 0" in out
        assert "change" not in out
