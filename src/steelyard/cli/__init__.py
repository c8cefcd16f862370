"""The command line: commands, no logic. Heavy imports happen inside the commands that need them."""

from .main import main

__all__ = ["main"]
