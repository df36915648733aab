"""The site: Sphinx with the pydata theme and an executed gallery. ``make docs`` builds it; nothing is fetched."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import elene

project = "elene"
author = "The elene developers"
copyright = "2026, the elene developers"
version = release = elene.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    # Ours, in _ext: what is written before anything is read, and equations as MathML, which needs no script.
    "made",
    "mathml",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "gallery/*.ipynb", "gallery/*.py.md5"]
nitpicky = True
# What is not ours has no page here, and a machine without a network cannot ask where its pages are.
nitpick_ignore_regex = [
    ("py:.*", r"(?!elene)[\w.\[\], ]+"),
    ("py:.*", r"elene\.(engine|experiments|datasets.canonical)\..*"),
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_numpy_docstring = False
napoleon_custom_sections = ["Shapes"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery.in_order",
    "image_scrapers": ("gallery.scrape_pictures", "matplotlib"),
    "backreferences_dir": "gallery/uses",
    "doc_module": ("elene",),
    "reference_url": {"elene": None},
    "inspect_global_variables": True,
    "image_srcset": ["2x"],
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": "matplotlib",
    "min_reported_time": 0,
}

html_theme = "pydata_sphinx_theme"
html_title = "elene"
html_static_path = ["_static"]
html_css_files = ["elene.css"]
html_logo = html_favicon = "_static/logo.svg"
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "elene", "alt_text": "elene, to the start page"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_version_warning_banner": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "introduction": []}
