"""Synthetic data of any size, with rules to find: numbers, texts, and a nominal attribute."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse


def make_numbers(n_rows: int, n_features: int, n_labels: int, seed: int = 0):
    """Numbers; a label is present if one of three conjunctions holds; 3 % of labels are wrong.

    The conjunctions do not depend on the number of rows: more rows are more examples of the same labels.
    """
    rng = np.random.default_rng(seed)
    rule_rng = np.random.default_rng([seed, 1])
    X = rng.normal(size=(n_rows, n_features))
    Y = np.zeros((n_rows, n_labels), dtype=bool)
    for j in range(n_labels):
        for _ in range(3):
            features = rule_rng.integers(n_features, size=3)
            Y[:, j] |= (X[:, features] > 0.5 * rule_rng.normal(size=3)).all(axis=1)
    return X, (Y ^ (rng.random(Y.shape) < 0.03)).astype(np.int8)


def make_noise(n_rows: int, n_features: int, n_labels: int, seed: int = 0):
    """Numbers that say nothing about the labels: the most rules that a table of this size can have."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < 0.3).astype(np.int8)
    return rng.normal(size=(n_rows, n_features)), Y


def make_texts(n_rows: int, n_words: int, n_labels: int, seed: int = 0, words_per_text: int = 30):
    """Texts as 0/1 for each word; frequencies of words fall as 1/rank, and labels follow from words.

    A label is present where one of its two pairs of words is, and in one of 500 other texts.
    """
    rng = np.random.default_rng(seed)
    share = 1 / (10 + np.arange(n_words))
    words = rng.choice(n_words, size=(n_rows, words_per_text), p=share / share.sum())
    rows = np.repeat(np.arange(n_rows), words_per_text)
    X = sparse.csc_matrix((np.ones(words.size), (rows, words.ravel())), (n_rows, n_words))
    X.data[:] = 1
    frequent = max(2, min(n_words, 100))
    Y = rng.random((n_rows, n_labels)) < 0.002
    for j in range(n_labels):
        for _ in range(2):
            first, second = rng.integers(frequent, size=2)
            Y[:, j] |= (X[:, [first]].multiply(X[:, [second]])).toarray()[:, 0] > 0
    return X, Y.astype(np.int8)


def make_categories(n_rows: int, n_categories: int, seed: int = 0):
    """A nominal attribute with very many categories beside two numbers, one label."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["x", "y"])
    names = np.array([f"c{i}" for i in range(n_categories)])
    X["place"] = pd.Categorical(names[rng.integers(n_categories, size=n_rows)])
    return X, pd.DataFrame({"label": ((X["x"] > 0.5) & (X["y"] > 0)).astype(int)})
