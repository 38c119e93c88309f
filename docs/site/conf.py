# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings for scripts/docs.sh, which puts this file beside the pages."""
import pathlib
import posixpath
import re

project = "gristmill"
copyright = "the gristmill authors, Apache-2.0"  # noqa: A001
extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = ["docs/site"]
html_theme = "furo"
html_title = "gristmill"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_css_files = ["site.css"]
html_static_path = ["docs/site/static"]
pygments_style = "friendly"
pygments_dark_style = "native"
suppress_warnings = ["misc.highlighting_failure"]  # examples in part are not whole programs

# Pages that prose names without a link, outside code.
NAMED = re.compile(r"(?<![\w/.(\[`])docs/[\w/-]+\.md\b(?![\])`])")


def link_pages(app, page, source):
    """Makes links of the pages that a page names."""
    root, fenced, lines = pathlib.Path(app.srcdir), False, source[0].split("\n")

    def link(match):
        if not (root / match[0]).exists():
            return match[0]
        return f"[{match[0]}]({posixpath.relpath(match[0], posixpath.dirname(page) or '.')})"

    for i, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and not line.startswith("    "):
            lines[i] = NAMED.sub(link, line)
    source[0] = "\n".join(lines)


def setup(app):
    app.connect("source-read", link_pages)
