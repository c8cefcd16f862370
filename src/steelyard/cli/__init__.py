"""The command line: one file per command. Heavy imports happen inside the commands that need them."""

from steelyard._extras import from_extra

with from_extra("cli", "rich", "typer"):
    from .main import main

__all__ = ["main"]
