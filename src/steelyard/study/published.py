"""The published numbers, to stand beside ours.

Source: M. Rapp, E. Loza Mencía, J. Fürnkranz, *On the Trade-off Between Consistency and Coverage in
Multi-label Rule Learning Heuristics*, Discovery Science 2019, table 1: percent, mean of ten folds.
"""

from __future__ import annotations

PUBLISHED_METHODS: tuple[str, ...] = ("R1", "R2", "R3", "M")

# Measure → data set → values in the order of PUBLISHED_METHODS; M is tuned for the measure.
PUBLISHED: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "f1_micro": {
        "birds": (43.65, 41.12, 46.01, 45.33),
        "cal500": (33.63, 33.18, 33.76, 40.10),
        "emotions": (56.96, 58.68, 60.97, 65.20),
        "enron": (50.57, 53.05, 55.33, 51.07),
        "flags": (71.81, 72.96, 74.85, 72.83),
        "genbase": (98.83, 98.68, 98.68, 99.14),
        "medical": (81.40, 83.67, 84.81, 81.67),
        "scene": (63.97, 63.25, 64.55, 67.44),
        "yeast": (58.65, 60.41, 61.19, 64.25),
    },
    "hamming": {
        "birds": (94.39, 94.48, 95.17, 95.10),
        "cal500": (82.14, 83.66, 85.39, 86.02),
        "emotions": (75.12, 75.38, 77.21, 77.65),
        "enron": (94.35, 94.70, 94.93, 94.54),
        "flags": (73.02, 74.08, 75.20, 73.39),
        "genbase": (99.89, 99.88, 99.88, 99.92),
        "medical": (99.01, 99.10, 99.15, 98.98),
        "scene": (87.87, 87.25, 88.03, 88.93),
        "yeast": (78.50, 78.29, 78.77, 79.24),
    },
    "subset": {
        "birds": (44.20, 45.57, 51.48, 48.85),
        "cal500": (0.00, 0.00, 0.00, 0.00),
        "emotions": (18.04, 20.40, 23.60, 22.42),
        "enron": (6.17, 7.99, 9.16, 7.81),
        "flags": (15.47, 17.05, 21.00, 9.82),
        "genbase": (97.28, 96.83, 96.83, 97.89),
        "medical": (66.74, 69.91, 72.16, 66.43),
        "scene": (46.61, 44.54, 46.24, 49.73),
        "yeast": (8.73, 7.86, 9.18, 11.75),
    },
}

# The average ranks as printed there, to check our ranks against.
PUBLISHED_AVERAGE_RANKS: dict[str, tuple[float, float, float, float]] = {
    "f1_micro": (3.44, 3.00, 1.67, 1.78),
    "hamming": (3.44, 2.89, 1.67, 1.89),
    "subset": (2.89, 2.67, 1.56, 2.11),
}
