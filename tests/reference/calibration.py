"""Oracles of calibration: losses by their definition, minimised without derivatives."""

import numpy as np
from scipy.optimize import minimize


def fit_sigmoid(log_odds, is_present, slope, shift, slope_strength, shift_strength, least_slope):
    """The slope and the shift with the smallest loss, drawn towards a given slope and shift."""
    signs = np.where(is_present, 1.0, -1.0)

    def loss(pair):
        a, b = pair
        fit = np.logaddexp(0, -signs * (a * log_odds + b)).sum()
        return fit + slope_strength * (a - slope) ** 2 / 2 + shift_strength * (b - shift) ** 2 / 2

    bounds = [(least_slope, None), (None, None)]
    return minimize(loss, (slope, shift), bounds=bounds, tol=1e-14, method="L-BFGS-B").x


def measure_share_loss(log_odds, is_present, known, frequency_weight):
    """The negative log-likelihood of labels, given their shares of the votes; row by row."""
    lifts, unseen = known.log_lift, known.log_unseen
    loss = 0.0
    for scores, truth in zip(log_odds, is_present, strict=True):
        new = tuple(np.flatnonzero(scores > 0).tolist())
        sets = list(zip(known.sets, frequency_weight * lifts, strict=True))
        if unseen is not None:
            sets.append((new, frequency_weight * unseen))
        votes = [np.exp(sum(scores[j] for j in labels) + extra) for labels, extra in sets]
        for j, is_there in enumerate(truth):
            share = sum(v for v, (labels, _) in zip(votes, sets, strict=True) if j in labels)
            share = np.clip(share / sum(votes), 1e-6, 1 - 1e-6)
            loss -= np.log(share if is_there else 1 - share)
    return loss


def differentiate(function, x, step=1e-5):
    """Central differences of a function of an array."""
    x = np.asarray(x, dtype=float)
    found = np.empty(x.size)
    for i in range(x.size):
        moved = np.zeros(x.size)
        moved[i] = step
        moved = moved.reshape(x.shape)
        found[i] = (function(x + moved) - function(x - moved)) / (2 * step)
    return found.reshape(x.shape)
