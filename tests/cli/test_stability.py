"""``steelyard stability``: what `rule_stability` gives, as text and as JSON."""

import json

import pandas as pd
import pytest

from steelyard import RipperClassifier, rule_stability

pytestmark = pytest.mark.usefixtures("in_saved")

LABELS = ["for juice", "for jam", "for baking", "for drying"]
COMMAND = (
    "stability",
    "data.csv",
    "--labels",
    ",".join(LABELS),
    "--method",
    "ripper",
    "--jobs",
    "1",
)


def test_it_prints_what_the_function_gives(run, saved):
    code, out, err = run(*COMMAND, "--samples", "3", "--seed", "2")
    assert code == 0, err
    table = pd.read_csv(saved / "data.csv")
    found = rule_stability(
        RipperClassifier(random_state=2),
        table.drop(columns=LABELS),
        table[LABELS],
        n_resamples=3,
        random_state=2,
    )
    assert str(found).splitlines()[:2] == out.splitlines()[:2]
    _, out, _ = run(*COMMAND, "--samples", "3", "--seed", "2", "--json")
    content = json.loads(out)
    assert content["value"] == pytest.approx(found.value)
    assert [row["share"] for row in content["rules"]] == pytest.approx(found.share.tolist())


@pytest.mark.parametrize("wrong", [("--samples", "0"), ("--tune", "f1_micro")])
def test_wrong_options_are_rejected(run, wrong):
    code, _, err = run(*COMMAND, *wrong)
    assert code == 2
    assert wrong[0].lstrip("-") in err or "tune" in err
