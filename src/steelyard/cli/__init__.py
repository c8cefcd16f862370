"""The command line: one file per command. Heavy imports happen inside the commands that need them."""

from steelyard._extras import needed_here

with needed_here("typer"):
    from .main import main

__all__ = ["main"]
