"""Sphinx: these pages, and a reference made of the docstrings."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import nardcore

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "nardcore"
author = "the nardcore authors"
project_copyright = author
version = release = nardcore.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"nardcore {version}"

# Names in single backticks in docstrings are links where they can be.
default_role = "py:obj"
autodoc_typehints = "none"  # numpydoc's parameters tell the types
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False

myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
suppress_warnings = [
    # links of README and CONTRIBUTING to files of the repository that are no pages
    "myst.xref_missing",
    "myst.header",
]


class Mermaid(SphinxDirective):
    """A graph: drawn in a browser that is online, its text elsewhere."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Keep the text and let the browser draw it."""
        text = "\n".join(self.content)
        if self.env.app.builder.format != "html":
            return [nodes.literal_block(text, text)]
        html = f'<pre class="mermaid">{escape(text)}</pre>'
        return [nodes.raw(html, html, format="html")]


def _without_signature(
    _app: Sphinx, what: str, name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Drop the first line of a native class's docstring where it is the constructor's signature."""
    if what == "class" and lines and lines[0].startswith(f"{name.rpartition('.')[2]}("):
        del lines[0]


def setup(app: Sphinx) -> None:
    """Register what is above."""
    app.add_directive("mermaid", Mermaid)
    app.connect("autodoc-process-docstring", _without_signature)
    app.add_js_file(
        None,
        type="module",
        body="import mermaid from 'https://cdn.jsdelivr.net/npm/mermaid@11/dist/mermaid.esm.min.mjs';"
        "mermaid.initialize({startOnLoad: true});",
    )
