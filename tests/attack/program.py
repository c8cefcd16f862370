"""The program `steelyard` without figures, which take most of the time of a small study."""

from steelyard.cli import main
from steelyard.report import figures

if __name__ == "__main__":
    figures.list_figures = lambda *_: {}
    main()
