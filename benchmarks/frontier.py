"""Quality against size: Ripper, BOOMER and our methods with the same total number of conditions.

    python benchmarks/frontier.py DATA --out rows.csv [--datasets emotions] [--folds 1,2] [--seed 0]
        [--methods ripper,short,boosted] [--factors 0.5,1,2,4] [--figure frontier.pdf]
    python benchmarks/frontier.py DATA --out rows.csv --methods boomer

DATA is a folder with one folder per data set, each with <name>.arff, <name>.xml and folds.csv. On each
fold the budgets are half, once, twice and four times the conditions of the theory of R3, Ripper with its
defaults. short and boosted are tuned for each measure by five inner folds with `max_total_conditions`;
BOOMER has so many of its rules that they exceed the budget by at most a tenth, and the predictor that is
made for the measure (pip install mlrl-boomer==0.15.6, Python 3.12). Rows that exist already are not
computed again, so other factors need another file.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nested import NestedTuning
from steelyard import RipperClassifier, load_mulan
from steelyard.estimators.methods import make_estimator
from steelyard.estimators.tuned import FoldScores
from steelyard.measures import get_measure
from steelyard.splitting import IterativeStratifiedKFold

MEASURES = ("f1_micro", "hamming", "subset")
RIPPERS: dict[str, dict[str, Any]] = {
    "R1": {"prune": False, "optimizations": 0},
    "R2": {"optimizations": 0},
    "R3": {},
}
UNIT = ["dataset", "seed", "fold", "method"]

# A row: method, factor of the budget, measure, value, rules, conditions.
Row = tuple[str, float, str, float, int, int]
Split = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, Any]


def judge(method: str, factor: float, theory: Any, split: Split, measures: Any) -> Iterator[Row]:
    predicted = theory.predict(split[2]).to_numpy()
    for measure in measures:
        value = get_measure(measure)(split[3], predicted)
        yield method, factor, measure, value, len(theory), theory.n_conditions


def run_ripper(split: Split, budgets: dict[float, int], seed: int) -> Iterator[Row]:
    """R1 to R3 as they are, and the best rules of R3 within each budget."""
    for name, parameters in RIPPERS.items():
        theory = RipperClassifier(random_state=seed, **parameters).fit(*split[:2]).theory_
        yield from judge(name, np.nan, theory, split, MEASURES)
    for factor, budget in budgets.items():
        clf = RipperClassifier(random_state=seed, max_total_conditions=budget)
        yield from judge("R3, cut", factor, clf.fit(*split[:2]).theory_, split, MEASURES)


def run_short(split: Split, budgets: dict[float, int], seed: int) -> Iterator[Row]:
    """What RuleSetClassifierCV does for each budget and measure, from the same candidates."""
    X, Y = split[:2]
    search = make_estimator("short", tune=MEASURES[0], random_state=seed)._plan(seed)
    splitter = IterativeStratifiedKFold(5, random_state=seed)
    splits = list(splitter.split(np.zeros((len(X), 1)), Y))
    paths: dict[tuple[int, int], Any] = {}

    def learn(v: int, k: int, rows: Any) -> Any:
        if (v, k) not in paths:
            model = search.models()[v]
            training_set = model._read_training_set(X.iloc[rows], Y.iloc[rows])
            paths[v, k] = model._learn_path(*training_set, *search.axes.values())
        return paths[v, k]

    def score(budget: int, k: int, train: Any, test: Any) -> Any:
        """The scores of all cells within a budget on an inner fold, as `Search.score_folds` has them."""
        measures = [get_measure(measure) for measure in MEASURES]
        truth = Y.iloc[test].to_numpy()
        scores, sizes = [], []
        for v in range(len(search.models())):
            path = replace(learn(v, k, train), max_total_conditions=budget)
            for decoder in search.decoders:
                values = path.evaluate(X.iloc[test], truth, measures, decoder)
                scores.append([values[measure].ravel() for measure in MEASURES])
                sizes.append((path.n_rules.ravel(), path.total_conditions.ravel()))
        return FoldScores(np.concatenate(scores, axis=1), *np.concatenate(sizes, axis=1))

    cells = search.cells()
    n_cells = len(cells) // len(search.models())
    for factor, budget in budgets.items():
        folds = [score(budget, k, *rows) for k, rows in enumerate(splits)]
        for i, measure in enumerate(MEASURES):
            cell = search.choose(folds, i)
            path = learn(cell // n_cells, -1, np.arange(len(X)))
            path = replace(path, max_total_conditions=budget)
            h, j = np.unravel_index(cell % path.n_rules.size, path.shape)
            theory = path.theory(h, path.phis[j], decoder=cells[cell]["decode"])
            yield from judge("short", factor, theory, split, [measure])


def run_boosted(split: Split, budgets: dict[float, int], seed: int) -> Iterator[Row]:
    """What BoostedRulesClassifierCV does for each budget and measure."""
    for factor, budget in budgets.items():
        options = {"max_total_conditions": budget, "random_state": seed}
        estimator = make_estimator("boosted", tune=MEASURES[0], **options)
        tuning = NestedTuning(estimator, *split[:2], seed, MEASURES)
        for measure in MEASURES:
            theory, _ = tuning.learn(tuning.choose(measure))
            yield from judge("boosted", factor, theory, split, [measure])


def run_boomer(split: Split, budgets: dict[float, int], seed: int) -> Iterator[Row]:
    """BOOMER, cut after the last rule with which it exceeds the budget by at most a tenth."""
    from mlrl.boosting import BoomerClassifier

    from boomer_table import ONE_THREAD, find_varying, frame_to_matrix
    from steelyard import import_theory

    (X, is_nominal), X_test = frame_to_matrix(split[0]), frame_to_matrix(split[2])[0]
    is_given = find_varying(X)
    X, X_test = X[:, is_given], X_test[:, is_given]
    nominal = {"nominal_feature_indices": np.flatnonzero(is_nominal[is_given]).tolist()}
    labels = list(map(str, split[1].columns))
    table = pd.DataFrame(X).rename(columns="x{}".format)
    for name in table.columns[is_nominal[is_given]]:
        known = table[name].notna()
        table[name] = table[name][known].astype(int).astype(str)

    def fit(max_rules: int) -> Any:
        clf = BoomerClassifier(
            max_rules=max_rules,
            random_state=1 + seed,
            binary_predictor="example-wise",
            **ONE_THREAD,
        )
        return clf.fit(X, split[1].to_numpy(), **nominal)

    def count(clf: Any) -> tuple[int, int]:
        """Rules and conditions; a body that predicts several labels, or is repeated, counts once."""
        theory = import_theory(clf, table, label_names=labels)
        bodies = {scored.body: len(scored) for scored in theory}
        return len(bodies), sum(bodies.values())

    for factor, budget in budgets.items():
        # The default rule has no condition, and rules may repeat a body.
        low, high = 1, 4 * budget + 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if count(fit(middle))[1] <= 1.1 * budget else (low, middle)
        clf = fit(low)
        for measure, predictor in zip(MEASURES, ("gfm", None, "example-wise"), strict=True):
            clf.set_params(binary_predictor=predictor)
            value = get_measure(measure)(split[3], clf.predict(X_test))
            yield "BOOMER", factor, measure, value, *count(clf)


METHODS: dict[str, Callable[..., Iterator[Row]]] = {
    "ripper": run_ripper,
    "short": run_short,
    "boosted": run_boosted,
    "boomer": run_boomer,
}


def run_fold(
    folder: Path, fold: int, seed: int, method: str, factors: list[float], out: Path
) -> None:
    name = folder.name
    data = load_mulan(folder / f"{name}.arff", folder / f"{name}.xml")
    is_test = pd.read_csv(folder / "folds.csv").iloc[:, -1].to_numpy() == fold
    X, Y = (part[~is_test].reset_index(drop=True) for part in (data.X, data.Y))
    split = (X, Y, data.X[is_test], data.Y[is_test].to_numpy())
    size = RipperClassifier(random_state=seed).fit(X, Y).theory_.n_conditions
    budgets = {factor: max(1, round(factor * size)) for factor in factors}
    rows = [(name, seed, fold, method, *row) for row in METHODS[method](split, budgets, seed)]
    columns = [*UNIT, "learner", "factor", "measure", "value", "n_rules", "n_conditions"]
    frame = pd.DataFrame(rows, columns=columns)
    frame.to_csv(out, mode="a", header=not out.exists(), index=False)


def show_table(rows: pd.DataFrame) -> None:
    rows = rows.assign(value=100 * rows["value"])
    about = ["dataset", "learner", "factor"]
    values = rows.pivot_table("value", about, "measure", dropna=False)[list(MEASURES)]
    keys = [rows[name] for name in about]
    sizes = rows.groupby(keys, dropna=False)[["n_rules", "n_conditions"]].mean()
    table = values.join(sizes).dropna(subset=["n_rules"]).reset_index()
    print("| data set | budget / R3 | learner | F1 | Hamming | subset | rules | conditions |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    table["factor"] = table["factor"].fillna(0)
    for row in table.sort_values(["dataset", "factor", "learner"]).itertuples(index=False):
        budget = f"{row.factor:g}" if row.factor else "none"
        numbers = f"{row.f1_micro:.2f} | {row.hamming:.2f} | {row.subset:.2f} | {row.n_rules:.1f}"
        print(f"| {row.dataset} | {budget} | {row.learner} | {numbers} | {row.n_conditions:.1f} |")


def draw(rows: pd.DataFrame, file: Path) -> None:
    """One panel per data set and measure: curves over the budgets, Ripper's variants as points."""
    import matplotlib.pyplot as plt

    from steelyard.report import SizeCurveDisplay, get_style
    from steelyard.report.curves import Curve, Point

    names = list(rows["dataset"].unique())
    style = get_style(None)
    figure, panels = plt.subplots(
        len(names), len(MEASURES), figsize=(10, 3 * len(names)), squeeze=False, layout="constrained"
    )
    for panel, (name, measure) in zip(
        panels.ravel(), ((n, m) for n in names for m in MEASURES), strict=True
    ):
        own = rows[(rows["dataset"] == name) & (rows["measure"] == measure)]
        curves, points = [], []
        for learner, part in own.groupby("learner"):
            if part["factor"].isna().all():
                means = part[["n_conditions", "value"]].mean()
                points.append(Point(str(learner), *means))
            else:
                x, value = (
                    part.pivot_table(column, "fold", "factor").to_numpy()
                    for column in ("n_conditions", "value")
                )
                curves.append(Curve.from_folds(str(learner), x, value))
        SizeCurveDisplay(curves, measure=measure, points=points, size="conditions").draw(
            panel, style
        )
        panel.set_title(name)
    panels[0, -1].legend(fontsize="small")
    figure.savefig(file)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--datasets", default="emotions")
    parser.add_argument("--folds", default="1,2,3,4,5")
    parser.add_argument("--methods", default="ripper,short,boosted")
    parser.add_argument("--factors", default="0.5,1,2,4", help="budgets, in sizes of R3's theory")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", type=Path)
    arguments = parser.parse_args()
    out, seed = arguments.out, arguments.seed
    factors = list(map(float, arguments.factors.split(",")))
    known = pd.read_csv(out) if out.exists() else pd.DataFrame(columns=UNIT)
    done = set(known[UNIT].itertuples(index=False, name=None))
    for name in arguments.datasets.split(","):
        for fold in map(int, arguments.folds.split(",")):
            for method in filter(None, arguments.methods.split(",")):
                if (name, seed, fold, method) not in done:
                    run_fold(arguments.data / name, fold, seed, method, factors, out)
    rows = pd.read_csv(out)
    show_table(rows)
    if arguments.figure:
        draw(rows, arguments.figure)


if __name__ == "__main__":
    main()
