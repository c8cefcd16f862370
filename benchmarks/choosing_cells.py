"""Ways to choose among the cells of tuned boosted rules, on folds inside training sets.

    python benchmarks/choosing_cells.py MORE/chd49 diabetes patients digits digits+0.1 TABLES/vowel

Data sets are those of tuned_settings.py. Each of five folds of our own is tested once: all cells are
scored by five folds of the other examples, and then learned on them and scored on the test rows. The
table has the gain in points of each way to choose over the cell with the best mean score, with standard
errors over all tunings; its last line is the cell that is best on the test rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from nested import NestedTuning
from steelyard import BoostedRulesClassifierCV
from steelyard.estimators.calibration import TestFold, score_theories
from steelyard.model.decoders import BestLabelSet, Decoder, EachLabel, LabelSetVotes
from steelyard.splitting import IterativeStratifiedKFold
from tuned_settings import MEASURES, load

SCORED = (*MEASURES, "brier")
Floats = NDArray[np.float64]


class Cells(NamedTuple):
    """Scores of all cells: one row per variant, one column per decoder.

    `inside` has the means over the folds of a training set and `outside` those on the test rows, both of
    shape (n_measures, n_variants, n_decoders).
    """

    decoders: list[Decoder]
    inside: Floats
    outside: Floats


def suits(decoder: Decoder, measure: str) -> bool:
    """Whether a decoder predicts what is best for a measure if the probabilities are right."""
    if measure == "subset":
        return isinstance(decoder, BestLabelSet)
    by_labels = isinstance(decoder, EachLabel | LabelSetVotes)
    return by_labels and (measure != "hamming" or decoder.threshold == 0.5)


def choose_best(cells: Cells, measure: str) -> tuple[int, int]:
    return _find_best(cells.inside[SCORED.index(measure)])


def choose_suited(cells: Cells, measure: str) -> tuple[int, int]:
    is_suited = np.array([suits(decoder, measure) for decoder in cells.decoders])
    return _find_best(np.where(is_suited, cells.inside[SCORED.index(measure)], -np.inf))


def choose_variant_by_mean(cells: Cells, measure: str) -> tuple[int, int]:
    scores = cells.inside[SCORED.index(measure)]
    variant = int(scores.mean(axis=1).argmax())
    return variant, int(scores[variant].argmax())


def choose_variant_by_brier(cells: Cells, measure: str) -> tuple[int, int]:
    variant, _ = _find_best(cells.inside[SCORED.index("brier")])
    return variant, int(cells.inside[SCORED.index(measure), variant].argmax())


def choose_without_known_sets(cells: Cells, measure: str) -> tuple[int, int]:
    is_open = np.array([getattr(decoder, "new_sets", True) for decoder in cells.decoders])
    return _find_best(np.where(is_open, cells.inside[SCORED.index(measure)], -np.inf))


def choose_on_test_rows(cells: Cells, measure: str) -> tuple[int, int]:
    return _find_best(cells.outside[SCORED.index(measure)])


Way = Callable[[Cells, str], tuple[int, int]]
WAYS: dict[str, Way] = {
    "decoders that suit the measure": choose_suited,
    "variant by the mean of its decoders": choose_variant_by_mean,
    "variant by the Brier score": choose_variant_by_brier,
    "no decoder of known sets only": choose_without_known_sets,
    "best on the test rows": choose_on_test_rows,
}


def _find_best(scores: Floats) -> tuple[int, int]:
    variant, decoder = np.unravel_index(scores.argmax(), scores.shape)
    return int(variant), int(decoder)


def score_cells(source: str, k: int, seed: int) -> Cells:
    """The scores of all cells inside a training set and on its test rows."""
    warnings.simplefilter("ignore")
    X, Y = load(source)
    splits = list(IterativeStratifiedKFold(5, random_state=77).split(np.zeros((len(X), 1)), Y))
    parts = [[table.iloc[rows].reset_index(drop=True) for table in (X, Y)] for rows in splits[k]]
    estimator = BoostedRulesClassifierCV(random_state=seed)
    tuning = NestedTuning(estimator, *parts[0], seed, SCORED)
    search = tuning.search
    shape = (len(SCORED), len(search.variants), len(search.decoders))
    inside = np.mean([fold.scores for fold in tuning.folds], axis=0).reshape(shape)
    test = TestFold(*parts[1], None, None, tuning.tests[0].make_cell)
    outside = np.empty(shape)
    for v, variant in enumerate(search.variants):
        paths = [fold.paths[v] for fold in tuning.folds]
        path = tuning.learn_path(variant).shorten(variant["phi"])
        # The last fold is the test set: its theory is calibrated on the held-out rows of the others.
        scores, _ = score_theories([*paths, path], [*tuning.tests, test], search.decoders, SCORED)
        outside[:, v] = scores[-1]
    return Cells(list(search.decoders), inside, outside)


def measure_gain(found: list[Cells], choose: Way, measure: str) -> str:
    """Mean and standard error of the points that a way to choose gains."""
    outside = [cells.outside[SCORED.index(measure)] for cells in found]
    pairs = [(choose(cells, measure), choose_best(cells, measure)) for cells in found]
    gain = [100 * (o[new] - o[best]) for o, (new, best) in zip(outside, pairs, strict=True)]
    return f"{np.mean(gain):+.2f} ± {np.std(gain, ddof=1) / np.sqrt(len(gain)):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--folds", default="0,1,2,3,4")
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    numbers = [list(map(int, text.split(","))) for text in (arguments.seeds, arguments.folds)]
    tunings = [
        (source, k, seed) for source in arguments.sources for seed in numbers[0] for k in numbers[1]
    ]
    found = Parallel(n_jobs=arguments.jobs)(delayed(score_cells)(*tuning) for tuning in tunings)
    print(f"{len(found)} tunings\n\n| | F1 | Hamming | subset |\n|---|---:|---:|---:|")
    for name, choose in WAYS.items():
        gains = [measure_gain(found, choose, measure) for measure in MEASURES]
        print(f"| {name} | {' | '.join(gains)} |")


if __name__ == "__main__":
    main()
