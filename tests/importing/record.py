"""Record what other learners learn, save and predict: ``python tests/importing/record.py``.

It needs wittgenstein, rulekit, decision-rules, mlrl-boomer and mlrl-testbed, and Java for rulekit. The
tests need only the files that it writes.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "recorded"
LABELS = ["flu", "cold", "old one"]


def make_patients(seed=0, n_rows=150):
    """Attributes and labels with noise; names and categories with spaces."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "fever": rng.normal(37.5, 1, n_rows).round(2),
            "the age": rng.integers(1, 90, n_rows),
            "nose": rng.choice(["dry", "runs", "blocked up"], n_rows),
            "days": rng.integers(0, 3, n_rows),
        }
    )
    Y = {
        "flu": (X["fever"] > 38) & (X["nose"] != "dry"),
        "cold": (X["the age"] < 20) | ((X["nose"] == "runs") & (X["days"] == 2)),
        "old one": (X["the age"] > 50) | (X["fever"] < 36.5),
    }
    noise = rng.random((n_rows, len(Y))) < 0.05
    return X, pd.DataFrame(np.column_stack(list(Y.values())) ^ noise, columns=LABELS).astype(int)


def make_class(Y):
    """One class per patient."""
    return pd.Series(np.where(Y["flu"] == 1, "flu", np.where(Y["cold"] == 1, "cold", "well")))


def record_wittgenstein(X, Y):
    import wittgenstein

    model = wittgenstein.RIPPER(random_state=0)
    model.fit(X, Y["cold"], pos_class=1)
    return {"wittgenstein.txt": f"{model.ruleset_}\n"}, {"ripper": np.array(model.predict(X))}


def record_rulekit(X, Y):
    from decision_rules.ruleset_factories import ruleset_factory
    from decision_rules.serialization import JSONSerializer
    from rulekit.classification import RuleClassifier

    X, y = X.astype({"nose": object}), make_class(Y).rename("ill").astype(object)
    model = RuleClassifier(minsupp_new=4, max_growing=3.0)
    model.fit(X, y)
    ruleset = ruleset_factory(model, X, y)
    text = json.dumps(JSONSerializer.serialize(ruleset), indent=1)
    return {"rulekit.json": text + "\n"}, {"rulekit": ruleset.predict(X)}


def record_boomer(X, Y):
    from mlrl.boosting import BoomerClassifier
    from mlrl.common.testbed.experiments.output.model_text.model_text import RuleModelAsText
    from mlrl.util.options import Options

    categories = sorted(set(X["nose"]))
    coded = X.assign(nose=X["nose"].map(categories.index)).to_numpy(dtype=np.float32)
    attributes = [
        SimpleNamespace(name=n, nominal_values=categories if n == "nose" else None) for n in X
    ]
    described = SimpleNamespace(
        features=attributes, outputs=[SimpleNamespace(name=name) for name in Y]
    )
    files, columns = {}, {}
    for name, decimals, head in (("boomer", 2, "single"), ("boomer_digits", 0, "complete")):
        model = BoomerClassifier(max_rules=40, head_type=head, binary_predictor="output-wise")
        model.fit(coded, Y.to_numpy(dtype=np.uint8), nominal_feature_indices=[2])
        options = Options({"decimals_body": str(decimals), "decimals_head": str(decimals)})
        files[f"{name}.txt"] = RuleModelAsText(model.model_, described).to_text(options)
        predicted = model.predict(coded)
        predicted = predicted.toarray() if hasattr(predicted, "toarray") else predicted
        columns |= {f"{name} {label}": predicted[:, j] for j, label in enumerate(LABELS)}
    return files, columns


def main():
    X, Y = make_patients()
    columns = {}
    for record in (record_wittgenstein, record_rulekit, record_boomer):
        files, predicted = record(X, Y)
        columns |= predicted
        for name, text in files.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
    X.join(Y).to_csv(FOLDER / "patients.csv", index=False)
    pd.DataFrame(columns).map(lambda x: int(x) if not isinstance(x, str) else x).to_csv(
        FOLDER / "predictions.csv", index=False
    )


if __name__ == "__main__":
    main()
