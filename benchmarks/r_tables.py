"""Tables of R packages as multi-label data sets with folds, for measuring on data nobody chose on.

Run:  apt-get download r-cran-mlbench r-cran-kernlab
      for package in r-cran-*.deb; do dpkg-deb -x $package R; done
      pip install rdata
      python benchmarks/r_tables.py R/usr/lib/R/site-library --out TABLES

Each data set becomes a folder with <name>.arff, <name>.xml and folds.csv (five folds at random), as
beyond_table.py and boomer_table.py read them. Labels of tables with classes are groups of classes, drawn
at random; those of the other tables are attributes that are left out of the table. Of larger tables
2,500 rows are drawn.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import rdata

MOST_ROWS = 2_500
N_FOLDS = 5

# Column with the classes, number of labels, seed of the groups, whether attributes are numbers.
CLASSES = {
    "satellite": ("Satellite", "classes", 6, 1, True),
    "vehicle": ("Vehicle", "Class", 4, 2, True),
    "vowel": ("Vowel", "Class", 7, 3, True),
    "letter": ("LetterRecognition", "lettr", 8, 4, True),
    "glass": ("Glass", "Type", 5, 5, True),
    "soybean": ("Soybean", "Class", 8, 6, False),
    "dna": ("DNA", "Class", 3, 7, False),
    "shuttle": ("Shuttle", "Class", 5, 8, True),
    "zoo": ("Zoo", "type", 5, 9, False),
}

Tables = tuple[pd.DataFrame, pd.DataFrame]


def read(path: Path) -> pd.DataFrame:
    """The only table of an R data file."""
    warnings.simplefilter("ignore")
    table = pd.DataFrame(next(iter(rdata.read_rda(path).values()))).reset_index(drop=True)
    table.columns = [str(name) for name in table.columns]
    return table


def to_numbers(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype(str).apply(pd.to_numeric, errors="coerce")


def group_classes(classes: pd.Series, n_labels: int, seed: int) -> pd.DataFrame:
    """Labels that say whether the class is one of up to half of the classes."""
    random, known = np.random.default_rng(seed), np.array(sorted(classes.unique()))
    groups: dict[frozenset[str], None] = {}
    while len(groups) < n_labels:
        size = random.integers(1, max(2, len(known) // 2) + 1)
        groups[frozenset(random.choice(known, size, replace=False).tolist())] = None
    return pd.DataFrame({f"g{i}": classes.isin(group) for i, group in enumerate(groups)})


def load_classes(folder: Path, name: str) -> Tables:
    file, target, n_labels, seed, is_numeric = CLASSES[name]
    table = read(folder / f"mlbench/data/{file}.rda")
    if len(table) > MOST_ROWS:
        table = table.sample(MOST_ROWS, random_state=1).reset_index(drop=True)
    classes = table.pop(target).astype(str)
    X = to_numbers(table) if is_numeric else table.astype(object)
    return X, group_classes(classes, n_labels, seed)


def load_vote(folder: Path) -> Tables:
    names = ["V3", "V5", "V9", "V11", "V15", "V16"]
    table = read(folder / "mlbench/data/HouseVotes84.rda").astype(object)
    table = table.dropna(subset=names).reset_index(drop=True)
    return table.drop(columns=[*names, "Class"]), table[names] == "y"


def load_boston(folder: Path) -> Tables:
    table = to_numbers(read(folder / "mlbench/data/BostonHousing.rda"))
    least = {"medv": 25, "crim": 1, "nox": 0.55, "lstat": 15, "age": 80}
    labels = {name: table[name] > value for name, value in least.items()}
    return table.drop(columns=list(least)), pd.DataFrame(labels)


def load_ozone(folder: Path) -> Tables:
    names = ["V4", "V8", "V12", "V13"]
    table = to_numbers(read(folder / "mlbench/data/Ozone.rda"))
    table = table.dropna(subset=names).reset_index(drop=True)
    labels = {
        "o3": table["V4"] > 15,
        "temp": table["V8"] > 65,
        "inv": table["V12"] > table["V12"].median(),
        "vis": table["V13"] < 100,
    }
    return table.drop(columns=names), pd.DataFrame(labels)


def load_income(folder: Path) -> Tables:
    table = read(folder / "kernlab/data/income.rda").dropna()
    table = table.sample(MOST_ROWS, random_state=1).reset_index(drop=True).astype(object)
    labels = {
        "married": table.pop("MARITAL.STATUS") == "Married",
        "own": table.pop("HOUSEHOLDER") == "Own",
        "prof": table.pop("OCCUPATION") == "Professional/Managerial",
        "rich": table.pop("INCOME").isin(["[50.000-75.000)", "[75.000-"]),
        "kids": table.pop("UNDER18") != "None",
    }
    return table.drop(columns=["DUAL.INCOMES", "HOUSEHOLD.SIZE"]), pd.DataFrame(labels)


def load_breast(folder: Path) -> Tables:
    table = read(folder / "mlbench/data/BreastCancer.rda").drop(columns="Id")
    is_malignant = table.pop("Class").astype(str) == "malignant"
    table = to_numbers(table)
    least = {"Mitoses": 1, "Normal.nucleoli": 2, "Bl.cromatin": 3, "Marg.adhesion": 1}
    labels = {name: table.pop(name) > value for name, value in least.items()}
    return table, pd.DataFrame({"malignant": is_malignant} | labels)


def load_insurance(folder: Path) -> Tables:
    """What customers have insured, by what is known of their neighbourhood and by two contracts."""
    table = read(folder / "kernlab/data/ticdata.rda").sample(MOST_ROWS, random_state=1)
    table = table.reset_index(drop=True)
    names = ["PPERSAUT", "PBRAND", "PWAPART", "PBROM", "PLEVEN", "PMOTSCO"]
    # The first category of a contribution is none.
    insured = {name: table[name].astype("category").cat.codes > 0 for name in names}
    known = [name for name in table if name.startswith("M") or name in ("STYPE", "PTRACTOR")]
    return table[known].astype(object), pd.DataFrame(insured)


OTHERS = {
    "vote": load_vote,
    "boston": load_boston,
    "ozone": load_ozone,
    "income": load_income,
    "breast": load_breast,
    "insurance": load_insurance,
}


def to_cell(value: Any, is_numeric: bool) -> str:
    if pd.isna(value):
        return "?"
    return repr(float(value)) if is_numeric else "'{}'".format(str(value).replace("'", ""))


def write(out: Path, X: pd.DataFrame, Y: pd.DataFrame) -> None:
    """Write a data set with its rows in a random order."""
    name, order = out.name, np.random.default_rng(0).permutation(len(X))
    out.mkdir(parents=True, exist_ok=True)
    X, Y = X.iloc[order], Y.iloc[order].astype(int)
    lines, columns = [f"@relation {name}"], []
    for attribute, column in X.items():
        is_numeric = column.dtype.kind in "if"
        kind = "numeric"
        if not is_numeric:
            categories = column.astype("category").cat.categories
            kind = f"{{{','.join(to_cell(category, False) for category in categories)}}}"
        lines.append(f"@attribute 'a {attribute}' {kind}")
        columns.append([to_cell(value, is_numeric) for value in column])
    lines += [f"@attribute 'L {label}' {{0,1}}" for label in Y]
    columns += [Y[label].astype(str).tolist() for label in Y]
    rows = map(",".join, zip(*columns, strict=True))
    (out / f"{name}.arff").write_text("\n".join([*lines, "@data", *rows]))
    labels = "\n".join(f'<label name="L {label}"></label>' for label in Y)
    (out / f"{name}.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<labels xmlns="http://mulan.sourceforge.net/labels">\n{labels}\n</labels>\n'
    )
    fold = pd.DataFrame({"fold": np.arange(len(X)) % N_FOLDS + 1})
    fold.to_csv(out / "folds.csv", index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path, help="the folder with mlbench and kernlab")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    for name in CLASSES:
        write(arguments.out / name, *load_classes(arguments.library, name))
    for name, load in OTHERS.items():
        write(arguments.out / name, *load(arguments.library))


if __name__ == "__main__":
    main()
