"""An embedded table: diabetes patients, labelled by findings that a doctor would name."""

import numpy as np
import pandas as pd

from .multilabel import MultiLabelData


def load_patients() -> MultiLabelData:
    """Load diabetes patients, labelled by findings of blood tests and by how fast the disease went on.

    The 442 patients are those of ``load_diabetes`` of scikit-learn (Efron et al. 2004), without a
    download. Attributes are the age in years, the body mass index, the mean arterial blood pressure in
    mmHg, and the LDL cholesterol and triglycerides in mg/dl. Labels are thresholds of what was measured
    besides: total cholesterol of at least 200 mg/dl, HDL cholesterol below 40, a ratio of the two of at
    least 5, blood sugar of at least 100, and the fastest quarter of the progression after one year.

    Total cholesterol is close to LDL + HDL + triglycerides / 5, so two labels can be read off the
    attributes almost surely. The others cannot: there, rules show tendencies.

    Returns
    -------
    data : MultiLabelData
        X has shape (442, 5), Y has shape (442, 5).

    See Also
    --------
    load_docstrings : an embedded data set of texts.

    Notes
    -----
    scikit-learn calls its column s5 "possibly log of serum triglycerides level"; the attribute is its
    exponential, rounded, as is the blood pressure. The sex is left out, since its codes are not
    documented.

    Examples
    --------
    >>> from steelyard import load_patients
    >>> data = load_patients()
    >>> data
    patients: 442 examples, 5 attributes (5 numeric), 5 labels, cardinality 1.35
    >>> data.Y.mean().round(2).to_dict()
    {'high cholesterol': 0.35, 'low HDL': 0.23, 'high cholesterol ratio': 0.3,
     'raised blood sugar': 0.21, 'fast progression': 0.25}
    """
    from sklearn.datasets import load_diabetes

    measured, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    attributes = {
        "age": measured["age"],
        "body mass index": measured["bmi"],
        "blood pressure": measured["bp"].round(),
        "LDL": measured["s2"],
        "triglycerides": np.exp(measured["s5"]).round(),
    }
    labels = {
        "high cholesterol": measured["s1"] >= 200,
        "low HDL": measured["s3"] < 40,
        "high cholesterol ratio": measured["s4"] >= 5,
        "raised blood sugar": measured["s6"] >= 100,
        "fast progression": progression >= progression.quantile(0.75),
    }
    return MultiLabelData(
        X=pd.DataFrame(attributes),
        Y=pd.DataFrame(labels).astype(np.int8),
        name="patients",
        description="diabetes patients, labelled by findings and by how fast the disease progressed",
    )
