"""The configuration of Sphinx: everything is built from this repository, without a network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import steelyard

sys.path.insert(0, str(Path(__file__).parent))
from sphinx_helpers import setup as setup

# The examples of the gallery run in processes of their own, which inherit this: a figure that is
# drawn for a screen would wait for one.
os.environ["MPLBACKEND"] = "Agg"

project = "Steelyard"
author = "the authors of Steelyard"
project_copyright = "the authors of Steelyard, MIT licence"
version = release = steelyard.__version__
language = "en"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/**/*.md5", "gallery/**/*.ipynb", "gallery/**/*.py"]
nitpicky = True  # a role that leads nowhere is a warning, and warnings are errors

# Markdown: headings can be linked from other pages, and `::: {name}` is a directive.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# The API reference. A word in single backticks is a link if something has this name, else code.
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "parallel": 2,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "image_scrapers": ("sphinx_helpers.scrape_figures",),
    "reset_modules": ("sphinx_helpers.reset_matplotlib",),
    "doc_module": ("steelyard",),
    "reference_url": {"steelyard": None},
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": False,
}

html_math_renderer = "mathml"  # of sphinx_helpers; MathJax would come from the network
html_theme = "pydata_sphinx_theme"
html_title = "Steelyard"
html_static_path = ["_static"]
html_css_files = ["steelyard.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {name: [] for name in ("index", "getting_started", "changelog", "contributing")}
