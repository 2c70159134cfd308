"""What a player is: all that has to be the same for its games to belong together.

An identity has a digest of each file that is the player's own, by path: its script or class with
what that imports from its folder, and the files that its options name for reading. Interpreters,
and what it writes, are not its own. Where a part of a package plays, such as the library, the
identity has the package with its version and a digest of its weights and compiled modules.
"""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise

from locmsim.support.plugins import class_files, imported_names, own_files, place_of

_GROUP = "locmsim.agents"
#: Programs that run others, which an upgrade of the machine replaces.
_RUNNER = re.compile(
    r"(python|pypy|node|deno|bun|java|ruby|perl|lua|luajit|php|julia|Rscript|dotnet|mono|wine|sh"
    r"|bash|dash|zsh|env|nice|taskset|timeout|stdbuf|numactl|time)[\d.]*w?(\.exe)?"
)
#: Options that name what is written.
_WRITTEN = re.compile(
    r"-*(.*[-_])?(o|out|output|log|logs|logfile|trace|dump|record|save|stderr)([-_](file|path|to))?"
)
#: Option and value of a description.
_OPTION = re.compile(r'([^:,="]+)=("(?:[^"]|"")*"|[^,]*)')


def identity(spec: str, process: bool, package: str = "locmsim") -> dict[str, str]:
    """Return the identity of a player as plain data.

    Parameters
    ----------
    spec : str
        A command, or the description of an agent.
    process : bool
        Whether it is a command.
    package : str
        The package of the game's agents.
    """
    folder = _folder(package)
    words = [*(_command_files(spec) if process else _agent_files(spec))]
    files = [one for one in dict.fromkeys(words) if not _is_in(one, folder)]
    found = {file: digest([file]) for file in files if os.path.isfile(file)}
    scripts = [file for file in found if file.endswith(".py")]
    imports = {name.partition(".")[0] for file in scripts for name in imported_names(file)}
    ours = _runs(spec, package) if process else not class_files(spec, _GROUP)
    if ours or package in imports:
        found[package] = library(package)
    return found


def home_of(game: object) -> tuple[str, list[str]]:
    """Return the package of a game's agents, and the game's class if another package derived it."""
    kinds = [one for one in type(game).__mro__ if {"agents", "make_agent"} & {*vars(one)}]
    package = kinds[0].__module__.partition(".")[0]
    if type(game).__module__.partition(".")[0] != package:
        with suppress(ValueError):
            return package, [place_of(type(game))]
    return package, []


def difference(then: Mapping[str, str], now: Mapping[str, str], since: str = "game 1") -> str:
    """Return in a sentence how an identity differs from what it was; empty if it is the same.

    Files that were not there are what the player writes, or imported by a file that has changed.
    """
    changed = [name for name in then if now.get(name, then[name]) != then[name]]
    gone = [name for name in then if name not in now]
    parts = []
    if changed:
        parts.append(f"{_listed(changed)} {_have(changed)} changed since {since}")
    if gone:
        parts.append(f"{_listed(gone)} {'is' if len(gone) == 1 else 'are'} not in this folder")
    return "; ".join(parts)


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _have(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"


@cache
def library(package: str) -> str:
    """Return the version of a package, and a digest of its weights and compiled modules."""
    from importlib import metadata

    paths = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(_folder(package))
        for name in names
        if name.endswith((".npz", ".so", ".pyd"))
    ]
    version = ""
    with suppress(metadata.PackageNotFoundError):
        version = metadata.version(package)
    return f"{version} {digest(sorted(paths))}".strip()


def _folder(package: str) -> str:
    spec = importlib.util.find_spec(package)
    return os.path.dirname(spec.origin) if spec and spec.origin else ""


def _is_in(file: str, folder: str) -> bool:
    return bool(folder) and os.path.abspath(file).startswith(folder + os.sep)


def digest(paths: Iterable[str]) -> str:
    """Return the digest of the content of files."""
    found = hashlib.blake2b(digest_size=16)
    for path in paths:
        with suppress(OSError), open(path, "rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def _runs(command: str, package: str) -> bool:
    """Return whether a command runs a module of a package, or its program."""
    words = _words(command)
    modules = [word for option, word in pairwise(words) if option == "-m"]
    return any(
        name == package or name.startswith(f"{package}.")
        for name in [*modules, *map(os.path.basename, words[:1])]
    )


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _command_files(command: str) -> Iterator[str]:
    option = ""
    words = _words(command)
    for word in [*(shutil.which(one) or one for one in words[:1]), *words[1:]]:
        name, before = word.rpartition("=")[0] or option, option
        option = word if word.startswith("-") else ""
        if _WRITTEN.fullmatch(name):
            continue
        if before == "-m":
            word = word.replace(".", os.sep)
            word = word if os.path.isdir(word) else f"{word}.py"
        for part in [word, *re.split(r"[:,=]", word)]:
            if _RUNNER.fullmatch(os.path.basename(part)) or part.endswith(".log"):
                continue
            # What Python runs in a folder.
            file = os.path.join(part, "__main__.py") if part and os.path.isdir(part) else part
            yield from own_files(file) if file.endswith(".py") else [file]


def _agent_files(spec: str) -> Iterator[str]:
    yield from class_files(spec, _GROUP)
    for name, value in _OPTION.findall(spec):
        if _WRITTEN.fullmatch(name):
            continue
        if value.startswith('"'):
            value = value[1:-1].replace('""', '"')
            yield from _agent_files(value)
        yield from [value, *re.split(r"[:,=]", value)]
        yield from class_files(value, "") if ":" in value else ()
