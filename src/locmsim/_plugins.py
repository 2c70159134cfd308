"""Classes by name: from a table, installed packages, modules and files."""

import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import types
from collections import UserDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from locmsim._specs import describe_error, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Registry", "is_importable", "place_of"]

_IDENTIFIER = r"[^\W\d]\w*"
#: A class in a file or a module, and its options.
_CLASS = re.compile(
    rf"(?P<place>(?P<file>.+\.py)|{_IDENTIFIER}(?:\.{_IDENTIFIER})*):(?P<name>{_IDENTIFIER})"
    r"(?::(?P<options>.*))?",
    re.DOTALL,
)
_NAME = re.compile(r"[\w.+-]+")
#: Prefix of the modules of files; the rest depends on the path and the time of the file.
_FILE_MODULE = "locmsim_file_"

#: Files that are currently being imported.
_importing: list[str] = []


class Registry(UserDict[str, Any]):
    """A registry of classes or functions of one kind by name.

    Parameters
    ----------
    kind : str
        Name of the kind in messages, such as ``"agent"``.
    group : str
        The entry point group for installed packages. Names of the table take precedence, so that
        results stay comparable.
    places : mapping
        Name -> ``module:attribute``, which is imported on first use.
    """

    def __init__(self, kind: str, group: str, places: Mapping[str, str]) -> None:
        super().__init__(places)
        self.kind, self.group = kind, group

    def __getitem__(self, name: str) -> Any:
        if isinstance(self.data[name], str):
            self.data[name] = pkgutil.resolve_name(self.data[name])
        return self.data[name]

    def names(self) -> list[str]:
        """Return all names, the built-in ones first."""
        return [*self, *sorted({point.name for point in self._entry_points()} - {*self})]

    def split(self, text: str) -> tuple[str, str]:
        """Split a text into a name, ``module:Class`` or ``file.py:Class``, and its options.

        ``ValueError`` for an unknown name; nothing is imported.
        """
        name, _, options = text.partition(":")
        if name in self or self._entry_points(name):
            return name, options
        if match := _CLASS.fullmatch(text):
            return f"{match['place']}:{match['name']}", match["options"] or ""
        known = self.names()
        raise ValueError(
            f"unknown {self.kind} {name!r}: expected one of {', '.join(known)}, module:Class or"
            f" file.py:Class{did_you_mean(name, known)}"
        )

    def describes(self, text: str) -> bool:
        """Return whether a text describes an entry; otherwise it may be a program's command.

        A class of a module or file counts even if it does not exist, so that the error is about the
        class; but a text with blanks, like most commands, counts only if the file exists.
        """
        if match := _CLASS.fullmatch(text):
            file = match["file"]
            return not file or not re.search(r"\s", text) or os.path.isfile(file)
        name = text.partition(":")[0]
        return name in self or bool(self._entry_points(name))

    def find(self, name: str) -> Any:
        """Return the entry of a name from `split`; ``ValueError`` if it cannot be imported."""
        if name in self:
            return self[name]
        if match := _CLASS.fullmatch(name):
            return self._attribute(name, match)
        points = {point.value: point for point in self._entry_points(name)}
        if len(points) > 1:
            packages = " and ".join(f"{_package(p)} ({v})" for v, p in points.items())
            where = f"{self.kind} {name}"
            raise ValueError(f"{where}: several packages register this name: {packages}")
        (point,) = points.values()
        try:
            return point.load()
        except Exception as error:
            place = f"{point.value} of the package {_package(point)}"
            raise ValueError(f"{self.kind} {name}: {place}: {describe_error(error)}") from error

    def package(self, name: str) -> str:
        """Return the installed package that a name comes from."""
        return "locmsim" if name in self else _package(self._entry_points(name)[0])

    def _entry_points(self, name: str = "") -> "list[EntryPoint]":
        """Return the entry points of that name, or all."""
        if name and not _NAME.fullmatch(name):
            return []
        from importlib.metadata import entry_points  # slow to import

        points = entry_points(group=self.group)
        return [*(points.select(name=name) if name else points)]

    def _attribute(self, name: str, match: re.Match[str]) -> Any:
        where, attribute = f"{self.kind} {name}", match["name"]
        module = self._imported(where, match["place"], match["file"])
        try:
            found = getattr(module, attribute)
        except AttributeError:
            classes = [key for key, value in vars(module).items() if isinstance(value, type)]
            raise ValueError(
                f"{where}: no class {attribute!r} in {module.__file__}"
                f"{did_you_mean(attribute, classes)}"
            ) from None
        if not callable(found):
            raise ValueError(f"{where}: {attribute} is not a class but {found!r}")
        return found

    def _imported(self, where: str, place: str, file: str | None) -> types.ModuleType:
        try:
            return _module_of(file) if file else _module_called(place)
        except _NotThereError as error:
            raise ValueError(f"{where}: {error}") from None
        except (Exception, SystemExit) as error:
            missing = error.name if isinstance(error, ModuleNotFoundError) and not file else None
            if missing and f"{place}.".startswith(f"{missing}."):
                hint = did_you_mean(place, self.names())
                raise ValueError(f"{where}: no module {missing!r}{hint}") from None
            raise ValueError(f"{where}: importing {place}: {describe_error(error)}") from error


def is_importable(text: str, group: str) -> bool:
    """Return whether a description names a class of a module, a file or an installed package.

    Other processes find it too, unlike one that was added to a table in this process.
    """
    name = text.partition(":")[0]
    if _CLASS.fullmatch(text):
        return True
    from importlib.metadata import entry_points  # slow to import

    return bool(_NAME.fullmatch(name) and entry_points(group=group, name=name))


def place_of(kind: type) -> str:
    """Return the ``module:Class`` or ``file.py:Class`` by which other processes find a class.

    ``ValueError`` if other processes cannot import it: it was defined at a prompt, in a notebook or
    in a function, or its file is being imported and runs something at once.
    """
    name, module = kind.__qualname__, sys.modules.get(kind.__module__)
    if not re.fullmatch(_IDENTIFIER, name) or getattr(module, name, None) is not kind:
        raise ValueError(f"{name} is not at the top level of a module, where others can import it")
    file = getattr(module, "__file__", None)
    if kind.__module__ == "__main__" and file is None:
        raise ValueError(
            f"{name} was defined at a prompt or in a notebook, where other processes cannot import"
            " it: put it into a file"
        )
    if file is not None and os.path.abspath(file) in _importing:
        raise ValueError(_unguarded(file))
    if kind.__module__ == "__main__" or kind.__module__.startswith(_FILE_MODULE):
        return f"{file}:{name}"
    return f"{kind.__module__}:{name}"


def _package(point: "EntryPoint") -> str:
    return point.dist.name if point.dist is not None else "?"


class _NotThereError(Exception):
    """Raised for a file that does not exist or is being imported."""


def _module_called(name: str) -> types.ModuleType:
    # For a console script, the working directory is not on sys.path.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    return importlib.import_module(name)


def _module_of(file: str) -> types.ModuleType:
    import hashlib

    path = os.path.abspath(file)
    try:
        stat = os.stat(path)
    except OSError as error:
        raise _NotThereError(f"no file {file!r} ({error.strerror or error})") from None
    if path in _importing:
        raise _NotThereError(_unguarded(file))
    key = f"{path}\0{stat.st_mtime_ns}\0{stat.st_size}"
    name = f"{_FILE_MODULE}{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    # Modules beside the file can be imported by it, but never replace others.
    if os.path.dirname(path) not in sys.path:
        sys.path.append(os.path.dirname(path))
    _importing.append(path)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        _importing.pop()
    return module


def _unguarded(file: str) -> str:
    return (
        f"{file} plays matches while it is imported for its agent:"
        ' put what it runs under `if __name__ == "__main__":`'
    )
