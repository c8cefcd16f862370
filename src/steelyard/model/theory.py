"""Theory: features + labels + rules + a combiner + a decoder; predicts, prints and saves itself.

Knows nothing of how its rules were learned. Writers and explanations stand above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard._text import count_bodies, did_you_mean, format_count, list_names

from .coded_rules import CodedRules, code_rules
from .combiner import Scores
from .coverage import Bits, unpack
from .decoders import Decoded
from .evaluation import Evaluation, any_fires, labels_to_answer
from .formulas import Answer, LabelFormulas
from .json import THEORY, JsonFormat, Saved
from .rules import Rule, ScoredRule
from .tables import as_table, column_to_values
from .theory_parts import TheoryParts


@dataclass(frozen=True)
class Theory(TheoryParts, Saved):
    """Rules for all labels, a combiner that scores labels, and a decoder that predicts them.

    Iterating gives the rules (`ScoredRule`) label by label, best first. A theory is immutable and
    checked when it is made.

    Parameters
    ----------
    features : tuple of Feature
        The attributes of the training table.
    labels : tuple of Label
    rules : tuple of ScoredRule
        Kept grouped by label, in the order of `labels`.
    combiner : Combiner, default=AnyRule()
        How firing rules become scores of labels.
    decoder : Decoder, default=EachLabel()
        How scores become predicted labels.
    classes : tuple, default=()
        The classes of a one-dimensional target: one per label, or (other class, class of the label)
        for a binary target, which has one label. Empty for a multi-label target.
    heuristic : str, default=""
        The heuristic behind the values of the rules.
    phi : float, default=1.0
        Share of the selected rules that was kept.
    evidence_from : EvidenceFrom, default=EvidenceFrom()
        What the counts of rules and labels stand for: training examples, a recount, or the time before
        an edit.
    history : tuple of Edit, default=()
        The edits since the theory was learned, the first one first. Two theories with the same rules
        are equal whatever their history is.

    Examples
    --------
    >>> from steelyard import ScoredRule, Theory
    >>> from steelyard import Condition, Evidence, Feature, Head, Label, Rule
    >>> rule = Rule(Head("flu"), (Condition("fever", "≥", 38.5), Condition("colour", "=", "red")))
    >>> theory = Theory(
    ...     features=(Feature("fever"), Feature("colour", ("blue", "red"))),
    ...     labels=(Label("flu", 1, 10, 30, 1, 28),),
    ...     rules=(ScoredRule(rule, Evidence(tp=9, fp=2), value=0.8),),
    ... )
    >>> theory.predict([[39.0, "red"], [37.0, "red"]])
    array([[1],
           [0]])
    >>> Theory.from_json(theory.to_json()) == theory
    True
    >>> print(theory.replace(0, "flu <- fever >= 38 and colour = red", when="2026-03-01"))
    1 rule for 1 label, 2.0 conditions per rule
    The evidence is from before the edit: recount(X, Y) renews it.
    <BLANKLINE>
    flu: 10 of 40 (25%)
      not counted  –  flu ← fever ≥ 38 ∧ colour = red  [edited 2026-03-01]
    >>> print(theory.explain({"fever": 37.0, "colour": "red"}))
    predicted: no label
    <BLANKLINE>
    flu: no, no rule fires, which was right for 28 of 29 training examples
      ✗ fever ≥ 38.5 ∧ colour = red  (TP 9, FP 2, precision 0.82)
          fever ≥ 38.5 fails: fever is 37
          → raise fever from 37 to at least 38.5
    """

    json_format: ClassVar[JsonFormat] = THEORY

    # -- looking ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[ScoredRule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def n_conditions(self) -> int:
        """Number of conditions of all rules together."""
        return sum(map(len, self.rules))

    @cached_property
    def n_bodies(self) -> int:
        """Number of different bodies; rules for several labels can share one."""
        return len({scored.body for scored in self.rules})

    @cached_property
    def _rules_by_label(self) -> dict[str, tuple[ScoredRule, ...]]:
        found: dict[str, list[ScoredRule]] = {name: [] for name in self.label_names}
        for scored in self.rules:
            found[scored.head.label].append(scored)
        return {name: tuple(rules) for name, rules in found.items()}

    def rules_of(self, label: str) -> tuple[ScoredRule, ...]:
        """The rules of one label, best first."""
        if label not in self._rules_by_label:
            hint = did_you_mean(str(label), self.label_names)
            known = "" if hint else f"; it has {list_names(self.label_names, most=20)}"
            raise ValueError(f"the theory has no label {label!r}{hint}{known}")
        return self._rules_by_label[label]

    @property
    def summary(self) -> str:
        """The theory in one line."""
        mean = self.n_conditions / len(self) if len(self) else 0.0
        # A few rules of different labels can have the same body by chance.
        is_shared = 2 * self.n_bodies <= len(self) > 1
        shares = f" with {count_bodies(self.n_bodies)}" if is_shared else ""
        clauses = [
            f"{format_count(len(self), 'rule')}{shares} for {format_count(len(self.labels), 'label')}, "
            f"{mean:.1f} conditions per rule",
            f"{self.heuristic}, φ = {self.phi:g}" if self.heuristic else "",
            self.combiner.describe(),
            self.decoder.describe(),
        ]
        return "; ".join(filter(None, clauses))

    @property
    def evidence_note(self) -> str:
        """A sentence on what the counts stand for; empty if it is the training examples."""
        return "" if self.evidence_from.kind == "training" else str(self.evidence_from)

    def describe_label(self, position: int) -> str:
        """A label with its target class and its frequency among the examples of the evidence."""
        label = self.labels[position]
        if not label.n_examples:
            return str(label)
        return f"{label}: {label.n_positives} of {label.n_examples} ({label.prior:.0%})"

    def describe_silence(self, position: int) -> str:
        """What is predicted for a label that has no rule, in a clause."""
        return self.decoder.describe_silence(self._silent, position, self.combiner)

    def describe_empty(self, position: int) -> str:
        """A line in the place of the rules of a label that has none."""
        what = self.describe_silence(position)
        return "no rule" if what == self.combiner.describe_label(position) else f"no rule: {what}"

    @cached_property
    def _silent(self) -> Decoded:
        """One row in which no rule fires."""
        bits = np.zeros((len(self), 1), dtype=np.uint64)
        return self._decode(bits, 1)

    def __str__(self) -> str:
        return "\n".join(_call("model.views", "theory_to_lines", self))

    def __repr__(self) -> str:
        return (
            f"<Theory: {format_count(len(self), 'rule')} with "
            f"{format_count(self.n_conditions, 'condition')} for "
            f"{format_count(len(self.labels), 'label')}>"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per rule: label, target_class, rule, n_conditions, tp, fp, precision, value.

        With rules that vote also the weight: log-odds for the presence of the label, negative for a
        rule that predicts its absence.

        After a recount also precision_low and precision_high, a 95 % Wilson interval; p_value, from the
        hypergeometric test against the prior of the label on the same examples; lift; and only, the
        number of examples that no other rule of the label covers.

        Where there are some also held_out_tp, held_out_fp and held_out_precision, and source, when and
        note of rules made by hand.
        """
        frame: pd.DataFrame = _call("model.views", "theory_to_frame", self)
        return frame

    # -- editing ---------------------------------------------------------------------------------

    def drop(
        self, *rules: ScoredRule | Rule | str | int, note: str = "", when: str | None = None
    ) -> Theory:
        """The theory without some rules, each given as itself, as text or by its position.

        Like every edit, this leaves the evidence stale, which `recount` renews, and is added to the
        `history` with its note and date.
        """
        return _call_theory("model.editing", "drop_rules", self, *rules, note=note, when=when)

    def annotate(
        self, rule: ScoredRule | Rule | str | int, note: str, *, when: str | None = None
    ) -> Theory:
        """The theory with a note on one of its rules; nothing else changes."""
        return _call_theory("model.editing", "annotate_rule", self, rule, note, when=when)

    def add(
        self,
        rule: Rule | ScoredRule | str,
        *,
        points: int | None = None,
        X: Any = None,
        Y: Any = None,
        note: str = "",
        when: str | None = None,
    ) -> Theory:
        """The theory with one rule more, the last one of its label.

        The rule is checked against the attributes, categories and labels.

        Parameters
        ----------
        rule : Rule or its text
        points : int, optional
            The vote for its head in hundredths of log-odds, if the rules vote.
        X, Y : table and labels, optional
            Examples on which the vote is fitted if there are no points. The new theory is recounted on
            them. Without them the rule has no evidence, and scores as if it were right half the time.
        note : str, default=""
            Why the rule is there.
        when : str, optional
            The ISO date of the edit, today by default.
        """
        options = {"points": points, "X": X, "Y": Y, "note": note, "when": when}
        return _call_theory("model.editing", "add_rule", self, rule, **options)

    def replace(
        self,
        old: ScoredRule | Rule | str | int,
        new: Rule | ScoredRule | str,
        *,
        points: int | None = None,
        X: Any = None,
        Y: Any = None,
        note: str = "",
        when: str | None = None,
    ) -> Theory:
        """The theory with another rule in the place of one of its own.

        The arguments are those of `add`. Without X and Y, a rule that decides scores its label as the
        old one did.
        """
        options = {"points": points, "X": X, "Y": Y, "note": note, "when": when}
        return _call_theory("model.editing", "replace_rule", self, old, new, **options)

    def recount(self, X: Any, Y: Any) -> Theory:
        """The same theory with its evidence on other examples; it predicts as before.

        Parameters
        ----------
        X : table
        Y : labels
            A DataFrame with a column per label, an array of 0 and 1, or one class per row.

        Returns
        -------
        Theory
            `to_frame` has an interval, a p-value, the lift and the examples that only a rule covers;
            ``evidence_from.judgement`` has every measure, overall and per label.
        """
        return _call_theory("model.recounting", "recount", self, X, Y)

    def calibrate(self, X: Any, Y: Any) -> Theory:
        """The theory with votes that make `predict_proba` fit examples it was not learned from.

        Each label gets a slope and a shift for its log-odds, by Platt's logistic regression; labels with
        few positives resemble the others. Rules that vote get other votes, so predictions can change.
        Rules that decide get other confidences, and predict as before.

        Parameters
        ----------
        X, Y : table and labels, as for `recount`
            Unseen examples: on training examples all rules look better than they are.
        """
        return _call_theory("model.calibrating", "calibrate", self, X, Y)

    def compare(self, other: Theory, X: Any = None) -> Any:
        """The rules that two theories share and, on the rows of a table, where predictions differ.

        Rules are similar if they have the same head and attributes and cover common examples. Without
        a table, they are if an example could satisfy both.

        Returns
        -------
        Comparison
            Prints itself, and has `to_frame`.
        """
        return _call("model.comparing", "compare_theories", self, other, X)

    def drift(self, X: Any, Y: Any = None) -> Any:
        """Which rules fire more or less often than they did on the examples of their evidence.

        Both shares are compared by Fisher's exact test, whose p-values are adjusted after Holm. Given
        the true labels, also which rules are right less often, compared with held-out counts where a
        rule has them.

        Returns
        -------
        Drift
            Prints itself, and has `to_frame`.
        """
        return _call("model.drift", "find_drift", self, X, Y)

    def importances(self, X: Any = None, *, per: str = "attribute") -> pd.DataFrame:
        """How much each attribute, or each condition, decides; the most important one first.

        Given a table, the importance is the share of the predicted labels that change when the
        conditions in question are taken out of all rules. Without one, each rule shares the number of
        examples with its head that it covers beyond those that guessing would give,
        ``|TP - (TP + FP)·prior|`` (times the size of its vote, if it votes), among its conditions; these
        importances sum to 1.

        Parameters
        ----------
        X : table, optional
        per : {"attribute", "condition"}, default="attribute"
        """
        frame: pd.DataFrame = _call("model.importance", "find_importances", self, X, per)
        return frame

    # -- predicting ------------------------------------------------------------------------------

    @cached_property
    def _coded(self) -> CodedRules:
        return code_rules(self.features, [scored.body for scored in self])

    def take_code(self, other: Theory) -> None:
        """Take the codes of another theory if it has the same bodies: thousands take a while to code."""
        pairs = zip(self.rules, other.rules, strict=False)
        if len(self) == len(other) and all(mine.body is its.body for mine, its in pairs):
            self.__dict__["_coded"] = other._coded

    @cached_property
    def _label_of_rule(self) -> NDArray[np.intp]:
        position = {name: i for i, name in enumerate(self.label_names)}
        return np.array([position[scored.head.label] for scored in self], dtype=np.intp)

    @cached_property
    def _strength(self) -> Scores:
        return self.combiner.strengths_of(self.rules)

    def _decode(self, bits: Bits, n_rows: int) -> Decoded:
        """Scores and labels of rows, given which rules fire."""
        scores = self.combiner.score(bits, n_rows, self._label_of_rule, self._strength, self.labels)
        return self.decoder.decode(scores, self.combiner)

    def evaluate(self, X: Any, Y: Any = None) -> Evaluation:
        """Everything about the rows of a table at once: firing rules, scores, labels, measures.

        The rules are tested once. `predict` needs less memory for large tables.

        Parameters
        ----------
        X : table, or one example as a Series, dict, list or 1-D array
        Y : labels, optional
            The true labels, as for `recount`. Given them, `Evaluation.measures` has every measure and
            `Evaluation.judgement` also those of each label.

        Returns
        -------
        Evaluation
        """
        selected = self._coded.select_columns(as_table(X))
        n_rows = int(selected.shape[0])
        columns = self._coded.read_columns(selected)
        bits = self._coded.cover_columns(columns, n_rows)
        decoded = self._decode(bits, n_rows)
        values = {
            feature.name: column_to_values(column, n_rows)
            for feature, column in zip(self._coded.used_features, columns, strict=True)
        }
        predicted = labels_to_answer(decoded.is_present, self.classes)
        judged = None
        if Y is not None:
            judged = _call("model.recounting", "judge_evaluation", self, decoded.is_present, Y)
        return Evaluation(unpack(bits, n_rows).T, decoded, predicted, values, judged)

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Which rules fire for which rows, shape (n_rows, n_rules), columns as the rules."""
        return self._by_block(X, lambda bits, n_rows: unpack(bits, n_rows).T)

    def _by_block(self, X: Any, view: Callable[[Bits, int], NDArray[Any]]) -> NDArray[Any]:
        """What a function makes of the coverage bits and the number of rows of each block."""
        return np.concatenate([view(*block) for block in self._coded.cover_blocks(X)])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Values between -1 and 1 per label, positive where it is asserted, shape (n_rows, n_labels).

        The sign agrees with `predict`, except where the best label set is predicted, which depends on
        all labels together.
        """
        return self._by_block(
            X, lambda *block: self.decoder.to_decision(self._decode(*block), self.combiner)
        )

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability that each label is present, shape (n_rows, n_labels).

        A decoder's threshold does not change it.
        """
        return self._by_block(
            X, lambda *block: self.decoder.to_probability(self._decode(*block), self.combiner)
        )

    def _predict_block(self, bits: Bits, n_rows: int) -> NDArray[np.bool_]:
        """Predicted labels of some rows, given which rules fire."""
        if not (self.combiner.first_rule_settles and self.decoder.follows_signs(self.combiner)):
            return self._decode(bits, n_rows).is_present
        # A label needs no score: ten times faster.
        default = np.array([label.default for label in self.labels], dtype=np.bool_)
        return unpack(any_fires(bits, len(self.labels), self._label_of_rule), n_rows).T ^ default

    def predict(self, X: Any) -> Any:
        """Predicted labels (0/1, shape (n_rows, n_labels)) or, for a theory of classes, the classes.

        A DataFrame gives a DataFrame (a Series of classes) with its index and the labels' names.
        """
        predicted = labels_to_answer(self._by_block(X, self._predict_block), self.classes)
        if not isinstance(X, pd.DataFrame):
            return predicted
        if self.is_multilabel:
            return pd.DataFrame(predicted, index=X.index, columns=list(self.label_names))
        return pd.Series(predicted, index=X.index, name="class")

    # -- for writers -----------------------------------------------------------------------------

    def answers(self, format: str) -> list[Answer]:
        """The prediction as answers that an export can write down, or the reason why it cannot."""
        for part in (self.combiner, self.decoder):
            if format in part.declines:
                raise ValueError(part.declines[format])
        rules = [self.rules_of(name) for name in self.label_names]
        formulas = self.combiner.formulas(self.labels, rules)
        names = self.label_names if self.is_multilabel else ["class"] * len(self.labels)
        scores = LabelFormulas(names, formulas, self.plain_classes or [0, 1])
        return self.decoder.answers(scores, self.combiner)

    # The methods below belong to packages that stand above the model. They are looked up when called,
    # so that the model does not depend on its writers.

    def explain(self, X: Any, *, n_closest: int = 3, labels: Any = None) -> Any:
        """Why the theory predicts what it predicts.

        Parameters
        ----------
        X : Series, dict, 1-D array, or a table
        n_closest : int, default=3
            Number of rules to compare with if none fires.
        labels : {"predicted", "all"}, str or list of str, optional
            The labels to explain. None is all of up to 20 labels, and of more those that are predicted.

        Returns
        -------
        Explanation, or a list of them for a table with any other number of rows than one
            Per label the rules that fire or, if none does, the closest ones with the conditions that
            fail and the smallest change of the attributes that would make them fire.
        """
        return _call("explain", "explain_theory", self, X, n_closest, labels)

    def plot(self, *, max_labels: int = 12) -> Any:
        """The rules of each label in coverage space: true against false positives.

        A good rule is high and to the left; the grey line is what guessing gives.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return _call("export", "plot_theory", self, max_labels)

    def _repr_html_(self) -> str:
        return str(_call("export", "to_html", self))

    def to_text(self, by: Literal["label", "body"] = "label") -> str:
        """The theory as it prints itself, or with one line per body and all labels of that body.

        Examples
        --------
        >>> from steelyard import BoostedRulesClassifier, load_patients
        >>> data = load_patients()
        >>> clf = BoostedRulesClassifier(max_rules=9, max_labels_per_rule=2, random_state=0)
        >>> text = clf.fit(data.X, data.Y).theory_.to_text(by="body")
        >>> text.splitlines()[1].split(";")[0]
        '9 different bodies'
        """
        _call("model.views", "check_by", by)
        writers = {"label": "theory_to_lines", "body": "bodies_to_lines"}
        return "\n".join([*_call("model.views", writers[by], self), ""])

    def to_html(self, by: Literal["label", "body"] = "label") -> str:
        """A page of its own with all rules, their counts and who made them. It loads nothing.

        With ``by="body"`` the rules with the same body are together, a row per label.
        """
        return str(_call("export", "to_page", self, by))

    def to_markdown(self, by: Literal["label", "body"] = "label") -> str:
        """A Markdown table of rules for each label, or a table of labels for each body."""
        return str(_call("export", "to_markdown", self, by))

    def to_latex(self, by: Literal["label", "body"] = "label") -> str:
        """A LaTeX table of the rules, by label or by body, over as many lines and pages as they need.

        It needs the packages array, booktabs and longtable.
        """
        return str(_call("export", "to_latex", self, by))

    def to_sql(self, dialect: str = "sqlite", table: str = "data") -> str:
        """One SELECT that adds the predicted labels to the columns of a table; equal to `predict`.

        The columns of the table come first, then the labels in their order; a theory of classes has one
        column, ``class``. NULL is a missing value. Numeric attributes must be numeric columns;
        categories of nominal ones are compared as text. Where the best label set is predicted, a
        column with the score of each label and one with the label set come before the labels.

        Parameters
        ----------
        dialect : {"sqlite", "duckdb", "postgres", "ansi"}, default="sqlite"
        table : str, default="data"
        """
        return str(_call("export", "to_sql", self, dialect, table))

    def to_python(self) -> str:
        """Source of a function ``predict(row)`` that needs nothing but Python.

        It takes a dict of attributes, in which None or NaN is missing, and returns a dict of labels
        with 0 or 1, or the class.
        """
        return str(_call("export", "to_python", self))

    def to_pmml(self) -> str:
        """PMML 4.4 with one RuleSetModel, or a chain of one per label.

        The output fields of a chain have the names of the labels after ``predicted_``. Rejects rules
        that vote: such a model knows the first hit, not sums of votes.
        """
        return str(_call("export", "to_pmml", self))


def _call(module: str, function: str, *arguments: Any, **options: Any) -> Any:
    return getattr(import_module(f"steelyard.{module}"), function)(*arguments, **options)


def _call_theory(module: str, function: str, *arguments: Any, **options: Any) -> Theory:
    made: Theory = _call(module, function, *arguments, **options)
    return made
