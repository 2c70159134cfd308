"""Public classes have pages or sections of their own: modules do not show them again."""

import inspect
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # tests and .ci/check_site.py read the list without it
    from sphinx.application import Sphinx

#: Packages whose public names are in the reference, each class on a page or in a section.
PACKAGES = [
    "locmsim",
    "locmsim.agents",
    "locmsim.arena",
    "locmsim.art",
    "locmsim.contract",
    "locmsim.decks",
    "locmsim.envs",
    "locmsim.errors",
    "locmsim.export",
    "locmsim.networks",
    "locmsim.policy",
    "locmsim.referee",
    "locmsim.search",
    "locmsim.stats",
    "locmsim.tuning",
    "vestrock",
]


def setup(app: "Sphinx") -> dict[str, Any]:
    app.connect("autodoc-skip-member", skipped)
    return {"parallel_read_safe": True}


@cache
def public_classes() -> dict[type, str]:
    """Each public class and the name by which users import it."""
    found: dict[type, str] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                found.setdefault(value, f"{package}.{name}")
    return found


def skipped(app: "Sphinx", what: str, name: str, obj: Any, skip: bool, _: Any) -> bool | None:
    """Handler of ``autodoc-skip-member``: what has a page or section of its own."""
    if what == "module" and inspect.isclass(obj) and obj in public_classes():
        return True
    return None
