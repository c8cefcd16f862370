"""Ripper: table and targets → the rules of each label or class → Theory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.ripper import RuleListLearner, order_by_code
from steelyard.heuristics import Laplace, describe
from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.combiners import AnyRule, FirstRule
from steelyard.model.decoders import default_decoder
from steelyard.model.evidence import Evidence, Label, Provenance, smoothed_precision
from steelyard.model.rule_table import RuleTable, ranges_to_body
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory

from .budget import MemoryLimit, check_memory
from .candidates import drop_absences
from .constraints import Constraints
from .limits import ABSENCE, PRESENCE, Demands, Limits, read_demands
from .parallel import run_parallel
from .paths import Bounds
from .sampling import draw_orders
from .settings import ForestSettings, RipperSettings
from .targets import Targets
from .training_table import TrainingFeatures, code_training_table, value_cuts

Mask = NDArray[np.bool_]

# Peak memory of a fit beyond the table, per number of a dense column: 57 bytes with 20,000 or 40,000
# rows of 20 columns, 61 with 40 columns; with 24 labels instead of 3 it is 60 (`run_alone` of
# benchmarks/growth.py).
_BYTES_PER_CELL = 60
_LESS_MEMORY = "fewer rows or attributes take less; the number of labels hardly matters"


def learn_ripper(
    X: Any,
    targets: Targets,
    settings: RipperSettings,
    *,
    entropy: int = 0,
    n_jobs: int | None = None,
    feature_names: Sequence[str] | None = None,
    constraints: Constraints | None = None,
    max_memory: MemoryLimit = None,
) -> Theory:
    """The theory that Ripper learns; see `RipperClassifier`."""
    training = code_training_table(X, feature_names, value_cuts)
    n_bytes = _BYTES_PER_CELL * training.coded.dense.size
    check_memory(n_bytes, max_memory, "Ripper", _LESS_MEMORY)
    demands = read_demands(constraints, training.coder, targets, X)
    targets = demands.targets
    by_code = order_by_code(training.coded)
    learn = partial(_learn_rules, training.coded, by_code, settings, entropy)
    problems = _list_problems(demands, draw_orders(training.coded, targets.is_target))
    in_turn = targets.output == "multiclass"
    if in_turn:
        learned = _learn_in_turn(learn, problems)
    else:
        learned = _learn_apart(learn, problems, n_jobs)
        _warn_of_empty(learn, demands, problems, learned)
    bounds = Bounds(settings.max_rules, 0, settings.max_total_conditions)
    bounds.check(len(targets.names), demands.given.rules)
    lengths = [list(map(len, demands.given.rules))]
    lengths += [_count_conditions(rules, training.coded) for rules in learned]
    learned = _keep_best(learned, problems, bounds, lengths, in_turn)
    labels = targets.count_labels(np.array([rules.rest for rules in learned]))
    given = (demands.given.of_label(i) for i in range(len(labels)))
    origins = dict(zip(demands.given.rules, demands.given.origins, strict=True))
    shared = repeat(training.coder), repeat(origins)
    scored = map(_score_rules, labels, learned, targets.is_target, given, *shared)
    rarest_first = np.argsort(targets.is_target.sum(axis=1), kind="stable").tolist()
    return Theory(
        features=training.coder.features,
        labels=labels,
        rules=tuple(chain.from_iterable(scored)),
        combiner=FirstRule(tuple(rarest_first)) if in_turn else AnyRule(),
        decoder=default_decoder(in_turn),
        classes=targets.classes,
        heuristic=describe(Laplace()),
    )


def list_ripper_candidates(
    training: TrainingFeatures,
    demands: Demands,
    settings: ForestSettings,
    entropy: int,
    n_jobs: int | None = None,
) -> list[RuleTable]:
    """The rules that Ripper learns for each label by itself, as candidates for covering.

    The table is coded at its values, see `value_cuts`.
    """
    own = RipperSettings(max_conditions=settings.max_conditions)
    by_code = order_by_code(training.coded)
    learn = partial(_learn_rules, training.coded, by_code, own, entropy)
    orders = draw_orders(training.coded, demands.targets.is_target)
    problems = _list_problems(demands, orders)
    learned = _learn_apart(learn, problems, n_jobs)
    _warn_of_empty(learn, demands, problems, learned)
    tables = [RuleTable.from_ranges([ranges for ranges, _ in rules]) for rules, _ in learned]
    if settings.presence_only:
        tables = [drop_absences(table, training.coder)[0] for table in tables]
    return tables


class Problem(NamedTuple):
    """What the rules of a target class are learned from.

    `order` is the order of the rows before they are shuffled, `given` the rows that given rules cover.
    """

    is_target: Mask
    order: NDArray[np.int64]
    limits: Limits | None
    given: Mask | None
    target: int

    @property
    def uncovered(self) -> Mask:
        """The rows that no given rule covers."""
        return np.ones(len(self.is_target), dtype=np.bool_) if self.given is None else ~self.given


def _list_problems(demands: Demands, orders: NDArray[np.int64]) -> list[Problem]:
    limits, given = demands.by_label()
    classes = [PRESENCE if c else ABSENCE for c in demands.targets.target_class]
    is_target = demands.targets.is_target
    return list(map(Problem, is_target, orders, limits, given, classes))


class LearnedRules(NamedTuple):
    """Rules of a target class, in order, and the rows to learn from that none of them covers.

    A rule is its ranges, see `ranges_to_body`, and the mask of the rows that it covers.
    """

    rules: Sequence[tuple[list[tuple[int, int, int]], Mask]]
    rest: Mask


def count_possible_conditions(coded: CodedFeatures, limits: Limits | None = None) -> int:
    """Conditions that tell examples apart: = each category, ≤ and ≥ each value but one extreme.

    Forbidden attributes do not count.

    JRip counts two more per numeric attribute, the bounds that all examples meet. Without them an
    attribute of the numbers 0 and 1 counts as much as the same attribute read as nominal.
    """
    # A numeric attribute with d values has 2d + 1 codes: see `value_cuts`.
    n_possible = np.where(coded.is_nominal, coded.n_codes, np.maximum(coded.n_codes - 3, 0))
    if limits is not None:
        n_possible = n_possible[limits.is_usable]
    return max(1, int(n_possible.sum()))


def _learn_rules(
    coded: CodedFeatures,
    by_code: NDArray[np.int32],
    settings: RipperSettings,
    entropy: int,
    every: Mask,
    problem: Problem,
    fp_share: float,
) -> LearnedRules:
    """The rules of one target class, on the rows in `every` that no given rule covers.

    Every label starts from the same seed, as in JRip, and reads its rows in its own order: its
    rules depend neither on the other labels nor on its position among them.
    """
    is_target, order, limits, _, target = problem
    every = every & problem.uncovered
    rows = (every.view(np.uint8), is_target.view(np.uint8), order)
    n_possible = count_possible_conditions(coded, limits)
    table = (coded, by_code)
    demanded = (fp_share, limits, target)
    rules = RuleListLearner(*table, settings, n_possible, entropy, *rows, *demanded).learn()
    return LearnedRules(rules, _remove_covered((mask for _, mask in rules), every))


def _remove_covered(masks: Iterable[Mask], rows: Mask) -> Mask:
    """The rows that no mask covers."""
    rest = rows.copy()
    for mask in masks:
        rest &= ~mask
    return rest


def _learn_apart(
    learn: Callable[..., LearnedRules], problems: Sequence[Problem], n_jobs: int | None
) -> list[LearnedRules]:
    """The rules of every label, each on all rows."""
    every = np.ones(len(problems[0].is_target), dtype=np.bool_)
    arguments = [(problem, float(problem.is_target.mean())) for problem in problems]
    return run_parallel(partial(learn, every), arguments, n_jobs)


def _learn_in_turn(
    learn: Callable[..., LearnedRules], problems: Sequence[Problem]
) -> list[LearnedRules]:
    """The rules of every class but the most frequent one, on the rows that rarer classes leave over."""
    rest = np.ones(len(problems[0].is_target), dtype=np.bool_)
    sizes = np.array([problem.is_target.sum() for problem in problems])
    *others, default = np.argsort(sizes, kind="stable")
    n_left = len(rest)
    learned = {}
    for i in others:
        learned[i] = learn(rest, problems[i], float(sizes[i] / n_left))
        rest = learned[i].rest
        n_left -= sizes[i]
    # The default class has no rules but given ones: it has no rows to learn from.
    learned[default] = learn(np.zeros_like(rest), problems[default], 1.0)
    rest = rest & problems[default].uncovered
    # The classes share one default, which applies where none of them has a rule.
    return [learned[i]._replace(rest=rest) for i in range(len(sizes))]


def _warn_of_empty(
    learn: Callable[..., LearnedRules],
    demands: Demands,
    problems: Sequence[Problem],
    learned: Sequence[LearnedRules],
) -> None:
    """Say which labels have no rule because of the constraints: without them they would have one."""
    if demands.limits is None:
        return
    every = np.ones(len(problems[0].is_target), dtype=np.bool_)
    n_rules = [len(rules.rules) for rules in learned]
    for i, problem in enumerate(problems):
        if not n_rules[i] and problem.given is None:
            share = float(problem.is_target.mean())
            free = learn(every, problem._replace(limits=None), share)
            n_rules[i] = 0 if free.rules else 1
    demands.warn_of_empty(n_rules)


def _count_conditions(learned: LearnedRules, coded: CodedFeatures) -> list[int]:
    table = RuleTable.from_ranges([ranges for ranges, _ in learned.rules])
    return list(map(int, table.count_conditions(coded.n_codes, coded.is_nominal)))


def _keep_best(
    learned: list[LearnedRules],
    problems: Sequence[Problem],
    bounds: Bounds,
    lengths: Sequence[Sequence[int]],
    in_turn: bool,
) -> list[LearnedRules]:
    """The rules of all labels with the best values within bounds; ties: more true positives.

    The `lengths` are the numbers of conditions of the given rules, which stay, and of each label's.
    """
    given, *own = lengths
    ranked = []
    for i, (rules, _) in enumerate(learned):
        for r, (_, mask) in enumerate(rules):
            tp, fp = _count_covered(mask, problems[i].is_target)
            ranked.append((-smoothed_precision(tp, fp), -tp, i, r))
    ranked.sort()
    n_conditions = np.array([*given, *(own[i][r] for *_, i, r in ranked)], dtype=np.int64)
    n_kept = bounds.count_within(n_conditions) - len(given)
    if n_kept == len(ranked):
        return learned
    chosen = {(i, r) for *_, i, r in ranked[:n_kept]}
    kept = [
        [rule for r, rule in enumerate(rules) if (i, r) in chosen]
        for i, (rules, _) in enumerate(learned)
    ]
    rests = [
        _remove_covered((mask for _, mask in rules), problem.uncovered)
        for rules, problem in zip(kept, problems, strict=True)
    ]
    if in_turn:
        # The classes share one default: the rows that no rule of any class covers.
        rests = [np.logical_and.reduce(rests)] * len(rests)
    return [LearnedRules(*pair) for pair in zip(kept, rests, strict=True)]


def _count_covered(mask: Mask, is_target: Mask) -> tuple[int, int]:
    """Positives and negatives among the covered rows."""
    tp = int(np.count_nonzero(mask & is_target))
    return tp, int(np.count_nonzero(mask)) - tp


def _score_rules(
    label: Label,
    learned: LearnedRules,
    is_target: Mask,
    given: tuple[Sequence[Rule], Mask],
    coder: FeatureCoder,
    origins: Mapping[Rule, Provenance],
) -> Iterator[ScoredRule]:
    """Rules with their counts on all training examples: given ones, then in the order of learning."""
    head = Head(label.name, label.target_class)
    rules = [(Rule(head, ranges_to_body(ranges, coder)), mask) for ranges, mask in learned.rules]
    n_given = len(given[0])
    for i, (rule, mask) in enumerate(chain(zip(*given, strict=True), rules)):
        evidence = Evidence(*_count_covered(mask, is_target))
        provenance = origins[rule] if i < n_given else Provenance()
        yield ScoredRule(rule, evidence, evidence.smoothed_precision, provenance=provenance)
