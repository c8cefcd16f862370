"""Digests of learned theories and their predictions: does a change of the code change a result?

Learns with every preset, Ripper and the tuned estimators on the paper's nine data sets (fold 1 held
out), segments and planted data, and hashes the printed rules with their counts and the predictions for
the held-out rows.

    python benchmarks/same_theories.py --write digests.json   # before the change
    python benchmarks/same_theories.py --check digests.json   # after it

`benchmarks/theories.json` holds the digests of the first release of the model; `--quick` leaves out the
large data sets. `--only boosted` learns with these methods only, and `--write` then keeps the other
digests of its file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris

import steelyard
from steelyard import (
    MEstimate,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    load_mulan,
    load_segments,
    make_planted_rules,
    theory_path,
)
from steelyard.data import read_folds
from steelyard.measures import MEASURES

SMALL = ["flags", "emotions", "birds"]
LARGE = ["cal500", "genbase", "yeast", "medical", "enron", "scene"]
MEASURED = [MEASURES[name] for name in ("f1_micro", "hamming", "subset")]
CELLS = [(h, phi) for h in (0, 4, 8, 16) for phi in (1.0, 0.5, 0.1)]


def boosted(**parameters: Any) -> Any:
    """The estimator of rules that vote, under its name of today or of yesterday."""
    if hasattr(steelyard, "BoostedRulesClassifier"):
        return steelyard.BoostedRulesClassifier(**parameters)
    return RuleSetClassifier(preset="accurate", **parameters)


def boosted_cv(scoring: str, **parameters: Any) -> Any:
    """The tuned estimator of rules that vote, under its name of today or of yesterday."""
    if hasattr(steelyard, "BoostedRulesClassifierCV"):
        return steelyard.BoostedRulesClassifierCV(scoring, **parameters)
    return RuleSetClassifierCV(scoring, preset="accurate", **parameters)


def load_parts(name: str) -> tuple[Any, Any, Any]:
    """Training table, training labels and held-out table."""
    if name in ("iris", "breast_cancer"):
        loaded = (load_iris if name == "iris" else load_breast_cancer)(as_frame=True)
        X, y = loaded.data, loaded.target.to_numpy()
        is_test = np.arange(len(X)) % 4 == 0
        return X[~is_test], y[~is_test], X[is_test]
    if name in ("segments", "planted", "planted_missing"):
        if name == "segments":
            data = load_segments()
        elif name == "planted":
            data = make_planted_rules(1500, noise=0.05, random_state=0)
        else:
            data = make_planted_rules(800, noise=0.1, missing=0.1, random_state=1)
        fold = 1 + np.arange(len(data.X)) % 10
    else:
        folder = Path(os.environ["STEELYARD_DATA"]) / name
        data = load_mulan(folder / f"{name}.arff")
        fold = read_folds(folder / "folds.csv", len(data.X))
    return data.X[fold != 1], data.Y[fold != 1], data.X[fold == 1]


def digest(*parts: Any) -> str:
    """A short hash of texts and arrays."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes()
        hashed.update(data)
    return hashed.hexdigest()[:16]


def describe_rules(theory: Any) -> str:
    """Every rule with its counts, as text that does not depend on how a theory prints itself."""
    frame = theory.to_frame()
    weights = frame["weight"] if "weight" in frame else np.zeros(len(frame))
    columns = (frame["label"], frame["target_class"], frame["rule"], frame["tp"], frame["fp"])
    rows = zip(*columns, frame["value"], weights, strict=True)
    return "\n".join(
        f"{label}|{target}|{rule}|{tp}|{fp}|{value:.12g}|{weight:.6f}"
        for label, target, rule, tp, fp, value, weight in rows
    )


def digest_fitted(model: Any, X_test: Any) -> dict[str, str]:
    """Rules, predictions and the order that scores give of a fitted estimator."""
    predicted = np.asarray(model.predict(X_test))
    return {
        "rules": digest(describe_rules(model.theory_)),
        "predictions": digest(predicted.astype(str if predicted.dtype.kind == "O" else None)),
        "n_rules": str(len(model.theory_)),
    }


def single_estimators() -> dict[str, Callable[[], Any]]:
    """What is fitted on every data set."""
    return {
        "paper": lambda: RuleSetClassifier(MEstimate(m=16), preset="paper", random_state=0),
        "short": lambda: RuleSetClassifier(MEstimate(m=16), preset="short", random_state=0),
        "boosted": lambda: boosted(random_state=0),
        "ripper": lambda: RipperClassifier(random_state=0),
    }


def tuned_estimators() -> dict[str, Callable[[], Any]]:
    """What is tuned on the small data sets."""
    made: dict[str, Callable[[], Any]] = {}
    for scoring in ("f1_micro", "subset"):
        for preset in ("paper", "short"):
            made[f"{preset}_cv_{scoring}"] = lambda s=scoring, p=preset: RuleSetClassifierCV(
                s, preset=p, n_candidates=5_000, cv=3, random_state=0
            )
        made[f"boosted_cv_{scoring}"] = lambda s=scoring: boosted_cv(
            s, max_rules=100, cv=3, random_state=0
        )
    return made


def digests_of(name: str, only: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Name and digests of what is learned on one data set by the methods that begin with a text."""
    X, Y, X_test = load_parts(name)
    for kind, make in single_estimators().items():
        if not kind.startswith(only):
            continue
        yield f"{name}/{kind}", digest_fitted(make().fit(X, Y), X_test)
    if name in LARGE:
        return
    for kind, make in tuned_estimators().items():
        if kind.endswith("subset") and np.ndim(Y) == 1:
            continue
        if np.ndim(Y) == 1 or not kind.startswith(only):
            continue
        yield f"{name}/{kind}", digest_fitted(make().fit(X, Y), X_test)
    if np.ndim(Y) == 1 or only:
        return
    path = theory_path(X, Y, n_candidates=10_000, preset="paper", random_state=1)
    values = path.evaluate(X, np.asarray(Y), MEASURED)
    theories = [path.theory(h, phi) for h, phi in CELLS]
    yield (
        f"{name}/path",
        {
            "rules": digest("\n\n".join(map(describe_rules, theories))),
            "predictions": digest(*(np.asarray(t.predict(X_test)) for t in theories)),
            "cells": digest(*(np.round(values[m.name], 12) for m in MEASURED)),
        },
    )


def main() -> int:
    """Write or check the digests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="file to write the digests to")
    parser.add_argument("--check", type=Path, help="file to compare the digests with")
    parser.add_argument("--data", help="data sets, separated by commas")
    parser.add_argument("--only", default="", help="first letters of the methods to learn with")
    parser.add_argument("--quick", action="store_true", help="leave out the large data sets")
    arguments = parser.parse_args()
    names = ["planted", "planted_missing", "segments", "iris", "breast_cancer"]
    if "STEELYARD_DATA" in os.environ:
        names += SMALL if arguments.quick else SMALL + LARGE
    if arguments.data:
        names = arguments.data.split(",")
    expected = json.loads(arguments.check.read_text()) if arguments.check else {}
    found: dict[str, dict[str, str]] = {}
    n_different = 0
    warnings.simplefilter("ignore")
    for name in names:
        for key, values in digests_of(name, arguments.only):
            found[key] = values
            if arguments.check:
                wrong = [k for k, v in values.items() if expected.get(key, {}).get(k) != v]
                n_different += bool(wrong)
                print(f"{key:40} {'differs: ' + ', '.join(wrong) if wrong else 'same'}", flush=True)
            else:
                print(f"{key:40} {values}", flush=True)
    if arguments.write:
        if arguments.only and arguments.write.exists():
            found = json.loads(arguments.write.read_text()) | found
        arguments.write.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    if arguments.check:
        print(f"{len(found) - n_different} of {len(found)} results are the same")
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main())
