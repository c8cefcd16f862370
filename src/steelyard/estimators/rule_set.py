"""RuleSetClassifier: learns a path of rule sets and keeps the theory of one φ."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from steelyard._numbers import is_number
from steelyard.heuristics import M_GRID, Heuristic, MEstimate, get_heuristic
from steelyard.learning.budget import read_memory
from steelyard.learning.constraints import Constraints, check_constraints
from steelyard.learning.paths import Bounds
from steelyard.learning.rule_sets import learn_rule_sets
from steelyard.learning.settings import (
    ForestSettings,
    check_bound,
    check_folds,
    check_integer,
    check_share,
)
from steelyard.learning.targets import TargetChoice, Targets
from steelyard.learning.weights import check_class_weight
from steelyard.model.decoders import Decoder
from steelyard.model.path import TheoryPath
from steelyard.model.theory import Theory
from steelyard.model.thresholding import PHI_GRID

from .base import TheoryClassifier
from .presets import DEFAULT_PRESET, apply_preset, check_decoder, choose_decoders
from .progress import show_progress
from .validation import as_list

# With m = 16 a round number next to the best single share, 0.45 (mean distance of F1, Hamming and subset
# accuracy from each data set's best cell; the paper's nine data sets, folds 1 to 3, 40,000 candidates).
# A class of a one-dimensional y could lose its only rule to a share over all classes, so there all rules
# are kept.
_MULTILABEL_PHI = 0.5

# The presets are made for many labels. With 20,000 candidates per class the accuracy on wine and breast
# cancer (three folds, two seeds) is that of 300,000, 92 %, in a fifth of the time or less.
_CANDIDATES_PER_CLASS = 20_000


@dataclass(eq=False, repr=False, kw_only=True)
class RuleSetParameters(TheoryClassifier):
    """The parameters of both estimators of rule sets; see `RuleSetClassifier`."""

    preset: str = DEFAULT_PRESET
    source: str | Sequence[Any] | None = None
    threshold_heuristic: Heuristic | str | Callable[..., Any] | None = None
    n_candidates: int | None = None
    n_trees: int | None = None
    max_depths: Sequence[int | None] | None = None
    max_conditions: int | None = None
    max_rules: int | None = None
    max_total_conditions: int | None = None
    min_rules_per_label: int = 0
    sample_fraction: float | None = None
    max_features: str | int | float | Sequence[Any] | None = None
    prune: str | bool | Sequence[Any] | None = None
    presence_only: bool | None = None
    category_sets: bool | None = None
    decode: str | Decoder | Sequence[Any] | None = None
    target: TargetChoice = "minority"
    revalidate: bool = True
    class_weight: Any = None
    constraints: Constraints | None = None
    max_memory: str | float | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0


@dataclass(eq=False, repr=False)
class RuleSetClassifier(RuleSetParameters):
    """Rule sets that decide: a label is predicted if any of its rules fires.

    Candidate rules are read off random forests. Per label, the candidate with the best heuristic value
    is selected and the examples it covers are removed, until all positives are covered. Of the selected
    rules of all labels, the share `phi` with the best values is kept.

    Parameters
    ----------
    heuristic : Heuristic, str or callable(tp, fp, fn, tn), default=MEstimate(m=16)
        The quality of a rule: a larger `m` favours coverage, a smaller `m` consistency.
    phi : float or None, default=None
        Share of the selected rules to keep, above 0 and at most 1. None is 0.5 for multi-label data and
        1 for a one-dimensional y.
    preset : {"auto", "paper", "short"}, default="auto"
        Fills the parameters that are None: ``"paper"`` is the method of the paper, ``"short"`` learns
        rules of few conditions and predicts label sets. ``"auto"`` is ``"short"`` for sparse tables,
        where the paper's rules get long, and ``"paper"`` for others.
    source : {"forest", "ripper"} or None, default=None
        Where the candidates come from: random forests, or the rules that `RipperClassifier` learns, of
        which there are few. With Ripper only `max_conditions` and `presence_only` bound the candidates,
        and rules have no counts on unseen examples. Presets use forests.
    threshold_heuristic : Heuristic, str, callable or None, default=None
        Heuristic that ranks the selected rules for the threshold; None is `heuristic`.
    n_candidates : int or None, default=None
        γ, number of distinct candidate rules over all labels. None is that of the preset, and at most
        20,000 per class of a one-dimensional y if the preset is ``"auto"``.
    n_trees : int or None, default=None
        Number of trees per forest.
    max_depths : tuple of int or None, or None, default=None
        One forest is grown per depth limit. A limit of None is no limit: ``(None,)`` grows full trees.
    max_conditions : int or None, default=None
        Maximum number of conditions per rule: no tree is deeper than that.
    max_rules : int or None, default=None
        Maximum number of rules over all labels: of the share `phi`, those with the best values are kept.
    max_total_conditions : int or None, default=None
        Maximum number of conditions over all rules: the best rules are kept up to the first one that
        exceeds it. A theory has no rule if its best one does. It may leave a label with fewer rules
        than `min_rules_per_label`.
    min_rules_per_label : int, default=0
        Number of rules that each label keeps if it has them, whatever their values. With 1 no label that
        has a rule is left without one.
    sample_fraction : float or None, default=None
        Size of a tree's bag, drawn with replacement, as a share of the training set.
    max_features : {"log2", "sqrt"}, int, float or None, default=None
        Number of attributes drawn at each node. A float is a share of all attributes; at least as many
        as with "log2" are drawn.
    prune : {False, "oob", "prefix"} or None, default=None
        Whether to delete conditions that do not improve a rule on the examples outside its tree's bag:
        any of them, or only the last ones of the path.
    presence_only : bool or None, default=None
        Whether rules test that words are present, never that they are absent. This concerns 0/1
        attributes and the counts of sparse tables. No preset does so.
    category_sets : bool or None, default=None
        Whether a condition on a nominal attribute may test several categories, such as ``colour in
        {blue, red}``. Constraints keep single categories.
    decode : str, Decoder or None, default=None
        How scores become labels: ``"each-label"`` predicts each label by itself, ``"best-label-set"``
        the label set of a training example that fits the firing rules best, ``"label-set-votes"`` the
        labels that all label sets vote for, ``"best-f1"`` those with the best expected F1 of an example.
        See `EachLabel`, `BestLabelSet`, `LabelSetVotes` and `BestF1`.
    target : {"minority", "present"}, default="minority"
        Whether rules predict the rarer value of a label or always its presence.
    calibrate : bool or int, default=False
        Whether the confidences of rules are fitted to unseen examples, so that probabilities are
        frequencies; predictions stay the same unless label sets are predicted. An integer is the number
        of inner folds that give such examples, True is 5: it takes as many further fits.
    min_value : float or None, default=None
        Keep the rules with at least this heuristic value instead of the share `phi`.
    revalidate : bool, default=True
        Whether candidates are valued again on the uncovered examples after each selection.
    class_weight : {"balanced"}, dict, list or None, default=None
        How much the examples of a class count. "balanced" makes both values of each label weigh the same
        in sum, and so all classes of a one-dimensional y. A dict has weights by class: ``{0: 1, 1: 5}``
        for every label, or a dict for each label by its name. Bags are drawn as without it. A class
        whose examples together weigh less than half an average example is never predicted.
    constraints : Constraints or None, default=None
        What every rule has to satisfy, and rules that are given.
    max_memory : str, float or None, default=None
        Memory for candidates and the examples that they cover, such as ``"4GB"``, or a number of bytes.
        None is a quarter of the machine's. If they need more, a MemoryError says what to change.
    n_jobs : int or None, default=None
        Labels are learned in parallel; the result does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    theory_ : Theory
    classes_ : ndarray of shape (n_classes,), or (n_labels, 2) with one row (0, 1) per label
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X has string column names

    See Also
    --------
    RuleSetClassifierCV : chooses heuristic, `phi` and more for a measure.
    BoostedRulesClassifier : rules that vote.

    Examples
    --------
    >>> from steelyard import MEstimate, RuleSetClassifier, make_planted_rules
    >>> data = make_planted_rules(300, random_state=0)
    >>> clf = RuleSetClassifier(MEstimate(m=8), n_candidates=1000, random_state=0)
    >>> clf.fit(data.X, data.Y).predict(data.X).shape == data.Y.shape
    True
    """

    heuristic: Heuristic | str | Callable[..., Any] = MEstimate(m=16)  # noqa: RUF009
    phi: float | None = None
    _: KW_ONLY
    calibrate: bool | int = False
    min_value: float | None = None

    def _check_parameters(self) -> None:
        check_folds(self.calibrate)
        self._settings()
        read_memory(self.max_memory)
        for name in ("max_rules", "max_total_conditions"):
            check_bound(name, getattr(self, name))
        check_integer("min_rules_per_label", self.min_rules_per_label, least=0)
        check_constraints(self.constraints)
        check_class_weight(self.class_weight)
        check_decoder(self.decode)
        get_heuristic(self.heuristic)
        if self.threshold_heuristic is not None:
            get_heuristic(self.threshold_heuristic)
        if self.phi is not None:
            check_share("phi", self.phi)
        if self.min_value is not None and not is_number(self.min_value):
            raise ValueError(f"min_value must be a number or None, got {self.min_value!r}")
        if self.min_value is not None and self.phi is not None:
            raise ValueError("phi and min_value exclude each other: one of them must be None")

    def _learn_theory(self, X: Any, targets: Targets) -> Theory:
        default = apply_preset(self.get_params(deep=False), X)["decode"]
        (decoder,) = choose_decoders(self.decode, default, targets.output)
        phi = self.phi
        if phi is None:
            phi = _MULTILABEL_PHI if targets.output == "multilabel" else 1.0
        heuristics = [get_heuristic(self.heuristic)]
        path = self._learn_path(X, targets, heuristics, [phi], held_out_for=0)
        return path.theory(0, phi, min_value=self.min_value, decoder=decoder)

    def _advise_on_rules(self) -> str:
        advice = super()._advise_on_rules()
        # With min_rules_per_label, φ drops none of the rules that each label keeps.
        keeps_all = self.phi == 1 or self.min_rules_per_label > 0
        is_bounded = keeps_all or any(room.may_be_full for room in self._list_rooms())
        return advice if is_bounded else f"{advice} A larger phi keeps more rules."

    def _settings(self, X: Any = None, targets: Targets | None = None) -> ForestSettings:
        """The settings of the candidates."""
        parameters = apply_preset(self.get_params(deep=False), X)
        is_auto = self.preset == "auto" and self.n_candidates is None
        if is_auto and targets is not None and targets.classes:
            most = _CANDIDATES_PER_CLASS * len(targets.names)
            parameters["n_candidates"] = min(parameters["n_candidates"], most)
        parameters["max_depths"] = tuple(as_list(parameters["max_depths"]))
        return ForestSettings(**{f.name: parameters[f.name] for f in fields(ForestSettings)})

    def _learn_path(
        self,
        X: Any,
        targets: Targets,
        heuristics: Sequence[Heuristic],
        phis: Sequence[float],
        **options: Any,
    ) -> TheoryPath:
        bounds = Bounds(self.max_rules, self.min_rules_per_label, self.max_total_conditions)
        options |= self._learning_options() | {"revalidate": self.revalidate, "bounds": bounds}
        options["max_memory"] = self.max_memory
        if self.threshold_heuristic is not None:
            options["threshold_heuristic"] = get_heuristic(self.threshold_heuristic)
        with show_progress(self, "candidates", "labels") as steps, warnings.catch_warnings():
            options["progress"], options["label_progress"] = steps
            if self.n_candidates is None:  # nobody asked for the number that a preset fills in
                warnings.simplefilter("ignore", ConvergenceWarning)
            settings = self._settings(X, targets)
            return learn_rule_sets(X, targets, heuristics, phis, settings, **options)


def theory_path(
    X: Any,
    y: Any,
    heuristics: Sequence[Heuristic] | None = None,
    phis: Sequence[float] | None = None,
    *,
    sample_weight: Any = None,
    **parameters: Any,
) -> TheoryPath:
    """All theories of a grid from one pool of candidates.

    Any cell equals what `RuleSetClassifier` fits with the same heuristic, φ, decoder and seed. Its rules
    lack the counts on unseen examples, which would have to be made for each heuristic.

    Parameters
    ----------
    X, y, sample_weight : as in `RuleSetClassifier.fit`
    heuristics : sequence of Heuristic or None, default=None
        None is the m-estimate with the paper's 20 values of m.
    phis : sequence of float or None, default=None
        None is the paper's 20 shares.
    **parameters
        Other parameters of `RuleSetClassifier` except those that a cell has: heuristic, phi, min_value
        and decode.

    Returns
    -------
    TheoryPath

    Examples
    --------
    >>> from steelyard import make_planted_rules, theory_path
    >>> data = make_planted_rules(200, random_state=0)
    >>> theory_path(data.X, data.Y, n_candidates=500, random_state=0).shape
    (20, 20)
    """
    for name in ("heuristic", "phi", "min_value", "decode"):
        if name in parameters:
            raise TypeError(f"a path has no single {name}: pass it to the path's method theory")
    grid = [MEstimate(m) for m in M_GRID] if heuristics is None else as_list(heuristics)
    shares = [check_share("phi", phi) for phi in (PHI_GRID if phis is None else as_list(phis))]
    if not grid or not shares:
        raise ValueError("heuristics and phis must each have at least one entry")
    classifier = RuleSetClassifier(**parameters)
    classifier._check_parameters()
    X, targets = classifier._read_training_set(X, y, sample_weight)
    return classifier._learn_path(X, targets, [get_heuristic(h) for h in grid], shares)
