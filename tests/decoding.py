"""Points to decode, and decoders fitted to label sets, for the tests of all decoders."""

import numpy as np
from hypothesis import strategies as st

from steelyard.model.combiners import SumOfVotes
from steelyard.model.decoders import BestLabelSet
from steelyard.model.label_sets import KnownLabelSets
from strategies import random_generators

WEIGHTS = [0.0, 0.01, 0.5, 1.0]
THRESHOLDS = [0.001, 0.25, 1 / 3, 0.4, 0.5, 0.6, 0.999]
VOTES = SumOfVotes((0,))  # scores are points; decoders do not look at its start


@st.composite
def problems(draw, max_labels=5, max_rows=8):
    """Label sets of a few examples and points to be decoded; both coarse, so that ties are common."""
    n_labels = draw(st.integers(1, max_labels))
    rng = draw(random_generators())
    examples = rng.random((rng.integers(1, 15), n_labels)) < rng.choice([0.1, 0.4, 0.8])
    if rng.random() < 0.3:
        examples = np.repeat(examples, 2, axis=0)  # no set is seen just once
    spread = int(rng.choice([1, 3, 120, 400]))
    points = rng.integers(-spread, spread + 1, (rng.integers(1, max_rows + 1), n_labels))
    return examples, points, float(rng.choice(WEIGHTS))


# Two sets of two examples each, so that no new set is expected.
EITHER = KnownLabelSets(((0,), (1,)), (2, 2))


def best_set(examples, weight=0.5):
    return BestLabelSet(weight).fit(KnownLabelSets.from_labels(np.array(examples, dtype=bool)))


def decode(decoder, points):
    return decoder.decode(np.array(points), VOTES).is_present.tolist()


def to_sets(predicted):
    return [frozenset(np.flatnonzero(row).tolist()) for row in np.asarray(predicted)]
