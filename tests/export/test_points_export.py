"""Theories with points: exports count what `count_points` counts and decide as `predict` does."""

from __future__ import annotations

import itertools
import re
import sqlite3
from contextlib import closing
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points_theories import FEATURES, KINDS, flu_theory, random_table, random_theory
from steelyard.model.decoding import KnownLabelSets

from steelyard import Condition, EachLabel, RuleSetClassifier, Theory, make_planted_rules
from steelyard.model.evidence import Label, ScoredRule
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule
from strategies import random_generators

SICK = pd.DataFrame(
    {"fever": [39.0, 39.0, 37.0, 37.0, None], "nose": ["runs", "dry", "runs", "dry", None]}
)


@st.composite
def cases(draw):
    """A random theory with points of any kind, and a table."""
    kind = draw(st.sampled_from(KINDS))
    rng = draw(random_generators())
    return random_theory(rng, *kind), random_table(rng)


def predict(theory: Theory, X: pd.DataFrame) -> list[list]:
    predicted = np.asarray(theory.predict(X))
    return (predicted if predicted.ndim == 2 else predicted[:, None]).tolist()


def plain(X: pd.DataFrame) -> pd.DataFrame:
    """Categories as text, missing as None."""
    return X.assign(**{c: X[c].astype(object) for c in X if X[c].dtype == "category"})


def run_sqlite(theory: Theory, X: pd.DataFrame) -> tuple[list[str], list[list]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        plain(X).to_sql("data", connection, index=False)
        cursor = connection.execute(theory.to_sql())
        return [d[0] for d in cursor.description], [list(row) for row in cursor]


def run_duckdb(
    theory: Theory, X: pd.DataFrame, dialect: str = "duckdb"
) -> tuple[list[str], list[list]]:
    with closing(duckdb.connect()) as connection:
        connection.register("data", plain(X))
        cursor = connection.execute(theory.to_sql(dialect))
        return [d[0] for d in cursor.description], [list(row) for row in cursor.fetchall()]


def run_python(theory: Theory, X: pd.DataFrame) -> list[list]:
    scope: dict = {}
    exec(compile(theory.to_python(), "exported.py", "exec"), scope)
    answers = [scope["predict"](row) for row in plain(X).to_dict("records")]
    if theory.output != "multilabel":
        return [[answer] for answer in answers]
    assert all(list(answer) == list(theory.label_names) for answer in answers)
    return [list(answer.values()) for answer in answers]


def added(rows: list[list], X: pd.DataFrame) -> list[list]:
    """What follows the columns of the table."""
    return [row[X.shape[1] :] for row in rows]


class TestRunning:
    @settings(max_examples=150)
    @given(cases())
    def test_python_predicts_what_predict_predicts(self, case):
        theory, X = case
        assert run_python(theory, X) == predict(theory, X)

    @settings(max_examples=150)
    @given(cases())
    def test_sqlite_predicts_what_predict_predicts(self, case):
        theory, X = case
        assert added(run_sqlite(theory, X)[1], X) == predict(theory, X)

    @settings(max_examples=60)
    @given(cases())
    def test_duckdb_predicts_what_predict_predicts(self, case):
        theory, X = case
        assert added(run_duckdb(theory, X)[1], X) == predict(theory, X)

    @settings(max_examples=40)
    @given(cases(), st.sampled_from(["postgres", "ansi"]))
    def test_other_dialects_predict_the_same_where_their_syntax_is_understood(self, case, dialect):
        theory, X = case
        # DuckDB reads decimals where PostgreSQL reads doubles: whole numbers are the same in both.
        names = [f.name for f in FEATURES[:2]]
        X = X.assign(**{name: X[name].round() for name in names})
        rules = [
            replace(s, rule=Rule(s.rule.head, tuple(map(round_condition, s.rule.body))))
            for s in theory.scored_rules
        ]
        whole = replace(theory, scored_rules=tuple(rules))
        assert added(run_duckdb(whole, X, dialect)[1], X) == predict(whole, X)

    @pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
    @pytest.mark.parametrize("kind", KINDS)
    def test_table_columns_come_first_and_labels_last_in_order(self, kind, run):
        rng = np.random.default_rng(0)
        theory, X = random_theory(rng, *kind), random_table(rng).assign(further="text")
        names, rows = run(theory, X)
        labels = theory.label_names if theory.output == "multilabel" else ["class"]
        assert len(names) == X.shape[1] + len(labels)
        assert names[: X.shape[1]] == list(X.columns)
        assert [row[X.shape[1] - 1] for row in rows] == ["text"] * len(X)
        if not set(labels) & set(X.columns):  # DuckDB numbers a name that is there twice
            assert names[X.shape[1] :] == list(labels)

    @pytest.mark.parametrize("min_share", [None, 0.4])
    @pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
    def test_tables_may_be_called_as_the_query_calls_its_parts(self, dialect, min_share):
        theory = vote(flu_theory(), min_share)
        names = ("p", "t", "fit", "best", "known", "counted", "lacking", "voting", "shared", "s")
        for name in names:
            query = theory.to_sql(dialect, table=name)
            if dialect == "sqlite":
                with closing(sqlite3.connect(":memory:")) as connection:
                    SICK.to_sql(name, connection, index=False)
                    rows = [list(row) for row in connection.execute(query)]
            else:
                with closing(duckdb.connect()) as connection:
                    connection.register(name, SICK)
                    rows = [list(row) for row in connection.execute(query).fetchall()]
            assert added(rows, SICK) == predict(theory, SICK)

    def test_ties_and_new_sets_happen_in_the_random_theories(self):
        n_tied = n_new = n_overruled = 0
        for seed in range(100):
            rng = np.random.default_rng(seed)
            theory, X = random_theory(rng, "weighted", "multilabel", True), random_table(rng)
            points = theory.count_points(X)
            known = theory.label_sets
            scores = points @ known.matrix(points.shape[1]).T + known.points
            n_tied += ((scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum()
            n_new += (known.find_best(points) < 0).sum()
            n_overruled += (known.decode(points) != (points > 0)).any(axis=1).sum()
        assert min(n_tied, n_new, n_overruled) > 100

    @pytest.mark.parametrize("min_share", [0.001, 0.333, 0.5, 0.9994])
    def test_a_share_that_is_just_met_is_not_enough_anywhere(self, min_share):
        # Two sets that fit alike have half of the votes each, at whatever share is asked for.
        known = KnownLabelSets(((0,), (1,)), (2, 2), 0.0, min_share)
        labels = (Label("a", 1, 1, 1, 0, 1), Label("b", 1, 1, 1, 0, 1))
        theory = Theory((Feature("x"),), labels, (), start_points=(3, 3), label_sets=known)
        X = pd.DataFrame({"x": [1.0]})
        expected = [[int(min_share < 0.5)] * 2]
        assert predict(theory, X) == run_python(theory, X) == expected
        assert added(run_sqlite(theory, X)[1], X) == added(run_duckdb(theory, X)[1], X) == expected
        assert added(run_duckdb(theory, X, "postgres")[1], X) == expected

    def test_sets_that_are_far_behind_have_no_vote_and_no_exponential(self):
        # PostgreSQL refuses an exponential that is too small for a double.
        labels = (Label("a", 1, 1, 1, 0, 1), Label("b", 1, 1, 1, 0, 1))
        known = KnownLabelSets(((0,), (1,), ()), (2, 2, 1), 0.5, 0.4)
        theory = Theory(
            (Feature("x"),), labels, (), start_points=(10**6, -(10**6)), label_sets=known
        )
        X = pd.DataFrame({"x": [1.0]})
        assert predict(theory, X) == run_python(theory, X) == [[1, 0]]
        assert added(run_sqlite(theory, X)[1], X) == added(run_duckdb(theory, X)[1], X) == [[1, 0]]
        for dialect in ("sqlite", "postgres", "ansi"):
            assert "WHERE points > -1500" in theory.to_sql(dialect)


def vote(theory: Theory, min_share: float | None) -> Theory:
    return replace(theory, label_sets=replace(theory.label_sets, min_share=min_share))


def round_condition(condition: Condition) -> Condition:
    if isinstance(condition.value, str):
        return condition
    return Condition(condition.feature, condition.operator, float(round(condition.value)))


class TestLimits:
    @pytest.mark.parametrize("combine", ["any", "weighted"])
    def test_more_rules_than_data_bases_nest_expressions(self, combine):
        rules = tuple(
            ScoredRule(Rule(Head("y"), (Condition("x", "≥", float(i)),)), 1, 0, 1.0, i % 7 + 1)
            for i in range(3000)
        )
        labels = (Label("y", 1, 1, 1, 0, 1),)
        X = pd.DataFrame({"x": [-1.0, 0.0, 1499.0, 1e9]})
        theory = Theory((Feature("x"),), labels, rules, combine=combine, start_points=(-5000,))
        expected = predict(theory, X)
        assert len({tuple(row) for row in expected}) == 2
        assert run_python(theory, X) == expected
        assert added(run_sqlite(theory, X)[1], X) == expected
        assert added(run_duckdb(theory, X)[1], X) == expected

    @pytest.mark.parametrize("min_share", [None, 0.015])
    def test_thousands_of_label_sets_and_hundreds_of_labels(self, min_share):
        rng = np.random.default_rng(0)
        n_labels = 300
        names = [f"l{j}" for j in range(n_labels)]
        sets = {tuple(sorted(rng.choice(n_labels, 4, replace=False).tolist())) for _ in range(2500)}
        sets |= {tuple(range(250))}  # a long sum
        theory = Theory(
            (Feature("x"),),
            tuple(Label(name, 1, 1, 1, 0, 1) for name in names),
            tuple(
                ScoredRule(Rule(Head(name), (Condition("x", "≥", float(j)),)), 1, 0, 1.0, 1 + j % 5)
                for j, name in enumerate(names)
            ),
            combine="weighted",
            start_points=(-2,) * n_labels,
            label_sets=KnownLabelSets(tuple(sorted(sets)), (1,) * len(sets), 0.0005, min_share),
        )
        X = pd.DataFrame({"x": [-1.0, 10.0, 100.0, 299.0, None]})
        expected = predict(theory, X)
        assert len({tuple(row) for row in expected}) > 3
        assert run_python(theory, X) == expected
        assert added(run_sqlite(theory, X)[1], X) == expected
        assert added(run_duckdb(theory, X)[1], X) == expected

    def test_pmml_is_refused_in_one_sentence(self):
        with pytest.raises(ValueError, match="RuleSetModel cannot add up points"):
            flu_theory().to_pmml()


class TestSaving:
    @settings(max_examples=60)
    @given(cases())
    def test_read_again_it_is_equal_and_exports_and_predicts_the_same(self, case):
        theory, X = case
        again = Theory.from_json(theory.to_json())
        assert again == theory
        assert again.to_json() == theory.to_json()
        assert (again.count_points(X) == theory.count_points(X)).all()
        assert predict(again, X) == predict(theory, X)
        assert again.to_sql() == theory.to_sql()

    def test_a_weight_can_be_a_number_of_numpy(self):
        theory = flu_theory()
        weighed = replace(theory.label_sets, frequency_weight=np.float32(0.5))
        assert Theory.from_json(replace(theory, label_sets=weighed).to_json()) == theory

    @pytest.mark.parametrize(
        ("name", "damage"),
        [
            ("min_share", "5"),
            *itertools.product(
                ("min_share", "frequency_weight"), ("-1", "true", '"0.4"', "[1]", "NaN")
            ),
        ],
    )
    def test_a_damaged_number_is_named(self, name, damage):
        text = vote(flu_theory(), 0.4).to_json()
        start = text.index(f'"{name}": ') + len(name) + 4
        damaged = text[:start] + damage + text[text.index(",", start) :]
        with pytest.raises(ValueError, match=f"the text is a damaged theory: {name} must"):
            Theory.from_json(damaged)

    def test_a_share_is_written_where_there_is_one(self):
        theory = flu_theory()
        assert "min_share" not in theory.to_json()
        voting = vote(theory, np.float64(0.4))
        again = Theory.from_json(voting.to_json())
        assert again == voting
        assert again.label_sets.min_share == 0.4
        assert Theory.from_json(voting.to_json().replace(' "min_share": 0.4,\n', "")) == theory


class TestReading:
    def test_printed_it_shows_start_and_votes(self):
        assert str(flu_theory()).splitlines() == [
            "3 rules for 2 labels, 1.0 conditions a rule; weighted votes; label sets: 4 known, "
            "frequency weight 0.5",
            "",
            "flu: 10 of 40 (25%), start -1.20",
            "  TP 9  FP 2  0.500  +1.52  flu ← fever ≥ 38.5",
            "  TP 8  FP 3  0.500  -0.30  ¬flu ← nose = runs",
            "",
            "cold: 12 of 40 (30%), start -0.85",
            "  TP 6  FP 3  0.500  +1.10  cold ← nose = runs",
        ]

    def test_the_first_line_says_that_label_sets_vote(self):
        assert str(vote(flu_theory(), 0.375)).splitlines()[0] == (
            "3 rules for 2 labels, 1.0 conditions a rule; weighted votes; label sets: 4 known, "
            "frequency weight 0.5, a label needs more than 37.5 % of the votes"
        )

    @pytest.mark.parametrize(("probability", "text"), [(0.5, ""), (0.3, "30%"), (0.05, "5%")])
    def test_the_first_line_says_from_which_probability_on_a_label_is_predicted(
        self, probability, text
    ):
        data = make_planted_rules(120, random_state=0)
        clf = RuleSetClassifier(
            combine="weighted", decode=EachLabel(probability), max_rules=5, random_state=0
        )
        line = str(clf.fit(data.X, data.Y).theory_).splitlines()[0]
        needs = f"; a label needs a probability of more than {text}" if text else ""
        assert line.endswith(f"; weighted votes{needs}")

    def test_values_and_weights_stand_below_each_other(self):
        theory = flu_theory()
        flu, *others = theory.scored_rules
        heavy = replace(theory, scored_rules=(replace(flu, value=103.75, points=1152), *others))
        assert str(heavy).splitlines()[3:5] == [
            "  TP 9  FP 2  103.750  +11.52  flu ← fever ≥ 38.5",
            "  TP 8  FP 3    0.500   -0.30  ¬flu ← nose = runs",
        ]

    def test_the_first_line_says_how_points_decide(self):
        first = str(flu_theory("any", known=())).splitlines()[0]
        assert first == "2 rules for 2 labels, 1.0 conditions a rule; the strongest vote counts"

    def test_a_rule_prints_the_sign_of_its_vote(self):
        flu, no_flu, _ = map(str, flu_theory().scored_rules)
        assert flu == "flu ← fever ≥ 38.5  (TP 9, FP 2, value 0.5, weight +1.52)"
        assert no_flu == "¬flu ← nose = runs  (TP 8, FP 3, value 0.5, weight -0.30)"

    def test_a_label_without_rules_is_not_said_to_be_never_predicted(self):
        labels = (Label("often", 1, 9, 1, 9, 1),)
        theory = Theory((Feature("x"),), labels, (), start_points=(220,))
        assert str(theory).splitlines()[-1] == "  no rule"
        assert theory.predict(pd.DataFrame({"x": [1.0]})).to_numpy().tolist() == [[1]]

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_view_has_a_weight_for_each_rule(self, kind):
        for seed in range(4):
            theory = random_theory(np.random.default_rng(seed), *kind)
            signed = [f"{weight:+.2f}" for weight in theory.to_frame()["weight"]]
            assert signed == [f"{s.vote / 100:+.2f}" for s in theory.scored_rules]
            markdown = theory.to_markdown().splitlines()
            rows = [line for line in markdown if line.startswith("| ") and " TP " not in line]
            assert [row.split(" | ")[-4] for row in rows] == signed
            latex = theory.to_latex().splitlines()
            rows = [line for line in latex if line.startswith(r"\quad") and "no rule" not in line]
            assert [row.split(" & ")[-4] for row in rows] == [f"${weight}$" for weight in signed]
            assert re.findall(r"<td>([+-]\d+\.\d\d)</td>", theory._repr_html_()) == signed
            assert re.findall(r"  ([+-]\d+\.\d\d)  ", str(theory)) == signed

    def test_weights_add_up_to_the_points(self):
        theory = flu_theory()
        frame = theory.to_frame()
        for label, start, points in zip(
            theory.label_names, theory.start_points, theory.count_points(SICK).T, strict=True
        ):
            own = (frame["label"] == label).to_numpy()
            total = start + 100 * theory.covers(SICK)[:, own] @ frame["weight"][own]
            np.testing.assert_allclose(total, points)

    def test_plots_draw_heavy_rules_larger_and_rules_against_below_the_line(self):
        figure = flu_theory().plot()
        dots = figure.axes[0].collections[0]
        assert dots.get_offsets().tolist() == [[2.0, 9.0], [8.0, 3.0]]  # covered without, with flu
        assert dots.get_sizes()[0] > dots.get_sizes()[1]
        assert dots.get_facecolor()[0].tolist() != dots.get_facecolor()[1].tolist()
        figure.canvas.draw()

    @pytest.mark.parametrize("kind", KINDS)
    def test_plots_have_a_dot_for_each_rule(self, kind):
        theory = random_theory(np.random.default_rng(0), *kind)
        axes = [axes for axes in theory.plot().axes if axes.axison]
        assert sum(len(a.collections[0].get_offsets()) for a in axes) == len(theory)


class TestWithoutPoints:
    def test_no_view_mentions_weights(self):
        rule = ScoredRule(Rule(Head("flu"), (Condition("fever", "≥", 38.5),)), 9, 2, 0.8)
        labels = (Label("flu", 1, 10, 30, 1, 28), Label("cold", 0, 3, 37, 1, 30))
        theory = Theory((Feature("fever"),), labels, (rule,))
        views = (str(theory), str(rule), theory.to_markdown(), theory.to_latex())
        for text in (*views, theory._repr_html_(), theory.to_sql(), theory.to_python()):
            assert not any(word in text for word in ("weight", "start", "vote", "points"))
        assert "weight" not in theory.to_frame()
        assert str(rule) == "flu ← fever ≥ 38.5  (TP 9, FP 2, value 0.8)"
        assert str(theory).splitlines()[2:] == [
            "flu: 10 of 40 (25%)",
            "  TP 9  FP 2  0.800  flu ← fever ≥ 38.5",
            "",
            "¬cold: 3 of 40 (8%)",
            "  no rule: never predicted",
        ]
