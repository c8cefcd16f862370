"""The short form of `make attack`, and whether an attack would notice a defect."""

import random

import pytest

from attack.__main__ import run_attack
from attack.exports import list_pairs
from attack.mutator import mutate
from attack.outcomes import Outcome, Setting, to_table
from attack.processes import compare, digest_folder
from attack.readers import Reader, fuzz, list_readers
from steelyard.model.combiners import COMBINERS
from steelyard.model.decoders import DECODERS


@pytest.fixture
def setting(tmp_path):
    return Setting(tmp_path, seconds=0, n_rounds=1)


@pytest.mark.parametrize("name", ["crashes", "damage", "exports", "soak"])
def test_an_attack_finds_no_defect(setting, name):
    outcomes = run_attack(name, setting)
    assert [defect for outcome in outcomes for defect in outcome.defects] == []
    assert all(outcome.n_tried for outcome in outcomes)


def test_every_reader_rejects_damage_in_a_sentence_of_its_own(setting):
    for reader in list_readers(setting.folder):
        assert fuzz(reader, setting, n_inputs=5).defects == []


def test_every_combiner_and_decoder_is_exported():
    combiners, decoders = zip(*list_pairs(), strict=True)
    assert set(combiners) == set(COMBINERS)
    assert set(decoders) == set(DECODERS)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (KeyError("x"), "KeyError at test_attack"),
        (ValueError("no sentence of ours"), "a library's ValueError"),
        (OSError("no file"), "OSError: no file"),
        (AssertionError("another rule"), "AssertionError"),
    ],
)
def test_what_is_no_sentence_of_ours_is_a_defect(setting, failure, message):
    def read(file):
        if file.read_bytes() != b"valid":
            raise failure

    outcome = fuzz(Reader("a reader", (b"valid",), "file", read), setting, n_inputs=5)
    assert outcome.seen["DEFECT"] >= 4
    assert message in outcome.defects[0]


def test_a_sample_that_is_rejected_is_no_sample(setting):
    def read(file):
        raise ValueError("never")

    with pytest.raises(AssertionError, match="does not read its sample"):
        fuzz(Reader("a reader", (b"valid",), "file", read), setting, n_inputs=5)


def test_other_bytes_and_missing_files_are_defects(tmp_path):
    (tmp_path / "a").write_text("1", encoding="utf-8")
    whole = digest_folder(tmp_path)
    for change in (lambda: (tmp_path / "a").write_text("2"), (tmp_path / "a").unlink):
        outcome = Outcome("bytes")
        compare(outcome, "unchanged", tmp_path, whole)
        change()
        compare(outcome, "changed", tmp_path, whole)
        assert outcome.defects == ["changed: a differ"]
        (tmp_path / "a").write_text("1", encoding="utf-8")


def test_damage_is_random_and_can_be_repeated():
    def list_mutants(seed):
        chance = random.Random(seed)
        return [mutate(b"a,b\n1,2\n", chance) for _ in range(50)]

    assert list_mutants(1) == list_mutants(1) != list_mutants(2)
    assert len(set(list_mutants(1))) > 30


def test_the_table_says_what_was_tried_how_often_and_what_was_seen():
    outcome = Outcome("kills")
    outcome.see("the same | bytes")
    outcome.notes.append("3 signals")
    assert to_table([outcome]).splitlines()[2] == (
        "| kills | 1 | 1 × the same \\| bytes; 3 signals |"
    )
