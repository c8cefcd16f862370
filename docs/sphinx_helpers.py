"""What the documentation adds to Sphinx: quiet backticks, figures of examples, a list of links.

Loaded by conf.py and, in the processes that run the examples of the gallery, by sphinx-gallery.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

#: The chapter of the user guide for the objects of a module; the first prefix that fits counts.
CHAPTERS = {
    "steelyard.estimators.boosted": "/guide/boosted",
    "steelyard.estimators.constraint_cost": "/constraints",
    "steelyard.estimators.ripper": "/ripper",
    "steelyard.estimators.stability": "/curating",
    "steelyard.estimators": "/guide/method",
    "steelyard.heuristics": "/guide/heuristics",
    "steelyard.measures": "/guide/measures",
    "steelyard.learning.constraints": "/constraints",
    "steelyard.model.decoder": "/guide/label_sets",
    "steelyard.model.label_decoders": "/guide/label_sets",
    "steelyard.model.label_set": "/guide/label_sets",
    "steelyard.model.combiner": "/guide/probabilities",
    "steelyard.model.deciding": "/guide/probabilities",
    "steelyard.model.voting": "/guide/boosted",
    "steelyard.model.features": "/guide/missing",
    "steelyard.model.conditions": "/guide/missing",
    "steelyard.model.path": "/guide/method",
    "steelyard.model": "/curating",
    "steelyard.importing": "/curating",
    "steelyard.explain": "/getting_started",
    "steelyard.export": "/guide/exporting",
    "steelyard.data": "/data",
    "steelyard.splitting": "/study",
    "steelyard.study": "/study",
    "steelyard.report": "/study",
}
#: The page of the built documentation that lists every address outside of it.
EXTERNAL = "external-links.txt"


def setup(app: Any) -> dict[str, bool]:
    """Connect the functions below to Sphinx."""
    app.add_html_math_renderer("mathml", (write_inline_math, None), (write_block_math, None))
    app.connect("autodoc-process-docstring", link_chapter, priority=900)  # after numpydoc
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("source-read", keep_links_inside)
    app.connect("missing-reference", show_as_code)
    app.connect("env-updated", list_external_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def show_as_code(app: Any, env: Any, node: Any, contnode: Any) -> Any:  # noqa: ARG001
    """Show a word in single backticks as code if it is the name of nothing.

    Only the default role is quiet. A role that is written out, such as :class:, must lead somewhere.
    """
    if node.get("refdomain") == "py" and node.get("reftype") == "obj":
        return contnode
    return None


def write_inline_math(translator: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers show without a script from elsewhere."""
    translator.body.append(_to_mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def write_block_math(translator: Any, node: Any) -> None:
    """Write a formula that stands by itself."""
    translator.body.append(f'<div class="math">{_to_mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def _to_mathml(formula: str, *, as_block: bool) -> str:
    formula = formula.replace(r"[\![", "[").replace(
        r"]\!]", "]"
    )  # brackets that the converter lacks
    return tex2mathml(" ".join(formula.split()), as_block=as_block)


def link_chapter(
    app: Any,  # noqa: ARG001
    what: str,
    name: str,  # noqa: ARG001
    obj: Any,
    options: Any,  # noqa: ARG001
    lines: list[str],
) -> None:
    """Lead from every class and function of the API to its chapter of the user guide."""
    module = getattr(obj, "__module__", "") or ""
    chapter = next((CHAPTERS[prefix] for prefix in CHAPTERS if module.startswith(prefix)), None)
    if what in ("class", "exception", "function") and chapter:
        lines += ["", f"*In the user guide:* :doc:`{chapter}`", ""]


def keep_links_inside(app: Any, docname: str, source: list[str]) -> None:  # noqa: ARG001
    """Lead links to files of the main folder to the pages that include these files."""
    for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"):
        source[0] = source[0].replace(f"](../{name}.md)", f"](/{name.lower()}.md)")


def skip_foreign(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:  # noqa: ARG001
    """Leave out what estimators inherit from scikit-learn: its own pages document it."""
    is_foreign = (getattr(obj, "__module__", "") or "").startswith("sklearn")
    return True if is_foreign or name in ("index", "count") else None


def list_external_links(app: Any, env: Any) -> None:
    """Write every address outside of the documentation to a file, with the pages that have it."""
    pages_of: dict[str, set[str]] = {}
    for page in env.found_docs:
        for node in env.get_doctree(page).findall(nodes.reference):
            uri = node.get("refuri", "")
            if uri.startswith(("http://", "https://")):
                pages_of.setdefault(uri, set()).add(page)
    lines = [f"{uri}\t{', '.join(sorted(pages))}\n" for uri, pages in sorted(pages_of.items())]
    Path(app.outdir).mkdir(parents=True, exist_ok=True)
    (Path(app.outdir) / EXTERNAL).write_text("".join(lines), encoding="utf-8")


def scrape_figures(block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:  # noqa: ARG001
    """Save the figures that a block of an example drew, also those that pyplot does not know.

    ``theory.plot()`` makes a figure without pyplot, so that it draws itself in a notebook only.
    """
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import figure_rst

    from steelyard.export.figure import NotebookFigure

    figures = [plt.figure(number) for number in plt.get_fignums()]
    for value in block_vars["example_globals"].values():
        if isinstance(value, NotebookFigure) and not hasattr(value, "is_in_gallery"):
            value.is_in_gallery = True  # type: ignore[attr-defined]
            figures.append(value)
    paths = []
    for figure, path in zip(figures, block_vars["image_path_iterator"], strict=False):
        figure.savefig(path, dpi=110, bbox_inches="tight")
        paths.append(path)
    plt.close("all")
    return figure_rst(paths, gallery_conf["src_dir"])


def reset_matplotlib(gallery_conf: Any, fname: Any) -> None:  # noqa: ARG001
    """Give every example the same style, and leave out a warning that each of them would explain."""
    import warnings

    import matplotlib as mpl

    warnings.filterwarnings("ignore", "no rule for", UserWarning)

    mpl.rcdefaults()
    mpl.use("Agg")
    mpl.rcParams.update({"figure.dpi": 110, "font.size": 10, "axes.spines.top": False})
    mpl.rcParams["axes.spines.right"] = False
