"""Learners: tables and targets → rules → theories and paths. Knows no estimator and no data files."""
