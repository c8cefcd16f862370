"""``steelyard fit``: which options go together, and that each of them reaches the estimator."""

import pytest

from steelyard import RuleSetClassifierCV, Theory, make_planted_rules


@pytest.fixture
def fit(run, tmp_path, monkeypatch):
    """Learn from a small data set: exit code, and the theory or what was said instead."""
    small = make_planted_rules(90, random_state=0)
    monkeypatch.setattr("steelyard.cli.learn.load_labelled", lambda *_, **__: small)

    def call(*options):
        file = tmp_path / "theory.json"
        code, _, err = run("fit", "planted", "-o", file, "-j", 1, *options)
        return code, Theory.from_json(file) if code == 0 else _flatten(err)

    return call


def _flatten(err):
    assert "Traceback" not in err
    return " ".join(err.replace("│", " ").split())


def test_tuning_keeps_what_is_given(fit):
    tune = ("--tune", "hamming", "--candidates", 200)
    for options, heuristic, phi in [
        (("--parameter", 3), "m-estimate(m=3)", None),
        (("--heuristic", "wra"), "wra", None),
        (("--phi", 0.45), None, 0.45),
        (("--heuristic", "f-measure", "--parameter", 0.7), "f-measure(beta=0.7)", None),
    ]:
        code, theory = fit(*tune, *options)
        assert code == 0, theory
        assert heuristic in (None, theory.heuristic)
        assert phi in (None, theory.phi)


def test_tuning_a_family_chooses_among_the_paper_s_values(fit, monkeypatch):
    grids = []

    def remember(self, X, y):
        grids.append([h.parameter for h in self.heuristics])
        raise ValueError("that is enough")

    monkeypatch.setattr(RuleSetClassifierCV, "fit", remember)
    assert fit("--tune", "hamming", "--heuristic", "f-measure")[0] == 1
    assert len(grids[0]) == 20
    assert 1.0 in grids[0]


@pytest.mark.parametrize(
    "options",
    [
        ["--parameter", 4, "--phi", 1],
        ["--heuristic", "wra", "--phi", 0.5],
        ["--preset", "accurate", "--decode", "label-sets"],
    ],
)
def test_tuning_is_refused_where_nothing_is_left_to_choose(fit, options):
    code, said = fit("--tune", "hamming", *options)
    assert code == 2
    assert "the other options leave nothing to choose" in said


def test_decode_chooses_label_sets_or_each_label(fit):
    small = ("--candidates", 200)
    assert fit(*small)[1].label_sets is None
    assert fit(*small, "--decode", "label-sets")[1].label_sets is not None
    assert fit(*small, "--preset", "short")[1].label_sets is not None
    assert fit(*small, "--preset", "short", "--decode", "any")[1].label_sets is None
    code, said = fit(*small, "--decode", "sets")
    assert code == 2
    assert "--decode" in said


def test_max_rules_is_for_rules_that_vote_and_candidates_for_those_that_do_not(fit):
    code, theory = fit("--preset", "accurate", "--max-rules", 12)
    assert code == 0, theory
    assert 0 < len(theory) <= 12
    for options, sentence in [
        (["--max-rules", 12], "rules that vote, as with --preset accurate"),
        (["--preset", "short", "--max-rules", 12], "rules that vote, as with --preset accurate"),
        (["--preset", "accurate", "--candidates", 300], "grown as they are needed"),
    ]:
        for tune in ([], ["--tune", "hamming"]):
            code, said = fit(*options, *tune)
            assert code == 2
            assert sentence in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--preset", "shrot"], "preset must be one of"),
        (["--phi", 2], "phi must be a number above 0"),
        (["--tune", "hamming", "--phi", 2], "phi must be a number above 0"),
        (["--tune", "hamming", "--heuristic", "gini"], "unknown heuristic 'gini'"),
        (["--preset", "accurate", "--heuristic", "wra"], "it knows no wra"),
    ],
)
def test_wrong_values_are_one_sentence(fit, options, message):
    code, said = fit(*options)
    assert code == 1
    assert message in said


def test_help_says_what_the_defaults_are_and_when_a_preset_speaks(run):
    for command, defaults in {
        "fit": [
            "m-estimate",
            "16 or 1",
            "0.5; 1 of rules that vote",
            "300000; short: 30000",
            "333",
        ],
        "study": ["m-estimate", "the paper's 20", "300000", "0"],
        "rules": ["m-estimate", "16 or 1", "0.5"],
        "export": ["sqlite", "data"],
        "predict": ["standard output"],
    }.items():
        said = _flatten(run(command, "--help")[1])
        for default in defaults:
            assert f"[default: {default}]" in said, (command, default)
    said = _flatten(run("fit", "--help")[1])
    assert "A preset also speaks for a parameter that is passed with its default value" in said
    said = _flatten(run("export", "--help")[1])
    assert "Markdown, text or JSON" in said
    assert "PMML is for theories without votes" in said
