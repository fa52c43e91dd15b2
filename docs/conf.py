"""Sphinx's settings of the manual: `sphinx-build -W --keep-going -b html docs build/docs`.

Nothing is fetched while it is built, and no page asks another host for anything: no intersphinx, no MathJax, no CDN.
`docs/generated/` is written by the build: gallery, Python reference, command reference, pages from outside `docs/`.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent / "src"))

from mrac.version import __version__  # noqa: E402

project = "mrac"
author = "the mrac contributors"
project_copyright = "the mrac contributors, Apache-2.0"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "command_pages",
    "python_pages",
    "repository_pages",
]
exclude_patterns = ["_ext", "generated/*/*.py", "generated/*/*.md5", "gallery", "tutorial"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold a class, which Sphinx cannot store

smartquotes = False  # --out stays --out

# Docstrings are Google's, with one backtick for code.
default_role = "literal"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autosummary_generate = True
autosummary_imported_members = False
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = False
napoleon_attr_annotations = False  # types stand in the signature
python_use_unqualified_type_names = True
maximum_signature_line_length = 90

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

sphinx_gallery_conf = {
    "examples_dirs": ["tutorial", "gallery"],
    "gallery_dirs": ["generated/tutorial", "generated/gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1000,
    "thumbnail_size": (480, 200),
    "remove_config_comments": True,
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "mrac"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_sidebars = {"generated/tutorial/*": []}  # one page: nothing to navigate
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "pygments_light_style": "default",
    "pygments_dark_style": "monokai",
}
