"""Code that several commands share: options, output files, signals and failures."""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import TypeVar

from locmsim.options.commands import Failure as Failure
from locmsim.options.commands import Parser as Parser
from locmsim.options.commands import Stopped as Stopped
from locmsim.options.commands import WrongUsage as WrongUsage
from locmsim.options.commands import ended_by_signals as ended_by_signals
from locmsim.options.commands import value_errors as value_errors

_T = TypeVar("_T")

#: Names of the standard output. Opening one as a file would overwrite what is already there.
STDOUT_PATHS = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


#: Bytes read from the start of a file to recognise which command wrote it.
_HEAD = 4096

#: For files that take long to write, as `ours` of `check_target`.
NOTHING = rb"(?!)"
FORCE_HELP = "overwrite a file even if this command did not write it"
GAME_HELP = "the game and its options, NAME:OPTION=VALUE,... (default: locm)"
IDS_HELP = "instance ids: the current ones or those of the 2022 contest (default: new)"
DECKS_HELP = (
    "both players have the cards that this agent chooses, or cards chosen in this way: random,"
    " classic, policy:path=FILE and other values of an agent's options deck and draft"
)


def interruptible(work: Callable[[], _T]) -> _T:
    """Run a function that may stay in compiled code for long, so that Ctrl-C still works."""
    import threading

    results: list[_T] = []
    errors: list[BaseException] = []

    def do() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=do, daemon=True)  # not joined after Ctrl-C
    thread.start()
    thread.join()
    for error in errors:
        raise error
    return results[0]


def color_wanted() -> bool:
    """Return whether the standard output is a terminal that shows colours (see no-color.org)."""
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def width() -> int:
    """Return the width for tables: that of the terminal, else 80 columns."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80


def add_verbose(parser: argparse._ActionsContainer) -> None:
    """Add the option ``-v`` of long-running commands, see `start_logging`."""
    parser.add_argument(
        "-v", "--verbose", action="count", default=0, help="report progress; -vv: in more detail"
    )


def start_logging(verbose: int) -> None:
    """Log the library's messages to the standard error: warnings, and with ``-v`` more."""
    import logging

    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
    levels = (logging.WARNING, logging.INFO, logging.DEBUG)
    logging.getLogger("locmsim").setLevel(levels[min(verbose, 2)])


def check_target(path: str, ours: bytes | None = None, force: bool = False) -> None:
    """Fail before the work starts if its output could not be written.

    An existing file is overwritten only if the regular expression `ours` matches its start: then
    the same command wrote it. None allows any file, and `NOTHING` none.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise WrongUsage(f"cannot write {path}: it is a folder")
    if not os.path.isdir(folder):
        raise WrongUsage(f"cannot write {path}: there is no folder {folder}; make it first")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise WrongUsage(f"cannot write {path}: no permission")
    if ours is None or force or not os.path.isfile(path) or not os.path.getsize(path):
        return
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:  # it may be written, but not read
        head = b""
    if not re.match(ours, head, re.DOTALL):
        raise WrongUsage(
            f"cannot write {path}: the file exists"
            + ", and this command has not written it" * (ours != NOTHING)
            + "; use --force to overwrite it"
        )


def check_output(
    option: str, path: str | None, ours: bytes | None = None, force: bool = False
) -> None:
    """Check what an option names as `check_target` does, unless that is the standard output."""
    if path is None:
        return
    if path not in STDOUT_PATHS:
        check_target(path, ours, force)
    elif force:
        raise WrongUsage(f"--force: does not apply with {option} {path}")


def write(path: str, text: str) -> None:
    from locmsim.support.files import write_whole

    if path in STDOUT_PATHS:
        sys.stdout.write(text)
        return
    try:
        write_whole(path, text)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None
