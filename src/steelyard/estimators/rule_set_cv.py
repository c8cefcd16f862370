"""RuleSetClassifierCV: chooses by cross-validation, for the measure that matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv

from steelyard._numbers import is_number
from steelyard.heuristics import Heuristic, describe, get_heuristic
from steelyard.learning.candidates import PAPER_DEPTHS
from steelyard.learning.targets import TargetChoice, encode_targets, flatten_column
from steelyard.measures import find_measure, get_scorer
from steelyard.model.decoding import Decoding, get_decoding
from steelyard.model.thresholding import PHI_GRID
from steelyard.splitting import IterativeStratifiedKFold

from .progress import show_progress, with_callbacks
from .rule_set import (
    RuleSetClassifier,
    TheoryClassifier,
    as_list,
    check_phi,
    effective_parameters,
    read_settings,
    repeated_rows,
    seed_to_entropy,
    take_rows,
    validate_table,
)
from .tuning import (
    VARIANT_PARAMETERS,
    FoldScores,
    Grid,
    as_choices,
    check_splits,
    choose_cell,
    list_decodings,
    list_variants,
    score_folds,
)


class RuleSetClassifierCV(TheoryClassifier):
    """Rules tuned for a measure: heuristic, φ and more are chosen by cross-validation.

    Every fold yields all theories of the grid from one pool of candidates; the one with the best mean
    score is learned again on everything. With ``scoring="f1_micro"``, ``"hamming"`` and ``"subset"``
    these are the paper's M_F, M_H and M_S.

    Parameters
    ----------
    scoring : str or callable, default="f1_micro"
        A measure of `steelyard.measures` (``"f1_micro"``, ``"hamming"``, ``"subset"``, ...), the name
        of a scikit-learn scorer or a scorer ``(estimator, X, y) -> float``.
    heuristics : sequence of Heuristic or None, default=None
        None is the m-estimate with m = 0, 2, 4, ..., 4096, or 16 for rules that vote.
    phis : sequence of float, default=(1.0, 0.95, ..., 0.05)
        If this is the default, a preset can offer fewer: ``"accurate"`` only 1.
    cv : int, splitter or iterable of splits, default=5
        A number of folds means iterative stratification.
    max_features, prune, combine, decode
        As in `RuleSetClassifier`, or a list to choose from. Each combination of the first three needs
        candidates of its own. Where the preset speaks for `decode` it offers a choice. A
        one-dimensional y has no label sets: each class is then predicted by itself.
    preset, max_rules, threshold_heuristic, n_candidates, n_trees, max_depths, sample_fraction, \
    target, revalidate, random_state, verbose
        As in `RuleSetClassifier`.
    tolerance : float, default=0.0
        Of all theories whose mean score is below the best by at most this many standard errors of the
        difference, the one with the fewest conditions is chosen. If this is the default,
        ``preset="short"`` makes it ½.
    n_jobs : int or None, default=None
        Folds are learned in parallel; the result does not depend on it.

    Attributes
    ----------
    best_heuristic_ : Heuristic
    best_phi_ : float
    best_decoding_ : EachLabel or LabelSets
    best_params_ : dict
        The chosen `max_features`, `prune`, `combine`, `decode`, `heuristic` and `phi`.
    best_score_ : float
        Mean score of the chosen theory over the folds; optimistic, since it was chosen for it.
    best_index_ : int
        Its position in `cv_results_`.
    cv_results_ : dict of arrays
        The whole map, one entry a theory, ready for ``pandas.DataFrame``.
    theory_, classes_, n_features_in_, feature_names_in_
        As in `RuleSetClassifier`.

    Examples
    --------
    >>> from steelyard import RuleSetClassifierCV, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = RuleSetClassifierCV("hamming", n_candidates=500, cv=3, random_state=0)
    >>> clf.fit(data.X, data.Y).best_score_ > 0.8
    True
    """

    best_decoding_: Decoding
    best_params_: dict[str, Any]

    def __init__(
        self,
        scoring: str | Callable[..., float] = "f1_micro",
        heuristics: Sequence[Heuristic] | None = None,
        phis: Sequence[float] = PHI_GRID,
        cv: Any = 5,
        *,
        threshold_heuristic: Heuristic | str | Callable[..., Any] | None = None,
        n_candidates: int = 300_000,
        n_trees: int = 10,
        max_depths: tuple[int | None, ...] = PAPER_DEPTHS,
        sample_fraction: float = 1.0,
        max_features: str | int | float | Sequence[Any] = "log2",
        target: TargetChoice = "minority",
        revalidate: bool = True,
        preset: str = "paper",
        prune: str | Sequence[Any] | None = "auto",
        combine: str | Sequence[Any] = "auto",
        decode: str | Decoding | Sequence[Any] = "auto",
        max_rules: int = 333,
        tolerance: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.scoring = scoring
        self.heuristics = heuristics
        self.phis = phis
        self.cv = cv
        self.threshold_heuristic = threshold_heuristic
        self.n_candidates = n_candidates
        self.n_trees = n_trees
        self.max_depths = max_depths
        self.sample_fraction = sample_fraction
        self.max_features = max_features
        self.target = target
        self.revalidate = revalidate
        self.preset = preset
        self.prune = prune
        self.combine = combine
        self.decode = decode
        self.max_rules = max_rules
        self.tolerance = tolerance
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RuleSetClassifierCV:
        """Choose heuristic, φ and more, then learn the theory on everything.

        Parameters
        ----------
        X, y, sample_weight : as in `RuleSetClassifier.fit`

        Returns
        -------
        self
        """
        entropy = seed_to_entropy(self.random_state)
        template, grid = plan_search(self, entropy)
        get_scorer(self.scoring)  # an unknown name is said before the work, not after it
        X = validate_table(self, X, reset=True)
        y = flatten_column(y)
        splits = list(self._split(X, y, entropy))
        check_splits(splits, X.shape[0])
        output = encode_targets(y, self.target).output
        grid = replace(grid, decodings=list_decodings(grid.decodings, output))
        row_idx = repeated_rows(sample_weight, X)
        if row_idx is not None:
            copies = np.bincount(row_idx, minlength=X.shape[0])
            splits = [
                (np.repeat(train, copies[train]), np.repeat(test, copies[test]))
                for train, test in splits
            ]
            check_splits(splits, X.shape[0])

        with show_progress(self, "folds", X, y) as progress:
            folds = score_folds(template, grid, X, y, splits, [self.scoring], self.n_jobs, progress)
        self._choose(grid, folds)

        refit = clone(template).set_params(
            **self.best_params_, n_jobs=self.n_jobs, verbose=self.verbose
        )
        refit.fit(X, y, sample_weight)
        self.theory_, self.classes_ = refit.theory_, refit.classes_
        return self

    def _split(
        self, X: Any, y: Any, entropy: int
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        targets = encode_targets(y, self.target)
        n_examples = targets.is_target.shape[1]
        if n_examples != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]}, "
                f"y has {n_examples}"
            )
        if isinstance(self.cv, int | np.integer):
            if not 2 <= self.cv <= n_examples:
                raise ValueError(
                    f"cv={self.cv} folds need at least 2 and at most n_samples={n_examples}"
                )
            splitter: Any = IterativeStratifiedKFold(
                int(self.cv), random_state=entropy % np.iinfo(np.int32).max
            )
        else:
            splitter = check_cv(self.cv)
        yield from splitter.split(np.zeros((n_examples, 1)), y)

    def _choose(self, grid: Grid, folds: Sequence[FoldScores]) -> None:
        """Best mean score; ties go to the theories with fewer conditions, then to the first."""
        scores = np.array([fold.scores[0] for fold in folds])
        n_rules = np.mean([fold.n_rules for fold in folds], axis=0)
        n_conditions = np.mean([fold.n_conditions for fold in folds], axis=0)
        mean = scores.mean(axis=0)
        with np.errstate(invalid="ignore"):  # a scorer may give infinity
            std = scores.std(axis=0)
        if np.isnan(mean).all():
            raise ValueError(f"scoring {self.scoring!r} is undefined (NaN) for every theory")
        cells = list(grid.cells())
        best = choose_cell(scores, n_conditions, grid.tolerance)
        variant, decoding, heuristic, phi = cells[best]
        self.best_index_ = best
        self.best_heuristic_, self.best_phi_, self.best_decoding_ = heuristic, phi, decoding
        self.best_params_ = {**variant, "decode": decoding, "heuristic": heuristic, "phi": phi}
        self.best_score_ = float(mean[best])
        # Not np.unique of floats: ranks of equal means are equal, the best is 1, as in GridSearchCV.
        rank = np.searchsorted(np.sort(-mean), -mean) + 1
        self.cv_results_ = {
            "heuristic": np.array([describe(heuristic) for _, _, heuristic, _ in cells]),
            "parameter": np.array([heuristic.parameter for _, _, heuristic, _ in cells]),
            "phi": np.array([phi for *_, phi in cells]),
            "decode": np.array([str(decoding) for _, decoding, _, _ in cells]),
            **{
                name: np.array([cell[0][name] for cell in cells], dtype=object)
                for name in VARIANT_PARAMETERS
            },
            "mean_test_score": mean,
            "std_test_score": std,
            "rank_test_score": rank,
            "mean_n_rules": n_rules,
            "mean_n_conditions": n_conditions / np.maximum(n_rules, 1),
            **{f"split{i}_test_score": score for i, score in enumerate(scores)},
        }

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score that `scoring` names, on other data."""
        scorer = get_scorer(self.scoring)
        if sample_weight is not None and find_measure(self.scoring) is not None:
            # Our measures count examples: a weight is a number of copies, as it is in `fit`.
            row_idx = repeated_rows(sample_weight, X)
            if row_idx is not None:
                X, y = take_rows(X, row_idx), take_rows(y, row_idx)
            sample_weight = None
        if sample_weight is None:
            return float(scorer(self, X, y))
        return float(scorer(self, X, y, sample_weight=sample_weight))


_SHARED_PARAMETERS = (
    "threshold_heuristic",
    "n_candidates",
    "n_trees",
    "max_depths",
    "sample_fraction",
    "target",
    "revalidate",
    "max_rules",
)


def plan_search(estimator: RuleSetClassifierCV, entropy: int) -> tuple[RuleSetClassifier, Grid]:
    """What an estimator's parameters ask for: the classifier to vary, and what to choose from."""
    parameters = effective_parameters(estimator, tuned=True)
    heuristics = None
    if parameters["heuristics"] is not None:
        heuristics = tuple(
            get_heuristic(h) for h in as_list("heuristics", parameters["heuristics"])
        )
    tolerance = parameters["tolerance"]
    if not is_number(tolerance) or not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a number of at least 0, got {tolerance!r}")
    grid = Grid(
        list_variants(parameters),
        tuple(get_decoding(decode) for decode in as_choices(parameters["decode"])),
        heuristics,
        tuple(check_phi(phi) for phi in as_list("phis", parameters["phis"])),
        tolerance,
    )
    if heuristics == () or not grid.phis:
        raise ValueError("heuristics and phis must each have at least one entry")
    if not grid.variants or not grid.decodings:
        raise ValueError(
            "max_features, prune, combine and decode must each have at least one entry"
        )
    template = RuleSetClassifier(
        **{name: parameters[name] for name in _SHARED_PARAMETERS}, random_state=entropy, n_jobs=1
    )
    for variant in grid.variants:  # what does not fit together is said before the work, not amid it
        read_settings(effective_parameters(clone(template).set_params(**variant)))
    return template, grid
