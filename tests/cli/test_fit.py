"""``steelyard fit``: which options go together, and that each of them reaches the estimator."""

import json
import tomllib

import numpy as np
import pandas as pd
import pytest

from steelyard import Constraints, FMeasure, MEstimate, Theory, make_planted_rules
from steelyard.cli.fit import Method
from steelyard.estimators.methods import METHODS
from steelyard.estimators.presets import DEFAULT_PRESET

SMALL = ("--candidates", 200)


@pytest.fixture
def few_examples(monkeypatch):
    few = make_planted_rules(90, random_state=0)
    monkeypatch.setattr("steelyard.cli.fit.load_data", lambda *_, **__: few)


@pytest.fixture
def fit(run, tmp_path, few_examples):
    """Learn from few examples: exit code, and the theory or the message on one line."""

    def call(*options):
        file = tmp_path / "theory.json"
        code, _, err = run("fit", "planted", "-o", file, "-j", 1, *options)
        assert "Traceback" not in err
        message = " ".join(err.split())
        return code, Theory.from_json(file) if code == 0 else message

    return call


@pytest.fixture
def made(monkeypatch, fit):
    """The method, the measure and the parameters that options lead to."""

    def call(*options):
        calls = []

        def record(method, *, tune=None, **parameters):
            calls.append((method, tune, parameters))
            raise ValueError("stop here")

        with monkeypatch.context() as patch:
            patch.setattr("steelyard.estimators.methods.make_estimator", record)
            code, message = fit(*options)
        assert code == 2, message
        ((method, tune, parameters),) = calls
        assert parameters.pop("n_jobs") == 1
        return str(method), tune, parameters

    return call


def test_without_options_the_estimator_keeps_its_defaults(made):
    assert made() == (DEFAULT_PRESET, None, {"random_state": 0})


def test_every_method_is_an_option():
    assert list(Method) == list(METHODS)


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--candidates", 9], {"n_candidates": 9}),
        (["--phi", 0.3], {"phi": 0.3}),
        (["--decode", "label-set-votes"], {"decode": "label-set-votes"}),
        (["--seed", 3], {"random_state": 3}),
        (["--parameter", 3], {"heuristic": MEstimate(3)}),
        (["--heuristic", "f-measure", "--parameter", 0.7], {"heuristic": FMeasure(0.7)}),
        (["--heuristic", "f-measure"], {"heuristic": FMeasure()}),
        (["--tune", "subset", "--heuristic", "m-estimate"], {}),
        (["--method", "boosted", "--parameter", 8], {"m": 8}),
        (["--trees", 5, "--depths", "none,2"], {"n_trees": 5, "max_depths": (None, 2)}),
        (["--features", "7", "--bag", 0.5], {"max_features": 7, "sample_fraction": 0.5}),
        (["--prune", "none"], {"prune": False}),
        (["--method", "boosted", "--max-rules", 5], {"max_rules": 5}),
        (["--max-conditions", 2], {"max_conditions": 2}),
        (["--max-total-conditions", 9], {"max_total_conditions": 9}),
        (["--max-memory", "2GB"], {"max_memory": "2GB"}),
        (["--class-weight", "balanced"], {"class_weight": "balanced"}),
        (["--category-sets"], {"category_sets": True}),
    ],
)
def test_options_become_parameters(made, options, parameters):
    assert made(*options)[2] == {"random_state": 0} | parameters


def test_tuning_a_family_chooses_among_the_paper_s_values(made):
    _, tune, parameters = made("--tune", "hamming", "--heuristic", "f-measure")
    assert tune == "hamming"
    assert len(parameters["heuristics"]) == 20
    assert FMeasure(1.0) in parameters["heuristics"]


@pytest.mark.parametrize(
    ("options", "heuristic", "phi"),
    [
        (("--parameter", 3), "m-estimate(m=3)", None),
        (("--heuristic", "wra"), "wra", None),
        (("--phi", 0.45), None, 0.45),
        (("--heuristic", "f-measure", "--parameter", 0.7), "f-measure(beta=0.7)", None),
    ],
)
def test_tuning_keeps_what_is_given(fit, options, heuristic, phi):
    code, theory = fit("--method", "paper", "--tune", "hamming", *SMALL, *options)
    assert code == 0, theory
    assert heuristic in (None, theory.heuristic)
    assert phi in (None, theory.phi)


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "paper", "--parameter", 4, "--phi", 1],
        ["--method", "paper", "--heuristic", "wra", "--phi", 0.5],
        [
            "--method",
            "boosted",
            "--decode",
            "best-label-set",
            "--condense",
            "labels",
            "--labels-per-rule",
            "1",
        ],
    ],
)
def test_tuning_is_rejected_where_nothing_is_left_to_choose(fit, options):
    code, message = fit("--tune", "hamming", *options)
    assert code == 2
    assert "--tune" in message


def test_a_measure_of_one_label_is_rejected_with_those_of_several(fit):
    code, message = fit("--tune", "f1", *SMALL)
    assert code == 1
    assert message == (
        "error: 'f1' measures one label, but there are several: choose f1_micro, f1_macro or "
        "f1_examples"
    )


@pytest.mark.parametrize("options", [("all",), ("2,all", "--tune", "hamming")])
def test_bodies_vote_for_as_many_labels_as_asked_for(fit, options):
    code, theory = fit("--method", "boosted", "--max-rules", 9, "--labels-per-rule", *options)
    assert code == 0, theory
    n_bodies = theory.n_bodies
    assert n_bodies <= 9 < len(theory) or "--tune" in options  # which may keep a share of the votes


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        ("0", "must be a positive integer or all, got '0'"),
        ("1,", "must be a positive integer or all, got ''"),
        ("1,all", "several numbers need --tune, which chooses one"),
    ],
)
def test_other_numbers_of_labels_per_rule_are_rejected(fit, number, problem):
    code, message = fit("--method", "boosted", "--labels-per-rule", number)
    assert code == 2
    assert problem in message


def test_labels_per_rule_need_rules_that_vote(fit):
    code, message = fit("--labels-per-rule", "all")
    assert code == 2
    assert "Invalid value for --labels-per-rule: needs --method boosted" in message


def test_decode_chooses_the_decoder_of_the_theory(fit):
    for options, decoder in [
        (("--method", "paper"), "EachLabel"),
        (("--method", "paper", "--decode", "best-label-set"), "BestLabelSet"),
        (("--method", "paper", "--decode", "label-set-votes"), "LabelSetVotes"),
        (("--method", "short"), "BestLabelSet"),
        (("--method", "short", "--decode", "each-label"), "EachLabel"),
    ]:
        code, theory = fit(*SMALL, *options)
        assert code == 0, theory
        assert type(theory.decoder).__name__ == decoder


def test_the_default_method_follows_the_data(run, tmp_path):
    rng = np.random.default_rng(0)
    words = pd.DataFrame((rng.random((80, 6)) < 0.1).astype(int)).add_prefix("word ")
    sizes = pd.DataFrame(rng.random((80, 6))).add_prefix("size ")
    for X, decoder in ((words, "BestLabelSet"), (sizes, "EachLabel")):
        label = (X.iloc[:, 0] > 0.5).astype(int)
        X.assign(label=label).to_csv(tmp_path / "data.csv", index=False)
        data = ("fit", tmp_path / "data.csv", "--labels", "label", "-o", tmp_path / "theory.json")
        code, _, err = run(*data, "--candidates", 20)
        assert code == 0, err
        assert type(Theory.from_json(tmp_path / "theory.json").decoder).__name__ == decoder


def test_boosted_rules_are_at_most_max_rules(fit):
    code, theory = fit("--method", "boosted", "--max-rules", 12)
    assert code == 0, theory
    assert 0 < len(theory) <= 12


def test_tuning_tells_what_it_chose_and_its_score(run, tmp_path, few_examples):
    options = ["-o", tmp_path / "theory.json", "--method", "boosted", "--max-rules", 20]
    command = ["fit", "planted", *options, "--decode", "each-label", "--tune", "brier"]
    found = json.loads(run(*command, "--json")[1])
    assert found["chosen"] == {
        "max_conditions": 4,
        "max_labels_per_rule": 1,
        "condense": found["chosen"]["condense"],
        "m": 16,
        "phi": found["chosen"]["phi"],
        "decode": "each-label",
    }
    assert found["chosen"]["condense"] in (False, "predictions", "labels")
    assert -0.25 < found["score"] < 0
    text = " ".join(run(*command)[1].split())
    assert f"m=16, phi={found['chosen']['phi']:g}, decode=each-label (brier, negated: -0." in text


@pytest.mark.parametrize("tune", [[], ["--tune", "hamming"]])
def test_a_share_of_boosted_rules_is_kept(fit, tune):
    code, theory = fit("--method", "boosted", "--phi", 0.8, *tune)
    assert code == 0, theory
    assert theory.phi == 0.8


def test_how_many_boosted_rules_to_keep_can_be_all_there_is_to_tune(fit):
    options = ["--tune", "hamming", "--decode", "each-label", "--max-rules", 600]
    code, theory = fit("--method", "boosted", *options)
    assert code == 0, theory


@pytest.mark.parametrize("tune", [[], ["--tune", "hamming"]])
@pytest.mark.parametrize(
    ("method", "option"),
    [
        ("boosted", "--candidates"),
        ("ripper", "--candidates"),
        ("ripper", "--parameter"),
    ],
)
def test_options_that_a_method_lacks_are_rejected(fit, method, option, tune):
    code, message = fit("--method", method, option, 1, *tune)
    assert code == 2
    assert method in message


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--method", "shrot"], 2, "--method"),
        (["--decode", "sets"], 2, "--decode"),
        (["--candidates", 0], 2, "--candidates"),
        (["--heuristic", "wra", "--parameter", 1], 2, "wra has no parameter"),
        (["--method", "boosted", "--heuristic", "wra"], 2, "heuristic"),
        (["--heuristic", "gini"], 1, "unknown heuristic 'gini'"),
        (["--phi", 2], 1, "phi must be"),
        (["--tune", "hamming", "--phi", 2], 1, "phi must be"),
        (["--tune", "hammming"], 1, "'hammming'"),
    ],
)
def test_wrong_values_are_one_sentence(fit, options, code, message):
    got, said = fit(*options)
    assert got == code
    assert message in said


def test_columns_are_left_out_or_taken_as_codes(run, labels, tmp_path):
    planted = make_planted_rules(150, random_state=0)
    text = planted.X.select_dtypes("category").iloc[:, 0]
    table = planted.X.join(planted.Y).drop(columns=text.name)
    table["row"] = range(len(table))
    # One code is missing, so that a reader sees 1.0, 2.0, ...
    table["code"] = (text.cat.codes + 1.0).where(table["row"] != 3)
    data, theory = tmp_path / "fruit.csv", tmp_path / "theory.json"
    table.to_csv(data, index=False)
    command = ["fit", data, "--labels", labels, "-o", theory, *SMALL, "--json"]
    assert run(*command)[0] == 0
    kinds = {f.name: f.is_nominal for f in Theory.from_json(theory).features}
    assert "row" in kinds
    assert not kinds["code"]

    code, out, err = run(*command, "--ignore", "row", "--nominal", "code")
    assert code == 0, err
    learned = Theory.from_json(theory)
    assert json.loads(out)["n_rules"] == len(learned)
    kinds = {f.name: f.is_nominal for f in learned.features}
    assert "row" not in kinds
    assert kinds["code"]
    # Later commands read the kinds of the columns from the theory.
    code, out, err = run("evaluate", theory, data, "--json")
    assert code == 0, err
    is_right = learned.predict(pd.read_csv(data)) == table[labels.split(",")]
    assert json.loads(out)["hamming"] == pytest.approx(is_right.to_numpy().mean())

    code, _, err = run(*command, "--ignore", "rwo")
    assert code == 1
    assert "did you mean 'row'" in err


def test_a_file_of_another_kind_is_one_sentence(run, saved, labels, tmp_path):
    (tmp_path / "data.dat").write_bytes((saved / "data.csv").read_bytes())
    command = ["fit", tmp_path / "data.dat", "--labels", labels, "-o", tmp_path / "t.json"]
    for options in ((), ("--ignore", "row")):
        code, _, err = run(*command, *options)
        assert code == 1
        assert "data.dat" in err


def test_help_names_the_default_method(run):
    assert f"[default: {DEFAULT_PRESET}]" in run("fit", "--help")[1]


CONSTRAINTS = """
forbidden = ["weight"]
max_conditions = 2
given = ["for jam <- bruised = yes", {rule = "for juice <- firmness < 1", note = "soft"}]

[for_label."for baking"]
increasing = ["firmness"]
"""


class TestWeights:
    @pytest.mark.parametrize("method", ["short", "boosted"])
    def test_a_column_has_the_weights(self, run, labels, tmp_path, method):
        few = make_planted_rules(90, random_state=0)
        weights = np.random.default_rng(0).random(90).round(3)
        table = few.X.assign(heavy=weights).join(few.Y)
        table.to_csv(tmp_path / "data.csv", index=False)
        out = tmp_path / "theory.json"
        options = () if method == "boosted" else SMALL
        about = ("fit", tmp_path / "data.csv", "--labels", labels, "--method", method, "-j", 1)
        code, *_ = run(*about, *options, "--weight", "heavy", "-o", out)
        theory = Theory.from_json(out)
        assert code == 0
        assert "heavy" not in [feature.name for feature in theory.features]
        run(*about, *options, "--ignore", "heavy", "-o", out)
        assert Theory.from_json(out) != theory

    @pytest.mark.parametrize(
        ("column", "message"),
        [("colour", "the column 'colour' has no numbers"), ("mass", "there is no column 'mass'")],
    )
    def test_a_mistake_is_one_sentence(self, fit, column, message):
        code, found = fit("--weight", column)
        assert code == 2
        assert message in found


class TestConstraints:
    @pytest.mark.parametrize("method", ["paper", "short", "boosted", "ripper"])
    @pytest.mark.parametrize("is_table", [True, False])
    def test_they_hold_for_every_method(self, run, saved, tmp_path, labels, method, is_table):
        text = CONSTRAINTS
        if is_table:
            text = "[constraints]" + text.replace("[for_label", "[constraints.for_label")
        file, out = tmp_path / "constraints.toml", tmp_path / "theory.json"
        file.write_text(text, encoding="utf-8")
        options = ["--candidates", "300"] if method in ("paper", "short") else []
        arguments = (saved / "data.csv", "--labels", labels, "--method", method, "-o", out)
        code, _, err = run("fit", *arguments, "--constraints", file, *options)
        assert code == 0, err
        wanted = Constraints.from_plain(tomllib.loads(CONSTRAINTS))
        theory = Theory.from_json(out)
        assert wanted.violations(theory) == []
        (given,) = (s for s in theory if s.rule == wanted.given[1])
        assert given.provenance.describe() == "given: soft"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("forbidden = [", "is not valid TOML"),
            ("forbiden = ['weight']", "unknown constraint 'forbiden' (did you mean 'forbidden'"),
            ("forbidden = 'weight'", "forbidden must be a list, got 'weight'"),
            ("given = ['for jam']", "cannot read the rule 'for jam' at character 8"),
            ("given = [{note = 'x'}]", "a given rule needs the field 'rule'"),
            ("given = [{rule = 'a <- b < 1', why = 'x'}]", "a given rule has no field 'why'"),
            ("given = [{rule = 'a <- b < 1', when = 'now'}]", "must be written as 2026-03-01"),
            ("constraints = 3", "constraints must be a table, got 3"),
        ],
    )
    def test_a_mistake_is_one_sentence_with_the_file(
        self, run, saved, tmp_path, labels, text, message
    ):
        file = tmp_path / "constraints.toml"
        file.write_text(text, encoding="utf-8")
        arguments = (saved / "data.csv", "--labels", labels, "-o", tmp_path / "theory.json")
        code, out, err = run("fit", *arguments, "--constraints", file)
        assert (code, out) == (1, "")
        assert err.startswith(f"error: {file}")
        assert message in err
        assert len(err.splitlines()) == 1

    def test_an_unknown_attribute_is_named(self, run, saved, tmp_path, labels):
        file = tmp_path / "constraints.toml"
        file.write_text("forbidden = ['wieght']", encoding="utf-8")
        arguments = (saved / "data.csv", "--labels", labels, "-o", tmp_path / "theory.json")
        code, _, err = run("fit", *arguments, "--constraints", file, "--candidates", 100)
        assert code == 1
        assert "unknown attribute 'wieght' in forbidden (did you mean 'weight'?)" in err

    def test_the_file_is_not_overwritten(self, reject, saved, tmp_path, labels):
        file = tmp_path / "constraints.toml"
        file.write_text("", encoding="utf-8")
        arguments = (saved / "data.csv", "--labels", labels, "-o", file)
        assert "is an input of this command" in reject("fit", *arguments, "--constraints", file)


@pytest.mark.parametrize("method", ["paper", "boosted", "ripper"])
def test_too_little_memory_says_what_to_change(fit, method):
    code, message = fit("--method", method, "--max-memory", "1kB")
    assert code == 1
    assert "max_memory allows" in message
    assert "less" in message
