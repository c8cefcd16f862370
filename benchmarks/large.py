"""CPU seconds and peak memory of one fit on synthetic data of a large size.

    python benchmarks/large.py {numbers,texts,labels,many-labels,words,categories} ESTIMATOR [CANDIDATES]

ESTIMATOR is paper, short, boosted or ripper.
"""

from __future__ import annotations

import sys
import time

from growth import ESTIMATORS
from memory import peak_memory
from synthetic import make_categories, make_numbers, make_texts

SIZES = {
    "numbers": lambda: make_numbers(200_000, 50, 10),
    "texts": lambda: make_texts(30_000, 500, 22),
    "labels": lambda: make_texts(11_000, 500, 983),
    "many-labels": lambda: make_texts(5_000, 500, 2_000),
    "words": lambda: make_texts(8_000, 12_000, 22),
    "categories": lambda: make_categories(100_000, 100_000),
}


def main() -> None:
    size, estimator, *candidates = sys.argv[1:]
    X, Y = SIZES[size]()
    model = ESTIMATORS[estimator](int(candidates[0]) if candidates else None)
    start = time.process_time()
    model.fit(X, Y)
    seconds = time.process_time() - start
    print(f"{seconds:.1f} CPU s, {peak_memory():.2f} GB, {len(model.theory_):,} rules")


if __name__ == "__main__":
    main()
