"""Exports: random theories of every combiner with every decoder, and hostile names, executed.

SQLite, DuckDB and Python must predict what the theory predicts, and no name may do anything. All
combiners, decoders and formats come from their registries, so that a new one is attacked by itself.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from steelyard import Theory
from steelyard.cli.export import Format
from steelyard.model.combiners import COMBINERS
from steelyard.model.decoders import DECODERS
from steelyard.report.page import write_page
from steelyard.study import StudyConfig, run_study
from theories import HOSTILE, plain_table, predict_rows, random_table, random_theory

from .outcomes import Outcome, Setting

# Written into every name: code that would leave a trace if anything executed it.
PAYLOADS = (
    *HOSTILE,
    "'; CREATE TABLE pwned (x); --",
    '"; CREATE TABLE pwned (x); --',
    "'''\nraise SystemExit('pwned')\n'''",
    '"""\nraise SystemExit("pwned")\n"""',
    "\\'); raise SystemExit('pwned') #",
    "{__import__('os').abort()}",
    "${alert(1)}",
    "]]></x><script>alert(1)</script>",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    '" onmouseover="alert(1)',
    "--><script>alert(1)</script>",
    "\\input{/etc/passwd}\\write18{id}",
    "=cmd|' /C calc'!A0",
    "\x1b]0;pwned\x07",
    "a\rb\x0bc\u2028d\u202ee",
    "None",
    "true",
    "__class__",
    "constructor",
    "\\",
)
_PIECES = (
    "'",
    '"',
    "\\",
    "`",
    ";",
    "--",
    "/*",
    "*/",
    "\n",
    "</",
    "<",
    ">",
    "&",
    "{",
    "}",
    "%s",
    "$",
    "#",
)


def hostile_name(chance: random.Random) -> str:
    """A payload, or a random row of the signs that end strings and comments."""
    if chance.random() < 0.5:
        return chance.choice(PAYLOADS) + chance.choice(("", " ", str(chance.randrange(9))))
    return "".join(chance.choice((*_PIECES, "a", "Ö", "0")) for _ in range(chance.randrange(1, 12)))


def hostile_names(n: int, chance: random.Random, taken: Iterable[str] = ()) -> list[str]:
    """Names that differ in more than case, which SQL does not see."""
    names: list[str] = []
    known = {name.casefold() for name in taken}
    while len(names) < n:
        name = hostile_name(chance)
        if name.casefold() not in known:
            names.append(name)
            known.add(name.casefold())
    return names


def rename(theory: Theory, X: pd.DataFrame, chance: random.Random) -> tuple[Theory, pd.DataFrame]:
    """The same theory and table with hostile names of attributes, categories and labels."""
    data = json.loads(theory.to_json())
    old = [feature.name for feature in theory.features]
    attributes = dict(zip(old, hostile_names(len(old), chance), strict=True))
    labels = {name: name for name in theory.label_names}  # those of classes stay
    if not theory.classes:
        # A query returns attributes and labels side by side.
        new = hostile_names(len(labels), chance, taken=attributes.values())
        labels = dict(zip(labels, new, strict=True))
    categories: dict[str, dict[str, str]] = {}
    for feature in theory.features:
        if feature.categories is not None:
            names = feature.categories
            new = names if feature.is_boolean else hostile_names(len(names), chance, ["unknown"])
            categories[feature.name] = dict(zip(names, new, strict=True))
    for feature in data["features"]:
        if "categories" in feature:
            feature["categories"] = list(categories[feature["name"]].values())
        feature["name"] = attributes[feature["name"]]
    for label in data["labels"]:
        label["name"] = labels[label["name"]]
    for rule in data["rules"]:
        rule["label"] = labels[rule["label"]]
        for condition in rule["body"]:
            name, _, value = condition
            if name in categories:
                names = categories[name]
                condition[2] = (
                    [names[v] for v in value] if isinstance(value, list) else names[value]
                )
            condition[0] = attributes[name]
    for name in categories:
        if X[name].dtype == "category":
            X = X.assign(**{name: X[name].cat.rename_categories(categories[name])})
    return Theory.from_json(json.dumps(data)), X.rename(columns=attributes)


def run_sqlite(theory: Theory, X: pd.DataFrame) -> list[list[Any]]:
    """What SQLite predicts; the query may change nothing."""
    n_columns = len(theory.labels) if theory.is_multilabel else 1
    with closing(sqlite3.connect(":memory:")) as connection:
        plain_table(X).to_sql("data", connection, index=False)
        rows = [list(row[-n_columns:]) for row in connection.execute(theory.to_sql())]
        (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        assert n_tables == 1, "the query changed the database"
    return rows


def run_duckdb(theory: Theory, X: pd.DataFrame) -> list[list[Any]]:
    """What DuckDB predicts; the query may change nothing."""
    import duckdb

    n_columns = len(theory.labels) if theory.is_multilabel else 1
    with closing(duckdb.connect()) as connection:
        connection.register("data", plain_table(X))
        answer = connection.execute(theory.to_sql("duckdb")).fetchall()
        (n_tables,) = connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall()[0]
        assert n_tables == 0, "the query changed the database"
    return [list(row[-n_columns:]) for row in answer]


def run_python(theory: Theory, X: pd.DataFrame) -> list[list[Any]]:
    """What the exported function predicts; it may define nothing else than functions and constants."""
    scope: dict[str, Any] = {}
    exec(compile(theory.to_python(), "exported.py", "exec"), scope)
    answers = [scope["predict"](row) for row in plain_table(X).to_dict("records")]
    if theory.is_multilabel:
        return [list(answer.values()) for answer in answers]
    return [[answer] for answer in answers]


# How to execute a format; the others are only written.
EXECUTED: dict[str, dict[str, Callable[[Theory, pd.DataFrame], list[list[Any]]]]] = {
    "sql": {"SQLite": run_sqlite, "DuckDB": run_duckdb},
    "python": {"Python": run_python},
}


def check_exports(outcome: Outcome, theory: Theory, X: pd.DataFrame) -> None:
    """Write a theory in every format, execute what can be executed, and compare the predictions."""
    expected = predict_rows(theory, X)
    for form in Format:
        try:
            text = getattr(theory, f"to_{form}")()
        except ValueError:  # a sentence that says why
            outcome.see(f"{form} declines")
            continue
        except Exception as error:
            outcome.fail(f"{form}: {type(error).__name__}: {error}"[:300])
            continue
        text.encode()
        for place, run in EXECUTED.get(form, {}).items():
            try:
                found = run(theory, X)
            except (Exception, SystemExit) as error:
                outcome.fail(f"{place}: {type(error).__name__}: {error}"[:300])
                continue
            if found == expected:
                outcome.see(f"{place} predicts the same")
            else:
                outcome.fail(f"{place} predicts otherwise: {theory.to_json()}"[:2000])
        if form not in EXECUTED:
            outcome.see(f"{form} is written")


def list_pairs() -> Iterator[tuple[str, str]]:
    """Every combiner with every decoder that it can have, by the registries."""
    for combiner in COMBINERS:
        for decoder in DECODERS:
            try:
                random_theory(np.random.default_rng(0), combiner, decoder)
            except ValueError:  # the theory says that they do not go together
                continue
            yield combiner, decoder


def export_random(setting: Setting) -> Iterator[Outcome]:
    """Random theories of every combiner and decoder, with their own names and with hostile ones."""
    for has_hostile in (False, True):
        kind = "with hostile names" if has_hostile else "on random theories"
        outcome = Outcome(f"exports {kind}, every combiner × decoder")
        chance = random.Random(setting.seed)
        pairs = list(list_pairs())
        for pair in pairs:
            for k in range(4 * setting.n_rounds):
                rng = np.random.default_rng([setting.seed, k])
                theory, X = random_theory(rng, *pair), random_table(rng, 20)
                if has_hostile:
                    theory, X = rename(theory, X, chance)
                check_exports(outcome, theory, X)
        outcome.notes.append(f"{len(pairs)} pairs")
        yield outcome


def open_pages(setting: Setting) -> Iterator[Outcome]:
    """The page of a study with hostile names, in a browser that reports whatever it does."""
    outcome = Outcome("the page with hostile names, opened in Chromium")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        outcome.notes.append("skipped: no Chromium or no Playwright")
        yield outcome
        return
    chance = random.Random(setting.seed)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for k in range(setting.n_rounds):
            file = _hostile_page(setting.folder / f"page-{k}", chance)
            if complaints := _open(browser, file):
                outcome.fail(f"round {k}: {complaints[:3]}")
            else:
                outcome.see("nothing was executed, loaded or logged")
        browser.close()
    yield outcome


def _hostile_page(folder: Path, chance: random.Random) -> Path:
    rng = np.random.default_rng(chance.randrange(2**32))
    names, categories = hostile_names(6, chance), hostile_names(3, chance)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=names[:2])
    X[names[2]] = rng.choice(categories, 60)
    Y = pd.DataFrame((rng.random((60, 3)) < 0.4).astype(int), columns=names[3:])
    folder.mkdir()
    X.join(Y).to_csv(folder / "<img src=x>.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    config = StudyConfig(
        (str(folder / "<img src=x>.csv"),),
        labels=tuple(Y.columns),
        folds=2,
        n_candidates=60,
        parameters=(2.0, 16.0),
        phis=(1.0, 0.5),
    )
    return write_page(run_study(config, folder / "out", n_jobs=1))


def _open(browser: Any, file: Path) -> list[str]:
    complaints: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            request.url.startswith(("file:", "data:", "blob:"))
            or complaints.append(f"a request of {request.url}")
        ),
    )
    page.goto(file.as_uri())
    page.wait_for_selector("#map-drawing")
    for cell in page.locator("#map rect.cell").all():
        cell.click()
    page.close()
    return complaints
