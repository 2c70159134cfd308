"""What several commands share: options, files, signals and how the tool fails."""

import argparse
import math
import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import TypeVar

from locmsim.cli._frame import Parser, Stopped, ended_by_signals

__all__ = [
    "GAME_HELP",
    "IDS",
    "IDS_HELP",
    "LENIENT_HELP",
    "LIMIT_HELP",
    "SCALE_HELP",
    "STDOUT_PATHS",
    "Failure",
    "Parser",
    "Stopped",
    "add_force",
    "add_verbose",
    "check_target",
    "color_wanted",
    "ended_by_signals",
    "interruptible",
    "number",
    "seed",
    "start_logging",
    "width",
    "write",
]

_T = TypeVar("_T")

#: Names of the standard output. Opened as a file it would be written from its start again.
STDOUT_PATHS = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


#: How much of a file is read to see who has written it.
_HEAD = 4096

GAME_HELP = 'what is played, such as "vestrock:init_hp=30" (default: locm)'
SCALE_HELP = "multiply the time limits, 0 for none (default: 1)"
IDS = ("new", "old")
IDS_HELP = "instance ids: those of today or of the 2022 contest (default: new)"
LIMIT_HELP = "time a bot has for all its answers together"
LENIENT_HELP = "take what a bot writes before it is asked for its next answer"


class Failure(Exception):
    """Ends the tool with a message and an exit code: 2 for wrong usage, else 1."""

    def __init__(self, message: object, code: int = 1) -> None:
        super().__init__(str(message))
        self.code = code


def number(low: float, allow_low: bool) -> Callable[[str], float]:
    """The type of an option that is a number above `low`, or `low` itself."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and (value > low or (allow_low and value == low))):
            expected = f"a number {'>=' if allow_low else '>'} {low:g}"
            raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
        return value

    return parse


def interruptible(work: Callable[[], _T]) -> _T:
    """What a function returns or raises that may be long in compiled code: Ctrl-C is heard."""
    import threading

    results: list[_T] = []
    errors: list[BaseException] = []

    def do() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=do, daemon=True)  # nobody waits for it after Ctrl-C
    thread.start()
    thread.join()
    for error in errors:
        raise error
    return results[0]


def seed(text: str) -> int:
    """The type of an option that is a seed."""
    try:
        value = int(text)
    except ValueError:
        value = 1 << 63
    if not -(1 << 63) <= value < 1 << 63:
        raise argparse.ArgumentTypeError(f"expected a signed 64-bit integer, got {text!r}")
    return value


def color_wanted() -> bool:
    """Whether the standard output is a terminal that shows colours (see no-color.org)."""
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def width() -> int:
    """The columns that tables may have: those of the terminal, else 80."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80


def add_verbose(parser: argparse._ActionsContainer) -> None:
    """The option ``-v`` for commands that run long, see `start_logging`."""
    parser.add_argument(
        "-v", "--verbose", action="count", default=0, help="report progress; -vv: in detail"
    )


def start_logging(verbose: int) -> None:
    """Tell on the standard error what the library logs, if it was asked for."""
    if verbose:
        import logging

        logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
        logging.getLogger("locmsim").setLevel(logging.INFO if verbose == 1 else logging.DEBUG)


def add_force(parser: argparse._ActionsContainer) -> None:
    """The option ``--force``, see `check_target`."""
    parser.add_argument(
        "--force", action="store_true", help="overwrite a file that this command has not written"
    )


def check_target(path: str, ours: bytes | None = None, force: bool = False) -> None:
    """Fail now, and not when there is something to write.

    A file is overwritten if the regular expression `ours` matches its start: then the same command
    has written it. None stands for any file.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise Failure(f"cannot write {path}: it is a folder", code=2)
    if not os.path.isdir(folder):
        raise Failure(f"cannot write {path}: there is no folder {folder}", code=2)
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise Failure(f"cannot write {path}: no permission", code=2)
    if ours is None or force or not os.path.isfile(path) or not os.path.getsize(path):
        return
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:  # it may be written, but not read
        head = b""
    if not re.match(ours, head, re.DOTALL):
        raise Failure(
            f"cannot write {path}: it exists, and this command has not written it; --force"
            " overwrites it",
            code=2,
        )


def write(path: str, text: str) -> None:
    from locmsim._io import write_whole

    if path in STDOUT_PATHS:
        sys.stdout.write(text)
        return
    try:
        write_whole(path, text)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None
