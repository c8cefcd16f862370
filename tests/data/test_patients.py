"""The embedded patients and their findings."""

from sklearn.datasets import load_diabetes

from steelyard.data import load_patients


def test_labels_are_clinical_thresholds_of_what_rules_cannot_see():
    data = load_patients()
    measured = load_diabetes(as_frame=True, scaled=False).frame
    assert data.Y["high cholesterol"].tolist() == measured["s1"].ge(200).tolist()
    assert data.Y["low HDL"].tolist() == measured["s3"].lt(40).tolist()
    assert data.Y["raised blood sugar"].tolist() == measured["s6"].ge(100).tolist()
    assert data.Y["fast progression"].mean().round(2) == 0.25
    seen = {tuple(column) for column in data.X.round(0).T.to_numpy()}
    assert not seen & {
        tuple(measured[name].round(0)) for name in ("s1", "s3", "s4", "s6", "target")
    }


def test_all_labels_are_minorities_and_all_values_present():
    data = load_patients()
    assert data.Y.mean().lt(0.5).all()
    assert data.X.notna().all(axis=None)
    assert data.X["triglycerides"].between(20, 500).all()
