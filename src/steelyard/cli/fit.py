"""``steelyard fit``: a data set with labels → a theory in a file."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .consoles import print_message, print_result
from .inputs import load_data, make_heuristic, no_repeated_notes, read_constraints
from .options import (
    Bag,
    Data,
    Depths,
    Features,
    Ignore,
    Jobs,
    Json,
    Labels,
    Nominal,
    Prune,
    TheoryOutFile,
    Trees,
    check_folder,
    grow_options,
    keep_inputs,
    option,
)

Method = StrEnum("Method", ["auto", "paper", "short", "boosted", "ripper"])
MissingLabels = StrEnum("MissingLabels", ["raise", "drop", "absent"])
ClassWeight = StrEnum("ClassWeight", ["balanced"])
Condense = StrEnum("Condense", ["predictions", "labels"])
Decode = StrEnum("Decode", ["each-label", "best-label-set", "label-set-votes", "best-f1"])

_METHOD = (
    "auto: short for sparse tables, such as text, else paper; paper: the method of the paper; "
    "short: rules with few conditions; boosted: rules that vote; ripper: ordered rules, the baseline."
)
_TUNE = (
    "Choose by cross-validation what other options leave open, for this measure: "
    "f1_micro, hamming, subset, ..."
)
_MISSING = (
    "Examples for which a label is missing: raise an error, drop them, or read the label as absent."
)
_SPLIT = "Make one label per value of a target that has other values than 0 and 1."
_HEURISTIC = "m-estimate, f-measure, klosgen, cost, wra ...; an unknown name prints the list."
_DECODE = (
    "each-label: each label by itself; best-label-set: the label set of the training data that fits "
    "best; label-set-votes: the labels that these sets vote for; best-f1: the labels with the best "
    "expected F1."
)
_REPORT = "Also write an HTML page to read, try and edit the theory."
_TEST = "Examples that are not learned from; the page judges the theory and edits on them."
_CONSTRAINTS = "What the rules have to satisfy, in TOML; see docs/constraints.md."
_WEIGHT = "The column with the weights of the examples: 2 is two copies, 0.5 counts half."
_MAX_MEMORY = "Memory that the fit may take, such as 4GB or 500MiB; more ends with what to change."
_CLASS_WEIGHT = "balanced: the presence and the absence of a label weigh the same."
_CATEGORY_SETS = "Let conditions test several categories of an attribute: colour in {blue, red}."
_CONDENSE = "Boosted rules: grow more of them, keep those that predict alike; --tune tries both."
_DECODE_DEFAULT = "each-label; short and boosted: best-label-set"
_MAX_RULES = "Maximum number of rules, or with --labels-per-rule of bodies."
_LABELS_PER_RULE = (
    "Boosted rules: number of labels that a body votes for, or all; --tune chooses among several "
    "numbers, such as 1,all."
)

Parameter = Annotated[
    float | None, option("The parameter of the heuristic, such as m.", default="its own")
]
Candidates = Annotated[
    int | None, option("Number γ of candidates.", default="300000; short: 30000", min=1)
]
_LENGTHS = (
    "none; boosted: 4, or by --tune 1, 2 or 4 within --max-total-conditions and 8 with "
    "--labels-per-rule all"
)
MaxRules = Annotated[int | None, option(_MAX_RULES, default="none; boosted: 333", min=1)]
MaxConditions = Annotated[
    int | None, option("Maximum number of conditions per rule.", default=_LENGTHS, min=1)
]
MaxTotalConditions = Annotated[
    int | None, option("Maximum number of conditions of all rules together.", default="none", min=1)
]
MinRulesPerLabel = Annotated[
    int | None, option("Rules that each label keeps at least.", default="0", min=0)
]
LabelsPerRule = Annotated[
    str | None, option(_LABELS_PER_RULE, default="1; --tune also tries all", metavar="NUMBER")
]
MaxMemory = Annotated[str | None, option(_MAX_MEMORY, default="a quarter", metavar="SIZE")]
ConstraintsFile = Annotated[
    Path | None, option(_CONSTRAINTS, metavar="FILE.toml", exists=True, dir_okay=False)
]
Phi = Annotated[float | None, option("Share φ of rules to keep.", default="0.5; boosted: 1")]


def fit(
    data: Data,
    out: TheoryOutFile,
    labels: Labels = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    missing_labels: Annotated[MissingLabels | None, option(_MISSING, default="raise")] = None,
    split_targets: Annotated[bool, typer.Option("--split-targets", help=_SPLIT)] = False,
    method: Annotated[Method, typer.Option(help=_METHOD)] = Method.auto,
    tune: Annotated[str | None, option(_TUNE, metavar="MEASURE")] = None,
    heuristic: Annotated[str | None, option(_HEURISTIC, default="m-estimate")] = None,
    parameter: Parameter = None,
    phi: Phi = None,
    candidates: Candidates = None,
    decode: Annotated[Decode | None, option(_DECODE, default=_DECODE_DEFAULT)] = None,
    max_rules: MaxRules = None,
    max_conditions: MaxConditions = None,
    max_total_conditions: MaxTotalConditions = None,
    min_rules_per_label: MinRulesPerLabel = None,
    labels_per_rule: LabelsPerRule = None,
    constraints: ConstraintsFile = None,
    weight: Annotated[str | None, option(_WEIGHT, metavar="COLUMN")] = None,
    class_weight: Annotated[ClassWeight | None, option(_CLASS_WEIGHT)] = None,
    category_sets: Annotated[bool, typer.Option("--category-sets", help=_CATEGORY_SETS)] = False,
    condense: Annotated[Condense | None, option(_CONDENSE)] = None,
    trees: Trees = None,
    depths: Depths = None,
    features: Features = None,
    bag: Bag = None,
    prune: Prune = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
    max_memory: MaxMemory = None,
    jobs: Jobs = -1,
    report: Annotated[Path | None, option(_REPORT, metavar="FILE", callback=check_folder)] = None,
    test: Annotated[str | None, option(_TEST, metavar="DATA")] = None,
    as_json: Json = False,
) -> None:
    """Learn rules from a data set and save them as a theory.

    Example: steelyard fit patients.csv --labels cough,fever -o theory.json

    Example: steelyard fit patients --tune f1_micro -o theory.json
    """
    _check_files(out, report, test, data, constraints)
    options: dict[str, Any] = {"heuristic": heuristic, "parameter": parameter, "phi": phi}
    options |= {"n_candidates": candidates, "random_state": seed, "n_jobs": jobs}
    options |= {"max_rules": max_rules, "max_conditions": max_conditions, "max_memory": max_memory}
    options |= {"max_total_conditions": max_total_conditions, "class_weight": class_weight}
    options |= {"min_rules_per_label": min_rules_per_label, "max_labels_per_rule": labels_per_rule}
    options |= grow_options(trees, depths, features, bag, prune)
    options |= {"category_sets": category_sets or None, "condense": condense, "decode": decode}
    options["constraints"] = constraints and read_constraints(constraints)
    estimator = _make_estimator(method, tune, options)
    treatment = {"missing": missing_labels, "multi_valued": "split" if split_targets else None}
    kinds: dict[str, Any] = {"ignore": ignore, "nominal": nominal}
    weights, loaded = _take_weights(weight, load_data(data, labels, treatment, **kinds))
    examples = loaded
    if test is not None:
        _, examples = _take_weights(weight, _load_quietly(test, labels, treatment, **kinds))
    with no_repeated_notes(data), _whole_table():
        theory = estimator.fit(loaded.X, loaded.Y, weights).theory_
    theory.to_json(out)
    if report is not None:
        _write_report(estimator, report, examples, is_unseen=test is not None)
    _print_fit(as_json, estimator, out, report)


def _take_weights(column: str | None, loaded: Any) -> tuple[Any, Any]:
    """The column with the weights, if there is one, and the data set without it."""
    if column is None:
        return None, loaded
    if column not in loaded.X:
        raise typer.BadParameter(f"there is no column {column!r}", param_hint="--weight")
    weights = loaded.X[column]
    if weights.dtype.kind not in "iuf":
        raise typer.BadParameter(f"the column {column!r} has no numbers", param_hint="--weight")
    return weights.to_numpy(), replace(loaded, X=loaded.X.drop(columns=column))


def _print_fit(as_json: bool, estimator: Any, out: Path, report: Path | None) -> None:
    theory = estimator.theory_
    content = {
        "theory": str(out),
        "heuristic": theory.heuristic,
        "phi": theory.phi,
        "n_rules": len(theory),
        "n_conditions": theory.n_conditions,
    }
    views = [f"{theory.summary} → {out}"]
    if hasattr(estimator, "best_params_"):
        from steelyard.measures import SCORE_MEASURES

        chosen = {name: _to_plain(value) for name, value in estimator.best_params_.items()}
        content |= {"chosen": chosen, "score": estimator.best_score_}
        settings = ", ".join(f"{name}={_to_text(value)}" for name, value in chosen.items())
        measure = SCORE_MEASURES.get(estimator.scoring)
        title = (
            f"{estimator.scoring}, negated" if measure and measure.is_loss else estimator.scoring
        )
        views.append(
            f"chosen: {settings} ({title}: {estimator.best_score_:.3f}, mean of the folds)"
        )
    if report is not None:
        content["page"] = str(report)
        views.append(f"page: {report}")
    print_result(as_json, content, *views)


def _to_plain(value: Any) -> Any:
    """A value for JSON."""
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _to_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_files(out: Path, report: Path | None, test: str | None, *inputs: Any) -> None:
    """Reject outputs that would replace an input, and test examples without a page."""
    if test is not None and report is None:
        raise typer.BadParameter(
            "needs --report: these examples are shown on its page", param_hint="--test"
        )
    given = [path for path in (test, *inputs) if path is not None]
    keep_inputs(out, *given)
    keep_inputs(report, out, *given)


def _load_quietly(*source: Any, **columns: Any) -> Any:
    """Load examples of which nothing is learned: labels and attributes may have one value only."""
    from steelyard.data import DataWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return load_data(*source, **columns)


def _write_report(estimator: Any, path: Path, loaded: Any, *, is_unseen: bool) -> None:
    """The page with the map of a tuned rule set if it can be shown, else that of the theory alone."""
    from steelyard.report.page import write_theory_page

    if hasattr(estimator, "report"):
        try:
            estimator.report(path, loaded.X, loaded.Y, is_unseen=is_unseen)
        except ValueError as error:
            print_message("note", f"{error}; so the page has no map")
        else:
            return
    theory = estimator.theory_
    write_theory_page(theory, path, loaded.X, loaded.Y, name=loaded.name, is_unseen=is_unseen)


def _read_labels_per_rule(text: str, tune: str | None) -> list[int | None] | int | None:
    """A number or, with --tune, the numbers to choose from; `all` is None."""
    values: list[int | None] = []
    for part in map(str.strip, text.split(",")):
        if part != "all" and not (part.isdecimal() and len(part) < 10 and int(part) > 0):
            raise typer.BadParameter(
                f"must be a positive integer or all, got {part!r}", param_hint="--labels-per-rule"
            )
        values.append(None if part == "all" else int(part))
    if tune is None and len(values) > 1:
        raise typer.BadParameter(
            "several numbers need --tune, which chooses one", param_hint="--labels-per-rule"
        )
    return values if tune else values[0]


@contextmanager
def _whole_table() -> Iterator[None]:
    """Reject constraints on a category that the table does not have, which only a fold may lack."""
    from steelyard.learning.constraints import ConstraintWarning

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".*has no category", ConstraintWarning)
            yield
    except ConstraintWarning as warning:
        raise ValueError(str(warning)) from None


def _make_estimator(method: Method, tune: str | None, options: dict[str, Any]) -> Any:
    """Translate options into an estimator. An option that is None keeps the estimator's default."""
    from steelyard.estimators.methods import make_estimator
    from steelyard.heuristics import MEstimate, find_family

    heuristic, parameter = options.pop("heuristic"), options.pop("parameter")
    if method == Method.boosted:
        options |= {"heuristic": heuristic, "m": parameter}
    elif tune and parameter is None and heuristic not in (None, MEstimate.name):
        family = find_family(heuristic)
        options["heuristics"] = [family.make(value) for value in family.grid]
    elif parameter is not None or heuristic not in (None, MEstimate.name):
        options["heuristic"] = make_heuristic(heuristic, parameter)
    given = {name: value for name, value in options.items() if value is not None}
    given = {n: v.value if isinstance(v, StrEnum) else v for n, v in given.items()}
    if "max_labels_per_rule" in given:
        if method != Method.boosted:
            raise typer.BadParameter("needs --method boosted", param_hint="--labels-per-rule")
        given["max_labels_per_rule"] = _read_labels_per_rule(given["max_labels_per_rule"], tune)
    try:
        estimator = make_estimator(method.value, tune=tune, **given)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--method") from None
    if tune and len(estimator.list_cells()) == 1:
        raise typer.BadParameter("the other options leave nothing to choose", param_hint="--tune")
    if "verbose" in estimator.get_params():
        estimator.set_params(verbose=int(sys.stderr is not None and sys.stderr.isatty()))
    return estimator
