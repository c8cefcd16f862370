"""Theory → a figure: the rules of each label in coverage space."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard._numbers import is_integer
from steelyard.model.evidence import Label
from steelyard.model.theory import Theory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOUR = "#0072B2"
_COLOUR_AGAINST = "#D55E00"  # rules that predict the other class
_AREA = 22
_WIDTH, _HEIGHT = 2.6, 2.5


def plot_theory(theory: Theory, max_labels: int = 12) -> Figure:
    """See `Theory.plot`.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.export import plot_theory
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y[["high cholesterol"]]).theory_
    >>> len(plot_theory(theory).axes)
    1
    """
    from .figure import NotebookFigure

    if not is_integer(max_labels):
        raise ValueError(f"max_labels must be a positive integer, got {max_labels!r}")
    by_rules = sorted(theory.labels, key=lambda label: -len(theory.rules_of(label.name)))
    shown = [label for label in theory.labels if label in by_rules[:max_labels]]
    n_columns = min(4, len(shown))
    n_rows = math.ceil(len(shown) / n_columns)
    figure = NotebookFigure(
        figsize=(_WIDTH * n_columns, _HEIGHT * n_rows + 0.6), layout="constrained"
    )
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for panel, label in zip(panels, shown, strict=False):
        _draw_label(panel, theory, label)
    for panel in panels[len(shown) :]:
        panel.set_axis_off()
    left_out = len(theory.labels) - len(shown)
    note = f" (the {left_out} labels with the fewest rules are left out)" if left_out else ""
    if theory.combiner.rule_columns(()):
        note += "\narea: weight; orange: rules against the target class"
    figure.suptitle(theory.summary + note, fontsize=9, parse_math=False)
    figure.supxlabel("covered without the target class (FP)", fontsize=9)
    figure.supylabel("covered with it (TP)", fontsize=9)
    return figure


def _draw_label(panel: Any, theory: Theory, label: Label) -> None:
    # A rule that was not counted has no place.
    rules = [scored for scored in theory.rules_of(label.name) if scored.is_counted]
    is_for = [scored.head.target_class == label.target_class for scored in rules]
    # What a rule covers, whichever class it predicts: rules against the target class lie below the
    # line of guessing.
    fp = [s.fp if right else s.tp for s, right in zip(rules, is_for, strict=True)]
    tp = [s.tp if right else s.fp for s, right in zip(rules, is_for, strict=True)]
    # Guessing gives true and false positives in the shares of the training set.
    panel.axline((0, 0), (max(label.n_negatives, 1), max(label.n_positives, 1)), color="0.75", lw=1)
    colours = [_COLOUR if right else _COLOUR_AGAINST for right in is_for]
    areas = _areas(theory.combiner.rule_columns(rules).get("weight"))
    panel.scatter(fp, tp, s=areas, color=colours, alpha=0.7, linewidths=0)
    panel.set_xlim(-0.5, max([*fp, 1]) * 1.1 + 0.5)
    panel.set_ylim(0, max([*tp, 1]) * 1.1)
    name = str(label)
    # Dollar signs in a name are not mathematics.
    panel.set_title(name if len(name) < 32 else f"{name[:30]}…", fontsize=9, parse_math=False)
    for axis in (panel.xaxis, panel.yaxis):
        axis.get_major_locator().set_params(integer=True)
    panel.tick_params(labelsize=7)
    panel.spines[["top", "right"]].set_visible(False)


def _areas(weights: list[float] | None) -> float | list[float]:
    """The area of a dot is the weight of its rule; a light one can still be seen."""
    if not weights:
        return _AREA
    most = max(map(abs, weights)) or 1.0
    return [_AREA * (0.2 + 1.8 * abs(weight) / most) for weight in weights]
