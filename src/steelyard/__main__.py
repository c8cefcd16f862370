"""``python -m steelyard`` is the command ``steelyard``."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, or say in one sentence how to install it."""
    try:
        from steelyard.cli import main as run
    except ImportError as error:
        sys.exit(f"error: {error}")
    run()


if __name__ == "__main__":
    main()
