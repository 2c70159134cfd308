"""The command line tool ``locmsim``.

Each command is a module of this package with two functions: ``add_options`` declares its options,
``run`` does its work. Only the module of the command that was requested is imported: a referee is
started once for every game.
"""

import argparse
import codecs
import contextlib
import errno
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from locmsim import __version__
from locmsim._io import counted
from locmsim.cli._common import Failure, Parser, Stopped, sentence

__all__ = ["COMMANDS", "command_parser", "main"]

#: Summary of each command; its module has the same name.
COMMANDS = {
    "play": "play a match between two bots: programs or agents",
    "arena": "play many matches between players",
    "ask": "ask a bot what it would do now in an earlier match",
    "analyse": "find the best lines of a position",
    "replay": "write a page that shows a match",
    "web": "serve pages to play, watch matches and analyse positions",
    "cards": "print, generate, draw or check card lists",
    "bench": "measure the simulator on this machine",
    "perft": "count the sequences of legal actions",
    "tune": "improve weights by self-play",
    "export": "write a bot in one C file, or the simulator as a C header",
    "dataset": "write training examples from an agent's or an arena's games",
    "new": "create starter files for a trainer, an agent or a bot",
    "vestrock": "run servers and bots of a second card game, Vestrock",
}
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EIO, errno.EBADF)
#: Replacements for terminals that cannot show a character.
_PLAIN = {"\u00b1": "+-"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool and return its exit status: 0, or 1 for a failure.

    Raises ``SystemExit`` with 2 for wrong usage, and with 128 + n when signal n ends it.
    """
    _open_closed()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0].startswith("-") and words[0] not in ("-h", "--help", "--version"):
        words.insert(0, "play")
    if words[:1] == ["arena"] and words[1:2] not in (["show"], ["run"]):
        words.insert(1, "run")
    if hasattr(sys.stdout, "reconfigure"):
        codecs.register_error("locmsim", _replaced)
        sys.stdout.reconfigure(errors="locmsim")
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        if not _is_bot(words[0]):
            _unknown_command(words[0])
        words.insert(0, "play")
    parser = command_parser(words[0] if words else None)
    try:
        if not words:
            parser.print_help()
            sys.stdout.flush()
            return 0
        options, unknown = parser.parse_known_args(words)
        if unknown:
            options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        return _run(options)
    except KeyboardInterrupt:
        name = f"locmsim {words[0]}" if words[:1] and words[0] in COMMANDS else "locmsim"
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
        print(f"locmsim: {f'{place}: ' if place else ''}{error.strerror or error}", file=sys.stderr)
        return 1


def _is_bot(text: str) -> bool:
    """Return whether the first argument is a bot, which the default command plays."""
    if not re.fullmatch(r"[\w.+-]+", text):  # a path, a command with arguments, agent:option=value
        return True
    import shutil

    from locmsim.agents.registry import is_agent

    return is_agent(text) or shutil.which(text) is not None


def _unknown_command(word: str) -> NoReturn:
    from difflib import get_close_matches

    from locmsim.agents.registry import known_agents

    names = [*COMMANDS, *(agent.name for agent in known_agents())]
    meant = get_close_matches(word, names, n=1)
    hint = f"did you mean {meant[0]!r}?" if meant else "locmsim --help lists them"
    command_parser(None).error(f"unknown command {word!r}; {hint}")


def _run(options: argparse.Namespace) -> int:
    try:
        status = options.run(options)
        sys.stdout.flush()
    except Failure as failure:
        if failure.code == 2:
            options.parser.error(options.parser.spelt(str(failure)))
        print(f"{options.parser.prog}: {failure}", file=sys.stderr)
        return failure.code
    except Stopped as stopped:
        print(f"{options.parser.prog}: {stopped.message}", file=sys.stderr)
        raise
    return int(status or 0)


def _open_closed() -> None:
    """Put nothing in place of standard streams that are closed, as by ``>&-``.

    A file opened later, such as a log, would have the number of the stream, and bots would write
    into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 (open to the end)
            setattr(sys, name, nothing)


def _drop_output() -> None:
    """Keep the interpreter from complaining at exit that the output is closed."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    bad = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in bad), error.end


class _Version(argparse.Action):
    """Print the version and the details of the build that a bug report needs."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import platform

        from locmsim import ABI_VERSION, _bench

        cores = counted(os.cpu_count() or 1, "core")
        lock = "with" if getattr(sys, "_is_gil_enabled", lambda: True)() else "without"
        print(
            f"locmsim {__version__}, ABI {ABI_VERSION}\n"
            f"built by Cython {_bench.CYTHON} and {_bench.COMPILER} for {_bench.TARGET}:\n"
            f"  {_bench.COMPILER_COMMAND}\n"
            f"{platform.python_implementation()} {platform.python_version()} {lock} the global"
            f" interpreter lock, {platform.system()} {platform.machine()}, {cores}"
        )
        parser.exit()


def command_parser(chosen: str | None) -> Parser:
    """Return the parser of the tool, with the options of the one command that was called."""
    parser = Parser(
        prog="locmsim",
        description="Legends of Code and Magic for search bots. The default COMMAND is play.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, help="show the version and how it was built")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, description=sentence(summary), allow_abbrev=False
        )
        if name == chosen:
            module = import_module(f"locmsim.cli.{name}")
            module.add_options(command)
            command.set_defaults(run=module.run, parser=command)
    return parser
