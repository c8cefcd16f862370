"""BoostedRulesClassifierCV: chooses how rules are grown, condensed and decoded for a measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

from sklearn.base import clone

from steelyard._numbers import is_integer
from steelyard.heuristics import MEstimate
from steelyard.learning.boosted_rules import expect_memory
from steelyard.learning.budget import read_memory
from steelyard.learning.parallel import Progress
from steelyard.learning.settings import (
    TEACHERS,
    check_condense,
    check_labels_per_rule,
    check_share,
)
from steelyard.learning.targets import Output
from steelyard.measures import find_measure
from steelyard.model.path import TheoryPath

from .boosted import BoostedRulesClassifier, BoostedRulesParameters
from .calibration import TestFold, score_theories
from .presets import TUNED_BOOSTED_DECODERS, TUNED_F1_DECODERS, choose_decoders, is_sparse
from .stopping import STOPPING_SHARES, find_share
from .tuned import FoldScores, Search, Splits, TunedClassifier, combine
from .validation import as_list

# Tuning tries condensing up to this many rules. With 999 rules it would take six times as long and gain
# 0.2 points of Hamming accuracy on segments, nothing on digits, and lose on noisy data.
_MOST_TRIED = 500
# Condensing more rules than max_rules hardly helps if a smaller share of max_rules than this is best.
_ALL_NEEDED = 0.65
# With a budget of conditions, short rules may be better, since there can be more of them.
_WITHIN_BUDGET = (1, 2, 4)
# Bodies that vote for all labels predict better with more conditions: with 8 instead of 4, Hamming
# accuracy rises by 0.15 to 0.33 points on images.
_FOR_ALL_LABELS = 8
# They were measured with up to 227 labels and are not tried with more than this. If each example has one
# class, theories of more than this many would have ten thousand votes and more.
_MOST_LABELS, _MOST_CLASSES = 250, 30
# A smaller max_rules than this means that people read each vote.
_FEWEST_BODIES = 100
# Condensing bodies multiplies matrices of bodies and rows for each label. More of this work than here,
# which is rows times labels times the square of max_rules, takes more than half a minute per fold.
_MOST_WORK = 2e10


@dataclass(eq=False, repr=False)
class BoostedRulesClassifierCV(TunedClassifier, BoostedRulesParameters):
    """Rules that vote, tuned for a measure by cross-validation: how many, and how they are decoded.

    Boosting stops where the labels of held-out examples are most likely. If most rules are needed, each
    fold also learns bodies that vote for all labels, and theories that are condensed from more rules or
    bodies. The theories are decoded in every way to choose from. The cell with the best mean score is
    learned again on all examples.

    Parameters
    ----------
    scoring : str or callable, default="f1_micro"
        A measure of `steelyard.measures`: of labels (``"f1_micro"``, ``"hamming"``, ``"subset"``, ...)
        or of probabilities (``"brier"``, ``"auc_macro"``, ``"ranking_loss"``, ...; losses are negated);
        the name of a scikit-learn scorer or a scorer ``(estimator, X, y) -> float``.
    ms : sequence of float, default=(16.0,)
        Values of m. A larger grid was not better on average: it increases selection bias.
    cv : int, splitter or iterable of splits, default=5
        An integer is a number of folds by iterative stratification.
    phis : sequence of float or None, default=None
        Shares of the votes to choose from by the likelihood of held-out labels; ``[1.0]`` does not stop
        early. None is 12 shares from 1 to 0.05, but only 1 with `min_rules_per_label`. Condensed rules
        are all kept, so they are tried only if 1 is among the shares.
    decode : str, Decoder, a list of them or None, default=None
        As in `BoostedRulesClassifier`, or a list to choose from. None chooses from each label by itself
        with thresholds from 0.5 to 0.1, the best label set, of known ones or also new ones, and votes of
        all label sets. For
        example-based F1 there is also the best expected F1; for a macro measure, if calibrated, also
        each label by itself with a threshold of its own.
    condense : False, "predictions", "labels", a list of them or None, default=None
        As in `BoostedRulesClassifier`. None also tries both ways if most of the rules that are not
        condensed are needed, unless more than 500 rules are asked for: the time of condensing grows with
        the cube of the rules of a label. Of bodies for several labels it tries "labels", except for
        sparse tables and if rows times labels times the square of `max_rules` exceed 2 · 10¹⁰.
    max_conditions : int, None, a list of them or "auto", default="auto"
        As in `BoostedRulesClassifier`, or a list to choose from. "auto" is 4, and 8 for bodies that vote
        for all labels. If `condense` is None, it also tries rules of one condition for sparse tables,
        such as those of words. If `max_total_conditions` bounds the conditions of all rules together, it
        tries 1, 2 and 4, which takes up to three times as long: there can be more rules if they are
        shorter.
    max_labels_per_rule : int, None, a list of them or "auto", default="auto"
        As in `BoostedRulesClassifier`, or a list to choose from. "auto" is 1 and, if most of these rules
        are needed, also None: `max_rules` bodies, each of which votes for all labels. They predict
        better where labels have little noise but follow from many attributes, and make theories of many
        more votes; with a larger `tolerance` they are chosen only if they are better by as many
        standard errors. "auto" does not try them with more than 250 labels, or 30 classes of which each
        example has one, with a `max_rules` below 100, beyond `max_memory`, or with `constraints`,
        `min_rules_per_label`, `max_total_conditions` or `category_sets`.
    max_rules, max_total_conditions, min_rules_per_label, n_tries, sample_fraction, max_features, \
    category_sets, class_weight, constraints, max_memory, random_state, verbose
        As in `BoostedRulesClassifier`.
    calibrate : bool, default=True
        Whether the votes of each label are scaled and its start is shifted so that probabilities fit the
        held-out rows of the folds. Every fold is scored with the calibration of the other folds.
    tolerance : float, default=0.0
        Among the theories whose mean score is below the best by at most this many standard errors of
        the difference, the one with the fewest conditions is chosen.
    n_jobs : int or None, default=None
        Folds are learned in parallel; the result does not depend on it.

    Attributes
    ----------
    best_params_ : dict
        The chosen `max_conditions`, `max_labels_per_rule`, `condense`, `m`, `phi` and `decode`.
    best_score_ : float
        Mean score of the chosen cell over the folds; optimistic, since the cell was chosen for it.
    best_index_ : int
        Position of the chosen cell in `cv_results_`.
    cv_results_ : dict of arrays
        One entry per cell, ready for ``pandas.DataFrame``.
    theory_, classes_, n_features_in_, feature_names_in_
        As in `BoostedRulesClassifier`.

    Examples
    --------
    >>> from steelyard import BoostedRulesClassifierCV, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = BoostedRulesClassifierCV("hamming", cv=3, max_rules=30, random_state=0)
    >>> clf.fit(data.X, data.Y).best_score_ > 0.8
    True
    """

    scoring: str | Callable[..., float] = "f1_micro"
    ms: Sequence[float] = (16.0,)
    cv: Any = 5
    _: KW_ONLY
    phis: Sequence[float] | None = None
    max_labels_per_rule: int | str | Sequence[int | None] | None = "auto"
    max_conditions: int | str | Sequence[int | None] | None = "auto"
    condense: str | bool | Sequence[str | bool] | None = None
    calibrate: bool = True
    tolerance: float = 0.0

    def _plan(self, entropy: int, output: Output = "multilabel", X: Any = None) -> Search:
        default = [*TUNED_BOOSTED_DECODERS, *(TUNED_F1_DECODERS if self._is_example_f1() else ())]
        return Search(
            template=self._make_template(BoostedRulesClassifier, entropy),
            variants=self._list_variants(X),
            decoders=choose_decoders(self.decode, default, output),
            axes={},  # m is part of a variant, since each m stops early by itself
            tolerance=self.tolerance,
            shares_rules=True,  # condensing in two ways starts from the same rules
        )

    def _list_variants(self, X: Any) -> list[dict[str, Any]]:
        """Combinations of what growing depends on, with the largest `phi` to choose from."""
        has_words = X is not None and is_sparse(X)
        ms = [MEstimate(m).m for m in as_list(self.ms)]
        most, variants = max(self._list_shares()), []
        for most_labels in self._list_labels_per_rule():
            sharing = {"max_labels_per_rule": [most_labels]}
            lengths = self._list_max_conditions(most_labels)
            ways = self._list_condense(most_labels, has_words)
            found = combine({"max_conditions": lengths, **sharing, "condense": ways})
            is_open = self.condense is None and _is_auto(self.max_conditions)
            if is_open and has_words and 1 not in lengths:
                found += combine({"max_conditions": [1], **sharing, "condense": [False]})
            variants += [variant | {"m": m} for variant in found for m in ms]
        return [v | {"phi": 1.0 if v["condense"] else most} for v in variants]

    def _list_labels_per_rule(self) -> list[int | None]:
        """The values of `max_labels_per_rule` to choose from."""
        if _is_auto(self.max_labels_per_rule):
            others = (self.min_rules_per_label, self.max_total_conditions, self.category_sets)
            is_large = is_integer(self.max_rules) and self.max_rules >= _FEWEST_BODIES
            return [1, None] if is_large and not any((*others, self.constraints)) else [1]
        values = as_list(self.max_labels_per_rule)
        for value in values:
            check_labels_per_rule(value, or_else='; "auto" alone chooses')
        return list(dict.fromkeys(values))

    def _is_extra(self, variant: dict[str, Any]) -> bool:
        """Whether a variant was not asked for, so that it is only tried where many rules are needed."""
        is_shared = variant["max_labels_per_rule"] != 1
        return (self.condense is None and bool(variant["condense"])) or (
            _is_auto(self.max_labels_per_rule) and is_shared
        )

    def _list_shares(self) -> list[float]:
        """The shares of the rules to choose from."""
        if self.phis is None:
            return [1.0] if self.min_rules_per_label else [*STOPPING_SHARES]
        shares = [check_share("phi", phi) for phi in as_list(self.phis)]
        if not shares:
            raise ValueError("nothing to choose from: phis is empty")
        if self.min_rules_per_label and min(shares) < 1:
            raise ValueError(
                "min_rules_per_label requires phis=[1]: a share could drop what it keeps"
            )
        return shares

    def list_cells(self) -> list[dict[str, Any]]:
        """The parameter combinations that `fit` chooses from, for a dense table with several labels."""
        shares = {False: self._list_shares(), True: [1.0]}
        cells = super().list_cells()
        return [cell | {"phi": phi} for cell in cells for phi in shares[bool(cell["condense"])]]

    def _list_max_conditions(self, most_labels: int | None) -> list[int | None]:
        """The values of `max_conditions` to choose from if a body votes for so many labels."""
        if not _is_auto(self.max_conditions):
            return as_list(self.max_conditions)
        if self.max_total_conditions is not None:
            return [*_WITHIN_BUDGET]
        return [_FOR_ALL_LABELS if most_labels is None else BoostedRulesClassifier.max_conditions]

    def _list_condense(self, most_labels: int | None, has_words: bool) -> list[str | bool]:
        """The values of `condense` to choose from if a body votes for so many labels."""
        may_keep_all = 1 in self._list_shares()
        if self.condense is None:
            is_quick = is_integer(self.max_rules) and self.max_rules <= _MOST_TRIED
            if not (is_quick and may_keep_all):
                return [False]
            if most_labels == 1:
                return [False, *TEACHERS]
            # Bodies that learn what all bodies predict are as good as those that are not condensed, and
            # on texts neither helps.
            return [False] if has_words else [False, "labels"]
        values = as_list(self.condense)
        for value in values:
            check_condense(value)
        if any(values) and not may_keep_all:
            raise ValueError(
                "condense requires a phi of 1 to choose from: condensed rules are all kept"
            )
        return list(dict.fromkeys(values))

    def _is_example_f1(self) -> bool:
        """Whether F1 is taken of each example by itself."""
        measure = find_measure(self.scoring)
        return self.scoring == "f1_samples" or (
            measure is not None and measure.name == "f1_examples"
        )

    def _score(
        self,
        search: Search,
        X: Any,
        y: Any,
        splits: Splits,
        tests: Sequence[TestFold],
        scorings: Sequence[Any],
        options: Any,
    ) -> tuple[Search, list[FoldScores]]:
        """Scores of the theories that stop early; one threshold per label is one more way to decode."""
        search, paths_of_variant = self._learn_variants(search, X, y, splits, tests, options)
        measure = find_measure(self.scoring)
        per_label = measure if measure is not None and measure.per == "label" else None
        if self.decode is not None or not self.calibrate or paths_of_variant[0][0].classes:
            per_label = None
        n_decoders = len(search.decoders)
        grids: list[list[FoldScores]] = [[] for _ in splits]
        others: list[list[FoldScores]] = [[] for _ in splits]  # with one threshold per label
        more_cells: list[dict[str, Any]] = []
        for variant, paths in zip(search.variants, paths_of_variant, strict=True):
            about = (search.decoders, scorings, per_label)
            scores, own = score_theories(paths, tests, *about, calibrate=self.calibrate)
            for k, path in enumerate(paths):
                grids[k].append(FoldScores.of_path(scores[k][:, :n_decoders], path))
                others[k].append(FoldScores.of_path(scores[k][:, n_decoders:], path))
            more_cells += [] if own is None else [variant | {"decode": own}]
        of_folds = zip(grids, others, zip(*paths_of_variant, strict=True), strict=True)
        found = [FoldScores.join(grid + other, paths) for grid, other, paths in of_folds]
        return search._replace(more_cells=more_cells), found

    def _learn_variants(
        self,
        search: Search,
        X: Any,
        y: Any,
        splits: Splits,
        tests: Sequence[TestFold],
        options: Any,
    ) -> tuple[Search, list[list[TheoryPath]]]:
        """The variants to choose from, each with the share of its rules to keep, and the folds' paths.

        More rules, condensed, or rules for several labels help where most of `max_rules` are needed.
        Whether they are is known from rules for one label, so these come first.
        """
        asked, extra = (
            [v for v in search.variants if self._is_extra(v) == wanted] for wanted in (False, True)
        )
        progress = options.get("progress") or (lambda *_: None)
        n_steps = 1 + bool(extra)

        def learn(step: int, variants: Sequence[dict[str, Any]]) -> list[list[TheoryPath]]:
            tell = partial(_count_steps, progress, step, n_steps)
            part = search._replace(variants=variants)
            folds = part.score_folds(X, y, splits, (), **options | {"progress": tell})
            return [list(paths) for paths in zip(*(fold.paths for fold in folds), strict=True)]

        variants, paths_of_variant = self._stop_early(asked, learn(0, asked), tests)
        path = max(paths_of_variant[0], key=lambda path: len(path.labels))
        shape, are_classes = (len(path.labels), X.shape[0]), bool(path.classes)
        is_weighed = options.get("weights") is not None or self.class_weight is not None
        extra = [
            variant
            for variant in extra
            if self._is_quick(variant, shape, are_classes)
            and self._has_memory(search.template, variant, shape, is_weighed)
        ]
        # Condensed rules are always all kept, which does not tell whether more would help.
        shares = [v["phi"] for v in variants if not v["condense"]]
        if extra and max(shares, default=1.0) >= _ALL_NEEDED:
            more, paths_of_more = self._stop_early(extra, learn(1, extra), tests)
            variants, paths_of_variant = variants + more, paths_of_variant + paths_of_more
        n_folds = n_steps * len(splits)
        progress(n_folds, n_folds)
        return search._replace(variants=variants), paths_of_variant

    def _is_quick(self, variant: dict[str, Any], shape: tuple[int, int], are_classes: bool) -> bool:
        """Whether a variant that was not asked for is quick with so many labels and rows."""
        n_labels, n_rows = shape
        if variant["max_labels_per_rule"] == 1:
            return True
        most = _MOST_CLASSES if are_classes else _MOST_LABELS
        if _is_auto(self.max_labels_per_rule) and not 1 < n_labels <= most:
            return False
        return not variant["condense"] or n_rows * n_labels * int(self.max_rules) ** 2 <= _MOST_WORK

    def _has_memory(
        self, template: Any, variant: dict[str, Any], shape: tuple[int, int], is_weighed: bool
    ) -> bool:
        """Whether a variant that was not asked for is within `max_memory`, also on all rows."""
        settings = clone(template).set_params(**variant)._settings()
        # For one job: what is chosen must not depend on the number of jobs.
        return expect_memory(shape, settings, 1, is_weighed) <= read_memory(self.max_memory)

    def _stop_early(
        self,
        variants: Sequence[dict[str, Any]],
        paths_of_variant: Sequence[Sequence[TheoryPath]],
        tests: Sequence[TestFold],
    ) -> tuple[list[dict[str, Any]], list[list[TheoryPath]]]:
        """The variants with the share of their rules to keep, and the paths with this share."""
        found, shortened = [], []
        for variant, paths in zip(variants, paths_of_variant, strict=True):
            shares = [1.0] if variant["condense"] else self._list_shares()
            phi = find_share(paths, tests, shares, calibrate=self.calibrate)
            found.append(variant | {"phi": phi})
            shortened.append([path.shorten(phi) for path in paths])
        return found, shortened


def _count_steps(progress: Progress, step: int, n_steps: int, done: int, total: int) -> None:
    """Tell the progress of one of several steps as that of all."""
    progress(step * total + done, n_steps * total)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
