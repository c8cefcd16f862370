"""A recount counts what the rules cover, changes no prediction, and brings every measure."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from steelyard.measures import MEASURES
from steelyard.model import coded_rules
from steelyard.model.decoders import EachLabel
from steelyard.model.evidence import Evidence, EvidenceFrom, Label
from steelyard.model.judgement import Judgement
from steelyard.model.theory import Theory
from theories import PAIRS, flu_theory, random_cases

PATIENTS = pd.DataFrame(
    {"fever": [36.0, 37.0, 38.0, 39.0, 40.0, 41.0], "nose": ["dry", "runs"] * 3}
)
ILL = pd.DataFrame({"cold": [0, 1, 0, 1, 0, 1], "flu": [0, 0, 0, 1, 1, 1]})


def random_labels(theory: Theory, X, seed: int = 0):
    """True labels as the theory takes them, and as booleans."""
    rng = np.random.default_rng(seed)
    if theory.is_multilabel:
        truth = rng.random((len(X), len(theory.labels))) < 0.4
        return truth.astype(int), truth
    chosen = rng.integers(len(theory.classes), size=len(X))
    y = np.array(theory.classes, dtype=object)[chosen]
    truth = np.eye(len(theory.classes), dtype=bool)[chosen][:, -len(theory.labels) :]
    return y, truth


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
class TestEveryCombiner:
    def test_counts_are_those_of_the_rows_that_the_rules_cover(self, pair):
        for theory, X in random_cases(*pair):
            Y, truth = random_labels(theory, X)
            counted = theory.recount(X, Y)
            names = list(theory.label_names)
            covers = [scored.rule.covers(X) for scored in theory]
            for r, scored in enumerate(counted):
                j = names.index(scored.head.label)
                is_right = truth[:, j] == scored.head.target_class
                others = [c for k, c in enumerate(covers) if k != r and _same_label(theory, r, k)]
                alone = covers[r] & ~np.any([*others, np.zeros(len(X), bool)], axis=0)
                expected = (covers[r] & is_right).sum(), (covers[r] & ~is_right).sum(), alone.sum()
                assert scored.evidence == Evidence(*map(int, expected))

    def test_labels_are_counted_too(self, pair):
        for theory, X in random_cases(*pair):
            Y, truth = random_labels(theory, X)
            for j, label in enumerate(theory.recount(X, Y).labels):
                is_target = truth[:, j] == label.target_class
                own = [s.rule.covers(X) for s in theory.rules_of(label.name)]
                silent = ~np.any([*own, np.zeros(len(X), bool)], axis=0)
                counts = [is_target, ~is_target, is_target & silent, ~is_target & silent]
                expected = Label(label.name, label.target_class, *(int(c.sum()) for c in counts))
                assert replace(label, silent=None) == expected

    def test_nothing_that_is_predicted_changes(self, pair):
        for theory, X in random_cases(*pair):
            counted = theory.recount(X, random_labels(theory, X)[0])
            assert np.array_equal(counted.predict(X), theory.predict(X))
            assert np.array_equal(counted.predict_proba(X), theory.predict_proba(X))
            assert np.array_equal(counted.decision_function(X), theory.decision_function(X))

    def test_it_is_saved_and_read_again(self, pair):
        for theory, X in random_cases(*pair):
            counted = theory.recount(X, random_labels(theory, X)[0])
            again = Theory.from_json(counted.to_json())
            assert again == counted
            assert hash(again) == hash(counted)

    def test_the_measures_are_those_of_the_predictions(self, pair):
        for theory, X in random_cases(*pair):
            Y, _ = random_labels(theory, X)
            judgement = theory.recount(X, Y).evidence_from.judgement
            evaluation = theory.evaluate(X, Y)
            assert evaluation.judgement == judgement
            assert set(judgement.measures) == set(MEASURES)
            predicted = np.asarray(theory.predict(X))
            same = np.asarray(Y, dtype=predicted.dtype)
            for name, value in evaluation.measures.items():
                assert value == MEASURES[name](same, predicted)


def _same_label(theory, r, k):
    return theory.rules[r].head.label == theory.rules[k].head.label


class TestNumbers:
    counted = flu_theory("any-rule", EachLabel()).recount(PATIENTS, ILL)

    def test_columns_of_the_frame(self):
        frame = self.counted.to_frame().set_index("label")
        assert frame[["tp", "fp", "only"]].to_numpy().tolist() == [[3, 0, 3], [3, 0, 3]]
        # 3 of 6 rows are positive: all of 3 rows by chance in 1 of 20 draws.
        assert frame["p_value"].tolist() == pytest.approx([1 / comb(6, 3)] * 2)
        assert frame["lift"].tolist() == [2.0, 2.0]
        assert frame["precision_low"].tolist() == pytest.approx([0.43850] * 2, abs=1e-5)
        assert frame["precision_high"].tolist() == [1.0, 1.0]

    def test_p_values_are_shares_of_all_ways_to_draw(self):
        rng = np.random.default_rng(0)
        X = PATIENTS.iloc[rng.integers(6, size=40)].reset_index(drop=True)
        Y = rng.random((40, 2)) < 0.4
        counted = flu_theory("sum-of-votes", EachLabel()).recount(X, Y)
        frame = counted.to_frame()
        for row, scored in zip(frame.itertuples(), counted, strict=True):
            j = counted.label_names.index(scored.head.label)
            n_heads = int((Y[:, j] == scored.head.target_class).sum())
            n = scored.evidence.covered
            ways = [comb(n_heads, k) * comb(40 - n_heads, n - k) for k in range(scored.tp, n + 1)]
            assert row.p_value == pytest.approx(float(Fraction(sum(ways), comb(40, n))))
            assert row.lift == pytest.approx(scored.precision / (n_heads / 40))

    def test_a_theory_that_was_not_recounted_has_no_such_columns(self):
        columns = set(flu_theory("any-rule", EachLabel()).to_frame())
        assert not columns & {"p_value", "lift", "only", "precision_low"}

    def test_the_print_says_what_was_counted(self):
        text = str(self.counted)
        assert "The evidence is from a recount on 6 examples." in text
        assert "flu: 3 of 6 (50%)" in text
        assert "precision 1.00 (0.44–1.00)  flu ← fever ≥ 38.5" in text

    def test_a_rule_that_covers_nothing_has_no_precision(self):
        counted = flu_theory("any-rule", EachLabel()).recount(PATIENTS[:3], ILL[:3])
        assert "precision – (0.00–1.00)  flu ←" in str(counted)
        assert np.isnan(counted.to_frame()["lift"][0])

    def test_explanations_quote_the_recount_and_say_so(self):
        explanation = self.counted.explain({"fever": 36.0, "nose": "dry"})
        assert "right for 3 of 3 recounted examples" in explanation["flu"].reason
        assert "recount on 6 examples" in str(explanation)
        assert "recount on 6 examples" in explanation._repr_html_()

    def test_counting_the_same_again_changes_nothing(self):
        assert self.counted.recount(PATIENTS, ILL) == self.counted

    def test_a_recount_makes_an_edited_theory_whole(self):
        edited = flu_theory("any-rule", EachLabel()).add("flu ← nose = runs")
        counted = edited.recount(PATIENTS, ILL)
        assert counted.evidence_from.is_complete
        assert [(s.tp, s.fp, s.evidence.only) for s in counted] == [(3, 0, 1), (2, 1, 1), (3, 0, 3)]

    def test_held_out_counts_give_way_to_the_recount(self):
        theory = flu_theory("any-rule", EachLabel())
        rules = tuple(replace(s, held_out=Evidence(1, 1)) for s in theory)
        counted = replace(theory, rules=rules).recount(PATIENTS, ILL)
        assert all(scored.held_out is None for scored in counted)

    def test_blocks_of_rows_are_added_up(self, monkeypatch):
        monkeypatch.setattr(coded_rules, "_BLOCK_ROWS", 4)
        theory = flu_theory("any-rule", EachLabel())
        again = theory.recount(PATIENTS, ILL)
        assert again == self.counted


class TestLabels:
    theory = flu_theory("any-rule", EachLabel())

    @pytest.mark.parametrize(
        "given",
        [
            ILL,
            ILL.assign(other=3),
            ILL[["flu", "cold"]].to_numpy(),
            ILL[["flu", "cold"]].to_numpy().tolist(),
            sparse.csr_array(ILL[["flu", "cold"]].to_numpy()),
            ILL.astype(bool),
        ],
    )
    def test_names_or_positions_match_them(self, given):
        assert self.theory.recount(PATIENTS, given) == self.theory.recount(PATIENTS, ILL)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (
                ILL.rename(columns={"flu": "flue"}),
                r"Y has no label 'flu'.*\(did you mean 'flue'\?\)",
            ),
            (ILL[["cold"]], "Y has no label 'flu', which the theory predicts; it has 'cold'"),
            (np.zeros((6, 3)), r"Y has shape \(6, 3\), but the theory predicts 2 labels"),
            (np.zeros(6), r"Y has shape \(6,\), but the theory predicts 2 labels"),
            (np.zeros((5, 2)), "X has 6 rows, but Y has 5"),
            (np.zeros((7, 2)), "X has 6 rows, but Y has 7"),
            (np.full((6, 2), 2), "Y must hold only 0 and 1, but holds 2"),
        ],
    )
    def test_others_are_rejected(self, wrong, message):
        for method in (self.theory.recount, self.theory.evaluate, self.theory.drift):
            with pytest.raises(ValueError, match=message):
                method(PATIENTS, wrong)

    def test_no_rows_are_no_evidence(self):
        with pytest.raises(ValueError, match="X and Y have no rows"):
            self.theory.recount(PATIENTS[:0], ILL[:0])

    def test_an_unknown_class_is_named(self):
        theory, X = random_cases("any-rule", "best-label")[0]
        with pytest.raises(
            ValueError, match="Y has the class 'zz', which the theory does not know"
        ):
            theory.recount(X, ["zz"] * len(X))
        with pytest.raises(ValueError, match="the theory predicts one class per row"):
            theory.recount(X, np.zeros((len(X), 3)))


class TestEvaluations:
    def test_measures_need_labels(self):
        evaluation = flu_theory("any-rule", EachLabel()).evaluate(PATIENTS)
        assert evaluation.judgement is None
        with pytest.raises(ValueError, match=r"call evaluate\(X, Y\)"):
            _ = evaluation.measures

    def test_a_judgement_prints_all_and_finds_names(self):
        judgement = flu_theory("any-rule", EachLabel()).evaluate(PATIENTS, ILL).judgement
        assert judgement["subset"] == 1.0
        assert "Subset accuracy" in str(judgement)
        assert "flu   TP 3, FP 0, FN 0, TN 3" in str(judgement)
        with pytest.raises(KeyError, match="did you mean 'f1_micro'"):
            judgement["f1_mirco"]

    def test_per_label_measures_are_those_of_the_label_alone(self):
        rng = np.random.default_rng(0)
        theory, X = random_cases("sum-of-votes", "best-label-set")[1]
        Y = rng.random((len(X), len(theory.labels))) < 0.5
        frame = theory.evaluate(X, Y).judgement.to_frame()
        predicted = np.asarray(theory.predict(X))
        for j, row in enumerate(frame.itertuples()):
            pair = Y[:, [j]].astype(int), predicted[:, [j]]
            for name, value in (
                ("f1", row.f1),
                ("precision", row.precision),
                ("recall", row.recall),
            ):
                assert value == pytest.approx(MEASURES[f"{name}_micro"](*pair))
            assert row.accuracy == pytest.approx(MEASURES["hamming"](*pair))

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            ((-1, (), (), ()), "n_rows must be a non-negative integer"),
            ((3, (("a", "b"),), (), ()), "values must be names with numbers"),
            ((3, (), ("a",), ((1, 2, 3),)), "confusion must have four counts per label"),
            ((3, (), (), ((1, 2, 3, 4),)), "1 counts for 0 labels"),
        ],
    )
    def test_a_judgement_is_checked(self, parts, message):
        with pytest.raises(ValueError, match=message):
            Judgement(*parts)

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            (("guess",), "the kind of evidence must be one of training, recount, stale"),
            (("recount",), "evidence has a judgement if it is from a recount, and only then"),
            (
                ("stale", Judgement(1, (), (), ())),
                "evidence has a judgement if it is from a recount",
            ),
        ],
    )
    def test_what_evidence_is_from_is_checked(self, parts, message):
        with pytest.raises(ValueError, match=message):
            EvidenceFrom(*parts)
