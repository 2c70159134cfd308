"""Names of a package that are imported on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["imported_later", "named_extra"]

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


def imported_later(
    owner: str, places: Mapping[str, str], *, package: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for an owner that imports its names on first use.

    `places` has the module of each name, relative to the package; if it ends in the name, the
    module itself is the value. The public modules of an owner that is a package are imported in the
    same way. Imported names become attributes of the owner, a package or a module of `package`.
    """
    package = package or owner

    def __getattr__(name: str) -> Any:
        place = places.get(name, name)
        if name not in places:
            from locmsim._moved import MODULES

            if moved := MODULES.get(f"{owner}.{name}"):
                raise AttributeError(f"{owner}.{name} is now {moved}")
            if owner != package or not is_public_module(f"{owner}.{name}"):
                raise AttributeError(f"module {owner!r} has no attribute {name!r}")
        try:
            module = import_module(f"{package}.{place}")
        except ModuleNotFoundError as error:
            named = named_extra(error)
            if named is error:
                raise
            raise named from None
        value = module if place.split(".")[-1] == name else getattr(module, name)
        setattr(sys.modules[owner], name, value)
        return value

    def __dir__() -> list[str]:
        found = vars(sys.modules[owner])
        return sorted({*found, *found["__all__"]})

    return __getattr__, __dir__
