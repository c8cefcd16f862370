"""Targets of all kinds from one planted data set, for tests of estimators that take each of them."""

import numpy as np

from steelyard import make_planted_rules


def binary_target(Y):
    return np.where(Y.iloc[:, 0] == 1, "yes", "no")


def multiclass_target(Y):
    return np.array(["neither", "first", "second", "both"])[Y.iloc[:, 0] + 2 * Y.iloc[:, 2]]


TARGETS = {"multilabel": lambda Y: Y, "binary": binary_target, "multiclass": multiclass_target}


def make_three_labels(missing):
    """Three labels of which the second is present in most examples."""
    data = make_planted_rules(120, n_labels=3, noise=0.1, missing=missing, random_state=1)
    Y = data.Y.copy()
    Y.iloc[:, 1] = 1 - Y.iloc[:, 1]
    return data.X, Y
