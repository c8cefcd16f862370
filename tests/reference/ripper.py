"""Oracle: Ripper for one target class, on lists of rows, with nothing remembered between steps.

Rows are lists of values, conditions ``(feature index, operator, value)`` as in `reference.rules`.
An example is the index of a row. The only random step, which examples are for growing and which for
pruning, is a function that the caller passes in.
"""

import math
from dataclasses import dataclass

from reference.rules import covers, is_missing, satisfies

SURPLUS_BITS = 64
TOLERANCE = 1e-6


@dataclass
class Problem:
    """What is to be learned and how; `split(examples)` → (for growing, for pruning)."""

    rows: list
    is_positive: list
    is_nominal: list
    n_possible: int
    split: object
    prune: bool = True
    optimizations: int = 2
    min_weight: float = 2
    check_error: bool = True

    def count(self, examples):
        """(positives, negatives)."""
        p = sum(bool(self.is_positive[i]) for i in examples)
        return p, len(examples) - p

    def covered(self, body, examples):
        return [i for i in examples if covers(body, self.rows[i])]

    def uncovered(self, bodies, examples):
        return [i for i in examples if not any(covers(body, self.rows[i]) for body in bodies)]


# -- growing ---------------------------------------------------------------------------------------


def foil_gain(p, t, n_positives, n_examples):
    """p · (log₂((p + 1)/(t + 1)) - log₂((P + 1)/(T + 1)))."""
    base = math.log2(n_positives + 1) - math.log2(n_examples + 1)
    return p * (math.log2(p + 1) - math.log2(t + 1) - base)


def possible_conditions(problem, examples, used):
    """All conditions at values of the examples: attributes in order, values ascending, ≥ before ≤."""
    for f, is_nominal in enumerate(problem.is_nominal):
        if f in used:
            continue
        values = {problem.rows[i][f] for i in examples if not is_missing(problem.rows[i][f])}
        for value in sorted(values):
            if is_nominal:
                yield f, "=", value
            else:
                yield f, ">=", value
                yield f, "<=", value


def best_condition(problem, examples, used=()):
    """``(gain, condition, positives)`` of the first condition with the largest gain above 0."""
    P, N = problem.count(examples)
    best = (0.0, None, 0)
    for condition in possible_conditions(problem, examples, used):
        p, n = problem.count([i for i in examples if satisfies(condition, problem.rows[i])])
        gain = foil_gain(p, p + n, P, P + N)
        if gain > best[0]:
            best = (gain, condition, p)
    return best


def grow(problem, examples, body=()):
    """Add the best condition until there is no negative, no gain, or too few positives."""
    body = list(body)
    while problem.count(examples)[1] > 0:
        used = {f for f, operator, _ in body if operator == "="}
        _, condition, p = best_condition(problem, examples, used)
        if condition is None or p < problem.min_weight:
            break
        body.append(condition)
        examples = [i for i in examples if satisfies(condition, problem.rows[i])]
    return body


# -- pruning ---------------------------------------------------------------------------------------


def worth(problem, body, examples):
    """(p + 1)/(p + n + 2) of the covered examples."""
    p, n = problem.count(problem.covered(body, examples))
    return (p + 1) / (p + n + 2)


def accuracy(problem, body, examples):
    """Share of the examples that are positive where covered and negative elsewhere."""
    right = [covers(body, problem.rows[i]) == bool(problem.is_positive[i]) for i in examples]
    return sum(right) / len(right)


def prune(problem, body, examples, measure=worth):
    """The shortest of the best beginnings of a body; the empty one is judged by `worth`."""
    if not examples:
        return body
    values = [worth(problem, [], examples)]
    values += [measure(problem, body[:k], examples) for k in range(1, len(body) + 1)]
    return body[: values.index(max(values))]


# -- description length ----------------------------------------------------------------------------


def subset_bits(n, k, p):
    """-k·log₂(p) - (n - k)·log₂(1 - p), with 0·log₂(0) = 0."""
    p = min(p, 1)
    chosen = k * math.log2(p) if k > 0 and p > 0 else 0
    others = (n - k) * math.log2(1 - p) if n > k and p < 1 else 0
    return -chosen - others


def rule_bits(k, n_possible):
    """½ · (log₂*(k) + S(n, k, k/n))."""
    if k == 0:
        return 0.0
    universal = math.log2(k) + (2 * math.log2(math.log2(k)) if k > 1 else 0)
    return 0.5 * (universal + subset_bits(n_possible, k, k / n_possible))


def exception_bits(fp_share, n_covered, n_uncovered, fp, fn):
    """Bits to name the false positives among the covered and the false negatives elsewhere."""
    if n_covered > n_uncovered:
        expected_fp, expected_fn = fp_share * (fp + fn), fn
    else:
        expected_fp, expected_fn = fp, (1 - fp_share) * (fp + fn)
    bits = math.log2(n_covered + n_uncovered + 1)
    if n_covered:
        bits += subset_bits(n_covered, fp, expected_fp / n_covered)
    if n_uncovered:
        bits += subset_bits(n_uncovered, fn, expected_fn / n_uncovered)
    return bits


def delete_costly(counts, lengths, order, totals, fp_share, n_possible, check_error):
    """``(kept rule indices, bits of the exceptions less the savings)``; see `Problem` for the rest.

    `counts` has (tp, fp) of each rule on what earlier ones leave. A deleted rule's examples count as
    uncovered from then on.
    """
    kept = list(range(len(counts)))

    def bits_of(rules):
        tp, fp = (sum(counts[r][side] for r in rules) for side in (0, 1))
        n_uncovered = sum(totals) - tp - fp
        return exception_bits(fp_share, tp + fp, n_uncovered, fp, totals[0] - tp)

    saved = 0.0
    for r in order:
        tp, fp = counts[r]
        without = [other for other in kept if other != r]
        saving = bits_of(kept) + rule_bits(lengths[r], n_possible) - bits_of(without)
        if saving >= -TOLERANCE or (check_error and tp + fp > 0 and fp >= tp):
            kept = without
            saved += saving
    return kept, bits_of(kept) - saved


# -- the whole algorithm ---------------------------------------------------------------------------


def count_in_turn(problem, bodies, examples):
    """(tp, fp) of each rule on the examples that earlier ones leave."""
    counts = []
    for r, body in enumerate(bodies):
        rest = problem.uncovered(bodies[:r], examples)
        counts.append(problem.count(problem.covered(body, rest)))
    return counts


def add_rules(problem, bodies, examples):
    """Rules for the positives that are left, until a stopping criterion holds."""
    bodies = list(bodies)
    P, N = problem.count(examples)
    fp_share = P / (P + N)

    def exceptions(rules):
        rest = problem.uncovered(rules, examples)
        fn, tn = problem.count(rest)
        return exception_bits(fp_share, P + N - len(rest), len(rest), N - tn, fn)

    bits = least = exceptions([])
    while problem.count(problem.uncovered(bodies, examples))[0] > 0:
        rest = problem.uncovered(bodies, examples)
        if problem.prune:
            growing, pruning = problem.split(rest)
            body = prune(problem, grow(problem, growing), pruning)
        else:
            body = grow(problem, rest)
        bits += exceptions([*bodies, body]) - exceptions(bodies)
        bits += rule_bits(len(body), problem.n_possible)
        least = min(least, bits)
        tp, fp = problem.count(problem.covered(body, rest))
        if bits > least + SURPLUS_BITS or tp == 0 or (problem.check_error and fp >= tp):
            break
        bodies.append(body)
    return bodies


def optimise(problem, bodies, examples):
    """Each rule against a replacement and a revision, in turn."""
    bodies = list(bodies)
    totals = problem.count(examples)

    def bits_with(body, position):
        rules = [*bodies[:position], body, *bodies[position + 1 :]]
        _, bits = delete_costly(
            count_in_turn(problem, rules, examples),
            [len(rule) for rule in rules],
            range(position + 1, len(rules)),
            totals,
            totals[0] / sum(totals),
            problem.n_possible,
            problem.check_error,
        )
        return bits + rule_bits(len(body), problem.n_possible)

    for position, old in enumerate(bodies):
        rest = problem.uncovered(bodies[:position], examples)
        if problem.count(rest)[0] == 0:
            return bodies[:position]
        if not problem.covered(old, rest):
            continue
        growing, pruning = problem.split(rest)
        pruning = problem.uncovered(bodies[position + 1 :], pruning)
        revision = grow(problem, problem.covered(old, growing), old)
        replacement = grow(problem, growing)
        variants = [old] + [
            prune(problem, body, pruning, accuracy) for body in (revision, replacement)
        ]
        bodies[position] = min(variants, key=lambda body: bits_with(body, position))
    return bodies


def learn(problem):
    """The rules of the target class, in order."""
    examples = list(range(len(problem.rows)))
    totals = problem.count(examples)
    bodies = add_rules(problem, [], examples)
    for _ in range(problem.optimizations if problem.prune else 0):
        bodies = add_rules(problem, optimise(problem, bodies, examples), examples)
        kept, _ = delete_costly(
            count_in_turn(problem, bodies, examples),
            [len(body) for body in bodies],
            range(len(bodies) - 1, -1, -1),
            totals,
            totals[0] / sum(totals),
            problem.n_possible,
            problem.check_error,
        )
        bodies = [bodies[r] for r in kept]
    return bodies
