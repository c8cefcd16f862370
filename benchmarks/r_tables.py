"""Tables of R packages as multi-label data sets with folds, for measuring on data nobody chose on.

Run:  apt-get download r-cran-mlbench r-cran-kernlab r-cran-caret r-cran-dslabs r-cran-modeldata
      for package in r-cran-*.deb; do dpkg-deb -x $package R; done
      pip install rdata
      python benchmarks/r_tables.py R/usr/lib/R/site-library --out TABLES

Each data set becomes a folder with <name>.arff, <name>.xml and folds.csv (five folds at random), as
beyond_table.py and boomer_table.py read them. Labels of tables with classes are groups of classes, drawn
at random; those of the other tables are attributes that are left out of the table. Of larger tables
2,500 rows are drawn. Tables in `CLASSES` and `OTHERS` were looked at while settings were chosen. Those
in `LATER_CLASSES` and `LEVELS` were added later and decided nothing.
"""

from __future__ import annotations

import argparse
import bz2
import lzma
import warnings
import zlib
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

# The same, with the package.
LATER_CLASSES = {
    "olive": ("dslabs", "olive", "area", 5, 10, True),
    "tissue": ("dslabs", "tissue_gene_expression", "y", 5, 11, True),
    "hpc": ("modeldata", "hpc_data", "class", 4, 12, False),
}

# Attributes that are left out of a table, and the category that a label is or the number that it is
# above; None is the median. The last ones are left out only: they tell a label, or name rows.
LEVELS: dict[str, tuple[str, str, dict[str, str | float | None], list[str]]] = {
    "cells": (
        "caret",
        "segmentationData",
        {"Class": "WS", "AreaCh1": None, "AvgIntenCh2": None, "EntropyIntenCh3": None}
        | {"ShapeBFRCh1": None, "KurtIntenCh4": None},
        ["Cell", "Case"],
    ),
    "ames": (
        "modeldata",
        "ames",
        {"Sale_Price": None, "Year_Built": None, "Gr_Liv_Area": None, "Fireplaces": 0}
        | {"Garage_Cars": 1, "Central_Air": "Y"},
        [],
    ),
    "credit": (
        "modeldata",
        "credit_data",
        {
            "Status": "bad",
            "Home": "owner",
            "Income": None,
            "Debt": 0,
            "Age": None,
            "Records": "yes",
        },
        [],
    ),
    "german": (
        "caret",
        "GermanCredit",
        {"Class": "Bad", "Duration": None, "Amount": None, "Age": None, "Telephone": 0}
        | {"NumberExistingCredits": 1},
        [],
    ),
    "churn": (
        "modeldata",
        "mlc_churn",
        {"churn": "yes", "international_plan": "yes", "number_customer_service_calls": 1}
        | {"total_day_minutes": None, "total_intl_calls": None},
        ["total_day_charge"],
    ),
    "attrition": (
        "modeldata",
        "attrition",
        {"Attrition": "Yes", "OverTime": "Yes", "JobLevel": 1, "MonthlyIncome": None}
        | {"YearsAtCompany": None, "StockOptionLevel": 0},
        [],
    ),
    "meats": ("modeldata", "meats", {"water": None, "fat": None, "protein": None}, []),
    "speech": (
        "modeldata",
        "pd_speech",
        {"class": "PD", "gender": 0, "PPE": None, "DFA": None, "maxIntensity": None},
        [],
    ),
    "musk": (
        "kernlab",
        "musk",
        {"Class": "1", "V10": None, "V60": None, "V110": None, "V160": None},
        [],
    ),
    "spam": (
        "kernlab",
        "spam",
        {"type": "spam", "our": 0, "free": 0, "money": 0, "hp": 0, "re": 0, "edu": 0},
        [],
    ),
}

Tables = tuple[pd.DataFrame, pd.DataFrame]


def read(path: Path) -> pd.DataFrame:
    """The only table of an R data file."""
    warnings.simplefilter("ignore")
    table = pd.DataFrame(next(iter(rdata.read_rda(path).values()))).reset_index(drop=True)
    table.columns = [str(name) for name in table.columns]
    return table


def read_named(library: Path, package: str, name: str) -> pd.DataFrame:
    """A table of a package by name, from a file of its own or from the file of all its tables."""
    folder = library / package / "data"
    for file in folder.glob(f"{name}.*"):
        return read(file)
    warnings.simplefilter("ignore")
    begin, length = map(int, rdata.read_rds(folder / "Rdata.rdx")["variables"][name])
    # Four bytes with a length, one with the kind of compression, unless that is zlib.
    packed = (folder / "Rdata.rdb").read_bytes()[begin + 4 : begin + length]
    if packed[:1] == b"Z":
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
        plain = lzma.decompress(packed[1:], format=lzma.FORMAT_RAW, filters=filters)
    else:
        plain = bz2.decompress(packed[1:]) if packed[:1] == b"2" else zlib.decompress(packed)
    found: Any = rdata.conversion.convert(rdata.parser.parse_data(plain))
    if isinstance(found, dict):  # a matrix x and classes y
        found = pd.DataFrame(np.asarray(found["x"])).assign(y=np.asarray(found["y"]))
    table = pd.DataFrame(found).reset_index(drop=True)
    table.columns = [str(column) for column in table.columns]
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


def draw_rows(table: pd.DataFrame) -> pd.DataFrame:
    if len(table) <= MOST_ROWS:
        return table
    return table.sample(MOST_ROWS, random_state=1).reset_index(drop=True)


def load_classes(
    table: pd.DataFrame, target: str, n_labels: int, seed: int, is_numeric: bool
) -> Tables:
    """Groups of classes as labels."""
    table = draw_rows(table)
    classes = table.pop(target).astype(str)
    X = to_numbers(table) if is_numeric else table.astype(object)
    return X, group_classes(classes, n_labels, seed)


def load_levels(
    table: pd.DataFrame, levels: dict[str, str | float | None], others: list[str]
) -> Tables:
    """High values of attributes as labels."""
    table = draw_rows(table.dropna(subset=list(levels)).reset_index(drop=True))
    labels = {}
    for name, level in levels.items():
        column = table.pop(name)
        if isinstance(level, str):
            labels[name] = column.astype(str) == level
        else:
            values = pd.to_numeric(column.astype(str))
            labels[name] = values > (values.median() if level is None else level)
    X = table.drop(columns=others)
    for name, column in X.items():
        is_number = column.dtype.kind in "iuf"
        X[name] = column.astype(float) if is_number else column.astype(object)
    return X, pd.DataFrame(labels)


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
    for name, (file, *classes) in CLASSES.items():
        table = read(arguments.library / f"mlbench/data/{file}.rda")
        write(arguments.out / name, *load_classes(table, *classes))
    for name, (package, file, *classes) in LATER_CLASSES.items():
        table = read_named(arguments.library, package, file)
        write(arguments.out / name, *load_classes(table, *classes))
    for name, (package, file, *levels) in LEVELS.items():
        write(
            arguments.out / name,
            *load_levels(read_named(arguments.library, package, file), *levels),
        )
    for name, load in OTHERS.items():
        write(arguments.out / name, *load(arguments.library))


if __name__ == "__main__":
    main()
