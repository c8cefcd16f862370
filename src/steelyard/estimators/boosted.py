"""BoostedRulesClassifier: learns rules that vote by boosting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any

from steelyard.heuristics import MEstimate
from steelyard.learning.boosted_rules import BoostedRules, grow_boosted_rules
from steelyard.learning.budget import read_memory
from steelyard.learning.constraints import Constraints, check_constraints
from steelyard.learning.settings import TEACHERS, BoostingSettings, check_folds, check_share
from steelyard.learning.targets import Targets
from steelyard.learning.weights import check_class_weight
from steelyard.model.decoders import Decoder
from steelyard.model.path import TheoryPath
from steelyard.model.theory import Theory

from .advice import NO_GOOD_RULE
from .base import TheoryClassifier
from .presets import BOOSTED_DECODERS, check_decoder, choose_decoders
from .progress import show_progress


@dataclass(eq=False, repr=False, kw_only=True)
class BoostedRulesParameters(TheoryClassifier):
    """The parameters of both estimators of boosted rules; see `BoostedRulesClassifier`."""

    max_rules: int = 333
    max_total_conditions: int | None = None
    min_rules_per_label: int = 0
    n_tries: int = 10
    sample_fraction: float = 0.5
    max_features: str | int | float = 0.2
    category_sets: bool = False
    decode: str | Decoder | Sequence[Any] | None = None
    class_weight: Any = None
    constraints: Constraints | None = None
    max_memory: str | float | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0


@dataclass(eq=False, repr=False)
class BoostedRulesClassifier(BoostedRulesParameters):
    r"""Rules that vote: every firing rule adds its weight for or against its label.

    Boosting with logistic loss. In each round several rules are grown on bags of the examples; the rule
    that lowers the loss most gets a vote. The sum of the votes is the log-odds of the label.

    With probabilities :math:`p_i` so far, labels :math:`y_i \in \{0, 1\}` and the label's share
    :math:`\pi` of the examples, a rule that covers the examples C is worth

    .. math:: \frac{G^2}{H + \lambda}, \quad G = \sum_{i \in C} (y_i - p_i), \quad
        H = \sum_{i \in C} p_i (1 - p_i), \quad \lambda = m\,\pi (1 - \pi),

    and its vote is 0.3 times its best weight :math:`G / (H + \lambda)`, which is bounded by ±4.

    Parameters
    ----------
    m : float, default=16.0
        Strength of the prior, as in the m-estimate: a rule is judged as if it covered m further examples
        with the label's prior distribution. A larger `m` favours coverage.
    max_rules : int, default=333
        Maximum number of rules over all labels, or of bodies if they may vote for several labels. One
        label can have all of them.
    phi : float, default=1.0
        Share of the votes that are kept: those that lower the loss most, as if boosting had stopped
        earlier; `BoostedRulesClassifierCV` finds out when. A rule can have several votes, of which its
        vote is the sum. Not with `condense` or `min_rules_per_label`.
    max_conditions : int or None, default=4
        Maximum number of conditions per rule; None is 20.
    max_total_conditions : int or None, default=None
        Maximum number of conditions over all rules: the rules that lower the loss most are kept up to
        the first one that exceeds it.
    min_rules_per_label : int, default=0
        Number of rules that each label keeps if it has them, whatever their gain. With 1 no label that
        has a rule is left without one.
    max_labels_per_rule : int or None, default=1
        Maximum number of labels that the body of a rule votes for. Unless it is 1, all labels are
        learned together, the theory has a rule for each label that a body votes for, and `max_rules`
        counts bodies. A body that is grown for one label also votes for others whose loss it lowers
        significantly. With None a body is grown for all labels at once, or for up to 20 that are drawn
        of them, and votes for all labels to which it makes a difference: of more than 30 labels (not
        classes of which each example has one) for the one that it helps most, and for those whose
        deviance its whole weight would lower by at least 2.
        ``theory_.to_text(by="body")`` shows one line per body.
    n_tries : int, default=10
        Number of rules grown in each round, of which one is taken.
    sample_fraction : float, default=0.5
        Size of a rule's bag, drawn with replacement, as a share of the training set.
    max_features : {"log2", "sqrt"}, int or float, default=0.2
        Number of attributes drawn for each condition. A float is a share of all attributes; at least as
        many as with "log2" are drawn.
    category_sets : bool, default=False
        Whether a condition on a nominal attribute may test several categories, such as ``colour in
        {blue, red}``. Constraints keep single categories.
    decode : str, Decoder or None, default=None
        How votes become labels: ``"each-label"`` predicts each label by itself, ``"best-label-set"``
        the label set of a training example that fits the votes best, ``"label-set-votes"`` the labels
        that all label sets vote for, ``"best-f1"`` those with the best expected F1 of an example. See
        `EachLabel`, `BestLabelSet`, `LabelSetVotes` and `BestF1`. None is the best label set, and for a
        one-dimensional y the best class.
    condense : False, "predictions" or "labels", default=False
        Whether three times as many rules are grown as are kept, or twice as many bodies if they may vote
        for several labels. The kept ones have new votes, with which they predict nearly what all of them
        predict ("predictions") or fit the labels ("labels"). Both can predict better, the latter only
        where labels have little noise; `BoostedRulesClassifierCV` finds out. A fit takes three to four
        times as long, and longer with several hundred rules or bodies per label.
    calibrate : bool or int, default=False
        Whether votes are scaled and starts shifted, label by label, so that probabilities fit unseen
        examples. An integer is the number of inner folds that give such examples, True is 5: it takes as
        many further fits.
    class_weight : {"balanced"}, dict, list or None, default=None
        How much the examples of a class count. "balanced" makes both values of each label weigh the same
        in sum, and so all classes of a one-dimensional y. A dict has weights by class: ``{0: 1, 1: 5}``
        for every label, or a dict for each label by its name. Bags are drawn as without it. A class
        whose examples together weigh less than half an average example is never predicted.
    constraints : Constraints or None, default=None
        What every rule has to satisfy, and rules that are given.
    max_memory : str, float or None, default=None
        Memory for what grows with labels and rules, such as ``"4GB"``, or a number of bytes: 8 bytes per
        example and label, and for each label at work one per example or, if there are fewer than 20
        rules per label, one per example and rule. Where bodies vote for several labels it is 56 per
        example and label (80 with weights), and 16 more for up to 20 labels; `condense` adds up to 15
        per example and rule of `max_rules`, where bodies vote for several labels also a quarter per
        label, and up to 300 times the square of `max_rules`. None is a quarter of the machine's. If they
        need more, a MemoryError says what to change before any rule is grown.
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
    BoostedRulesClassifierCV : chooses `phi`, `decode`, `condense` and more for a measure.
    RuleSetClassifier : rules that decide.

    Examples
    --------
    >>> from steelyard import BoostedRulesClassifier, make_planted_rules
    >>> data = make_planted_rules(300, random_state=0)
    >>> clf = BoostedRulesClassifier(max_rules=30, random_state=0).fit(data.X, data.Y)
    >>> len(clf.theory_), clf.score(data.X, data.Y) > 0.5
    (30, True)
    """

    m: float = 16.0
    _: KW_ONLY
    phi: float = 1.0
    max_conditions: int | None = 4
    max_labels_per_rule: int | None = 1
    condense: str | bool = False
    calibrate: bool | int = False

    def _check_parameters(self) -> None:
        MEstimate(self.m)
        check_share("phi", self.phi)
        for name in ("condense", "min_rules_per_label"):
            if self.phi < 1 and getattr(self, name):
                raise ValueError(
                    f"{name} requires phi=1: a share of the votes would drop what it keeps"
                )
        check_folds(self.calibrate)
        self._settings()
        read_memory(self.max_memory)
        check_constraints(self.constraints)
        check_class_weight(self.class_weight)
        check_decoder(self.decode)

    def _advise_on_rules(self) -> str:
        rooms = self._list_rooms()
        if self.phi < 1 and not any(room.may_be_full for room in rooms):
            return "A larger phi, or min_rules_per_label=1 with phi=1, can keep rules for them."
        if self.max_labels_per_rule != 1:  # then max_rules counts bodies
            is_full = self.theory_.n_bodies >= self.max_rules
            return "A larger max_rules keeps more rules." if is_full else ""
        # Only bounds and condensing drop rules.
        if not self.condense and not any(room.may_be_full for room in rooms):
            return NO_GOOD_RULE
        return super()._advise_on_rules()

    def _settings(self) -> BoostingSettings:
        return BoostingSettings(**{f.name: getattr(self, f.name) for f in fields(BoostingSettings)})

    def _learn_theory(self, X: Any, targets: Targets) -> Theory:
        (decoder,) = choose_decoders(self.decode, BOOSTED_DECODERS, targets.output)
        return self._learn_path(X, targets).theory(phi=self.phi, decoder=decoder)

    def _learn_path(
        self,
        X: Any,
        targets: Targets,
        ms: Sequence[float] | None = None,
        shared: dict[Any, BoostedRules] | None = None,
    ) -> TheoryPath:
        """The path; `shared` keeps the grown rules for variants that differ only in their votes.

        Without `ms` it has one theory, for the m of this classifier.
        """
        settings, options = self._settings(), self._learning_options()
        options["max_memory"] = self.max_memory
        grown = {} if shared is None else shared
        # What votes are fitted to does not matter to growing.
        ms = (self.m,) if ms is None else tuple(ms)
        key = replace(settings, condense=TEACHERS[0]) if settings.condense else settings, ms
        if key not in grown:
            with show_progress(self, "labels") as (progress,):
                options["progress"] = progress
                grown[key] = grow_boosted_rules(X, targets, ms, settings, **options)
        return grown[key].to_path(settings.condense)
