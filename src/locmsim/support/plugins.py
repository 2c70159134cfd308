"""Classes by name: from a table, installed packages, modules and files."""

import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import types
from collections import UserDict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from locmsim.errors import ENDINGS
from locmsim.options.texts import describe_error, did_you_mean
from locmsim.support.files import file_stamp

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_IDENTIFIER = r"[^\W\d]\w*"
#: A class in a file or a module, and its options.
_CLASS = re.compile(
    rf"(?P<place>(?P<file>.+\.py)|{_IDENTIFIER}(?:\.{_IDENTIFIER})*):(?P<name>{_IDENTIFIER})"
    r"(?::(?P<options>.*))?",
    re.DOTALL,
)
_NAME = re.compile(r"[\w.+-]+")
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
        match = _CLASS.fullmatch(text)
        # To look for entry points takes longer than all else; a file has the name of none.
        if name in self or (not (match and match["file"]) and self._entry_points(name)):
            return name, options
        if match:
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

    def is_foreign(self, text: str) -> bool:
        """Return whether the description of an entry names code that is not of this package.

        An option may name code as well. Nothing is imported.
        """
        if ".py:" in text:
            return True
        if text.partition(":")[0] in self:
            return False
        match = _CLASS.fullmatch(text)
        return not match or match["place"].partition(".")[0] != "locmsim"

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
        except ENDINGS:
            raise
        except BaseException as error:
            place = f"{point.value} of the package {_package(point)}"
            raise ValueError(f"{self.kind} {name}: {place}: {describe_error(error)}") from error

    def package(self, name: str) -> str:
        """Return the installed package that a name comes from."""
        return "locmsim" if name in self else _package(self._entry_points(name)[0])

    def _entry_points(self, name: str = "") -> "list[EntryPoint]":
        """Return the entry points of that name, or all."""
        if name and not _NAME.fullmatch(name):
            return []
        return _points(self.group, name)

    def _attribute(self, name: str, match: re.Match[str]) -> Any:
        where, attribute = f"{self.kind} {name}", match["name"]
        module = self._imported(where, match["place"], match["file"])
        try:
            found = getattr(module, attribute)
        except AttributeError:
            kinds = type, types.FunctionType
            known = [key for key, value in vars(module).items() if isinstance(value, kinds)]
            raise ValueError(
                f"{where}: no class or function {attribute!r} in {module.__file__}"
                f"{did_you_mean(attribute, known)}"
            ) from None
        if not callable(found):
            raise ValueError(
                f"{where}: {attribute} is neither a class nor a function but {found!r}"
            )
        return found

    def _imported(self, where: str, place: str, file: str | None) -> types.ModuleType:
        try:
            return _module_of(file) if file else _module_called(place)
        except _NotThereError as error:
            raise ValueError(f"{where}: {error}") from None
        except ENDINGS:
            raise
        except BaseException as error:
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
    return bool(_NAME.fullmatch(name) and _points(group, name))


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
    if kind.__module__ == "__main__" or (file and os.path.dirname(file) in _folders):
        return f"{file}:{name}"
    return f"{kind.__module__}:{name}"


def _points(group: str, name: str = "") -> "list[EntryPoint]":
    """Return the entry points of a group with that name, or all."""
    points = _registered(group, tuple((place, file_stamp(place or ".")) for place in sys.path))
    return [point for point in points if name in ("", point.name)]


@lru_cache(maxsize=16)
def _registered(group: str, places: object) -> "list[EntryPoint]":
    """Return the entry points of a group, as long as the path and its folders are the same."""
    from importlib.metadata import entry_points  # slow to import

    return [*entry_points(group=group)]


def _package(point: "EntryPoint") -> str:
    return point.dist.name if point.dist is not None else "?"


class _NotThereError(Exception):
    """Raised for a file that does not exist or is being imported."""


def _module_called(name: str) -> types.ModuleType:
    _see_working_directory()
    return importlib.import_module(name)


def _see_working_directory() -> None:
    """Let modules of the working directory be found, where a console script has no path to it."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())


def class_files(text: str, group: str) -> list[str]:
    """Return the files of a description's class and of what it imports from its own folder.

    A name of an installed package, from this entry point group, stands for its class. The files are
    found without being executed; there are none if the text does not name such a class.
    """
    match = _CLASS.fullmatch(text)
    if match is None or (match["file"] and not os.path.isfile(match["file"])):
        name = text.partition(":")[0]  # a class of a file may be in its options
        points = _points(group, name) if _NAME.fullmatch(name) else []
        match = _CLASS.fullmatch(points[0].value.replace(" ", "")) if points else None
    if match is None:
        return []
    if match["file"] is not None:
        return own_files(match["file"])
    _see_working_directory()
    try:
        spec = importlib.util.find_spec(match["place"])
    except (ImportError, ValueError, AttributeError):
        return []
    return own_files(spec.origin) if spec and spec.has_location and spec.origin else []


def own_files(file: str) -> list[str]:
    """Return a file of Python and those of its folder that it imports, whatever these import."""
    found = [file]
    for path in found:  # grows
        for name in sorted(imported_names(path)):
            place = os.path.join(os.path.dirname(file), *name.split("."))
            for beside in (f"{place}.py", os.path.join(place, "__init__.py")):
                if (
                    os.path.isfile(beside)
                    and beside not in found
                    and not _is_installed(name.partition(".")[0])
                ):
                    found.append(beside)
    return found


def class_modules(text: str, group: str) -> dict[str, str]:
    """Return where the modules are, by name, that come with the classes in a description.

    Descriptions that have modules of one name in two places cannot share a process.
    """
    found = _own_modules(class_files(text, group))
    for file in re.findall(r'[^:,="]+\.py(?=:)', text):
        found |= _own_modules(own_files(file))
    return found


def _own_modules(files: Sequence[str]) -> dict[str, str]:
    """Return the files of modules and the folders of packages of `own_files` by name."""
    folder = os.path.dirname(os.path.abspath(files[0])) if files else ""
    found = {}
    for path in files:
        first, *rest = os.path.relpath(path, folder).split(os.sep)
        found[first if rest else first.removesuffix(".py")] = os.path.join(folder, first)
    return found


def shared_name(one: str, other: str) -> str | None:
    """Return the first name that modules of both agents have, but in two places."""
    places, others = (class_modules(text, "locmsim.agents") for text in (one, other))
    return next((name for name, place in places.items() if others.get(name, place) != place), None)


def taken_module(modules: Mapping[str, str]) -> str | None:
    """Return the name of the first of these modules that this process has from elsewhere."""
    for name, place in modules.items():
        module = sys.modules.get(name)
        if module is not None and _place(module) != place:
            return name
    return None


def _place(module: types.ModuleType) -> str:
    """Return the file of a module, or the folder of a package."""
    folders = [*getattr(module, "__path__", ())]
    return os.path.abspath(folders[0] if folders else getattr(module, "__file__", None) or "")


def imported_names(path: str) -> set[str]:
    """Return the names that a file of Python imports, and what they are imported from."""
    try:
        with open(path, "rb") as source:
            return _imports_of(source.read())
    except (OSError, SyntaxError, ValueError):
        return set()


@lru_cache(maxsize=256)
def _imports_of(source: bytes) -> set[str]:
    import ast

    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            modules = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
        else:
            continue
        for module in modules:  # importing a module imports its packages
            parts = module.split(".")
            names.update(".".join(parts[:end]) for end in range(1, len(parts) + 1) if module)
    return names


def _module_of(file: str) -> types.ModuleType:
    """Import a file under its own name, its folder on the path; again if what it is has changed."""
    path = os.path.abspath(file)
    try:
        os.stat(path)
    except OSError as error:
        raise _NotThereError(f"no file {file!r} ({error.strerror or error})") from None
    if path in _importing:
        raise _NotThereError(_unguarded(file))
    name, folder = os.path.basename(path).removesuffix(".py"), os.path.dirname(path)
    version, before = file_version(path), _imported.get(path)
    if version != before:
        for known, module in [*sys.modules.items()]:
            if known != "__main__" and getattr(module, "__file__", None) in (before or {}):
                del sys.modules[known]
        _imported[path] = version
    if _is_installed(name):
        raise _NotThereError(f"Python has another module {name!r}: rename {file}")
    if (taken := taken_module(_own_modules([*version]))) is not None:
        raise _NotThereError(
            f"this process has another module {taken!r} ({_place(sys.modules[taken])}): rename one,"
            " or let locmsim arena, play, check, ask or optimize play the agents, each in a process"
            " of its own"
        )
    _show(folder)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    _importing.append(path)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    finally:
        _importing.pop()
    return module


def file_version(file: str) -> dict[str, object]:
    """Return what tells a file of Python, with its `own_files`, from what it may become."""
    path = os.path.abspath(file)
    stamps = _versions.get(path)
    if stamps is None or any(file_stamp(one) != stamp for one, stamp in stamps.items()):
        stamps = _versions[path] = {one: file_stamp(one) for one in own_files(path)}
    return stamps


#: File -> its `file_version` when it was last asked for, and when it was imported.
_versions: dict[str, dict[str, object]] = {}
_imported: dict[str, dict[str, object]] = {}
#: The folders of these files.
_folders: set[str] = set()


def _show(folder: str) -> None:
    """Let modules of a folder be found after installed ones, before those of any other folder.

    Child processes of other start methods than fork import the file by its name, too.
    """
    importlib.invalidate_caches()
    _folders.add(folder)
    installed = _installed()
    others = [path for path in sys.path if path not in installed and path != folder]
    sys.path[:] = [*(path for path in sys.path if path in installed), folder, *others]


def _is_installed(name: str) -> bool:
    """Return whether a module is of Python or of an installed package, which no file hides."""
    if name in sys.stdlib_module_names or name == "locmsim":
        return True
    return PathFinder.find_spec(name, _installed()) is not None


def _installed() -> list[str]:
    """Return the folders of Python's modules and of installed packages, .pth files' among them."""
    names = ("lib-dynload", "site-packages", "dist-packages")
    return [*_python(), *(place for place in sys.path if os.path.basename(place) in names)]


@cache
def _python() -> list[str]:
    """Return the folders that Python names, which takes a millisecond."""
    import site
    import sysconfig

    places = {*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))}
    places.update(site.getsitepackages() if hasattr(site, "getsitepackages") else ())
    return [*places, site.getusersitepackages()]


def _unguarded(file: str) -> str:
    return (
        f"{file} plays matches while it is imported for its agent:"
        ' put what it runs under `if __name__ == "__main__":`'
    )
