"""How the documentation is built: make docs."""

from importlib.metadata import version as installed_version

project = "runner"
author = "the runner authors"
copyright = f"2026, {author}"  # noqa: A001 - Sphinx calls it so
release = installed_version("tomo-runner")
version = release

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_click"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"runner {release}"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say more: axes, units
numpydoc_show_class_members = False
