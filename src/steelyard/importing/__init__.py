"""Theories of other learners: one reader per learner, and one entry that finds the right one."""

from .entry import FORMATS, import_theory

__all__ = ["FORMATS", "import_theory"]
