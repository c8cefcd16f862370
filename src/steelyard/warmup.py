"""Use every part of the package once, so that later processes start faster.

``python -m steelyard.warmup`` is for images of containers and for clusters. The kernels are compiled
when the package is built; what a first use still writes are Python's bytecode of this package and its
dependencies, and matplotlib's list of fonts. It also shows that an installation works.
"""

import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

_ESTIMATORS = ("RuleSetClassifier", "BoostedRulesClassifier", "RipperClassifier")


def _use_parts() -> Iterator[str]:
    """Import, fit, explain, export and draw; yield the name of each step after it."""
    import steelyard
    import steelyard.report
    import steelyard.study

    data = steelyard.make_planted_rules(200, random_state=0)
    yield "imports"
    for name in _ESTIMATORS:
        estimator: Any = getattr(steelyard, name)(random_state=0)
        theory = estimator.fit(data.X, data.Y).theory_
        yield name
    str(theory.explain(data.X.iloc[0]))
    theory.to_sql()
    yield "explanation and export"
    if find_spec("matplotlib") is not None:
        theory.plot().canvas.draw()
        yield "figure"


def main() -> None:
    """Print each step with its seconds."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in _use_parts():
            now = time.perf_counter()
            print(f"{now - start:6.2f} s  {step}", flush=True)
            start = now
    print("Everything works; the caches of bytecode and fonts are filled.")


if __name__ == "__main__":
    main()
