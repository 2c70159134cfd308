"""Help of every command: it begins with a whole sentence, and every argument is explained."""

import argparse

import pytest
from parsers import COMMANDS, all_commands, arguments, command_parser, subcommands
from vestrock_help import command_parser as vestrock_parser

from locmsim import bot

PARSERS = [
    bot.command_parser(),
    *all_commands(vestrock_parser()),
    *(p for name in COMMANDS for p in all_commands(subcommands(command_parser(name))[name])),
]


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.prog)
def test_help_begins_with_a_sentence_and_explains_every_argument(
    parser: argparse.ArgumentParser,
) -> None:
    first, *_ = (parser.description or "").split("\n")
    assert first[:1].isupper(), first
    assert first[-1] in ".:", first
    for action in arguments(parser):
        assert action.help, action.dest
