"""The oracle of `measures.scores`: nested loops over examples, labels and pairs."""

import math


def positions(scores):
    """The positions, from 1, that a label may have if ties are broken in any order: first and last."""
    return [(1 + sum(t > s for t in scores), sum(t >= s for t in scores)) for s in scores]


def ranking_loss(Y, S):
    losses = []
    for truth, scores in zip(Y, S, strict=True):
        pairs = [
            p <= n
            for p, is_p in zip(scores, truth, strict=True)
            for n, is_n in zip(scores, truth, strict=True)
            if is_p and not is_n
        ]
        losses.append(sum(pairs) / len(pairs) if pairs else 0.0)
    return sum(losses) / len(losses)


def coverage_error(Y, S):
    depths = []
    for truth, scores in zip(Y, S, strict=True):
        last = [end for (_, end), t in zip(positions(scores), truth, strict=True) if t]
        depths.append(max(last, default=0))
    return sum(depths) / len(depths)


def lrap(Y, S):
    means = []
    for truth, scores in zip(Y, S, strict=True):
        own = [s for s, t in zip(scores, truth, strict=True) if t]
        if len(own) in (0, len(scores)):
            means.append(1.0)
            continue
        shares = [sum(t >= s for t in own) / sum(t >= s for t in scores) for s in own]
        means.append(sum(shares) / len(shares))
    return sum(means) / len(means)


def gain(truth, scores, k=5):
    total = 0.0
    for (first, last), t in zip(positions(scores), truth, strict=True):
        if t:
            places = range(first, last + 1)
            total += sum(1 / math.log2(1 + r) for r in places if r <= k) / len(places)
    return total


def dcg(Y, S):
    gains = [gain(t, s) for t, s in zip(Y, S, strict=True) if any(t)]
    return sum(gains) / len(gains) if gains else 0.0


def ndcg(Y, S):
    shares = [gain(t, s) / gain(t, t) for t, s in zip(Y, S, strict=True) if any(t)]
    return sum(shares) / len(shares) if shares else 0.0


def area(truth, scores):
    own = [s for s, t in zip(scores, truth, strict=True) if t]
    others = [s for s, t in zip(scores, truth, strict=True) if not t]
    if not own or not others:
        return None
    wins = sum((p > n) + (p == n) / 2 for p in own for n in others)
    return wins / (len(own) * len(others))


def auc_macro(Y, S):
    areas = [area(t, s) for t, s in zip(zip(*Y, strict=True), zip(*S, strict=True), strict=True)]
    known = [a for a in areas if a is not None]
    return sum(known) / len(known) if known else 0.5


def auc_micro(Y, S):
    found = area([t for row in Y for t in row], [s for row in S for s in row])
    return 0.5 if found is None else found


def brier(Y, P):
    cells = [(p - t) ** 2 for ts, ps in zip(Y, P, strict=True) for t, p in zip(ts, ps, strict=True)]
    return sum(cells) / len(cells)


def ece(Y, P):
    cells = [(p, t) for ts, ps in zip(Y, P, strict=True) for t, p in zip(ts, ps, strict=True)]
    total = 0.0
    for b in range(10):
        inside = [(p, t) for p, t in cells if b <= p * 10 < b + 1 or (b == 9 and p == 1)]
        if inside:
            mean_p = sum(p for p, _ in inside) / len(inside)
            mean_t = sum(t for _, t in inside) / len(inside)
            total += len(inside) / len(cells) * abs(mean_p - mean_t)
    return total
