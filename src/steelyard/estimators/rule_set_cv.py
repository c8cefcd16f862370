"""RuleSetClassifierCV: chooses heuristic, φ and more for a measure by cross-validation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steelyard.heuristics import Heuristic, get_heuristic
from steelyard.learning.settings import check_share
from steelyard.learning.targets import Output

from .presets import apply_preset, choose_decoders, find_tuned_presets
from .rule_set import RuleSetClassifier, RuleSetParameters
from .tuned import FoldScores, Search, TunedClassifier, combine
from .validation import as_list

# The parameters to choose that need candidates of their own.
VARIANTS = ("source", "max_features", "prune")


@dataclass(eq=False, repr=False)
class RuleSetClassifierCV(TunedClassifier, RuleSetParameters):
    """Rule sets tuned for a measure: heuristic, φ and more are chosen by cross-validation.

    Every fold yields all theories of the grid from one pool of candidates. The cell with the best mean
    score is learned again on all examples. With ``scoring="f1_micro"``, ``"hamming"`` and ``"subset"``
    these are the paper's M_F, M_H and M_S.

    Parameters
    ----------
    scoring : str or callable, default="f1_micro"
        A measure of `steelyard.measures`: of labels (``"f1_micro"``, ``"hamming"``, ``"subset"``, ...)
        or of probabilities (``"brier"``, ``"auc_macro"``, ``"ranking_loss"``, ...; losses are negated,
        and cells are compared before the chosen theory is calibrated);
        the name of a scikit-learn scorer or a scorer ``(estimator, X, y) -> float``.
    heuristics : sequence of Heuristic or None, default=None
        None is the m-estimate with m = 0, 2, 4, ..., 4096.
    phis : sequence of float or None, default=None
        None is 1.0, 0.95, ..., 0.05.
    cv : int, splitter or iterable of splits, default=5
        An integer is a number of folds by iterative stratification.
    preset : {"auto", "paper", "short"}, default="auto"
        Fills the parameters that are None, as in `RuleSetClassifier`. ``"short"`` also chooses how to
        decode and, unless the table is sparse, between candidates of forests and of Ripper.
    source, max_features, prune, decode
        As in `RuleSetClassifier`, or a list to choose from. Each combination of the first three needs
        candidates of its own.
    threshold_heuristic, n_candidates, n_trees, max_depths, max_conditions, max_rules, \
    max_total_conditions, min_rules_per_label, sample_fraction, presence_only, category_sets, target, \
    revalidate, class_weight, constraints, max_memory, random_state, verbose
        As in `RuleSetClassifier`.
    calibrate : bool or None, default=None
        Whether probabilities are fitted to the held-out rows of the folds. A rule that decides gets
        another confidence, and predictions stay the same. If label sets are predicted, a rule gets
        another vote, which costs F1. None calibrates only if predictions stay the same.
    tolerance : float or None, default=None
        Among the theories whose mean score is below the best by at most this many standard errors of
        the difference, the one with the fewest conditions is chosen. None is 0 for the preset
        ``"paper"`` and 0.25 for ``"short"``, for sparse tables 0.5.
    smooth : bool or None, default=None
        Whether cells are compared by the mean scores of themselves and their neighbours, in the order of
        `heuristics` and `phis`. None is True for the preset ``"short"`` unless the table is sparse, else
        False.
    n_jobs : int or None, default=None
        Folds are learned in parallel; the result does not depend on it.

    Attributes
    ----------
    best_params_ : dict
        The chosen `source`, `max_features`, `prune`, `decode`, `heuristic` and `phi`.
    best_heuristic_ : Heuristic
    best_phi_ : float
    best_score_ : float
        Mean score of the chosen cell over the folds; optimistic, since the cell was chosen for it.
    best_index_ : int
        Position of the chosen cell in `cv_results_`.
    cv_results_ : dict of arrays
        One entry per cell, ready for ``pandas.DataFrame``.
    path_ : TheoryPath
        All theories of the grid, learned on all examples.
    fold_scores_ : list of dict
        For each fold the scores, some measures, `n_rules` and `n_conditions` per rule of every cell.
    theory_, classes_, feature_importances_, n_features_in_, feature_names_in_
        As in `RuleSetClassifier`.

    Examples
    --------
    >>> from steelyard import RuleSetClassifierCV, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = RuleSetClassifierCV("hamming", n_candidates=500, cv=3, random_state=0)
    >>> clf.fit(data.X, data.Y).best_score_ > 0.8
    True
    """

    scoring: str | Callable[..., float] = "f1_micro"
    heuristics: Sequence[Heuristic] | None = None
    phis: Sequence[float] | None = None
    cv: Any = 5
    _: KW_ONLY
    calibrate: bool | None = None
    tolerance: float | None = None
    smooth: bool | None = None

    @property
    def best_heuristic_(self) -> Any:
        """The chosen heuristic."""
        return self.best_params_["heuristic"]

    @property
    def best_phi_(self) -> Any:
        """The chosen share of the selected rules."""
        return self.best_params_["phi"]

    #: The measures of the page and of maps; they are computed for multi-label data.
    page_measures: ClassVar[tuple[str, ...]] = (
        "f1_micro",
        "hamming",
        "subset",
        "precision_micro",
        "recall_micro",
    )

    def plot_map(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Draw the scores of all cells: φ over the parameter of the heuristic.

        Parameters
        ----------
        measure : str, optional
            The score that the cells were chosen by, or for multi-label data one of f1_micro, hamming,
            subset, precision_micro, recall_micro, n_rules and n_conditions.
        ax : matplotlib Axes, optional

        Returns
        -------
        ValueHeatmapDisplay
            Means over the folds; a red + marks the best cell.
        """
        check_is_fitted(self)
        return import_module("steelyard.report.tuned").plot_tuning_map(self, measure, ax)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        Y: Any = None,
        *,
        is_unseen: bool = False,
    ) -> Path:
        """Write one HTML page with the theory, the map of all cells and the rules of each of them.

        The map is that of the folds; all rules are learned on all examples. The theory decodes labels as
        it was tuned to, those of the map predict each label by itself. The page loads nothing from
        outside.

        Parameters
        ----------
        path : path-like
            The file to write, such as "page.html".
        X, Y : table and labels, optional
            Examples to try the theory on and to judge edits with.
        is_unseen : bool, default=False
            Whether the theory was not learned from these examples, so that they judge fairly.

        Returns
        -------
        Path
        """
        check_is_fitted(self)
        write = import_module("steelyard.report.tuned").write_tuning_page
        return Path(write(self, path, X, Y, is_unseen=is_unseen))

    def list_scored_cells(self) -> list[dict[str, Any]]:
        """The parameters of the cells in the order of `cv_results_` and of `fold_scores_`."""
        check_is_fitted(self)
        names = (*VARIANTS, "decode", "heuristic", "phi")
        columns = [self.cv_results_[name] for name in names]
        return [dict(zip(names, cell, strict=True)) for cell in zip(*columns, strict=True)]

    def _list_measures(self, output: Output) -> Sequence[str]:
        return self.page_measures if output == "multilabel" else ()

    def _refit(
        self,
        model: Any,
        search: Search,
        folds: Sequence[FoldScores],
        training_set: tuple[Any, Any, Any],
        feature_names: Sequence[str] | None,
    ) -> None:
        """Learn all theories of the grid, which costs little more than the chosen one."""
        X, targets = model._read_training_set(*training_set)
        model._note_columns(X, feature_names)
        h = search.axes["heuristic"].index(self.best_heuristic_)
        self.path_ = model._learn_path(X, targets, *search.axes.values(), held_out_for=h)
        decoder = self.best_params_["decode"]
        model.theory_ = self.path_.theory(h, self.best_phi_, decoder=decoder)
        model._warn_of_labels_without_rule()
        name = self.scoring if isinstance(self.scoring, str) else "score"
        measures = [name, *self._list_measures(targets.output)]
        self.fold_scores_ = [
            dict(zip(measures, fold.scores, strict=True))
            | {"n_rules": fold.n_rules.astype(float)}
            | {"n_conditions": fold.n_conditions / np.maximum(fold.n_rules, 1)}
            for fold in folds
        ]

    def _plan(self, entropy: int, output: Output = "multilabel", X: Any = None) -> Search:
        values = apply_preset(self.get_params(deep=False), X, find_tuned_presets(X))
        template = self._make_template(RuleSetClassifier, entropy)
        if output == "multilabel":
            # What is sparse as a whole is sparse in every fold.
            template.set_params(preset=values["preset"])
        return Search(
            template=template,
            variants=combine({name: as_list(values[name]) for name in VARIANTS}),
            decoders=choose_decoders(self.decode, values["decode"], output),
            axes={
                "heuristic": [get_heuristic(h) for h in as_list(values["heuristics"])],
                "phi": [check_share("phi", phi) for phi in as_list(values["phis"])],
            },
            tolerance=values["tolerance"],
            smooth=values["smooth"],
        )
