"""``locmsim new``: create starter files, copies of the examples in the source tree."""

import argparse
import contextlib
import os
import shlex
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from locmsim.cli._common import Failure, WrongUsage
from locmsim.support.files import write_whole


class StarterKind(NamedTuple):
    """A set of starter files."""

    summary: str
    #: Commands to run next, in the folder.
    commands: tuple[str, ...]


KINDS = {
    "trainer": StarterKind(
        "scripts that train a network: self-play, cloning, Stable-Baselines3, export",
        ('pip install "locmsim[train]"', "python ppo.py --help"),
    ),
    "agent": StarterKind(
        "an agent in Python, in five steps from greedy to a beam search with a belief",
        ("locmsim arena greedy.py:Greedy random --games 20",),
    ),
    "bot": StarterKind(
        "a bot in one file that speaks the protocol and needs the standard library only",
        ('locmsim play "python stdin_bot.py" greedy',),
    ),
    "cython-bot": StarterKind(
        "a package with an agent in Cython that calls the compiled kernel",
        (
            'pip install cython "setuptools>=70.1"',
            "pip install --no-build-isolation .",
            "locmsim arena flatbot:FlatAgent:deck=classic greedy --games 20",
        ),
    ),
    "c-bot": StarterKind(
        "a bot in C on the simulator's header",
        (
            "include=$(python -c 'import locmsim; print(locmsim.get_include())')",
            'cc -O2 -I "$include" -o bot bot.c',
            "locmsim play ./bot greedy",
        ),
    ),
    "cpp-bot": StarterKind(
        "a bot in C++ with our choice of cards, belief and evaluation, and a search of its own",
        (
            "locmsim export --kernel --rules 1.5 --with deck,draft,belief,evaluation,network"
            " --minify -o locm.h",
            "c++ -std=c++17 -O2 -o bot bot.cpp",
            "locmsim play ./bot greedy",
        ),
    ),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = "Create starter files, ready to run, in a folder:\n\n" + "\n".join(
        f"  {name:<12}{kind.summary}" for name, kind in KINDS.items()
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("kind", metavar="KIND", choices=tuple(KINDS), help=", ".join(KINDS))
    parser.add_argument(
        "path", metavar="FOLDER", help="the folder, created if missing; no file is overwritten"
    )


def run(options: argparse.Namespace) -> None:
    """Write the files, all or none, and print the next steps."""
    folder = Path(options.path)
    found = contents(options.kind)
    _check(folder, found)
    with contextlib.ExitStack() as undo:
        try:
            for name, data in found.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                undo.callback(target.unlink, missing_ok=True)
                write_whole(target, data)
        except OSError as error:
            raise Failure(f"cannot write {error.filename}: {error.strerror}") from None
        undo.pop_all()
    print(f"{options.path}: {', '.join(found)}\n\nNext:")
    for command in (f"cd {shlex.quote(options.path)}", *KINDS[options.kind].commands):
        print(f"  {command}")


def contents(kind: str) -> Mapping[str, bytes]:
    """Return the files of an example by their names."""
    packed = files("locmsim").joinpath("data", "examples.zip")
    with packed.open("rb") as file, zipfile.ZipFile(file) as archive:
        return {
            name.partition("/")[2]: archive.read(name)
            for name in archive.namelist()
            if name.startswith(f"{kind}/")
        }


def _check(folder: Path, names: Mapping[str, bytes]) -> None:
    """Fail before anything is written if the files could not all be written."""
    for path in (folder, *folder.parents):
        if os.path.lexists(path):
            if not path.is_dir():
                raise WrongUsage(f"{path} exists and is not a folder: nothing was written")
            if not os.access(path, os.W_OK):
                raise WrongUsage(f"cannot write to {path}: no permission")
            break
    for name in names:
        path = folder / name
        if os.path.lexists(path):
            raise WrongUsage(f"{path} already exists: nothing was written")
        for above in path.relative_to(folder).parents:
            if os.path.lexists(folder / above) and not (folder / above).is_dir():
                raise WrongUsage(
                    f"{folder / above} exists and is not a folder: nothing was written"
                )
