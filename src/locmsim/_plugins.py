"""Classes by name: from a table, installed packages, modules and files."""

import builtins
import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import types
from collections import UserDict
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import TYPE_CHECKING, Any

from locmsim._specs import describe_error, did_you_mean
from locmsim.errors import ENDINGS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Registry", "class_files", "is_importable", "place_of"]

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
#: Prefix of the packages that folders of files are; the rest depends on the path.
_FOLDER = "locmsim_folder_"

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
    if kind.__module__ == "__main__" or kind.__module__.startswith((_FILE_MODULE, _FOLDER)):
        return f"{file}:{name}"
    return f"{kind.__module__}:{name}"


def _points(group: str, name: str = "") -> "list[EntryPoint]":
    """Return the entry points of a group with that name, or all."""
    from importlib.metadata import entry_points  # slow to import

    return [*(entry_points(group=group, name=name) if name else entry_points(group=group))]


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


def class_files(text: str, group: str) -> list[str] | None:
    """Return the files of a description's class and of what it imports from its own folder.

    A name of an installed package, from this entry point group, stands for its class. The files are
    found without being executed. None if the text does not name such a class.
    """
    match = _CLASS.fullmatch(text)
    if match is None:
        name = text.partition(":")[0]
        points = _points(group, name) if _NAME.fullmatch(name) else []
        match = _CLASS.fullmatch(points[0].value.replace(" ", "")) if points else None
    if match is None:
        return None
    file = match["file"]
    if file is None:
        _see_working_directory()
        try:
            spec = importlib.util.find_spec(match["place"])
        except (ImportError, ValueError, AttributeError):
            return []
        if spec is None or not spec.has_location or spec.origin is None:
            return []
        file = spec.origin
    found = [file]
    for path in found:  # grows
        for name in sorted(_imported_names(path)):
            place = os.path.join(os.path.dirname(file), *name.split("."))
            for beside in (f"{place}.py", os.path.join(place, "__init__.py")):
                if os.path.isfile(beside) and beside not in found:
                    found.append(beside)
    return found


def _imported_names(path: str) -> set[str]:
    """Return the names that a file of Python imports, and what they are imported from."""
    import ast

    try:
        with open(path, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
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
    _folder_of(os.path.dirname(path)).show_to(module)
    # For compiled modules beside the file, and what looks for a module by its name. It comes last:
    # what lies there never replaces other modules.
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


class _Folder:
    """The modules beside a file with a class: the files of this folder have them to themselves.

    Two folders may have modules of the same name, and the working directory a third one. So the
    folder is made a package under a name of its own, and ``import helpers`` in one of its files
    imports ``helpers`` of that package, unless the standard library or an installed package has the
    name.
    """

    def __init__(self, path: str) -> None:
        import hashlib

        self.path = path
        self._own: set[str] = set()
        self.package = f"{_FOLDER}{hashlib.sha256(path.encode()).hexdigest()[:16]}"
        self._module = types.ModuleType(self.package)
        self._module.__path__ = [path]
        #: What the folder's modules have in place of the built-in names.
        self._names = {**vars(builtins), "__import__": self._import}

    def show_to(self, module: types.ModuleType) -> None:
        """Let the imports of a module that has not been executed find the folder's modules."""
        vars(module)["__builtins__"] = self._names

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        first = name.partition(".")[0]
        if level or not self._has_module(first):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        sys.modules[self.package] = self._module
        try:
            module = importlib.import_module(f"{self.package}.{name}")
        except ModuleNotFoundError as error:
            plain = (error.name or "").removeprefix(f"{self.package}.")
            if plain == error.name:
                raise
            raise ModuleNotFoundError(f"No module named {plain!r}", name=plain) from None
        if not fromlist:
            return sys.modules[f"{self.package}.{first}"]
        # The original imports those of the names that are modules.
        return builtins.__import__(module.__name__, globals, locals, fromlist)

    def _has_module(self, name: str) -> bool:
        if name not in self._own and name != "locmsim" and name not in sys.stdlib_module_names:
            spec = PathFinder.find_spec(name, [self.path])
            if spec is None:
                return False
            # A folder without __init__.py gives way to every package that has one.
            plain = spec.loader is None
            other = PathFinder.find_spec(name, _elsewhere() if plain else _installed())
            if other is None or (plain and other.loader is None):
                self._own.add(name)
        return name in self._own


class _FolderFinder:
    """Finds the modules of a `_Folder` and shows them each other."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module of a folder, None for any other."""
        folder = _folders.get(name.partition(".")[0])
        if folder is None:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _SharingLoader(folder, spec.loader.name, spec.loader.path)
        return spec


class _SharingLoader(SourceFileLoader):
    def __init__(self, folder: _Folder, name: str, path: str) -> None:
        super().__init__(name, path)
        self._folder = folder

    def exec_module(self, module: types.ModuleType) -> None:
        self._folder.show_to(module)
        super().exec_module(module)


#: Name of the package -> folder.
_folders: dict[str, _Folder] = {}


def _folder_of(path: str) -> _Folder:
    for folder in _folders.values():
        if folder.path == path:
            return folder
    if not _folders:
        sys.meta_path.insert(0, _FolderFinder)
    folder = _Folder(path)
    _folders[folder.package] = folder
    return folder


def _elsewhere() -> list[str]:
    """Return ``sys.path`` without the folders of files."""
    folders = {folder.path for folder in _folders.values()}
    return [path for path in sys.path if path not in folders]


def _installed() -> list[str]:
    """Return the folders of ``sys.path`` that have installed packages."""
    import site
    import sysconfig

    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    places.update(site.getsitepackages() if hasattr(site, "getsitepackages") else ())
    places.add(site.getusersitepackages())
    return [path for path in sys.path if path in places]


def _unguarded(file: str) -> str:
    return (
        f"{file} plays matches while it is imported for its agent:"
        ' put what it runs under `if __name__ == "__main__":`'
    )
