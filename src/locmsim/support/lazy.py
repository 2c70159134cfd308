"""Names of a package that are imported on first use."""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

#: Packages that extras install, and whose absence is met in the middle of an import -> the extra.
_EXTRAS = {"gymnasium": "envs", "pettingzoo": "envs"}


def named_extra(error: ImportError) -> ImportError:
    """Return the error of a missing package with the extra that installs it, if there is one."""
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRAS:
        return error
    return ModuleNotFoundError(
        f"the package {package} is not installed: pip install 'locmsim[{_EXTRAS[package]}]'",
        name=error.name,
    )


def is_public_module(name: str) -> bool:
    """Return whether there is a module or package of this full name that users may import."""
    if name.rpartition(".")[2].startswith("_"):
        return False
    from importlib.util import find_spec  # rarely needed

    found = find_spec(name)
    return found is not None and found.has_location  # a folder of data has none


def attached(
    owner: str, file: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a module that its stub describes.

    A line ``from module import name as name`` of the file ``.pyi`` beside the module is a name
    of ``__all__``, imported when it is first asked for; ``from owner import name as name`` is a
    module of the package. With a comment behind it, the name is an attribute only, as all public
    modules of a package are.
    """
    with open(os.path.splitext(file)[0] + ".pyi", encoding="utf-8") as stub:
        lines = [line.split() for line in stub]
    places = {words[3]: words[1] for words in lines if words[:1] == ["from"] and len(words) == 6}
    package = hasattr(sys.modules[owner], "__path__")

    def __getattr__(name: str) -> Any:
        module = places.get(name, owner)
        inner = f"{owner}.{name}" if module == owner else ""
        if name not in places and not (package and is_public_module(inner)):
            raise AttributeError(f"module {owner!r} has no attribute {name!r}")
        try:
            value = import_module(inner or module)
        except ModuleNotFoundError as error:
            named = named_extra(error)
            if named is error:
                raise
            raise named from None
        if not inner:
            value = getattr(value, name)
        setattr(sys.modules[owner], name, value)
        return value

    def __dir__() -> list[str]:
        found = vars(sys.modules[owner])
        return sorted({*found, *found["__all__"]})

    return sorted(places), __getattr__, __dir__
