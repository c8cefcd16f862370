"""The entry: finds the reader for a model or a text, and makes the theory. Knows all readers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier

from steelyard._files import read_text
from steelyard._text import shorten_repr
from steelyard.learning.training_table import code_training_table
from steelyard.model.features import Feature
from steelyard.model.tables import as_table, column_names
from steelyard.model.theory import Theory

from . import boomer, decision_rules, trees, wittgenstein
from .parts import ForeignTheory, make_theory, name_place

#: Formats of texts, with their names for people.
FORMATS = {
    "decision-rules": "JSON of RuleKit's companion decision-rules",
    "wittgenstein": "a rule set that wittgenstein prints",
    "boomer": "rules that BOOMER prints or stores",
}


def import_theory(
    source: Any,
    X: Any = None,
    Y: Any = None,
    *,
    format: str | None = None,
    label_names: Sequence[str] | None = None,
    when: str | None = None,
) -> Theory:
    """The rules of another learner as a theory, to explain, edit, compare and export.

    Each of these gives rules that decide, or that vote as the learner itself does:

    - a fitted ``DecisionTreeClassifier`` of scikit-learn, also with several outputs: one rule per leaf
      and label. It predicts exactly what the tree predicts for examples without missing values.
    - a fitted ``RIPPER`` or ``IREP`` of wittgenstein, or its printed rules.
    - a rule set of decision-rules, or its JSON. RuleKit's rules become one by ``ruleset_factory``.
    - a fitted ``BoomerClassifier`` of BOOMER, or its printed rules, with each label predicted by itself.

    Votes become hundredths, and a printed number has the digits that were printed. So near a bound or a
    tie a prediction can differ from that of the learner.

    Parameters
    ----------
    source : fitted model, Path, or str
        A text is a file name unless it starts with one of ``{``, ``[`` and ``<``.
    X : table, optional
        Gives the attributes their names, kinds and categories. Without it, the theory knows what its
        rules tell.
    Y : labels, optional
        With X, on which the theory is recounted. Without it, the counts are those that the learner
        saved, if it saved any.
    format : {"decision-rules", "wittgenstein", "boomer"}, optional
        The format of a text; by default it is recognized.
    label_names : sequence of str, optional
        Names of the labels; by default those of the columns of Y, or what the learner knows.
        Printed rules of wittgenstein do not name their label, which is then "y".
    when : str, optional
        The ISO date of the import, today by default.

    Returns
    -------
    Theory
        The provenance of its rules is "imported", with the name of the learner.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from steelyard import import_theory, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> X = data.X[["weight", "firmness"]]
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, data.Y)
    >>> theory = import_theory(tree, X, data.Y)
    >>> bool((theory.predict(X).to_numpy() == tree.predict(X)).all())
    True
    """
    if (X is None) and Y is not None:
        raise ValueError("give X and Y together")
    if label_names is None:
        label_names = _name_labels(Y)
    text, where = _read_source(source) if isinstance(source, str | Path) else (None, "")
    with name_place(where):
        if text is None:
            found = _read_model(source, X, label_names)
        else:
            found = _read_format(text, format or find_format(text), X, label_names)
        theory = make_theory(found, X, date.today().isoformat() if when is None else when)
    return theory if Y is None else theory.recount(X, Y)


def _name_labels(Y: Any) -> list[str] | None:
    """The names that labels bring along."""
    if isinstance(Y, pd.DataFrame):
        return [str(name) for name in Y.columns]
    if isinstance(Y, pd.Series) and Y.name is not None:
        return [str(Y.name)]
    return None


def _read_model(source: Any, X: Any, label_names: Sequence[str] | None) -> ForeignTheory:
    module = type(source).__module__.split(".")[0]
    if isinstance(source, DecisionTreeClassifier):
        return trees.read_tree(source, label_names)
    if module == "wittgenstein" and hasattr(source, "ruleset_"):
        return wittgenstein.read_ruleset(source, label_names)
    if module == "mlrl" and hasattr(source, "model_"):
        names = () if X is None else column_names(as_table(X))
        return boomer.read_boomer(source, label_names, names)
    if module == "decision_rules":
        return decision_rules.read_plain(_serialize(source))
    if isinstance(source, dict) and "meta" in source:
        return decision_rules.read_plain(source)
    raise ValueError(_explain_unknown(source, module))


def _serialize(ruleset: Any) -> Any:
    """A rule set of decision-rules as plain data, written by that library."""
    from importlib import import_module

    serializer: Any = import_module("decision_rules.serialization").JSONSerializer
    return serializer.serialize(ruleset)


def _explain_unknown(source: Any, module: str) -> str:
    if module == "rulekit":
        return (
            "convert a model of RuleKit first: "
            "decision_rules.ruleset_factories.ruleset_factory(model, X, y)"
        )
    if module in ("wittgenstein", "mlrl"):
        return f"this {type(source).__name__} is not fitted: call fit first"
    if isinstance(source, BaseDecisionTree):
        return f"only trees that predict classes have rules, not a {type(source).__name__}"
    return (
        "expected a fitted DecisionTreeClassifier, a model of wittgenstein, decision-rules or BOOMER, "
        f"or a text that one of them wrote, got {shorten_repr(source)}"
    )


def _read_source(source: str | Path) -> tuple[str, str]:
    """A text, and where it is from."""
    if isinstance(source, str) and source.lstrip()[:1] in ("{", "[", "<"):
        return source, "the text"
    if not str(source).strip():
        raise ValueError("the text is empty")
    return read_text(Path(source)), str(source)


def find_format(text: str) -> str:
    """The format of a text, by how it starts.

    Examples
    --------
    >>> find_format("[[a=1] V [b=2]]"), find_format("{} => (y = 1)")
    ('wittgenstein', 'boomer')
    """
    start = text.lstrip()
    if re.match(r"\{[^\n]*\}\s*=>", start):
        return "boomer"
    if start.startswith(("[[", "<Ruleset")):
        return "wittgenstein"
    if start.startswith("{"):
        return "decision-rules"
    raise ValueError(f"this is not a known format; choose from {', '.join(FORMATS)}")


def names_labels(file: Path, format: str | None) -> bool:
    """Whether the rules of a file say which labels they predict."""
    text = read_text(file)
    with name_place(str(file)):
        return (format or find_format(text)) != "wittgenstein"


def _read_format(
    text: str, format: str, X: Any, label_names: Sequence[str] | None
) -> ForeignTheory:
    if format == "decision-rules":
        return decision_rules.read_json(text)
    features = _features_by_name(X)
    if format == "wittgenstein":
        return wittgenstein.read_printed(text, features, label_names)
    if format == "boomer":
        return boomer.read_printed(text, features, label_names)
    raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")


def _features_by_name(X: Any) -> dict[str, Feature]:
    if X is None:
        return {}
    X = as_table(X)
    names = column_names(X)
    return {f.name: f for f in code_training_table(X, names).coder.features}
