"""``steelyard predict`` on labelled and unlabelled tables."""

import pandas as pd
import pytest

from steelyard import Theory


@pytest.mark.parametrize("is_labelled", [True, False])
def test_predictions_are_those_of_the_theory(run, saved, tmp_path, labels, is_labelled):
    table = pd.read_csv(saved / "data.csv")
    if not is_labelled:
        table = table.drop(columns=labels.split(","))
    table.to_csv(tmp_path / "new.csv", index=False)
    theory, out = saved / "theory.json", tmp_path / "predictions.csv"
    code, printed, err = run("predict", theory, tmp_path / "new.csv", "-o", out)
    assert (code, printed) == (0, ""), err
    pd.testing.assert_frame_equal(pd.read_csv(out), Theory.from_json(theory).predict(table))
    code, printed, _ = run("predict", theory, tmp_path / "new.csv")
    assert printed == out.read_text(encoding="utf-8")
