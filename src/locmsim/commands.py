"""The base of command line tools: parsers, failures, and how errors and signals end them.

A tool parses its words with a `Parser`, and `run` does the work: every error that a user can cause
ends it with one line.
"""

import argparse
import codecs
import contextlib
import errno
import os
import sys
from collections.abc import Callable, Sequence

from locmsim._frame import (
    UNRECOGNIZED,
    Parser,
    Stopped,
    add_option,
    argument_of,
    end_soon,
    ended_by_signals,
    expect_again,
)

__all__ = [
    "Failure",
    "Parser",
    "Stopped",
    "add_option",
    "argument_of",
    "end_soon",
    "ended_by_signals",
    "expect_again",
    "parsed",
    "prepare_streams",
    "run",
    "sentence",
]

_OUTPUT_ERRORS = (errno.ENOSPC, errno.EIO, errno.EBADF)
#: Replacements for terminals that cannot show a character.
_PLAIN = {"\u00b1": "+-"}


class Failure(Exception):
    """End the tool with a message and an exit code: 2 for wrong usage, else 1.

    Parameters
    ----------
    message : object
        The message, one line.
    code : int
        The exit code.
    """

    def __init__(self, message: object, code: int = 1) -> None:
        super().__init__(str(message))
        self.code = code


def sentence(summary: str) -> str:
    """Return the summary of a command as the sentence with which its help begins."""
    return f"{summary[:1].upper()}{summary[1:]}."


def prepare_streams() -> None:
    """Make the standard streams safe to use; a tool calls this first.

    Closed ones, as by ``>&-``, are opened on nothing, since a file opened later, such as a log,
    would have the number of the stream and programs would write into it. Characters that the
    output cannot encode are replaced.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 (open to the end)
            setattr(sys, name, nothing)
    if hasattr(sys.stdout, "reconfigure"):
        codecs.register_error("locmsim", _replaced)
        sys.stdout.reconfigure(errors="locmsim")


def run(name: str, parse: Callable[[], argparse.Namespace | None]) -> int:
    """Run a tool.

    Parameters
    ----------
    name : str
        The tool and its command in messages, such as ``"locmsim play"``.
    parse : function
        Returns the parsed words, with the attributes ``run``, a function of them that does the
        work and may return the exit status, and ``parser``, whose name begins messages. None if
        there is nothing to do.

    Returns
    -------
    int
        The exit status: 0, 1 for a failure, 130 after Ctrl-C.

    Raises
    ------
    SystemExit
        With 2 for wrong usage, and with 128 + n when signal n ends the tool.
    """
    try:
        options = parse()
        status = 0 if options is None else _run(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print(f"{name}: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of the output, such as head, has closed it.
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        place = error.filename
        if place is None and error.errno in _OUTPUT_ERRORS:
            place = "cannot write to the standard output"
        tool = name.partition(" ")[0]
        print(f"{tool}: {f'{place}: ' if place else ''}{error.strerror or error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    try:
        status = options.run(options)
        sys.stdout.flush()
    except Failure as failure:
        message = options.parser.spelt(str(failure))
        if failure.code == 2:
            options.parser.error(message)
        print(f"{options.parser.prog}: {message}", file=sys.stderr)
        return failure.code
    except Stopped as stopped:
        print(f"{options.parser.prog}: {stopped.message}", file=sys.stderr)
        raise
    return int(status or 0)


def parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Return the words as options, whose `parser` reports an unknown one."""
    options, unknown = parser.parse_known_args(words)
    if unknown:
        options.parser.error(f"{UNRECOGNIZED}{' '.join(unknown)}")
    return options


def _drop_output() -> None:
    """Keep the interpreter from complaining at exit that the output is closed."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    bad = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in bad), error.end
