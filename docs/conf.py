"""The documentation site: ``sphinx-build -W -n docs build/docs``.

It documents the installed package, compiled classes too, and needs no network.
"""

import sys
from pathlib import Path

import locmsim

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "locmsim"
author = "The locmsim authors"
copyright = author
release = version = locmsim.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "classes",
    "compiled",
    "aliases",
    "links",
    "commands",
    "layouts",
    "play_now",
]

exclude_patterns = ["reference/README.md"]  # for readers of the repository

# Pages are written for GitHub's reader, too: anchors as it makes them.
myst_heading_anchors = 4

# `name` in a docstring is a link where there is something of that name, else code (_ext/links.py).
default_role = "name"
smartquotes = False  # quotes and dashes of commands stay what they are
autodoc_member_order = "groupwise"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "imported-members": True, "show-inheritance": True}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
autosummary_generate = False  # it lists names; the pages of classes are written by hand
numpydoc_show_class_members = False

# Type variables, private base classes and the compiled side of searches have no page.
_INSIDE = (
    r"locmsim\.(_core\.Shown|envs\.(workers\.Workers|base\.\w+|episodes\.Episodes)|networks\._drafts\.DraftNetworks)"
    r"|locmsim\.search\._engine\.SearchEngine|locmsim\._batch\.StateArray|locmsim\..*\._[A-Za-z]+"
    r"|locmsim\.envs\.options\.(Shared)?OptionValues|locmsim\.processes\.(workers\.Workers|usage\.Meter)|contextlib\.\w+"
    r"|locmsim\.arena\.(schedule\.SettingValues|fixtures\.Task)"
    r"|locmsim\.envs\.asked\.Asked|locmsim\.referee\.(locm_agents\.LocmAgents|players\.KeptAgents)"
    r"|vestrock\.(options\.Parameter(s|Values)|sockets\.Connection)|pyspiel\.\w+"
    r"|NDArray|BatchResult|BatchFunction|_Evaluating|np\.\w+"  # what is imported for types alone
)
nitpick_ignore_regex = [("py:.*", _INSIDE)]

html_theme = "furo"
html_title = f"locmsim {release}"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
