"""BOOMER with its defaults on data sets with folds (by default the paper's nine): tidy rows and a table.

Run:  python benchmarks/boomer_table.py DATA --out rows.csv [--datasets flags,emotions] [--seeds 0,1,2]
      [--keep-constants]

DATA is a folder with one folder a data set, each with <name>.arff, <name>.xml and folds.csv. Needs
BOOMER beside this package (pip install mlrl-boomer==0.15.6, Python 3.12). A run that was killed goes
on: what rows.csv has already is not computed again. Everything runs in one thread.
"""

import argparse
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from mlrl.boosting import BoomerClassifier

from steelyard import load_mulan
from steelyard.data import read_folds
from steelyard.measures import get_measure

DATA_SETS = (
    "flags",
    "emotions",
    "birds",
    "genbase",
    "medical",
    "cal500",
    "yeast",
    "enron",
    "scene",
)
# How labels are predicted from the scores of the rules; None leaves the choice to BOOMER, which for
# its default loss is to predict each label by itself.
PREDICTORS = {"default": None, "gfm": "gfm", "example-wise": "example-wise"}
MEASURES = ("f1_micro", "hamming", "subset")
ALL_VALUES = (*MEASURES, "n_rules", "fit_seconds")
UNIT = ["dataset", "seed", "fold", "predictor"]
COLUMNS = [*UNIT, "measure", "value"]

ONE_THREAD = {
    "parallel_rule_refinement": "false",
    "parallel_statistic_update": "false",
    "parallel_prediction": "false",
}


def frame_to_matrix(X: pd.DataFrame) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """The attributes as BOOMER wants them, and which are nominal: those hold category numbers.

    Missing values are NaN. Sparse columns become dense: BOOMER learns other rules from a sparse
    matrix of the same values, with a training loss 10 % (enron) to 30 % (medical) higher.
    """
    is_nominal = np.array([isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes])
    matrix = np.empty(X.shape, dtype=np.float32)
    for f, (_, column) in enumerate(X.items()):
        if is_nominal[f]:
            codes = column.cat.codes.to_numpy()
            matrix[:, f] = np.where(codes < 0, np.nan, codes)
        else:
            matrix[:, f] = column.to_numpy()
    return matrix, is_nominal


def find_varying(X: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Which attributes have more than one value; unless asked otherwise BOOMER is given only these.

    It looks for a rule in a random sample of the attributes, and stops for good where none of the
    sample can split the examples. Of genbase's 1,186 attributes 1,073 are constant: with them it
    stops after at most three rules and has an F1 of 0, without them it learns all 999.
    """
    return (X[1:] != X[:1]).any(axis=0)


def fit_boomer(
    X: npt.NDArray[np.float32],
    Y: npt.NDArray[np.int8],
    is_nominal: npt.NDArray[np.bool_],
    seed: int,
) -> BoomerClassifier:
    """Fit once for all predictors: they share the rules, and differ only in how they use them.

    The training is that of the example-wise predictor because it keeps the label vectors of the
    training data, which that predictor and GFM need, and the default one ignores. After
    ``set_params`` the predictions are those of a fit of its own with the same seed.
    """
    clf = BoomerClassifier(random_state=seed, binary_predictor="example-wise", **ONE_THREAD)
    # A list, as an array is asked for its truth value.
    return clf.fit(X, Y, nominal_feature_indices=np.flatnonzero(is_nominal).tolist())


def score_fold(
    clf: BoomerClassifier, X: npt.NDArray[np.float32], Y: npt.NDArray[np.int8], predictor: str
) -> dict[str, float]:
    clf.set_params(binary_predictor=PREDICTORS[predictor])
    predicted = clf.predict(X)
    values = {measure: float(get_measure(measure)(Y, predicted)) for measure in MEASURES}
    n_default_rules = int(clf.model_.contains_default_rule())
    return values | {"n_rules": clf.model_.get_num_used_rules() - n_default_rules}


def run_folds(folder: Path, out: Path, seed: int, keep_constants: bool) -> None:
    """Append what is missing of a data set, one fold after the other."""
    name = folder.name
    data = load_mulan(folder / f"{name}.arff", folder / f"{name}.xml")
    folds = read_folds(folder / "folds.csv", n_examples=len(data))
    X, is_nominal = frame_to_matrix(data.X)
    Y = data.Y.to_numpy()
    done = find_done(read_rows(out))
    for fold in range(1, folds.max() + 1):
        missing = [p for p in PREDICTORS if (name, seed, fold, p) not in done]
        if not missing:
            continue
        is_test = folds == fold
        given = find_varying(X[~is_test]) | keep_constants
        X_train, X_test = X[np.ix_(~is_test, given)], X[np.ix_(is_test, given)]
        start = time.perf_counter()
        clf = fit_boomer(X_train, Y[~is_test], is_nominal[given], seed=1 + fold + 10 * seed)
        seconds = time.perf_counter() - start
        rows = []
        for predictor in missing:
            values = score_fold(clf, X_test, Y[is_test], predictor)
            values["fit_seconds"] = round(seconds, 3)
            unit = (name, seed, fold, predictor)
            rows += [(*unit, measure, values[measure]) for measure in ALL_VALUES]
        append_rows(out, rows)
        print(f"{name}, seed {seed}, fold {fold}: {seconds:.1f} s", file=sys.stderr, flush=True)


def read_rows(out: Path) -> pd.DataFrame:
    return pd.read_csv(out) if out.exists() else pd.DataFrame(columns=COLUMNS)


def find_done(rows: pd.DataFrame) -> set[tuple[str, int, int, str]]:
    return set(rows[UNIT].itertuples(index=False, name=None))


def append_rows(out: Path, rows: list[tuple[str, int, int, str, str, float]]) -> None:
    is_new = not out.exists()
    with out.open("a", encoding="utf-8", newline="") as file:
        pd.DataFrame(rows, columns=COLUMNS).to_csv(file, index=False, header=is_new)


def show_table(rows: pd.DataFrame, names: list[str]) -> None:
    means = rows.groupby(["dataset", "measure", "predictor"])["value"].mean()
    n_folds = rows.groupby("dataset")["fold"].nunique()
    print(f"\nBOOMER {version('mlrl-boomer')}, means over folds and seeds, percent\n")
    print("| data set | folds | measure | " + " | ".join(PREDICTORS) + " |")
    print("|---|---:|---" + "|---:" * len(PREDICTORS) + "|")
    for name in names:
        for measure in MEASURES:
            cells = [f"{100 * means[name, measure, p]:.2f}" for p in PREDICTORS]
            title = get_measure(measure).title
            print(f"| {name} | {n_folds[name]} | {title} | " + " | ".join(cells) + " |")

    print("\n| data set | rules a fold | seconds of training a fold |\n|---|---:|---:|")
    for name in names:
        n_rules, seconds = (means[name, about, "default"] for about in ("n_rules", "fit_seconds"))
        print(f"| {name} | {n_rules:.0f} | {seconds:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with the data sets' folders")
    parser.add_argument("--out", type=Path, required=True, help="CSV file of the rows")
    parser.add_argument("--datasets", default=",".join(DATA_SETS))
    parser.add_argument("--seeds", default="0")
    parser.add_argument(
        "--keep-constants", action="store_true", help="leave attributes with one value in"
    )
    arguments = parser.parse_args()
    names = arguments.datasets.split(",")
    missing = [name for name in names if not (arguments.data / name).is_dir()]
    if missing:
        parser.error(f"no folder in {arguments.data}: {', '.join(missing)}")
    for seed in map(int, arguments.seeds.split(",")):
        for name in names:
            run_folds(arguments.data / name, arguments.out, seed, arguments.keep_constants)
    show_table(read_rows(arguments.out), names)


if __name__ == "__main__":
    main()
