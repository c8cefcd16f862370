"""A study compares other learners on the same folds, and a results folder grows."""

import dataclasses
import json
import re
import sys

import numpy as np
import pytest

from steelyard import BoostedRulesClassifier, Constraints
from steelyard._references import find_reference
from steelyard.measures import MEASURES
from steelyard.study import (
    StudyConfig,
    StudyError,
    load_study,
    run_shard,
    run_study,
    to_use,
    units,
)
from steelyard.study.data import load_study_data
from steelyard.study.methods import find_method
from steelyard.study.units import Unit, list_units

CONFIG = StudyConfig(
    data=("planted",),
    parameters=(0.0, 16.0),
    phis=(1.0, 0.5),
    folds=3,
    n_candidates=200,
    seed=1,
    methods=(
        "boosted(max_rules=20)",
        "sklearn.tree:DecisionTreeClassifier(max_depth=4)",
        "sklearn.linear_model:LogisticRegression(C=0.0)",
    ),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.warns(UserWarning, match=r"LogisticRegression\(C=0.0\) failed on fold \d: Invalid"):
        return run_study(CONFIG, tmp_path_factory.mktemp("methods") / "out", n_jobs=1)


def test_the_rows_of_a_method_are_what_its_estimator_reaches(study):
    (data,) = load_study_data(CONFIG)
    rows = study.baselines.set_index(["baseline", "fold", "measure"])["value"]
    for fold in (1, 2, 3):
        _, is_test = data.locate(fold)
        clf = BoostedRulesClassifier(max_rules=20, random_state=CONFIG.seed)
        predicted = clf.fit(data.X[~is_test], data.Y[~is_test]).predict(data.X[is_test])
        expected = MEASURES["hamming"](data.Y[is_test], predicted)
        assert rows["boosted(max_rules=20)", fold, "hamming"] == expected
        assert rows["boosted(max_rules=20)", fold, "n_rules"] == len(clf.theory_)


def test_a_method_of_another_package_is_compared_too(study):
    comparison = study.comparisons["hamming"]
    assert comparison.methods == ("boosted(max_rules=20)", "DecisionTreeClassifier(max_depth=4)")
    assert (comparison.values > 0.7).all()
    assert not np.isnan(comparison.values).any()


def test_a_method_that_fails_is_reported_and_the_rest_goes_on(study):
    failed = study.run["data"]["planted"]["methods"]["LogisticRegression(C=0.0)"]["failed"]
    assert list(failed) == ["fold 1", "fold 2", "fold 3"]
    assert "'C' parameter" in failed["fold 1"]
    assert "LogisticRegression(C=0.0)" not in set(study.baselines["baseline"])


def test_seconds_stand_beside_quality(study):
    tree = study.run["data"]["planted"]["methods"]["DecisionTreeClassifier(max_depth=4)"]
    assert tree["fit_seconds"] > 0
    assert tree["predict_seconds"] > 0


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("shrt", "unknown method 'shrt' (did you mean 'short'?); choose from auto"),
        ("boosted(n=1)", "n does not apply to method 'boosted'"),
        ("boosted(print(1))", "only parameters with names are allowed"),
        ("boosted(m=__import__('os'))", "is not a method; write short"),
        ("boosted(m=1", "is not a method; write short"),
        ("boosted(**{'max_rules': 50})", "every parameter needs a name of its own"),
        ("boosted(max_rules=5)(m=3)", "only parameters with names are allowed"),
        ("boosted(max_rules={[]: 1})", "is not a method; write short"),
        ("short(a=" + 3000 * "-" + "1)", "is not a method; write short"),
        ("short(random_state=3)", "a study gives its methods their random_state"),
        ("os:getcwd", "cannot be made: 'str' object has no attribute 'get_params'"),
        ("sklearn.tree:Tree", "the module sklearn.tree has no 'Tree'"),
        ("no_such_module:Tree", "cannot be imported: No module named 'no_such_module'"),
        ("sklearn.tree:DecisionTreeClassifier(deep=1)", "cannot be made"),
    ],
)
def test_a_wrong_method_is_rejected_before_the_work(method, message):
    with pytest.raises(StudyError, match=re.escape(message)):
        StudyConfig(methods=(method,))


def test_a_method_that_predicts_no_labels_fails(tmp_path):
    config = dataclasses.replace(
        CONFIG, methods=("sklearn.linear_model:LinearRegression",), only_folds=(1,)
    )
    with pytest.warns(UserWarning, match="it predicts other values than 0 and 1"):
        run_study(config, tmp_path / "out", n_jobs=1)
    with pytest.warns(UserWarning, match="it predicts other values than 0 and 1"):
        run_study(config, tmp_path / "out", n_jobs=1)  # tried again, not forgotten


@pytest.mark.filterwarnings("ignore:.*distinct candidate rules")
def test_constraints_hold_for_the_methods_of_steelyard_too(tmp_path):
    config = dataclasses.replace(
        CONFIG,
        methods=("boosted(max_rules=20)",),
        constraints=Constraints(max_conditions=1),
        only_folds=(1,),
    )
    rows = run_study(config, tmp_path / "out", n_jobs=1).baselines
    assert rows.loc[rows["measure"] == "n_conditions", "value"].tolist() == [1.0]


def test_a_file_in_the_working_folder_takes_no_module_s_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "colorsys.py").write_text("raise SystemExit('executed')")
    (tmp_path / "mlrl.py").write_text("raise SystemExit('executed')")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with pytest.raises(ValueError, match="cannot be imported"):
        find_method.__wrapped__("boomer")  # not cached
    assert callable(find_reference("colorsys:rgb_to_hsv"))


def test_parameters_are_literals_and_nothing_is_executed():
    with pytest.raises(ValueError, match="is not a method"):
        find_method("boosted(m=open('x', 'w'))")


class TestGrowth:
    """What is added to a results folder is computed; the result is that of a new folder."""

    SMALL = dataclasses.replace(CONFIG, methods=(), only_folds=(1,))
    TUNED = dataclasses.replace(
        SMALL, parameters=(4.0, 8192.0), tune=("hamming",), inner_folds=2, per_label=True
    )

    @pytest.mark.parametrize(
        "more",
        [
            {"only_folds": ()},
            {"parameters": (0.0, 4.0, 16.0)},
            {"phis": (1.0, 0.5, 0.1)},
            {"heuristics": ("m-estimate", "wra"), "parameters": ()},
            {"data": ("planted", "segments")},
            {"baselines": ("ripper",)},
            {"methods": ("ripper",)},
            {"tune": ("hamming",)},
            {"repeats": 2, "only_folds": (1, 4)},
        ],
        ids=lambda more: "-".join(more),
    )
    def test_a_grown_folder_equals_a_new_one(self, more, tmp_path):
        small = self.SMALL
        if "heuristics" in more:
            small = dataclasses.replace(small, parameters=())
        large = dataclasses.replace(small, **more)
        run_study(small, tmp_path / "grown", n_jobs=1)
        computed = []
        run_study(
            large, tmp_path / "grown", n_jobs=1, progress=lambda *state: computed.append(state[2])
        )
        run_study(large, tmp_path / "new", n_jobs=1)
        names = [p.name for p in (tmp_path / "new").glob("*.csv")]
        assert "results.csv" in names
        for name in [*names, "study.toml"]:
            grown, new = ((tmp_path / folder / name).read_bytes() for folder in ("grown", "new"))
            assert grown == new, name
        data_sets = load_study_data(large)
        everything = [unit for data in data_sets for unit in list_units(data, large)]
        kept = {Unit("candidates", "planted", 1)}
        assert kept.isdisjoint(computed[1:])
        assert len(computed) - 1 < len(everything)

    @pytest.mark.parametrize(
        ("more", "learned"),
        [
            # Values before, between and after those that are there; tuning tries m up to 4096.
            (
                {"parameters": (0.0, 4.0, 16.0, 8192.0, 16384.0)},
                [{0.0, 16.0, 16384.0}, {0.0, 16.0}],
            ),
            ({"parameters": (4.0, 8192.0, 16384.0)}, [{16384.0}]),
            (
                {"heuristics": ("wra", "m-estimate(4, 8192)", "klosgen(0.5)"), "parameters": ()},
                [{"wra", 0.5}, {"wra", 0.5}],
            ),
        ],
        ids=["values", "not-tuned", "heuristics"],
    )
    def test_only_missing_heuristics_are_learned(self, more, learned, tmp_path, monkeypatch):
        """A theory depends on the candidates and its heuristic, so others can be learned later."""
        asked, learn = [], units.theory_path

        def record(X, Y, heuristics, *args, **options):
            found = {next(iter(h.arguments.values()), h.family) for h in heuristics}
            asked.append(found)
            return learn(X, Y, heuristics, *args, **options)

        fitted, fit = [], to_use._learn
        grown, new = tmp_path / "grown", tmp_path / "new"
        run_study(self.TUNED, grown, n_jobs=1)
        monkeypatch.setattr(to_use, "_learn", lambda *cell: fitted.append(cell[1:3]) or fit(*cell))
        monkeypatch.setattr(units, "theory_path", record)
        large = dataclasses.replace(self.TUNED, **more)
        run_study(large, grown, n_jobs=1)
        folds = learned[:1] + 2 * learned[1:]  # a fold and its inner folds
        assert sorted(map(str, asked)) == sorted(map(str, folds))
        assert set(fitted) <= set(large.columns) - set(self.TUNED.columns), "theories to use"
        monkeypatch.undo()
        run_study(large, new, n_jobs=1)
        theories = {file.name for file in new.glob("theories/planted/*")}
        assert theories == {file.name for file in grown.glob("theories/planted/*")}
        for file in [*new.glob("*.csv"), new / "study.toml", *new.glob("theories/planted/*")]:
            assert (grown / file.relative_to(new)).read_bytes() == file.read_bytes(), file.name
        # The units are those of the new folder, too, so the folder can grow once more.
        for file in new.glob("units/data/planted/*.npz"):
            with np.load(file) as one, np.load(grown / file.relative_to(new)) as other:
                assert set(one) == set(other)
                for name in set(one) - {"seconds", "cpu_seconds"}:
                    assert np.array_equal(one[name], other[name]), (file.name, name)

    def test_an_interrupted_growth_by_a_heuristic_keeps_the_page_of_the_study(self, tmp_path):
        out = tmp_path / "out"
        before = run_study(self.TUNED, out, n_jobs=1).paths["planted"].to_json()
        use = {file.name: file.read_bytes() for file in out.glob("theories/planted/*.json")}
        for more in (
            {"parameters": (0.0, 4.0, 8192.0)},
            {"heuristics": ("wra", "m-estimate"), "parameters": ()},
        ):
            run_shard(dataclasses.replace(self.TUNED, **more), out, 1, 1, n_jobs=1)
            assert load_study(out).paths["planted"].to_json() == before
            computed = []
            run_study(self.TUNED, out, n_jobs=1, progress=lambda *state: computed.append(state[2]))  # noqa: B023
            assert computed == [None], "nothing is missing"
            assert use == {f.name: f.read_bytes() for f in out.glob("theories/planted/*.json")}

    def test_finished_units_are_not_computed_again(self, tmp_path):
        run_study(self.SMALL, tmp_path / "out", n_jobs=1)
        more = dataclasses.replace(self.SMALL, only_folds=(1, 2), methods=("ripper",))
        computed = []
        run_study(
            more, tmp_path / "out", n_jobs=1, progress=lambda *state: computed.append(state[2])
        )
        assert {unit.name for unit in computed if unit} == {
            "planted/fold-2",
            Unit("method", "planted", 1, method="ripper").name,
            Unit("method", "planted", 2, method="ripper").name,
        }

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"seed": 2}, "seed was 1, now 2"),
            ({"n_candidates": 300}, "n_candidates was 200, now 300"),
            ({"parameters": (0.0,)}, "cells without m-estimate 16.0, which it has"),
            ({"data": ("segments",)}, "data sets without planted, which it has"),
        ],
    )
    def test_what_would_change_or_drop_numbers_is_rejected(self, change, reason, tmp_path):
        run_study(self.SMALL, tmp_path / "out", n_jobs=1)
        before = rows_of(tmp_path / "out")
        with pytest.raises(StudyError, match=f"holds another study .*{reason}"):
            run_study(dataclasses.replace(self.SMALL, **change), tmp_path / "out", n_jobs=1)
        assert rows_of(tmp_path / "out") == before

    def test_a_growth_that_was_interrupted_leaves_the_study_as_it_was(self, tmp_path):
        out = tmp_path / "out"
        run_study(self.SMALL, out, n_jobs=1)
        files = {name: (out / name).read_bytes() for name in ("study.toml", "results.csv")}
        more = dataclasses.replace(self.SMALL, only_folds=(1, 2))
        run_shard(more, out, 1, 2, n_jobs=1)  # a part of the growth, and no results yet
        assert {name: (out / name).read_bytes() for name in files} == files
        assert load_study(out).config.only_folds == (1,)
        run_study(self.SMALL, out, n_jobs=1)

    def test_code_that_changed_is_run_again(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        source = "def own_rule(tp, fp, fn, tn):\n    return tp / (tp + fn) {} fp / (fp + tn)\n"
        rows = []
        for sign, module in (("-", "own_first"), ("+", "own_second")):
            (tmp_path / f"{module}.py").write_text(source.format(sign))
            config = dataclasses.replace(
                self.SMALL, heuristics=(f"{module}:own_rule",), parameters=()
            )
            study = run_study(config, tmp_path / "out", n_jobs=1)
            rows.append(study.results)
        assert set(rows[0]["heuristic"]) == {"own_rule"}
        assert not rows[0].equals(rows[1])

    def test_parameters_that_print_alike_are_two(self, tmp_path):
        first = dataclasses.replace(self.SMALL, parameters=(0.5,))
        run_study(first, tmp_path / "out", n_jobs=1)
        with pytest.raises(StudyError, match="cells without m-estimate 0.5"):
            run_study(
                dataclasses.replace(first, parameters=(0.5000001,)), tmp_path / "out", n_jobs=1
            )

    @pytest.mark.parametrize("covers", ["x", None, {"cells": 5}, {"data sets": 7}])
    def test_a_damaged_identity_is_named(self, covers, tmp_path):
        run_study(self.SMALL, tmp_path / "out", n_jobs=1)
        file = tmp_path / "out" / "units" / "identity.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"covers": covers}))
        with pytest.raises(StudyError, match=r"identity\.json is damaged"):
            run_study(self.SMALL, tmp_path / "out", n_jobs=1)

    def test_a_unit_says_which_code_made_it(self, tmp_path):
        run_study(self.SMALL, tmp_path / "out", n_jobs=1)
        (file,) = (tmp_path / "out").glob("units/data/planted/fold-1.npz")
        with np.load(file) as arrays:
            assert str(arrays["made_by"]).startswith("steelyard ")


def rows_of(folder):
    return (folder / "results.csv").read_bytes()
