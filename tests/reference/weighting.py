"""Oracle: rules that are grown one by one for what the ones before them left over, and their points.

Gradients and curvatures of the logistic loss are whole numbers of 2⁻³⁰, so that all sums are exact and
nothing depends on their order; a bag is a list in which a row stands as often as it was drawn.
"""

import math
from typing import NamedTuple

from reference.growing import SplitMix64, n_codes

UNIT = 2**30


class Options(NamedTuple):
    """What a run is told besides the data; the words are those of the kernel.

    `n_rounds`, `most_rules` and `most_conditions` are the room it has: choices, different rules, and
    conditions of a rule.
    """

    bag_size: int
    n_drawn: int
    n_tries: int
    l2: float
    reuse: float
    seed: int
    n_rounds: int
    most_rules: int
    most_conditions: int
    step: float = 0.3
    max_weight: float = 4.0
    points_per_log_odd: int = 100


def boost(table, is_positive, draw_order, options):
    """A whole run: ``([(rule, points, gain) of each choice], [body of each rule])``.

    Parameters
    ----------
    table : list of (codes, values)
        As in `reference.growing`.
    is_positive : list of bool
    draw_order : list of int
        The rows in the order from which bags are drawn.
    options : Options

    A body is a list of ``(feature, low, high)``, low ≤ code < high, one a feature, in the order in
    which the features came.
    """
    n_rows, n_positives = len(is_positive), sum(is_positive)
    log_odds = [math.log(n_positives / (n_rows - n_positives))] * n_rows
    random = SplitMix64(options.seed)
    window = [f for f, attribute in enumerate(table) if n_codes(attribute) > 1]
    choices, bodies = [], []
    while len(choices) < options.n_rounds:
        rows = differentiate(is_positive, log_odds)
        new = None, 0.0, 0.0
        if len(bodies) < options.most_rules:
            tries = [
                grow(table, rows, draw_order, window, random, options)
                for _ in range(options.n_tries)
            ]
            new = find_best(filter(None, tries), table, rows, options)
        known = None, 0.0, 0.0
        if options.reuse < math.inf:
            known = find_best(bodies, table, rows, options)
        takes_known = known[0] is not None and known[1] >= options.reuse * new[1]
        body, gain, weight = known if takes_known else new
        points = round(options.points_per_log_odd * options.step * weight)
        if points == 0:
            break
        if not takes_known:
            bodies.append(body)
        rule = next(i for i, other in enumerate(bodies) if other is body)
        choices.append((rule, points, gain))
        for row in range(n_rows):
            log_odds[row] += covers(body, table, row) * points / options.points_per_log_odd
    return choices, [put_together(body) for body in bodies]


def differentiate(is_positive, log_odds):
    """(gradient, curvature) of every row: y - p and p(1 - p), in whole units."""
    probabilities = [1 / (1 + math.exp(-x)) for x in log_odds]
    return [
        (round((y - p) * UNIT), round(p * (1 - p) * UNIT))
        for y, p in zip(is_positive, probabilities, strict=True)
    ]


def judge(derivatives, options):
    """Gain 2Gw - (H + l2)w² and weight w, which is G/(H + l2) but at most `max_weight` either way.

    The gain is multiplied out as the kernel does it: gains that differ in the last digit only are then
    in the same order.
    """
    derivatives = list(derivatives)
    slope = sum(g for g, _ in derivatives) / UNIT
    bend = sum(h for _, h in derivatives) / UNIT + options.l2
    weight = max(-options.max_weight, min(options.max_weight, slope / bend))
    return weight * (2 * slope - bend * weight), weight


def judge_together(derivatives, options):
    """The gains of several labels added up, and their weights.

    A row has the gradients of all labels and then their curvatures; `l2` has one number per label.
    """
    sums = [sum(column) for column in zip(*derivatives, strict=True)]
    n_labels = len(options.l2)
    if not sums:
        return 0.0, [0.0] * n_labels
    pairs = [(sums[j], sums[n_labels + j]) for j in range(n_labels)]
    of_labels = [
        judge([pair], options._replace(l2=l2)) for pair, l2 in zip(pairs, options.l2, strict=True)
    ]
    return sum(gain for gain, _ in of_labels), [weight for _, weight in of_labels]


def grow_together(table, rows, draw_order, options):
    """The body with the largest gain of all labels, and this gain; None and 0 without one."""
    random = SplitMix64(options.seed)
    window = [f for f, attribute in enumerate(table) if n_codes(attribute) > 1]
    tries = [
        grow(table, rows, draw_order, window, random, options, judge_together)
        for _ in range(options.n_tries)
    ]
    body, gain, _ = find_best(filter(None, tries), table, rows, options, judge_together)
    return body and put_together(body), gain


def covers(body, table, row):
    return all(low <= table[feature][0][row] < high for feature, low, high in body)


def find_best(bodies, table, rows, options, judge=judge):
    """(body, gain, weight) of the rule that gains most on all rows, the first of equals."""
    best = None, 0.0, 0.0
    for body in bodies:
        covered = (rows[row] for row in range(len(rows)) if covers(body, table, row))
        gain, weight = judge(covered, options)
        if gain > best[1]:
            best = body, gain, weight
    return best


def grow(table, rows, draw_order, window, random, options, judge=judge):
    """One rule: condition by condition, as long as the gain on its bag rises."""
    bag = [draw_order[random.below(len(rows))] for _ in range(options.bag_size)]
    body, gain = [], 0.0
    while len(body) < options.most_conditions:
        best = None
        for d in range(min(options.n_drawn, len(window))):
            other = d + random.below(len(window) - d)
            window[d], window[other] = window[other], window[d]
            for low, high in list_ranges(table[window[d]], rows, bag):
                condition = window[d], low, high
                inside = (rows[row] for row in bag if covers([condition], table, row))
                new_gain, _ = judge(inside, options)
                if new_gain > gain:
                    best, gain = condition, new_gain
        if best is None:
            break
        body.append(best)
        bag = [row for row in bag if covers([best], table, row)]
    return body


def list_ranges(attribute, rows, bag):
    """The conditions that are tried on an attribute, as ranges of codes, lowest first.

    Equal to a code of the bag or, for numbers, on either side of the boundary above it. Codes whose
    rows have nothing to add to a sum are passed over.
    """
    codes, values = attribute
    sums = {}
    for row in bag:
        known = sums.get(codes[row], (0,) * len(rows[row]))
        sums[codes[row]] = tuple(a + b for a, b in zip(known, rows[row], strict=True))
    counting = sorted(code for code, total in sums.items() if code >= 0 and any(total))
    if values is None:
        return [(code, code + 1) for code in counting]
    last = len(values) - 1
    below = [(0, code + 1) for code in counting if code < last]
    return [r for low, high in below for r in ((low, high), (high, last + 1))]


def put_together(body):
    """The conditions on the same feature as one, where the first of them was."""
    return [
        (
            feature,
            max(low for f, low, _ in body if f == feature),
            min(high for f, _, high in body if f == feature),
        )
        for feature in dict.fromkeys(feature for feature, _, _ in body)
    ]


def count_ends(body, table):
    """How many conditions people count: an interval with two ends is two."""
    n_ends = 0
    for feature, low, high in put_together(body):
        is_nominal = table[feature][1] is None
        n_ends += 1 if is_nominal else (low > 0) + (high < n_codes(table[feature]))
    return n_ends
