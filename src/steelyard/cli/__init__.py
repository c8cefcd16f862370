"""The command line: one file per command. Heavy imports happen inside the commands that need them."""

from .main import main

__all__ = ["main"]
