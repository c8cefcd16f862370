"""TheoryClassifier: what all estimators share, predictions by a fitted theory. Knows no learner."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from steelyard._numbers import read_weights
from steelyard._text import list_names
from steelyard.data.suspicious import warn_about_columns
from steelyard.explain import Explanation, explain_theory
from steelyard.learning.constraints import Constraints
from steelyard.learning.targets import TargetChoice, Targets, encode_targets, name_positions
from steelyard.learning.weights import check_class_weight
from steelyard.model.calibrating import apply_calibration, find_points
from steelyard.model.sigmoids import Unseen
from steelyard.model.tables import order_labels
from steelyard.model.theory import Theory
from steelyard.splitting import IterativeStratifiedKFold

from .advice import Room, advise_on_labels, list_rooms
from .documented import DocumentedMixin
from .parts import nested_parameters, replace_fields
from .progress import CallbackSupportMixin, with_callbacks
from .validation import (
    name_labels,
    read_feature_names,
    read_sample_weight,
    seed_to_entropy,
    take_rows,
    validate_table,
)

# Folds of a calibration: as many as those of the tuned estimators.
_CALIBRATION_FOLDS = 5

# Nobody reads more rules; a fit that returns more says so.
_MOST_READ_RULES = 10_000


class TheoryClassifier(DocumentedMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Base class of all estimators: predictions of `theory_`, tags, and reading of training sets."""

    theory_: Theory
    classes_: Any
    constraints: Constraints | None
    n_jobs: int | None
    random_state: Any
    _feature_names: tuple[str, ...] | None
    #: Whether weights of examples need not be integers.
    _takes_fractions: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        feature_names: Any = None,
        label_names: Any = None,
    ) -> Self:
        """Learn a theory.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A DataFrame of pandas, polars or pyarrow. Columns of type category, bool, object or string
            are nominal, dates and times are numeric; missing values are allowed.
        y : array-like, DataFrame or sparse matrix of shape (n_samples, n_labels), or (n_samples,)
            0/1 for each label, or one class for each example.
        sample_weight : array-like of shape (n_samples,), optional
            How often each example counts: 2 is two copies, 0.5 counts half and 0 not at all.
        feature_names, label_names : sequence of str, or a function that returns one, optional
            Names of the columns of X and y, for arrays and sparse matrices, which have none. A function,
            such as ``vectorizer.get_feature_names_out``, is called once X is there.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, targets = self._read_training_set(X, name_labels(y, label_names), sample_weight)
        self._note_columns(X, feature_names)
        theory = self._learn_theory(X, targets)
        self.theory_ = self._calibrate_by_folds(theory, X, targets)
        self._warn_of_labels_without_rule()
        self._warn_of_many_rules()
        return self

    def _warn_of_many_rules(self) -> None:
        # A body is read once, for however many labels it votes.
        n_rules = self.theory_.n_bodies
        if n_rules > _MOST_READ_RULES:
            warnings.warn(
                f"the theory has {n_rules:,} rules, more than people read: max_rules keeps the best",
                stacklevel=4,  # the caller of fit, which scikit-learn wraps
            )

    def _warn_of_labels_without_rule(self) -> None:
        names = {
            label.name: self.theory_.describe_silence(j)
            for j, label in enumerate(self.theory_.labels)
            if label.n_positives and label.n_negatives and not self.theory_.rules_of(label.name)
        }
        # The class that is predicted where no rule fires needs none.
        names = {
            name: what for name, what in names.items() if what != "predicted where no rule fires"
        }
        if not names:
            return
        groups = []
        for what in dict.fromkeys(names.values()):
            alike = [name for name in names if names[name] == what]
            groups.append(f"{list_names(alike, most=20)} ({what})")
        kind = "labels" if self.theory_.is_multilabel else "classes"
        n_labels = len(self.theory_.classes or self.theory_.labels)
        warnings.warn(
            f"no rule for {len(names)} of {n_labels} {kind}: {'; '.join(groups)}. "
            f"{self._advise_on_rules()}".rstrip(),
            stacklevel=4,  # the caller of fit, which scikit-learn wraps
        )

    def _advise_on_rules(self) -> str:
        """What to do if labels have no rule."""
        least = getattr(self, "min_rules_per_label", 0)
        return advise_on_labels(self.theory_, self._list_rooms(), least)

    def _list_rooms(self) -> list[Room]:
        """What the bounds on the size leave for further rules."""
        names = ("max_rules", "max_total_conditions", "max_conditions")
        return list_rooms(self.theory_, *(getattr(self, name, None) for name in names))

    @abstractmethod
    def _check_parameters(self) -> None:
        """Reject parameters that are wrong or exclude each other."""

    @abstractmethod
    def _learn_theory(self, X: Any, targets: Targets) -> Theory:
        """The theory of a validated training set."""

    def _calibrate_by_folds(self, theory: Theory, X: Any, targets: Targets) -> Theory:
        """The theory, calibrated on what theories of folds make of the rows that they did not see."""
        calibrate: bool | int = getattr(self, "calibrate", False)
        if not calibrate:
            return theory
        n_folds = _CALIBRATION_FOLDS if calibrate is True else int(calibrate)
        seed = seed_to_entropy(self.random_state) % np.iinfo(np.int32).max
        is_present = targets.is_present.T
        unseen = []
        folds = IterativeStratifiedKFold(n_folds, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # learning from all examples has given these warnings
            for train, test in folds.split(is_present, is_present.astype(np.int64)):
                learned = self._learn_theory(take_rows(X, train), targets.take(train))
                totals = None if targets.totals is None else targets.totals[test]
                points = find_points(learned, take_rows(X, test))
                unseen.append(Unseen(points, is_present[test], totals, learned.decoder.known))
        is_shared = targets.output == "multiclass"
        calibration = theory.decoder.fit_calibration(unseen, is_shared=is_shared)
        return apply_calibration(theory, calibration)

    def _read_training_set(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Targets]:
        """Validated table and targets; rows with integer weights are repeated."""
        target: TargetChoice = getattr(self, "target", "minority")
        X, y = validate_table(self, X, reset=True), name_labels(y, None)
        targets = encode_targets(y, target)
        check_consistent_length(X, targets.is_target.T)
        rows = read_sample_weight(sample_weight, X, fractions=self._takes_fractions)
        if rows.idx is not None or rows.weights is not None:
            # Classes and target classes are those of the weighted examples.
            targets = encode_targets(take_rows(y, rows.idx), target, rows.weights)
        class_weight = getattr(self, "class_weight", None)
        check_class_weight(class_weight)
        targets = targets.weigh(rows.weights, class_weight, target)
        if targets.output == "multilabel":
            # One row per label: scikit-learn takes it for several binary labels, and takes its length
            # for the number of columns of probabilities.
            self.classes_ = np.tile([0, 1], (len(targets.names), 1))
        else:
            self.classes_ = np.unique(np.asarray(targets.classes))
        return take_rows(X, rows.idx), targets

    def _note_columns(self, X: Any, feature_names: Any) -> None:
        """Keep the names that are given for a table without names; warn about misleading columns."""
        self._feature_names = read_feature_names(feature_names, X)
        if isinstance(X, pd.DataFrame):
            warn_about_columns(X)

    def _learning_options(self) -> dict[str, Any]:
        """What every learner needs to know besides its settings and the training set."""
        return {
            "entropy": seed_to_entropy(self.random_state),
            "n_jobs": self.n_jobs,
            "feature_names": getattr(self, "_feature_names", None)
            or getattr(self, "feature_names_in_", None),
            "constraints": self.constraints,
        }

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep` also those of heuristics and decoders, such as `heuristic__m`."""
        parameters: dict[str, Any] = super().get_params(deep)
        if deep:
            parameters |= nested_parameters(parameters)
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; `heuristic__m=4` replaces the heuristic by one with another m."""
        own = {name: value for name, value in parameters.items() if "__" not in name}
        super().set_params(**own)
        changes: dict[str, dict[str, Any]] = {}
        for name in parameters.keys() - own.keys():
            part, _, field = name.partition("__")
            changes.setdefault(part, {})[field] = parameters[name]
        known = self.get_params(deep=False)
        for part, values in changes.items():
            if part not in known:
                super().set_params(**{part: values})  # scikit-learn's message
            setattr(self, part, replace_fields(part, known[part], values))
        return self

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much the rules rely on each attribute, in shares that sum to 1.

        They are those of `Theory.importances`: a rule counts by the number of training examples
        with its head that it covers beyond those that guessing would give, ``|TP - (TP +
        FP)·prior|``, times the size of its vote if it votes, in equal parts for its conditions.

        Returns
        -------
        ndarray of shape (n_features,), all 0 if no rule tests an attribute
        """
        check_is_fitted(self)
        shares = self.theory_.importances().set_index("attribute")["importance"]
        names = [feature.name for feature in self.theory_.features]
        return shares.reindex(names, fill_value=0.0).to_numpy(dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) of classes
        """
        X = self._validate(X)
        predicted = np.asarray(self.theory_.predict(X))
        if self.theory_.is_multilabel:
            return predicted
        # A Series of text becomes an array of objects; classes have the type they were given in.
        return predicted.astype(self.classes_.dtype, copy=False)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each label, between -1 (absent) and 1 (present); see `Theory.decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), (n_samples, n_classes), or (n_samples,) if binary
        """
        X = self._validate(X)
        scores = self.theory_.decision_function(X)
        return self._direction * scores[:, 0] if self._direction else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities; those of rules that were not calibrated order examples, but are no frequencies.

        A label is predicted if its probability is above the threshold of the decoder, ½ by default,
        unless the theory predicts the best-fitting label set, which depends on all labels together.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) with the probability that a label is present, or
        (n_samples, n_classes) with rows that sum to 1
        """
        X = self._validate(X)
        probability = self.theory_.predict_proba(X)
        if self.theory_.is_multilabel:
            return probability
        if len(self.classes_) == 1:
            return np.ones((len(probability), 1))
        if self._direction:
            pair = [1 - probability[:, 0], probability[:, 0]]
            return np.column_stack(pair[:: self._direction])
        return np.asarray(probability / probability.sum(axis=1, keepdims=True))

    @property
    def _direction(self) -> int:
        """Of two classes, 1 if the rules predict the last one and -1 if the first; else 0."""
        if self.theory_.is_multilabel or len(self.theory_.labels) > 1:
            return 0
        return 1 if self.theory_.classes[1] == self.classes_[-1] else -1

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy: the share of examples whose labels are all right.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            The labels of a frame are matched by name.
        """
        if sample_weight is not None:
            sample_weight = read_weights(sample_weight, _num_samples(y))
        return float(super().score(X, self._name_true_labels(y), sample_weight))

    def explain(
        self, X: Any, *, n_closest: int = 3, labels: Any = None
    ) -> Explanation | list[Explanation]:
        """Explain predictions; see `Theory.explain`.

        Parameters
        ----------
        X : Series, dict, 1-D array, or a table
        n_closest : int, default=3
            Number of closest rules to show if no rule fires.
        labels : {"predicted", "all"}, str or list of str, optional
            The labels to explain. None is all of up to 20 labels, and of more those that are predicted.

        Returns
        -------
        Explanation, or a list of them for a table that does not have exactly one row
        """
        check_is_fitted(self)
        return explain_theory(self.theory_, X, n_closest, labels)

    def _name_true_labels(self, y: Any) -> Any:
        """Labels to compare with predictions, in the order of the theory if both have names."""
        check_is_fitted(self)
        y, names = name_labels(y, None), self.theory_.label_names
        if not isinstance(y, pd.DataFrame) or not self.theory_.is_multilabel:
            return y
        has_no_names = names == name_positions(len(names)) and not {*names} <= {
            *map(str, y.columns)
        }
        return y if has_no_names else order_labels(names, y)

    def _validate(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_table(self, X, reset=False)
