"""Sphinx configuration: make docs builds docs/_build/html."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

project = "ldiv"
author = copyright = "The ldiv developers"
version = release = re.search(r'"(.+)"', (ROOT / "ldiv" / "_version.py").read_text()).group(1)
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "matplotlib.sphinxext.plot_directive",
    "sphinx-mathjax-offline",  # formulas are typeset without the network
]
plot_html_show_source_link = plot_html_show_formats = False
plot_formats = [("png", 110)]
highlight_language = "none"  # what a command says is no Python
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = f"ldiv {version}"
exclude_patterns = ["_build"]
autodoc_typehints = "none"
autosummary_generate = True  # docs/names: a page a name
autodoc_member_order = "bysource"
napoleon_google_docstring = False
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.xref_missing", "ref.python"]
