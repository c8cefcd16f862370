"""Oracle: what boosting sees in each round, summed row by row, given what it chose before.

Sums of rounded numbers depend on their order, so exact ties of gains are not for an oracle to break.
It therefore follows the choices of the one under test and says what each round could have chosen.
"""

import math

from reference.growing import SplitMix64

RESOLUTION = 2**20
MAX_WEIGHT = 4.0


def judge(covered, is_positive, log_odds, looked_at, l2):
    """Gain 2Gw - (H + l2)w² and weight w of one rule on the rows that are looked at.

    w is G/(H + l2), at most `MAX_WEIGHT` to either side; unbounded, the gain is G²/(H + l2).
    """
    gradient = curvature = 0.0
    for row in looked_at:
        if covered[row]:
            p = 1 / (1 + math.exp(-log_odds[row]))
            gradient += is_positive[row] - p
            curvature += p * (1 - p)
    weight = gradient / (curvature + l2)
    if abs(weight) <= MAX_WEIGHT:
        return gradient**2 / (curvature + l2), weight
    weight = math.copysign(MAX_WEIGHT, weight)
    return 2 * gradient * weight - (curvature + l2) * weight**2, weight


def replay(coverages, is_positive, l2, choices, points_per_log_odd, sampling=None):
    """What each round sees, and the one after the last: ``{rule: (gain, weight)}``.

    Parameters
    ----------
    coverages : list of list of bool
        ``coverages[rule][row]``, candidates of one label.
    is_positive : list of bool
    l2 : float
        What is added to the curvatures of every rule.
    choices : list of (rule, points)
        What the rounds chose.
    sampling : (n_greedy, n_drawn, row_share, seed), optional
        Rounds that look at everything; how many rules the later ones draw, and the share of the rows.
        None looks at everything throughout.
    """
    n_rows, n_positives = len(is_positive), sum(is_positive)
    log_odds = [math.log(n_positives / (n_rows - n_positives))] * n_rows
    n_greedy, n_drawn, row_share, seed = sampling or (len(choices) + 1, 0, 0, 0)
    random = SplitMix64(seed)
    limit = int(row_share * RESOLUTION)
    for t, choice in enumerate([*choices, None]):
        looked_at, drawn = range(n_rows), range(len(coverages))
        if t >= n_greedy:
            looked_at = [row for row in range(n_rows) if random.below(RESOLUTION) < limit]
        if t >= n_greedy and n_drawn < len(coverages):
            drawn = [random.below(len(coverages)) for _ in range(n_drawn)]
        yield {r: judge(coverages[r], is_positive, log_odds, looked_at, l2) for r in drawn}
        if choice is not None:
            rule, points = choice
            for row in range(n_rows):
                log_odds[row] += points / points_per_log_odd * coverages[rule][row]
