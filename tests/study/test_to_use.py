"""The theories to use: what tuning on the folds would choose, learned on all examples."""

import json

import numpy as np
import pandas as pd
import pytest

from steelyard import MEstimate, RipperClassifier, RuleSetClassifier, RuleSetClassifierCV
from steelyard.data.sources import load_source
from steelyard.model.path import TheoryPath
from steelyard.study import StudyConfig, StudyError, load_study, run_study
from steelyard.study.data import load_study_data
from steelyard.study.to_use import read_theories_to_use

CONFIG = StudyConfig(
    ("planted",),
    folds=3,
    n_candidates=300,
    parameters=(0.0, 4.0, 64.0),
    phis=(1.0, 0.5, 0.1),
    tune=("f1_micro", "subset"),
    inner_folds=2,
    baselines=("ripper",),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    steps = []
    folder = tmp_path_factory.mktemp("study") / "results"
    found = run_study(CONFIG, folder, n_jobs=1, theory_progress=lambda *step: steps.append(step))
    # Each distinct choice and each variant of Ripper is learned once, and each is told.
    used = {u.choice[1:2] + u.choice[3:] for u in read_theories_to_use(folder, "planted")}
    assert steps == [(i, len(used)) for i in range(len(used) + 1)]
    return found


def test_the_cell_is_what_tuning_with_the_same_folds_chooses(study):
    (data,) = load_study_data(CONFIG)
    folds = [data.locate(k + 1)[1] for k in range(3)]
    splits = [(np.flatnonzero(~test), np.flatnonzero(test)) for test in folds]
    heuristics = [MEstimate(m) for m in CONFIG.parameters]
    for used in read_theories_to_use(study.folder, "planted")[:2]:
        clf = RuleSetClassifierCV(
            used.choice.tuned_for,
            heuristics,
            CONFIG.phis,
            cv=splits,
            preset="paper",
            n_candidates=300,
            calibrate=False,
            random_state=0,
        ).fit(data.X, data.Y)
        assert (clf.best_heuristic_.m, clf.best_phi_) == (used.choice.parameter, used.choice.phi)
        assert clf.theory_ == used.theory


def test_the_theory_is_learned_on_all_examples_with_held_out_counts(study):
    data = load_source("planted")
    found = {used.choice.name: used for used in read_theories_to_use(study.folder, "planted")}
    assert list(found) == ["use-f1_micro", "use-subset", "R1", "R2", "R3"]
    used = found["use-f1_micro"]
    clf = RuleSetClassifier(
        MEstimate(used.choice.parameter),
        used.choice.phi,
        preset="paper",
        n_candidates=300,
        random_state=0,
    )
    assert clf.fit(data.X, data.Y).theory_ == used.theory
    assert used.theory.labels[0].n_examples == len(data)
    assert any(scored.held_out is not None for scored in used.theory)
    ripper = RipperClassifier(random_state=0).fit(data.X, data.Y).theory_
    assert [scored.rule for scored in found["R3"].theory] == [scored.rule for scored in ripper]
    pd.testing.assert_frame_equal(found["R3"].theory.predict(data.X), ripper.predict(data.X))


def count_by_hand(theory, data, fits):
    """Counts of each rule: of the rule for its head in each fit that covers most nearly the same."""
    counts = []
    for r, scored in enumerate(theory.rules):
        head, tp, fp = scored.rule.head, 0, 0
        for is_test, other in fits:
            similar = []
            for o, known in enumerate(other.rules):
                mine, its = (t.covers(data.X)[:, i] for t, i in ((theory, r), (other, o)))
                shared, either = ((x & ~is_test).sum() for x in (mine & its, mine | its))
                if known.rule.head == head and shared:
                    similar.append((shared / either, -o, its & is_test))
            if similar:
                fires = max(similar, key=lambda found: found[:2])[2]
                right = data.Y[head.label].to_numpy() == head.target_class
                tp, fp = tp + (fires & right).sum(), fp + (fires & ~right).sum()
        counts.append((tp, fp))
    return counts


def test_baselines_have_counts_of_labels_and_rules_on_the_test_folds(study):
    (data,) = load_study_data(CONFIG)
    used = {found.choice.name: found for found in read_theories_to_use(study.folder, "planted")}
    fits, expected = [], np.zeros((data.Y.shape[1], 4), dtype=int)
    for fold in (1, 2, 3):
        is_test = data.locate(fold)[1]
        theory = RipperClassifier(random_state=0).fit(data.X[~is_test], data.Y[~is_test]).theory_
        judged = theory.evaluate(data.X[is_test], data.Y[is_test]).judgement
        expected += np.array(judged.confusion)
        fits.append((is_test, theory))
    assert used["R3"].confusion == expected.tolist()
    rules = used["R3"].theory.rules
    found = [(s.held_out.tp, s.held_out.fp) if s.held_out else (0, 0) for s in rules]
    assert found == count_by_hand(used["R3"].theory, data, fits)
    assert any(tp > 0 for tp, _ in found)


def test_counts_of_labels_are_sums_over_the_test_folds(study):
    (data,) = load_study_data(CONFIG)
    used = read_theories_to_use(study.folder, "planted")[0]
    expected = np.zeros((data.Y.shape[1], 4), dtype=int)
    for fold in (1, 2, 3):
        file = study.folder / "theories" / "planted" / f"fold-{fold}.json.gz"
        path = TheoryPath.from_json(file)
        theory = path.theory(MEstimate(used.choice.parameter), used.choice.phi)
        is_test = data.locate(fold)[1]
        judged = theory.evaluate(data.X[is_test], data.Y[is_test]).judgement
        expected += np.array(judged.confusion)
    assert used.confusion == expected.tolist()
    assert all(sum(counts) == len(data.X) for counts in used.confusion)


def test_a_resumed_study_learns_nothing_again_unless_a_file_is_damaged(study, monkeypatch):
    folder = study.folder / "theories" / "planted"
    file = folder / "R3.json"
    before = {path.name: path.read_bytes() for path in folder.glob("*.json")}
    calls = []
    from steelyard.study import to_use

    learn = to_use._learn
    monkeypatch.setattr(to_use, "_learn", lambda *call: calls.append(call) or learn(*call))
    run_study(CONFIG, study.folder, n_jobs=1)
    assert calls == []
    file.write_bytes(before["R3.json"][:-20])
    run_study(CONFIG, study.folder, n_jobs=1)
    assert calls
    assert {path.name: path.read_bytes() for path in folder.glob("*.json")} == before


@pytest.mark.parametrize(
    "change",
    [
        {"theories": 1},
        {"theories": [{"name": "../x"}]},
        {"theories": [{"name": "use", "method": "m", "tuned_for": "", "sha256": "", "phi": "x"}]},
    ],
)
def test_a_damaged_index_is_rejected_in_one_sentence(tmp_path, study, change):
    folder = tmp_path / "theories" / "planted"
    folder.mkdir(parents=True)
    (folder / "to-use.json").write_text(json.dumps(change))
    with pytest.raises(StudyError, match="is damaged"):
        read_theories_to_use(tmp_path, "planted")
    assert read_theories_to_use(tmp_path, "other") == []


def test_examples_of_a_study_have_counts_of_its_rules(study):
    loaded = load_study(study.folder)
    examples = loaded.examples("planted")
    path = loaded.paths["planted"]
    n_test = examples["n_held_out"]
    assert n_test == examples["n_test"]
    assert len(examples["rows"]) == len(load_source("planted"))  # all of them fit
    covered = np.array(examples["counts"]["tp"]) + examples["counts"]["fp"]
    assert len(covered) == len(path.coded)
    assert covered.max() <= n_test
    assert set(examples["ranges"]) <= set(examples["features"])
