"""Help of every command: it begins with a whole sentence, and every argument is explained."""

import argparse
from collections.abc import Iterator

import pytest

from locmsim import bot
from locmsim.cli.main import COMMANDS, command_parser


def inner(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the subcommands of a parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def below(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser and all its subcommands."""
    yield parser
    for command in inner(parser).values():
        yield from below(command)


PARSERS = [
    bot.command_parser(),
    *(p for name in COMMANDS for p in below(inner(command_parser(name))[name])),
]


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.prog)
def test_help_begins_with_a_sentence_and_explains_every_argument(
    parser: argparse.ArgumentParser,
) -> None:
    first, *_ = (parser.description or "").split("\n")
    assert first[:1].isupper(), first
    assert first[-1] in ".:", first
    for action in parser._actions:
        assert action.help or isinstance(action, argparse._SubParsersAction), action.dest
