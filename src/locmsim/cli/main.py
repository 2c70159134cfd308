"""The command line tool ``locmsim``.

Each command is a module of this package with two functions: ``add_options`` declares its options,
``run`` does its work. Only the module of the command that was requested is imported: a referee is
started once for every game.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from locmsim import __version__
from locmsim.options.commands import Parser, parsed, prepare_streams, run, sentence
from locmsim.support.files import counted

#: Summary of each command; its module has the same name.
COMMANDS = {
    "play": "play a match between two bots: programs or agents",
    "arena": "play many matches between players",
    "check": "test whether a bot keeps the protocol and its time limits",
    "ask": "ask a bot what it would do now in an earlier match",
    "analyse": "find the best lines of a position",
    "replay": "write a page that shows a match",
    "web": "serve pages to play, watch matches and analyse positions",
    "cards": "print, generate, draw or check card lists",
    "bench": "measure the simulator on this machine",
    "perft": "count the sequences of legal actions",
    "tune": "improve the weights of the package by self-play",
    "optimize": "tune the numbers of your bot by matches between its versions",
    "export": "write a bot or the engine in one C file, or the simulator as a C header",
    "dataset": "write training examples from an agent's or an arena's games",
    "new": "create starter files for a trainer, an agent or a bot",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool and return its exit status: 0, or 1 for a failure.

    Raises ``SystemExit`` with 2 for wrong usage, and with 128 + n when signal n ends it.
    """
    prepare_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0].startswith("-") and words[0] not in ("-h", "--help", "--version"):
        words.insert(0, "play")
    if words[:1] == ["arena"] and words[1:2] not in (["show"], ["run"]):
        words.insert(1, "run")
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        if not _is_bot(words[0]):
            _unknown_command(words)
        words.insert(0, "play")
    parser = command_parser(words[0] if words else None)

    def parse() -> argparse.Namespace | None:
        if words:
            return parsed(parser, words)
        parser.print_help()
        return None

    return run(f"locmsim {words[0]}" if words[:1] and words[0] in COMMANDS else "locmsim", parse)


def _is_bot(text: str) -> bool:
    """Return whether the first argument is a bot, which the default command plays."""
    if not re.fullmatch(r"[\w.+-]+", text):  # a path, a command with arguments, agent:option=value
        return True
    import shutil

    from locmsim.agents.registry import is_agent

    return is_agent(text) or shutil.which(text) is not None


def _unknown_command(words: Sequence[str]) -> NoReturn:
    from difflib import get_close_matches

    from locmsim.agents.registry import known_agents

    word = words[0]
    names = [*COMMANDS, *(agent.name for agent in known_agents())]
    meant = get_close_matches(word, names, n=1)
    hint = f"did you mean {meant[0]!r}?" if meant else "locmsim --help lists them"
    command_parser(None).error(f"unknown command {word!r}; {hint}")


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
    """Return the parser of the tool: of the one command that was called, or of the list of all."""
    parser = Parser(
        prog="locmsim",
        description="Legends of Code and Magic for search bots. The default COMMAND is play.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, help="show the version and how it was built")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in [chosen] if chosen in COMMANDS else COMMANDS:
        command = commands.add_parser(
            name, help=COMMANDS[name], description=sentence(COMMANDS[name]), allow_abbrev=False
        )
        if name == chosen:
            module = import_module(f"locmsim.cli.{name}")
            module.add_options(command)
            command.set_defaults(run=module.run, parser=command)
    return parser
