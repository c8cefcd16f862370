"""Constraints: what an expert demands of the rules of a theory. Knows names and values, no codes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from steelyard._numbers import is_number
from steelyard._text import as_text, did_you_mean, format_count, list_names
from steelyard.model.conditions import Condition
from steelyard.model.evidence import Provenance
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule

from .settings import check_integer


class ConstraintWarning(UserWarning):
    """A constraint cannot be met, or leaves a label without rules.

    Examples
    --------
    >>> import warnings
    >>> from steelyard import Constraints, ConstraintWarning, RipperClassifier, load_patients
    >>> data = load_patients()
    >>> clf = RipperClassifier(constraints=Constraints(min_covered=400), random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     theory = clf.fit(data.X, data.Y).theory_
    >>> any(issubclass(warning.category, ConstraintWarning) for warning in caught)
    True
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Constraints:
    """What every rule of a theory has to satisfy, and rules that it has to contain.

    All estimators take constraints. They hold for every rule of a fitted theory, whichever method
    learned it.

    Parameters
    ----------
    forbidden : sequence of str, default=()
        Attributes that no rule tests.
    preferred : sequence of str, default=()
        Attributes to test rather than others: where conditions or rules are compared, each other one
        loses the share `preference` of its gain or value; a rule loses it in proportion to the tested
        attributes that are not preferred. So ties and near ties go to the preferred attributes.
    increasing : sequence of str, default=()
        Numeric attributes that make the labels more likely: a rule for the presence of a label bounds
        them from below only (≥), a rule for its absence from above only (< or ≤).
    decreasing : sequence of str, default=()
        The reverse: numeric attributes that make the labels less likely.
    forbidden_conditions : sequence of Condition or str, default=()
        No rule has a condition that implies one of these. With ``age < 30`` forbidden, ``age < 25`` and
        ``18 ≤ age < 30`` are forbidden too; ``age < 40`` is not.
    apart : sequence of sequences of str, default=()
        Groups of attributes of which a rule tests at most one.
    max_conditions : int or None, default=None
        Maximum number of conditions of a rule; an interval with two bounds counts as two.
    min_covered : int, default=0
        Minimum number of training examples that a rule covers.
    min_tp : int, default=0
        Minimum number of training examples with its head that a rule covers.
    given : sequence of Rule, str or dict, default=()
        Rules that the theory contains whatever they cover. They come before the learned rules, which
        are learned for the examples that the given ones leave over. A dict has the rule and, if known,
        its note and the date when it was made. A rule of a theory keeps its provenance.
    for_label : mapping of str to Constraints, default={}
        Further constraints on the rules of single labels. Bounds replace weaker ones.
    preference : float, default=0.05
        How much conditions on attributes that are not preferred lose, from 0 to 1.
    origins : mapping of Rule to Provenance, default={}
        The provenance of given rules, as far as `given` does not tell it.

    Examples
    --------
    >>> from steelyard import Constraints, RuleSetClassifier, make_planted_rules
    >>> data = make_planted_rules(300, random_state=0)
    >>> wanted = Constraints(forbidden=["weight"], max_conditions=2, min_covered=10)
    >>> clf = RuleSetClassifier(n_candidates=200, constraints=wanted, random_state=0)
    >>> wanted.violations(clf.fit(data.X, data.Y).theory_)
    []
    """

    forbidden: Sequence[str] = ()
    preferred: Sequence[str] = ()
    increasing: Sequence[str] = ()
    decreasing: Sequence[str] = ()
    forbidden_conditions: Sequence[Any] = ()
    apart: Sequence[Sequence[str]] = ()
    max_conditions: int | None = None
    min_covered: int = 0
    min_tp: int = 0
    given: Sequence[Any] = ()
    for_label: Mapping[str, Constraints] = field(default_factory=dict, hash=False)
    preference: float = 0.05
    origins: Mapping[Rule, Provenance] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        read: dict[str, Any] = {name: _read_names(name, getattr(self, name)) for name in _NAMES}
        read["apart"] = _read_groups(self.apart)
        conditions = _read_sequence("forbidden_conditions", self.forbidden_conditions)
        read["forbidden_conditions"] = tuple(map(_read_condition, conditions))
        given = dict(map(_read_given, _read_sequence("given", self.given)))
        read["given"] = tuple(given)
        told = {rule: origin for rule, origin in given.items() if origin is not None}
        known = {rule: origin for rule, origin in self.origins.items() if rule in given}
        read["origins"] = known | told
        read["for_label"] = _read_labels(self.for_label)
        for name, value in read.items():
            object.__setattr__(self, name, value)
        for name in ("min_covered", "min_tp"):
            check_integer(name, getattr(self, name), least=0)
        if self.max_conditions is not None:
            check_integer("max_conditions", self.max_conditions)
        if not is_number(self.preference) or not 0 <= self.preference <= 1:
            raise ValueError(f"preference must be a number from 0 to 1, got {self.preference!r}")
        for label in (None, *self.for_label):
            self.of(label)._check_conflicts(label)
        for rule in self.given:
            problem = self.of(rule.head.label).find_violation(rule)
            if problem:
                raise ValueError(f"the given rule {str(rule)!r} {problem}")

    def _check_conflicts(self, label: str | None) -> None:
        """Reject attributes with two constraints that exclude each other."""
        where = "" if label is None else f" for {label!r}"
        for first, second in (
            ("forbidden", "preferred"),
            ("increasing", "decreasing"),
        ):
            both = set(getattr(self, first)) & set(getattr(self, second))
            if both:
                raise ValueError(f"the attribute {min(both)!r} is both {first} and {second}{where}")

    def __repr__(self) -> str:
        plain = self.to_plain() | ({"for_label": self.for_label} if self.for_label else {})
        return f"Constraints({', '.join(f'{name}={value!r}' for name, value in plain.items())})"

    def _changed_fields(self) -> Iterator[Any]:
        for f in fields(self):
            default = {} if f.name == "for_label" else f.default
            if f.name != "origins" and getattr(self, f.name) != default:
                yield f

    def __bool__(self) -> bool:
        """Whether there is anything to satisfy."""
        return any(f.name != "preference" for f in self._changed_fields())

    # -- looking up --------------------------------------------------------------------------------

    def of(self, label: str | None) -> Constraints:
        """The constraints on the rules of one label: those of all labels and its own.

        Examples
        --------
        >>> flu = Constraints(forbidden=["age"], max_conditions=2)
        >>> Constraints(forbidden=["sex"], for_label={"flu": flu}).of("flu")
        Constraints(forbidden=['sex', 'age'], max_conditions=2)
        """
        given = tuple(rule for rule in self.given if rule.head.label == label)
        own = self.for_label.get(label) if label is not None else None
        if own is None:
            return self._copy(given=given)
        lists = (*_NAMES, "forbidden_conditions", "apart")
        joined: dict[str, Any] = {
            name: tuple(dict.fromkeys((*getattr(self, name), *getattr(own, name))))
            for name in lists
        }
        most = [m for m in (self.max_conditions, own.max_conditions) if m is not None]
        return self._copy(
            **joined,
            given=given,
            max_conditions=min(most, default=None),
            min_covered=max(self.min_covered, own.min_covered),
            min_tp=max(self.min_tp, own.min_tp),
            preference=max(self.preference, own.preference) if own.preferred else self.preference,
        )

    def _copy(self, **changes: Any) -> Constraints:
        """A copy for one label, without the checks that this object has passed."""
        copy = object.__new__(Constraints)
        vars(copy).update(vars(self) | changes | {"for_label": {}})
        return copy

    def origin_of(self, rule: Rule) -> Provenance:
        """Who gave a rule, when and why, as far as it is known."""
        return self.origins.get(rule, Provenance("given"))

    def parts(self) -> dict[str, Constraints]:
        """Each kind of constraint alone, by the name of its parameter.

        Examples
        --------
        >>> Constraints(forbidden=["age"], min_tp=5).parts()
        {'forbidden': Constraints(forbidden=['age']), 'min_tp': Constraints(min_tp=5)}
        """
        kept: dict[str, Any] = {"preference": self.preference, "origins": self.origins}
        return {
            f.name: Constraints(**{f.name: getattr(self, f.name)}, **kept)
            for f in self._changed_fields()
            if f.name != "preference"
        }

    # -- checking ----------------------------------------------------------------------------------

    def fit_to(
        self, features: Sequence[Feature], labels: Sequence[str], *, are_classes: bool = False
    ) -> Constraints:
        """The constraints that act on a training set.

        Names, kinds and directions that do not fit are rejected. A fold of a training set may lack some
        of its categories and classes: what names them is left out, with a warning.

        Parameters
        ----------
        features : sequence of Feature
        labels : sequence of str
        are_classes : bool, default=False
            Whether the labels are the classes of a one-dimensional target.
        """
        by_name = {feature.name: feature for feature in features}
        for constraints in (self, *self.for_label.values()):
            for parameter, name in constraints._list_attributes():
                if name not in by_name:
                    hint = did_you_mean(name, by_name)
                    known = "" if hint else f"; the table has {list_names([*by_name], most=10)}"
                    raise ValueError(
                        f"constraints: unknown attribute {name!r} in {parameter}{hint}{known}"
                    )
                if parameter in ("increasing", "decreasing") and by_name[name].is_nominal:
                    raise ValueError(
                        f"constraints: the attribute {name!r} is nominal; only a numeric attribute "
                        f"can be {parameter}"
                    )
            for condition in constraints.forbidden_conditions:
                problem = _find_unknown_category(condition, by_name[condition.feature])
                if problem:
                    _warn(problem)
        named = dict.fromkeys((*self.for_label, *(rule.head.label for rule in self.given)))
        unknown = [label for label in named if label not in labels]
        for label in unknown:
            _check_label(label, labels, are_classes)
        given = [
            rule
            for rule in self.given
            if rule.head.label not in unknown and not _warn_of_category(rule, by_name)
        ]
        for_label = {label: own for label, own in self.for_label.items() if label not in unknown}
        if len(given) == len(self.given) and len(for_label) == len(self.for_label):
            return self
        return replace(self, given=given, for_label=for_label)

    def _list_attributes(self) -> Iterator[tuple[str, str]]:
        """(parameter, name) of every attribute that is named."""
        for parameter in _NAMES:
            for name in getattr(self, parameter):
                yield parameter, name
        for group in self.apart:
            for name in group:
                yield "apart", name
        for condition in self.forbidden_conditions:
            yield "forbidden_conditions", condition.feature
        for rule in self.given:
            for condition in rule.body:
                yield "given", condition.feature

    def find_violation(self, rule: Rule) -> str | None:
        """What a rule of the label of these constraints violates, apart from counts, or None."""
        tested = [condition.feature for condition in rule.body]
        for name in self.forbidden:
            if name in tested:
                return f"tests the forbidden attribute {name!r}"
        for group in self.apart:
            together = [name for name in group if name in tested]
            if len(together) > 1:
                return f"tests {' and '.join(map(repr, together[:2]))} together"
        for condition in rule.body:
            problem = self._find_bound(rule, condition)
            if problem:
                return problem
        if self.max_conditions is not None and len(rule) > self.max_conditions:
            n_conditions = format_count(len(rule), "condition")
            return f"has {n_conditions}, more than max_conditions={self.max_conditions}"
        return None

    def _find_bound(self, rule: Rule, condition: Condition) -> str | None:
        for name in ("increasing", "decreasing"):
            if condition.feature in getattr(self, name):
                is_lower = (name == "increasing") == (rule.head.target_class == 1)
                wrong = condition.n_bounds > 1 or (condition.low == -float("inf")) == is_lower
                if wrong:
                    side = "from above" if is_lower else "from below"
                    return f"bounds the {name} attribute {condition.feature!r} {side}"
        for banned in self.forbidden_conditions:
            if implies(condition, banned):
                return f"has the condition {str(condition)!r}, which {str(banned)!r} forbids"
        return None

    def violations(self, theory: Iterable[ScoredRule]) -> list[str]:
        """One sentence per rule that violates a constraint, and per given rule that is missing.

        Given rules may cover fewer examples than the learned ones have to.

        Parameters
        ----------
        theory : Theory, or any rules with evidence

        Examples
        --------
        >>> from steelyard import Evidence, Head
        >>> rule = Rule(Head("flu"), (Condition("age", "<", 30),))
        >>> Constraints(increasing=["age"]).violations([ScoredRule(rule, Evidence(3, 0), 1.0)])
        ["'flu ← age < 30' bounds the increasing attribute 'age' from above"]
        """
        found = []
        rules = list(theory)
        for scored in rules:
            limits = self.of(scored.head.label)
            problem = limits.find_violation(scored.rule)
            if problem is None and scored.rule not in limits.given:
                problem = limits._find_low_count(scored.tp, scored.fp)
            if problem:
                found.append(f"{str(scored.rule)!r} {problem}")
        known = {scored.rule for scored in rules}
        missing = [rule for rule in self.given if rule not in known]
        return found + [f"{str(rule)!r} is given and missing" for rule in missing]

    def _find_low_count(self, tp: int, fp: int) -> str | None:
        if tp < self.min_tp:
            return f"has TP {tp}, fewer than min_tp={self.min_tp}"
        if tp + fp < self.min_covered:
            n_examples = format_count(tp + fp, "example")
            return f"covers {n_examples}, fewer than min_covered={self.min_covered}"
        return None

    # -- plain data --------------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """The constraints as lists, numbers and texts, for configuration files."""
        plain: dict[str, Any] = {}
        for f in self._changed_fields():
            value = getattr(self, f.name)
            if f.name == "given":
                value = [self._given_to_plain(rule) for rule in value]
            elif f.name == "forbidden_conditions":
                # Only rules print all digits.
                rules = (str(Rule(Head("label"), (condition,))) for condition in value)
                value = [text.split("← ", 1)[1] for text in rules]
            elif f.name == "for_label":
                value = {label: own.to_plain() for label, own in value.items()}
            elif isinstance(value, tuple):
                value = [list(v) if isinstance(v, tuple) else v for v in value]
            plain[f.name] = value
        return plain

    def _given_to_plain(self, rule: Rule) -> str | dict[str, str]:
        """The text of a given rule, with its provenance if there is more to say than that."""
        origin = self.origin_of(rule)
        if origin == Provenance("given"):
            return str(rule)
        found = {"source": origin.source, "when": origin.when, "note": origin.note}
        return {"rule": str(rule)} | {name: text for name, text in found.items() if text}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Constraints:
        """The constraints that `to_plain` wrote, or a person."""
        if not isinstance(plain, Mapping):
            raise ValueError(f"constraints must be a table, got {plain!r}")
        known = [f.name for f in fields(cls) if f.name != "origins"]
        for name in plain:
            if name not in known:
                hint = did_you_mean(name, known) or f"; choose from {', '.join(known)}"
                raise ValueError(f"unknown constraint {name!r}{hint}")
        given = dict(plain)
        if isinstance(given.get("for_label"), Mapping):
            given["for_label"] = {k: cls.from_plain(v) for k, v in given["for_label"].items()}
        return cls(**given)


_NAMES = ("forbidden", "preferred", "increasing", "decreasing")


def implies(condition: Condition, other: Condition) -> bool:
    """Whether every value that satisfies a condition satisfies the other one.

    Examples
    --------
    >>> implies(Condition("age", "<", 25), Condition("age", "<", 30))
    True
    >>> implies(Condition("age", "<", 40), Condition("age", "<", 30))
    False
    """
    if condition.feature != other.feature or condition.is_nominal != other.is_nominal:
        return False
    if condition.categories is not None:
        return set(condition.categories) <= set(other.categories or ())
    return condition.low >= other.low and condition.cut <= other.cut


def _read_sequence(name: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list, got {values!r}")
    return tuple(values)


def _read_names(name: str, values: Any) -> tuple[str, ...]:
    names = _read_sequence(name, values)
    return tuple(dict.fromkeys(as_text(v, f"an attribute in {name}") for v in names))


def _read_groups(groups: Any) -> tuple[tuple[str, ...], ...]:
    read = tuple(
        _read_names("a group of apart", group) for group in _read_sequence("apart", groups)
    )
    for group in read:
        if len(group) < 2:
            raise ValueError(f"a group of apart needs two attributes at least, got {list(group)!r}")
    return read


def _read_condition(condition: Any) -> Condition:
    if isinstance(condition, Condition):
        return condition
    if isinstance(condition, str):
        body = _read_rule(f"label ← {condition}").body
        if len(body) == 1:
            return body[0]
    raise ValueError(f"a forbidden condition must be a Condition, got {condition!r}")


def _read_given(item: Any) -> tuple[Rule, Provenance | None]:
    """A given rule, and its provenance if it tells one."""
    if isinstance(item, ScoredRule):
        return _read_rule(item), None if item.provenance.is_learned else item.provenance
    if not isinstance(item, Mapping):
        return _read_rule(item), None
    known = ("rule", "source", "when", "note")
    for name in item:
        if name not in known:
            hint = did_you_mean(str(name), known) or f"; it has {', '.join(known)}"
            raise ValueError(f"a given rule has no field {name!r}{hint}")
    if "rule" not in item:
        raise ValueError(f"a given rule needs the field 'rule', got {dict(item)!r}")
    origin = Provenance(**{"source": "given"} | {k: v for k, v in item.items() if k != "rule"})
    return _read_rule(item["rule"]), origin


def _read_rule(rule: Any) -> Rule:
    if isinstance(rule, ScoredRule):
        rule = rule.rule
    if isinstance(rule, str):
        rule = Rule.parse(rule)
    if not isinstance(rule, Rule):
        raise ValueError(f"a given rule must be a Rule, got {rule!r}")
    if not rule.body:
        raise ValueError(f"a given rule needs a condition, got {str(rule)!r}")
    if any(condition.is_empty for condition in rule.body):
        raise ValueError(f"the given rule {str(rule)!r} can never fire")
    return rule


def _read_labels(for_label: Any) -> dict[str, Constraints]:
    if not isinstance(for_label, Mapping):
        raise ValueError(f"for_label must map labels to Constraints, got {for_label!r}")
    for label, own in for_label.items():
        as_text(label, "a label in for_label")
        if not isinstance(own, Constraints):
            raise ValueError(f"for_label must map {label!r} to Constraints, got {own!r}")
        if own.for_label or own.given:
            inner = "for_label" if own.for_label else "given"
            raise ValueError(f"the constraints of the label {label!r} cannot have {inner}")
    return dict(for_label)


def _warn(problem: str) -> None:
    warnings.warn(f"constraints: {problem}", ConstraintWarning, stacklevel=3)


def _find_unknown_category(condition: Condition, feature: Feature) -> str:
    """What a condition names that the training set does not have; reject one of the wrong kind."""
    try:
        condition.check(feature)
    except ValueError as error:
        if condition.is_nominal != feature.is_nominal:
            raise ValueError(f"constraints: {error}") from None
        return str(error)
    return ""


def _warn_of_category(rule: Rule, features: Mapping[str, Feature]) -> bool:
    """Whether a given rule tests a category that the training set does not have, which is told."""
    problems = [_find_unknown_category(c, features[c.feature]) for c in rule.body]
    problem = next(filter(None, problems), "")
    if problem:
        _warn(f"the given rule {str(rule)!r} is left out: {problem}")
    return bool(problem)


def _check_label(label: str, labels: Sequence[str], are_classes: bool) -> None:
    """Reject an unknown label; warn of a class without rules, which a fold may lack."""
    hint = did_you_mean(label, labels)
    if are_classes:
        _warn(f"the training examples give no rules to the class {label!r}{hint}")
        return
    known = "" if hint else f"; the labels are {list_names(labels, most=10)}"
    raise ValueError(f"constraints: unknown label {label!r}{hint}{known}")


def check_constraints(constraints: Any) -> None:
    """Reject a parameter that is neither None nor Constraints."""
    if constraints is not None and not isinstance(constraints, Constraints):
        raise ValueError(f"constraints must be Constraints or None, got {constraints!r}")
