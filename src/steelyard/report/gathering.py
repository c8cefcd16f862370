r"""report.tex and report.md: all tables and figures of a study in one document. Knows their files.

report.tex compiles as it is: ``pdflatex report.tex`` in the results folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .figures import StudyFigure
from .latex_table import PACKAGES
from .latex_text import escape_paragraph
from .styles import Style
from .text_table import TextTable, escape_markdown, name_tables, slug

Tables = Mapping[str, Sequence[TextTable]]
Figures = Mapping[str, StudyFigure]

_TITLE = "Report of a study"
# LaTeX holds a limited number of floats, and more than these fill some pages anyway.
_FLOATS_TOGETHER = 6
_ABOUT_WIDTH = (
    "% Figures have their final size: include them without a width, in text of {width:g} cm."
)


def write_markdown(title: str, tables: Tables, figures: Figures) -> str:
    """All tables and figures as Markdown, with captions."""
    lines = [f"# {_TITLE}: {escape_markdown(title)}", "", "## Tables"]
    for parts in tables.values():
        for table in parts:
            lines += ["", table.to_markdown()]
    lines += ["", "## Figures"]
    for name, figure in figures.items():
        caption = escape_markdown(figure.caption)
        lines += ["", f"![{escape_markdown(figure.title)}](figures/{name}.png)", "", caption]
    return "\n".join(lines) + "\n"


def gather_latex(title: str, tables: Tables, figures: Figures, style: Style) -> str:
    """All tables and figures as a document of LaTeX, with captions and labels."""
    lines = [
        f"% {_TITLE}, in the style {style.name}. Compile: pdflatex report.tex",
        PACKAGES.replace("Needs", "The tables need"),
        _ABOUT_WIDTH.format(width=style.width),
        *_list_preamble(style),
        rf"\title{{{_TITLE}: {escape_paragraph(title)}}}",
        r"\date{}",
        r"\begin{document}",
    ]
    content = (
        _list_frames(tables, figures, style) if style.is_slide else _list_floats(tables, figures)
    )
    return "\n".join([*lines, *content, r"\end{document}"]) + "\n"


def _list_preamble(style: Style) -> list[str]:
    packages = r"\usepackage{array,booktabs,graphicx}"
    if style.is_slide:
        return [
            r"\documentclass[aspectratio=169]{beamer}",
            packages,
            r"\setbeamersize{text margin left=1cm,text margin right=1cm}",
            r"\setbeamertemplate{navigation symbols}{}",
            r"\setbeamerfont{caption}{size=\tiny}",
        ]
    has_columns = style.page_width > style.width
    gap = style.page_width - 2 * style.width
    page = f"textwidth={style.page_width:g}cm,textheight={style.text_height:g}cm"
    return [
        rf"\documentclass[{'twocolumn,' if has_columns else ''}10pt]{{article}}",
        rf"\usepackage[a4paper,{page}{f',columnsep={gap:.2f}cm' if has_columns else ''}]{{geometry}}",
        packages,
        r"\renewcommand{\floatpagefraction}{0.8}",
        r"\renewcommand{\topfraction}{0.95}",
        r"\renewcommand{\textfraction}{0.05}",
    ]


def _list_floats(tables: Tables, figures: Figures) -> Iterator[str]:
    """Tables and figures that LaTeX places."""
    yield r"\maketitle"
    yield r"\section{Tables}"
    n_floats = 0
    for name, parts in tables.items():
        yield rf"\input{{tables/{name}}}"
        n_floats += len(parts)
        if n_floats >= _FLOATS_TOGETHER:
            yield r"\clearpage"
            n_floats = 0
    yield r"\clearpage"
    yield r"\section{Figures}"
    for i, (name, figure) in enumerate(figures.items()):
        if i and i % _FLOATS_TOGETHER == 0:
            yield r"\clearpage"
        yield r"\begin{figure}[htbp]"
        yield r"\centering"
        yield _include(name)
        yield rf"\caption{{{escape_paragraph(figure.caption)}}}"
        yield rf"\label{{fig:{slug(name)}}}"
        yield r"\end{figure}"
    yield r"\clearpage"


def _list_frames(tables: Tables, figures: Figures, style: Style) -> Iterator[str]:
    """One slide per table, or per part of a long one, and per figure; titles replace captions."""
    for name, parts in tables.items():
        for table, label in zip(parts, name_tables(name, parts), strict=True):
            for part in table.to_latex(label, style).split("\n\n"):
                kept = [line for line in part.split("\n") if not line.startswith(r"\caption")]
                yield from _write_frame(table.title, kept)
    for name, figure in figures.items():
        yield from _write_frame(figure.title, [r"\centering", _include(name)])


def _write_frame(title: str, content: Sequence[str]) -> Iterator[str]:
    yield r"\begin{frame}"
    yield rf"\frametitle{{\small {escape_paragraph(title)}}}"
    yield from content
    yield r"\end{frame}"


def _include(name: str) -> str:
    # Names of files hold letters, digits and some signs; all of them are plain text here.
    return rf"\includegraphics{{\detokenize{{figures/{name}.pdf}}}}"
