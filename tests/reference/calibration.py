"""Oracle: the penalised sigmoid of one label by a general minimiser, loss and nothing else."""

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
