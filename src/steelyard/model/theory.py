"""Theory = rules per label + target classes; prints itself, saves itself, predicts.

Knows rules, their counts and the attributes they test; nothing of how they were learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard import export
from steelyard._files import read_text, write_atomically
from steelyard.explain import Explanation, explain_theory

from .coded_rules import RuleProgram, as_array, compile_rules
from .coverage import Bits, unpack
from .decoding import (
    Combine,
    KnownLabelSets,
    Points,
    points_to_probability,
)
from .evidence import Label, ScoredRule
from .features import Feature
from .firing import finish_points, fire_points, start_firing
from .rules import Head, Rule, format_body, format_count
from .theory_json import check_start_points, theory_from_text, theory_to_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows per block when predicting: a column of codes then fits the second cache, and the coverage bits
# of 1,000 rules take 2 MB whatever the size of the table.
_BLOCK_ROWS = 16_384

Output = Literal["multilabel", "binary", "multiclass", "ordered"]


@dataclass(frozen=True, eq=False)
class Theory:
    """An unordered set of rules for all labels (a DNF per label).

    A label gets its target class where any of its rules fires, else the other class. Iterating gives
    the rules, label by label, best first.

    A theory with `start_points` decides by log-odds instead: each label begins with its start points,
    and firing rules change them, by addition in a weighted theory, else to the most of the points of
    the firing rules. Labels with more than 0 points are predicted or, with `label_sets`, the set of
    labels that fits the points best, or those labels that have enough of the votes of all sets.

    Parameters
    ----------
    features : tuple of Feature
        The attributes of the training table.
    labels : tuple of Label
    scored_rules : tuple of ScoredRule
        Grouped by label in the order of `labels`.
    heuristic : str
        Text of the heuristic behind the values or, in a weighted theory, behind the votes.
    phi : float
        Share of the selected rules that was kept; of their votes in a weighted theory.
    output : {"multilabel", "binary", "multiclass", "ordered"}
        How the labels are read: each for itself; as one class against the other; as one class each,
        the best supported one being right; as one class each, asked in turn from the rarest on, the
        first one with a firing rule being right and the most frequent one if there is none.
    classes : tuple, optional
        The classes of a one-dimensional target; a binary target has one label, the class whose
        rules are learned.
    combine : {"any", "weighted"}
        Whether one firing rule is enough or the points of all firing rules are added.
    start_points : tuple of int, optional
        One a label: the points of its presence where no rule fires. None: no points at all.
    label_sets : KnownLabelSets, optional
        The label sets of the training examples, of which the best fitting one is predicted or, with
        their `min_share`, which vote.

    Examples
    --------
    >>> from steelyard import MEstimate, RuleSetClassifier, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = RuleSetClassifier(MEstimate(m=8), n_candidates=500, random_state=0)
    >>> theory = clf.fit(data.X, data.Y).theory_
    >>> Theory.from_json(theory.to_json()) == theory
    True
    """

    features: tuple[Feature, ...]
    labels: tuple[Label, ...]
    scored_rules: tuple[ScoredRule, ...]
    heuristic: str = ""
    phi: float = 1.0
    output: Output = "multilabel"
    classes: tuple[Any, ...] = ()
    combine: Combine = "any"
    start_points: tuple[int, ...] | None = None
    label_sets: KnownLabelSets | None = None

    # -- looking ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Rule]:
        return (scored.rule for scored in self.scored_rules)

    def __len__(self) -> int:
        return len(self.scored_rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Theory) and self._as_tuple() == other._as_tuple()

    def __hash__(self) -> int:
        return hash((self.labels, self.scored_rules))

    def _as_tuple(self) -> tuple[Any, ...]:
        what = (self.features, self.labels, self.scored_rules)
        how = (self.combine, self.start_points, self.label_sets)
        return (*what, self.heuristic, self.phi, self.output, self.classes, *how)

    @property
    def has_points(self) -> bool:
        """Whether the points of the firing rules decide, not just that one fires."""
        return self.start_points is not None

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels, in the order of the training labels."""
        return tuple(label.name for label in self.labels)

    @property
    def n_conditions(self) -> int:
        """Number of conditions of all rules together."""
        return sum(len(rule) for rule in self)

    def rules_of(self, label: str) -> tuple[ScoredRule, ...]:
        """The rules of one label, best first."""
        if label not in self.label_names:
            raise ValueError(
                f"the theory has no label {label!r}; it has {', '.join(map(repr, self.label_names))}"
            )
        return tuple(scored for scored in self.scored_rules if scored.rule.head.label == label)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return (
            f"<Theory: {format_count(len(self), 'rule')} with "
            f"{format_count(self.n_conditions, 'condition')} for "
            f"{format_count(len(self.labels), 'label')}>"
        )

    def _lines(self) -> Iterator[str]:
        mean = self.n_conditions / len(self) if len(self) else 0.0
        yield (
            f"{format_count(len(self), 'rule')} for {format_count(len(self.labels), 'label')}, "
            f"{mean:.1f} conditions a rule"
            + (f"; {self.heuristic}, φ = {self.phi:g}" if self.heuristic else "")
            + export.describe_points(self)
        )
        is_ordered = self.output == "ordered"
        starts = export.format_starts(self)
        for j in self._rarest_first() if is_ordered else range(len(self.labels)):
            label = self.labels[j]
            rules = self.rules_of(label.name)
            head = str(Head(label.name, label.target_class))
            share = label.n_positives / max(label.n_positives + label.n_negatives, 1)
            n_examples = label.n_positives + label.n_negatives
            start = f", start {starts[label.name]}" if starts else ""
            yield ""
            yield f"{head}: {label.n_positives} of {n_examples} ({share:.0%}){start}"
            if is_ordered and j == self._rarest_first()[-1]:
                yield "  predicted where no rule fires"
            elif not rules:
                yield "  no rule" if self.has_points else "  no rule: never predicted"
            width = max((len(f"{r.tp}") for r in rules), default=1)
            texts = (f"{scored.value:.3f}" for scored in rules)
            numbers = export.align_weights(rules) if self.has_points else texts
            for scored, text in zip(rules, numbers, strict=True):
                yield f"  TP {scored.tp:{width}}  FP {scored.fp:<{width}}  {text}  {scored.rule}"

    def to_frame(self) -> pd.DataFrame:
        """One row a rule: label, target_class, rule, n_conditions, tp, fp, precision, value.

        In a theory with points also its weight: log-odds of the label's presence, less than 0 for a
        rule that predicts its absence. The weights of firing rules are added in a weighted theory, else
        the strongest one counts.
        """
        frame = pd.DataFrame(
            {
                "label": [s.rule.head.label for s in self.scored_rules],
                "target_class": [s.rule.head.target_class for s in self.scored_rules],
                "rule": [format_body(s.rule.body) for s in self.scored_rules],
                "n_conditions": [len(s.rule) for s in self.scored_rules],
                "tp": [s.tp for s in self.scored_rules],
                "fp": [s.fp for s in self.scored_rules],
                "precision": [s.precision for s in self.scored_rules],
                "value": [s.value for s in self.scored_rules],
            }
        )
        if self.has_points:
            frame["weight"] = [s.weight for s in self.scored_rules]
        return frame

    # -- predicting ------------------------------------------------------------------------------

    @cached_property
    def _program(self) -> RuleProgram:
        return compile_rules(self.features, [rule.body for rule in self])

    @cached_property
    def _label_of_rule(self) -> NDArray[np.intp]:
        position = {name: i for i, name in enumerate(self.label_names)}
        return np.array([position[rule.head.label] for rule in self], dtype=np.intp)

    def _covered_blocks(self, X: Any) -> Iterator[tuple[slice, Bits]]:
        """Blocks of rows with the bits of the rows for which each rule fires."""
        columns = self._program.select_columns(X)
        n_rows = columns.shape[0]
        for start in range(0, n_rows, _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, n_rows))
            rows = columns.iloc[block] if isinstance(columns, pd.DataFrame) else columns[block]
            yield block, self._program.cover(rows)

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Which rules fire for which rows, shape (n_rows, n_rules), columns as the rules."""
        mask = np.zeros((_n_rows(X), len(self)), dtype=np.bool_)
        for block, bits in self._covered_blocks(X):
            mask[block] = unpack(bits, block.stop - block.start).T
        return mask

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How strongly each label is asserted (positive) or denied (negative), shape (n_rows, n_labels).

        Where rules of a label fire: the best smoothed precision among them. Where none fires: the
        smoothed precision of not predicting, negative. The sign always agrees with `predict`.

        A theory with points gives 2p - 1 for the probability p behind the points, in which a label that
        is predicted from another probability than ½ on is shifted to ½. If the theory predicts the
        label set that fits best it looks at all labels together, so that a sign can differ from the
        prediction. If label sets vote, p is a label's share of the votes, shifted so that the share
        that is needed comes to ½, and the sign agrees again.
        """
        if self.has_points:
            points = self.count_points(X)
            if self.label_sets is not None and self.label_sets.min_share is not None:
                return self.label_sets.weigh_shares(points)
            return np.asarray(2 * points_to_probability(points) - 1)
        scores = np.empty((_n_rows(X), len(self.labels)))
        for j, label in enumerate(self.labels):
            scores[:, j] = label.silent_score
        precision = np.array([scored.smoothed_precision for scored in self.scored_rules])
        for block, bits in self._covered_blocks(X):
            covered = unpack(bits, block.stop - block.start)
            for r in np.argsort(precision, kind="stable"):
                scores[block, self._label_of_rule[r]][covered[r]] = precision[r]
        for j, label in enumerate(self.labels):
            if label.target_class == 0:
                scores[:, j] *= -1
        if self.output == "ordered":
            self._assert_first_class(scores)
        return scores

    def count_points(self, X: Any) -> Points:
        """Points for the presence of each label, shape (n_rows, n_labels), in a theory with points."""
        if self.start_points is None:
            raise ValueError("the theory has no points: a firing rule decides by itself")
        check_start_points(self.start_points, self.labels)
        points = np.array([scored.points for scored in self.scored_rules], dtype=np.int64)
        if self.combine == "weighted":
            points[[scored.rule.head.target_class == 0 for scored in self.scored_rules]] *= -1
        start = np.array(self.start_points, dtype=np.int64)
        is_inverted = np.array([label.target_class == 0 for label in self.labels])
        total = np.empty((_n_rows(X), len(self.labels)), dtype=np.int64)
        every_rule = np.arange(len(self))
        for block, bits in self._covered_blocks(X):
            counted = fire_points(
                bits,
                every_rule,
                self._label_of_rule,
                points,
                start_firing(self.combine, start, block.stop - block.start),
                self.combine,
            )
            total[block] = finish_points(counted, start, is_inverted, self.combine).T
        return total

    def _rarest_first(self) -> list[int]:
        """The order in which classes are asked in turn."""
        return sorted(range(len(self.labels)), key=lambda j: self.labels[j].n_positives)

    def _assert_first_class(self, scores: NDArray[np.float64]) -> None:
        """Deny the classes that come after the first firing one; assert the default if none fires."""
        *asked, default = self._rarest_first()
        undecided = np.ones(len(scores), dtype=np.bool_)
        for j in (*asked, default):
            fires = scores[:, j] > 0
            scores[fires & ~undecided, j] *= -1
            undecided &= ~fires
        scores[undecided, default] += 1

    def predict(self, X: Any) -> Any:
        """Predicted labels (0/1, shape (n_rows, n_labels)) or, for a theory of classes, the classes.

        A DataFrame gives a DataFrame (a Series of classes) with its index and the labels' names.
        """
        predicted: NDArray[Any]
        if self.output in ("multiclass", "ordered"):
            scores = self.count_points(X) if self.has_points else self.decision_function(X)
            predicted = np.asarray(self.classes)[np.argmax(scores, axis=1)]
        elif self.has_points:
            points = self.count_points(X)
            is_present = points > 0 if self.label_sets is None else self.label_sets.decode(points)
            predicted = is_present.astype(np.int64)
        else:
            fires = np.zeros((_n_rows(X), len(self.labels)), dtype=np.bool_)
            for block, bits in self._covered_blocks(X):
                of_label = [
                    np.bitwise_or.reduce(bits[self._label_of_rule == j], axis=0)
                    for j in range(len(self.labels))
                ]
                fires[block] = unpack(np.array(of_label), block.stop - block.start).T
            targets = np.array([label.target_class for label in self.labels], dtype=np.int64)
            predicted = np.where(fires, targets, 1 - targets)
        if self.output == "binary":
            predicted = np.asarray(self.classes)[predicted[:, 0]]
        if isinstance(X, pd.DataFrame):
            if self.output == "multilabel":
                return pd.DataFrame(predicted, index=X.index, columns=list(self.label_names))
            return pd.Series(predicted, index=X.index, name="class")
        return predicted

    # -- explaining ------------------------------------------------------------------------------

    def explain(self, X: Any, *, n_closest: int = 3) -> Explanation | list[Explanation]:
        """Why the theory predicts what it predicts.

        Parameters
        ----------
        X : Series, dict, 1-D array, or a table
        n_closest : int, default=3
            How many rules to compare with if none fires.

        Returns
        -------
        Explanation, or a list of them for a table of any other number of rows than one
            Per label the rules that fire or, if none does, the closest ones with the conditions that
            fail and the smallest change of the attributes that would make them fire.

        Examples
        --------
        >>> from steelyard import Condition
        >>> rule = Rule(Head("flu"), (Condition("fever", "≥", 38.5), Condition("colour", "=", "red")))
        >>> theory = Theory(
        ...     features=(Feature("fever"), Feature("colour", ("blue", "red"))),
        ...     labels=(Label("flu", 1, 10, 30, 1, 28),),
        ...     scored_rules=(ScoredRule(rule, tp=9, fp=2, value=0.8),),
        ... )
        >>> print(theory.explain({"fever": 37.0, "colour": "red"}))
        predicted: no label
        <BLANKLINE>
        flu: no, no rule fires, which was right for 28 of 29 training examples
          ✗ fever ≥ 38.5 ∧ colour = red  (TP 9, FP 2, precision 0.82)
              fever ≥ 38.5 fails: fever is 37
              → raise fever from 37 to at least 38.5
        """
        return explain_theory(self, X, n_closest)

    def plot(self, *, max_labels: int = 12) -> Figure:
        """The rules of each label in coverage space: true against false positives.

        A good rule is high and to the left; the grey line is what guessing gives.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return export.plot_theory(self, max_labels)

    def _repr_html_(self) -> str:
        return export.to_html(self)

    # -- exporting -------------------------------------------------------------------------------

    def to_text(self) -> str:
        """The theory as it prints itself."""
        return f"{self}\n"

    def to_markdown(self) -> str:
        """A Markdown table of rules for each label."""
        return export.to_markdown(self)

    def to_latex(self) -> str:
        """A LaTeX table of the rules; needs the package booktabs."""
        return export.to_latex(self)

    def to_sql(self, dialect: str = "sqlite", table: str = "data") -> str:
        """One SELECT with a CASE for each label that gives exactly what `predict` gives.

        The columns of the table come first, then the labels in their order; a theory of classes has
        one column, ``class``. NULL is a missing value. Numeric attributes must be columns of numbers;
        the categories of nominal ones are compared as text.

        A theory with points counts them in whole numbers. With label sets it compares all known sets
        for each row, for which SQLite needs its JSON functions and the others LATERAL; DuckDB may
        then give the rows in another order. If label sets vote, EXP is needed, which SQLite has since
        3.35 if it is built with its mathematical functions.

        Parameters
        ----------
        dialect : {"sqlite", "duckdb", "postgres", "ansi"}, default="sqlite"
        table : str, default="data"

        Examples
        --------
        >>> from steelyard import Condition
        >>> rule = Rule(Head("flu"), (Condition("fever", "≥", 38.5),))
        >>> labels = (Label("flu", 1, 10, 30, 1, 28),)
        >>> theory = Theory((Feature("fever"),), labels, (ScoredRule(rule, 9, 2, 0.8),))
        >>> print(theory.to_sql(table="patients"))
        SELECT
          t.*,
          CASE
            WHEN t."fever" >= 38.5 THEN 1  -- TP 9, FP 2
            ELSE 0
          END AS "flu"
        FROM "patients" AS t
        """
        return export.to_sql(self, dialect, table)

    def to_python(self) -> str:
        """Source of a function ``predict(row)`` that needs nothing but Python.

        It takes a dict of attributes, in which None or NaN is missing, and gives a dict of labels
        with 0 or 1, or the class. Points are counted in whole numbers, so that they are exact.
        """
        return export.to_python(self)

    def to_pmml(self) -> str:
        """PMML 4.4 with a RuleSetModel for each label, or with one for a theory of classes.

        A theory with points is refused: such a model knows the first hit, not sums of votes.
        """
        return export.to_pmml(self)

    # -- saving ----------------------------------------------------------------------------------

    def to_json(self, path: str | Path | None = None) -> str:
        """The theory as JSON text, one rule a line; written to `path` if one is given.

        What the file held before is there until all of the new text is.
        """
        text = theory_to_text(self)
        if path is not None:
            write_atomically(Path(path), text.encode())
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> Theory:
        """Read a theory from JSON text or from a file; nothing in it is executed."""
        where = "the text"
        if isinstance(source, Path) or not source.lstrip().startswith("{"):
            where = str(source)
            source = read_text(Path(source))
        return cls(**theory_from_text(source, where))


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(as_array(X))
