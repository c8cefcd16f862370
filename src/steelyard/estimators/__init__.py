"""Scikit-learn estimators: they validate, learn a path and keep one theory. Knows no data files."""
